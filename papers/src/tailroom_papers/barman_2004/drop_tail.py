"""Figures 3 and 4: their studies and their form."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from tailroom.models.window_laws.highspeed import DEFAULTS
from tailroom.plots import style
from tailroom.reproduction.form import Form
from tailroom.reproduction.paper import Study
from tailroom.reproduction.part_results import PartResults
from tailroom_papers.barman_2004 import curves
from tailroom_papers.barman_2004.predictions import MODELS, curve
from tailroom_papers.barman_2004.settings import Setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LOW_P = DEFAULTS.low_p
"""p_l: the loss at HighSpeed's `low_window` of 38 packets."""
SHOWN = {
    "highspeed": "simulated",
    "paced": "simulated, paced senders",
    "reno": "simulated, Reno",
}
"""Studies, as legends call them."""
FLOOR = 5e-7
"""Smaller losses are left out of the picture."""


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
    """Utilization as in the paper, the same over a logarithmic buffer, and loss."""
    figure = Figure(figsize=(8.6, 9.6), layout="constrained")
    paper, small, loss = figure.subplots(3, 1)
    style.title(
        figure,
        f"Figure {setting.figure}: 10 HighSpeed flows, DropTail, {setting.link}. "
        "Bands are 95 % confidence intervals",
    )
    study = results.study("highspeed")
    least = min(setting.fraction(point) for point in study.points)
    fractions = curves.spread(least, 1.0, 36)
    said = {model: curve(study, model, setting, fractions) for model in MODELS}
    for panel in (paper, small):
        _utilization(
            panel, setting, results, only=("highspeed",) if panel is paper else tuple(SHOWN)
        )
        for look, (model, label) in zip(curves.model_looks(), MODELS.items(), strict=True):
            panel.plot(
                fractions, [100 * prediction[0] for prediction in said[model]], label=label, **look
            )
    paper.set_xlim(0, 1.02)
    small.set_xscale("log")
    _loss(loss, setting, results)
    for look, (model, label) in zip(curves.model_looks(), MODELS.items(), strict=True):
        losses = [
            prediction[1] if prediction[1] > FLOOR else float("nan") for prediction in said[model]
        ]
        loss.plot(fractions, losses, label=label, **look)
    for panel, letter in zip((paper, small, loss), "abc", strict=True):
        panel.set_xlabel(f"({letter})  buffer, as a fraction of {setting.full_packets:,} packets")
        panel.grid(alpha=0.25)
        style.legend_beside(panel)
    return figure


def _utilization(
    panel: "Axes", setting: Setting, results: PartResults, only: tuple[str, ...] = tuple(SHOWN)
) -> None:
    for look, (name, label) in zip(curves.simulated_looks(), SHOWN.items(), strict=False):
        if name in results.studies and name in only:
            study = results.study(name)
            curves.measured(panel, study, setting, "utilization", look, label, 100)
    curves.ns2_points(panel, setting.ns2(), "utilization", 100)
    curves.ns2_variant_points(panel, setting.ns2_with_variants(), "utilization", 100)
    panel.set_ylim(0, 103)
    panel.set_ylabel("utilization (%)")


def _loss(panel: "Axes", setting: Setting, results: PartResults) -> None:
    for look, (name, label) in zip(curves.simulated_looks(), SHOWN.items(), strict=False):
        if name in results.studies:
            study = results.study(name)
            curves.measured(panel, study, setting, "loss_fraction", look, label)
    curves.ns2_points(panel, setting.ns2(), "loss", 1)
    panel.axhline(LOW_P, label="p_l", **style.LIMIT_LINE)
    panel.set_xscale("log")
    panel.set_yscale("log", nonpositive="mask")
    panel.set_ylim(bottom=FLOOR)
    panel.set_ylabel("loss (dropped / arrived)")
