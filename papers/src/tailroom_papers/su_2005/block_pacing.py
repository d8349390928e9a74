"""Block pacing on and off: the effect on bursts, queue, losses and fairness."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from tailroom_papers.framework import *
from tailroom_papers.su_2005 import measures
from tailroom_papers.su_2005.readings import PLAUSIBLE
from tailroom_papers.su_2005.setting import BLOCKS, SCENARIO, TABLE_C, C, span

ACCESS = "flows.fair.access_rate"
FAST, SLOW = "10 Gbit/s", "400 Mbit/s"
"""Access rates of the three flows; with the slow one a block takes longer to leave."""
NAMES = {True: "with blocks", False: "without blocks"}
LOOKS: tuple[dict[str, Any], ...] = (
    {"color": style.COLOURS[0], "marker": "o"},
    {"color": style.COLOURS[2], "marker": "s"},
)
"""Of runs with and without blocks."""
CURVES: tuple[dict[str, Any], ...] = tuple(
    {"color": look["color"], "linestyle": dashes} for look in LOOKS for dashes in ("-", "--")
)
"""The same at both access rates."""
VARIED_KEYS = {"block_count", "block_length"}
FINEST = "20 us"
"""Of the time scales at which bursts are counted: less than a packet takes at the bottleneck."""
SCALES = {
    "a packet's time": 27e-6,
    "a hundred packets' time": 2.7e-3,
    "half the shortest round trip": 0.04,
}
"""At which the claims look; each is taken at the nearest scale that was counted."""


def studies(form: Form) -> list[Study]:
    """Blocks on and off at each c of Table 1; and behind slower access links."""
    recorded = {**span(form), "links.bottleneck.arrival_dispersion": FINEST}
    both: dict[str, Sequence[object]] = {BLOCKS: [True, False]}
    by_c = {**both, C: form.of((10,), (10,), TABLE_C)}
    slow = {**recorded, ACCESS: SLOW}
    same: dict[str, Any] = {"seeds": form.of(3, 4, 20), "keep": ("arrival_dispersion",)}
    return [
        Study("blocks", SCENARIO, grid=by_c, set=recorded, **same),
        Study("slow access", SCENARIO, grid=both, set=slow, **same),
    ]


def of(results: PartResults, blocks: bool, c: int = 10) -> PointResults:
    """The runs with or without blocks."""
    return results.study("blocks").at({BLOCKS: blocks, C: c})


def dispersion(run: StoredRun) -> tuple[list[float], list[float]]:
    """Time scales in seconds, and the index of dispersion of the arrivals at each."""
    table = run.table("arrival_dispersion")
    return table["scale_s"].to_pylist(), table["index"].to_pylist()


def dispersion_at(run: StoredRun, scale_s: float) -> float | None:
    """Returns the index of dispersion at the counted scale nearest to one, by ratio."""
    scales, index = dispersion(run)
    place = int(np.argmin(np.abs(np.log(np.array(scales) / scale_s))))
    return float(index[place])


def dispersion_near(scale_s: float) -> Metric:
    """Returns the metric of the index of dispersion at the scale nearest to one."""
    return partial(dispersion_at, scale_s=scale_s)


def judge_bursts(results: PartResults) -> Judgement:
    """Fewer bursts by the index of dispersion, by runs of one flow's packets, in the queue."""
    with_blocks, without = of(results, True), of(results, False)

    def reduced(what: str, metric: Metric) -> Check:
        return less(f"{what}: with blocks less without", with_blocks, without, metric, "smaller")

    checks = [
        *(
            reduced(f"index of dispersion over {words}", dispersion_near(scale))
            for words, scale in SCALES.items()
        ),
        reduced("packets in a burst of one flow, largest", "burst_packets_max"),
        reduced("mean queue (packets)", "queue_packets_mean"),
        reduced("queue (packets), p99", "queue_packets_p99"),
    ]
    return Judgement(tuple(checks), lambda: _why_bursts(with_blocks, without))


def _why_bursts(with_blocks: PointResults, without: PointResults) -> str:
    bursts = [f"{point.mean('burst_packets_max'):.0f}" for point in (with_blocks, without)]
    half = dispersion_near(SCALES["half the shortest round trip"])
    spread = [f"{point.mean(half):.0f}" for point in (with_blocks, without)]
    return (
        "The ACKs of a window already spread its packets over the round trip. A block waits for "
        "its part of the round trip, and the packets that ACKs have allowed in the meantime "
        f"leave at once: the largest run of one flow's packets has {bursts[0]} packets with "
        f"blocks and {bursts[1]} without. Over half the shortest round trip the index of "
        f"dispersion is {spread[0]} with blocks and {spread[1]} without."
    )


def judge_effects(results: PartResults) -> Judgement:
    """Judges whether blocks undo the effect of sharp increments: losses of F3 and background."""
    with_blocks, without = of(results, True), of(results, False)
    both = (with_blocks, without)
    losses = {
        "loss rate of F3 (200 ms)": measures.long_flow_loss,
        "loss rate of the background": measures.background_loss,
    }
    checks = [
        less(f"{what}: with blocks less without", *both, metric, "smaller")
        for what, metric in losses.items()
    ]
    gains = {
        "utilization of F3 (200 ms)": measures.utilization_of(2),
        "utilization of the background": measures.background_utilization,
    }
    checks += [
        more(f"{what}: with blocks less without", *both, metric, "larger", percent=True)
        for what, metric in gains.items()
    ]
    return Judgement(tuple(checks), lambda: _why_effects(with_blocks, without))


