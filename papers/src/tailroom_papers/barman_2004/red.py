"""Figures 7 and 8: the same flows under Adaptive RED and plain RED."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom.reproduction import claim
from tailroom.reproduction.claim import Check, Claim, Judgement
from tailroom.reproduction.form import Form
from tailroom.reproduction.paper import Part, Study
from tailroom.reproduction.part_results import PartResults, PointResults
from tailroom_papers.barman_2004 import curves, predictions
from tailroom_papers.barman_2004.predictions import RED_MODEL
from tailroom_papers.barman_2004.settings import FIGURE_7, FIGURE_8, LIMIT, Setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUEUE = "links.bottleneck.queue"
MIN_THRESHOLD = 0.4
"""Of the buffer, in the paper's numerical evaluation; its max_th is the buffer."""
PLAIN_RED = {"kind": "red", "gentle": False, "wait": True, "max_p": 0.1}
"""As the paper's p(n), which ends at max_th; p_max, which the paper does not give, is ns-2's."""
TENTH = 0.1
STATED_LOSS = {"7": 1e-5, "8": 1e-6}
"""By figure, from a tenth of the buffer on."""
STUDIES = {
    "automatic": "Adaptive RED, automatic thresholds",
    "given": "Adaptive RED, thresholds 0.4 B and B",
    "plain": "plain RED, thresholds 0.4 B and B",
}
"""As legends call them."""


def studies(setting: Setting, form: Form) -> Sequence[Study]:
    """Adaptive RED with automatic and with given thresholds, and plain RED."""
    narrow = setting is FIGURE_7
    automatic = form.of(
        (TENTH,),
        (TENTH, 0.2, 1.0) if narrow else (TENTH, 1.0),
        (0.01, 0.02, 0.05, TENTH, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0),
    )
    given = form.of((0.2,) if narrow else (0.5,), (TENTH, 0.2) if narrow else (1.0,), automatic)
    plain = form.of(given, (1.0,), automatic)
    kind = {QUEUE: {**PLAIN_RED, "limit": setting.limit(1.0)}}
    return [
        setting.study("automatic", automatic, form),
        _with_thresholds(setting.study("given", given, form), setting, given),
        _with_thresholds(setting.study("plain", plain, form, kind), setting, plain),
    ]


def _with_thresholds(study: Study, setting: Setting, fractions: Sequence[float]) -> Study:
    """The same with 40 % of the buffer and the buffer as thresholds."""
    lows = [setting.limit(MIN_THRESHOLD * fraction) for fraction in fractions]
    limits = [setting.limit(fraction) for fraction in fractions]
    keys = {LIMIT: limits, f"{QUEUE}.min_threshold": lows, f"{QUEUE}.max_threshold": limits}
    return replace(study, grid={}, together=keys)


def draw(setting: Setting, results: PartResults) -> Figure:
    """Utilization and loss over the buffer, simulated and by the model."""
    figure = Figure(figsize=(8.8, 6.8), layout="constrained")
    utilization, loss = figure.subplots(2, 1, sharex=True)
    style.title(
        figure,
        f"Figure {setting.figure}: 10 HighSpeed flows, RED, {setting.link}. "
        "Bands are 95 % confidence intervals, dashes the model of each",
    )
    for look, (name, label) in zip(curves.simulated_looks(), STUDIES.items(), strict=False):
        study = results.study(name)
        curves.measured(utilization, study, setting, "utilization", look, label, 100)
        curves.measured(loss, study, setting, "loss_fraction", look, label)
    for panel, of, scale in (
        (utilization, predictions.utilization, 100),
        (loss, predictions.loss, 1),
    ):
        _models(panel, results, setting, of, scale)
    curves.ns2_points(utilization, setting.ns2(), "utilization", 100)
    curves.ns2_points(loss, setting.ns2(), "loss", 1)
    utilization.set_ylim(0, 103)
    utilization.set_ylabel("utilization (%)")
    loss.set_yscale("log", nonpositive="mask")
    loss.set_ylabel("loss (dropped / arrived)")
    stated = STATED_LOSS[setting.figure]
    loss.axhline(stated, label=f"paper: {stated:g}", **style.LIMIT_LINE)
    loss.set_xlim(0, 1.02)
    loss.set_xlabel(f"buffer, as a fraction of {setting.full_packets:,} packets")
    for panel in (utilization, loss):
        panel.grid(alpha=0.25)
        style.legend_beside(panel)
    return figure


