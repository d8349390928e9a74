"""Warnings of runs that are too short for a control whose period no window reduction shows.

The engine counts the window reductions of loss-based flows, and warns where there are few. BBR has
none: a run that is shorter than its intervals shows its start, with a multiple of its loss.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tailroom import _engine
from tailroom.scenario.periods import PROBE_RTT_INTERVALS_S
from tailroom.simulation.run_warnings import warning

if TYPE_CHECKING:
    from tailroom.simulation.result_types import RunWarning

FEWEST_PERIODS = 2
"""Smallest number of periods that the measured window has to hold. Four BBRv1 flows behind a buffer
of 4 bdp lose 4.5 % in the first 8 s, and 0.25 % in 120 s."""


def short_windows(document: Mapping[str, Any]) -> list["RunWarning"]:
    """Returns a warning per group whose period the measured window does not hold.

    Args:
        document: The resolved scenario.
    """
    end_s, from_s = _seconds(document["duration"]), _seconds(document["measure_from"])
    return [
        warning(
            "short_window",
            f"flows.{name}",
            f"flows.{name}: {problem}; {control} looks for its smallest RTT every {period:g} s, "
            f"and figures of a shorter time are those of its start: {remedy}",
            period_s=period,
        )
        for name, control, start_s in _groups(document)
        for period in [PROBE_RTT_INTERVALS_S[control]]
        for problem, remedy in _problems(from_s, end_s - from_s, start_s, period)
    ]


def _groups(document: Mapping[str, Any]) -> Iterator[tuple[str, str, float]]:
    """Name, control and earliest start of each group of long flows whose control has an interval.

    A transfer that ends need not reach a steady state.
    """
    for name, group in document["flows"].items():
        control = group.get("congestion", {}).get("kind")
        is_long = group["source"]["kind"] == "bulk" and "bytes" not in group["source"]
        if is_long and control in PROBE_RTT_INTERVALS_S:
            yield name, control, _earliest_s(group["start"])


def _problems(
    from_s: float, window_s: float, start_s: float, period_s: float
) -> Iterator[tuple[str, str]]:
    """What is too short, and the remedy."""
    if window_s < FEWEST_PERIODS * period_s:
        least_s = FEWEST_PERIODS * period_s
        yield (
            f"the measured window has {window_s:g} s",
            f"lengthen duration, so that it has {least_s:g} s or more",
        )
    elif from_s - start_s < period_s:
        yield (
            f"the statistics begin {from_s - start_s:g} s after the first flow",
            f"set measure_from to {start_s + period_s:g} s or later",
        )


def _earliest_s(start: object) -> float:
    """The earliest start of a group; 0 if it is drawn from a distribution without a smallest."""
    if isinstance(start, Mapping):
        start = start.get("uniform", ["0 s"])
    if isinstance(start, list):
        return min(map(_seconds, start), default=0.0)
    return _seconds(start)


def _seconds(text: object) -> float:
    return _engine.quantity("duration", str(text))
