"""Figure 3: utilization over the buffer, 1 Gbit/s, RTTs from 115.5 to 124.5 ms."""

from collections.abc import Sequence
from functools import partial

from tailroom.models.window_laws.highspeed import DEFAULTS
from tailroom.reproduction import claim, pairs
from tailroom.reproduction.claim import Claim, Judgement
from tailroom.reproduction.form import Form
from tailroom.reproduction.paper import Part, Study
from tailroom.reproduction.part_results import PartResults, PointResults
from tailroom.statistics.intervals import Interval
from tailroom_papers.barman_2004 import curves, drop_tail, predictions
from tailroom_papers.barman_2004.drop_tail import LOW_P
from tailroom_papers.barman_2004.predictions import CLOSE, MODELS, PAPERS_MODEL
from tailroom_papers.barman_2004.settings import ALMOST_98, FIGURE_3
from tailroom_papers.barman_2004.uniqueness import solutions

WINDOW = "groups.hstcp.cwnd_packets_mean"
LOW_WINDOW = DEFAULTS.low_window
"""w_l: up to here HighSpeed TCP is standard TCP."""
MODELLED_FROM = 0.05
"""Fractions from here on are those of the comparison of models: below, bursts fill the buffer."""
RENO = {"flows.hstcp.congestion": {"kind": "reno"}}
RENO_TIMES = {Form.SMOKE: ("40 s", "15 s"), Form.QUICK: ("120 s", "40 s")}
"""Windows of Reno grow by a packet per round trip; the full form gives them ten minutes."""
SMALLEST, TINY, TENTH = 0.001, 0.01, 0.1
MARGINAL = 0.08
"""The largest gain that counts as marginal: that from the paper's 90 % to its 98 %."""


def fractions(form: Form) -> Sequence[float]:
    """Of the buffer."""
    return form.of(
        (SMALLEST, TINY, 0.05, TENTH, 0.2, 1.0),
        (SMALLEST, TINY, 0.02, 0.03, 0.05, TENTH, 0.2, 0.5, 1.0),
        (
            *(SMALLEST, 0.002, 0.005, TINY, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08),
            *(TENTH, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0),
        ),
    )


def studies(form: Form) -> Sequence[Study]:
    """HighSpeed flows, paced ones, and Reno flows in their place."""
    few = (SMALLEST, TINY)
    paced = form.of((TINY,), (TINY,), (SMALLEST, 0.005, TINY, 0.03, 0.05, TENTH))
    reno = form.of(few, few, (SMALLEST, 0.005, TINY, 0.02, 0.03, 0.05, TENTH, 0.2, 0.5, 1.0))
    duration, measure_from = RENO_TIMES.get(form, ("600 s", "200 s"))
    times = {"duration": duration, "measure_from": measure_from}
    return [
        *drop_tail.studies(FIGURE_3, fractions, lambda _: paced)(form),
        FIGURE_3.study("reno", reno, form, {**RENO, **times}),
    ]


def at(results: PartResults, fraction: float, study: str = "highspeed") -> PointResults:
    """A point of a study."""
    return FIGURE_3.at(results.study(study), fraction)


def utilization(results: PartResults, fraction: float) -> Interval | None:
    """Simulated."""
    return at(results, fraction).interval("utilization")


def ten_percent(results: PartResults) -> Judgement:
    """More than 90 % at 10 %."""
    said = predictions.utilization(at(results, TENTH), PAPERS_MODEL)
    here = curves.reaches(results.study("highspeed"), FIGURE_3, 0.9)
    return Judgement(
        (
            claim.above(
                "utilization at 10 %, simulated", utilization(results, TENTH), 0.9, percent=True
            ),
            claim.is_true(
                "utilization at 10 %, model", "above 90 %", said > 0.9, said, percent=True
            ),
        ),
        f"90 % is reached at {curves.buffer(FIGURE_3, here)}. The fractions are of the paper's "
        "12,500 packets, 0.83 of the bandwidth-delay product of the mean RTT.",
    )


def twenty_percent(results: PartResults) -> Judgement:
    """Almost 98 % at 20 %."""
    twenty = at(results, 0.2)
    gain = pairs.difference(twenty, at(results, TENTH), "utilization")
    said = predictions.utilization(twenty, "sawtooth")
    here = curves.reaches(results.study("highspeed"), FIGURE_3, 0.98)
    return Judgement(
        (
            claim.above(
                "utilization at 20 %",
                twenty.interval("utilization"),
                ALMOST_98,
                f"almost 98 % (above {curves.percent(ALMOST_98)})",
                percent=True,
            ),
            claim.below(
                "gain from 10 to 20 %",
                gain,
                MARGINAL,
                f"marginal (below {100 * MARGINAL:g} points: from 90 to 98 %)",
                percent=True,
            ),
        ),
        f"98 % is reached at {curves.buffer(FIGURE_3, here)}. Flows that always fall together "
        f"would leave the link idle for a part of the time: the synchronised sawtooth has "
        f"{100 * said:.1f} % at 20 %.",
    )


