"""Whether the windows of four HighSpeed flows are chaotic, and more so than those of NewReno."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from tailroom_papers.auge_2006 import other_values, picture, setup
from tailroom_papers.auge_2006.ascendancy import advantage, duration, leaders, of_cycles, series
from tailroom_papers.auge_2006.bounds import BOUNDS
from tailroom_papers.auge_2006.residual import flow_names, seconds_between_reductions
from tailroom_papers.auge_2006.setup import BDP_PACKETS, fifo
from tailroom_papers.framework import *

FLOWS = {"HighSpeed": {"highspeed": 4}, "NewReno": {"reno": 4}}
CYCLES = (0.5, 1.0, 2.0, 4.0)
"""Lengths of stretches that are drawn, in congestion cycles; the claim is judged for one cycle."""
SHOWN_S = 150.0


def studies(form: Form) -> Sequence[Study]:
    """Four flows of each control with the large buffer, FIFO."""
    return [
        replace(setup.study(name, flows, [fifo(BDP_PACKETS)], form), seeds=form.of(3, 5, 60))
        for name, flows in FLOWS.items()
    ]


def _of(results: PartResults, name: str) -> PointResults:
    return results.study(name).points[0]


def draw(results: PartResults) -> Figure:
    """The windows, averaged over a congestion cycle; and the advantage by length of average."""
    title = "Ascendancy of flows: windows averaged over congestion cycles"
    figure, (highspeed, reno, last) = picture.page(title, 3.6, columns=3)
    for panel, name in zip((highspeed, reno), FLOWS, strict=True):
        _draw_windows(panel, results, name)
    highest = max(panel.get_ylim()[1] for panel in (highspeed, reno))
    frame(
        highspeed, x="time (s)", y="window, mean of a cycle (packets)", ylim=(0, highest), grid=""
    )
    frame(reno, x="time (s)", ylim=(0, highest), grid="")
    for name, look in zip(FLOWS, style.marked_line_styles(), strict=False):
        metrics = [partial(advantage, cycles=cycles) for cycles in CYCLES]
        means = [_of(results, name).interval(metric) for metric in metrics]
        draw_intervals(last, CYCLES, means, look | {"linestyle": "none"}, label=f"4 {name}")
    last.axhline(BOUNDS["ascendancy"].value, label="2 : 1", **style.LIMIT_LINE)
    label, over = "largest over smallest window", "averaged over (cycles)"
    frame(last, x=over, y=label, log="x", ticks=CYCLES, ylim=(1, None), grid="")
    return picture.finished(figure, 4)


def _draw_windows(panel: Axes, results: PartResults, name: str) -> None:
    run = _of(results, name).runs[0]
    windows = of_cycles(run, 1.0)
    cycle_s = seconds_between_reductions(run)
    if windows is None or cycle_s is None:
        return
    start_s = run.summary["measured_from_s"]
    _, interval_s = series(run)
    length_s = interval_s * max(1, round(cycle_s / interval_s))
    edges = [start_s + length_s * place for place in range(windows.shape[1] + 1)]
    for number, (_, look) in enumerate(zip(flow_names(run), style.line_styles(), strict=False)):
        panel.stairs(windows[number], edges, label=f"flow {number + 1}", baseline=None, **look)
    panel.set_title(f"4 {name}, a cycle is {cycle_s:.1f} s", loc="left")
    panel.set_xlim(start_s, min(start_s + SHOWN_S, edges[-1]))


def _is_chaotic(results: PartResults) -> Judgement:
    highspeed, reno = (_of(results, name) for name in FLOWS)
    ascendancy = "largest over smallest window"
    over_reno = f"{ascendancy}, HighSpeed less NewReno"
    ahead = "congestion cycles for which the same flow is ahead, HighSpeed less NewReno"
    checks = (
        highspeed.above(
            f"{ascendancy}, means of a congestion cycle", advantage, BOUNDS["ascendancy"]
        ),
        highspeed.above(
            "flows that are ahead in some congestion cycle", leaders, BOUNDS["one-after-the-other"]
        ),
        more(over_reno, highspeed, reno, advantage, "a property of HighSpeed TCP"),
        more(ahead, highspeed, reno, duration, "preserves its relative advantage"),
    )
    return Judgement(
        checks,
        lambda: (
            f"A flow reduces its window every {highspeed.mean(seconds_between_reductions):.1f} s "
            f"with HighSpeed and every {reno.mean(seconds_between_reductions):.1f} s with NewReno. "
            "Averaged over such a cycle, the largest window is "
            f"{highspeed.mean(advantage):.2f} and {reno.mean(advantage):.2f} times the smallest, "
            f"and the same flow stays ahead for {highspeed.mean(duration):.1f} and "
            f"{reno.mean(duration):.1f} cycles (1.3 if the order were drawn anew for every cycle)."
        ),
    )


def variations(form: Form) -> Sequence[Variation]:
    """The same flows with other values of what the paper leaves open."""
    return other_values.variations(studies(form), ("chaotic-windows",), form)


PART = Part(
    name="chaos",
    title="One flow after the other gains a temporary ascendancy",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "chaotic-windows",
            "Quite chaotic behaviour of the flow cwnds as one flow after the other gains a "
            "temporary ascendancy, and preserves its relative advantage until it is superseded.",
            "Sec. V-A, Figure 6 right",
            _is_chaotic,
        ),
    ),
    variations=variations,
    caption=(
        "Left and middle: the windows of four flows in the first run, each averaged over one "
        "congestion cycle (mean time between two reductions of a flow). Right: largest over "
        "smallest of the averaged windows, by the length of the average, means with 95 % "
        "confidence intervals; the dashed line is the bound of the claim."
    ),
    note=(
        "The measure follows the paper's words and was chosen before the runs. A window that "
        "grows and halves is at times larger than another without any ascendancy, so windows are "
        "averaged over one congestion cycle: an advantage that remains has outlasted a cycle. "
        "The words describe HighSpeed TCP as opposed to NewReno, so the claim is judged by "
        "differences to four NewReno flows in the same buffer, too."
    ),
)
