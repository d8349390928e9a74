"""What a sweep has found, as tables: one row per run, or one row per point."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import isfinite

import pyarrow as pa

from tailroom.scenario.axis import value_words
from tailroom.simulation.metrics import find_metric
from tailroom.statistics.intervals import Interval, mean_interval
from tailroom.storage.run_index import TEXTS, RunIndex
from tailroom.storage.store import Store, SweepRecord

_Write = Callable[[object, Sequence[object]], str]
"""Writes a value as text, given all values of its key."""

IDENTITY = ("title", "wall_s", "key", "scenario_hash", "engine_build", *TEXTS)
"""Columns of stored runs that come after all others."""
SHIFT = "phase_shift"
"""Column of the runs with shifted RTTs: the number of the shift."""


def runs_of(store: Store, record: SweepRecord, *, texts: bool = True) -> pa.Table:
    """One row per finished run: settings as columns named by key, then what the store holds of it.

    Tables, such as a queue, are in words: their kind, and what tells them apart.

    Args:
        store: The store.
        record: The sweep.
        texts: Whether to include the columns `scenario` (TOML) and `summary` (JSON), for which the
            file of each run is read.
    """
    places = [(point["settings"], key) for point in record.points for key in point["runs"]]
    if texts:
        rows = {key: store.read(key) for key in dict.fromkeys(key for _, key in places)}
        finished = [(one, row) for one, key in places if (row := rows[key]) is not None]
        return table_of_runs(list(record.axes), finished, in_words=True)
    index = store.columns()
    there = [(one, key) for one, key in places if key in index]
    if not there:
        return table_of_runs(list(record.axes), [])
    table = index.rows([key for _, key in there])
    return _with_settings(table, list(record.axes), [one for one, _ in there], value_words)


def all_runs(store: Store, *, texts: bool = True) -> pa.Table:
    """One row per finished run of the store, with a column for each key that any sweep varies.

    A key that no sweep of a run varies is null. Runs with shifted RTTs have a `phase_shift`.

    Args:
        store: The store.
        texts: As for `runs_of`.
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
    keys = list(dict.fromkeys(key for one in settings.values() for key in one))
    if texts:
        table = store.runs()
    else:
        index = store.columns()
        table = index.rows(sorted(index.signatures))
    found = [settings.get(run, {}) for run in table["key"].to_pylist()]
    return _with_settings(table, keys, found, value_words)


def table_of_runs(
    keys: Sequence[str],
    finished: Sequence[tuple[Mapping[str, object], pa.Table]],
    *,
    in_words: bool = False,
) -> pa.Table:
    """One row per run: a column for each key, then the row of the run in the store.

    Args:
        keys: The keys of the settings.
        finished: Settings and row of each run.
        in_words: Write tables, such as a queue, in the words that tell them apart, not as JSON.
    """
    if not finished:
        return pa.table({key: pa.array([], pa.string()) for key in keys})
    table = pa.concat_tables([row for _, row in finished], promote_options="default")
    settings = [one for one, _ in finished]
    return _with_settings(table, keys, settings, value_words if in_words else _json)


def _with_settings(
    table: pa.Table, keys: Sequence[str], settings: Sequence[Mapping[str, object]], write: _Write
) -> pa.Table:
    """Stored runs as people read them: settings, seed, metrics, then what identifies the run."""
    last = [name for name in IDENTITY if name in table.column_names]
    first = [name for name in ("seed",) if name in table.column_names]
    metrics = [name for name in table.column_names if name not in {*first, *last}]
    table = table.select([*first, *metrics, *last])
    for place, key in enumerate(keys):
        table = table.add_column(place, key, _column([one.get(key) for one in settings], write))
    return table


def means(index: RunIndex, record: SweepRecord, metric: str) -> pa.Table:
    """One row per point: its settings, then `mean`, `half_width` (95 %) and `runs` of a metric.

    The half-width of a single run is null.

    Raises:
        MetricError: There is no such metric.
    """
    points = [point["settings"] for point in record.points]
    found = intervals(index, record, metric)
    columns = {key: _column([settings[key] for settings in points]) for key in record.axes}
    return pa.table(
        {
            **columns,
            "mean": [one.mean if one else None for one in found],
            "half_width": pa.array([_width(one) for one in found], pa.float64()),
            "runs": [one.count if one else 0 for one in found],
        }
    )


def intervals(index: RunIndex, record: SweepRecord, metric: str) -> list[Interval | None]:
    """Mean and interval of a metric at each point; `None` where no finished run defines it.

    Raises:
        MetricError: There is no such metric.
    """
    known = metrics_of_sweep(index, record)
    name = find_metric(metric, known) if known else metric
    found = (index.values(name, point["runs"]) for point in record.points)
    return [mean_interval(values) if values else None for values in found]


def metrics_of_sweep(index: RunIndex, record: SweepRecord) -> list[str]:
    """Full names of the metrics that the finished runs of a sweep have."""
    return index.metrics(key for point in record.points for key in point["runs"])


def _width(interval: Interval | None) -> float | None:
    return interval.half_width if interval and isfinite(interval.half_width) else None


def _column(values: list[object], write: _Write = value_words) -> pa.Array:
    """Numbers or texts as they are; tables and lists, which CSV does not have, as text.

    Arrow would give each table the keys of all others.
    """
    if not any(isinstance(one, dict | list) for one in values):
        with suppress(pa.ArrowException):
            return pa.array(values)
    by_text = {str(one): one for one in values if one is not None}
    words = {text: write(one, list(by_text.values())) for text, one in by_text.items()}
    return pa.array([words.get(str(one)) for one in values])


def _json(value: object, _among: Sequence[object]) -> str:
    return value if isinstance(value, str) else json.dumps(value)
