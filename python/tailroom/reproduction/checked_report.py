"""Judges a paper from the data beside its report, without running anything."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from tailroom.errors import PaperError
from tailroom.field_docs import with_field_docs
from tailroom.reproduction import data
from tailroom.reproduction.catalogue import parts_of
from tailroom.reproduction.form import Form
from tailroom.reproduction.judging import judge
from tailroom.reproduction.paper import Paper
from tailroom.reproduction.paper_run import results_of_parts
from tailroom.reproduction.reproduced import ReproducedPart
from tailroom.reproduction.runs import plan_parts
from tailroom.scenario.json_text import read_json


@with_field_docs
@dataclass(frozen=True)
class Recheck:
    """The verdicts that follow from the data, beside those of the report."""

    parts: tuple[ReproducedPart, ...]
    """The parts, judged from the data."""
    differences: tuple[str, ...]
    """Claims whose verdict in `claims.json` is another one: "3 ten-percent: holds in the report,
    does not hold by the data"."""


def recheck(paper: Paper, directory: str | PathLike[str]) -> Recheck:
    """Judges the claims of a paper from the data beside its report, and compares the verdicts.

    Args:
        paper: The paper.
        directory: Directory with `claims.json` and `data/`, as `reproduce` writes it.

    Raises:
        PaperError: Files are missing or damaged, or of another paper.
    """
    place = Path(directory)
    recorded = _claims(place / "claims.json")
    if recorded["paper"] != paper.name:
        raise PaperError(f"{place}: is of {recorded['paper']}, not of {paper.name}")
    form = Form(recorded["form"])
    parts = parts_of(paper, recorded["parts"])
    planned = plan_parts(paper, parts, form)
    tables = {part.name: data.read(place / "data" / f"{part.name}.parquet") for part in parts}
    studies = [data.study_results(tables[one.part.name], one) for one in planned]
    done = judge(results_of_parts(parts, form, planned, studies))
    return Recheck(done, tuple(_differences(done, recorded["claims"])))


def _claims(path: Path) -> dict[str, Any]:
    try:
        recorded = read_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise PaperError(f"{path}: cannot be read: {error}") from None
    if not _is_record(recorded):
        raise PaperError(
            f"{path}: is not the claims.json of a reproduced paper, or another version wrote it; "
            "reproduce the paper anew"
        )
    return dict(recorded)


def _is_record(recorded: object) -> bool:
    return (
        isinstance(recorded, dict)
        and isinstance(recorded.get("paper"), str)
        and recorded.get("form") in [form.value for form in Form]
        and isinstance(recorded.get("parts"), list)
        and all(isinstance(part, str) for part in recorded["parts"])
        and isinstance(recorded.get("claims"), list)
        and all(map(_is_claim, recorded["claims"]))
    )


def _is_claim(claim: object) -> bool:
    return isinstance(claim, dict) and all(
        isinstance(claim.get(key), str) for key in ("part", "claim", "verdict")
    )


def _differences(parts: tuple[ReproducedPart, ...], claims: list[dict[str, Any]]) -> list[str]:
    recorded = {(claim["part"], claim["claim"]): claim["verdict"] for claim in claims}
    found = {
        (part.part.name, claim.name): str(judgement.verdict)
        for part in parts
        for claim, judgement in part.judged
    }
    return [
        f"{part} {claim}: {recorded.get((part, claim), 'absent')} in the report, "
        f"{found.get((part, claim), 'absent')} by the data"
        for part, claim in sorted({*recorded, *found})
        if recorded.get((part, claim)) != found.get((part, claim))
    ]
