"""Fair queueing with drop from the longest queue beside RED and drop tail."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom.reproduction.claim import Check, Claim, Judgement
from tailroom.reproduction.form import Form
from tailroom.reproduction.paper import Part, Study
from tailroom.scenario.types import AdaptiveRedQueue, Queue, RedQueue
from tailroom_papers.auge_2006 import background, setup
from tailroom_papers.auge_2006.comparison import less, more
from tailroom_papers.auge_2006.residual import (
    background_delay_ms,
    background_loss,
    residual_share,
)
from tailroom_papers.auge_2006.setup import BDP_PACKETS, BUFFERS, fair, fifo, settings

if TYPE_CHECKING:
    from tailroom.reproduction.part_results import Metric, PartResults, PointResults, StoredRun

FLOWS = {"highspeed": 1, "reno": 1}
STUDY = "disciplines"


def red(buffer: int) -> RedQueue:
    """RED with the thresholds that its authors recommend for a target delay of 5 ms."""
    return {"kind": "red", "limit": f"{buffer - 1} packets"}


def adaptive_red(buffer: int) -> AdaptiveRedQueue:
    """RED that adapts its largest probability."""
    return {"kind": "adaptive_red", "limit": f"{buffer - 1} packets"}


QUEUES: dict[str, Callable[[int], Queue]] = {
    "longest-queue drop": fair,
    "RED": red,
    "Adaptive RED": adaptive_red,
    "drop tail": fifo,
}
REDS = ("RED", "Adaptive RED")


def studies(form: Form) -> Sequence[Study]:
    """A HighSpeed and a NewReno flow under each."""
    queues = [queue(buffer) for buffer in _buffers(form) for queue in QUEUES.values()]
    return [setup.study(STUDY, FLOWS, queues, form, keep=())]


def _buffers(form: Form) -> Sequence[int]:
    return form.of(BUFFERS[2:], BUFFERS[1:], BUFFERS)


def background_loss_percent(run: "StoredRun") -> float:
    """Of the background."""
    return 100 * background_loss(run)


def share_percent(run: "StoredRun") -> float:
    """Of the residual."""
    return 100 * residual_share(run)


JAIN = "flows.jain_index"
PANELS: "dict[str, Metric]" = {
    "share of the residual (%)": share_percent,
    "fairness (Jain's index)": JAIN,
    "loss of the background (%)": background_loss_percent,
    "p99 delay of the background (ms)": background_delay_ms,
}


def draw(results: "PartResults") -> Figure:
    """A panel for each measure, over the buffer."""
    buffers = _buffers(results.form)
    figure = Figure(figsize=(10, 6), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True).flatten()
    style.title(
        figure, "One HighSpeed and one NewReno flow beside a background, 95 % confidence intervals"
    )
    for panel, (label, metric) in zip(panels, PANELS.items(), strict=True):
        for (words, _), line in zip(QUEUES.items(), style.marked_line_styles(), strict=False):
            points = [_at(results, words, buffer) for buffer in buffers]
            background.draw_line(
                panel, buffers, points, metric, {**line, "label": words}, scale=1.0
            )
        style.scale_over(panel, buffers)
        panel.set_ylabel(label)
        panel.grid(visible=True, color="0.92")
    panels[1].set_ylim(0.5, 1.02)
    for panel in panels[2:]:
        panel.set_xlabel("buffer (packets)")
    panels[0].legend(loc="lower right", fontsize="small")
    return figure


def _at(results: "PartResults", words: str, buffer: int) -> "PointResults":
    return results.study(STUDY).at(settings(QUEUES[words](buffer)))


def _outperforms(results: "PartResults") -> Judgement:
    checks = [check for buffer in _buffers(results.form) for check in _beside_red(results, buffer)]
    large = {words: _at(results, words, BDP_PACKETS) for words in QUEUES}
    parts = [
        f"{words} {point.mean(share_percent):.1f} % of the residual, Jain's index "
        f"{point.mean(JAIN):.3f}, background p99 {point.mean(background_delay_ms):.1f} ms"
        for words, point in large.items()
    ]
    why = (
        f"With {BDP_PACKETS} packets: {'; '.join(parts)}. RED drops any arriving packet, of the "
        "background as well as of the flows that fill the link; the longest queue belongs to one "
        "of the latter."
    )
    return Judgement(tuple(checks), why)


def _beside_red(results: "PartResults", buffer: int) -> list[Check]:
    """Compares longest-queue drop with the better kind of RED."""
    longest = _at(results, "longest-queue drop", buffer)
    others = [_at(results, words, buffer) for words in REDS]
    checks = []
    for what, metric, better in (
        ("share of the residual, %", share_percent, more),
        ("Jain's index of the two flows", JAIN, more),
        ("loss of the background, %", background_loss_percent, less),
        ("p99 delay of the background, ms", background_delay_ms, less),
    ):
        known = [interval for interval in (other.interval(metric) for other in others) if interval]
        best = (max if better is more else min)(known, key=lambda interval: interval.mean)
        words = f"{'above' if better is more else 'below'} RED's better"
        checks.append(better(f"{what}, {buffer} packets", longest.interval(metric), best, words))
    return checks


PART = Part(
    name="longest-queue-drop",
    title="Drop from the longest queue beside RED",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "outperforms-red",
            "Drop from the longest queue has been shown to largely outperform RED as an active "
            "queue management mechanism [20].",
            "Sec. V-B",
            _outperforms,
        ),
    ),
    note=(
        "Here, drop from the longest queue is that of fair queueing, while RED and drop tail "
        "have one FIFO queue. RED has the thresholds for a target delay of 5 ms (16 and 47 "
        "packets) with every buffer; a buffer of 20 packets is full before the second threshold."
    ),
)
