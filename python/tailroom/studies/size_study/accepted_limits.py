"""The smallest value that the engine accepts: thresholds in packets must lie below the limit."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tailroom.errors import ScenarioError
from tailroom.field_docs import with_field_docs
from tailroom.scenario.scenario import Scenario
from tailroom.simulation.run_warnings import warning
from tailroom.studies.size_study.varied_key import Varied

if TYPE_CHECKING:
    from tailroom.simulation.result_types import RunWarning


@with_field_docs
@dataclass(frozen=True)
class SmallestLimit:
    """The smallest limit of a queue, or value of another key, that `size` tries."""

    packets: int
    """The limit in packets, or the value in steps (`Varied`); at least 1."""
    text: str
    """The same with its unit."""
    refusal: str = ""
    """The engine's message about a smaller value; empty if the engine accepts smaller ones."""

    @property
    def warning(self) -> "RunWarning":
        """Why the search tried no smaller limit."""
        if not self.refusal:
            text = (
                f"no value below {self.text} was tried, a small part of the scenario's: give the "
                "scenario a smaller one, around which the search then begins"
            )
            return warning("smallest_limit", "", text, packets=self.packets)
        text = (
            f"no value below {self.text} is accepted, so that none was tried; "
            f"a smaller one is refused: {self.refusal}"
        )
        return warning("smallest_limit", "", text, packets=self.packets)


def smallest_accepted(
    source: Scenario, varied: Varied, largest: int, smallest: int = 1
) -> SmallestLimit:
    """Finds the smallest accepted value by bisection; a larger one than an accepted one is valid.

    Args:
        source: The scenario.
        varied: The key.
        largest: Largest value that is of interest, in steps.
        smallest: Smallest value that is of interest, in steps.

    Raises:
        ScenarioError: The engine accepts no value up to the largest; the message is that of the
            largest.
    """
    refusal = _refusal(source, varied, smallest)
    if not refusal:
        return SmallestLimit(smallest, varied.text(smallest))
    if of_largest := _refusal(source, varied, largest):
        raise ScenarioError(
            f"with {varied.key} = {varied.text(largest)}, the largest in question: {of_largest}"
        )
    accepted, refused = largest, smallest
    # In bytes or seconds, the smallest limit is mostly that of one packet.
    one = varied.steps_of(1) if varied.is_limit else smallest
    for guess in (one, one - 1):
        if refused < guess < accepted:
            if text := _refusal(source, varied, guess):
                refused, refusal = guess, text
            else:
                accepted = guess
    accepted, refusal = _boundary(source, varied, accepted, refused, refusal)
    return SmallestLimit(accepted, varied.text(accepted), refusal)


def largest_accepted(source: Scenario, varied: Varied, accepted: int, largest: int) -> int:
    """Finds the largest accepted value by bisection, in steps.

    Args:
        source: The scenario.
        varied: The key.
        accepted: A value that is accepted, in steps.
        largest: Largest value that is of interest, in steps.
    """
    refusal = _refusal(source, varied, largest)
    return _boundary(source, varied, accepted, largest, refusal)[0] if refusal else largest


def _boundary(
    source: Scenario, varied: Varied, accepted: int, refused: int, refusal: str
) -> tuple[int, str]:
    """The accepted value next to the refused ones, by bisection, and the message about these."""
    while abs(accepted - refused) > 1:
        middle = (accepted + refused) // 2
        if text := _refusal(source, varied, middle):
            refused, refusal = middle, text
        else:
            accepted = middle
    return accepted, refusal


def _refusal(source: Scenario, varied: Varied, steps: int) -> str:
    """The engine's message about a value; empty if the engine accepts the value."""
    try:
        source.replacing({varied.key: varied.setting(steps)}).check()
    except ScenarioError as error:
        return str(error)
    return ""
