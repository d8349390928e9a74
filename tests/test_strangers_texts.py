"""Texts in files of other people: a message or a table repeats little of them, and nothing acts."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import tailroom as tr
from tailroom.buffer_atlas import data
from tailroom.measurements.import_measurement import import_measurement
from tailroom.parquet_files import read_table, write_table
from tailroom.quoting import LONGEST_QUOTE
from tailroom.simulation.action_log import ActionLog
from tailroom.vectors.sets import all_vectors
from tailroom_papers import framework
from tailroom_papers.framework.checked_report import _differences
from tests.conftest import Tailroom

LONG = "xyzzy\x1b[31m\n" + "xyzzy" * 500
QUOTE = re.escape(r"xyzzy\x1b[31m")
SAMPLE = Path(__file__).parent / "measurements" / "simulated.flent.gz"


def check(text: str) -> None:
    """Checks that a text has the beginning of the long one, and at no place more than a quote."""
    assert re.search(QUOTE, text), text
    assert "\x1b" not in text
    assert not re.search(rf"[xyz]{{{LONGEST_QUOTE + 1},}}", text), text
    assert "\nxyz" not in text


def saved(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def judged(tailroom: Tailroom, place: Path, vector: object, results: object) -> str:
    (place / "vectors").mkdir()
    saved(place / "vectors" / "one.json", vector)
    given = {"implementation": "mine", "results": results}
    against = saved(place / "results.json", given)
    ended = tailroom("vectors", "check", place / "vectors", "--against", against)
    assert ended.status in (1, 2)
    return ended.output + ended.errors


VALUE: dict[str, Any] = {"value": [1, 2], "why": "Eq. 1"}
TIMED = {**VALUE, "at": [0, 1]}
AFTER = {"event": LONG, "number": 2}
VECTORS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "why": ({**VALUE, "quantity": "x", "why": LONG}, {"values": {"x": 3}}),
    "value": ({**VALUE, "quantity": LONG}, {"values": {LONG: 3}}),
    "no value": ({**VALUE, "quantity": LONG}, {}),
    "sample": ({**TIMED, "quantity": LONG}, {"samples": {LONG: [[0, 3]]}}),
    "no sample": ({**TIMED, "quantity": LONG}, {}),
    "no sample yet": ({**TIMED, "quantity": LONG}, {"samples": {LONG: [[2, 3]]}}),
    "event": ({**TIMED, "event": LONG}, {"events": {LONG: []}}),
    "no event": ({**TIMED, "event": LONG}, {}),
    "after none": ({**TIMED, "quantity": "x", "after": AFTER}, {}),
    "after too few": ({**TIMED, "quantity": "x", "after": AFTER}, {"events": {LONG: []}}),
    "origin": (
        {**TIMED, "quantity": "x", "after": AFTER},
        {"events": {LONG: [0, 1]}, "samples": {"x": [[0, 3]]}},
    ),
}


@pytest.mark.parametrize("name", VECTORS)
def test_texts_of_a_vector(tailroom: Tailroom, tmp_path: Path, name: str) -> None:
    expected, results = VECTORS[name]
    vector = {"format": 1, "id": "my.vector", "expect": [expected]}
    check(judged(tailroom, tmp_path, vector, {"my.vector": results}))


@pytest.mark.parametrize("results", [{LONG: {}}, {"none": {}}], ids=["a miss", "of no vector"])
def test_names_of_vectors(tailroom: Tailroom, tmp_path: Path, results: dict[str, Any]) -> None:
    vector = {"format": 1, "id": LONG, "expect": [{**VALUE, "quantity": "x"}]}
    check(judged(tailroom, tmp_path, vector, results))


def test_reasons_of_tailroom_itself_are_whole(tailroom: Tailroom, tmp_path: Path) -> None:
    why = max((one.why for vector in all_vectors() for one in vector.expect), key=len)
    assert len(why) > LONGEST_QUOTE
    vector = {"format": 1, "id": "v", "expect": [{**VALUE, "quantity": "x", "why": why}]}
    assert why in judged(tailroom, tmp_path, vector, {"v": {"values": {"x": 3}}})


def test_names_in_measurements(tailroom: Tailroom, tmp_path: Path) -> None:
    document = json.loads(gzip.decompress(SAMPLE.read_bytes()))
    document["metadata"]["NAME"] = LONG
    path = saved(tmp_path / "long.flent", document)
    check(tailroom("compare", "--measured", path).output.replace("\n", " "))
    check(import_measurement(path).tool)


def test_names_of_profiles(tailroom: Tailroom, tmp_path: Path) -> None:
    row = {"size": "19456", "xon": "19456", "xoff": "49152"}
    profiles = {"pg_lossless_100000_40m_profile": row, LONG: row}
    path = saved(tmp_path / "config_db.json", {"BUFFER_PROFILE": profiles})
    check(tailroom("headroom", "--check", path).output)


CLAIMS: dict[str, Any] = dict.fromkeys(("engine", "first_seed", "runs", "abstract"), "") | {
    "form": "quick",
    **{name: [] for name in ("parts", "claims", "conditions", "variations")},
}


@pytest.mark.parametrize("changes", [{"paper": LONG}, {"paper": "barman-2004", "parts": [LONG]}])
def test_names_in_claims_of_papers(
    tailroom: Tailroom, tmp_path: Path, changes: dict[str, Any]
) -> None:
    saved(tmp_path / "claims.json", {**CLAIMS, **changes})
    check(tailroom("papers", "run", "barman-2004", "--check", tmp_path).errors)


@pytest.mark.parametrize("key", ["part", "claim", "variation", "verdict"])
def test_verdicts_of_papers(key: str) -> None:
    claim = {"part": "1", "claim": "full", "variation": "other", "verdict": "holds", key: LONG}
    (difference,) = _differences((), {**CLAIMS, "claims": [claim]})
    check(difference)


def test_the_place_of_another_paper(tmp_path: Path) -> None:
    (tmp_path / "tailroom-paper.json").write_text(LONG, encoding="utf-8")
    paper = framework.load("barman-2004")
    with pytest.raises(tr.OutputDirectoryError) as refused:
        framework.reproduce(paper, tmp_path)
    check(str(refused.value))


def test_cells_of_an_atlas(shipped_atlas: Path) -> None:
    path = shipped_atlas / data.ANSWERS
    table = read_table(path)
    wrong = [{**row, "cell": LONG, "rate_bps": 0.0} for row in table.to_pylist()]
    path.unlink()
    write_table(pa.Table.from_pylist(wrong, table.schema), path)
    with pytest.raises(tr.StoreError) as refused:
        data.read(shipped_atlas)
    check(str(refused.value))


def test_values_of_the_lookup(shipped_atlas: Path) -> None:
    path = shipped_atlas / data.LOOKUP
    head, first, *rest = path.read_text(encoding="utf-8").splitlines()
    cell, _, *values = first.split(",")
    wrong = ",".join([cell, LONG.replace("\n", ""), *values])
    path.write_text("\n".join([head, wrong, *rest]), encoding="utf-8")
    with pytest.raises(tr.StoreError) as refused:
        data.read_lookup(shipped_atlas)
    check(str(refused.value))


def test_keys_of_a_log_of_actions() -> None:
    with pytest.raises(ValueError, match=r"not a log") as refused:
        ActionLog.from_dict({"actions": [{LONG: 1}]})
    assert len(str(refused.value)) < LONGEST_QUOTE + 30
    assert "\x1b" not in str(refused.value)
