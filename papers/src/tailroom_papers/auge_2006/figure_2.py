"""Figure 2: the simulated network, with what the paper leaves open."""

from collections.abc import Sequence

from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from tailroom_papers.auge_2006 import picture, setup
from tailroom_papers.framework import *

OPEN = "#D55E00"
"""Colour of what the paper does not state."""
STATED = "black"


def studies(form: Form) -> Sequence[Study]:
    """The set-up itself, with one NewReno flow and 20 packets, as in Figure 3."""
    return [setup.study("set-up", {"reno": 1}, [setup.fifo(20)], form)]


def draw(results: PartResults) -> Figure:
    """The network: what the paper states in black, what it leaves open in colour."""
    del results
    figure, (panel,) = picture.page("Figure 2: the simulated network", 3.3)
    panel.set(xlim=(0, 100), ylim=(0, 52))
    panel.set_axis_off()
    _box(panel, (1, 33), (26, 13), "1, 2 or 4 permanent flows\nNewReno or HighSpeed TCP", STATED)
    _box(panel, (1, 8), (26, 13), "background, half of the link\nPoisson packets", STATED)
    _box(panel, (81, 21), (18, 12), "receivers", STATED)
    _queue(panel)
    for low in (39.5, 14.5):
        _arrow(panel, (27, low), (40, 28 if low > 20 else 26))
    _arrow(panel, (60, 27), (81, 27))
    _words(panel, 34, 39.5, "access\n1 Gbit/s", OPEN)
    _words(panel, 71, 33, "link: 50 Mbit/s", STATED)
    _words(panel, 71, 21.5, "RTT 100 to 100.16 ms", OPEN)
    _words(panel, 50, 37, "FIFO or fair queueing\n20, 100 or 625 packets", STATED)
    _words(panel, 50, 16.5, "start-time fair queueing,\ndrop from the longest queue", OPEN)
    _words(panel, 14, 29.5, "packets of 1000 B, start within 5 s,\nrecovery as in ns-2", OPEN)
    _words(panel, 14, 4.5, "25 streams of 1 Mbit/s, 1000 B", OPEN)
    _words(panel, 71, 8.5, "black: stated by the paper", STATED)
    _words(panel, 71, 4.5, "orange: left open, our choice", OPEN)
    return picture.readable(figure)


def _box(
    panel: Axes, corner: tuple[float, float], size: tuple[float, float], text: str, colour: str
) -> None:
    panel.add_patch(FancyBboxPatch(corner, *size, boxstyle="round,pad=0.3", fc="0.95", ec=colour))
    _words(panel, corner[0] + size[0] / 2, corner[1] + size[1] / 2, text, colour)


def _queue(panel: Axes) -> None:
    """The buffer with waiting packets, and the server."""
    panel.add_patch(Rectangle((40, 22), 16, 10, fill=False, ec=STATED))
    for place in range(4):
        panel.add_patch(Rectangle((53 - 2.6 * place, 22.8), 2, 8.4, fc="0.8", ec="0.4"))
    panel.add_patch(FancyBboxPatch((57, 25), 3, 4, boxstyle="circle,pad=0.2", fc="white"))


def _arrow(panel: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    panel.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=10, color="0.3"))


def _words(panel: Axes, x: float, y: float, text: str, colour: str) -> None:
    panel.text(x, y, text, ha="center", va="center", color=colour)


PART = Part(
    name="2",
    title="The simulated network",
    studies=studies,
    draw=draw,
    caption=(
        "The set-up of Sections IV-B and V. Black: stated by the paper. Orange: left open by the "
        "paper and chosen here; the section on sensitivity varies these choices."
    ),
    note=(
        "The bandwidth-delay product of 625 packets is stated, packet size and RTT are not: "
        f"{setup.PACKET_BYTES} B and 100 ms agree with it. Durations are not stated either. The "
        "access rate has to exceed that of the link, because the permanent flows are bottlenecked "
        "there."
    ),
)
