"""`tailroom vectors`: what it writes, reads, judges and refuses."""

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # comes with nbformat

import tailroom as tr
from tailroom.vectors import reading
from tests.conftest import Tailroom

VECTOR: dict[str, Any] = {
    "format": 1,
    "id": "my.vector",
    "expect": [{"quantity": "x", "value": [1, 2], "why": "Eq. 1"}],
}
RESULTS: dict[str, Any] = {"implementation": "mine", "results": {"my.vector": {"values": {"x": 3}}}}


@pytest.fixture
def written(tailroom: Tailroom, tmp_path: Path) -> Path:
    """All vectors, as files."""
    assert tailroom("vectors", "write", tmp_path / "vectors").status == 0
    return tmp_path / "vectors"


def table(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_every_file_is_valid_and_has_the_hash_of_the_index(written: Path) -> None:
    validator = Draft202012Validator(table(written / "schema.json"))
    index = table(written / "index.json")
    validator.validate(index)
    assert index["tailroom"] == tr.__version__
    entries = index["vectors"]
    files = {*written.iterdir()} - {written / "index.json", written / "schema.json"}
    assert len(entries) == len(files) > 100
    for entry in entries:
        file = written / f"{entry['id']}.json"
        assert hashlib.sha256(file.read_bytes()).hexdigest() == entry["sha256"]
        validator.validate(table(file))
        assert table(file)["id"] == entry["id"]


def test_traces_lie_next_to_the_vectors_of_senders(tailroom: Tailroom, tmp_path: Path) -> None:
    place = tmp_path / "vectors"
    ended = tailroom("vectors", "write", place, "reno", "headroom.sn5600", "--qlog")
    assert ended.output == f"6 vectors, 5 traces, index.json and schema.json are in {place}\n"
    index = table(place / "index.json")
    Draft202012Validator(table(place / "schema.json")).validate(index)
    digests = {entry["qlog"]: entry["qlog_sha256"] for entry in index["vectors"] if "qlog" in entry}
    assert {file.name for file in place.glob("*.sqlog*")} == digests.keys()
    traces = {name: gzip.decompress((place / name).read_bytes()) for name in digests}
    assert {name: hashlib.sha256(trace).hexdigest() for name, trace in traces.items()} == digests
    records = [json.loads(text) for text in traces["reno.halving.sqlog.gz"].split(b"\x1e")[1:]]
    *_, threshold = (
        one["data"]["ssthresh"] for one in records if "ssthresh" in one.get("data", ())
    )
    # RFC 5681 Eq. 4: half of 50 or 51 packets of 1460 bytes, without those that have left.
    assert 24 * 1460 <= threshold <= 25.5 * 1460


def test_tailroom_results_are_valid_and_are_judged(
    tailroom: Tailroom, written: Path, tmp_path: Path
) -> None:
    results = tmp_path / "results.json"
    results.write_text(tailroom("vectors", "run", "reno", "headroom.sn5600").output)
    Draft202012Validator(table(written / "schema.json")).validate(table(results))
    ended = tailroom("vectors", "check", written, "--against", results)
    assert ended.status == 0
    assert ended.output == (
        "42 of 42 expectations of 6 vectors are met; 187 vectors have no results\n"
    )


def test_a_miss_is_explained_and_ends_with_status_1(tailroom: Tailroom, tmp_path: Path) -> None:
    ended = check(tailroom, tmp_path, VECTOR, RESULTS)
    assert ended.status == 1
    assert ended.output.splitlines() == [
        "my.vector: x is 3; expected 1 to 2: Eq. 1",
        "0 of 1 expectations of 1 vectors are met; 0 vectors have no results",
    ]


def check(tailroom: Tailroom, place: Path, vector: object, results: object) -> Any:
    for name, content in (("vector", vector), ("results", results)):
        text = content if isinstance(content, str) else json.dumps(content)
        (place / f"{name}.json").write_text(text, encoding="utf-8")
    return tailroom("vectors", "check", place / "vector.json", "--against", place / "results.json")


def expecting(**changes: object) -> dict[str, Any]:
    [given] = VECTOR["expect"]
    kept = {key: value for key, value in {**given, **changes}.items() if value is not None}
    return {**VECTOR, "expect": [kept]}


def resulting(**given: object) -> dict[str, Any]:
    return {**RESULTS, "results": {"my.vector": given}}


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        ("[", "vector.json: line 1: is not JSON"),
        ("[" * 100_000, "vector.json: is nested too deeply for JSON"),
        ([], "vector.json: must be an object"),
        ({"format": 1}, "vector.json: has no `id`; add it"),
        ({**VECTOR, "format": 2}, "vector.json, format: must be 1"),
        ({**VECTOR, "expect": {}}, "vector.json, expect: must be an array"),
        (expecting(value=[2, 1]), "expect[0], value: must be the least and the largest value"),
        (expecting(value=[1]), "expect[0], value: must be an array of 2"),
        (expecting(value=[1, True]), "expect[0], value[1]: must be a finite number"),
        (expecting(value=[1, 10**400]), "expect[0], value[1]: must be a finite number"),
        (expecting(why=""), "expect[0], why: must be a text"),
        (expecting(event="drop"), "expect[0]: needs either `quantity` or `event`"),
        (
            expecting(event="drop", quantity=None),
            "expect[0]: has `event` but no `at`; add it",
        ),
        (
            expecting(at=[0, 1], after={"event": "drop", "number": 0.5}),
            "after, number: must be a whole number from 1",
        ),
        (expecting(att=[0, 1]), "expect[0]: `att` is not a key here"),
    ],
)
def test_a_wrong_vector_is_refused(
    tailroom: Tailroom, tmp_path: Path, vector: object, message: str
) -> None:
    ended = check(tailroom, tmp_path, vector, RESULTS)
    assert ended.status == 2
    assert message in ended.errors


