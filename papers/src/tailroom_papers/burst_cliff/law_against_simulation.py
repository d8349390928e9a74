"""The law against simulation: on settings like those of the fit, and on held-out settings."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom_papers.burst_cliff.measures import UTILIZATION, error, predicted
from tailroom_papers.burst_cliff.setting import (
    BURST,
    CONTROL,
    CONTROLS,
    LIMIT,
    LINUX,
    PACING,
    SCENARIO,
    Link,
    hosts_of,
    rows,
)
from tailroom_papers.framework import *
from tailroom_papers.today import linux_hosts
from tailroom_papers.today.drawing import LABELS, LOOKS

BOUNDS = Bounds.of(__package__)
STUDY = "settings"
"""Name of the study of each part."""
BUFFERS_BDP = (0.0015, 0.006, 0.025, 0.08, 0.25)
"""Queue limits of the settings, in bandwidth-delay products."""
WORST = 6
"""Settings that the explanation lists."""

FITTED_LINKS = (
    Link(1, 10, 3),
    Link(1, 10, 10),
    Link(1, 40, 10),
    Link(1, 40, 30),
    Link(1, 10, 30),
    Link(10, 10, 30),
)
"""Links of the fit."""
HELD_OUT_LINKS = (
    Link(1, 20, 4),
    Link(1, 50, 20),
    Link(5, 12, 15),
    Link(2.5, 30, 20),
    Link(25, 3, 12),
    Link(40, 8, 10, packet_bytes=9000),
    Link(100, 8, 25, packet_bytes=9000),
    Link(2.5, 80, 50),
    Link(25, 6, 25),
    Link(40, 4, 25),
)
"""Links with other rates, RTTs, packet sizes and numbers of flows."""


def studies(links: Sequence[Link], bursts: Sequence[int], form: Form) -> list[Study]:
    """One study with every setting."""
    count = form.of(1, 3, len(links))
    hosts = list(hosts_of(CONTROLS, bursts))
    limits = form.of((0.006, 0.08), (0.0015, 0.025, 0.25), BUFFERS_BDP)
    together = rows(links[:count], hosts, limits)
    return [Study(STUDY, SCENARIO, together=together, seeds=form.of(1, 1, 3))]


def variations(own: Sequence[Study], claims: Sequence[Claim], form: Form) -> list[Variation]:
    """The settings with Linux hosts, one run per setting; the quick form has no time for them."""
    if form is Form.QUICK:
        return []
    once = [replace(study, seeds=1) for study in own]
    return [linux_hosts.variation(once, claims, LINUX)]


def share_close(results: PartResults, control: str = "") -> float:
    """Returns the share of settings, in [0, 1], at which the law is close to the simulation.

    Args:
        results: Results of the part.
        control: Only settings with this control; all settings if empty.
    """
    points = results.study(STUDY).where({CONTROL: control} if control else {}).points
    close = [abs(error(point)) <= BOUNDS["close"].value for point in points]
    return sum(close) / len(close)


def judge(control: str, results: PartResults) -> Judgement:
    """Compares the share of close settings with nine of ten."""
    points = results.study(STUDY).where({CONTROL: control} if control else {}).points
    of = LABELS[control] if control else "all controls"
    check = above(
        f"settings within 5 points, {of}",
        share_close(results, control),
        BOUNDS["nine-of-ten"],
        percent=True,
    )
    return Judgement((check,), lambda: _explanation(points))


def _explanation(points: Sequence[PointResults]) -> str:
    errors = sorted(abs(error(point)) for point in points)
    middle, tenth = errors[len(errors) // 2], errors[min(len(errors) - 1, len(errors) * 9 // 10)]
    worst = sorted(points, key=lambda point: -abs(error(point)))[:WORST]
    listed = "; ".join(f"{_words(point)}: {100 * error(point):+.0f} points" for point in worst)
    return (
        f"Over {len(points)} settings the median error is {100 * middle:.1f} points, and nine of "
        f"ten are within {100 * tenth:.1f} points. The largest errors are {listed}."
    )


def _words(point: PointResults) -> str:
    settings = point.settings
    how = "paced" if settings[PACING] else f"bursts of {settings[BURST]}"
    return (
        f"{LABELS[settings[CONTROL]]}, {settings['links.bottleneck.rate']}, "
        f"{settings['flows.hosts.count']} flows, {how}, {settings[LIMIT]}"
    )


def draw(title: str, results: PartResults) -> Figure:
    """Prediction over simulation, a panel per control."""
    figure = Figure(figsize=(9.5, 8.0), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True, sharey=True).ravel()
    far = 100 * BOUNDS["close"].value
    for panel, control in zip(panels, CONTROLS, strict=True):
        panel.fill_between([0, 100], [-far, 100 - far], [far, 100 + far], color="0.9")
        panel.plot([0, 100], [0, 100], color="0.5", linewidth=0.8)
        points = results.study(STUDY).where({CONTROL: control}).points
        for is_paced, label, face in ((False, "unpaced", "none"), (True, "paced", None)):
            mine = [point for point in points if point.settings[PACING] is is_paced]
            panel.scatter(
                [100 * point.mean(UTILIZATION) for point in mine],
                [100 * point.mean(predicted) for point in mine],
                s=16,
                marker="o",
                facecolors=face or LOOKS[control]["color"],
                edgecolors=LOOKS[control]["color"],
                linewidths=0.8,
                label=label,
            )
        share = 100 * share_close(results, control)
        panel.set_title(f"{LABELS[control]}: {share:.0f} % within 5 points", fontsize="medium")
        panel.set(xlim=(0, 102), ylim=(0, 102))
    figure.supxlabel("utilization in simulation (%)", fontsize="medium")
    figure.supylabel("utilization by the law (%)", fontsize="medium")
    style.title(figure, title)
    style.figure_legend(figure, panels[0].get_legend_handles_labels()[0])
    return figure


def part(name: str, title: str, links: Sequence[Link], bursts: Sequence[int], note: str) -> Part:
    """Returns a part that compares the law with simulation at these settings."""
    claims = [
        Claim(
            control or "all",
            f"The law is within 5 points of utilization for nine of ten settings"
            f"{f' of {LABELS[control]}' if control else ''}.",
            "goal of the law",
            partial(judge, control),
        )
        for control in ("", *CONTROLS)
    ]
    of: Callable[[Form], list[Study]] = partial(studies, links, bursts)
    return Part(
        name=name,
        title=title,
        studies=of,
        draw=partial(draw, title),
        claims=tuple(claims),
        variations=lambda form: variations(of(form), claims, form),
        note=f"{note} Links: {'; '.join(map(str, links))}.",
        caption=(
            "Each mark is a setting: the mean of its seeds, and the law. The grey band is 5 points "
            "wide on either side."
        ),
    )


FITTED = part(
    "fitted",
    "The law on settings of the fit",
    FITTED_LINKS,
    (1, 7, 44),
    "Links of the fit, with other seeds and other buffers than in the fit.",
)
HELD_OUT = part(
    "held-out",
    "The law on held-out settings",
    HELD_OUT_LINKS,
    (1, 16),
    "No setting of this part was used in the fit: rates from 1 to 100 Gbit/s, other RTTs, other "
    "numbers of flows (4 to 50), packets of 9000 B, and bursts of 16 packets. Two flows, or a "
    "hundred, are less well predicted (docs/models/burst-cliff.md).",
)
