"""Phase check: a point repeated with RTTs shifted by fractions of a packet's transmission time.

Without randomness in the senders, packets keep a fixed phase to the departures of a DropTail
queue, and the phase determines which flows lose packets for a whole run (Floyd and Jacobson, "On
Traffic Phase Effects in Packet-Switched Gateways", 1992). Other seeds do not show this effect,
because they do not change RTTs. A shift of the RTT of each flow by less than a packet's
transmission time does not change the network measurably, so a result that depends on the shift
describes the simulation and not the network.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tailroom.arguments import COMPARED_RUNS, SEED, WORKERS
from tailroom.errors import ArgumentError
from tailroom.execution.executors import ExecutorLike
from tailroom.execution.point import Point
from tailroom.execution.progress import RunProgress
from tailroom.execution.runner import Runner
from tailroom.field_docs import with_field_docs
from tailroom.scenario.custom_controls import Congestion
from tailroom.scenario.scenario import Scenario, ScenarioLike
from tailroom.scenario.trust import allowing
from tailroom.simulation.metric_intervals import metric_interval
from tailroom.simulation.metrics import find_metric, full_names
from tailroom.simulation.run_warnings import warn
from tailroom.statistics.distributions import f_quantile, student_quantile
from tailroom.statistics.intervals import CONFIDENCE, Interval
from tailroom.storage.run import Row, metric_names
from tailroom.studies.stored_warnings import warnings_of

KEY = "phase_shift"
"""The scenario's key that shifts RTTs."""
SEEDS = 8
"""Number of runs as written, and of runs with shifted RTTs; the F test needs several of each."""
MATTERS = 0.01
"""Smallest relative difference that gives a warning."""
LINK_METRICS = ("utilization", "loss_fraction", "queue_delay_s_mean")
"""Metrics compared per link by default."""
GROUP_METRICS = ("goodput_bps",)
"""Metrics compared per group by default."""


@with_field_docs
@dataclass(frozen=True)
class PhaseSpread:
    """A metric over seeds with RTTs as written, and over shifts of the RTTs."""

    metric: str
    """Full name, e.g. `groups.reno.goodput_bps`."""
    seeds: Interval
    """Mean over seeds with its 95 % interval, RTTs as written."""
    shifts: Interval
    """Mean over shifts with its 95 % interval; each shift has one of the seeds."""
    lowest: float
    """Smallest value of a run with shifted RTTs, in the unit of the metric."""
    highest: float
    """Largest value of a run with shifted RTTs, in the unit of the metric."""
    is_phase_dependent: bool
    """Whether shifts change the mean or the spread of the metric with 95 % confidence, and by more
    than 1 % of its value."""

    def as_dict(self) -> dict[str, Any]:
        """The metric as `--json` prints it."""
        return {
            "metric": self.metric,
            "mean": self.seeds.mean,
            "half_width": self.seeds.half_width,
            "shifted_mean": self.shifts.mean,
            "shifted_half_width": self.shifts.half_width,
            "shifted_lowest": self.lowest,
            "shifted_highest": self.highest,
            "runs": self.shifts.count,
            "is_phase_dependent": self.is_phase_dependent,
        }


def phase_spread(metric: str, seeds: Sequence[float], shifts: Sequence[float]) -> PhaseSpread:
    """Compares runs as written with runs whose RTTs were shifted.

    The means are compared by Welch's t test and the variances by a one-sided F test, each at
    2.5 %, so that together they raise a false alarm in at most 5 % of cases (for normal values).

    Args:
        metric: Name of the metric.
        seeds: Values with RTTs as written, one per seed; at least two.
        shifts: Values with shifted RTTs, one per shift; at least two.

    Raises:
        ArgumentError: There are fewer than two values in `seeds` or `shifts`.
    """
    if min(len(seeds), len(shifts)) < 2:
        raise ArgumentError("give at least two runs as written and two with shifted RTTs")
    written, shifted = np.asarray(seeds, dtype=float), np.asarray(shifts, dtype=float)
    scale = MATTERS * max(abs(written.mean()), abs(shifted.mean()))
    moves = _means_differ(written, shifted) and abs(shifted.mean() - written.mean()) > scale
    spreads = _spreads_more(written, shifted) and float(shifted.std(ddof=1)) > scale
    return PhaseSpread(
        metric=metric,
        seeds=metric_interval(metric, seeds),
        shifts=metric_interval(metric, shifts),
        lowest=float(shifted.min()),
        highest=float(shifted.max()),
        is_phase_dependent=bool(moves or spreads),
    )


def _means_differ(written: NDArray[np.float64], shifted: NDArray[np.float64]) -> bool:
    """Welch's t test, two-sided."""
    samples = (written, shifted)
    squares = [values.var(ddof=1) / values.size for values in samples]
    square = sum(squares)
    if square == 0:
        return bool(written.mean() != shifted.mean())
    parts = [part**2 / (values.size - 1) for part, values in zip(squares, samples, strict=True)]
    degrees_of_freedom = square**2 / sum(parts)
    quantile = student_quantile(degrees_of_freedom, 0.5 + _CONFIDENCE_OF_EACH / 2)
    return bool(abs(written.mean() - shifted.mean()) > quantile * sqrt(square))


