"""Utilization, delay and loss over the buffer per control, at 10 and 100 Gbit/s."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom.studies.sweep_study.plan import Precision
from tailroom_papers.framework import *
from tailroom_papers.today.cycles import cycles_claim
from tailroom_papers.today.drawing import LABELS, LOOKS, finish, line
from tailroom_papers.today.network import Bottleneck, buffers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CONTROL = "flows.hosts.congestion"
CONTROLS = ("reno", "cubic", "highspeed", "bbr1", "bbr3")
PANELS = (
    ("utilization", "utilization (%)", 100.0),
    ("loss_fraction", "loss (%)", 100.0),
    ("queue_delay_s_mean", "mean queueing delay (ms)", 1e3),
    ("groups.hosts.jain_index", "fairness (Jain's index)", 1.0),
)
TEN = Bottleneck(gbps=10, rtt_ms=10)
HUNDRED = Bottleneck(gbps=100, rtt_ms=2.5)
FLOWS = {TEN: 10, HUNDRED: 25}
"""Both give a flow 139 packets in flight on an empty queue."""
SEEDS = {TEN: 8, HUNDRED: 5}
PRECISE = {
    link: Precision("utilization", half_width=0.005, at_least=SEEDS[link], at_most=most)
    for link, most in ((TEN, 20), (HUNDRED, 10))
}
"""The full form repeats points until the interval of their utilization is narrow."""


def study(link: Bottleneck, form: Form) -> Study:
    """Every control at every buffer."""
    if link == TEN:
        limits = form.of(
            (0.02, 0.1, 0.2), (0.02, 0.1, 0.2, 1), (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2)
        )
        seconds, per_bdp_s = form.of((1.5, 1.0), (9.0, 21.0), (40.0, 30.0))
        settle_s = form.of(0.5, 4.0, 10.0)
    else:
        limits = form.of((0.02, 0.1, 0.2), (0.02, 0.1, 0.2), (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1))
        seconds, per_bdp_s = form.of((0.1, 0.5), (1.6, 7.5), (10.0, 5.0))
        settle_s = form.of(0.1, 0.8, 3.0)
    flows = FLOWS[link]
    title = f"{flows} flows on {link.gbps} Gbit/s, RTT {link.rtt_ms:g} ms"
    hosts = {"hosts": link.hosts("cubic", flows, settle_s)}
    return Study(
        f"{link.gbps}g",
        link.scenario(title, seconds, settle_s, hosts),
        {CONTROL: CONTROLS},
        buffers(limits, settle_s, seconds, per_bdp_s),
        seeds=form.of(3, 3, SEEDS[link]),
        until=PRECISE[link] if form is Form.FULL else None,
    )


def part(link: Bottleneck) -> Part:
    """The curves of one link."""
    return Part(
        name=f"curves-{link.gbps}g",
        title=f"Utilization, loss and delay over the buffer, {link.gbps} Gbit/s",
        studies=lambda form: [study(link, form)],
        draw=lambda results: draw(link, results),
        conditions=(cycles_claim(f"cycles-{link.gbps}g", ()),),
        note=_note(link),
        caption=(
            "Utilization, loss, mean queueing delay and Jain's index of the goodputs over the "
            "queue limit, for flows of one control. Lines are means of the runs, bands are 95 % "
            "confidence intervals."
        ),
    )


def draw(link: Bottleneck, results: PartResults) -> Figure:
    """A panel per metric, a line per control."""
    figure = Figure(figsize=(9.5, 6.4), layout="constrained")
    panels: Sequence[Axes] = figure.subplots(2, 2).ravel()
    points = results.study(f"{link.gbps}g")
    for panel, (metric, label, scale) in zip(panels, PANELS, strict=True):
        values: list[float] = []
        for control in CONTROLS:
            mine = points.where({CONTROL: control}).points
            look = {**LOOKS[control], "label": LABELS[control]}
            values += line(panel, mine, metric, look, scale)
        finish(panel, points.points, values)
        panel.set_ylabel(label)
    panels[0].set_ylim(0, 102)
    panels[-1].set_ylim(0, 1.02)
    figure.supxlabel("buffer (bdp)", fontsize="medium")
    style.title(
        figure,
        f"{FLOWS[link]} flows of one control on {link.gbps} Gbit/s, RTT {link.rtt_ms:g} ms, "
        "packets of 9000 B",
    )
    style.figure_legend(figure, panels[0].get_legend_handles_labels()[0])
    return figure


def _note(link: Bottleneck) -> str:
    return (
        f"{FLOWS[link]} flows of one control; RTTs drawn within 5 % of {link.rtt_ms:g} ms; a "
        f"bandwidth-delay product of {link.bdp_packets:,.0f} packets of 9000 B, "
        f"{link.bdp_packets / FLOWS[link]:.0f} a flow. At a buffer of one BDP a Reno flow then "
        f"needs about {1.5 * link.rtt_ms * 1e-3 * link.bdp_packets / FLOWS[link]:.2g} s for a "
        "cycle of its window; a run should have ten cycles. Hosts as of today: delayed ACKs, "
        "proportional rate reduction, HyStart++, bursts of 64 KB by segmentation offload (which "
        "BBR paces). Such a window is short, so CUBIC and HighSpeed are closer to Reno than with "
        "one flow per link."
    )


CURVES_10G = part(TEN)
CURVES_100G = part(HUNDRED)
