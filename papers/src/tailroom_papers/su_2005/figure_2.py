"""Figure 2: the topology, drawn, with the parameters that the paper does not state."""

from matplotlib.patches import FancyBboxPatch

from tailroom_papers.framework import *
from tailroom_papers.su_2005.setting import CHOSEN, RTTS_MS, SCENARIO, span

STATED, CHOSEN_BY_US = "black", "#D55E00"
"""Colours of what the paper states, and of what it does not."""
ACCESS = "10 Gbit/s"


def studies(form: Form) -> list[Study]:
    """A single run of the scenario, for the utilization of the link."""
    return [Study("base", SCENARIO, set=span(form), seeds=1)]


def draw(results: PartResults) -> Figure:
    """Draws senders, the bottleneck and receivers, with their parameters."""
    del results
    figure = Figure(figsize=(9.2, 4.4), layout="constrained")
    axes = figure.subplots()
    axes.set_xlim(0, 100)
    axes.set_ylim(0, 58)
    axes.set_axis_off()
    flows = [(f"F{place} (FHSTCP)", f"RTT {rtt} ms", "") for place, rtt in enumerate(RTTS_MS, 1)]
    background = [
        ("standard TCP (3 to 5 flows)", "", "4 flows, RTT 90 to 150 ms"),
        ("short-lived TCP", "", "1 % of the link, 100 kB"),
        ("web flows", "", "1 % of the link"),
    ]
    for row, (name, stated, ours) in enumerate((*flows, *background)):
        y = 50 - 9 * row
        _sender(axes, y, name, stated, ours)
        _box(axes, 86, y - 2.5, 13, 5)
        axes.text(92.5, y, "receiver", ha="center", va="center", fontsize=8)
        axes.plot([29, 46], [y, 28], color="0.5", linewidth=1)
        axes.plot([70, 86], [28, y], color="0.5", linewidth=1)
    for x in (42, 64):
        _box(axes, x, 24, 10, 8)
        axes.text(x + 5, 28, "router", ha="center", va="center", fontsize=9)
    axes.plot([52, 64], [28, 28], color="black", linewidth=3)
    link = f"{CHOSEN.rate_mbps} Mbit/s, {CHOSEN.delay_ms} ms"
    axes.text(58, 35.5, "bottleneck", ha="center", fontsize=9)
    axes.text(58, 33, link, ha="center", fontsize=9, color=CHOSEN_BY_US)
    axes.text(58, 20, "DropTail, rate x delay", ha="center", fontsize=9)
    axes.text(
        58, 17.4, f"= {CHOSEN.buffer_packets} packets", ha="center", fontsize=9, color=CHOSEN_BY_US
    )
    axes.text(58, 12.5, "packets of 1000 bytes, SACK", ha="center", fontsize=9)
    axes.text(58, 9.9, f"access links {ACCESS}", ha="center", fontsize=9, color=CHOSEN_BY_US)
    axes.text(58, 55.5, "stated in the paper", ha="right", fontsize=9, color=STATED)
    axes.text(60, 55.5, "not stated: chosen here", ha="left", fontsize=9, color=CHOSEN_BY_US)
    return figure


def _sender(axes: Axes, y: float, name: str, stated: str, ours: str) -> None:
    _box(axes, 1, y - 3.2, 28, 6.4)
    axes.text(15, y + (1.2 if stated or ours else 0), name, ha="center", va="center", fontsize=8.5)
    axes.text(15, y - 1.6, stated, ha="center", va="center", fontsize=8)
    axes.text(15, y - 1.6, ours, ha="center", va="center", fontsize=8, color=CHOSEN_BY_US)


def _box(axes: Axes, x: float, y: float, width: float, height: float) -> None:
    style = "round,pad=0,rounding_size=0.8"
    box = FancyBboxPatch((x, y), width, height, boxstyle=style, facecolor="white", zorder=2)
    axes.add_patch(box)


PART = Part(
    name="2",
    title="Simulation topology and configuration",
    studies=studies,
    draw=draw,
    caption=(
        "Topology of the simulations. Black: stated in the paper's text. Orange: not stated in "
        "the available text and chosen here; round-trip times include the bottleneck."
    ),
    note=(
        "The available text of the paper lacks Figure 2 and with it the rate and delay of the "
        "bottleneck. The part `capacity` describes how they were determined, and the section on "
        "sensitivity what depends on the other choices."
    ),
)
