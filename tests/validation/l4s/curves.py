"""Reference curves of Prague, CUBIC and BBRv3 through DualPI2 (RFC 9332), judged by closed forms.

python -m tests.validation.l4s.curves [--quick] [--write]
"""

import itertools
import statistics
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import tailroom as tr
from tailroom_papers.framework import Check, below, between
from tests.validation.frame import Claim, Item, Table, Validation
from tests.validation.l4s import falls, laws, scenarios, steps

RATES_MBPS = (4, 12, 40, 200, 1000)
RTTS_MS = (5, 10, 20, 50, 100)
QUICK_RATES_MBPS, QUICK_RTTS_MS = (12, 200), (10, 50)
CASES = (("prague",), ("cubic",), ("bbr3",), ("prague", "cubic"), ("prague", "bbr3"))
FROM_S, UNTIL_S = 40, 100
SEEDS = (1, 2, 3)

CLASSIC_FRACTIONS = (0.01, 0.04, 0.09, 0.16, 0.2025)
OVERLOAD_FRACTIONS = (0.3, 0.4)
"""Above 1 / k^2, where packets of both classes are dropped (RFC 9332 appendix A.2)."""
COUPLING_RATE_MBPS = 40
COUPLING_BOUND = 0.01
"""Of a probability. Both queues choose packets evenly, so that 60,000 L4S packets leave no chance.
If p' varies, its mean is below the root of the mean of p'^2, so that p_CL is below 2 sqrt(p_C)."""
RATIO_BOUND = 1.5
"""Factor between the measured ratio of rates and that of the response functions, which neglect how
p' varies. RFC 9332 sec. 2.1 itself says only that the rates are similar."""
RATIO_OUTSIDE = 1 / 5
"""Part of the points that may be outside, as in the comparison with ns-2."""
LEAST_LOSSES = 10
"""A point is judged if CUBIC loses this many packets while it is measured, by the formula."""
DELAY_BOUND = 1.1
"""Of the mean classic delay over `laws.classic_delay_s`. Integral control holds the delay there
while p' is above 0, and below otherwise."""


@dataclass(frozen=True)
class Point:
    """Flows over one link, and the runs of each seed."""

    rate_mbps: int
    rtt_ms: int
    controls: tuple[str, ...]
    runs: Sequence[tr.Result]

    def mean(self, group: str, key: str) -> float:
        """Mean of a number of a group over the seeds; 0 if it is undefined."""
        groups: list[Any] = [run.groups[group] for run in self.runs]
        return statistics.fmean(one[key] or 0.0 for one in groups)

    @property
    def utilization(self) -> float:
        """Of the link."""
        return statistics.fmean(run.links["bottleneck"]["utilization"] for run in self.runs)

    @property
    def classic(self) -> str | None:
        """The flow in the classic queue."""
        return next((one for one in self.controls if one != "prague"), None)

    @property
    def ratio(self) -> float | None:
        """Prague's rate over that of the other flow."""
        if len(self.controls) == 1:
            return None
        rates = [self.mean(one, "throughput_bps") for one in self.controls]
        return rates[0] / rates[1]

    @property
    def law(self) -> laws.Shares | None:
        """What the response functions give, for Prague alongside CUBIC."""
        if self.controls != ("prague", "cubic"):
            return None
        return laws.shares(self.rate_mbps * 1e6, self.rtt_ms * 1e-3)

    @property
    def service_s(self) -> float:
        """Transmission time of a packet."""
        return laws.PACKET_BITS / (self.rate_mbps * 1e6)

    @property
    def where(self) -> str:
        """The point in a few words."""
        return f"{' + '.join(self.controls)}, {self.rate_mbps} Mbit/s, {self.rtt_ms} ms"

    def cells(self) -> list[object]:
        """A row of the file."""
        cells: list[object] = [" + ".join(self.controls), self.rate_mbps, self.rtt_ms]
        for control in ("prague", self.classic):
            if control not in self.controls:
                cells += [""] * 5
                continue
            cells.append(f"{self.mean(control, 'throughput_bps') / 1e6:.3f}")
            for key in ("queue_delay_s_mean", "queue_delay_s_p99"):
                cells.append(f"{1e3 * self.mean(control, key):.3f}")
            for key in ("marked_fraction", "loss_fraction"):
                cells.append(f"{self.mean(control, key):.3g}")
        cells.append("" if self.ratio is None else f"{self.ratio:.3f}")
        cells.append("" if self.law is None else f"{self.law.ratio:.3f}")
        return [*cells, f"{self.utilization:.4f}"]


_OF_CLASS = ("rate (Mbit/s)", "mean delay (ms)", "p99 delay (ms)", "marked", "lost")
HEADINGS = (
    *("flows", "link (Mbit/s)", "RTT (ms)"),
    *(f"{queue}: {what}" for queue in ("L4S", "classic") for what in _OF_CLASS),
    *("ratio of rates", "by formula", "utilization"),
)


def points(rates_mbps: Iterable[int], rtts_ms: Iterable[int], seeds: Sequence[int]) -> list[Point]:
    """Runs the grid."""

    def point(place: tuple[tuple[str, ...], int, int]) -> Point:
        controls, rate, rtt = place
        text = scenarios.toml(rate, rtt, controls, FROM_S, UNTIL_S)
        return Point(rate, rtt, controls, [scenarios.run(text, seed) for seed in seeds])

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(point, itertools.product(CASES, rates_mbps, rtts_ms)))


