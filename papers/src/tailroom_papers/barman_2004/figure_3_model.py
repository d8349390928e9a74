"""What the paper says of its model outside Figure 3: loss, agreement, discrepancy, uniqueness."""

from collections.abc import Callable, Sequence

import numpy as np

from tailroom.models.window_laws.highspeed import DEFAULTS
from tailroom_papers.barman_2004 import curves, predictions
from tailroom_papers.barman_2004.bounds import BOUNDS
from tailroom_papers.barman_2004.predictions import PAPERS_MODEL
from tailroom_papers.barman_2004.settings import FIGURE_3
from tailroom_papers.barman_2004.uniqueness import solutions
from tailroom_papers.framework import *

MODELLED_FROM = 0.05
"""Fractions from here on are those of the comparison of models: below, bursts fill the buffer."""
TINY, TENTH = 0.01, 0.1
LOSS = "loss_fraction"


def at(results: PartResults, fraction: float, study: str = "highspeed") -> PointResults:
    """A point of a study."""
    return FIGURE_3.at(results.study(study), fraction)


def loss_is_low_p(results: PartResults) -> Judgement:
    """The loss is mostly p_l."""
    points = results.study("highspeed").points
    low, high = BOUNDS["mostly-p_l"].values
    by_seed = zip(*(point.values(LOSS) for point in points), strict=True)
    shares = [float(np.mean([low <= loss <= high for loss in losses])) for losses in by_seed]
    what, tenth = "share of the buffers with a loss of about p_l", at(results, TENTH)
    link_packets_per_s, rtt_s, flows = 125_000, 0.12, 10
    where = [
        curves.percent(FIGURE_3.fraction(point))
        for point in points
        if low <= point.mean(LOSS) <= high
    ]
    return Judgement(
        (
            above(what, mean_interval(shares), BOUNDS["mostly"]),
            tenth.between("loss at 10 %", LOSS, BOUNDS["mostly-p_l"]),
        ),
        f"The loss is {tenth.mean(LOSS):.1e} at 10 %; it is about p_l with buffers of "
        f"{', '.join(where) or 'no size in this form'}. A full link cannot have the loss p_l: a "
        f"window is then {DEFAULTS.low_window:g} packets, and ten flows carry "
        f"{100 * flows * DEFAULTS.low_window / rtt_s / link_packets_per_s:.1f} % of the link.",
    )


def model_is_close(results: PartResults) -> Judgement:
    """Simulation and the model quite close."""
    checks = tuple(
        predictions.is_close(
            f"model minus simulation at {100 * fraction:g} %", at(results, fraction), PAPERS_MODEL
        )
        for fraction in (TINY, TENTH, 0.2, 1.0)
    )
    points = results.study("highspeed").points
    apart = [predictions.error(point, PAPERS_MODEL).mean for point in points]
    high = BOUNDS["close"].values[1]
    sawtooth = predictions.error(at(results, TENTH), "sawtooth").mean
    return Judgement(
        checks,
        f"The fixed point, solved exactly, is more than {100 * high:g} points above the mean of "
        f"the simulation at {sum(difference > high for difference in apart)} of {len(points)} "
        f"buffers. The synchronised sawtooth is {100 * abs(sawtooth):.1f} points away at 10 %.",
    )


Seeds = Sequence[tuple[float, ...]]
"""Utilizations at several buffers, by seed."""


def removed(points: Sequence[PointResults], instead: Callable[[PointResults], float]) -> Interval:
    """The part of the paper's discrepancy that another model removes.

    One minus the ratio of the mean distances from the simulated means over the buffers, with the
    interval of the jackknife over the seeds.
    """
    papers = np.array([predictions.utilization(point, PAPERS_MODEL) for point in points])
    others = np.array([instead(point) for point in points])

    def of(runs: Seeds) -> float:
        means = np.mean(runs, axis=0)
        return float(1 - np.abs(others - means).sum() / np.abs(papers - means).sum())

    return jackknife(_by_seed(points), of)


def removed_by_pacing(unpaced: PointResults, paced: PointResults) -> Interval:
    """The part of the discrepancy at a buffer that is gone if senders send no trains."""
    said = predictions.utilization(unpaced, PAPERS_MODEL)

    def of(runs: Seeds) -> float:
        trains, smooth = np.mean(runs, axis=0)
        return float(1 - abs(said - smooth) / abs(said - trains))

    return jackknife(_by_seed([unpaced, paced]), of)


def _by_seed(points: Sequence[PointResults]) -> Seeds:
    return list(zip(*(point.values("utilization") for point in points), strict=True))


def why_apart(results: PartResults) -> Judgement:
    """The discrepancy arises from M/M/1/K and from the simplified throughput."""
    points = [
        point
        for point in results.study("highspeed").points
        if FIGURE_3.fraction(point) >= MODELLED_FROM - 1e-9
    ]
    without_trains = removed_by_pacing(at(results, TINY), at(results, TINY, "paced"))
    correlated = "removed from 5 % on by correlated losses in place of M/M/1/K"
    paced = "removed at 1 % if the arrivals have no trains (paced senders)"
    return Judgement(
        (
            above(correlated, removed(points, predictions.by("sawtooth")), BOUNDS["mainly"]),
            above(paced, without_trains, BOUNDS["mainly"]),
        ),
        lambda: _which_assumption(results, points),
    )


def _which_assumption(results: PartResults, points: Sequence[PointResults]) -> str:
    parts = {
        "deterministic service (M/D/1/K)": predictions.by("drop_tail_fixed_point_md1k"),
        "the exact fluid in place of the closed form": predictions.by(
            "drop_tail_fixed_point_fluid"
        ),
        "both": predictions.with_both_corrections,
        "losses of all flows at once (synchronised sawtooth)": predictions.by("sawtooth"),
    }
    gone = {label: removed(points, model) for label, model in parts.items()}
    effects = "; ".join(f"{label} {shown(part, percent=True)}" for label, part in gone.items())
    *others, sawtooth = (part.mean for part in gone.values())
    arrivals = sawtooth > BOUNDS["mainly"].value > max(others)
    together = 100 * at(results, TENTH).mean("loss_synchronization")
    return (
        "M/M/1/K assumes Poisson arrivals, each lost independently, and exponential service. "
        f"Each is replaced in turn; from 5 % of the buffer on this removes: {effects} (negative: "
        "the distance grows). "
        + ("So most of the discrepancy lies in the arrivals. " if arrivals else "")
        + f"With a buffer of 10 % {together:.0f} % of the flows lose in the same episode, whereas "
        "the fixed point loses packets one by one. Below 5 % the arrivals differ in another way, "
        "too: they come in trains."
    )


def unique(results: PartResults) -> Judgement:
    """Uniqueness of the fixed point depends on the buffer."""
    points = results.study("highspeed").points
    solved = [solutions(predictions.link_of(point)) for point in points]
    several = sum(solution.crossings != 1 for solution in solved)
    diverge = sum(abs(solution.slope) > 1 for solution in solved)
    steepest = min(solution.slope for solution in solved)
    what = "buffers at which Eq. 5 has not exactly one solution"
    return Judgement(
        (is_true(what, "some", several > 0, several),),
        "The load that the flows send in answer to a load falls with it at "
        f"{sum(solution.falls for solution in solved)} of {len(solved)} buffers, so that the two "
        "meet once. Only the convergence of plain iteration depends on the buffer: the slope at "
        f"the solution is steeper than -1 at {diverge} of {len(solved)} buffers (down to "
        f"{steepest:.3g}).",
    )


PLACE = "Sec. III-A, Figure 3"
MODEL_CLAIMS = (
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
)
