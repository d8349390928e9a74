"""FHSTCP (Su, Pan, Lv, Ping 2005) against other controls, on the path of the ns-2 runs.

Three flows under one control with round trip times of 80, 140 and 200 ms, with four Reno flows,
over 100 Mbit/s: scenarios/su-2005-fhstcp/rtt-fairness.toml. docs/validation/fhstcp.md has the
figures and the statements; the report on the paper has its claims.

    python -m tests.validation.fhstcp [--write]
"""

import math
import statistics
import sys
from collections.abc import Callable, Iterator

import numpy as np

import tailroom as tr
from tailroom_papers.framework import Check, above, is_true
from tests.validation import frame
from tests.validation.frame import SCENARIOS, Claim, Item, Table, Validation, scientific

PAGE = "validation/fhstcp.md"
SCENARIO = SCENARIOS / "su-2005-fhstcp" / "rtt-fairness.toml"
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


class Figures:
    """Means over the runs of a variant; rates in Mbit/s, the three flows by round trip time."""

    def __init__(self, runs: list[tr.Result]) -> None:
        def mean(of: Callable[[tr.Result], list[float]]) -> list[float]:
            return [float(value) for value in np.mean([of(run) for run in runs], axis=0)]

        self.rates = mean(lambda run: [flow["throughput_bps"] / 1e6 for flow in run.flows[:3]])
        self.total = sum(self.rates)
        rtts = mean(lambda run: [flow["rtt_s_mean"] or math.nan for flow in run.flows[:3]])
        self.against_rtt = self.rates[0] / self.rates[2] / (rtts[2] / rtts[0])
        """Ratio of the shortest flow's rate to the longest's, over the inverse ratio of RTTs."""
        losses = mean(lambda run: [flow["loss_fraction"] or 0.0 for flow in run.flows])
        self.losses, self.background_loss = losses[:3], statistics.fmean(losses[3:])
        others = mean(lambda run: [flow["throughput_bps"] / 1e6 for flow in run.flows[3:]])
        self.background = sum(others)
        links = [run.links["bottleneck"] for run in runs]
        self.queue = statistics.fmean(link["queue_packets_mean"] for link in links)
        self.peak = statistics.fmean(link["queue_packets_p99"] or 0.0 for link in links)
        jain = [frame.jain_index([flow["goodput_bps"] for flow in run.flows[:3]]) for run in runs]
        self.jain, self.jain_sd = statistics.fmean(jain), statistics.stdev(jain)

    def cells(self) -> Iterator[str]:
        """The figures as the table has them."""
        yield ", ".join(f"{rate:.1f}" for rate in self.rates)
        yield f"{self.background:.1f}"
        yield f"{self.jain:.2f} ({self.jain_sd:.2f})"
        yield f"{self.against_rtt:.1f}"
        yield ", ".join(map(scientific, self.losses))
        yield scientific(self.background_loss)
        yield f"{self.queue:.0f}"
        yield f"{self.peak:.0f}"


HEADINGS = (
    "control",
    "F1, F2, F3 (Mbit/s)",
    "background (Mbit/s)",
    "Jain's index (sd over seeds)",
    "F1 / F3 over the inverse ratio of mean RTTs",
    "loss of F1, F2, F3",
    "loss of the background",
    "mean queue",
    "its p99",
)


def items() -> Iterator[Item]:
    """The figures of every variant, and the claims about them."""
    figures: dict[str, Figures] = {}

    def rows() -> Iterator[tuple[str, ...]]:
        for name, settings in VARIANTS.items():
            figures[name] = Figures(frame.simulate(SCENARIO, SEEDS, settings))
            yield name, *figures[name].cells()

    yield Table("fhstcp", HEADINGS, rows())
    ours, small, large, unpaced, *_ = figures.values()
    others = {name: figures[name] for name in ("HighSpeed TCP", "Scalable TCP", "Reno")}

    def excess(other: Figures) -> float:
        """In standard errors of the difference of two means."""
        error = math.hypot(ours.jain_sd, other.jain_sd) / math.sqrt(len(SEEDS))
        return (ours.jain - other.jain) / error

    def closeness(other: Figures) -> float:
        return abs(math.log(other.against_rtt)) - abs(math.log(ours.against_rtt))

    yield Claim(
        "Jain's index above HighSpeed's, Scalable's and Reno's by two standard errors",
        [above(f"standard errors over {name}", excess(other), 2) for name, other in others.items()],
    )
    yield Claim(
        "rates nearer to the inverse ratio of the RTTs than under the others",
        [above(f"nearer than {name}", closeness(other), 0) for name, other in others.items()],
    )
    by_c = (small, ours, large)
    yield Claim("total use falls at c = 5", (rises("total", [one.total for one in by_c]),))
    less, share = [-one.background for one in by_c], ours.background / large.background
    yield Claim(
        "c = 20 leaves the background less than two thirds of what c = 10 does",
        (rises("use of the background", less), above("c = 10 over c = 20", share, 1.5)),
    )
    yield Claim(
        "the loss of the background rises with c",
        (rises("loss", [one.background_loss for one in by_c]),),
    )
    yield Claim(
        "blocks lower the mean and the peak queue, and the loss of the background",
        [
            rises(what, [getattr(ours, what), getattr(unpaced, what)])
            for what in ("queue", "peak", "background_loss")
        ],
    )


def rises(what: str, values: list[float]) -> Check:
    """Whether each value is larger than the one before it."""
    return is_true(what, "rises", all(np.diff(values) > 0))


main = Validation(items, PAGE)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
