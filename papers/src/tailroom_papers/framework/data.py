"""The data next to a report: every run with its metrics, from which verdicts can be checked.

A part has a table with a row per run: `study`, `variation` (empty for the studies of the part
itself), `point` (its number in the study, from 0), a column per varied key, `seed`, and the
metrics. The columns that verdicts follow from have every digit, and so have whole numbers: counts,
and rates and limits that the scenario gives. So that the data of thousands of runs can lie next to
the reports, the other metrics are rounded to within 0.2 %, and one that equals another in every run
is left out; so are all of them if there are very many, as with a fabric.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
from matplotlib.patches import Rectangle

from tailroom.parquet_files import read_table
from tailroom.simulation.metrics import names_of
from tailroom.studies.sweep_study.tables import table_of_runs
from tailroom_papers.framework.paper import PaperError, ReproducedPart
from tailroom_papers.framework.plan import Planned
from tailroom_papers.framework.results import PointResults, StoredRun, StudyResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


BINARY_DIGITS = 9
"""Of a metric that no verdict follows from, which is rounded by at most a part in 512."""
MOST_METRICS = 5_000
"""With more, those are left out that no verdict follows from."""
PLACE = ("study", "variation", "point")
"""Columns that say to which point of which study a run belongs."""


def runs_of(part: ReproducedPart) -> pa.Table:
    """Returns a row per run of a part and its variations; none for a part without studies.

    Args:
        part: The part, after its claims were judged and its picture was drawn.
    """
    of_variation = {"": part.results, **part.variations}
    studies = [
        (name, variation, study)
        for variation, results in of_variation.items()
        for name, study in results.studies.items()
    ]
    if not studies:
        return pa.table({column: pa.array([], pa.string()) for column in PLACE})
    tables = [_study(*study) for study in studies]
    read = {metric for *_, study in studies for metric in _read_metrics(study)}
    measured = {name for *_, study in studies for name in names_of(study.points[0].runs[0].row)}
    whole = pa.concat_tables(tables, promote_options="permissive")
    return _without_repetitions(whole, measured - read)


def _read_metrics(study: StudyResults) -> set[str]:
    """The metrics that verdicts and pictures have read from a study."""
    return {metric for point in study.points for run in point.runs for metric in run.read}


def _study(name: str, variation: str, study: StudyResults) -> pa.Table:
    finished = [
        (point, place, run) for place, point in enumerate(study.points) for run in point.runs
    ]
    rows = [(point.settings, run.row) for point, _, run in finished]
    table = table_of_runs(list(study.points[0].settings), rows)
    table = _with_metrics(table, _read_metrics(study), [run for _, _, run in finished])
    columns = ([name] * len(rows), [variation] * len(rows), [place for _, place, _ in finished])
    for position, (column, values) in enumerate(zip(PLACE, columns, strict=True)):
        table = table.add_column(position, column, pa.array(values))
    return table


def _with_metrics(table: pa.Table, read: set[str], runs: Sequence[StoredRun]) -> pa.Table:
    """Leaves out texts and identity, shortens unread metrics, and adds those of functions."""
    metrics = names_of(table)
    is_wide = len(metrics) > MOST_METRICS
    columns = {"seed": table["seed"]}
    for name in table.column_names:
        if name in metrics and name not in read:
            column = table[name]
            if not is_wide:
                columns[name] = column if _is_whole(column) else _rounded(column)
        elif name in metrics or name not in runs[0].row.column_names:
            columns[name] = table[name]
    for name in sorted(read.difference(metrics)):
        values = [run.read.get(name) for run in runs]
        columns[name] = pa.array(values, pa.float64())
    return pa.table(columns)


def _is_whole(column: pa.ChunkedArray) -> bool:
    """Whether all defined numbers are whole."""
    numbers = np.array(column.fill_null(0), np.float64)
    return bool(np.all(numbers == np.round(numbers)))


def _rounded(column: pa.ChunkedArray) -> pa.Array:
    """Rounds numbers to a few binary digits; undefined ones stay so."""
    undefined = np.array(column.is_null())
    fractions, exponents = np.frexp(np.array(column.fill_null(0), np.float64))
    scale = 2.0**BINARY_DIGITS
    rounded = np.ldexp(np.round(fractions * scale) / scale, exponents)
    return pa.array(rounded.astype(np.float32), mask=undefined)


def _without_repetitions(table: pa.Table, unread: set[str]) -> pa.Table:
    """Leaves out unread metrics that equal an earlier one in every run."""
    kept: list[str] = []
    seen: set[bytes] = set()
    for name in table.column_names:
        if name in unread:
            values = np.array(table[name].fill_null(np.nan), np.float64).tobytes()
            if values in seen:
                continue
            seen.add(values)
        kept.append(name)
    return table.select(kept)


def read(path: Path) -> pa.Table:
    """Reads the runs of a part.

    Args:
        path: Parquet file of the part.

    Raises:
        PaperError: The file cannot be read.
    """
    try:
        table = read_table(path)
    except (OSError, pa.ArrowInvalid) as error:
        raise PaperError(f"{path}: cannot be read: {error}; reproduce the paper anew") from None
    lacking = [name for name in PLACE if name not in table.column_names]
    if lacking:
        raise PaperError(f"{path}: lacks the column {lacking[0]}; reproduce the paper anew")
    return table


def study_results(table: pa.Table, planned: Planned) -> StudyResults:
    """Returns the results of a study from the data of its part.

    Args:
        table: The runs of the part.
        planned: The study.

    Raises:
        PaperError: The data lack runs of a point.
    """
    variation = planned.variation.name if planned.variation else ""
    wanted = (planned.study.name, variation)
    of_point: dict[int, list[StoredRun]] = {}
    places = zip(*(table[name].to_pylist() for name in PLACE), strict=True)
    for row, (study, varied, point) in enumerate(places):
        if (study, varied) == wanted:
            of_point.setdefault(point, []).append(StoredRun(None, "", table.slice(row, 1)))
    return StudyResults(tuple(_points(planned, of_point)))


def _points(
    planned: Planned, of_point: Mapping[int, Sequence[StoredRun]]
) -> Iterator[PointResults]:
    for place, point in enumerate(planned.points):
        if place not in of_point:
            raise PaperError(
                f"part {planned.part.name}: the data lack study {planned.study.name} at "
                f"{point.name}; they are of another version of the paper: reproduce it anew"
            )
        scenario = pa.array([point.source.to_toml()])
        runs = (
            StoredRun(None, "", run.row.append_column("scenario", scenario))
            for run in of_point[place]
        )
        yield PointResults(point.settings, tuple(runs))


class Row(NamedTuple):
    """A drawn point."""

    panel: int
    """Number of the panel, from 1, in the order of drawing."""
    series: str
    """Label in the legend; empty for a series without one."""
    kind: str
    """`line` (lines and markers), `band` (outline of a confidence band), `bar` (ends of an error
    bar), `mark` (scattered markers), `box` (top of a bar), or `reference` (a line across the
    panel)."""
    x: float
    y: float


def numbers(figure: "Figure") -> pa.Table:
    """Returns a row per drawn point: `panel`, `series`, `kind`, `x`, `y` in the units of the axes.

    Args:
        figure: The drawn figure.
    """
    rows = [row for place, axes in enumerate(figure.axes, 1) for row in _panel(place, axes)]
    columns = zip(*rows, strict=True) if rows else [[] for _ in Row._fields]
    types = (pa.int16(), pa.string(), pa.string(), pa.float64(), pa.float64())
    arrays = [pa.array(list(values), of) for values, of in zip(columns, types, strict=True)]
    return pa.table(dict(zip(Row._fields, arrays, strict=True)))


def _panel(place: int, axes: "Axes") -> Iterator[Row]:
    for line in axes.lines:
        kind = "line" if line.get_transform() == axes.transData else "reference"
        x, y = line.get_xdata(orig=False), line.get_ydata(orig=False)
        yield from _rows(place, line.get_label(), kind, np.column_stack([x, y]))
    for collection in axes.collections:
        yield from _collection(place, collection)
    for box in axes.patches:
        if isinstance(box, Rectangle):
            centre = box.get_x() + box.get_width() / 2
            top = np.array([[centre, box.get_y() + box.get_height()]])
            yield from _rows(place, box.get_label(), "box", top)


def _collection(place: int, collection: Any) -> Iterator[Row]:
    label = collection.get_label()
    offsets = np.ma.filled(collection.get_offsets(), np.nan)
    paths = [path.vertices for path in collection.get_paths()]
    if len(offsets) and np.any(offsets):
        yield from _rows(place, label, "mark", offsets)
    elif type(collection).__name__ == "LineCollection":
        for ends in paths:
            yield from _rows(place, label, "bar", ends)
    else:
        for outline in paths:
            yield from _rows(place, label, "band", outline)


def _rows(panel: int, label: object, kind: str, points: Any) -> Iterator[Row]:
    series = str(label)
    series = "" if series.startswith("_") else " ".join(series.split())
    for x, y in points:
        yield Row(panel, series, kind, float(x), float(y))
