"""Judges a paper from the data next to its claims, and writes its report, without any run."""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from tailroom.arguments import named
from tailroom.field_docs import with_field_docs
from tailroom.given_files import read_bytes
from tailroom.quoting import quoted
from tailroom.reports.document import Drawn
from tailroom.scenario.json_text import read_json
from tailroom_papers.framework import data, output, report
from tailroom_papers.framework.catalogue import parts_of
from tailroom_papers.framework.judging import judge
from tailroom_papers.framework.paper import Paper, PaperError, ReproducedPart
from tailroom_papers.framework.plan import plan_parts
from tailroom_papers.framework.results import NotInDataError
from tailroom_papers.framework.run import results_of_parts
from tailroom_papers.framework.study import Form

KEYS = {
    *("paper", "form", "engine", "first_seed", "runs", "abstract"),
    *("parts", "claims", "conditions", "variations"),
}
"""Keys of `claims.json` that verdicts and report need."""
MOST_BYTES = 20_000_000
"""Length of `claims.json`."""
MOST_PICTURE_BYTES = 10_000_000
"""Length of a picture; those in the repository have 180 kB."""
PNG = b"\x89PNG\r\n\x1a\n"
"""How each file of this kind begins."""


@with_field_docs
@dataclass(frozen=True)
class Recheck:
    """The verdicts that follow from the data, with those of the report."""

    parts: tuple[ReproducedPart, ...]
    """The parts, judged from the data."""
    differences: tuple[str, ...]
    """Claims whose verdict in `claims.json` is another one, alone or with a variation: "3
    ten-percent: holds in the report, does not hold by the data"."""


def recheck(
    paper: Paper, directory: str | PathLike[str], figures: Sequence[str] | None = None
) -> Recheck:
    """Judges the claims of a paper from the data next to its report, and compares the verdicts.

    Args:
        paper: The paper.
        directory: Directory with `claims.json` and `data/`, as `reproduce` writes it.
        figures: Names of the only parts that are returned and compared; all those of the report if
            left out. A verdict depends on the tests of all.

    Raises:
        PaperError: Files are missing or damaged, or of another paper, or the report lacks a part.
    """
    place = Path(directory)
    recorded = read_claims(paper, place)
    form = Form(recorded["form"])
    parts = parts_of(paper, recorded["parts"])
    planned = plan_parts(paper, parts, form)
    tables = {part.name: data.read(place / "data" / f"{part.name}.parquet") for part in parts}
    studies = [data.study_results(tables[one.part.name], one) for one in planned]
    done = judge(results_of_parts(parts, form, planned, studies))
    if figures is None:
        return Recheck(done, tuple(_differences(done, recorded)))
    if absent := [name for name in figures if name not in recorded["parts"]]:
        raise PaperError(f"{directory}: its report has no figure {quoted(absent[0])}")
    wanted = tuple(one for one in done if one.part.name in figures)
    of_wanted = {
        key: [entry for entry in recorded[key] if entry["part"] in figures]
        for key in ("claims", "variations")
    }
    return Recheck(wanted, tuple(_differences(wanted, {**recorded, **of_wanted})))


def write_report(paper: Paper, directory: str | PathLike[str], out: str | PathLike[str]) -> None:
    """Writes the report of a reproduction from its claims and pictures.

    Args:
        paper: The paper.
        directory: Directory with `claims.json` and the pictures, as `reproduce` writes it.
        out: Existing directory for `report.md`, `report.html` and copies of the pictures.

    Raises:
        PaperError: Files are missing or damaged, or of another paper.
    """
    place, target = Path(directory), Path(out)
    recorded = read_claims(paper, place)
    parts = parts_of(paper, recorded["parts"])
    pictures = {part.name: _picture(place / report.picture_file(part.name)) for part in parts}
    for name, picture in pictures.items():
        (target / report.picture_file(name)).write_bytes(picture.png)
    text = report.document(paper, parts, recorded, pictures)
    (target / "report.md").write_text(text.markdown(), encoding="utf-8")
    (target / "report.html").write_text(text.html(), encoding="utf-8")


def draw_again(parts: Sequence[ReproducedPart], out: str | PathLike[str]) -> None:
    """Draws the pictures of parts from the data next to a report.

    Args:
        parts: Parts that `recheck` returned.
        out: Existing directory for the pictures.

    Raises:
        PaperError: The picture of a part needs more than these data.
    """
    for part in parts:
        try:
            output.write_picture(part, Path(out))
        except NotInDataError as error:
            name = part.part.name
            raise PaperError(
                f"figure {name}: its picture needs more of the runs than the data next to a report "
                f"have; reproduce it: {named('figure')} {name} without {named('check')}"
            ) from error


def _picture(path: Path) -> Drawn:
    try:
        png = read_bytes(path, MOST_PICTURE_BYTES)
    except OSError as error:
        raise PaperError(f"{path}: cannot be read: {error}") from None
    if not png.startswith(PNG):
        raise PaperError(f"{path}: is not a picture (PNG); reproduce the paper anew")
    return Drawn(png, "")


def read_claims(paper: Paper, directory: Path) -> dict[str, Any]:
    """Reads the claims of a reproduced paper.

    Args:
        paper: The paper.
        directory: Directory with `claims.json`.

    Raises:
        PaperError: The file is missing or damaged, or of another paper.
    """
    path = directory / "claims.json"
    try:
        recorded = read_json(read_bytes(path, MOST_BYTES).decode())
    except (OSError, ValueError) as error:
        raise PaperError(f"{path}: cannot be read: {error}") from None
    if not _is_record(recorded):
        raise PaperError(
            f"{path}: is not the claims.json of a reproduced paper, or another version wrote it; "
            "reproduce the paper anew"
        )
    if recorded["paper"] != paper.name:
        raise PaperError(f"{directory}: is of {quoted(recorded['paper'])}, not of {paper.name}")
    return dict(recorded)


def _is_record(recorded: object) -> bool:
    return (
        isinstance(recorded, dict)
        and recorded.keys() >= KEYS
        and isinstance(recorded["paper"], str)
        and recorded["form"] in [form.value for form in Form]
        and isinstance(recorded["parts"], list)
        and all(isinstance(part, str) for part in recorded["parts"])
        and all(isinstance(recorded[key], list) for key in ("claims", "variations"))
        and all(map(_is_claim, [*recorded["claims"], *recorded["variations"]]))
    )


def _is_claim(claim: object) -> bool:
    return isinstance(claim, dict) and all(
        isinstance(claim.get(key), str) for key in ("part", "claim", "verdict")
    )


def _differences(parts: Sequence[ReproducedPart], recorded: report.Record) -> list[str]:
    of_report = {
        _name(entry["part"], entry["claim"], entry.get("variation")): entry["verdict"]
        for entry in (*recorded["claims"], *recorded["variations"])
    }
    of_data = {}
    for part in parts:
        for claim, judgement in part.judged:
            of_data[_name(part.part.name, claim.name)] = str(judgement.verdict)
        for one in part.varied:
            name = _name(part.part.name, one.claim.name, one.variation.name)
            of_data[name] = str(one.judgement.verdict)
    return [
        f"{' '.join(map(quoted, name))}: {quoted(of_report.get(name, 'absent'))} in the report, "
        f"{of_data.get(name, 'absent')} by the data"
        for name in sorted({*of_report, *of_data})
        if of_report.get(name) != of_data.get(name)
    ]


def _name(part: str, claim: str, variation: str | None = None) -> tuple[str, ...]:
    return (part, claim, *([f"with {variation}"] if variation else []))
