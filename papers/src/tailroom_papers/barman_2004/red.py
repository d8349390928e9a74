"""Figures 7 and 8: the same flows under Adaptive RED and plain RED."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tailroom_papers.barman_2004 import curves, predictions, red_model
from tailroom_papers.barman_2004.bounds import BOUNDS
from tailroom_papers.barman_2004.predictions import RED_MODEL
from tailroom_papers.barman_2004.red_model import MIN_THRESHOLD
from tailroom_papers.barman_2004.settings import FIGURE_7, FIGURE_8, LIMIT, Setting
from tailroom_papers.framework import *

QUEUE = "links.bottleneck.queue"
PLAIN_RED = {"kind": "red", "gentle": False, "wait": True, "max_p": red_model.P_MAX}
"""As the paper's p(n), which ends at max_th; p_max, which the paper does not give, is ns-2's."""
TENTH = 0.1
JUDGED = (TENTH, 1.0)
"""The paper names "buffer ratios from 0.1 on": both ends of the range."""
STATED_LOSS: dict[str, NamedBound] = {"7": BOUNDS["loss-1e-5"], "8": BOUNDS["loss-1e-6"]}
NUMBERS = {"7": 1e-5, "8": 1e-6}
STUDIES = {
    "automatic": "Adaptive RED, automatic thresholds",
    "given": "Adaptive RED, thresholds 0.4 B and B",
    "plain": "plain RED, thresholds 0.4 B and B",
}
"""As legends call them."""
READINGS = {"automatic": "automatic thresholds", "given": "thresholds 0.4 B and B"}
P_MAXES = (0.01, 1.0)
"""The ends of a wide range of the p_max that the paper does not give."""
SEEDS = 8


def studies(setting: Setting, form: Form) -> Sequence[Study]:
    """Adaptive RED with automatic and with given thresholds, and plain RED."""
    over = form.of(JUDGED, JUDGED, (0.05, TENTH, 0.2, 0.3, 0.5, 0.7, 1.0))
    plain = form.of((1.0,), (1.0,), over)
    kind = {QUEUE: {**PLAIN_RED, "limit": setting.limit(1.0)}}
    return [
        setting.study("automatic", over, form, seeds=SEEDS),
        _with_thresholds(setting.study("given", over, form, seeds=SEEDS), setting, over),
        _with_thresholds(setting.study("plain", plain, form, kind, seeds=SEEDS), setting, plain),
    ]


def _with_thresholds(study: Study, setting: Setting, fractions: Sequence[float]) -> Study:
    """The same with 40 % of the buffer and the buffer as thresholds."""
    lows = [setting.limit(MIN_THRESHOLD * fraction) for fraction in fractions]
    limits = [setting.limit(fraction) for fraction in fractions]
    keys = {LIMIT: limits, f"{QUEUE}.min_threshold": lows, f"{QUEUE}.max_threshold": limits}
    return replace(study, grid={}, together=keys)


def modified_error(point: PointResults) -> Interval:
    """By how much the modified model lies above the simulated utilization."""
    return predictions.error(point, RED_MODEL)


def draw(setting: Setting, results: PartResults) -> Figure:
    """Utilization and loss over the buffer, and the models less the simulations."""
    title = f"Figure {setting.figure}: 10 HighSpeed flows, RED, {setting.link}"
    figure, panels = figure_of(title, 2, 2, (9.2, 7.8))
    utilization, loss, own, modified = panels
    points = results.study("automatic").points
    over = [setting.fraction(point) for point in points]
    broad: dict[str, Any] = {
        "color": "0.72",
        "linewidth": 5,
        "zorder": 1.5,
        "label": "paper's own model",
    }
    utilization.plot(over, [100 * red_model.utilization(point) for point in points], **broad)
    loss.plot(over, [red_model.loss(point) for point in points], **broad)
    curves.simulated(utilization, results, STUDIES, setting, "utilization", 100)
    curves.simulated(loss, results, STUDIES, setting, "loss_fraction")
    for name, look in zip(STUDIES, curves.simulated_looks(), strict=False):
        points = results.study(name).points
        over = [setting.fraction(point) for point in points]
        for panel, error in ((own, red_model.error), (modified, modified_error)):
            draw_intervals(panel, over, map(error, points), look, scale=100)
    curves.ns2_points(utilization, setting.ns2(), "utilization", 100)
    curves.ns2_points(loss, setting.ns2(), "loss")
    stated = NUMBERS[setting.figure]
    loss.axhline(stated, label=f"stated in the paper: {stated:g}", **style.LIMIT_LINE)
    loss.set_yscale("log", nonpositive="mask")
    loss.set_ylabel("loss (dropped / arrived)")
    low, _ = utilization.get_ylim()
    utilization.set(ylabel="utilization (%)", ylim=(max(0.0, low), 101))
    own.set_ylabel("paper's own model\nminus simulation (points)")
    modified.set_ylabel("modified model\nminus simulation (points)")
    _same_scale(own, modified)
    for panel, letter in zip(panels, "abcd", strict=True):
        label = f"({letter})  fraction of {setting.full_packets:,} packets"
        frame(panel, x=label, xlim=(0, 1.02))
        curves.axis_in_bdp(panel, setting)
    curves.cut_bands(utilization)
    return legend_below(figure, 3, [loss])


def _same_scale(*panels: Axes) -> None:
    """One range, with the bounds of close agreement and the zero line."""
    low, high = BOUNDS["close"].values
    ends = [end for panel in panels for end in panel.get_ylim()]
    for panel in panels:
        panel.axhspan(100 * low, 100 * high, color="0.93", zorder=0)
        panel.axhline(0, color="0.4", linewidth=0.8)
        panel.set_ylim(min(*ends, 120 * low), max(*ends, 120 * high))


def _sides(setting: Setting, results: PartResults) -> list[tuple[str, PointResults]]:
    """Both readings of the thresholds at both ends of the paper's range."""
    return [
        (
            f"{100 * fraction:g} % of {setting.full_packets:,} packets, {label}",
            setting.at(results.study(name), fraction),
        )
        for name, label in READINGS.items()
        for fraction in JUDGED
    ]