def _spreads_more(written: NDArray[np.float64], shifted: NDArray[np.float64]) -> bool:
    """F test, one-sided: whether the variance of `shifted` is larger."""
    variance = written.var(ddof=1)
    if variance == 0:
        return bool(shifted.var(ddof=1) > 0)
    quantile = f_quantile(shifted.size - 1, written.size - 1, _CONFIDENCE_OF_EACH)
    return bool(shifted.var(ddof=1) / variance > quantile)


_CONFIDENCE_OF_EACH = 1 - (1 - CONFIDENCE) / 2
"""Confidence of each of the two tests."""


def shifted_points(point: Point, count: int) -> list[Point]:
    """A point of one run for each of the shifts 1 to `count`; shift k has the k-th seed."""
    return [
        replace(
            Point.of(point.source, {KEY: shift}, keep=point.keep),
            settings={**point.settings, KEY: shift},
            first_seed=point.first_seed + shift - 1,
        )
        for shift in range(1, count + 1)
    ]


def default_metrics(known: Iterable[str]) -> list[str]:
    """The metrics among `known` that are compared by default, of each link and each group."""

    def is_shown(name: str) -> bool:
        parts = name.split(".")
        shown = {"links": LINK_METRICS, "groups": GROUP_METRICS}
        return len(parts) == 3 and parts[2] in shown.get(parts[0], ())

    return [name for name in known if is_shown(name)]


def compare_rows(
    written: Sequence[Row], shifted: Sequence[Row], metrics: Sequence[str] = ()
) -> list[PhaseSpread]:
    """Compares stored runs of one point; metrics that a run does not define are left out.

    Args:
        written: One row per run with RTTs as written; fewer than two give an empty list.
        shifted: One row per run with shifted RTTs; fewer than two give an empty list.
        metrics: Names of metrics, the end of a name suffices; if left out, the usual metrics.

    Raises:
        MetricError: There is no such metric.
    """
    if min(len(written), len(shifted)) < 2:
        return []
    known = metric_names(written[0])
    wanted = [find_metric(name, known) for name in metrics] or default_metrics(known)
    spreads = []
    for name in dict.fromkeys(wanted):
        seeds = [row[name] for row in written]
        shifts = [row[name] for row in shifted]
        if None not in (*seeds, *shifts):
            spreads.append(phase_spread(name, seeds, shifts))
    return spreads


def phase_check(  # noqa: PLR0913 - keyword arguments
    scenario: ScenarioLike,
    *,
    metrics: Sequence[str] = (),
    seeds: int = SEEDS,
    seed: int | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002
    congestion: Congestion | None = None,
    store: str | PathLike[str] | None = None,
    workers: int | None = None,
    executor: "ExecutorLike | None" = None,
    progress: Callable[[RunProgress], object] | None = None,
    allow_code: bool = False,
    allow_files: bool = False,
) -> list[PhaseSpread]:
    """Compares runs with several seeds with as many runs whose RTTs are shifted.

    Args:
        scenario: Path of a scenario file, or a scenario built in Python.
        metrics: Names of metrics in `tailroom run --json`; if left out, utilization, loss and mean
            queueing delay of each link and the goodput of each group.
        seeds: Number of seeds, and of shifts, at least 2.
        seed: The first seed; the scenario's if left out.
        set: Replaces values of the scenario, as `tailroom.run` does.
        congestion: Congestion controls by group, or one for the only group, as `tailroom.run` takes
            them.
        store: Directory of the store that keeps the runs; runs that it holds are not repeated.
        workers: Maximum number of runs at a time; if left out, the number of cores, or as many as
            `executor` takes.
        executor: Where the runs are performed, as in `tailroom.sweep`.
        progress: Called with a `RunProgress` after each run.
        allow_code: Load the code in Python that the scenario file names (controls, disciplines,
            sources); code that arguments name is always loaded.
        allow_files: Read the files that the scenario file names outside its directory.

    Raises:
        ArgumentError: An argument has the wrong type, or is out of range.
        ScenarioError: The scenario is wrong.
        MetricError: There is no such metric; no run is performed.
        ClusterError: The cluster or executor cannot perform the runs.
        StoreError: The directory is not a store, or another version of tailroom wrote one of its
            runs.
        NotWrittenError: The store cannot be written, for example on a full disk.
        RunError: A run failed.
    """
    COMPARED_RUNS.check("seeds", seeds)
    SEED.check("seed", seed)
    WORKERS.check("workers", workers)
    with allowing(code=allow_code, files=allow_files):
        source = Scenario.of(scenario, set, congestion)
    full_names(source, metrics)
    point = Point.of(source, {} if seed is None else {"seed": seed})
    with Runner.open(
        store, in_processes=bool(point.controls), workers=workers, executor=executor
    ) as runner:
        shifted = run_shifted(runner, point, seeds, progress)
        warn(warnings_of(runner.store, point.keys))
    return compare_rows(point.finished, shifted, metrics)


def run_shifted(
    runner: Runner,
    point: Point,
    runs: int,
    progress: Callable[[RunProgress], object] | None = None,
) -> list[Row]:
    """Completes a point to `runs` seeds, and returns one row for each of `runs` shifts.

    Raises:
        RunError: A run failed.
    """
    shifted = shifted_points(point, runs)
    runner.complete(
        [point, *shifted],
        lambda completed: runs if completed is point else 1,
        progress=progress,
    )
    return [row for shift in shifted for row in shift.finished]
