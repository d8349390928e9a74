"""Whether microseconds decide: a point repeated with RTTs shifted by fractions of a packet time.

Without randomness in the senders, packets keep a fixed phase to the departures of a DropTail
queue, and the phase decides who loses packets for a whole run (Floyd and Jacobson, "On Traffic
Phase Effects in Packet-Switched Gateways", 1992). Other seeds do not show it, as they leave RTTs
alone. A shift of each flow's RTT by less than a packet's transmission time changes nothing about
the network that anybody could measure, so results that follow it describe the simulation and not
the network.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from os import PathLike

import numpy as np
import pyarrow as pa
import scipy
from numpy.typing import NDArray

from tailroom.errors import ScenarioError
from tailroom.execution.executors import ExecutorLike
from tailroom.execution.point import Point
from tailroom.execution.progress import RunProgress
from tailroom.execution.runner import Runner
from tailroom.scenario.custom_controls import ControlFactory
from tailroom.scenario.source import ScenarioSource
from tailroom.scenario.types import Scenario
from tailroom.simulation.metrics import find_metric, names_of
from tailroom.statistics.intervals import CONFIDENCE, Interval, mean_interval

KEY = "phase_shift"
"""The scenario's key that shifts RTTs."""
RUNS = 8
"""Runs as written, and as many with shifted RTTs; the variance ratio needs several of each."""
MATTERS = 0.01
"""Differences below this part of the value are not worth a warning."""
LINK_METRICS = ("utilization", "loss_fraction", "queue_delay_s_mean")
GROUP_METRICS = ("goodput_bps",)


@dataclass(frozen=True)
class PhaseSpread:
    """A metric as written, over seeds, and with shifted RTTs, over as many shifts."""

    metric: str
    """Full name, e.g. `groups.reno.goodput_bps`."""
    seeds: Interval
    """Mean over seeds with its 95 % interval, RTTs as written."""
    shifts: Interval
    """Mean over shifts with its 95 % interval; each shift has one of the seeds."""
    lowest: float
    """Smallest value of a run with shifted RTTs."""
    highest: float
    """Largest value of a run with shifted RTTs."""
    is_phase_dependent: bool
    """Whether shifts change the metric's mean or its spread, with 95 % confidence, and by more than
    1 % of its value."""


def phase_spread(metric: str, seeds: Sequence[float], shifts: Sequence[float]) -> PhaseSpread:
    """Compares runs as written with runs whose RTTs were shifted.

    The means are compared by Welch's t test and the variances by a one-sided F test, each at
    2.5 %, so that together they raise a false alarm in at most 5 % of cases (for normal values).

    Args:
        metric: The name to report.
        seeds: Values as written, one per seed; at least two.
        shifts: Values with shifted RTTs; at least two.

    Raises:
        ValueError: There are fewer than two values of a kind.
    """
    if min(len(seeds), len(shifts)) < 2:
        raise ValueError("give at least two runs as written and two with shifted RTTs")
    written, shifted = np.asarray(seeds, dtype=float), np.asarray(shifts, dtype=float)
    scale = MATTERS * max(abs(written.mean()), abs(shifted.mean()))
    moves = _means_differ(written, shifted) and abs(shifted.mean() - written.mean()) > scale
    spreads = _spreads_more(written, shifted) and float(shifted.std(ddof=1)) > scale
    return PhaseSpread(
        metric=metric,
        seeds=mean_interval(written),
        shifts=mean_interval(shifted),
        lowest=float(shifted.min()),
        highest=float(shifted.max()),
        is_phase_dependent=bool(moves or spreads),
    )


