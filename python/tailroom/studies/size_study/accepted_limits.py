"""The smallest limit that a queue accepts: thresholds in packets must lie below the limit."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tailroom.errors import ScenarioError
from tailroom.field_docs import with_field_docs
from tailroom.scenario.scenario import Scenario
from tailroom.simulation.run_warnings import warning

if TYPE_CHECKING:
    from tailroom.simulation.result_types import RunWarning


@with_field_docs
@dataclass(frozen=True)
class SmallestLimit:
    """The smallest limit of a queue that the engine accepts."""

    packets: int
    """The limit, in packets; at least 1."""
    refusal: str = ""
    """The engine's message about a smaller limit; empty if the limit is 1 packet."""

    @property
    def warning(self) -> "RunWarning":
        """Why the search tried no smaller limit."""
        text = (
            f"the queue accepts no limit below {self.packets:,} packets, so that none was tried; "
            f"a smaller one is refused: {self.refusal}"
        )
        return warning("smallest_limit", "", text, packets=self.packets)


def smallest_accepted(source: Scenario, key: str, largest: int) -> SmallestLimit:
    """Finds the smallest accepted limit by bisection; a larger one than an accepted one is valid.

    Args:
        source: The scenario.
        key: Key of the limit.
        largest: Largest limit that is of interest, in packets.

    Raises:
        ScenarioError: The engine accepts no limit up to the largest; the message is that of the
            largest.
    """
    refusal = _refusal(source, key, 1)
    if not refusal:
        return SmallestLimit(1)
    if of_largest := _refusal(source, key, largest):
        raise ScenarioError(
            f"with {key} = {largest:,} packets, the largest in question: {of_largest}"
        )
    refused, accepted = 1, largest
    while accepted - refused > 1:
        middle = (refused + accepted) // 2
        if text := _refusal(source, key, middle):
            refused, refusal = middle, text
        else:
            accepted = middle
    return SmallestLimit(accepted, refusal)


def _refusal(source: Scenario, key: str, packets: int) -> str:
    """The engine's message about a limit; empty if the engine accepts the limit."""
    try:
        source.replacing({key: f"{packets} packets"}).check()
    except ScenarioError as error:
        return str(error)
    return ""