def _models(
    panel: "Axes",
    results: PartResults,
    setting: Setting,
    of: Callable[[PointResults, str], float],
    scale: float,
) -> None:
    """Dashed, in the colour of what each is the model of."""
    looks = zip(curves.model_looks(), curves.simulated_looks(), strict=False)
    for (dashed, solid), (name, label) in zip(looks, STUDIES.items(), strict=False):
        look = {**dashed, "color": solid["color"], "marker": "+"}
        points = results.study(name).points
        x = [setting.fraction(point) for point in points]
        y = [scale * of(point, RED_MODEL) for point in points]
        panel.plot(x, y, label=f"model of {label}", **look)


def _from_a_tenth(setting: Setting, results: PartResults, name: str) -> list[PointResults]:
    return [point for point in results.study(name).points if setting.fraction(point) > TENTH - 1e-3]


def loss(setting: Setting, results: PartResults) -> Judgement:
    """About 1e-5, and 1e-6, from a tenth of the buffer on."""
    stated = STATED_LOSS[setting.figure]
    checks: list[Check] = []
    for name, label in (("automatic", "automatic thresholds"), ("given", "0.4 B and B")):
        for point in _from_a_tenth(setting, results, name):
            what = f"loss at {curves.percent(setting.fraction(point))}, {label}"
            measured = point.interval("loss_fraction")
            within = f"{stated:g} (within a factor of 2)"
            checks.append(claim.between(what, measured, stated / 2, 2 * stated, within))
    full = results.study("automatic").points[-1]
    where = curves.percent(setting.fraction(full))
    needed = predictions.loss(full, RED_MODEL)
    overflow = full.mean("links.bottleneck.drops_overflow_packets")
    tenth = setting.at(results.study("automatic"), TENTH).mean("loss_fraction")
    return Judgement(
        tuple(checks),
        f"A link that ten HighSpeed flows fill needs a loss of {needed:.1e} by their response "
        f"function, and has {full.mean('loss_fraction'):.1e} with the largest buffer (at {where}, "
        f"with {overflow:.3g} packets a run dropped for want of room). At 10 % it is {tenth:.1e} "
        "with automatic thresholds; where the buffer overflows before RED's average has reached "
        "its thresholds, loss is DropTail's.",
    )


def agreement(setting: Setting, results: PartResults) -> Judgement:
    """Close agreement of model and simulation from a tenth of the buffer on."""
    checks = []
    for name, label in (("automatic", "automatic thresholds"), ("given", "0.4 B and B")):
        for point in _from_a_tenth(setting, results, name):
            where = curves.percent(setting.fraction(point))
            what = f"model minus simulation at {where}, {label}"
            checks.append(predictions.is_close(what, point, RED_MODEL))
    agreed = sum(check.holds is True for check in checks)
    automatic = _from_a_tenth(setting, results, "automatic")
    first, last = (automatic[place].mean("loss_synchronization") for place in (0, -1))
    plain = results.study("plain").points[-1]
    return Judgement(
        tuple(checks),
        f"They agree in {agreed} of {len(checks)} cases. The model loses packets one by one, but "
        "an overflow affects many flows at once, as under DropTail. With automatic thresholds "
        f"{100 * first:.0f} % of the flows lose in an episode with a buffer of "
        f"{curves.percent(setting.fraction(automatic[0]))} and {100 * last:.0f} % with the "
        f"largest. Plain RED carries {100 * plain.mean('utilization'):.1f} % there, and its model "
        f"says {100 * predictions.utilization(plain, RED_MODEL):.1f} %: w_q = 1 in the model is "
        "the current queue, while RED averages over a second.",
    )


def _part(setting: Setting) -> Part:
    stated = STATED_LOSS[setting.figure]
    place = f"Sec. IV-A, Figure {setting.figure}"
    return Part(
        setting.figure,
        f"Utilization over the buffer, RED, {setting.link}",
        partial(studies, setting),
        partial(draw, setting),
        (
            Claim(
                "loss",
                f"The loss rate is {stated:g} for buffer ratios from 0.1 on."
                if setting is FIGURE_7
                else f"The loss rate is around {stated:g}.",
                place,
                partial(loss, setting),
            ),
            Claim(
                "close-agreement",
                "Despite using Adaptive RED in the simulations, we observe close agreement with "
                "the numerical results.",
                place,
                partial(agreement, setting),
            ),
        ),
        "The paper writes that Adaptive RED adjusts its thresholds, but it adjusts max_p. Its "
        "thresholds are either automatic (2.5 ms at the link's rate and three times that) or "
        "given; both are run, and also plain RED, which the paper's model describes, with a "
        "p_max of 0.1, which the paper does not state. As in ns-2, max_p may fall to 80 kbit/s "
        "over the rate.",
    )


PART_7 = _part(FIGURE_7)
PART_8 = _part(FIGURE_8)
