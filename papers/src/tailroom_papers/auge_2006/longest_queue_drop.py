"""Fair queueing with drop from the longest queue alongside RED and drop tail."""

from collections.abc import Callable, Sequence

from tailroom.scenario.types import AdaptiveRedQueue, Queue, RedQueue
from tailroom_papers.auge_2006 import picture, setup
from tailroom_papers.auge_2006.comparison import considerably_less
from tailroom_papers.auge_2006.residual import (
    background_delay_ms,
    background_loss,
    goodput_of,
    residual_share,
)
from tailroom_papers.auge_2006.setup import BDP_PACKETS, BUFFERS, fair, fifo, settings
from tailroom_papers.framework import *

FLOWS = {"highspeed": 1, "reno": 1}
STUDY = "disciplines"


def red(buffer: int) -> RedQueue:
    """RED with the thresholds that its authors recommend for a target delay of 5 ms."""
    return {"kind": "red", "limit": f"{buffer - 1} packets"}


def adaptive_red(buffer: int) -> AdaptiveRedQueue:
    """RED that adapts its largest probability."""
    return {"kind": "adaptive_red", "limit": f"{buffer - 1} packets"}


LONGEST = "longest-queue drop"
QUEUES: dict[str, Callable[[int], Queue]] = {
    LONGEST: fair,
    "RED": red,
    "Adaptive RED": adaptive_red,
    "drop tail": fifo,
}
REDS = ("RED", "Adaptive RED")
JUDGED = BUFFERS[1:]
"""Buffers above RED's second threshold, 47 packets: below it RED is drop tail."""


def studies(form: Form) -> Sequence[Study]:
    """A HighSpeed and a NewReno flow under each."""
    queues = [queue(buffer) for buffer in _buffers(form) for queue in QUEUES.values()]
    return [setup.study(STUDY, FLOWS, queues, form, keep=())]


def _buffers(form: Form) -> Sequence[int]:
    return form.of(BUFFERS[2:], BUFFERS[1:], BUFFERS)


def background_loss_percent(run: StoredRun) -> float:
    """Of the background."""
    return 100 * background_loss(run)


def share_percent(run: StoredRun) -> float:
    """Of the residual."""
    return 100 * residual_share(run)


JAIN = "flows.jain_index"
PANELS: dict[str, Metric] = {
    "share of the residual (%)": share_percent,
    "fairness (Jain's index)": JAIN,
    "loss of the background (%)": background_loss_percent,
    "p99 delay of the background (ms)": background_delay_ms,
}
MOST = {"share of the residual (%)": 100.0, "fairness (Jain's index)": 1.0}
"""Largest possible values."""


def draw(results: PartResults) -> Figure:
    """A panel for each measure, over the buffer."""
    buffers = _buffers(results.form)
    title = "One HighSpeed and one NewReno flow next to a background, by queue"
    figure, panels = picture.page(title, 5.2, 2, 2, sharex=True)
    lines = {words: [_at(results, words, buffer) for buffer in buffers] for words in QUEUES}
    for panel, (label, metric) in zip(panels, PANELS.items(), strict=True):
        for words, points, look in styled(lines):
            draw_marks(panel, buffers, points, metric, look, label=words, most=MOST.get(label))
        style.scale_over(panel, buffers)
        frame(panel, y=label)
    panels[1].set_ylim(0.5, 1.02)
    for panel in panels[2:]:
        panel.set_xlabel("buffer (packets)")
    return picture.finished(figure, 4)


def _at(results: PartResults, words: str, buffer: int) -> PointResults:
    return results.study(STUDY).at(settings(QUEUES[words](buffer)))


def _outperforms(results: PartResults) -> Judgement:
    buffers = [buffer for buffer in _buffers(results.form) if buffer in JUDGED]
    checks = []
    for buffer in buffers:
        ours = _at(results, LONGEST, buffer)
        for lacking, metric in LACKING.items():
            what = f"{lacking}, over that under the better RED, {buffer} packets"
            other = _better_red(results, buffer, metric)
            checks.append(considerably_less(what, ours, other, metric, "largely outperforms"))

    def why() -> str:
        parts = [
            f"{words} {point.mean(share_percent):.1f} % of the residual, Jain's index "
            f"{point.mean(JAIN):.3f}, background p99 {point.mean(background_delay_ms):.1f} ms"
            for words, point in ((words, _at(results, words, BDP_PACKETS)) for words in QUEUES)
        ]
        return (
            f"With {BDP_PACKETS} packets: {'; '.join(parts)}. RED drops any arriving packet, of "
            "the background as well as of the flows that fill the link; the longest queue belongs "
            "to one of the latter."
        )

    return Judgement(tuple(checks), why)


def _better_red(results: PartResults, buffer: int, metric: Metric) -> PointResults:
    points = [_at(results, words, buffer) for words in REDS]
    return min(points, key=lambda point: point.mean(metric))


def unused(run: StoredRun) -> float:
    """Fraction of the residual that the flows do not take."""
    return 1 - residual_share(run)


def unfairness(run: StoredRun) -> float:
    """1 less Jain's index of the two flows."""
    rates = [goodput_of(run, name) for name in FLOWS]
    return 1 - sum(rates) ** 2 / (len(rates) * sum(rate**2 for rate in rates))


LACKING: dict[str, Metric] = {
    "unused part of the residual": unused,
    "what Jain's index lacks of 1": unfairness,
    "loss of the background": background_loss,
    "p99 delay of the background": background_delay_ms,
}


PART = Part(
    name="longest-queue-drop",
    title="Drop from the longest queue compared with RED",
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
    caption=(
        "Four measures over the buffer, by queue: means with 95 % confidence intervals. The "
        "background's loss under longest-queue drop is 0 or nearly so. Intervals end at the "
        "largest possible value."
    ),
    note=(
        "Here, drop from the longest queue is that of fair queueing, while RED and drop tail "
        "have one FIFO queue. RED has the thresholds for a target delay of 5 ms (16 and 47 "
        "packets) with every buffer. The claim is judged with 100 and 625 packets: a buffer of 20 "
        "packets is full before the second threshold, so that RED acts as drop tail. Largely "
        "means by a factor of two of what is lost, missing or waited for."
    ),
)
