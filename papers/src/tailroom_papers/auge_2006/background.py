"""Flows beside a Poisson background on links of any rate, and pictures of their shares."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tailroom.scenario.types import Flows as FlowGroup
from tailroom.scenario.types import Scenario
from tailroom_papers.auge_2006 import setup
from tailroom_papers.framework import *

QUEUE = f"links.{setup.LINK}.queue"
BUFFER_TICKS = (20, 50, 100, 200, 625, 2500)
SHARE_LABEL = "share of the residual capacity (%)"
OTHER_WORDS = {
    "reno": "NewReno",
    "highspeed": "HighSpeed",
    "scalable": "Scalable",
    "htcp": "H-TCP",
    "fast": "FAST",
    "packet_pair": "packet pair",
}
"""The paper's names of the controls."""


@dataclass(frozen=True)
class Span:
    """Duration of the simulation and begin of the measured time."""

    measure_from_s: int
    duration_s: int


def scenario(flows: Mapping[str, FlowGroup], span: Span, title: str) -> Scenario:
    """Groups of flows beside the paper's background on its link of 50 Mbit/s."""
    return {
        "title": title,
        "duration": f"{span.duration_s} s",
        "measure_from": f"{span.measure_from_s} s",
        "defaults": {"host": "plain"},
        "links": {
            setup.LINK: {
                "rate": "50 Mbit/s",
                "delay": "40 ms",
                "queue": setup.fifo(setup.BDP_PACKETS),
            }
        },
        "flows": {setup.BACKGROUND: setup.background(), **flows},
    }


def flow(control: str, count: int = 1) -> FlowGroup:
    """Flows that always have something to send, with selective acknowledgements."""
    same = setup.bulk("reno", count)
    return {**same, "congestion": {"kind": control}, "recovery": "sack"}  # type: ignore[typeddict-item]


def buffer_of(point: PointResults) -> int:
    """The buffer of a point in packets, with the one being sent as the paper counts."""
    queue = point.settings.get(QUEUE)
    limit: str = queue["limit"] if queue else point.settings[setup.LIMIT]
    return int(limit.split(maxsplit=1)[0]) + 1


def buffer_axis(panel: Axes) -> None:
    """The x axis over the buffers that are drawn."""
    panel.set(xscale="log", xlabel="buffer (packets)")
    low, high = panel.get_xlim()
    ticks = [tick for tick in BUFFER_TICKS if low <= tick <= high]
    panel.set_xticks(ticks, [str(tick) for tick in ticks])
    panel.minorticks_off()
    panel.grid(color="0.9")


def draw_line(  # noqa: PLR0913 - each says one thing about a line
    panel: Axes,
    xs: Sequence[float],
    points: Sequence[PointResults],
    metric: Metric,
    look: Mapping[str, Any],
    *,
    scale: float = 100.0,
    most: float | None = None,
) -> None:
    """Draws means with their confidence intervals as bars.

    Args:
        panel: The panel.
        xs: Place of each point.
        points: The points.
        metric: The metric.
        look: Style and label.
        scale: Factor on the metric; with 100, the metric is a fraction.
        most: Largest possible value in the drawn unit, at which bars end; 100 for a fraction.
    """
    most = 100.0 if most is None and scale == 100.0 else most
    intervals = [point.interval(metric) for point in points]
    pairs = [
        (x, interval) for x, interval in zip(xs, intervals, strict=True) if interval is not None
    ]
    means = [scale * interval.mean for _, interval in pairs]
    panel.errorbar(
        [x for x, _ in pairs],
        means,
        yerr=bars((interval for _, interval in pairs), scale, most and most / scale),
        capsize=2,
        **look,
    )
