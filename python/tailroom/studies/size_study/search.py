"""The search for the smallest buffer that meets every target."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import exp, hypot, inf, isfinite, log, sqrt
from typing import Any, Literal

from tailroom.field_docs import with_field_docs
from tailroom.models.bottleneck import Bottleneck
from tailroom.statistics.outcome import Outcome
from tailroom.studies.size_study.known import Tried, largest_missing, smallest_sufficient
from tailroom.studies.size_study.targets import Target
from tailroom.studies.size_study.varied_key import SOME_LIMIT, Varied

GRID_POINTS = 7
"""Number of buffers in a wide initial bracket, evenly spaced on a logarithmic scale."""
DECIDABLE = 0.5
"""Distance of a mean from a bound, in standard deviations, that 32 runs mostly resolve."""
NEIGHBOURS = (0.5, 2.0)
"""Multiples of the answer that are simulated too, to show the cost of other choices."""
NEAR = 1.25
"""A multiple is skipped if a buffer within this factor of it has been simulated."""
CLEARLY_WORSE = 2.0
"""Difference of two means, in its standard errors, from which one is worse than the other."""
LOOKS_PER_EDGE = 3
"""Typical number of buffers that are simulated to find one edge."""
RUNS_PER_LOOK = 14
"""Typical number of runs of a buffer near an edge."""

Stage = Literal["search", "confirm", "neighbours", "phases", "doors", "models"]
"""What `size` does: search the answer, repeat it with more seeds, simulate about half and twice the
answer, shift its RTTs, try another queue, or evaluate the models at its limit."""


@with_field_docs
@dataclass(frozen=True)
class Feasible:
    """The range of tested limits that meet a target."""

    target: Target
    """The target."""
    low: float
    """Smallest limit that meets the target, in steps; 0 if it is the smallest tested limit,
    infinite if no tested limit meets the target."""
    high: float
    """Largest limit that meets the target, in steps; infinite if it is the largest tested
    limit."""
    is_one_interval: bool
    """Whether no tested limit between the two misses the target."""
    open: tuple[int, ...] = ()
    """The tested limits at which the runs show neither that it is met nor that it is missed, in
    ascending order."""
    is_bounded: bool = True
    """Whether a tested limit misses the target on each side on which the range ends."""

    def as_dict(self, varied: Varied) -> dict[str, Any]:
        """The range as `tailroom size --json` prints it.

        Args:
            varied: What was varied.
        """
        unit = "_packets" if varied.counts_packets else ""
        ends = {"from": self.low, "to": self.high}
        return {
            "target": str(self.target),
            **{f"{end}{unit}": varied.end(steps) for end, steps in ends.items()},
            "met_somewhere": isfinite(self.low),
            "is_one_interval": self.is_one_interval,
            "open": [varied.end(steps) for steps in self.open],
        }


def feasible_limits(
    target: Target, tried: Sequence[Tried], link: Bottleneck | None, varied: Varied = SOME_LIMIT
) -> Feasible:
    """The range of limits that meet a target.

    Behind a tail drop of constant rate, no packet waits longer than the limit over the rate; a
    bound on the delay is met up to that limit, tested or not.

    Args:
        target: The target.
        tried: Tested buffers in ascending order of the limit, at least one.
        link: The link; `None` if another key than its limit was varied.
        varied: What was varied.
    """
    met, missed, not_shown = (
        tuple(buffer.limit for buffer in tried if buffer.verdicts[target] is outcome)
        for outcome in (Outcome.YES, Outcome.NO, Outcome.OPEN)
    )
    if not met:
        return Feasible(target, inf, inf, is_one_interval=True, open=not_shown)
    low, high = min(met), max(met)
    within = [buffer for buffer in tried if low <= buffer.limit <= high]
    certain = _certain_limit(target, varied, link) if link else 0
    is_open = high == tried[-1].limit and high > certain
    return Feasible(
        target,
        0 if low == tried[0].limit else low,
        inf if is_open else max(high, certain),
        is_one_interval=all(buffer.verdicts[target] is not Outcome.NO for buffer in within),
        open=not_shown,
        is_bounded=(low == tried[0].limit or min(missed, default=inf) < low)
        and (is_open or max(missed, default=0) > high),
    )


def _certain_limit(target: Target, varied: Varied, link: Bottleneck) -> int:
    """Limit up to which a bound on the delay of the link holds for every packet; 0 if unknown."""
    owner, _, metric = target.metric.rpartition(".")
    is_of_link = owner.rpartition(".")[2] in ("", link.name) and not owner.startswith("groups")
    is_delay = is_of_link and metric.startswith("queue_delay_s_") and not target.at_least
    if not is_delay or link.discipline != "drop_tail" or link.changes:
        return 0
    bound_bytes = target.bound * link.rate_bps / 8
    if varied.counts_packets:
        return int(bound_bytes / max(link.packet_sizes_bytes, default=link.packet_bytes))
    return int(bound_bytes / link.packet_bytes * varied.steps_per_packet)


class Search:
    """The search for the smallest sufficient buffer.

    It simulates buffers over the whole bracket, extends the bracket where needed, and approaches
    the answer: between a buffer that misses a target and a buffer that meets all targets, the next
    limit is where a straight line between their means (over the logarithm of the limit) is beyond
    the bound by `DECIDABLE` standard deviations.
    """

    def __init__(
        self,
        targets: Sequence[Target],
        look: Callable[[Sequence[int]], Iterable[Tried]],
        confirm: Callable[[Tried], Tried],
        *,
        precision: float,
        limits: tuple[int, int],
    ) -> None:
        """Starts without buffers.

        Args:
            targets: The targets that the buffer must meet.
            look: Simulates buffers, given by their limits, until their verdicts are clear.
            confirm: Adds runs to a buffer that seems to suffice, and judges it again.
            precision: Relative tolerance of the answer (0.02 = 2 %).
            limits: Smallest and largest limit that may be tested, in packets, at least 1.
        """
        self.targets = targets
        self.precision = precision
        self.smallest, self.largest = limits
        self.tried: dict[int, Tried] = {}
        self.stage: Stage = "search"
        self._simulate = look
        self._confirm = confirm
        self._gaps: list[tuple[int, int]] = []

    def run(self, low: int, high: int, grid_points: int = GRID_POINTS) -> None:
        """Searches the answer from a bracket, in packets; then tests half and twice the answer.

        If no buffer meets all targets, it searches the range in which each target is met.

        Args:
            low: Lower end of the bracket.
            high: Upper end of the bracket.
            grid_points: Number of buffers with which the search begins.
        """
        self._open(low, high, grid_points)
        if self.answer is None:
            # The targets conflict: search the range of each.
            for target in self.targets:
                self._seek([target])
        self._settle()

    def run_further(self, low: int, high: int, grid_points: int) -> None:
        """Searches the answer from known buffers (`tried`) and from a bracket, in packets.

        If no buffer meets all targets, the search ends without the range of each.

        Args:
            low: Lower end of the bracket.
            high: Upper end of the bracket.
            grid_points: Number of buffers in the bracket.
        """
        self._open(low, high, grid_points)
        self._settle()

    def _open(self, low: int, high: int, grid_points: int) -> None:
        """Tests buffers over a bracket, beyond it, and between buffers that miss other targets."""
        self._look(evenly_spread(low, high, grid_points))
        self._widen()
        if self.answer is None:
            self._seek(self.targets)

    def _settle(self) -> None:
        """Approaches the answer, repeats it with more seeds, and tests half and twice of it."""
        confirmed = None
        while self.answer is not None:
            self.stage = "search"
            self._close_in()
            self._bound_below()
            if self.answer == confirmed:
                return
            confirmed = self.answer
            self.stage = "confirm"
            self.tried[confirmed] = self._confirm(self.tried[confirmed])
            if self.answer == confirmed:
                self.stage = "neighbours"
                self._look_at_neighbours()

    @property
    def answer(self) -> int | None:
        """The smallest tested limit that meets every target, in packets; `None` if none does."""
        return smallest_sufficient(self.tried.values(), self.targets)

    @property
    def too_small(self) -> int:
        """The largest limit below the answer that is known to miss a target; 0 if none is known."""
        return largest_missing(self.tried.values(), self.targets)

    @property
    def runs_left(self) -> int:
        """Estimate of the number of runs that will still be performed, for a progress bar."""
        return RUNS_PER_LOOK * self._looks_left

    @property
    def _looks_left(self) -> int:
        """Estimate of the number of buffers that will still be tested."""
        good = self.answer
        if good is None:
            return LOOKS_PER_EDGE * (len(self.targets) + 1)
        bad = max((limit for limit in self.tried if limit < good), default=0)
        is_narrow = good == self.smallest or (
            bad and self._is_narrow(self.tried[bad], self.tried[good])
        )
        return 0 if is_narrow else LOOKS_PER_EDGE + len(NEIGHBOURS)

    def _look(self, limits: Iterable[int]) -> None:
        allowed = (min(max(limit, self.smallest), self.largest) for limit in limits)
        new = [limit for limit in dict.fromkeys(allowed) if limit not in self.tried]
        self.tried.update({buffer.limit: buffer for buffer in self._simulate(new)})

    def _widen(self) -> None:
        """Tests larger and smaller buffers unless they are clearly further from missed targets."""
        while self.answer is None and max(self.tried) < self.largest and self._gains(-1, -2):
            self._look([4 * max(self.tried)])
        while self.answer is None and min(self.tried) > self.smallest and self._gains(0, 1):
            self._look([min(self.tried) // 4])

    def _gains(self, at: int, neighbour: int) -> bool:
        """Whether beyond an end of the range a missed target may be met.

        It may, unless the mean at the end is clearly further from the target than the one next to
        it: few noisy runs say little about which of two means is larger.
        """
        limits = sorted(self.tried)
        end, inner = self.tried[limits[at]], self.tried[limits[neighbour]]
        return any(
            end.margin(target)
            > inner.margin(target)
            - CLEARLY_WORSE * hypot(end.standard_error(target), inner.standard_error(target))
            for target in end.verdicts
            if not end.meets(target)
        )

    def _close_in(self) -> None:
        """Narrows the gap below the answer to the precision, or to one packet."""
        while (good := self.answer or 0) > self.smallest:
            bad = max((limit for limit in self.tried if limit < good), default=None)
            if bad is None:
                self._look([good // 4])
            elif self._is_narrow(self.tried[bad], self.tried[good]):
                return
            else:
                self._look([self._inside(self.tried[bad], self.tried[good], self.targets)])

    def _bound_below(self) -> None:
        """Tests smaller buffers until one is known to be too small, where all below are open."""
        while self.answer is not None and not self.too_small and min(self.tried) > self.smallest:
            self._look([min(self.tried) // 4])

    def _is_narrow(self, bad: Tried, good: Tried) -> bool:
        """Whether a gap is smaller than the precision, or than the runs can resolve."""
        if good.limit - bad.limit <= max(1.0, self.precision * good.limit):
            return True
        is_open = bad.verdict is Outcome.OPEN
        return is_open and log(good.limit / bad.limit) <= self._resolution(bad, good)

    def _resolution(self, open_: Tried, good: Tried) -> float:
        """The smallest difference of logarithmic limits whose means the runs can tell apart.

        The slope of the means is taken from the largest buffer that is known to be too small.
        """
        if not self.too_small:
            return 0.0
        short = self.tried[self.too_small]
        span = log(good.limit / short.limit)
        targets = [target for target, met in open_.verdicts.items() if met is Outcome.OPEN]
        rises = {target: good.margin(target) - short.margin(target) for target in targets}
        return min(
            span * DECIDABLE * open_.spread(target) / rise if rise > 0 else 0.0
            for target, rise in rises.items()
        )

    def _seek(self, targets: Sequence[Target]) -> None:
        """Tests limits between neighbours that meet all of these targets only together.

        Between such neighbours a buffer may meet all targets; for a single target they enclose the
        edge of its range.
        """
        while True:
            gap = self._widest_gap(targets)
            is_answered = len(targets) > 1 and self.answer is not None
            if is_answered or gap is None:
                return
            self._look([self._inside(*gap, targets)])

    def _widest_gap(self, targets: Sequence[Target]) -> tuple[Tried, Tried] | None:
        """The most distant neighbours that differ in the targets they meet and together meet all.

        `None` if there are none, or they are as close as the precision requires.
        """
        gaps = []
        for small, large in pairwise(self.tried[limit] for limit in sorted(self.tried)):
            met = [(small.meets(target), large.meets(target)) for target in targets]
            is_edge = all(a or b for a, b in met) and any(a != b for a, b in met)
            if is_edge and large.limit - small.limit > max(1.0, self.precision * large.limit):
                gaps.append((large.limit / small.limit, small, large))
        return max(gaps, key=lambda gap: gap[0])[1:] if gaps else None

    def _look_at_neighbours(self) -> None:
        """Tests about half and twice the answer."""
        self._look(far_from(self.tried, self.answer or 0, (self.smallest, self.largest)))

    def _inside(self, small: Tried, large: Tried, targets: Sequence[Target]) -> int:
        """A limit between two others, in packets, at which the means should clear the bounds."""
        self._gaps.append((small.limit, large.limit))
        part = 0.5 if self._is_slow() else _meeting_place(small, large, targets)
        place = exp(log(small.limit) + part * log(large.limit / small.limit))
        apart = 1 + self.precision
        low = max(small.limit + 1, round(small.limit * apart))
        high = min(large.limit - 1, round(large.limit / apart))
        if low > high:
            return round(sqrt(small.limit * large.limit))
        return min(max(round(place), low), high)

    def _is_slow(self) -> bool:
        """Whether the last two steps moved the same end, so that interpolation converges slowly."""
        last = self._gaps[-3:]
        return len(last) == 3 and (
            len({small for small, _ in last}) == 1 or len({large for _, large in last}) == 1
        )


def _meeting_place(small: Tried, large: Tried, targets: Sequence[Target]) -> float:
    """The position between two limits at which all targets should be met.

    0 is the smaller limit and 1 the larger, on a logarithmic scale. If some targets need at least
    one position and others at most another, the result is the first, or the middle of the two if
    they exclude each other.
    """
    rising = [_clears(small, large, target) for target in targets if not small.meets(target)]
    falling = [1 - _clears(large, small, target) for target in targets if not large.meets(target)]
    first, last = max(rising, default=0.0), min(falling, default=1.0)
    if not rising:
        return last
    return first if first <= last else (first + last) / 2


def _clears(missing: Tried, meeting: Tried, target: Target) -> float:
    """The position between two buffers, 0 to 1, at which the mean is clearly beyond the bound."""
    short, beyond = missing.margin(target), meeting.margin(target)
    if beyond <= short:
        return 0.5
    needed = DECIDABLE * meeting.spread(target)
    return min(max((needed - short) / (beyond - short), 0.0), 1.0)


def far_from(tested: Iterable[int], answer: int, limits: tuple[int, int]) -> list[int]:
    """Returns half and twice the answer, each unless a limit near it has been tested.

    Args:
        tested: The tested limits.
        answer: The answer.
        limits: Smallest and largest limit that may be tested.
    """
    tested, (smallest, largest) = list(tested), limits
    wanted = [min(max(smallest, round(factor * answer)), largest) for factor in NEIGHBOURS]
    return [
        limit for limit in wanted if not any(limit / NEAR <= one <= limit * NEAR for one in tested)
    ]


def evenly_spread(low: int, high: int, points: int) -> list[int]:
    """Returns limits between two others, evenly spaced on a logarithmic scale.

    Args:
        low: Smallest limit.
        high: Largest limit.
        points: Number of limits, both ends included, at least 2.
    """
    steps = points - 1
    ratio = log(high / low) / steps
    return [round(low * exp(ratio * step)) for step in range(points)]
