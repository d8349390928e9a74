"""Table 1 with other values of what the paper does not state, one at a time."""

from tailroom_papers.framework import *
from tailroom_papers.su_2005 import drawing, measures
from tailroom_papers.su_2005.other_values import JITTER, UNSTATED
from tailroom_papers.su_2005.paper_table import BACKGROUND, FAIRNESS, distance
from tailroom_papers.su_2005.setting import BOUNDS, SCENARIO, TABLE_C, C, span

AS_CHOSEN = "as chosen"
LONGER = "600 s instead of 200 s"


def variants(form: Form) -> dict[str, dict[str, object]]:
    """Returns the settings of each variant."""
    everything = {name: other.settings for name, other in UNSTATED.items()}
    few = {name: everything[name] for name in (*list(everything)[:2], JITTER)}
    others = form.of({JITTER: everything[JITTER]}, few, everything)
    longer: dict[str, dict[str, object]] = {LONGER: {"duration": "600 s"}}
    return {AS_CHOSEN: {}, **others, **form.of({}, {}, longer)}


def studies(form: Form) -> list[Study]:
    """Table 1 with one thing changed at a time."""
    studies = []
    for name, settings in variants(form).items():
        seeds = form.of(2, 4, 40 if name in {AS_CHOSEN, JITTER} else 10)
        studies.append(Study(name, SCENARIO, {C: TABLE_C}, set=span(form) | settings, seeds=seeds))
    return studies


def of(results: PartResults, name: str) -> dict[int, PointResults]:
    """Returns the runs of a variant, by c."""
    return {c: results.study(name).at({C: c}) for c in TABLE_C}


def judge_phases(results: PartResults) -> Judgement:
    """Judges whether a jitter of less than a packet's time changes little."""
    mine, shaken = of(results, AS_CHOSEN), of(results, JITTER)
    checks = []
    step, used = BOUNDS["phase-index"].value, BOUNDS["phase-utilization"].value
    for c in TABLE_C:
        index = paired_difference(shaken[c], mine[c], measures.fairness)
        what = f"c = {c}: fairness index with jitter less without"
        checks.append(between(what, index, -step, step, f"within {step}"))
        use = paired_difference(shaken[c], mine[c], measures.utilization_of(0))
        what = f"c = {c}: utilization of F1 with jitter less without"
        checks.append(between(what, use, -used, used, "within 5 points", percent=True))
    return Judgement(tuple(checks), lambda: _why_phases(mine, shaken))


def _why_phases(mine: dict[int, PointResults], shaken: dict[int, PointResults]) -> str:
    return (
        f"The fairness index at c = 5, 10 and 20 is {_three(mine)} without jitter at the senders "
        f"and {_three(shaken)} with up to 20 us, less than the 27 us that a packet takes at the "
        "bottleneck."
    )


def _three(points: dict[int, PointResults]) -> str:
    values = [f"{point.mean(measures.fairness):.2f}" for point in points.values()]
    return f"{values[0]}, {values[1]} and {values[2]}"


def draw(results: PartResults) -> Figure:
    """Draws the distance, the fairness index and the background's utilization by variant."""
    title = "Table 1 with one unstated parameter changed at a time"
    figure, panels = figure_of(title, 1, 3, (13, 5.4))
    named = {name: of(results, name) for name in variants(results.form)}
    look = {"color": "0.3", "linestyle": "none", "marker": "D", "label": "distance from Table 1"}
    apart = map(distance, named.values())
    draw_intervals(panels[0], range(len(named)), apart, look, across=True)
    panels[0].set(xlabel="distance from Table 1", xlim=(0, None))
    drawing.rows(panels[1], named, FAIRNESS)
    drawing.rows(panels[2], named, BACKGROUND)
    panels[1].set_xlim(0.4, 1.02)
    panels[2].set_xlim(left=0)
    drawing.name_rows(panels, list(named))
    return legend_below(figure, 7)


PART = Part(
    name="unsaid",
    title="What the paper leaves open: background, short flows, access, phase, slow start",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "phases",
            "Web flows and short-lived TCP flows avoid phase effects",
            "Sec. 3",
            judge_phases,
        ),
    ),
    caption=(
        "Table 1 with one thing changed at a time. Left: distance from the paper's Table 1, as in "
        "the part `capacity`, with the 95 % interval of the jackknife. Middle and right: fairness "
        "index and utilization of the background; marks are means over runs with 95 % confidence "
        "intervals, dotted lines the paper's numbers at the same c."
    ),
    note=(
        "One thing is changed at a time, on the bottleneck of 300 Mbit/s and 20 ms. The section on "
        "sensitivity has the verdicts on the claims about Table 1 and Figure 3 with each of these "
        "values."
    ),
)
