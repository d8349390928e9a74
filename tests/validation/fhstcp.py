"""FHSTCP (Su, Pan, Lv, Ping 2005) against other controls, on the path of the ns-2 runs.

Three flows under one control with round trip times of 80, 140 and 200 ms, beside four Reno flows,
over 100 Mbit/s: scenarios/su-2005-fhstcp/rtt-fairness.toml. docs/validation/fhstcp.md has the
figures and the statements; the report on the paper has its claims.

    python -m tests.validation.fhstcp
"""

import math
import statistics
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import tailroom as tr

SCENARIO = Path(__file__).parents[2] / "scenarios" / "su-2005-fhstcp" / "rtt-fairness.toml"
SEEDS = range(1, 21)
CONTROL = "flows.fair.congestion"
VARIANTS: dict[str, dict[str, object]] = {
    "FHSTCP, c = 10": {},
    "FHSTCP, c = 5": {f"{CONTROL}.c": 5},
    "FHSTCP, c = 20": {f"{CONTROL}.c": 20},
    "FHSTCP without blocks": {f"{CONTROL}.block_pacing": False},
    "HighSpeed TCP": {f"{CONTROL}.kind": "highspeed"},
    "Scalable TCP": {f"{CONTROL}.kind": "scalable"},
    "Reno": {f"{CONTROL}.kind": "reno"},
}


@dataclass(frozen=True)
class Run:
    """One run's figures; rates in Mbit/s, the three flows by round trip time."""

    rates: list[float]
    rtts: list[float]
    losses: list[float]
    jain: float
    background: float
    background_loss: float
    queue: float
    peak: float

    @property
    def total(self) -> float:
        """What the three flows use together."""
        return sum(self.rates)


def measure(settings: dict[str, object], seed: int) -> Run:
    """Runs one variant with one seed."""
    result = tr.run(SCENARIO, set=settings, seed=seed)
    flows, background = result.flows[:3], result.flows[3:]
    goodput = [flow["goodput_bps"] for flow in flows]
    link = result.links["bottleneck"]
    return Run(
        rates=[flow["throughput_bps"] / 1e6 for flow in flows],
        rtts=[flow["rtt_s_mean"] or math.nan for flow in flows],
        losses=[flow["loss_fraction"] or 0.0 for flow in flows],
        jain=sum(goodput) ** 2 / (3 * sum(value * value for value in goodput)),
        background=sum(flow["throughput_bps"] for flow in background) / 1e6,
        background_loss=statistics.fmean(flow["loss_fraction"] or 0.0 for flow in background),
        queue=link["queue_packets_mean"],
        peak=link["queue_packets_p99"] or 0.0,
    )


@dataclass(frozen=True)
class Figures:
    """A variant over all seeds."""

    runs: list[Run]

    def mean(self, of: Callable[[Run], float]) -> float:
        """Mean over the seeds."""
        return statistics.fmean(map(of, self.runs))

    def jain(self) -> tuple[float, float]:
        """Mean of Jain's index, and the standard deviation over seeds."""
        values = [run.jain for run in self.runs]
        return statistics.fmean(values), statistics.stdev(values)

    def each(self, of: Callable[[Run], list[float]]) -> list[float]:
        """Means of the three flows."""
        return [statistics.fmean(values) for values in zip(*map(of, self.runs), strict=True)]

    def against_rtt(self) -> float:
        """Ratio of the shortest flow's rate to the longest's, over the inverse ratio of RTTs."""
        rates, rtts = self.each(lambda run: run.rates), self.each(lambda run: run.rtts)
        return rates[0] / rates[2] / (rtts[2] / rtts[0])

    def row(self) -> str:
        """The figures as the table has them."""
        rates = " ".join(f"{rate:5.1f}" for rate in self.each(lambda run: run.rates))
        losses = " ".join(f"{loss:.1e}" for loss in self.each(lambda run: run.losses))
        jain, sd = self.jain()
        return (
            f"{rates}  {self.mean(lambda run: run.background):5.1f}  {jain:.2f} ({sd:.2f})"
            f"  {self.against_rtt():5.1f}  {losses}"
            f"  {self.mean(lambda run: run.background_loss):.1e}"
            f"  {self.mean(lambda run: run.queue):5.0f} {self.mean(lambda run: run.peak):5.0f}"
        )


def claims(figures: dict[str, Figures]) -> dict[str, bool]:
    """The claims that hold, by what they say."""
    ours, small, large, unpaced, *others = figures.values()

    def exceeds(theirs: Figures, errors: float) -> bool:
        (mean, sd), (other, other_sd) = ours.jain(), theirs.jain()
        return mean - other > errors * math.hypot(sd, other_sd) / math.sqrt(len(SEEDS))

    def order(of: Callable[[Run], float]) -> tuple[float, float, float]:
        return small.mean(of), ours.mean(of), large.mean(of)

    total = order(lambda run: run.total)
    background = order(lambda run: run.background)
    loss = order(lambda run: run.background_loss)
    return {
        "Jain's index above HighSpeed's, Scalable's and Reno's by two standard errors": all(
            exceeds(other, 2) for other in others
        ),
        "rates nearer to the inverse ratio of the RTTs than under the others": all(
            abs(math.log(ours.against_rtt())) < abs(math.log(other.against_rtt()))
            for other in others
        ),
        "total use falls at c = 5": total[0] < total[1] < total[2],
        "c = 20 leaves the background less than two thirds of what c = 10 does": (
            background[0] > background[1] > 1.5 * background[2]
        ),
        "the loss of the background rises with c": loss[0] < loss[1] < loss[2],
        "blocks lower the mean and the peak queue, and the loss of the background": (
            ours.mean(lambda run: run.queue) < unpaced.mean(lambda run: run.queue)
            and ours.mean(lambda run: run.peak) < unpaced.mean(lambda run: run.peak)
            and ours.mean(lambda run: run.background_loss)
            < unpaced.mean(lambda run: run.background_loss)
        ),
    }


def main(show: Callable[[str], None] = print) -> int:
    """Runs every variant; 0 if all claims hold."""
    show(
        f"{'control':22}  {'F1, F2, F3 (Mbit/s)':17}  back.  Jain (sd)    ratio"
        f"  {'loss of F1, F2, F3':23}  of back.   queue, p99"
    )
    figures: dict[str, Figures] = {}
    with ThreadPoolExecutor(2) as pool:
        for name, settings in VARIANTS.items():
            runs = list(pool.map(lambda seed, s=settings: measure(s, seed), SEEDS))
            figures[name] = Figures(runs)
            show(f"{name:22}  {figures[name].row()}")
    held = claims(figures)
    for claim, holds in held.items():
        show(f"{'holds' if holds else 'FAILS'}: {claim}")
    return int(not all(held.values()))


if __name__ == "__main__":
    import sys

    sys.exit(main())
