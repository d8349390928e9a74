"""The cliff of each control over the buffer: unpaced, with segmentation bursts, and paced."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom.statistics.intervals import Interval
from tailroom_papers.burst_cliff.measures import UTILIZATION, predicted
from tailroom_papers.burst_cliff.setting import (
    ACCESS,
    BURST,
    CONTROL,
    CONTROLS,
    LIMIT,
    LINUX,
    PACING,
    SCENARIO,
    Hosts,
    Link,
    hosts_of,
    rows,
)
from tailroom_papers.framework import *
from tailroom_papers.today import linux_hosts
from tailroom_papers.today.drawing import LABELS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BOUNDS = Bounds.of(__package__)
LINK = Link(gbps=1, rtt_ms=40, flows=10)
UNPACED = ("reno", "highspeed", "cubic")
OFFLOAD = 44
"""Packets of 1500 B in 64 KB, the largest burst of segmentation offload."""
SMALL, MIDDLE, LARGE = 0.01, 0.05, 0.15
"""Buffers at which claims are judged, in bandwidth-delay products."""
ACCESS_RATIOS = (1.2, 10.0)
"""Rates of the access links over the rate of the bottleneck."""


def studies(form: Form) -> list[Study]:
    """The curves, and two access rates at the buffers of the claims."""
    judged = (SMALL, MIDDLE, LARGE)
    limits = form.of(
        judged,
        (0.001, 0.003, SMALL, 0.03, MIDDLE, LARGE),
        (0.0006, 0.001, 0.002, 0.005, SMALL, 0.02, 0.03, 0.04, MIDDLE, 0.07, 0.1, LARGE, 0.3, 0.5),
    )
    seeds = form.of(2, 5, 20)
    return _studies(CONTROLS, limits, seeds)


def variations(form: Form) -> list[Variation]:
    """The points of the claims with the hosts of Linux."""
    own = _studies(UNPACED, (SMALL, MIDDLE, LARGE), form.of(1, 2, 20))
    return [linux_hosts.variation(own, PART.claims, LINUX)]


def _studies(controls: Sequence[str], limits: Sequence[float], seeds: int) -> list[Study]:
    hosts = list(hosts_of(controls, (1, OFFLOAD)))
    access = [Hosts(control, access=ratio) for control in UNPACED for ratio in ACCESS_RATIOS]
    judged = (SMALL, MIDDLE, LARGE)
    return [
        Study("curves", SCENARIO, together=rows([LINK], hosts, limits), seeds=seeds),
        Study("access", SCENARIO, together=rows([LINK], access, judged), seeds=seeds),
    ]


def sent(results: StudyResults, hosts: Hosts) -> StudyResults:
    """Returns the points of hosts that send like this."""
    return results.where(
        {
            CONTROL: hosts.control,
            PACING: hosts.pacing,
            BURST: hosts.burst,
            ACCESS: f"{hosts.access * LINK.gbps:g} Gbit/s",
        }
    )


def interval(results: StudyResults, hosts: Hosts, buffer_bdp: float) -> Interval | None:
    """Returns the mean utilization at a buffer."""
    return sent(results, hosts).at({LIMIT: f"{buffer_bdp:g} bdp"}).interval(UTILIZATION)


def difference(
    results: StudyResults, one: Hosts, other: Hosts, buffer_bdp: float
) -> Interval | None:
    """Returns the mean difference of two utilizations over seeds."""
    key = {LIMIT: f"{buffer_bdp:g} bdp"}
    first, second = (sent(results, hosts).at(key) for hosts in (one, other))
    return paired_difference(first, second, UTILIZATION)


def judge_pacing(results: PartResults) -> Judgement:
    """Unpaced flows fall below half of the rate where paced flows do not."""
    curves = results.study("curves")
    checks = []
    for control in UNPACED:
        name = LABELS[control]
        trains = interval(curves, Hosts(control), SMALL)
        paced = interval(curves, Hosts(control, pacing=True), SMALL)
        checks += [
            below(f"{name}, unpaced, {SMALL:g} BDP", trains, BOUNDS["fallen"], percent=True),
            above(f"{name}, paced, {SMALL:g} BDP", paced, BOUNDS["kept"], percent=True),
        ]
    return Judgement(
        tuple(checks),
        "An unpaced window crosses the bottleneck as one train. Two trains that overlap by more "
        "than the buffer lose packets, however little of the link is used.",
    )


def judge_edge(results: PartResults) -> Judgement:
    """Far above the edge, unpaced flows use what paced flows use."""
    curves, distance = results.study("curves"), BOUNDS["back"].value
    checks = []
    for control in UNPACED:
        gap = difference(curves, Hosts(control), Hosts(control, pacing=True), LARGE)
        what = f"{LABELS[control]}, unpaced less paced, {LARGE:g} BDP"
        words = BOUNDS["back"].words
        checks.append(between(what, gap, -distance, distance, words, percent=True))
    return Judgement(
        tuple(checks),
        "A buffer above the edge spreads the trains over the round trip faster than they grow.",
    )


def judge_offload(results: PartResults) -> Judgement:
    """Segmentation bursts lower the utilization near the edge."""
    curves = results.study("curves")
    checks = []
    for control in ("reno", "cubic"):
        gap = difference(curves, Hosts(control, burst=OFFLOAD), Hosts(control), MIDDLE)
        what = f"{LABELS[control]}, bursts of {OFFLOAD} less single packets, {MIDDLE:g} BDP"
        checks.append(below(what, gap, BOUNDS["offload"], percent=True))
    return Judgement(
        tuple(checks), "A burst adds itself to every overlap, so the edge moves up by s n^(2/5)."
    )


def judge_access(results: PartResults) -> Judgement:
    """The access rate hardly matters, as long as it exceeds the rate of the link."""
    access, distance = results.study("access"), BOUNDS["access"].value
    checks = []
    for control in UNPACED:
        slow, fast = (Hosts(control, access=ratio) for ratio in ACCESS_RATIOS)
        for buffer_bdp in (SMALL, LARGE):
            gap = difference(access, slow, fast, buffer_bdp)
            what = f"{LABELS[control]}, access 1.2 less 10 times the rate, {buffer_bdp:g} BDP"
            words = BOUNDS["access"].words
            checks.append(between(what, gap, -distance, distance, words, percent=True))
    return Judgement(
        tuple(checks),
        "ACKs return at the rate of the bottleneck, so trains have that rate too. The access link "
        "does not form them.",
    )


def draw(results: PartResults) -> Figure:
    """A panel per control: utilization over the buffer, with the law."""
    figure = Figure(figsize=(9.5, 6.8), layout="constrained")
    panels: list[Axes] = list(figure.subplots(2, 2, sharex=True, sharey=True).ravel())
    curves = results.study("curves")
    looks = list(zip(style.COLOURS, style.MARKERS, strict=False))
    for panel, control in zip(panels, CONTROLS, strict=True):
        for hosts in hosts_of([control], (1, OFFLOAD)):
            place = 2 if hosts.pacing else 0 if hosts.burst == 1 else 1
            colour, marker = looks[place]
            points = sent(curves, hosts).points
            limits = [point.number(LIMIT) for point in points]
            look = {"color": colour, "marker": marker, "linestyle": "none", "markersize": 5}
            draw_means(panel, limits, points, UTILIZATION, look, label=hosts.label, scale=100)
            law = [100 * point.mean(predicted) for point in points]
            label = f"law, {hosts.label}"
            panel.plot(limits, law, color=colour, linewidth=1.2, label=label)
        panel.set_xscale("log")
        panel.set_ylim(0, 102)
        panel.grid(visible=True, color="0.92")
        panel.set_title(LABELS[control], fontsize="medium")
    figure.supxlabel("buffer (bdp)", fontsize="medium")
    figure.supylabel("utilization (%)", fontsize="medium")
    style.title(figure, f"The burst cliff: {LINK}")
    style.figure_legend(figure, panels[0].get_legend_handles_labels()[0])
    return figure


PART = Part(
    name="curves",
    title="The cliff over the buffer",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "pacing",
            "Without pacing, utilization falls off at small buffers; with pacing, it stays.",
            "Barman et al. 2004, Figure 3, unpaced and paced",
            judge_pacing,
        ),
        Claim("edge", "Above the edge, pacing makes no difference.", "the law", judge_edge),
        Claim("offload", "Segmentation bursts move the edge up.", "the law", judge_offload),
        Claim("access", "The access rate makes no difference.", "the law", judge_access),
    ),
    note=(
        f"{LINK}: a bandwidth-delay product of {LINK.bdp_packets:,.0f} packets, "
        f"{LINK.window:.0f} per flow. RTTs are spread over 20 %, access links are ten times faster "
        "than the bottleneck, every packet is acknowledged, losses are repaired with SACK."
    ),
    variations=variations,
    caption=(
        "Utilization over the queue limit. Marks are simulations with 95 % bands, lines are the "
        "law. BBRv3 paces its bursts and ignores `send_burst`."
    ),
)
