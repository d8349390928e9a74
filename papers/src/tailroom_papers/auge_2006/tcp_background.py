"""Whether TCP flows in place of Poisson packets change the principal comparative results."""

from collections.abc import Sequence
from dataclasses import replace

from tailroom.scenario.types import Flows as FlowGroup
from tailroom.scenario.types import Queue
from tailroom_papers.auge_2006 import picture, setup
from tailroom_papers.auge_2006.bounds import BOUNDS
from tailroom_papers.auge_2006.comparison import considerably_less
from tailroom_papers.auge_2006.figure_6 import reno_over_highspeed
from tailroom_papers.auge_2006.figure_7 import bias
from tailroom_papers.auge_2006.setup import BDP_PACKETS, BUFFERS, fair, fifo, settings
from tailroom_papers.framework import *

ONE, FOUR, AGAINST = "1 NewReno", "4 NewReno", "1 HighSpeed, 1 NewReno"
POISSON, TCP = "Poisson packets", "TCP flows"
CASES: dict[str, tuple[str, Queue]] = {
    "1 NewReno, 20": (ONE, fifo(20)),
    "1 NewReno, 100": (ONE, fifo(100)),
    "1 NewReno, 625": (ONE, fifo(BDP_PACKETS)),
    "4 NewReno, 20": (FOUR, fifo(20)),
    "HighSpeed, NewReno, 625": (AGAINST, fifo(BDP_PACKETS)),
    "the same, fair": (AGAINST, fair(BDP_PACKETS)),
}


def tcp_flows() -> FlowGroup:
    """Finite flows with a maximum rate of 1 Mbit/s, as the paper's first simulations have them."""
    return {
        "path": [setup.LINK],
        "congestion": {"kind": "reno"},
        "send_jitter": "none",
        "packet_size": f"{setup.PACKET_BYTES} B",
        "access_rate": "1 Mbit/s",
        "rtt": "100 ms",
        "source": {
            "kind": "finite_flows",
            "size": {"kind": "exponential", "mean": "125 kB"},
            "load": 0.5,
        },
    }


def studies(form: Form) -> Sequence[Study]:
    """Cases of Figures 3, 5, 6 and 7, each with both backgrounds."""
    cases = [
        setup.study(ONE, {"reno": 1}, [fifo(buffer) for buffer in BUFFERS], form),
        setup.study(FOUR, {"reno": 4}, [fifo(20)], form),
        setup.study(
            AGAINST, {"highspeed": 1, "reno": 1}, [fair(BDP_PACKETS), fifo(BDP_PACKETS)], form
        ),
    ]
    background = {f"flows.{setup.BACKGROUND}": tcp_flows()}
    return [
        replace(study, name=_name(study.name, words), set=changes)
        for words, changes in ((POISSON, {}), (TCP, background))
        for study in cases
    ]


def _name(case: str, background: str) -> str:
    return f"{case}, {background}"


def _at(results: PartResults, case: str, background: str) -> PointResults:
    study, queue = CASES[case]
    return results.study(_name(study, background)).at(settings(queue))


def draw(results: PartResults) -> Figure:
    """Utilization by case, and NewReno's goodput over HighSpeed's."""
    title = "Poisson packets and TCP flows of 1 Mbit/s as background"
    figure, (left, right) = picture.page(title, 3.8, columns=2, width_ratios=[2.4, 1])
    mixed = [case for case in CASES if CASES[case][0] == AGAINST]
    for panel, cases, metric, scale in (
        (left, list(CASES), "utilization", 100.0),
        (right, mixed, reno_over_highspeed, 1.0),
    ):
        lines = {words: [_at(results, case, words) for case in cases] for words in (POISSON, TCP)}
        names = [case.replace(", ", ",\n") for case in cases]
        draw_categories(panel, lines, metric, names, scale=scale, apart=0.2)
    left.set(ylabel="utilization (%)")
    right.set(ylabel="NewReno's goodput over HighSpeed's", ylim=(0, 1.05))
    return picture.finished(figure, 2)


def _unchanged(results: PartResults) -> Judgement:
    def of(case: str) -> PointResults:
        return _at(results, case, TCP)

    growing = (
        ("1 NewReno, 100", "1 NewReno, 20"),
        ("1 NewReno, 625", "1 NewReno, 100"),
        ("4 NewReno, 20", "1 NewReno, 20"),
    )
    checks = []
    for larger, smaller in growing:
        what = f"utilization, {larger} packets less {smaller} packets"
        words = "more, as with Poisson packets"
        checks.append(more(what, of(larger), of(smaller), "utilization", words, percent=True))
    fifo, fair = of("HighSpeed, NewReno, 625"), of("the same, fair")
    what, bound = "NewReno's goodput over HighSpeed's, 625 packets", BOUNDS["unable-to-compete"]
    checks.append(fifo.below(what, reno_over_highspeed, bound))
    what = "bias in favour of HighSpeed under fair queueing over that under FIFO"
    checks.append(considerably_less(what, fair, fifo, bias, "considerably reduced"))

    def why() -> str:
        parts = ", ".join(
            f"{100 * _at(results, case, POISSON).mean('utilization'):.1f} and "
            f"{100 * of(case).mean('utilization'):.1f} % ({case})"
            for case in CASES
        )
        return (
            f"Utilization with Poisson packets and with TCP flows: {parts}. The number of TCP "
            "flows varies, 25 on average, and they, too, reduce their rate when the others "
            "overflow the buffer."
        )

    return Judgement(tuple(checks), why)


PART = Part(
    name="tcp-background",
    title="TCP flows in place of Poisson packets",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "poisson-for-tcp",
            "We first verified that the principal comparative results were not changed by "
            "replacing the flow level process (finite size TCP flows, each with a maximum rate of "
            "1 Mbps) by a Poisson packet process of the same intensity.",
            "Sec. IV-B",
            _unchanged,
        ),
    ),
    caption=(
        "Utilization by flows and buffer in packets (left), and NewReno's goodput over HighSpeed's "
        "(right), with both kinds of background; means with 95 % confidence intervals."
    ),
    note=(
        "The paper does not state the sizes of its flows: exponential sizes with a mean of 125 kB, "
        "a second at the maximum rate. The principal comparative results are read as: larger "
        "buffers and more flows use more of the link, NewReno cannot compete with HighSpeed under "
        "FIFO, and fair queueing removes most of the bias."
    ),
)