@pytest.mark.parametrize(
    ("results", "message"),
    [
        ({"results": {}}, "results.json: has no `implementation`; add it"),
        ({**RESULTS, "results": {}}, "results: has none of the vectors"),
        (resulting(value={}), "my.vector: `value` is not a key here"),
        (resulting(values={"x": "3"}), "values, x: must be a finite number"),
        (resulting(events={"drop": [2, 1]}), "events, drop: must be in the order of time"),
        (resulting(samples={"x": [[2, 0], [1, 0]]}), "samples, x: must be in the order of time"),
        (resulting(samples={"x": [[2]]}), "samples, x[0]: must be an array of 2"),
        ('{"implementation": "m", "results": {"my.vector": {"values": {"x": NaN}}}}', "finite"),
    ],
)
def test_wrong_results_are_refused(
    tailroom: Tailroom, tmp_path: Path, results: object, message: str
) -> None:
    ended = check(tailroom, tmp_path, VECTOR, results)
    assert ended.status == 2
    assert message in ended.errors


def test_results_of_vectors_that_are_not_there_are_named(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    others: dict[str, object] = {name: {} for name in ("other", "a\x1b", "b", "c")}
    results = {"implementation": "mine", "results": {"my.vector": {"values": {"x": 2}}, **others}}
    ended = check(tailroom, tmp_path, VECTOR, results)
    assert ended.status == 0
    assert ended.output.splitlines() == [
        "1 of 1 expectations of 1 vectors are met; 0 vectors have no results",
        "not judged, since no vector there has this name: a\\x1b, b, c, ...",
    ]


def test_a_file_without_end_is_refused_and_a_byte_order_mark_is_not(
    tailroom: Tailroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Editors of Windows write the mark."""
    texts = [json.dumps(VECTOR), "\ufeff" + json.dumps(RESULTS)]
    monkeypatch.setattr(reading, "MOST_BYTES", max(len(text.encode()) for text in texts))
    assert check(tailroom, tmp_path, *texts).status == 1
    ended = check(tailroom, tmp_path, texts[0], texts[1] + " " * 50)
    assert ended.status == 2
    assert "results.json: has more than 0 MB of text; leave out samples" in ended.errors


def test_files_that_are_not_there_and_unknown_names_are_refused(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    missing = tmp_path / "missing.json"
    assert "cannot be read" in tailroom("vectors", "check", missing, "--against", missing).errors
    ended = tailroom("vectors", "list", "cubik")
    assert ended.status == 2
    assert "cubic" in ended.errors
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    assert tailroom("vectors", "write", tmp_path / "full").status == 2


def test_the_vectors_of_a_set_are_listed(tailroom: Tailroom) -> None:
    listed = tailroom("vectors", "list", "hystart").output
    assert "hystart.spurious-exit" in listed
    assert "reno" not in listed