def small_buffers(results: PartResults) -> Judgement:
    """A drastic fall below 10 %, from many packet drops."""
    tenth, tiny, paced = at(results, TENTH), at(results, TINY), at(results, TINY, "paced")
    more = pairs.ratio(tiny, tenth, "loss_fraction")
    half = curves.reaches(results.study("highspeed"), FIGURE_3, 0.5)
    most = curves.reaches(results.study("highspeed"), FIGURE_3, 0.85)
    fall = pairs.difference(tenth, at(results, 0.05), "utilization")
    return Judgement(
        (
            claim.below(
                "utilization at 1 %",
                tiny.interval("utilization"),
                0.5,
                "drastic drop (here: below 50 %)",
                percent=True,
            ),
            claim.above(
                "loss at 1 % over loss at 10 %", more, 3, "many packet drops (here: above 3)"
            ),
            claim.above(
                "fall from 10 to 5 %",
                fall,
                0.1,
                "drastic below 10 % (here: above 10 points)",
                percent=True,
            ),
        ),
        f"Utilization passes 85 % at {curves.buffer(FIGURE_3, most)} and 50 % at "
        f"{curves.buffer(FIGURE_3, half)}. Bursts contribute to this: windows leave in trains at "
        "the link's rate, which overflow a small buffer before the link is full. With paced "
        "senders, which send no trains, utilization at 1 % is "
        f"{100 * paced.mean('utilization'):.1f} % with a loss of "
        f"{paced.mean('loss_fraction'):.1e}, in place of {100 * tiny.mean('utilization'):.1f} % "
        f"with {tiny.mean('loss_fraction'):.1e}.",
    )


def loss_is_low_p(results: PartResults) -> Judgement:
    """Loss mostly equal to p_l."""
    points = results.study("highspeed").points
    near = [LOW_P / 2 <= point.mean("loss_fraction") <= 2 * LOW_P for point in points]
    share = sum(near) / len(near)
    where = [
        curves.percent(FIGURE_3.fraction(point))
        for point, is_near in zip(points, near, strict=True)
        if is_near
    ]
    tenth = at(results, TENTH)
    link_packets_per_s, rtt_s, flows = 125_000, 0.12, 10
    return Judgement(
        (
            claim.is_true(
                "buffers with a loss within a factor of 2 of p_l = 1e-3",
                "most",
                share > 0.5,
                share,
                percent=True,
            ),
            claim.between(
                "loss at 10 %",
                tenth.interval("loss_fraction"),
                LOW_P / 2,
                2 * LOW_P,
                "p_l = 1e-3 (within a factor of 2)",
            ),
        ),
        f"Loss is {tenth.mean('loss_fraction'):.1e} at 10 %; it is about p_l with buffers of "
        f"{', '.join(where) or 'no size looked at'}. A full link cannot have the loss p_l: a "
        f"window is then {LOW_WINDOW:g} packets, and ten flows carry "
        f"{100 * flows * LOW_WINDOW / rtt_s / link_packets_per_s:.1f} % of the link.",
    )


def model_is_close(results: PartResults) -> Judgement:
    """Simulation and the model quite close."""
    checks = []
    for fraction in (TINY, 0.05, TENTH, 0.2, 1.0):
        what = f"model minus simulation at {100 * fraction:g} %"
        checks.append(predictions.is_close(what, at(results, fraction), PAPERS_MODEL))
    points = results.study("highspeed").points
    apart = [predictions.error(point, PAPERS_MODEL).low for point in points]
    sawtooth = predictions.error(at(results, TENTH), "sawtooth").mean
    return Judgement(
        tuple(checks),
        f"The fixed point, solved exactly, lies above the interval of the simulation at "
        f"{sum(difference > 0 for difference in apart)} of {len(points)} buffers, by more than "
        f"{100 * CLOSE:g} points at {sum(difference > CLOSE for difference in apart)}. The "
        "synchronised "
        f"sawtooth is {100 * abs(sawtooth):.1f} points away at 10 %.",
    )


def why_apart(results: PartResults) -> Judgement:
    """The discrepancy arises from M/M/1/K and from the simplified throughput."""
    points = [
        point
        for point in results.study("highspeed").points
        if FIGURE_3.fraction(point) >= MODELLED_FROM - 1e-9
    ]
    apart = {
        label: predictions.mean_distance(points, partial(predictions.utilization, model=model))
        for model, label in MODELS.items()
    }
    corrected = predictions.mean_distance(points, predictions.with_both_corrections)
    removed = 1 - corrected / apart[MODELS[PAPERS_MODEL]]
    together = at(results, TENTH).mean("loss_synchronization")
    best = min(apart, key=apart.__getitem__)
    return Judgement(
        (
            claim.is_true(
                "removed by M/D/1/K and the exact fluid together",
                "most of the discrepancy (above 50 %)",
                removed > 0.5,
                removed,
                percent=True,
            ),
        ),
        "Mean distance from the simulation from 5 % of the buffer on, in points: "
        + "; ".join(f"{label} {100 * difference:.1f}" for label, difference in apart.items())
        + f"; the paper's model with both corrections {100 * corrected:.1f}. Nearest is the one "
        f'called "{best}". '
        f"{100 * together:.0f} % of the flows lose in the same episode at 10 %, where every fixed "
        "point takes losses for independent.",
    )