def coupling() -> Iterator[Item]:
    """Marks of L4S packets against losses of classic packets that do not react."""
    rows: list[list[str]] = []
    equal: list[Check] = []
    at_most: list[Check] = []
    overload: list[Check] = []
    for source, fraction in itertools.product(
        ("cbr", "poisson"), (*CLASSIC_FRACTIONS, *OVERLOAD_FRACTIONS)
    ):
        offered = (COUPLING_RATE_MBPS - scenarios.PROBE_BPS / 1e6) / (1 - fraction)
        text = scenarios.overload_toml(source, offered, COUPLING_RATE_MBPS, 20, 100)
        with warnings.catch_warnings():
            # About the timeouts of senders that lose their only packet.
            warnings.simplefilter("ignore", tr.TailroomWarning)
            groups: Any = scenarios.run(text, seed=1).groups
        lost, l4s_lost = (
            groups[name]["links"]["bottleneck"]["loss_fraction"] for name in ("classic", "l4s")
        )
        marked, expected = groups["l4s"]["marked_fraction"], laws.coupled(lost)
        numbers = (lost, marked, expected, l4s_lost)
        rows.append([source, *(f"{number:.4f}" for number in numbers)])
        where = f"{source}, a classic load of {offered:.1f} Mbit/s"
        is_over = fraction in OVERLOAD_FRACTIONS
        difference = l4s_lost - lost if is_over else marked - expected
        if source == "cbr":
            check = between(where, difference, -COUPLING_BOUND, COUPLING_BOUND)
            (overload if is_over else equal).append(check)
        else:
            at_most.append(below(where, difference, COUPLING_BOUND))
    heads = ("arrivals", "classic lost, p_C", "L4S marked, p_CL", "2 sqrt(p_C)", "L4S lost")
    yield Table("l4s-coupling.csv", heads, rows)
    yield Claim("p_CL = 2 sqrt(p_C) at arrivals of equal intervals, up to p_C = 1/4", equal)
    yield Claim("above, both queues lose the same fraction", overload)
    yield Claim("with Poisson arrivals, under which p' varies, L4S has at most that", at_most)


def delays(grid: Sequence[Point]) -> Iterator[Item]:
    """Delay of each class, compared with what its parameters give."""
    mean_checks, tail_checks, classic_checks = [], [], []
    for point in grid:
        if "prague" in point.controls:
            mean = point.mean("prague", "queue_delay_s_mean")
            tail = point.mean("prague", "queue_delay_s_p99")
            bound = laws.RAMP_END_S + point.service_s
            mean_checks.append(below(point.where, mean, bound))
            tail_checks.append(below(point.where, tail, bound + point.service_s))
        if point.classic == "cubic":
            law_s = laws.classic_delay_s(point.mean("cubic", "throughput_bps"))
            mean = point.mean("cubic", "queue_delay_s_mean") / law_s
            classic_checks.append(below(point.where, mean, DELAY_BOUND))
    yield Claim("L4S packets wait less than the ramp and one packet, on average", mean_checks)
    yield Claim("99 % of them wait less than the ramp and two packets", tail_checks)
    yield Claim("the mean delay of CUBIC is at most what the controller holds", classic_checks)


def ratios(grid: Sequence[Point]) -> Iterator[Item]:
    """Prague alongside CUBIC: the ratio of rates, and that of the response functions."""
    rows: dict[int, list[object]] = {}
    judged, outside = 0, []
    for point in grid:
        if point.law is None or point.ratio is None:
            continue
        factor = point.ratio / point.law.ratio
        is_judged = point.law.cubic_losses_per_s * (UNTIL_S - FROM_S) >= LEAST_LOSSES
        is_outside = is_judged and not 1 / RATIO_BOUND <= factor <= RATIO_BOUND
        judged += is_judged
        if is_outside:
            outside.append(point.where)
        mark = "" if is_judged else " (few losses)"
        cell = f"{point.ratio:.2f} / {point.law.ratio:.2f}{' *' if is_outside else mark}"
        rows.setdefault(point.rate_mbps, [f"{point.rate_mbps} Mbit/s"]).append(cell)
    heads = ("measured / by formula", *(f"{rtt} ms" for rtt in sorted({p.rtt_ms for p in grid})))
    yield Table("ratios", heads, rows.values())
    yield Claim(
        f"{judged - len(outside)} of {judged} ratios within a factor of {RATIO_BOUND}",
        (below("part of the points outside", len(outside) / judged, RATIO_OUTSIDE),),
    )


def items(quick: bool) -> Iterator[Item]:
    """Coupling, grid, step and ramp."""
    yield from coupling()
    full = (RATES_MBPS, RTTS_MS, SEEDS)
    grid = points(*((QUICK_RATES_MBPS, QUICK_RTTS_MS, SEEDS[:1]) if quick else full))
    yield Table("" if quick else "l4s-curves.csv", HEADINGS, [point.cells() for point in grid])
    yield from delays(grid)
    yield from ratios(grid)
    yield from steps.items()
    yield from falls.items()


main = Validation(
    items,
    "validation/l4s-curves.md",
    {"--quick": {"action": "store_true", "help": "four links and one seed; not with --write"}},
)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
