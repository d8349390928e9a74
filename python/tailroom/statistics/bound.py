"""The range in which a mean must lie, and what an interval says about it."""

from dataclasses import dataclass
from math import inf, isfinite

from tailroom.field_docs import with_field_docs
from tailroom.statistics.intervals import Interval
from tailroom.statistics.outcome import Outcome


@with_field_docs
@dataclass(frozen=True)
class Bound:
    """A range of numbers, both ends included."""

    low: float = -inf
    """Smallest number in the range."""
    high: float = inf
    """Largest number in the range."""

    def contains(self, number: float) -> bool:
        """Returns whether a number lies in the range."""
        return self.low <= number <= self.high

    def margin(self, number: float) -> float:
        """Returns the distance of a finite number to the nearest end; negative if it is outside."""
        return min(number - self.low, self.high - number)

    def outcome(self, interval: Interval) -> Outcome:
        """Returns whether the mean lies in the range; open if the interval contains an end.

        Args:
            interval: The mean with its confidence interval.
        """
        if self.contains(interval.low) and self.contains(interval.high):
            return Outcome.YES
        is_outside = interval.high < self.low or interval.low > self.high
        return Outcome.NO if is_outside else Outcome.OPEN

    def p_value(self, interval: Interval) -> float:
        """Returns the p-value of the test that the true mean is the nearest end of the range.

        Args:
            interval: The mean with its confidence interval. If all values are equal, the result is
                0.
        """
        if interval.half_width == 0:
            return 0.0
        ends = (end for end in (self.low, self.high) if isfinite(end))
        return max(map(interval.p_value, ends), default=0.0)
