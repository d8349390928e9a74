"""RED and bursty flows: what unpaced flows lose alongside paced ones, under DropTail and RED."""

from collections.abc import Mapping, Sequence
from math import log
from typing import Any, cast

import numpy as np

from tailroom.scenario.types import Scenario
from tailroom_papers.barman_2004.bounds import BOUNDS
from tailroom_papers.barman_2004.settings import FIGURE_3, FIGURE_7, LIMIT, RANDOM_STARTS, RTT
from tailroom_papers.framework import *

EACH = 5
"""Flows of either kind: ten share the link, as in Figures 3 and 7."""
QUEUES: Mapping[str, Mapping[str, object]] = {
    "drop-tail": {"kind": "drop_tail"},
    "red": {"kind": "adaptive_red", "lowest_max_p": 8e-5, "wait": True},
}
"""The paper's two disciplines; RED as in Figure 7 with automatic thresholds."""
LABELS = {"drop-tail": "DropTail", "red": "Adaptive RED"}
JUDGED = 0.2
"""A buffer, as a fraction of 12,500 packets, that does not overflow under RED in Figure 7."""


def studies(form: Form) -> Sequence[Study]:
    """Both disciplines over the buffer."""
    over = form.of((JUDGED,), (JUDGED,), (0.05, 0.1, JUDGED, 0.5, 1.0))
    limits, seeds = [FIGURE_7.limit(fraction) for fraction in over], form.of(3, 5, 20)
    tables = {
        name: _scenario(form, {**queue, "limit": limits[0]}) for name, queue in QUEUES.items()
    }
    return [Study(name, table, grid={LIMIT: limits}, seeds=seeds) for name, table in tables.items()]


def _scenario(form: Form, queue: Mapping[str, object]) -> Scenario:
    duration, measure_from = FIGURE_7.times[form]
    flows = {
        "count": EACH,
        "path": ["bottleneck"],
        "congestion": {"kind": "highspeed"},
        "send_jitter": "none",
        "packet_size": "1000 B",
        "rtt": FIGURE_3.drawn_rtts[RTT],
        "access_rate": "10 Gbit/s",
        "start": RANDOM_STARTS["flows.hstcp.start"],
        "delayed_ack": False,
        "initial_window": 2,
    }
    whole = {
        "title": "Bursty and smooth HighSpeed flows",
        "duration": duration,
        "measure_from": measure_from,
        "defaults": {"host": "plain"},
        "links": {"bottleneck": {"rate": "1 Gbit/s", "delay": "50 ms", "queue": dict(queue)}},
        "flows": {"bursty": flows, "smooth": {**flows, "pacing": True}},
    }
    return cast("Scenario", whole)


def losses(run: StoredRun) -> tuple[float, float]:
    """Loss per packet of the bursty and of the smooth flows."""
    bursty, smooth = (
        run.summary["groups"][group]["loss_fraction"] for group in ("bursty", "smooth")
    )
    return float(bursty), float(smooth)


def bursty_over_smooth(run: StoredRun) -> float | None:
    """Loss per packet of the bursty flows over that of the smooth ones."""
    bursty, smooth = losses(run)
    return bursty / smooth if smooth else None


def log_bias(run: StoredRun) -> float | None:
    """The logarithm of the same; `None` where either loses nothing."""
    bursty, smooth = losses(run)
    return log(bursty / smooth) if bursty and smooth else None


def share_of_bursty(run: StoredRun) -> float:
    """What the bursty flows get of all throughput."""
    groups = run.summary["groups"]
    bursty, smooth = (groups[group]["throughput_bps"] for group in ("bursty", "smooth"))
    return float(bursty / (bursty + smooth))


def at(results: PartResults, name: str, fraction: float = JUDGED) -> PointResults:
    """A point of a study."""
    return results.study(name).at({LIMIT: FIGURE_7.limit(fraction)})


def removes_bias(results: PartResults) -> Judgement:
    """RED reduces and removes the bias."""
    tail, red = at(results, "drop-tail"), at(results, "red")
    bias = "loss of bursty over smooth flows"
    shares = [shown(point.interval(share_of_bursty), percent=True) for point in (tail, red)]
    return Judgement(
        (
            tail.above(f"{bias}, DropTail", bursty_over_smooth, 1.0, "there is a bias (above 1)"),
            less("ln of the same, RED minus DropTail", red, tail, log_bias, "RED helps (below 0)"),
            red.below(f"{bias}, RED", bursty_over_smooth, BOUNDS["bias-removed"]),
        ),
        f"With a buffer of {100 * JUDGED:g} % of 12,500 packets the unpaced flows get {shares[0]} "
        f"of the throughput under DropTail and {shares[1]} under RED; equal shares are 50 %.",
    )


def draw(results: PartResults) -> Figure:
    """The ratio of losses, and the share of the bursty flows."""
    title = f"{EACH} unpaced next to {EACH} paced HighSpeed flows, 1 Gbit/s"
    figure, (bias, share) = figure_of(title, 1, 2, (8.6, 3.9))
    lines = {label: results.study(name).points for name, label in LABELS.items()}
    for label, points, look in styled(lines):
        over = [point.number(LIMIT) / FIGURE_7.full_packets for point in points]
        _ratio(bias, over, points, look)
        draw_means(share, over, points, share_of_bursty, look, label=label, scale=100)
    bias.axhline(1, **style.LIMIT_LINE)
    share.axhline(50, **style.LIMIT_LINE)
    scale = "log" if len(results.study("red").points) > 1 else "linear"
    label = f"fraction of {FIGURE_7.full_packets:,} packets"
    frame(bias, x=f"(a)  {label}", y="loss per packet, unpaced over paced", xscale=scale)
    frame(share, x=f"(b)  {label}", y="throughput of the unpaced flows (%)", xscale=scale)
    return legend_below(figure, 2, [share])


def _ratio(
    panel: Axes, over: Sequence[float], points: Sequence[PointResults], look: dict[str, Any]
) -> None:
    """Geometric means with their intervals, on a logarithmic scale."""
    known = [(x, interval) for x, point in zip(over, points, strict=True)
             if (interval := point.interval(log_bias)) is not None]  # fmt: skip
    means = np.exp([interval.mean for _, interval in known])
    below, above = bars(interval for _, interval in known)
    low, high = means * (1 - np.exp(-below)), means * (np.exp(above) - 1)
    panel.errorbar([x for x, _ in known], means, yerr=[low, high], capsize=2.5, **look)
    panel.set_yscale("log")


PART = Part(
    "red-bursts",
    "RED and the bias against bursty flows",
    studies,
    draw,
    (
        Claim(
            "removes-bias",
            "RED helps in removing the bias against bursty flows, and burst sizes are large in the "
            "case of HighSpeed TCP flows.",
            "Sec. IV",
            removes_bias,
        ),
    ),
    "The paper states this without a study of its own. Five HighSpeed flows send their windows in "
    "line-rate trains and five are paced; everything else is Figure 7's.",
    caption="(a) Loss per packet of the unpaced flows over that of the paced ones (geometric "
    "means) and (b) the share of the throughput that the unpaced flows get, over the buffer, under "
    "DropTail and Adaptive RED. Bars and bands are 95 % confidence intervals; dashed lines mark "
    "equal treatment.",
)
