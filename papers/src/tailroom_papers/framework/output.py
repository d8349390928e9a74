"""The directory of a reproduced paper.

| file | content |
| --- | --- |
| tailroom-paper.json | name and form of the paper |
| store/ | every run |
| data/PART.parquet, .csv | a row per run of that part |
| data/PART-figure.parquet, .csv | the numbers of its picture |
| figure-PART.png, .svg | its picture |
| claims.json | claims, conditions, numbers and verdicts |
| report.md | the same to read, with the pictures |
| report.html | one page that needs no other file |
"""

import errno
import json
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv

from tailroom import figure_titles
from tailroom.arguments import named
from tailroom.errors import NotWrittenError, OutputDirectoryError
from tailroom.given_files import read_bytes
from tailroom.plots import style
from tailroom.quoting import quoted
from tailroom.reports.document import Drawn
from tailroom.reports.picture import render
from tailroom.statistics.intervals import Interval
from tailroom.statistics.outcome import Outcome
from tailroom.storage.store import Store
from tailroom.storage.whole_file import write_whole
from tailroom_papers.framework import data, report
from tailroom_papers.framework.check import Check, shown
from tailroom_papers.framework.claim import Claim, Judgement
from tailroom_papers.framework.data import numbers
from tailroom_papers.framework.paper import Paper, ReproducedPart, Reproduction
from tailroom_papers.framework.study import Form

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARKER = "tailroom-paper.json"
MOST_MARKER_BYTES = 10_000
"""Length of the marker."""


def check_directory(out: str | PathLike[str], paper: Paper, form: Form) -> Path:
    """Checks that a directory is new, empty, or of an earlier reproduction in the same form.

    Returns:
        Its absolute path.

    Raises:
        OutputDirectoryError: It has other content, or cannot be read.
    """
    path = Path(out).absolute()
    marker, mine = path / MARKER, _marker(paper, form)
    try:
        if not path.exists() or (path.is_dir() and not any(path.iterdir())):
            return path
        content = _text(marker) if marker.exists() else ""
    except OSError as error:
        raise OutputDirectoryError(
            f"{path}: cannot be read: {error.strerror}; choose another output directory"
        ) from None
    if not path.is_dir():
        raise OutputDirectoryError(f"{path}: is a file; choose another output directory")
    if content != mine:
        holds = f"holds {quoted(content)}" if content else "holds something else"
        raise OutputDirectoryError(
            f"{path}: {holds}, not {mine}; choose another output directory ({named('out')})"
        )
    return path


def open_directory(out: str | PathLike[str], paper: Paper, form: Form) -> tuple[Path, Store]:
    """Opens a directory that `check_directory` takes, and shows that it can be written.

    Raises:
        OutputDirectoryError: The directory has other content, or cannot be written.
    """
    path = check_directory(out, paper, form)
    try:
        path.mkdir(parents=True, exist_ok=True)
        write_whole(path / MARKER, _marker(paper, form).encode())
    except OSError as error:
        raise OutputDirectoryError(
            f"{path}: cannot be written: {error.strerror}; choose another output directory"
        ) from None
    return path, Store.create(path / "store")


def _marker(paper: Paper, form: Form) -> str:
    return json.dumps({"paper": paper.name, "form": form.value})


def _text(marker: Path) -> str:
    """Returns what a marker holds; empty if that is too long, or is no text.

    Raises:
        OSError: It cannot be read.
    """
    try:
        return read_bytes(marker, MOST_MARKER_BYTES).decode()
    except UnicodeDecodeError:
        return ""
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        return ""


def write(done: Reproduction) -> None:
    """Writes data, pictures, claims and the report; each file whole, in place of an earlier one.

    Raises:
        NotWrittenError: A file cannot be written.
    """
    place = done.directory / "data"
    try:
        place.mkdir(exist_ok=True)
    except OSError as error:
        raise NotWrittenError(error.errno, error.strerror, str(place)) from error
    pictures = {}
    for part in done.parts:
        pictures[part.part.name] = _write_part(part, done.directory)
    record = _claims(done)
    write_whole(done.directory / "claims.json", json.dumps(record, indent=2).encode())
    text = report.document(done.paper, [part.part for part in done.parts], record, pictures)
    write_whole(done.directory / "report.md", text.markdown().encode())
    write_whole(done.directory / "report.html", text.html().encode())


