"""Appenzeller, Keslassy, McKeown: Sizing Router Buffers (SIGCOMM 2004), reproduced in one file.

A buffer of RTT * C / sqrt(n) is enough for n desynchronized flows, says the paper, and it gives a
lower bound of the utilization at any buffer. An OC-3 link carries 100 to 400 Reno flows here.

    python examples/reproduction/appenzeller_2004.py --quick
"""

import sys
from collections.abc import Iterator, Sequence
from math import sqrt

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from tailroom.models.rules.square_root_rule import utilization as lower_bound
from tailroom.scenario.types import Scenario
from tailroom_papers import framework
from tailroom_papers.framework import Claim, Form, Judgement, Part, PartResults, Study

BDP = 1550.0
"""155 Mbit/s * 80 ms / 1000 B, in packets."""
COUNT = "flows.reno.count"
LIMIT = "links.oc3.queue.limit"
LINK: Scenario = {
    "title": "n Reno flows on an OC-3 link",
    "duration": "60 s",
    "measure_from": "20 s",
    "defaults": {"host": "plain"},
    "links": {
        "oc3": {
            "rate": "155 Mbit/s",
            "delay": "10 ms",
            "queue": {"kind": "drop_tail", "limit": "100 packets"},
        }
    },
    "flows": {
        "reno": {
            "count": 100,
            "path": ["oc3"],
            "congestion": {"kind": "reno"},
            "packet_size": "1000 B",
            # The paper assumes flows out of step: RTTs differ, and flows start at random times.
            "rtt": {"from": "40 ms", "to": "120 ms"},
            "start": {"uniform": ["0 s", "5 s"]},
        }
    },
}


def shares(form: Form) -> Sequence[float]:
    """The buffers, in units of RTT * C / sqrt(n)."""
    return form.of((1.0,), (0.5, 1.0, 2.0), (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0))


def counts(form: Form) -> Sequence[int]:
    """Numbers of flows."""
    return form.of((100,), (100, 400), (100, 200, 300, 400))


def studies(form: Form) -> Sequence[Study]:
    """A study per number of flows: the buffers depend on it."""
    return [
        Study(
            name=str(flows),
            scenario=LINK,
            grid={LIMIT: [f"{_packets(share, flows)} packets" for share in shares(form)]},
            set={COUNT: flows, "duration": form.of("25 s", "40 s", "100 s")},
            seeds=form.of(1, 2, 10),
        )
        for flows in counts(form)
    ]


def _packets(share: float, flows: int) -> int:
    """A limit counts the packets that wait, and not the packet that is being sent."""
    return round(share * BDP / sqrt(flows)) - 1


def _points(results: PartResults) -> Iterator[tuple[int, float, framework.PointResults]]:
    """Number of flows, buffer in units of RTT * C / sqrt(n), and the runs."""
    for flows in counts(results.form):
        points = results.study(str(flows)).points
        for share, point in zip(shares(results.form), points, strict=True):
            yield flows, share, point


def draw(results: PartResults) -> Figure:
    """Utilization over the buffer: simulation (points) and the paper's lower bound (lines)."""
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    for place, flows in enumerate(counts(results.form)):
        points = [(share, point) for count, share, point in _points(results) if count == flows]
        x = [share for share, _ in points]
        y = [100 * point.mean("utilization") for _, point in points]
        axes.plot(x, y, "o", color=f"C{place}", label=f"{flows} flows")
        bound = [100 * lower_bound(_packets(share, flows), BDP, flows) for share in x]
        axes.plot(x, bound, "-", color=f"C{place}", linewidth=1)
    axes.set(xlabel="buffer / (RTT C / √n)", ylabel="utilization (%)")
    axes.legend(title="simulated; line: lower bound", frameon=False)
    return figure


def is_enough(results: PartResults) -> Judgement:
    """RTT * C / sqrt(n) keeps the link busy."""
    checks = tuple(
        point.above(f"{flows} flows: utilization", "utilization", 0.98, percent=True)
        for flows, share, point in _points(results)
        if share == 1
    )
    return Judgement(checks, "The paper asks for a busy link; here that means above 98 %.")


def is_a_bound(results: PartResults) -> Judgement:
    """The normal approximation gives a lower bound of the utilization."""
    checks = tuple(
        point.above(
            f"{flows} flows, {share:g} RTT C / √n",
            "utilization",
            lower_bound(_packets(share, flows), BDP, flows),
            percent=True,
        )
        for flows, share, point in _points(results)
    )
    return Judgement(checks, "The bound assumes independent windows, and does not model timeouts.")


CLAIMS = (
    Claim("enough", "A link with n flows needs RTT * C / √n, no more.", "Abstract", is_enough),
    Claim("bound", "The utilization is at least erf(...).", "Sec. 3", is_a_bound),
)
PART = Part("utilization", "Utilization over the buffer", studies, draw, CLAIMS)
PAPER = framework.Paper(
    name="appenzeller-2004",
    title="Sizing Router Buffers",
    authors="Guido Appenzeller, Isaac Keslassy, Nick McKeown",
    venue="ACM SIGCOMM 2004",
    parts=(PART,),
    times="10 s quick, 4 min full (two cores)",
)

if __name__ == "__main__":
    form = Form.QUICK if "--quick" in sys.argv[1:] else Form.FULL
    done = framework.reproduce(PAPER, f"{PAPER.name}-{form.value}", form=form)
    for claim, judgement in done.parts[0].judged:
        print(f"{judgement.verdict}: {claim.text}")
    print(f"The report is {done.directory / 'report.html'}")
