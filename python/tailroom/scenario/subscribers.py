"""Subscribers behind access lines: how many of them have a long flow at the same time."""

from dataclasses import dataclass
from math import exp, lgamma, log

from tailroom.arguments import named, usage
from tailroom.errors import ScenarioError
from tailroom.quoting import argument_text

COVERED = 0.95
"""Part of all instants of which the range of active subscribers is stated."""


@dataclass(frozen=True)
class Active:
    """Subscribers, each active with the same probability, whatever the others do.

    Their number at an instant is binomial; a link is simulated at its mean, rounded.
    """

    subscribers: int
    share: float
    """Probability that a subscriber is active, above 0 and at most 1."""

    @property
    def flows(self) -> int:
        """Mean number of active subscribers, at least 1."""
        return max(1, round(self.subscribers * self.share))

    @property
    def usual(self) -> tuple[int, int]:
        """The numbers between which that of the active ones is at 95 % of all instants."""
        tail = (1 - COVERED) / 2
        below = 0.0
        ends: list[int] = []
        for count in range(self.subscribers + 1):
            below += self._probability(count)
            if len(ends) < 1 and below > tail:
                ends.append(count)
            if below >= 1 - tail:
                return ends[0], count
        return ends[0] if ends else self.subscribers, self.subscribers

    def _probability(self, count: int) -> float:
        """The binomial probability that so many are active."""
        total, share = self.subscribers, self.share
        if share == 1:
            return float(count == total)
        ways = lgamma(total + 1) - lgamma(count + 1) - lgamma(total - count + 1)
        return exp(ways + count * log(share) + (total - count) * log(1 - share))

    def __str__(self) -> str:
        """The assumption in words."""
        low, high = self.usual
        return (
            f"{self.flows:,} of {self.subscribers:,} subscribers active, the mean at a share of "
            f"{self.share:.3g} ({low:,} to {high:,} at {COVERED:.0%} of all instants), each with "
            "one long flow"
        )


def read_active(subscribers: int, share: float | None) -> Active:
    """Reads subscribers and the share of them that is active.

    Args:
        subscribers: Their number.
        share: The share in (0, 1].

    Raises:
        ScenarioError: The share is missing, or a number is out of range.
    """
    if isinstance(subscribers, bool) or not isinstance(subscribers, int) or subscribers < 1:
        raise ScenarioError(f"subscribers: {argument_text(subscribers)} is no number of at least 1")
    if share is None:
        raise ScenarioError(
            f"subscribers: say which share of them is active at the busiest time, as with "
            f"{usage('active', '5%')}"
        )
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
        raise ScenarioError(
            f"{named('active')}: {argument_text(share)} is not a share above 0 and at most 1; give "
            "for example 5% (in Python 0.05)"
        )
    return Active(subscribers, float(share))