def _means_differ(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """Welch's t test, two-sided."""
    errors = [values.var(ddof=1) / values.size for values in (one, other)]
    error = sum(errors)
    if error == 0:
        return bool(one.mean() != other.mean())
    parts = [
        square**2 / (values.size - 1) for square, values in zip(errors, (one, other), strict=True)
    ]
    freedom = error**2 / sum(parts)
    quantile = scipy.special.stdtrit(freedom, 0.5 + _CONFIDENCE_OF_EACH / 2)
    return bool(abs(one.mean() - other.mean()) > quantile * sqrt(error))


def _spreads_more(one: NDArray[np.float64], other: NDArray[np.float64]) -> bool:
    """F test: whether the variance of `other` is larger."""
    variance = one.var(ddof=1)
    if variance == 0:
        return bool(other.var(ddof=1) > 0)
    quantile = scipy.special.fdtri(other.size - 1, one.size - 1, _CONFIDENCE_OF_EACH)
    return bool(other.var(ddof=1) / variance > quantile)


_CONFIDENCE_OF_EACH = 1 - (1 - CONFIDENCE) / 2


def shifted_points(point: Point, count: int) -> list[Point]:
    """A point for each of the shifts 1 to `count`, for one run each: shift k has the k-th seed."""
    return [
        replace(
            Point.of(point.source, {KEY: shift}, keep=point.keep),
            settings={**point.settings, KEY: shift},
            first_seed=point.first_seed + shift - 1,
        )
        for shift in range(1, count + 1)
    ]


def default_metrics(known: Iterable[str]) -> list[str]:
    """Those that a report shows: of each link and of each group."""

    def is_shown(name: str) -> bool:
        parts = name.split(".")
        shown = {"links": LINK_METRICS, "groups": GROUP_METRICS}
        return len(parts) == 3 and parts[2] in shown.get(parts[0], ())

    return [name for name in known if is_shown(name)]


def compare_rows(
    written: Sequence[pa.Table], shifted: Sequence[pa.Table], metrics: Sequence[str] = ()
) -> list[PhaseSpread]:
    """Compares stored runs of one point; metrics that a run does not define are left out.

    Args:
        written: One row per run as written; fewer than two give no answer.
        shifted: One row per run with shifted RTTs; fewer than two give no answer.
        metrics: Names in full or in short; the usual ones if left out.

    Raises:
        MetricError: There is no such metric.
    """
    if min(len(written), len(shifted)) < 2:
        return []
    known = names_of(written[0])
    wanted = [find_metric(name, known) for name in metrics] or default_metrics(known)
    found = []
    for name in dict.fromkeys(wanted):
        seeds = [row[name][0].as_py() for row in written]
        shifts = [row[name][0].as_py() for row in shifted]
        if None not in (*seeds, *shifts):
            found.append(phase_spread(name, seeds, shifts))
    return found


def phase_check(  # noqa: PLR0913 - each says one thing about the runs
    scenario: str | PathLike[str] | Scenario,
    *,
    metrics: Sequence[str] = (),
    runs: int = RUNS,
    seed: int | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002
    congestion: Mapping[str, str | ControlFactory] | None = None,
    workers: int | None = None,
    executor: "ExecutorLike | None" = None,
    progress: Callable[[RunProgress], object] | None = None,
) -> list[PhaseSpread]:
    """Runs a scenario with several seeds, and as often with shifted RTTs, and compares the two.

    Args:
        scenario: Path of a scenario file, or a scenario built in Python.
        metrics: As `tailroom run --json` names them; if left out, utilization, loss and mean
            queueing delay of each link and the goodput of each group.
        runs: Seeds, and shifts, at least 2.
        seed: The first seed; the scenario's if left out.
        set: Replaces values of the scenario, as `tailroom.run` does.
        congestion: Congestion controls by group, as `tailroom.run` takes them.
        workers: Maximum number of runs at a time; as many as there are cores if left out.
        executor: Where the runs are performed, as in `tailroom.sweep`.
        progress: Called after each run, with how far the check is.

    Raises:
        ScenarioError: The scenario is wrong, or `runs` is below 2.
        MetricError: There is no such metric.
        ClusterError: The cluster or executor cannot perform the runs.
        RunError: A run failed.
    """
    if runs < 2:
        raise ScenarioError(f"phase check: {runs} runs; give at least 2 to see a spread")
    source = ScenarioSource.of(scenario, set or {}, congestion)
    point = Point.of(source, {} if seed is None else {"seed": seed})
    with Runner.opened(
        None, in_processes=bool(point.controls), workers=workers, executor=executor
    ) as runner:
        shifted = run_shifted(runner, point, runs, progress)
    return compare_rows(point.finished, shifted, metrics)


def run_shifted(
    runner: Runner,
    point: Point,
    runs: int,
    progress: Callable[[RunProgress], object] | None = None,
) -> list[pa.Table]:
    """Completes a point to `runs` seeds, and returns one row for each of as many shifts.

    Raises:
        RunError: A run failed.
    """
    shifted = shifted_points(point, runs)
    runner.complete([point, *shifted], lambda one: runs if one is point else 1, progress=progress)
    return [row for one in shifted for row in one.finished]
