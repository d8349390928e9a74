"""Figures 3 and 4: their studies and their form."""

from collections.abc import Callable, Sequence

from tailroom.models.window_laws.highspeed import DEFAULTS
from tailroom_papers.barman_2004 import curves
from tailroom_papers.barman_2004.predictions import MODELS, curve
from tailroom_papers.barman_2004.settings import Setting
from tailroom_papers.framework import *

LOW_P = DEFAULTS.low_p
"""p_l: the loss at HighSpeed's `low_window` of 38 packets."""
SHOWN = {"highspeed": "simulated", "paced": "simulated, paced senders", "reno": "simulated, Reno"}
"""Studies, as legends call them."""
FLOOR = 5e-7
"""Smaller losses are left out of the picture."""
STATED = ((0.1, 90.0), (0.2, 98.0))
"""Fraction of the buffer and utilization in percent, as the paper states them."""
ZOOM_FROM = 80.0
CAPTION = (
    "Utilization over the buffer (a) on a linear scale, (b) on a logarithmic scale, (c) enlarged "
    "from 80 to 100 %, and (d) the loss. The lower axis is the paper's fraction of its largest "
    "buffer, the upper one the share of the bandwidth-delay product (BDP) of the mean RTT. Lines "
    "with markers are means of simulations with 95 % confidence intervals (bands); lines without "
    "markers are models, the paper's is the broad grey one. Stars are ns-2's results on the same "
    "topology, crosses those with another detail that the paper leaves open."
)


def studies(
    setting: Setting,
    fractions: Callable[[Form], Sequence[float]],
    small: Callable[[Form], Sequence[float]],
) -> Callable[[Form], Sequence[Study]]:
    """HighSpeed flows as the paper has them, and with paced senders at small buffers."""

    def of(form: Form) -> Sequence[Study]:
        paced = {"flows.hstcp.pacing": True}
        return [
            setting.study("highspeed", fractions(form), form),
            setting.study("paced", small(form), form, paced),
        ]

    return of


def draw(setting: Setting, results: PartResults) -> Figure:
    """Utilization on two scales, enlarged, and loss."""
    title = f"Figure {setting.figure}: 10 HighSpeed flows, DropTail, {setting.link}"
    figure, panels = figure_of(title, 2, 2, (9.2, 9.0))
    whole, small, zoom, loss = panels
    study = results.study("highspeed")
    fractions = curves.spread(min(setting.fraction(point) for point in study.points), 1.0, 36)
    models = {label: curve(study, model, setting, fractions) for model, label in MODELS.items()}
    for label, said, look in styled(models, curves.model_looks()):
        for panel in (whole, small, zoom):
            panel.plot(fractions, [100 * used for used, _ in said], label=label, **look)
        losses = [lost if lost > FLOOR else float("nan") for _, lost in said]
        loss.plot(fractions, losses, label=label, **look)
    for panel in (whole, small, zoom):
        _utilization(panel, setting, results)
    _loss(loss, setting, results)
    whole.set_xlim(0, 1.02)
    for panel in (small, zoom, loss):
        panel.set_xscale("log")
    zoom.set(xlim=(0.02, 1.1), ylim=(ZOOM_FROM, 100.6))
    for panel, letter in zip(panels, "abcd", strict=True):
        frame(panel, x=f"({letter})  fraction of {setting.full_packets:,} packets")
        curves.axis_in_bdp(panel, setting)
        if panel is not loss:
            curves.cut_bands(panel)
    return legend_below(figure, 3, (small, loss))


def _utilization(panel: Axes, setting: Setting, results: PartResults) -> None:
    curves.simulated(panel, results, SHOWN, setting, "utilization", 100)
    curves.ns2_points(panel, setting.ns2(), "utilization", 100)
    curves.ns2_variant_points(panel, setting.ns2_with_variants(), "utilization", 100)
    curves.paper_points(panel, STATED)
    panel.set(ylim=(0, 103), ylabel="utilization (%)")


def _loss(panel: Axes, setting: Setting, results: PartResults) -> None:
    curves.simulated(panel, results, SHOWN, setting, "loss_fraction")
    curves.ns2_points(panel, setting.ns2(), "loss")
    panel.axhline(LOW_P, label="p_l, the loss that the paper states", **style.LIMIT_LINE)
    panel.set_yscale("log", nonpositive="mask")
    panel.set(ylim=(FLOOR, None), ylabel="loss (dropped / arrived)")