def unique(results: PartResults) -> Judgement:
    """Uniqueness of the fixed point depends on the buffer."""
    solved = [solutions(predictions.link_of(point)) for point in results.study("highspeed").points]
    several = sum(solution.crossings != 1 for solution in solved)
    diverge = sum(abs(solution.slope) > 1 for solution in solved)
    steepest = min(solution.slope for solution in solved)
    return Judgement(
        (
            claim.is_true(
                "buffers at which Eq. 5 has not exactly one solution", "some", several > 0, several
            ),
        ),
        f"What the flows send falls with the load at {sum(solution.falls for solution in solved)} "
        f"of {len(solved)} buffers, so it meets the load once. Only the convergence of plain "
        "iteration depends on the buffer: the slope at the solution is steeper than -1 at "
        f"{diverge} of {len(solved)} buffers (down to {steepest:.3g}).",
    )


def standard_tcp(results: PartResults) -> Judgement:
    """Small buffers reduce HighSpeed TCP to standard TCP."""
    checks, ratios = [], []
    for fraction in (SMALLEST, TINY):
        highspeed, reno = at(results, fraction), at(results, fraction, "reno")
        where = f"at {100 * fraction:g} %"
        ratio = pairs.ratio(highspeed, reno, "utilization")
        ratios.append(claim.shown(ratio))
        window = highspeed.interval(WINDOW)
        stated = f"that of standard TCP (up to {LOW_WINDOW:g})"
        checks += [
            claim.below(f"mean window {where}, packets", window, LOW_WINDOW, stated),
            claim.below(
                f"utilization over Reno's {where}", ratio, 1.1, "the same (here: below 1.1)"
            ),
        ]
    return Judgement(
        tuple(checks),
        f"HighSpeed TCP is standard TCP up to a window of {LOW_WINDOW:g} packets. Windows are "
        f"{at(results, SMALLEST).mean(WINDOW):.0f} packets with a buffer of 0.1 % and "
        f"{at(results, TINY).mean(WINDOW):.0f} with 1 %; HighSpeed flows carry {ratios[0]} and "
        f"{ratios[1]} times the throughput of Reno flows.",
    )


PLACE = "Sec. III-A, Figure 3"
CLAIMS = (
    Claim(
        "ten-percent",
        "Buffer size equal to 10 % of the bandwidth-delay product can sustain more than 90 % "
        "utilization.",
        PLACE,
        ten_percent,
    ),
    Claim(
        "twenty-percent",
        "Beyond 10 % utilization increases marginally, reaching almost 98 % around 20 %.",
        "Sec. V, abstract",
        twenty_percent,
    ),
    Claim(
        "small-buffers",
        "A buffer below 10 % causes many packet drops, which lead to a drastic drop in the "
        "utilization.",
        "Sec. V",
        small_buffers,
    ),
    Claim("loss-is-p_l", "The loss rate is mostly equal to p_l.", "Sec. III-A", loss_is_low_p),
    Claim(
        "model-is-close",
        "Results from simulations and our analytical model are quite close.",
        PLACE,
        model_is_close,
    ),
    Claim(
        "why-apart",
        "The discrepancy mainly arises from our M/M/1/K assumption and simplifying approximations "
        "in deriving the closed-form throughput expression.",
        PLACE,
        why_apart,
    ),
    Claim(
        "uniqueness",
        "The uniqueness of the fixed point depends on the buffer size.",
        "Sec. III",
        unique,
    ),
    Claim(
        "standard-tcp",
        "Small buffers may reduce HighSpeed TCP to regular/standard TCP.",
        "Sec. V",
        standard_tcp,
    ),
)

PART = Part(
    "3",
    f"Utilization over the buffer, DropTail, {FIGURE_3.link}",
    studies,
    partial(drop_tail.draw, FIGURE_3),
    CLAIMS,
    "Fractions refer to the paper's 12,500 packets; its buffer of B packets is a limit of B - 1 "
    "here, as ns-2 counts the packet being sent. The paper gives neither duration nor start "
    "times: flows start at random within 10 s, and the full form measures from 60 to 160 s. The "
    "paper's curves are not in its text; the reference curves are ns-2 on the same set-up. The "
    "models are solved exactly, with the corrections of the paper's Eqs. 3 to 5 that "
    "docs/models/window-laws.md lists.",
)
