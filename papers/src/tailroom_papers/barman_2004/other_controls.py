"""FAST and the other congestion controls of its time on Figure 3's network, over the buffer."""

from dataclasses import replace

from tailroom_papers.barman_2004.bounds import BOUNDS
from tailroom_papers.barman_2004.curves import NS2_LOOK
from tailroom_papers.barman_2004.further_network import (
    QUEUE_DELAY,
    UTILIZATION,
    over_buffers,
    points_over,
)
from tailroom_papers.barman_2004.interval_curves import (
    Lines,
    draw_curves,
    frame_over_buffers,
    legend_inside,
    ns2_utilization,
)
from tailroom_papers.barman_2004.settings import FIGURE_3
from tailroom_papers.barman_2004.smallest_buffer import smallest_fraction
from tailroom_papers.framework import *

NAMES = {
    "highspeed": "HighSpeed",
    "fast": "FAST",
    "scalable": "Scalable",
    "bic": "BIC",
    "htcp": "H-TCP",
    "cubic": "CUBIC",
    "reno": "Reno",
}
_NINETY, _GROWS = BOUNDS["ninety"].value, BOUNDS["grows"].value
BELOW_90 = f"below {100 * _NINETY:g} %"
STAYS = f"does not grow with it (below {_GROWS:g})"
LOSS_BASED = ("highspeed", "scalable", "bic", "htcp", "cubic")
"""High-speed controls that fill the buffer until it overflows."""
TARGETS = (0.9, 0.98)
RENO_SEEDS = 5
"""Reno's runs are four times as long as the others."""
FAST_QUEUE_FRACTION = 10 * 100 / 12_500
"""Ten flows keep FAST's alpha of 100 packets each in the queue."""


def controls(form: Form) -> tuple[str, ...]:
    """Reno's windows need minutes to grow, longer than the shorter forms last."""
    every = tuple(NAMES)
    return form.of(("highspeed", "fast"), every[:-1], every)


def fractions(form: Form) -> tuple[float, ...]:
    """Buffers, as parts of 12,500 packets."""
    return form.of(
        (0.05, 0.1, 0.2, 1.0), (0.05, 0.1, 0.2, 1.0), (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 1.0)
    )


def studies(form: Form) -> list[Study]:
    """A sweep over the buffer for each control."""
    return [_study(control, form) for control in controls(form)]


def _study(control: str, form: Form) -> Study:
    changes: dict[str, object] = {}
    if control != "highspeed":
        changes["flows.hstcp.congestion"] = {"kind": control}
    if control == "reno":
        changes |= {"duration": "600 s", "measure_from": "200 s"}
    study = over_buffers(control, form, fractions(form), **changes)
    return replace(study, seeds=min(study.seeds, RENO_SEEDS)) if control == "reno" else study


def smallest(results: PartResults, control: str, target: float) -> Interval | None:
    """The smallest buffer with which a control keeps the link at a target, as a fraction."""
    return smallest_fraction(
        fractions(results.form),
        points_over(results, control, fractions(results.form)),
        UTILIZATION,
        target,
    )


def draw(results: PartResults) -> Figure:
    """Utilization and mean queueing delay over the buffer, and the smallest buffers."""
    over, tried = fractions(results.form), controls(results.form)
    title = "Ten flows of each congestion control on Figure 3's network"
    figure, (left, middle, right) = figure_of(title, 1, 3, (11.4, 5.2))
    points = {
        NAMES[control]: points_over(results, control, fractions(results.form)) for control in tried
    }
    used: Lines = {name: (of, UTILIZATION) for name, of in points.items()}
    waited: Lines = {name: (of, QUEUE_DELAY) for name, of in points.items()}
    draw_curves(left, over, used, "utilization (%)", "Utilization", scale=100, ylim=(None, 101.5))
    label = "mean queueing delay (ms)"
    draw_curves(middle, over, waited, label, "Queueing delay", scale=1e3, log="y")
    _draw_ns2(left, results)
    _draw_smallest(right, results)
    return legend_below(figure, of=[left])


def _draw_ns2(panel: Axes, results: PartResults) -> None:
    """ns-2's results of HighSpeed and Reno (60 to 160 s) at the drawn buffers."""
    variations = {"highspeed": "", "reno": "sack_reno_instead"}
    for control in (variation for variation in variations if variation in controls(results.form)):
        rows = {
            100 * fraction: 100 * utilization
            for fraction in fractions(results.form)
            if (utilization := ns2_utilization(fraction, variations[control])) is not None
        }
        look = {**NS2_LOOK, "marker": "*" if control == "highspeed" else "X"}
        panel.plot(list(rows), list(rows.values()), label=f"{NAMES[control]}, ns-2", **look)


