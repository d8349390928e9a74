"""The results of a sweep as tables with one row per run or per point."""

import json
from collections.abc import Mapping, Sequence

import pyarrow as pa

from tailroom.scenario.axis import value_words
from tailroom.simulation.metric_intervals import metric_interval
from tailroom.simulation.metrics import find_metric
from tailroom.statistics.intervals import Interval
from tailroom.storage.run import TEXTS
from tailroom.storage.run_index import RunIndex
from tailroom.storage.store import Store
from tailroom.storage.sweep_record import SweepRecord
from tailroom.studies.setting_columns import Write, setting_column

IDENTITY = ("title", "wall_s", "key", "scenario_hash", "engine_build", *TEXTS)
"""Columns of stored runs that follow all others."""
SHIFT = "phase_shift"
"""Column of the runs with shifted RTTs: the number of the shift."""


def runs_of(store: Store, record: SweepRecord, *, texts: bool = True) -> pa.Table:
    """One row per finished run: a column per key, then the columns of the stored run.

    Tables, such as a queue, are written in words: their kind, and the values that differ.

    Args:
        store: The store.
        record: The sweep.
        texts: Whether to include the columns `scenario` (TOML) and `summary` (JSON), for which the
            files of the runs are read.
    """
    places = [(point["settings"], key) for point in record.points for key in point["runs"]]
    keys = [key for _, key in places]
    table = store.runs(keys) if texts else store.columns().rows(keys)
    if not table.num_rows:
        return pa.table({key: pa.array([], pa.string()) for key in record.axes})
    finished = set(table["key"].to_pylist())
    of_runs = [settings for settings, key in places if key in finished]
    return _with_settings(table, list(record.axes), of_runs, value_words, record.units)


def all_runs(store: Store, *, texts: bool = True) -> pa.Table:
    """One row per finished run of the store, with a column for each key that any sweep varies.

    A key that no sweep of a run varies is null. Runs with shifted RTTs have a `phase_shift`.

    Args:
        store: The store.
        texts: Whether to include the columns `scenario` (TOML) and `summary` (JSON), for which the
            files of the runs are read.
    """
    settings: dict[str, dict[str, object]] = {}
    records = store.sweeps()
    for record in records:
        for point in record.points:
            shifts = [{SHIFT: place + 1} for place in range(len(point.get("shifted_runs", [])))]
            for key in point["runs"]:
                settings.setdefault(key, {}).update(point["settings"])
            for key, shift in zip(point.get("shifted_runs", []), shifts, strict=True):
                settings.setdefault(key, {}).update({**point["settings"], **shift})
    keys = list(dict.fromkeys(key for of_run in settings.values() for key in of_run))
    if texts:
        table = store.runs()
    else:
        index = store.columns()
        table = index.rows(sorted(index.keys))
    by_row = [settings.get(run, {}) for run in table["key"].to_pylist()]
    units = {key: unit for record in records for key, unit in record.units.items()}
    return _with_settings(table, keys, by_row, value_words, units)


def table_of_runs(
    keys: Sequence[str],
    finished: Sequence[tuple[Mapping[str, object], pa.Table]],
) -> pa.Table:
    """One row per run: a column for each key, then the row of the run in the store.

    Tables, such as a queue, are written as JSON.

    Args:
        keys: The keys of the settings.
        finished: Settings and row of each run, at least one.
    """
    table = pa.concat_tables([row for _, row in finished], promote_options="default")
    return _with_settings(table, keys, [settings for settings, _ in finished], _json, {})


def _with_settings(
    table: pa.Table,
    keys: Sequence[str],
    settings: Sequence[Mapping[str, object]],
    write: Write,
    units: Mapping[str, str],
) -> pa.Table:
    """Orders the columns for readers: settings, seed, metrics, identity of the run."""
    last = [name for name in IDENTITY if name in table.column_names]
    first = [name for name in ("seed",) if name in table.column_names]
    metrics = [name for name in table.column_names if name not in {*first, *last}]
    table = table.select([*first, *metrics, *last])
    for place, key in enumerate(keys):
        values = [of_run.get(key) for of_run in settings]
        column = setting_column(key, values, units.get(key), write)
        table = table.add_column(place, *column)
    return table


def means(index: RunIndex, record: SweepRecord, metric: str) -> pa.Table:
    """One row per point: its settings, then mean and 95 % interval of a metric, and the runs.

    Settings that were given as numbers or time spans are numbers; the metadata of their columns
    have the `unit`. The columns `mean`, `half_width` (of Student's interval), `low` and `high`
    (ends of the interval, which stay within the range of the metric) are in the unit of the metric,
    those of the interval null for a single run; `runs` is the number of finished runs that define
    the metric, and `planned_runs` the number of runs that the sweep has planned.

    Raises:
        MetricError: There is no such metric.
    """
    points = [point["settings"] for point in record.points]
    by_point = intervals(index, record, metric, metrics_of_sweep(index, record))
    by_name = [interval.as_dict() if interval else {} for interval in by_point]
    table = pa.table(
        {
            **{
                name: pa.array([numbers.get(name) for numbers in by_name], pa.float64())
                for name in ("mean", "half_width", "low", "high")
            },
            "runs": [interval.count if interval else 0 for interval in by_point],
            "planned_runs": [len(point["runs"]) for point in record.points],
        }
    )
    for place, key in enumerate(record.axes):
        values = [settings[key] for settings in points]
        table = table.add_column(place, *setting_column(key, values, record.units.get(key)))
    return table


def intervals(
    index: RunIndex, record: SweepRecord, metric: str, known: Sequence[str]
) -> list[Interval | None]:
    """Mean and interval of a metric at each point; `None` if no finished run defines it.

    Args:
        index: The runs.
        record: The sweep.
        metric: Name of the metric; the end of a name suffices.
        known: Full names of the metrics that the runs have.

    Raises:
        MetricError: There is no such metric.
    """
    name = find_metric(metric, known) if known else metric
    by_point = (index.values(name, point["runs"]) for point in record.points)
    return [metric_interval(name, values) if values else None for values in by_point]


def metrics_of_sweep(index: RunIndex, record: SweepRecord) -> list[str]:
    """Full names of the metrics that the finished runs of a sweep have."""
    return index.metrics(key for point in record.points for key in point["runs"])


def _json(value: object, _among: Sequence[object]) -> str:
    return value if isinstance(value, str) else json.dumps(value)
