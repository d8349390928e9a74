"""What a sweep has found, as tables: a row a run, or a row a point."""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress

import pyarrow as pa

from tailroom.confidence import Interval, mean_interval
from tailroom.metrics import find_metric, names_of
from tailroom.store import Store, SweepRecord


def runs_of(store: Store, record: SweepRecord) -> pa.Table:
    """One row a finished run: settings as columns named by key, then what the store holds of it."""
    places = [(point["settings"], key) for point in record.points for key in point["runs"]]
    rows = {key: store.read(key) for _, key in places}
    return table_of_runs(
        list(record.axes),
        [(settings, row) for settings, key in places if (row := rows[key]) is not None],
    )


def table_of_runs(
    keys: Sequence[str], finished: Sequence[tuple[Mapping[str, object], pa.Table]]
) -> pa.Table:
    """One row a run, of its settings and its row in the store; a column a key comes first."""
    if not finished:
        return pa.table({key: pa.array([], pa.string()) for key in keys})
    table = pa.concat_tables([row for _, row in finished], promote_options="default")
    for place, key in enumerate(keys):
        table = table.add_column(place, key, _column([one[key] for one, _ in finished]))
    return table


def means(store: Store, record: SweepRecord, metric: str) -> pa.Table:
    """One row a point: its settings, then `mean`, `half_width` (95 %) and `runs` of a metric.

    Raises:
        MetricError: There is no such metric.
    """
    points = [point["settings"] for point in record.points]
    found = intervals(store, record, metric)
    columns = {key: _column([settings[key] for settings in points]) for key in record.axes}
    return pa.table(
        {
            **columns,
            "mean": [one.mean if one else None for one in found],
            "half_width": [one.half_width if one else None for one in found],
            "runs": [one.count if one else 0 for one in found],
        }
    )


def intervals(store: Store, record: SweepRecord, metric: str) -> list[Interval | None]:
    """Mean and interval of a metric at each point; `None` where no run is finished.

    Raises:
        MetricError: There is no such metric.
    """
    by_point = [[store.read(key) for key in point["runs"]] for point in record.points]
    known = {name for rows in by_point for row in rows if row is not None for name in names_of(row)}
    name = find_metric(metric, sorted(known)) if known else metric
    return [_interval([row for row in rows if row is not None], name) for rows in by_point]


def _interval(rows: Sequence[pa.Table], name: str) -> Interval | None:
    values = [row[name][0].as_py() for row in rows if name in row.column_names]
    numbers = [value for value in values if value is not None]
    return mean_interval(numbers) if numbers else None


def _column(values: list[object]) -> pa.Array:
    """Numbers or texts as they are; anything else as JSON.

    Tables too, such as a queue: CSV has none, and Arrow would give each the keys of all others.
    """
    if not any(isinstance(one, dict | list) for one in values):
        with suppress(pa.ArrowException):
            return pa.array(values)
    return pa.array([one if isinstance(one, str) else json.dumps(one) for one in values])
