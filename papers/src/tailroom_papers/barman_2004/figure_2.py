"""Figure 2: the topology, as the paper's text describes it."""

from collections.abc import Sequence

from matplotlib.patches import Circle, Rectangle

from tailroom_papers.framework import *

ROWS = (0.78, 0.6, 0.22)
STATED, OURS = "black", "#D55E00"
"""Colours of what the paper states, and of what it does not."""


def studies(_: Form) -> Sequence[Study]:
    """The drawing needs no runs."""
    return []


def draw(_: PartResults) -> Figure:
    """Senders, two routers, receivers."""
    figure = Figure(figsize=(8.6, 4.0), layout="constrained")
    axes = figure.subplots()
    axes.set_xlim(0, 1)
    axes.set_ylim(-0.1, 1)
    axes.set_axis_off()
    for place, row in enumerate(ROWS):
        name = ("1", "2", "10")[place]
        for x, router, host in ((0.09, 0.36, f"S{name}"), (0.91, 0.64, f"D{name}")):
            axes.plot([x, router], [row, 0.5], color=OURS, linewidth=1.1, zorder=1)
            axes.add_patch(Circle((x, row), 0.032, facecolor="white", edgecolor=STATED, zorder=2))
            axes.text(x, row, host, ha="center", va="center", fontsize=8, zorder=3)
    for x in (0.09, 0.91):
        axes.text(x, 0.41, "...", ha="center", va="center", rotation=90, fontsize=12)
    axes.plot([0.36, 0.64], [0.5, 0.5], color=STATED, linewidth=3, zorder=1)
    for x, name in ((0.36, "R1"), (0.64, "R2")):
        axes.add_patch(
            Rectangle((x - 0.035, 0.44), 0.07, 0.12, facecolor="0.9", edgecolor=STATED, zorder=2)
        )
        axes.text(x, 0.5, name, ha="center", va="center", fontsize=9, zorder=3)
    _texts(axes)
    return figure


def _texts(axes: Axes) -> None:
    _text(
        axes,
        0.6,
        "Figures 3, 7: 1 Gbit/s, 50 ms\nFigures 4, 8: 2.5 Gbit/s, 10 ms\n"
        "Figures 5, 6: 1 Gbit/s, 10 ms",
    )
    _text(
        axes, 0.4, "buffer at R1: DropTail or RED,\nfractions of 12,500 or 6,250 packets", va="top"
    )
    _text(axes, 0.93, "RTTs: 115.5 to 124.5 ms (Figures 3, 7), 38 to 142 ms (Figures 4, 8)")
    _text(
        axes,
        0.03,
        "Not in the paper: access links (10 Gbit/s here), RTTs and buffers of Figures 5 and 6\n"
        "(40 and 80 ms; 500 and 10,000 packets here), start times, duration, queues of the ACKs "
        "(none here)",
        va="top",
        color=OURS,
    )


def _text(axes: Axes, y: float, text: str, va: str = "baseline", color: str = STATED) -> None:
    axes.text(0.5, y, text, ha="center", va=va, fontsize=8, color=color)


PART = Part(
    "2",
    "The topology",
    studies,
    draw,
    caption="The topology of all simulations. Black: stated in the paper. Orange: not stated; the "
    "values in brackets are those used here. Packets have 1,000 B.",
)