def _why_effects(with_blocks: PointResults, without: PointResults) -> str:
    both = (with_blocks, without)
    fair = [shown(point.interval(measures.fairness)) for point in both]
    use = [f"{100 * point.mean('utilization'):.1f}" for point in both]
    total = [f"{100 * point.mean(measures.total_utilization):.1f}" for point in both]
    return (
        f"The fairness index is {fair[0]} with blocks and {fair[1]} without, the link's "
        f"utilization {use[0]} and {use[1]} %, and the three flows use "
        f"{total[0]} and {total[1]} % of it."
    )


def variations(form: Form) -> list[Variation]:
    """A fractional number of blocks, blocks of the printed length, and slow access links."""
    blocks = studies(form)[0]
    readings = [reading for reading in PLAUSIBLE if reading.control.keys() & VARIED_KEYS]
    only_10: dict[str, object] = {BLOCKS: [True, False], C: (10,)}
    of_readings = [
        Variation(
            reading.name,
            [blocks.varied(reading.settings, grid=only_10)],
            ("burstiness", "negative-effects"),
            reason=reading.reason,
        )
        for reading in readings
    ]
    access = Variation(
        "slow access links",
        [blocks.varied({ACCESS: SLOW}, grid=only_10)],
        ("burstiness", "negative-effects"),
        reason=f"{SLOW}: the packets of a block take longer to leave their sender",
    )
    return form.of([], of_readings[:1], [*of_readings, access])


def draw(results: PartResults) -> Figure:
    """Draws the index of dispersion over time scales; queue, losses and fairness."""
    figure, panels = figure_of("Block pacing on and off", 2, 2)
    _draw_dispersion(panels[0], results)
    cs = [point.settings[C] for point in results.study("blocks").where({BLOCKS: True}).points]
    metrics: list[dict[str, Metric]] = [
        {"mean": "queue_packets_mean", "99th percentile": "queue_packets_p99"},
        {"F3": measures.long_flow_loss, "background": measures.background_loss},
        {"": measures.fairness},
    ]
    kinds = (
        ("queue (packets)", 1, None),
        ("loss rate (1e-3)", 1e3, 1),
        ("fairness index of F1 to F3", 1, 1),
    )
    for axes, (label, scale, most), of_panel in zip(panels[1:], kinds, metrics, strict=True):
        for blocks, look, aside in zip(NAMES, LOOKS, (-0.1, 0.1), strict=True):
            values = [of(results, blocks, c).interval(m) for m in of_panel.values() for c in cs]
            over = [place + aside for place in range(len(values))]
            marks = {**look, "linestyle": "none", "label": NAMES[blocks]}
            draw_intervals(axes, over, values, marks, scale=scale, most=most)
        _name_groups(axes, list(of_panel), cs)
        axes.set(ylabel=label, ylim=(0, None))
    panels[3].set_ylim(0.4, 1.02)
    return legend_below(figure, 3)


def _name_groups(axes: Axes, groups: Sequence[str], cs: Sequence[int]) -> None:
    """Labels each place with its c, and each group of places below its middle."""
    middle = cs[len(cs) // 2]
    names = [f"{c}\n{group}" if c == middle else f"{c}" for group in groups for c in cs]
    frame(axes, x="c (1/s)", names=names, xlim=(-0.6, len(names) - 0.4), grid="y")


def _draw_dispersion(axes: Axes, results: PartResults) -> None:
    slow = results.study("slow access")
    curves = {
        f"{name}, access {rate}": point
        for blocks, name in NAMES.items()
        for rate, point in ((FAST, of(results, blocks)), (SLOW, slow.at({BLOCKS: blocks})))
    }
    for label, point, look in styled(curves, CURVES):
        each = [dispersion(run) for run in point.runs]
        mean = np.mean([index for _, index in each], axis=0)
        axes.plot(1e3 * np.array(each[0][0]), mean, label=label, **look, linewidth=1.5)
    axes.axhline(1, label="Poisson arrivals", **style.LIMIT_LINE)
    frame(axes, x="time scale (ms)", y="index of dispersion, c = 10", log="xy")


PART = Part(
    name="block-pacing",
    title="Block pacing on and off",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "burstiness",
            "Block pacing reduces the burstiness caused by the fair factor of long RTT flows",
            "Abstract and Sec. 1",
            judge_bursts,
        ),
        Claim(
            "negative-effects",
            "Block pacing counteracts the negative effects of the fair factor",
            "Sec. 2",
            judge_effects,
        ),
    ),
    variations=variations,
    caption=(
        "Runs with and without block pacing. Top left: index of dispersion of the arrivals at the "
        "bottleneck over time scales at c = 10 (1 for a Poisson process), for two access rates. "
        "Other panels: queue at the bottleneck, loss rates, and fairness index, by c. Marks are "
        "means over runs with 95 % confidence intervals. The paper shows no run without blocks."
    ),
    note=(
        "The paper shows no run without blocks. The packets of a block leave at the rate of the "
        f"access link, which the paper does not give: {FAST} here, and {SLOW} for comparison."
    ),
)
