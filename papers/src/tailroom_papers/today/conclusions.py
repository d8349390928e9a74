"""Which of the three papers' conclusions still hold."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom_papers.framework import *
from tailroom_papers.today import (
    auge_today,
    background,
    barman_today,
    buffer_curves,
    fair_and_codel,
    linux_hosts,
    rtt_unfairness,
    sensitivity,
    su_today,
)
from tailroom_papers.today.cycles import cycles_claim
from tailroom_papers.today.drawing import LABELS, LOOKS, finish, line
from tailroom_papers.today.network import LIMIT
from tailroom_papers.today.study_points import at_limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINKS = (*background.LINKS, background.LONG)
OWN = ("two-rtts", *map(background.name, LINKS), background.name(background.TEN, "fair"))
"""Studies that no other part has."""
CLAIMS = (*barman_today.CLAIMS, *su_today.CLAIMS, *auge_today.CLAIMS)
SCATTERED = "bbr1"
"""A control whose runs differ so much that a band would fill the panel."""


def studies(form: Form) -> Sequence[Study]:
    """Those of the buffer curves and of the mixed controls are run once for all parts."""
    return [
        *(buffer_curves.study(link, form) for link in (buffer_curves.TEN, buffer_curves.HUNDRED)),
        *(fair_and_codel.mixed(kind, form) for kind in ("drop_tail", "fair")),
        rtt_unfairness.study(form),
        *(background.study(link, form) for link in LINKS),
        background.fair_study(form),
    ]


def variations(form: Form) -> list[Variation]:
    """What hosts may do otherwise, and every claim with Linux hosts."""
    with_linux = linux_hosts.variation(
        [linux_hosts.with_automatic_bursts(study) for study in _judged(form)],
        CLAIMS,
        linux_hosts.AUTOMATIC,
    )
    return [*sensitivity.variations(form), with_linux]


def _judged(form: Form) -> list[Study]:
    """The points at which claims are judged; the faster and the longer link in the full form."""
    seeds, few = form.of((2, 2), (2, 2), (5, 3))
    asked = dict.fromkeys((rtt_unfairness.CONTROL, "flows.long.congestion"), barman_today.ASKED)
    sizes = (fair_and_codel.SHALLOW, fair_and_codel.DEEP)
    studies = [
        sensitivity.judged_curves(buffer_curves.TEN, form, seeds),
        at_limits(
            rtt_unfairness.study(form),
            (rtt_unfairness.SMALL, rtt_unfairness.LARGE),
            seeds,
            together=asked,
        ),
        sensitivity.judged_background(background.TEN, form, seeds),
        at_limits(
            background.fair_study(form), (background.TWENTY, background.HUNDRED_PACKETS), seeds
        ),
        *(at_limits(fair_and_codel.mixed(of, form), sizes, seeds) for of in ("drop_tail", "fair")),
    ]
    if form is Form.FULL:
        studies += [
            sensitivity.judged_curves(buffer_curves.HUNDRED, form, few),
            sensitivity.judged_background(background.HUNDRED, form, few),
            sensitivity.judged_background(background.LONG, form, few),
        ]
    return studies


def draw(results: PartResults) -> Figure:
    """RTT unfairness over the buffer, and one flow alongside a background at both rates."""
    figure = Figure(figsize=(11.5, 4.0), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    _draw_unfairness(left, results.study("two-rtts"))
    for panel, link in zip((middle, right), background.LINKS, strict=True):
        points = results.study(background.name(link))
        _draw_background(panel, points, background.CONTROLS[link])
        panel.set_title(
            f"one flow next to a background,\n{link.gbps} Gbit/s, RTT {link.rtt_ms:g} ms",
            fontsize="medium",
        )
    style.title(figure, "The papers' questions, asked of today's controls; packets of 9000 B")
    handles = {
        handle.get_label(): handle
        for panel in (left, middle, right)
        for handle in panel.get_legend_handles_labels()[0]
    }
    style.figure_legend(figure, list(handles.values()))
    return figure


def _draw_unfairness(panel: "Axes", study: StudyResults) -> None:
    values: list[float] = []
    for control in rtt_unfairness.CONTROLS:
        points = study.where({rtt_unfairness.CONTROL: control}).points
        look = {**LOOKS[control], "label": LABELS[control]}
        if control == SCATTERED:
            values += _runs_and_mean(panel, points, look)
        else:
            values += line(panel, points, rtt_unfairness.unfairness, look)
    finish(panel, study.points, values)
    panel.set_yscale("log")
    panel.set_yticks([1, 2, 5, 10], ["1", "2", "5", "10"])
    panel.set_ylim(1, max(12, 1.1 * max(values)))
    panel.minorticks_off()
    label = f"goodputs' ratio = RTTs' ratio ({rtt_unfairness.RTT_RATIO:g})"
    panel.axhline(rtt_unfairness.RTT_RATIO, label=label, **style.LIMIT_LINE)
    panel.set_title(
        f"{rtt_unfairness.FLOWS} flows of {rtt_unfairness.SHORT_MS:g} ms next to "
        f"{rtt_unfairness.FLOWS} of\n{rtt_unfairness.LONG_MS:g} ms, "
        f"{rtt_unfairness.LINK.gbps} Gbit/s",
        fontsize="medium",
    )
    panel.set_xlabel("buffer (bdp)")
    panel.set_ylabel("larger over smaller goodput")


def _runs_and_mean(
    panel: "Axes", points: Sequence[PointResults], look: Mapping[str, Any]
) -> list[float]:
    """A cross per run and a line of the means; returns all values."""
    values = [point.values(rtt_unfairness.unfairness) for point in points]
    for point, mine in zip(points, values, strict=True):
        places = [point.number(LIMIT)] * len(mine)
        panel.plot(places, mine, "x", color=look["color"], markersize=4, alpha=0.6)
    means = [point.mean(rtt_unfairness.unfairness) for point in points]
    panel.plot([point.number(LIMIT) for point in points], means, **look)
    return [value for mine in values for value in mine]


def _draw_background(panel: "Axes", study: StudyResults, controls: Sequence[str]) -> None:
    for control in controls:
        points = study.where({background.CONTROL: control}).points
        look = {**LOOKS[control], "label": LABELS[control]}
        over = [_buffer_packets(point) for point in points]
        draw_means(panel, over, points, background.share_of_residual, look, scale=100)
    style.scale_over(panel, [_buffer_packets(point) for point in study.points])
    panel.grid(visible=True, color="0.92")
    panel.set_ylim(0, 110)
    panel.set_xlabel("buffer (packets)")
    panel.set_ylabel("goodput (% of the residual capacity)")


def _buffer_packets(point: PointResults) -> float:
    """With the packet being sent, as the papers count."""
    return point.number(LIMIT) + 1


CONCLUSIONS = Part(
    name="conclusions",
    title="Which of the papers' conclusions still hold",
    studies=studies,
    draw=draw,
    claims=CLAIMS,
    conditions=(cycles_claim("cycles-conclusions", OWN),),
    variations=variations,
    caption=(
        "Left: the larger goodput over the smaller one of flows whose RTTs differ by a factor of "
        "2, over the queue limit; dashed: the ratio of the RTTs. BBRv1 differs from run to run, so "
        "its runs are crosses. Middle and right: goodput of one flow next to a background that "
        "takes half of the link, in percent of the other half, over the buffer in packets, with "
        "the packet being sent. Only Reno, CUBIC and BBRv3 were simulated at 100 Gbit/s. Lines are "
        "means of the runs, bands are 95 % confidence intervals."
    ),
    note=(
        "Each conclusion of 2004 to 2006 is tested with CUBIC and BBR, on links of 10 and 100 "
        "Gbit/s, with the hosts of today. A claim holds if it holds for every tested control and "
        "rate; its sides show for which it holds. What differs between hosts is varied on the "
        "links of 10 Gbit/s. A background of 50 Poisson "
        "sources takes half of the link, as in Augé and Roberts. Above 100 % of the residual "
        "capacity a flow takes from the background, which loses packets and does not send them "
        "again. A buffer of 20 packets is a limit of 19 in tailroom, which does not count the "
        "packet being sent."
    ),
)
