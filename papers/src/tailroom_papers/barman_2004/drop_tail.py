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
    beside: Callable[[Form], Sequence[float]],
) -> Callable[[Form], Sequence[Study]]:
    """HighSpeed flows as the paper has them, and with paced senders at small buffers."""

    def of(form: Form) -> Sequence[Study]:
        paced = {"flows.hstcp.pacing": True}
        return [
            setting.study("highspeed", fractions(form), form),
            setting.study("paced", beside(form), form, paced),
        ]

    return of


def draw(setting: Setting, results: PartResults) -> Figure:
    """Utilization on two scales, enlarged, and loss."""
    figure = Figure(figsize=(9.2, 9.0), layout="constrained")
    (whole, small), (zoom, loss) = figure.subplots(2, 2)
    style.title(figure, f"Figure {setting.figure}: 10 HighSpeed flows, DropTail, {setting.link}")
    study = results.study("highspeed")
    least = min(setting.fraction(point) for point in study.points)
    fractions = curves.spread(least, 1.0, 36)
    said = {model: curve(study, model, setting, fractions) for model in MODELS}
    for panel in (whole, small, zoom):
        utilizations = [[100 * one[0] for one in said[model]] for model in MODELS]
        _models(panel, fractions, utilizations)
        _utilization(panel, setting, results)
    losses = [
        [one[1] if one[1] > FLOOR else float("nan") for one in said[model]] for model in MODELS
    ]
    _models(loss, fractions, losses)
    _loss(loss, setting, results)
    whole.set_xlim(0, 1.02)
    for panel in (small, zoom, loss):
        panel.set_xscale("log")
    zoom.set_xlim(0.02, 1.1)
    zoom.set_ylim(ZOOM_FROM, 100.6)
    for panel, letter in zip((whole, small, zoom, loss), "abcd", strict=True):
        panel.set_xlabel(f"({letter})  fraction of {setting.full_packets:,} packets")
        panel.grid(alpha=0.25)
        curves.axis_in_bdp(panel, setting)
        if panel is not loss:
            curves.cut_bands(panel)
    handles, labels = small.get_legend_handles_labels()
    handles_of_loss, labels_of_loss = loss.get_legend_handles_labels()
    shown = dict(zip(labels, handles, strict=True)) | dict(
        zip(labels_of_loss, handles_of_loss, strict=True)
    )
    figure.legend(
        shown.values(), shown.keys(), loc="outside lower center", frameon=False, ncols=3,
        fontsize="small",
    )  # fmt: skip
    return figure


def _models(panel: Axes, fractions: Sequence[float], values: Sequence[Sequence[float]]) -> None:
    for look, label, of_model in zip(curves.model_looks(), MODELS.values(), values, strict=False):
        panel.plot(fractions, of_model, label=label, **look)


def _utilization(panel: Axes, setting: Setting, results: PartResults) -> None:
    for look, (name, label) in zip(curves.simulated_looks(), SHOWN.items(), strict=False):
        if name in results.studies:
            study = results.study(name)
            curves.measured(panel, study, setting, "utilization", look, label, 100)
    curves.ns2_points(panel, setting.ns2(), "utilization", 100)
    curves.ns2_variant_points(panel, setting.ns2_with_variants(), "utilization", 100)
    curves.paper_points(panel, STATED)
    panel.set_ylim(0, 103)
    panel.set_ylabel("utilization (%)")


def _loss(panel: Axes, setting: Setting, results: PartResults) -> None:
    for look, (name, label) in zip(curves.simulated_looks(), SHOWN.items(), strict=False):
        if name in results.studies:
            study = results.study(name)
            curves.measured(panel, study, setting, "loss_fraction", look, label)
    curves.ns2_points(panel, setting.ns2(), "loss", 1)
    panel.axhline(LOW_P, label="p_l, the loss that the paper states", **style.LIMIT_LINE)
    panel.set_xscale("log")
    panel.set_yscale("log", nonpositive="mask")
    panel.set_ylim(bottom=FLOOR)
    panel.set_ylabel("loss (dropped / arrived)")
