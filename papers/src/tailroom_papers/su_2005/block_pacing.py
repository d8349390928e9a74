"""Block pacing on and off: the effect on bursts, queue, losses and fairness."""

from typing import TYPE_CHECKING

import numpy as np

from tailroom.plots import style
from tailroom.plots.log_axis import plain_ticks
from tailroom.reproduction.claim import Check, Claim, Judgement, above, below, shown
from tailroom.reproduction.form import Form
from tailroom.reproduction.pairs import difference
from tailroom.reproduction.paper import Part, Study
from tailroom.reproduction.part_results import Metric, PartResults, PointResults, StoredRun
from tailroom_papers.su_2005 import drawing, measures
from tailroom_papers.su_2005.setting import BLOCKS, SCENARIO, TABLE_C, C, span

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ACCESS = "flows.fair.access_rate"
FAST, SLOW = "10 Gbit/s", "400 Mbit/s"
"""Access rates of the three flows; with the slow one a block takes longer to leave."""
NAMES = {True: "blocks", False: "no blocks"}
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
    seeds = form.of(3, 4, 20)
    return [
        Study(
            "blocks",
            SCENARIO,
            grid={BLOCKS: [True, False], C: form.of((10,), (10,), TABLE_C)},
            set=recorded,
            seeds=seeds,
            keep=("arrival_dispersion",),
        ),
        Study(
            "slow access",
            SCENARIO,
            grid={BLOCKS: [True, False]},
            set={**recorded, ACCESS: SLOW},
            seeds=seeds,
            keep=("arrival_dispersion",),
        ),
    ]


def of(results: PartResults, blocks: bool, c: int = 10) -> PointResults:
    """The runs with or without blocks."""
    return results.study("blocks").at({BLOCKS: blocks, C: c})


def dispersion(run: StoredRun) -> tuple[list[float], list[float]]:
    """Time scales in seconds, and the index of dispersion of the arrivals at each."""
    table = run.table("arrival_dispersion")
    return table["scale_s"].to_pylist(), table["index"].to_pylist()


def dispersion_near(scale_s: float) -> Metric:
    """The index at the counted scale nearest to one, by ratio."""

    def metric(run: StoredRun) -> float | None:
        scales, index = dispersion(run)
        place = int(np.argmin(np.abs(np.log(np.array(scales) / scale_s))))
        return float(index[place])

    return metric


def long_flow_loss(run: StoredRun) -> float | None:
    """Loss rate of F3, whose window grows fastest."""
    loss: float | None = measures.flows_of(run, measures.FAIR)[2]["loss_fraction"]
    return loss


def judge_bursts(results: PartResults) -> Judgement:
    """Fewer bursts by the index of dispersion, by runs of one flow's packets, in the queue."""
    with_blocks, without = of(results, True), of(results, False)

    def less(what: str, metric: Metric) -> Check:
        change = difference(with_blocks, without, metric)
        return below(f"{what}: with blocks less without", change, 0.0, "smaller")

    checks = [
        *(
            less(f"index of dispersion over {words}", dispersion_near(scale))
            for words, scale in SCALES.items()
        ),
        less("packets in a burst of one flow, largest", "burst_packets_max"),
        less("mean queue (packets)", "queue_packets_mean"),
        less("queue (packets), p99", "queue_packets_p99"),
    ]
    bursts = [f"{point.mean('burst_packets_max'):.0f}" for point in (with_blocks, without)]
    half = dispersion_near(SCALES["half the shortest round trip"])
    spread = [f"{point.mean(half):.0f}" for point in (with_blocks, without)]
    return Judgement(
        tuple(checks),
        "The ACKs of a window already spread its packets over the round trip. A block waits for "
        "its part of the round trip, and the packets that ACKs have allowed in the meantime "
        f"leave at once: the largest run of one flow's packets has {bursts[0]} packets with "
        f"blocks and {bursts[1]} without. Over half the shortest round trip the index of "
        f"dispersion is {spread[0]} with blocks and {spread[1]} without.",
    )


