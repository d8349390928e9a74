"""Flows with a Poisson background on links of any rate, and the frame of panels over buffers."""

from collections.abc import Mapping
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
    """Groups of flows alongside the paper's background on its link of 50 Mbit/s."""
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


def frame_over_buffers(panel: Axes, **options: Any) -> None:
    """The frame of a panel over the buffers that are drawn; options as of `frame`."""
    panel.set_xscale("log")
    low, high = panel.get_xlim()
    ticks = [tick for tick in BUFFER_TICKS if low <= tick <= high]
    frame(panel, x="buffer (packets)", ticks=ticks, **options)
