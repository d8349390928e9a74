"""Unstated parameters other than the bottleneck, and the effect of each."""

from itertools import islice
from typing import TYPE_CHECKING

from tailroom.plots import style
from tailroom.reproduction.claim import Check, Claim, Judgement, below, between
from tailroom.reproduction.form import Form
from tailroom.reproduction.mean_curves import bar_length
from tailroom.reproduction.pairs import difference
from tailroom.reproduction.paper import Part, Study
from tailroom.reproduction.part_results import Metric, PartResults, PointResults
from tailroom_papers.su_2005 import drawing, measures
from tailroom_papers.su_2005.paper_table import FAIRNESS_STEP, UTILIZATION_STEP, distance
from tailroom_papers.su_2005.setting import SCENARIO, TABLE_C, C, span

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GROUPS = ("fair", "background", "short", "web")
AS_CHOSEN = "as chosen"
JITTER = "send jitter 20 us"
VARIANTS: dict[str, dict[str, object]] = {
    AS_CHOSEN: {},
    "3 background flows": {"flows.background.count": 3},
    "5 background flows": {"flows.background.count": 5},
    "background RTT 80-200 ms": {"flows.background.rtt": {"from": "80 ms", "to": "200 ms"}},
    "short, web 0.25 % each": {f"flows.{group}.source.load": 0.0025 for group in GROUPS[2:]},
    "short, web 4 % each": {f"flows.{group}.source.load": 0.04 for group in GROUPS[2:]},
    "access 1 Gbit/s": {f"flows.{group}.access_rate": "1 Gbit/s" for group in GROUPS},
    JITTER: {f"flows.{group}.send_jitter": "20 us" for group in GROUPS},
    "limited slow start": {f"flows.{group}.slow_start": {"kind": "limited"} for group in GROUPS},
}
LONGER = "600 s instead of 200 s"


def variants(form: Form) -> dict[str, dict[str, object]]:
    """What is varied, by name."""
    two = {name: VARIANTS[name] for name in (AS_CHOSEN, JITTER)}
    some = {name: VARIANTS[name] for name in islice(VARIANTS, 3)}
    return form.of(two, {**some, **two}, {**VARIANTS, LONGER: {"duration": "600 s"}})


def studies(form: Form) -> list[Study]:
    """Table 1 with one thing changed at a time."""
    return [
        Study(
            name,
            SCENARIO,
            grid={C: TABLE_C},
            set={**span(form), **settings},
            seeds=form.of(3, 4, 10),
        )
        for name, settings in ((_slug(label), what) for label, what in variants(form).items())
    ]


def of(results: PartResults, name: str) -> dict[int, PointResults]:
    """The runs of a variant, by c."""
    return {c: results.study(_slug(name)).at({C: c}) for c in TABLE_C}


def judge_phases(results: PartResults) -> Judgement:
    """If nothing depends on phases, a jitter of a packet's time changes nothing."""
    mine, shaken = of(results, AS_CHOSEN), of(results, JITTER)
    first = measures.utilization_of(0)
    checks = []
    for c in TABLE_C:
        index = difference(shaken[c], mine[c], measures.fairness)
        what = f"c = {c}: fairness index with jitter less without"
        stated = f"within {FAIRNESS_STEP}"
        checks.append(between(what, index, -FAIRNESS_STEP, FAIRNESS_STEP, stated))
        use = difference(shaken[c], mine[c], first)
        what, step = f"c = {c}: use of F1 with jitter less without", UTILIZATION_STEP
        checks.append(between(what, use, -step, step, "within 5 points", percent=True))
    return Judgement(
        tuple(checks),
        f"The fairness index at c = 5, 10 and 20 is {_three(mine, measures.fairness)} without "
        f"jitter at the senders and {_three(shaken, measures.fairness)} with up to 20 us, less "
        f"than a packet takes at the bottleneck (27 us).",
    )


def judge_robust(results: PartResults) -> Judgement:
    """Whatever is changed, larger c leaves the background less."""
    use = measures.background_utilization
    checks: list[Check] = []
    said = []
    for name in variants(results.form):
        points = of(results, name)
        change = difference(points[20], points[5], use)
        what = f"{name}: use of the background, c = 20 less c = 5"
        checks.append(below(what, change, 0.0, "smaller", percent=True))
        said.append(f"{name} {distance(points).mean:.2f}")
    return Judgement(
        tuple(checks), f"The distance from Table 1 with one thing changed: {', '.join(said)}."
    )


def _three(points: dict[int, PointResults], metric: Metric) -> str:
    values = [f"{point.mean(metric):.2f}" for point in points.values()]
    return f"{values[0]}, {values[1]} and {values[2]}"


def _slug(name: str) -> str:
    """A study's name is part of a file's."""
    return "".join(letter if letter.isalnum() else "-" for letter in name)


def draw(results: PartResults) -> "Figure":
    """Distance, fairness index and the background's use for each variant."""
    figure, panels = drawing.figure_of(
        "Su et al. 2005, Table 1: what the paper does not say, one thing changed at a time", 1, 3
    )
    figure.set_size_inches(13, 4.8)
    names = list(variants(results.form))
    rows = range(len(names))
    each = [distance(of(results, name)) for name in names]
    panels[0].errorbar(
        [interval.mean for interval in each],
        rows,
        xerr=[bar_length(interval) for interval in each],
        color="black",
        linestyle="none",
        marker="D",
        capsize=3,
    )
    panels[0].set_xlabel("distance from Table 1")
    panels[0].set_xlim(left=0)
    _draw_by_c(panels[1], results, names, measures.fairness, 1)
    panels[1].set_xlim(right=1.02)
    panels[1].set_xlabel("fairness index of F1 to F3")
    _draw_by_c(panels[2], results, names, measures.background_utilization, 100)
    panels[2].set_xlabel("utilization of the background (%)")
    panels[2].set_xlim(left=0)
    for axes in panels:
        axes.set_yticks(rows, names if axes is panels[0] else [])
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.grid(axis="y", color="0.9")
    drawing.legend_below(figure, panels[1:], 3)
    return figure


def _draw_by_c(
    axes: "Axes", results: PartResults, names: list[str], metric: Metric, scale: float
) -> None:
    for c, look in zip(TABLE_C, islice(style.marked_line_styles(), 3), strict=True):
        each = [of(results, name)[c].interval(metric) for name in names]
        known = [(row, interval) for row, interval in enumerate(each) if interval is not None]
        aside = {5: -0.2, 10: 0.0, 20: 0.2}[c]
        axes.errorbar(
            [scale * interval.mean for _, interval in known],
            [row + aside for row, _ in known],
            xerr=[scale * bar_length(interval) for _, interval in known],
            label=f"c = {c}",
            capsize=2,
            **{**look, "linestyle": "none"},
        )


PART = Part(
    name="unsaid",
    title="What the paper leaves open: background, short flows, access, slow start",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "phases",
            "Web flows and short-lived TCP flows avoid phase effects",
            "Sec. 3",
            judge_phases,
        ),
        Claim(
            "robust",
            "Background flows get less with larger c, with 3 to 5 of them",
            "Sec. 3, Table 1",
            judge_robust,
        ),
    ),
    note=(
        "One thing is changed at a time, on the bottleneck of 300 Mbit/s and 20 ms: the number "
        "of long-lived background flows (the paper has 3 to 5) and their round trip times, how "
        "much short and web traffic there is, the access rate, a random processing time of the "
        "senders, and the slow start of RFC 3742, which was recommended for large windows."
    ),
)