def judge_effects(results: PartResults) -> Judgement:
    """Judges whether blocks undo the effect of sharp increments: losses of F3 and background."""
    with_blocks, without = of(results, True), of(results, False)
    losses = {
        "loss rate of F3 (200 ms)": long_flow_loss,
        "loss rate of the background": measures.background_loss,
    }
    checks = [
        below(
            f"{what}: with blocks less without",
            difference(with_blocks, without, metric),
            0.0,
            "smaller",
        )
        for what, metric in losses.items()
    ]
    gains = {
        "use of F3 (200 ms)": measures.utilization_of(2),
        "use of the background": measures.background_utilization,
    }
    checks += [
        above(
            f"{what}: with blocks less without",
            difference(with_blocks, without, metric),
            0.0,
            "larger",
            percent=True,
        )
        for what, metric in gains.items()
    ]
    fair = [shown(point.interval(measures.fairness)) for point in (with_blocks, without)]
    use = [f"{100 * point.mean('utilization'):.1f}" for point in (with_blocks, without)]
    whole = measures.total_utilization
    total = [f"{100 * point.mean(whole):.1f}" for point in (with_blocks, without)]
    return Judgement(
        tuple(checks),
        f"The fairness index is {fair[0]} with blocks and {fair[1]} without, the link's "
        f"utilization {use[0]} and {use[1]} %, and the three flows use "
        f"{total[0]} and {total[1]} % of it.",
    )


def draw(results: PartResults) -> "Figure":
    """Index of dispersion over time scales; queue, losses and fairness, on and off."""
    figure, panels = drawing.figure_of(
        "Su et al. 2005: block pacing on and off (FHSTCP, 300 Mbit/s, 750 packets)", 2, 2
    )
    _draw_dispersion(panels[0], results)
    cs = [point.settings[C] for point in results.study("blocks").where({BLOCKS: True}).points]
    groups = [f"c = {c}" for c in cs]
    bars = [(name, [of(results, blocks, c) for c in cs]) for blocks, name in NAMES.items()]
    queue = ("queue_packets_mean", "mean"), ("queue_packets_p99", "p99")
    drawing.grouped_bars(
        panels[1],
        groups,
        [
            (f"{statistic}, {name}", points, metric)
            for metric, statistic in queue
            for name, points in bars
        ],
    )
    panels[1].set_ylabel("queue (packets)")
    losses: list[tuple[str, Metric]] = [
        ("F3", long_flow_loss),
        ("background", measures.background_loss),
    ]
    drawing.grouped_bars(
        panels[2],
        groups,
        [(f"{who}, {name}", points, metric) for who, metric in losses for name, points in bars],
        1e3,
    )
    panels[2].set_ylabel("loss rate (1e-3)")
    drawing.grouped_bars(
        panels[3], groups, [(name, points, measures.fairness) for name, points in bars]
    )
    panels[3].set_ylabel("fairness index of F1 to F3")
    panels[3].set_ylim(0, 1.25)
    for axes in panels:
        axes.legend(fontsize="x-small", frameon=False, ncols=2)
    for axes in panels[1:3]:
        axes.set_ylim(top=1.35 * axes.get_ylim()[1])
    return figure


def _draw_dispersion(axes: "Axes", results: PartResults) -> None:
    slow = results.study("slow access")
    curves = [
        (f"{name}, access {rate}", point)
        for blocks, name in NAMES.items()
        for rate, point in ((FAST, of(results, blocks)), (SLOW, slow.at({BLOCKS: blocks})))
    ]
    for (label, point), look in zip(curves, style.line_styles(), strict=False):
        each = [dispersion(run) for run in point.runs]
        mean = np.mean([index for _, index in each], axis=0)
        axes.plot(1e3 * np.array(each[0][0]), mean, label=label, **{**look, "linewidth": 1.5})
    axes.axhline(1, label="Poisson arrivals", **style.LIMIT_LINE)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_formatter(plain_ticks)
    axes.yaxis.set_major_formatter(plain_ticks)
    axes.set_xlabel("time scale (ms)")
    axes.set_ylabel("index of dispersion, c = 10")


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
    note=(
        "The paper shows no run without blocks. Slips of the pseudo-code are corrected: a block "
        "has cwnd / k packets, and begins RTT / k after the start of the previous block, or at "
        "once if this time has passed. Its packets leave at the rate of the access link, which "
        f"the paper does not give: {FAST} here, and {SLOW} for comparison."
    ),
)
