"""Targets: what a buffer is to achieve, as `METRIC >= VALUE` or `METRIC <= VALUE`."""

import re
from dataclasses import dataclass
from math import isfinite

from tailroom.confidence import Interval
from tailroom.wrong_input import WrongInputError

_FORM = re.compile(r"\s*([A-Za-z_][\w.\-]*)\s*(>=|<=)\s*(\S+)\s*")


class GoalError(WrongInputError, ValueError):
    """The text is no target, or targets contradict one another; the message names the remedy."""


@dataclass(frozen=True)
class Goal:
    """A bound on a metric."""

    metric: str
    """As in the output of `tailroom run --json`, in short."""
    at_least: bool
    """Whether the metric is to stay above the bound; below it otherwise."""
    bound: float

    def __str__(self) -> str:
        """As it is written."""
        return f"{self.metric} {'>=' if self.at_least else '<='} {self.bound:g}"

    def margin(self, value: float) -> float:
        """How far a value is on the good side of the bound; negative on the other."""
        return value - self.bound if self.at_least else self.bound - value

    def verdict(self, interval: Interval) -> bool | None:
        """Whether the metric meets the bound with confidence; `None` if it may or may not."""
        margins = self.margin(interval.low), self.margin(interval.high)
        if min(margins) >= 0:
            return True
        return False if max(margins) < 0 else None


def parse_goal(text: str) -> Goal:
    """Reads `utilization >= 0.98`.

    Raises:
        GoalError: It is not of that form.
    """
    match = _FORM.fullmatch(text)
    try:
        bound = float(match[3]) if match else float("nan")
    except ValueError:
        bound = float("nan")
    if not match or not isfinite(bound):
        raise GoalError(
            f"{text}: no METRIC >= VALUE or METRIC <= VALUE; write for example "
            '"utilization >= 0.98" or "queue_delay_s_p99 <= 0.005"'
        )
    return Goal(match[1], match[2] == ">=", bound)


def check_goals(goals: list[Goal]) -> None:
    """Refuses none, and those that no buffer can meet together, whatever the traffic.

    Raises:
        GoalError: There is no goal, or two contradict one another.
    """
    if not goals:
        raise GoalError('no goal; give for example --target "utilization >= 0.98"')
    for lower in goals:
        for upper in goals:
            if lower.metric != upper.metric or not lower.at_least or upper.at_least:
                continue
            if lower.bound > upper.bound:
                raise GoalError(f"{lower} and {upper} contradict one another; change one")
