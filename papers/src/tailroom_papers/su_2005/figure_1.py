"""Figure 1: what the readings of the pseudo-code send in a few round-trip times."""

from typing import TYPE_CHECKING

import numpy as np

from tailroom_papers.framework import *
from tailroom_papers.su_2005.readings import READINGS, Reading

if TYPE_CHECKING:
    from numpy.typing import NDArray

RTT_S = 0.2
WINDOW = 240
"""Packets at which slow start ends; three blocks of 80 packets."""
SHOWN_S = 0.6
FROM_S = 2.0
"""Slow start from 2 packets takes seven round-trip times to 240 packets."""
LOGGED = 8000
SIX = (
    "no blocks",
    "whole k",
    "fractional k",
    "printed block length",
    "one packet held",
    "blocks in slow start",
)
"""Readings that are drawn."""

ALONE: dict[str, object] = {
    "title": "Su et al. 2005, Figure 1: one FHSTCP flow on an empty link",
    "duration": f"{FROM_S + SHOWN_S + 0.4:g} s",
    "defaults": {"host": "plain"},
    "links": {
        "bottleneck": {
            "rate": "300 Mbit/s",
            "delay": "20 ms",
            "queue": {"kind": "drop_tail", "limit": "749 packets"},
            "packet_log": LOGGED,
        }
    },
    "flows": {
        "fair": {
            "path": ["bottleneck"],
            "congestion": {"kind": "fhstcp", "c": 10},
            "rtt": f"{1e3 * RTT_S:g} ms",
            "packet_size": "1000 B",
            "access_rate": "10 Gbit/s",
            "send_jitter": "none",
            "initial_window": 2,
            "initial_ssthresh": WINDOW,
            "rto_granularity": "10 ms",
        }
    },
}


def drawn_readings() -> list[Reading]:
    """Returns the readings that are drawn."""
    return [reading for name in SIX for reading in READINGS if reading.name == name]


def studies(form: Form) -> list[Study]:
    """One flow by each reading, in a single run: nothing is random."""
    del form
    return [
        Study(reading.name, ALONE, set=reading.settings, seeds=1, keep=("packet_log",))  # type: ignore[arg-type]
        for reading in drawn_readings()
    ]


def arrivals_s(run: StoredRun) -> "NDArray[np.float64]":
    """Returns the times at which packets of the flow reach the bottleneck."""
    log = run.table("packet_log")
    events = np.array(log["event"].cast("string").to_pylist())
    times = log["time_s"].to_numpy(zero_copy_only=False)
    return np.asarray(times[events == "arrival"], dtype=float)


def draw(results: PartResults) -> Figure:
    """Draws the packets of three round-trip times in congestion avoidance, by reading."""
    title = "Figure 1: packets that one flow sends (RTT 200 ms, c = 10, k = 3)"
    figure, panels = figure_of(title, 2, 3)
    for axes, reading in zip(panels, drawn_readings(), strict=True):
        _draw_reading(axes, reading.name, results.study(reading.name).points[0].runs[0])
    return figure


def _draw_reading(axes: Axes, name: str, run: StoredRun) -> None:
    times = arrivals_s(run)
    times = times[(times >= FROM_S) & (times < FROM_S + SHOWN_S)] - FROM_S
    number = np.arange(1, len(times) + 1)
    axes.plot(1e3 * times, number, color="black", linestyle="none", marker=".", markersize=2.5)
    if len(times) < WINDOW / 10:
        axes.text(0.5, 0.5, f"{len(times)} packets", ha="center", transform=axes.transAxes)
    frame(
        axes,
        title=name,
        x=f"time since {FROM_S:g} s (ms)",
        y="packets sent",
        grid="x",
        ticks=np.arange(0, 1e3 * SHOWN_S + 1, 1e3 * RTT_S),
        xlim=(0, 1e3 * SHOWN_S),
        ylim=(0, 3.4 * WINDOW),
    )


PART = Part(
    name="1",
    title="The pseudo-code, as six readings send it",
    studies=studies,
    draw=draw,
    caption=(
        f"Packets that one FHSTCP flow sends from {FROM_S:g} s on, a dot per packet, on an empty "
        "link of 300 Mbit/s with a round-trip time of 200 ms (grid lines). Slow start has ended "
        f"at {WINDOW} packets a few round-trip times before, so that the window still leaves as "
        "one burst per round-trip time. With c = 10 the number of blocks is int(2.0) + 1 = 3; at "
        "this round-trip time the fractional number differs little."
    ),
    note=(
        "Figure 1 of the paper is pseudo-code; this picture shows what it does. Without blocks "
        "the window leaves as one burst per round-trip time, at the rate at which the ACKs "
        "return. Blocks divide the burst into parts that begin a third of a round-trip time "
        "apart. If only one packet is held, the others overtake it, the sender takes it for lost, "
        "and the window shrinks. With blocks in slow start the flow sends two packets per "
        "round-trip time, and slow start does not end."
    ),
)
