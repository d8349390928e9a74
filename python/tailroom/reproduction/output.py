"""The directory of a reproduced paper.

| file | content |
| --- | --- |
| tailroom-paper.json | name and form of the paper |
| store/ | every run |
| data/PART.parquet, .csv | a row per run of that part |
| figure-PART.png | its picture |
| claims.json | claims, numbers and verdicts |
| report.md | the same to read, with the pictures |
| report.html | one page that needs no other file |
"""

import json
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from tailroom.errors import NotWrittenError, OutputDirectoryError
from tailroom.plots import style
from tailroom.reports.drawn import drawn
from tailroom.reproduction import report
from tailroom.reproduction.claim import Check, Claim, Judgement
from tailroom.reproduction.form import Form
from tailroom.reproduction.paper import Paper
from tailroom.reproduction.reproduced import ReproducedPart, Reproduction
from tailroom.statistics.intervals import Interval
from tailroom.storage.store import Store, write_whole
from tailroom.studies.sweep_study.tables import table_of_runs

MARKER = "tailroom-paper.json"
LONG_COLUMNS = ("scenario", "summary")
"""Columns of the store that are too long for a table."""


def open_directory(out: str | PathLike[str], paper: Paper, form: Form) -> tuple[Path, Store]:
    """Opens a new directory, or the directory of an earlier reproduction of the paper in this form.

    Raises:
        OutputDirectoryError: The directory has other content, or cannot be written.
    """
    path = Path(out).absolute()
    if path.exists() and not path.is_dir():
        raise OutputDirectoryError(f"{path}: is a file; choose another output directory")
    marker = path / MARKER
    mine = json.dumps({"paper": paper.name, "form": form.value})
    try:
        if not path.exists() or (path.is_dir() and not any(path.iterdir())):
            path.mkdir(parents=True, exist_ok=True)
            write_whole(marker, mine.encode())
        content = marker.read_text(encoding="utf-8") if marker.exists() else ""
    except OSError as error:
        raise OutputDirectoryError(
            f"{path}: cannot be written: {error.strerror}; choose another output directory"
        ) from None
    if content != mine:
        holds = f"holds {content}" if content else "holds something else"
        raise OutputDirectoryError(
            f"{path}: {holds}, not {mine}; choose another output directory with --out"
        )
    return path, Store.create(path / "store")


def write(done: Reproduction) -> None:
    """Writes data, pictures, claims and the report; each file whole, in place of an earlier one.

    Raises:
        NotWrittenError: A file cannot be written.
    """
    data = done.directory / "data"
    try:
        data.mkdir(exist_ok=True)
    except OSError as error:
        raise NotWrittenError(error.errno, error.strerror, str(data)) from error
    pictures = {}
    for part in done.parts:
        name = part.part.name
        table = _runs(part)
        _write_table(data / f"{name}.parquet", table)
        _write_csv(data / f"{name}.csv", table)
        pictures[name] = drawn(part.part.draw(part.results), style.DOTS_PER_INCH)
        write_whole(done.directory / report.picture_file(name), pictures[name].png)
    claims = [
        _claim(part, claim, judgement) for part in done.parts for claim, judgement in part.judged
    ]
    write_whole(done.directory / "claims.json", json.dumps(claims, indent=2).encode())
    text = report.document(done, pictures)
    write_whole(done.directory / "report.md", text.markdown().encode())
    write_whole(done.directory / "report.html", text.html().encode())


def _runs(part: ReproducedPart) -> pa.Table:
    """One row per run, with the name of its study first."""
    tables = []
    for name, study in part.results.studies.items():
        finished = [(point.settings, run.row) for point in study.points for run in point.runs]
        table = table_of_runs(list(study.points[0].settings), finished)
        table = table.drop_columns(list(LONG_COLUMNS))
        tables.append(table.add_column(0, "study", pa.array([name] * table.num_rows)))
    return pa.concat_tables(tables, promote_options="permissive")


def _write_table(path: Path, table: pa.Table) -> None:
    memory = pa.BufferOutputStream()
    pq.write_table(table, memory, compression="zstd")
    write_whole(path, memory.getvalue())


def _write_csv(path: Path, table: pa.Table) -> None:
    memory = pa.BufferOutputStream()
    csv.write_csv(table, memory)
    write_whole(path, memory.getvalue())


def _claim(part: ReproducedPart, claim: Claim, judgement: Judgement) -> dict[str, Any]:
    return {
        "part": part.part.name,
        "claim": claim.name,
        "text": claim.text,
        "place": claim.place,
        "verdict": judgement.verdict,
        "why": judgement.why,
        "checks": [_check(check) for check in judgement.checks],
    }


def _check(check: Check) -> dict[str, Any]:
    measured: Any = check.measured
    if isinstance(measured, float) and not isfinite(measured):
        measured = None  # JSON has no such number.
    if isinstance(measured, Interval):
        width = measured.half_width if measured.count > 1 else None
        measured = {"mean": measured.mean, "half_width": width, "runs": measured.count}
    return {
        "what": check.what,
        "stated": check.stated,
        "measured": measured,
        "holds": check.holds,
    }