def _write_part(part: ReproducedPart, directory: Path) -> Drawn:
    """Writes the data and the picture of a part, and returns the picture."""
    name = part.part.name
    figure, picture = write_picture(part, directory)
    # After the picture, because drawing reads metrics too.
    for stem, table in ((name, data.runs_of(part)), (f"{name}-figure", numbers(figure))):
        _write_table(directory / "data" / f"{stem}.parquet", table)
        _write_csv(directory / "data" / f"{stem}.csv", table)
    return picture


def write_picture(part: ReproducedPart, directory: Path) -> tuple["Figure", Drawn]:
    """Draws the picture of a part, and writes it.

    Args:
        part: The part with its results.
        directory: Existing directory for the files.
    """
    figure = part.part.draw(part.results)
    if not figure_titles.are_wanted():
        figure.suptitle("")
    picture = render(figure, style.DOTS_PER_INCH)
    file = directory / report.picture_file(part.part.name)
    write_whole(file, picture.png)
    if picture.svg:
        write_whole(file.with_suffix(".svg"), picture.svg.encode())
    return figure, picture


def _write_table(path: Path, table: pa.Table) -> None:
    """Writes a small file: the tables of all papers are kept in the repository."""
    floats = [field.name for field in table.schema if pa.types.is_floating(field.type)]
    memory = pa.BufferOutputStream()
    pq.write_table(
        table,
        memory,
        compression="zstd",
        compression_level=19,
        use_dictionary=[name for name in table.column_names if name not in floats],
        use_byte_stream_split=floats,
        write_statistics=False,
        store_schema=False,
    )
    write_whole(path, memory.getvalue())


def _write_csv(path: Path, table: pa.Table) -> None:
    memory = pa.BufferOutputStream()
    csv.write_csv(table, memory)
    write_whole(path, memory.getvalue())


def _claims(done: Reproduction) -> dict[str, Any]:
    return {
        "paper": done.paper.name,
        "form": done.form.value,
        "engine": done.engine,
        "first_seed": done.paper.first_seed,
        "runs": done.runs,
        "abstract": _abstract(done),
        "bounds_committed": str(done.paper.bounds.committed or ""),
        "parts": [part.part.name for part in done.parts],
        "claims": [
            _claim(part, claim, judgement)
            for part in done.parts
            for claim, judgement in part.judged
        ],
        "conditions": [
            _claim(part, condition, judgement)
            for part in done.parts
            for condition, judgement in part.conditions
        ],
        "variations": [
            {
                "part": part.part.name,
                "claim": varied.claim.name,
                "variation": varied.variation.name,
                "plausible": varied.variation.plausible,
                "reason": varied.variation.reason,
                "verdict": varied.judgement.verdict,
                "reversed": [
                    _flip(check, judgement)
                    for check in varied.judgement.checks
                    if check.what in varied.flips(judgement)
                ],
                "checks": [_check(check) for check in varied.judgement.checks],
            }
            for part in done.parts
            for claim, judgement in part.judged
            for varied in part.varied
            if varied.claim is claim
        ],
    }


def _abstract(done: Reproduction) -> str:
    everything = len(done.parts) == len(done.paper.parts)
    if done.paper.abstract is None or not everything:
        return ""
    return done.paper.abstract({part.part.name: part.results for part in done.parts})


def _flip(check: Check, base: Judgement) -> str:
    was = next(one for one in base.checks if one.what == check.what)
    return (
        f"{check.what}: {shown(check.measured, check.percent)}, not "
        f"{shown(was.measured, was.percent)}"
    )


def _claim(part: ReproducedPart, claim: Claim, judgement: Judgement) -> dict[str, Any]:
    return {
        "part": part.part.name,
        "claim": claim.name,
        "text": claim.text,
        "place": claim.place,
        "verdict": judgement.verdict,
        "why": judgement.explanation,
        "checks": [_check(check) for check in judgement.checks],
    }


def _check(check: Check) -> dict[str, Any]:
    measured: Any = check.measured
    if isinstance(measured, float) and not isfinite(measured):
        measured = None  # JSON has no such number.
    if isinstance(measured, Interval):
        width = measured.half_width if measured.count > 1 else None
        measured = {"mean": measured.mean, "half_width": width, "runs": measured.count}
    # A side may be a matter of yes and no.
    is_number = check.measured is not None or check.holds is Outcome.OPEN
    return {
        "what": check.what,
        "stated": check.stated,
        "here": shown(check.measured, check.percent) if is_number else "",
        "measured": measured,
        "bound": check.named.name if check.named else None,
        "adjusted_p": check.adjusted_p,
        "depends_on": list(check.depends_on),
        "holds": check.holds.value,
    }
