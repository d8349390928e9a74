"""Stores that another version of tailroom, another program or another machine has written into."""

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pytest

import tailroom as tr
from tailroom.execution import batch
from tailroom.storage import run_files, run_index
from tailroom.storage.store import MARKER
from tailroom.studies.stored_warnings import warnings_of
from tailroom_papers.framework.results import StoredRun
from tests.conftest import Tailroom
from tests.killed_sweeps import write_scenario

RUNS = 2
Change = Callable[[pa.Table], pa.Table]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one sweep of two runs in a file each, which tests leave as it is."""
    directory = tmp_path_factory.mktemp("whole")
    with mock.patch.object(batch, "EVERY_S", 0.0):
        result = tr.sweep(
            write_scenario(directory), store=directory / "store", seeds=RUNS, series=True
        )
    return result.store.directory


@pytest.fixture
def place(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "store"))


def first_run(place: Path) -> Path:
    return min((place / "runs").iterdir())


def with_summary(text: str) -> Change:
    return lambda row: row.set_column(
        row.column_names.index("summary"), "summary", pa.array([text])
    )


def rewrite(place: Path, change: Change, path: Path | None = None) -> Path:
    """Replaces a file, the first one if left out, by a changed one whose name is right."""
    path = path or first_run(place)
    row = run_files.rows_in(path.read_bytes(), path.stem)
    assert row is not None
    path.unlink()
    tables = run_files.further_tables(run_files.tables_text(row))
    return path.with_stem(run_files.write(path.parent, change(row), tables))


def key_of(path: Path) -> str:
    row = run_files.rows_in(path.read_bytes(), path.stem)
    assert row is not None
    return str(row["key"][0])


def retyped(name: str, values: pa.Array) -> Change:
    return lambda row: row.set_column(row.column_names.index(name), name, values)


NO_ROWS: dict[str, Change] = {
    "no key": lambda row: row.drop_columns(["key"]),
    "no summary": lambda row: row.drop_columns(["summary"]),
    "a run twice": lambda row: pa.concat_tables([row, row]),
    "no row": lambda row: row.slice(0, 0),
    "a key that is a path": retyped("key", pa.array(["../x"])),
    "a column twice": lambda row: row.append_column("seed", pa.array([1])),
    "a metric in words": retyped("links.bottleneck.utilization", pa.array(["high"])),
    "a seed with a fraction": retyped("seed", pa.array([1.5])),
    "a table in a column": lambda row: row.append_column("links.x", pa.array([{"a": 1}])),
}


@pytest.mark.parametrize("name", NO_ROWS)
def test_a_row_of_other_columns_is_named_and_left_out(
    tailroom: Tailroom, place: Path, name: str
) -> None:
    path = rewrite(place, NO_ROWS[name])
    for query in (["--sweep", "random"], ["--sql", "select count(*) from runs"]):
        ended = tailroom("results", place, *query)
        assert ended.status == 0, ended.errors
        assert f"warning: {path} is damaged and was left out" in ended.errors
    assert len(tr.Store(place).runs()) == RUNS - 1


def test_metrics_that_another_version_has_or_lacks_change_nothing(place: Path) -> None:
    rewrite(place, lambda row: row.append_column("metric_of_tomorrow", pa.array([1.0])))
    rewrite(place, lambda row: row.drop_columns(["links.bottleneck.utilization"]))
    assert len(tr.Store(place).runs()) == len(tr.Store(place).columns().keys) == RUNS


def with_a_warning_in_words(row: pa.Table) -> pa.Table:
    summary = json.loads(row["summary"][0].as_py())
    return with_summary(json.dumps({**summary, "warnings": ["too short"]}))(row)


@pytest.mark.parametrize(
    "change",
    [with_a_warning_in_words, *map(with_summary, ("{", "[" * 100_000, "[]", "{}"))],
    ids=["in words", "no JSON", "deep", "a list", "empty"],
)
def test_a_summary_of_another_version_is_a_warning(place: Path, change: Change) -> None:
    key = key_of(rewrite(place, change))
    opened = tr.Store(place)
    found = tr.SweepResult(opened, replace(opened.sweeps()[0], points=[point_of(key)]))
    assert [one["kind"] for one in found.warnings] == ["stored_by_another_version"]
    assert found.warm_up_too_short == []
    right = opened.columns().keys - {key}
    assert [one["kind"] for one in warnings_of(opened, right)] == ["few_reductions"]


def without_a_key(row: pa.Table) -> pa.Table:
    summary = json.loads(row["summary"][0].as_py())
    del summary["measured_from_s"]
    return with_summary(json.dumps(summary))(row)


def test_a_summary_that_lacks_a_key_is_refused_where_it_is_needed(
    place: Path, tmp_path: Path
) -> None:
    for path in list((place / "runs").iterdir()):
        rewrite(place, without_a_key, path)
    opened = tr.Store(place)
    scenario = write_scenario(tmp_path)
    with pytest.raises(tr.StoreError, match=r"Another version .* stored the run .* give another"):
        tr.choices(scenario, seeds=RUNS, store=place)
    key = key_of(first_run(place))
    with pytest.raises(tr.StoreError, match=key):
        StoredRun(opened, key, opened.read(key)).summary  # noqa: B018 - it reads


def point_of(key: str) -> dict[str, object]:
    return {"settings": {}, "runs": [key]}


FOREIGN = ("._{}", "{} (conflicted copy)", "{}~", "", "\udcff", "a" * 200)
"""Names that file managers and services that synchronise directories give to files of theirs."""


@pytest.mark.parametrize("name", FOREIGN)
def test_files_of_other_programs_are_left_alone(
    tailroom: Tailroom, place: Path, tmp_path: Path, name: str
) -> None:
    path = place / "runs" / f"{name.format(first_run(place).stem)}.parquet"
    path.write_bytes(b"foreign")
    for query in (["--sweep", "random"], ["--sql", "select count(*) from runs"]):
        ended = tailroom("results", place, *query)
        assert (ended.status, ended.errors) == (0, "")
    opened = tr.Store(place)
    assert len(opened.runs()) == len(opened.columns().keys) == RUNS
    assert path.read_bytes() == b"foreign"


def test_links_that_lead_nowhere_are_no_runs(place: Path) -> None:
    for name in ("circle", "nowhere"):
        path = place / "runs" / f"{hashlib.sha256(name.encode()).hexdigest()}.parquet"
        path.symlink_to(path.name if name == "circle" else place / "gone")
    assert len(tr.Store(place).columns().keys) == RUNS
    assert len(tr.Store(place).runs()) == RUNS


def test_runs_that_are_no_directory_are_refused(tailroom: Tailroom, place: Path) -> None:
    shutil.rmtree(place / "runs")
    (place / "runs").write_bytes(b"")
    ended = tailroom("results", place, "--sql", "select count(*) from runs")
    assert ended.status == 2
    assert f"{place / 'runs'}: cannot be read: Not a directory; give" in ended.errors


@pytest.mark.parametrize("text", ["[" * 100_000, "", "[1]", '{"format": 0}', '{"format": true}'])
def test_a_marker_that_cannot_be_read_is_refused(
    tailroom: Tailroom, place: Path, text: str
) -> None:
    (place / MARKER).write_text(text, encoding="utf-8")
    ended = tailroom("results", place)
    assert ended.status == 2
    assert f"{place / MARKER}: is damaged; if this is a store, write" in ended.errors


def test_an_index_of_another_version_is_written_anew(place: Path) -> None:
    table = pa.table({"id": [1]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    for content in (b"no arrow", sink.getvalue().to_pybytes()):
        digest = hashlib.sha256(content).hexdigest().encode()
        (place / run_index.FILE).write_bytes(run_index.MAGIC + digest + b"\n" + content)
        assert len(tr.Store(place).columns().keys) == RUNS


def test_a_result_whose_summary_is_nested_too_deeply_is_refused(
    tmp_path: Path, small: Path
) -> None:
    tr.run(small).save(tmp_path / "result")
    (tmp_path / "result" / "summary.json").write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(tr.ArgumentError, match="nested too deeply"):
        tr.load(tmp_path / "result")