def _draw_smallest(panel: Axes, results: PartResults) -> None:
    """A row for each control, a mark for each target."""
    tried = controls(results.form)
    for target, marker, face, aside in ((0.9, "o", "white", -0.13), (0.98, "s", "black", 0.13)):
        needed = [smallest(results, control, target) for control in tried]
        # An interval on a logarithmic scale must not reach 0.
        needed = [mean and replace(mean, lowest=0.1 * mean.mean) for mean in needed]
        look = {"linestyle": "none", "color": "black", "marker": marker, "markerfacecolor": face}
        rows, label = [place + aside for place in range(len(tried))], f"for {100 * target:.0f} %"
        draw_intervals(panel, rows, needed, look, label=label, scale=100, across=True)
    panel.set_xscale("log")
    frame_over_buffers(panel, fractions(results.form), title="Smallest buffer (interpolated)")
    panel.set_yticks(range(len(tried)), [NAMES[control] for control in tried])
    panel.set_ylim(len(tried) - 0.5, -0.5)
    legend_inside(panel)


def _judge_fast(results: PartResults) -> Judgement:
    study = results.study("fast")
    small, fifth, full = (FIGURE_3.at(study, fraction) for fraction in (0.05, 0.2, 1.0))
    grown = paired_ratio(full, fifth, QUEUE_DELAY)
    checks = [
        small.below("FAST's utilization, buffer 5 %", UTILIZATION, BOUNDS["ninety"], BELOW_90),
        fifth.above("FAST's utilization, buffer 20 %", UTILIZATION, BOUNDS["almost-98"]),
        below("FAST's mean queueing delay, 100 % over 20 %", grown, BOUNDS["grows"], STAYS),
    ]
    others = []
    for control in (kind for kind in LOSS_BASED if kind in controls(results.form)):
        other = results.study(control)
        times_longer = paired_ratio(FIGURE_3.at(other, 1.0), FIGURE_3.at(other, 0.2), QUEUE_DELAY)
        others.append(f"{NAMES[control]} {shown(times_longer)}")
    queued, lost = 100 * FAST_QUEUE_FRACTION, small.interval("links.bottleneck.loss_fraction")
    why = (
        f"FAST aims at 100 packets of each flow queued, of ten flows {queued:.0f} % of 12,500. "
        f"With less room its updates overflow the buffer (5 %: loss {shown(lost, percent=True)}). "
        f"Its mean delay is {1e3 * fifth.mean(QUEUE_DELAY):.1f} ms with 20 % and "
        f"{1e3 * full.mean(QUEUE_DELAY):.1f} ms with 100 %; those of the others are with 100 % "
        f"{', '.join(others)} times as long as with 20 %."
    )
    return Judgement(tuple(checks), why)


def _judge_tenth(results: PartResults) -> Judgement:
    checks: list[Check] = []
    texts = []
    for control in controls(results.form):
        needed = [smallest(results, control, target) for target in TARGETS]
        said = " / ".join(_percent(interval, fractions(results.form)[0]) for interval in needed)
        texts.append(f"{NAMES[control]} {said}")
        tenth = FIGURE_3.at(results.study(control), 0.1)
        checks.append(tenth.above(f"{NAMES[control]}, buffer 10 %", UTILIZATION, BOUNDS["ninety"]))
    why = f"Smallest buffers for 90 / 98 % (% of 12,500 packets): {'; '.join(texts)}."
    return Judgement(tuple(checks), why)


def _percent(needed: Interval | None, least: float) -> str:
    if needed is None:
        return "not reached"
    if needed.mean == least:
        return f"at most {100 * least:.0f} %"
    return shown(needed, percent=True)


PART = Part(
    "other-controls",
    "FAST and other congestion controls over the buffer (the paper's future work)",
    studies,
    draw,
    (
        Claim(
            "other-controls-fast",
            "FAST TCP, which changes its window according to buffer delay, needs room for the "
            "packets that it keeps queued, and does not fill a larger buffer.",
            "our hypothesis on the future work of Sec. V",
            _judge_fast,
        ),
        Claim(
            "other-controls-tenth",
            "A buffer of 10 % sustains more than 90 % utilization with other controls, too.",
            "our hypothesis on the future work of Sec. V",
            _judge_tenth,
        ),
    ),
    "Figure 3 with another congestion control, everything else as it is, with the parameters of "
    "the RFCs and papers (FAST: alpha = 100 packets, gamma = 0.5). The smallest buffer is the "
    "one from which on utilization stays above the bound, interpolated per run between the "
    "tested buffers on a logarithmic scale. The bounds are ours, because the paper asks the "
    "question without numbers. Only the full form has Reno, with 600 s of which the last 400 s "
    "are measured, because its windows grow by one packet per round trip.",
    caption="Ten flows of each congestion control on Figure 3's network: utilization and mean "
    "queueing delay over the buffer, with 95 % confidence intervals (bands), and the smallest "
    "buffer for a utilization of 90 % (circles) and 98 % (squares) with 95 % confidence intervals "
    "(bars); a missing mark means that some run does not reach it with any buffer. Stars are "
    "ns-2's.",
)
