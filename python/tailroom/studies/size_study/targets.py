"""Targets that a buffer must meet, as `METRIC >= VALUE` or `METRIC <= VALUE`."""

import re
from dataclasses import dataclass, field

from tailroom.arguments import named
from tailroom.errors import TargetError
from tailroom.field_docs import with_field_docs
from tailroom.simulation.metric_catalogue import metric_of
from tailroom.simulation.metric_units import INDEX
from tailroom.simulation.metric_value import read_value
from tailroom.simulation.metrics import LARGEST_POOL_LOSS
from tailroom.statistics.bound import Bound
from tailroom.statistics.intervals import Interval
from tailroom.statistics.outcome import Outcome

_FORM = re.compile(r"\s*([A-Za-z_][\w.\-]*)\s*(>=|<=)\s*(\S.*?)\s*")
_HOW = (
    'write METRIC >= VALUE or METRIC <= VALUE, for example "utilization >= 98%" or '
    '"queue_delay_s_p99 <= 5 ms"'
)


@with_field_docs
@dataclass(frozen=True)
class Target:
    """A bound on a metric."""

    metric: str
    """Name of the metric in `tailroom run --json`; the end of a name suffices."""
    at_least: bool
    """Whether the bound is the smallest allowed value; otherwise it is the largest."""
    bound: float
    """Bound in the unit of the metric: seconds, bit/s, bytes, packets, or a fraction."""
    written: str = field(default="", compare=False)
    """The bound as the user wrote it, with its unit; empty if the target was not read from text."""
    is_default: bool = field(default=False, compare=False)
    """Whether the caller did not give the target, but `size` adds it."""

    def __str__(self) -> str:
        """The target as text, with the bound as the user wrote it."""
        value = self.written or f"{self.bound:g}"
        return f"{self.metric} {'>=' if self.at_least else '<='} {value}"

    def margin(self, value: float) -> float:
        """Returns the distance of a value from the bound; negative if the value misses the target.

        Args:
            value: Value in the unit of the metric.
        """
        return self._range.margin(value)

    def outcome(self, interval: Interval) -> Outcome:
        """Returns whether the whole interval meets the bound; open if only a part of it does.

        If the values are only lower bounds, they show alone that a largest allowed value is missed,
        or a smallest reached. The opposite also needs what the values are at most: open, if that is
        not known, or does not show the same.

        Args:
            interval: Mean of the metric with its confidence interval.
        """
        outcome = self._range.outcome(interval)
        is_certain = outcome is Outcome(self.at_least) or not interval.is_lower_bound
        if is_certain or (interval.most and self._range.outcome(interval.most) is outcome):
            return outcome
        return Outcome.OPEN

    def needs_an_end(self, interval: Interval) -> bool:
        """Returns whether more runs cannot show that the target is met, or missed.

        The values do, but they are lower bounds, and some may be larger by any amount.

        Args:
            interval: Mean of the metric with its confidence interval.
        """
        outcome = self._range.outcome(interval)
        is_clear = outcome is Outcome(not self.at_least)
        return is_clear and interval.is_lower_bound and interval.most is None

    @property
    def _range(self) -> Bound:
        return Bound(low=self.bound) if self.at_least else Bound(high=self.bound)


def metric_name(text: str) -> str | None:
    """The metric of a target, which need not exist; `None` if the text is not a target.

    Args:
        text: The target as text.
    """
    match = _FORM.fullmatch(text)
    return match[1] if match else None


def parse_target(text: str) -> Target:
    """Reads `utilization >= 0.98`, `utilization >= 98%` or `queue_delay_s_p99 <= 5 ms`.

    A time, a rate or a size needs its unit; a fraction, packets and other counts do not.

    Raises:
        TargetError: The text does not have this form, the unit is missing or does not suit the
            metric, or the bound is outside of the metric's range.
    """
    match = _FORM.fullmatch(text)
    if not match:
        raise TargetError(f"{text}: not a target; {_HOW}")
    metric, direction, value = match.groups()
    try:
        bound = read_value(metric, value)
    except ValueError as error:
        raise TargetError(f"{text}: {error}") from None
    _check_possible(text, metric, bound)
    return Target(metric, direction == ">=", bound, value)


def _check_possible(text: str, metric: str, bound: float) -> None:
    """Rejects bounds outside of the metric's range, which all buffers meet, or none.

    Raises:
        TargetError: The bound lies outside of the range.
    """
    if bound < 0:
        raise TargetError(f"{text}: no metric is negative; give 0 or more")
    known = metric_of(metric)
    if known.highest is not None and bound > known.highest:
        name = metric.rpartition(".")[2]
        remedy = _meant(bound, may_be_percent=known.unit is not INDEX)
        raise TargetError(f"{text}: {name} is a fraction from 0 to {known.highest:g}; {remedy}")


def _meant(bound: float, *, may_be_percent: bool) -> str:
    """What to write instead of a fraction above 1, which is often meant as a percentage."""
    if 2 <= bound <= 100 and may_be_percent:
        return f"write {bound:g}% or {bound / 100:g}"
    return "write a value in this range, for example 0.9"


def limits_loss(target: Target) -> bool:
    """Whether a target is an upper bound on a loss.

    Args:
        target: The target.
    """
    name = target.metric.rpartition(".")[2]
    return not target.at_least and name in ("loss_fraction", LARGEST_POOL_LOSS)


def check_targets(targets: list[Target]) -> None:
    """Rejects an empty list, and targets that contradict each other for any traffic.

    Raises:
        TargetError: There is no target, or two targets contradict each other.
    """
    if not targets:
        raise TargetError(f'{named("target")}: is missing; give for example "utilization >= 98%"')
    for lower in targets:
        for upper in targets:
            if lower.metric != upper.metric or not lower.at_least or upper.at_least:
                continue
            if lower.bound > upper.bound:
                raise TargetError(f"{lower} and {upper} contradict each other; change one of them")