def loss(setting: Setting, results: PartResults) -> Judgement:
    """About 1e-5, and 1e-6, from a tenth of the buffer on."""
    bound = STATED_LOSS[setting.figure]
    checks = [
        point.between(f"loss at {what}", "loss_fraction", bound)
        for what, point in _sides(setting, results)
    ]
    full = setting.at(results.study("automatic"), 1.0)
    tenth = setting.at(results.study("automatic"), TENTH)
    return Judgement(
        tuple(checks),
        f"A link that ten HighSpeed flows fill needs a loss of {red_model.loss(full):.1e} by the "
        f"paper's own model. With automatic thresholds it is {tenth.mean('loss_fraction'):.1e} in "
        f"simulations with a buffer of 10 % and {full.mean('loss_fraction'):.1e} with the largest. "
        "Where the buffer overflows before RED's average has reached its thresholds, the loss is "
        "that of DropTail.",
    )


def agreement(setting: Setting, results: PartResults) -> Judgement:
    """Close agreement of the paper's own model and simulation."""
    sides = _sides(setting, results)
    checks = [
        red_model.is_close(f"model minus simulation at {what}", point) for what, point in sides
    ]

    def why() -> str:
        (_, tenth), *_ = sides
        least, most = (100 * red_model.utilization(tenth, p_max) for p_max in P_MAXES)
        modified = "; ".join(
            f"{100 * modified_error(point).mean:+.1f} at {what}" for what, point in sides
        )
        together = 100 * tenth.mean("loss_synchronization")
        return (
            "The sides compare with the paper's own model: p(n) over the number of packets in the "
            "buffer, thresholds of 40 % of the buffer and the buffer, independent drops, and a "
            f"p_max of {red_model.P_MAX:g}, which the paper does not state; a p_max from "
            f"{P_MAXES[0]:g} to {P_MAXES[1]:g} moves it from {least:.2f} to {most:.2f} % at 10 %. "
            "The modified model red_fixed_point counts only waiting packets, spaces drops as ns-2 "
            "does and adapts max_p; minus the simulation it differs by these points: "
            f"{modified}. Both lose packets one by one, but an overflow affects many flows at "
            f"once: {together:.0f} % of the flows lose in an episode with automatic thresholds and "
            "a buffer of 10 %."
        )

    return Judgement(tuple(checks), why)


def _part(setting: Setting) -> Part:
    stated = NUMBERS[setting.figure]
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
        caption="(a) Utilization and (b) loss over the buffer under RED: means of simulations with "
        "95 % confidence intervals (bands), the paper's own model (broad grey line) and ns-2 "
        "(stars). (c) The paper's own model minus the simulation, and (d) the modified model "
        "red_fixed_point, with each simulation's parameters, minus the simulation, in points of "
        "utilization with 95 % confidence intervals (bars). Grey: within 3 points.",
    )


PART_7 = _part(FIGURE_7)
PART_8 = _part(FIGURE_8)
