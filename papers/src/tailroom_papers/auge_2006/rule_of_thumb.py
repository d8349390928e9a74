"""The rule of thumb applied to the residual capacity: necessary for full utilization?"""

from collections.abc import Sequence

from tailroom.models.sawtooth.sawtooth import aimd_utilization
from tailroom_papers.auge_2006 import background, other_values, picture, setup
from tailroom_papers.auge_2006.bounds import BOUNDS
from tailroom_papers.auge_2006.columns import STATED
from tailroom_papers.auge_2006.residual import residual_share, timeouts
from tailroom_papers.auge_2006.setup import RESIDUAL_BDP_PACKETS, fifo, settings
from tailroom_papers.framework import *

HALF = RESIDUAL_BDP_PACKETS // 2
BUFFERS = (50, 100, HALF, 225, RESIDUAL_BDP_PACKETS, 450, setup.BDP_PACKETS)
STUDY = "one flow"


def studies(form: Form) -> Sequence[Study]:
    """One NewReno flow with buffers around the residual bandwidth-delay product."""
    buffers = form.of((HALF, RESIDUAL_BDP_PACKETS), BUFFERS, BUFFERS)
    return [setup.study(STUDY, {"reno": 1}, [fifo(buffer) for buffer in buffers], form, keep=())]


def _at(results: PartResults, buffer: int) -> PointResults:
    return results.study(STUDY).at(settings(fifo(buffer)))


def draw(results: PartResults) -> Figure:
    """Utilization over buffer, with that of a sawtooth on the residual capacity."""
    title = "Rule of thumb for the residual capacity: one NewReno flow, FIFO"
    figure, (panel,) = picture.page(title, 3.4)
    points = sorted(results.study(STUDY).points, key=background.buffer_of)
    buffers = [background.buffer_of(point) for point in points]
    look = next(style.marked_line_styles())
    draw_marks(panel, buffers, points, "utilization", look, label="simulation", scale=100)
    sawtooth = [50 + 50 * _sawtooth(buffer) for buffer in buffers]
    panel.plot(buffers, sawtooth, color="#0072B2", linestyle=":", label="sawtooth without bursts")
    panel.axvline(RESIDUAL_BDP_PACKETS, label="rule of thumb for the residual", **STATED)
    panel.axhline(100 * BOUNDS["full"].value, label="99 %: full", **style.LIMIT_LINE)
    background.frame_over_buffers(panel, y="utilization (%)", ylim=(75, 101))
    return picture.finished(figure, 4)


def _sawtooth(buffer: int) -> float:
    return aimd_utilization(min(buffer / RESIDUAL_BDP_PACKETS, 1.0), 0.5)


def _necessary(results: PartResults) -> Judgement:
    enough, half = _at(results, RESIDUAL_BDP_PACKETS), _at(results, HALF)
    full, whole = BOUNDS["full"], f"utilization with {RESIDUAL_BDP_PACKETS} packets"
    words = f"necessary: not full with considerably less (below {full.value:.0%})"
    what = f"utilization with half of that, {HALF} packets"
    checks = (
        enough.above(whole, "utilization", full),
        half.below(what, "utilization", full, words),
    )
    return Judgement(
        checks,
        lambda: (
            f"{RESIDUAL_BDP_PACKETS} packets give the flow "
            f"{100 * enough.mean(residual_share):.1f} % of the residual, half of them "
            f"{100 * half.mean(residual_share):.1f} %. A sawtooth without bursts would fill the "
            f"residual with {RESIDUAL_BDP_PACKETS} packets exactly; bursts and timeouts "
            f"({enough.mean(timeouts):.1f} per run) lower this."
        ),
    )


def variations(form: Form) -> Sequence[Variation]:
    """The two buffers of the claim with other values of what the paper leaves open."""
    queues = [fifo(HALF), fifo(RESIDUAL_BDP_PACKETS)]
    used = [setup.study(STUDY, {"reno": 1}, queues, form, keep=())]
    return other_values.variations(used, ("residual-rule",), form)


PART = Part(
    name="rule-of-thumb",
    title="The rule of thumb for the residual capacity",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "residual-rule",
            "When only one such flow is in progress, the rule of thumb applied to the residual "
            "link capacity is indeed necessary to ensure full link utilization.",
            "Sec. I",
            _necessary,
        ),
    ),
    variations=variations,
    caption=(
        "Utilization over the buffer: simulation (marks, means with 95 % confidence intervals) and "
        "a sawtooth that fills residual and buffer before it halves (dotted). The vertical line "
        "is the bandwidth-delay product of the residual capacity, 312 packets; the horizontal one "
        "the bound of the claim."
    ),
    note=(
        "Residual capacity is what the background leaves, 25 Mbit/s, and its bandwidth-delay "
        "product 312 packets. Necessary means that this buffer suffices and half of it does not."
    ),
)
