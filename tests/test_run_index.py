"""The index of a store: it answers what the files of the runs answer, whatever happens to it."""

import json
import os
import tracemalloc
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tailroom as tr
from tailroom.execution import batch
from tailroom.execution.point import Point
from tailroom.execution.progress import RunProgress
from tailroom.execution.runner import Runner
from tailroom.scenario.scenario import Scenario
from tailroom.storage import plain_tables, run_directory, run_index
from tailroom.storage.run import Run
from tailroom.storage.run_index import RunIndex, StoredRow, without_texts
from tailroom.studies.sweep_study.query import query
from tailroom.studies.sweep_study.tables import all_runs
from tests.conftest import SMALL, Tailroom
from tests.killed_sweeps import GRID, write_scenario

LIMIT = "links.bottleneck.queue.limit"
TWO_LINKS = SMALL + (
    '[links.second]\nrate = "9 Mbit/s"\ndelay = "1 ms"\n'
    'queue = { kind = "drop_tail", limit = "9 packets" }\n'
    '[flows.other]\npath = ["bottleneck", "second"]\nrtt = "30 ms"\ncongestion = "cubic"\n'
)


@pytest.fixture(autouse=True)
def indexed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small stores get an index too, and a file for each run."""
    monkeypatch.setattr(run_directory, "WORTH_INDEXING", 1)
    monkeypatch.setattr(batch, "EVERY_S", 0.0)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A store with runs of two scenarios that have other columns, and an index."""
    place = tmp_path / "store"
    other = tmp_path / "two.toml"
    other.write_text(TWO_LINKS, encoding="utf-8")
    tr.sweep(write_scenario(tmp_path), store=place, grid=GRID, seeds=2)
    tr.sweep(other, store=place, seeds=2)
    tr.Store(place).columns()
    assert (place / run_index.FILE).exists()
    return place


def file_of(place: Path, key: str) -> Path:
    """The file with the row of a run."""
    return place / "runs" / f"{tr.Store(place).columns().files_of(key)[0]}.parquet"


def from_files(place: Path) -> pa.Table:
    return without_texts(tr.Store(place).runs())


def from_index(place: Path) -> pa.Table:
    index = tr.Store(place).columns()
    return index.rows(sorted(index.keys))


def means(place: Path) -> list[tuple[str, list[dict[str, object]]]]:
    opened = tr.Store(place)
    return [
        (one.id, tr.SweepResult(opened, one).means("bottleneck.utilization").to_pylist())
        for one in opened.sweeps()
    ]


def test_the_index_has_what_the_files_have(place: Path) -> None:
    rows = from_index(place)
    assert rows.num_rows == 10
    assert rows.equals(from_files(place))
    opened = tr.Store(place)
    index = opened.columns()
    for key in index.keys:
        row = opened.read(key)
        assert row is not None
        assert index.row(key).table.equals(without_texts(row))


def test_with_an_index_no_file_of_a_run_is_read(
    place: Path, monkeypatch: pytest.MonkeyPatch, tailroom: Tailroom, tmp_path: Path
) -> None:
    before = means(place)

    def refused(_: tr.Store, part: str, _name: str, **_options: bool) -> None:
        assert part != "runs", "a file of runs was read"

    monkeypatch.setattr(tr.Store, "_read", refused)
    assert means(place) == before
    sweep = tr.Store(place).sweeps()[0].id
    for more in ((), ("--sweep", sweep, "--metric", "utilization")):
        assert tailroom("results", place, *more).status == 0
    assert tailroom("results", place, "--out", tmp_path / "runs.csv").status == 0
    # And a sweep finds its runs without reading them.
    with Runner.open(place, in_processes=False) as runner:
        point = Point.of(Scenario.of(tmp_path / "random.toml"), {LIMIT: "5 packets"})
        told: list[RunProgress] = []
        runner.complete([point], 2, progress=told.append)
    assert told == [RunProgress(2, 2, found=2)]


def test_the_points_of_a_sweep_need_one_file_each_for_their_warnings(
    place: Path, monkeypatch: pytest.MonkeyPatch, tailroom: Tailroom
) -> None:
    tr.Store(place).columns()
    read: list[str] = []
    whole = tr.Store._read

    def noted(store: tr.Store, part: str, name: str, **options: bool) -> object:
        if part == "runs":
            read.append(name)
        return whole(store, part, name, **options)

    monkeypatch.setattr(tr.Store, "_read", noted)
    sweep = tr.Store(place).sweeps()[0]
    assert tailroom("results", place, "--sweep", sweep.id).status == 0
    assert read == [file_of(place, point["runs"][0]).stem for point in sweep.points]


def test_a_damaged_index_is_written_anew(place: Path) -> None:
    file = place / run_index.FILE
    whole = file.read_bytes()
    right = means(place)
    for damaged in (b"", whole[:-1], whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:], b"x"):
        file.write_bytes(damaged)
        assert means(place) == right
        assert RunIndex.from_bytes(file.read_bytes()).files.keys() == {
            one.stem for one in (place / "runs").iterdir()
        }


def signed(content: bytes) -> bytes:
    """An index file, as somebody else may make one."""
    return content + run_index.MAGIC + sha256(content).hexdigest().encode() + b"\n"


def parts_of(file: Path) -> tuple[list[Any], bytes]:
    """The head and the body of an index file."""
    head, _, rest = file.read_bytes().partition(b"\n")
    return json.loads(head), rest[: -run_index.LAST_LINE_BYTES]


Head = list[Any]
ROWS_OF_BOMB = 40_000
NAMES_OF_BOMB = [f"links.x{place}" for place in range(3_200)]
BYTES_OF_BOMB = bytes(8 * ROWS_OF_BOMB)
"""The numbers of a column: 320 kB. All columns have a gigabyte."""
NONE = [False] * len(NAMES_OF_BOMB)
BOMBS: dict[str, Head] = {
    "many columns": [[ROWS_OF_BOMB, NAMES_OF_BOMB, NONE]],
    "many tables": [[ROWS_OF_BOMB, [name], [False]] for name in NAMES_OF_BOMB],
    "many rows": [[10**9, ["links.x"], [False]]],
    "more rows than a number has": [[10**30, ["links.x"], [True]]],
    "fewer rows than none": [[-1, ["links.x"], [False]]],
}


@pytest.mark.parametrize("name", BOMBS)
def test_an_index_that_declares_more_than_it_has_is_made_anew(place: Path, name: str) -> None:
    """Columns of Arrow's own format may share bytes: a file of 300 kB had a table of 1 GB."""
    right = means(place)
    head, body = parts_of(place / run_index.FILE)
    line = json.dumps(BOMBS[name] + head).encode() + b"\n"
    (place / run_index.FILE).write_bytes(signed(line + BYTES_OF_BOMB + body))
    before = pa.total_allocated_bytes()
    tracemalloc.start()
    assert means(place) == right
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most + pa.total_allocated_bytes() - before < 32_000_000
    assert parts_of(place / run_index.FILE)[0] == head


def test_texts_that_share_bytes_count_as_damaged() -> None:
    """The text of every other row would be all bytes of the column."""
    length = 80_000
    ends = np.array([0, length] * 500, np.int32).tobytes()
    head = json.dumps([[999, ["title"], [False]]]).encode() + b"\n"
    with pytest.raises(ValueError, match=r"[Oo]ffset"):
        plain_tables.from_bytes(head + ends + b"x" * length, run_index._type_of)


def _changed(part: int, change: Callable[[Any], object]) -> Callable[[Head], object]:
    """A head whose first table has a changed part."""
    return lambda head: [[*head[0][:part], change(head[0][part]), *head[0][part + 1 :]], *head[1:]]


WRONG: dict[str, Callable[[Head], object]] = {
    "no table": lambda _: [[]],
    "no list": lambda _: {"rows": 1},
    "a text": lambda _: "rows",
    "a number": lambda _: 1,
    "half a row": _changed(0, lambda rows: rows + 0.5),
    "a row too many": _changed(0, lambda rows: rows + 1),
    "no key": _changed(1, lambda names: ["title", *names[1:]]),
    "a number as a name": _changed(1, lambda names: [*names[:-1], 1]),
    "a name too few": _changed(1, lambda names: names[1:]),
    "keys that are missing": _changed(2, lambda has: [True, *has[1:]]),
    "no word of the bitmaps": _changed(2, lambda _: None),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_index_with_another_head_counts_as_damaged(place: Path, name: str) -> None:
    head, body = parts_of(place / run_index.FILE)
    for wrong, count in ((head, len(head)), (WRONG[name](head), 0)):
        line = json.dumps(wrong).encode()
        assert len(RunIndex.from_bytes(signed(line + b"\n" + body)).tables) == count


@settings(max_examples=1_000, deadline=None)
@given(st.data())
def test_whatever_an_index_says_no_more_is_read_than_it_has(data: st.DataObject) -> None:
    names = st.sampled_from(["key", "seed", *run_index.OF_FILES, "links.a", "links.b"])
    columns = data.draw(st.lists(st.lists(names, max_size=5), max_size=3))
    head = [
        [data.draw(st.integers(-1, 9)), own, data.draw(st.lists(st.booleans(), max_size=5))]
        for own in columns
    ]
    small = st.sampled_from([0, 0, 0, 1, 2, 8, 255])
    content = json.dumps(head).encode() + b"\n" + bytes(data.draw(st.lists(small, max_size=300)))
    try:
        tables = plain_tables.from_bytes(content, run_index._type_of)
    except (KeyError, TypeError, ValueError):
        return
    assert sum(table.nbytes for table in tables) <= len(content)
    assert all(len(table.to_pylist()) == table.num_rows for table in tables)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_tables_are_read_as_they_were_written(data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, 20))

    def column(values: st.SearchStrategy[Any], kind: pa.DataType) -> pa.Array:
        return pa.array(data.draw(st.lists(values, min_size=rows, max_size=rows)), kind)

    texts, numbers = st.text(max_size=3), st.floats(allow_nan=False)
    whole = pa.table(
        {
            "key": column(texts, pa.string()),
            "title": column(st.none() | texts, pa.string()),
            "seed": column(st.none() | st.integers(-(2**63), 2**63 - 1), pa.int64()),
            "links.a": column(st.none() | numbers, pa.float64()),
            "links.b": column(numbers, pa.float64()),
        }
    )
    start = data.draw(st.integers(0, rows - 1))
    part = whole.slice(start, data.draw(st.integers(1, rows)))
    together = pa.concat_tables([part, whole])
    for tables in ([part], [whole, part], [together]):
        content = plain_tables.to_bytes(tables)
        read = plain_tables.from_bytes(content, run_index._type_of)
        assert all(one.equals(other) for one, other in zip(read, tables, strict=True))


def test_an_index_names_no_file_outside_the_store(place: Path, tmp_path: Path) -> None:
    """A file that is not the one of its name counts as damaged, and such files are removed."""
    outside = tmp_path / f"{'x' * 58}.parquet"
    outside.write_bytes(b"mine")
    key = next(iter(tr.Store(place).columns().keys))
    name = file_of(place, key).stem
    other = f"../../{outside.stem}"
    file = place / run_index.FILE
    content = file.read_bytes()[: -run_index.LAST_LINE_BYTES]
    assert len(other) == len(name)
    assert name.encode() in content
    file.write_bytes(signed(content.replace(name.encode(), other.encode())))
    opened = tr.Store(place)
    found = opened.read(key)
    opened.remove_damaged()
    assert outside.read_bytes() == b"mine"
    assert found is not None


def test_a_run_that_is_damaged_later_is_named_and_left_out(place: Path, tailroom: Tailroom) -> None:
    sweep = next(one for one in tr.Store(place).sweeps() if one.id.startswith("two"))
    key = sweep.points[0]["runs"][0]
    file = file_of(place, key)
    os.truncate(file, 1000)
    shown = tailroom("results", place, "--sweep", "two", "--metric", "bottleneck.utilization")
    assert shown.status == 0
    assert shown.output.splitlines()[1].endswith(",1,2"), "one of two runs is left"
    assert f"warning: {file} is damaged and was left out" in shown.errors
    # It is named each time, until its run is performed again.
    assert (
        str(file) in tailroom("results", place, "--sweep", "two", "--metric", "jain_index").errors
    )


def test_a_run_that_is_written_anew_counts_as_it_is(place: Path) -> None:
    opened = tr.Store(place)
    key = next(iter(opened.columns().keys))
    row = opened.read(key)
    assert row is not None
    name = "links.bottleneck.utilization"
    opened.add([Run(key, {**StoredRow(row), name: 0.125})])
    for seen in (opened, tr.Store(place)):
        assert seen.columns().values(name, [key]) == [0.125]
        assert seen.find(key) is not None


def test_a_run_that_is_removed_is_gone(place: Path) -> None:
    opened = tr.Store(place)
    key = next(iter(opened.columns().keys))
    file_of(place, key).unlink()
    for seen in (opened, tr.Store(place)):
        assert key not in seen.columns()
        assert seen.find(key) is None


def test_an_index_that_another_process_wrote_before_costs_nothing_but_time(place: Path) -> None:
    """Of two processes that write the index, the one that knows less may be the last."""
    old = (place / run_index.FILE).read_bytes()
    tr.sweep(place.parent / "random.toml", store=place, grid=GRID, seeds=4)
    tr.Store(place).columns()
    (place / run_index.FILE).write_bytes(old)
    assert from_index(place).equals(from_files(place))
    assert from_index(place).num_rows == 18


def test_a_store_that_cannot_be_written_answers_all_the_same(place: Path) -> None:
    right = means(place)
    file = place / run_index.FILE
    file.unlink()
    file.mkdir()  # neither readable nor replaceable, whoever asks
    (file / "in the way").touch()
    assert means(place) == right
    assert not list(place.glob("*.partial"))


def test_a_small_store_has_no_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tailroom: Tailroom
) -> None:
    monkeypatch.setattr(run_directory, "WORTH_INDEXING", 100)
    tr.sweep(write_scenario(tmp_path), store=tmp_path / "store", grid=GRID, seeds=1)
    assert tailroom("results", tmp_path / "store").status == 0
    assert not (tmp_path / "store" / run_index.FILE).exists()


QUERIES = {
    'SELECT count(*), avg("links.bottleneck.utilization") FROM runs': False,
    "SELECT key FROM runs ORDER BY seed, key": False,
    "SELECT * FROM runs ORDER BY key": True,
    "FROM runs ORDER BY key": True,
    "SELECT json_extract(summary, '$.title') AS title FROM runs ORDER BY key": True,
    "SELECT count(*) FROM runs WHERE scenario LIKE '%second%'": True,
    "SELECT r FROM runs AS r ORDER BY key": True,
    "SELECT 1; SELECT min(length(summary)) > 1000 FROM runs": True,
    "WITH chosen AS (SELECT * FROM runs) SELECT count(scenario) FROM chosen": True,
}


@pytest.mark.parametrize("sql", QUERIES)
def test_a_query_reads_the_files_of_runs_only_for_their_texts(
    place: Path, monkeypatch: pytest.MonkeyPatch, sql: str
) -> None:
    duckdb = pytest.importorskip("duckdb", reason="needs the extra: tailroom[sql]")
    read: list[str] = []
    real = tr.Store._read

    def noted(self: tr.Store, part: str, name: str, **options: bool) -> pa.Table | None:
        read.append(name)
        return real(self, part, name, **options)

    monkeypatch.setattr(tr.Store, "_read", noted)
    answer = query(tr.Store(place), sql)
    assert len(read) == (10 if QUERIES[sql] else 0)
    with duckdb.connect() as connection:
        connection.register("runs", all_runs(tr.Store(place)))
        assert answer.to_pylist() == connection.sql(sql).to_arrow_table().to_pylist()


@pytest.mark.parametrize(
    ("column", "meant"),
    [
        ("utilization", '"links.bottleneck.utilization"'),
        ("bottleneck.utilization", '"links.bottleneck.utilization"'),
        ("links.bottleneck.utilization", '"links.bottleneck.utilization"'),
        ("utilisation", '"links.bottleneck.utilization"'),
        ("jain_index", '"flows.jain_index"'),
    ],
)
def test_a_column_that_sql_lacks_names_the_whole_name(place: Path, column: str, meant: str) -> None:
    pytest.importorskip("duckdb", reason="needs the extra: tailroom[sql]")
    with pytest.raises(tr.QueryError) as refused:
        query(tr.Store(place), f"SELECT {column} FROM runs")
    assert str(refused.value).startswith(f"SQL: there is no column {column}; write {meant}")
    query(tr.Store(place), f"SELECT {meant} FROM runs")


def test_wrong_sql_is_refused_without_reading_runs(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("duckdb", reason="needs the extra: tailroom[sql]")
    monkeypatch.setattr(tr.Store, "_read", lambda *_: pytest.fail("a file was read"))
    with pytest.raises(tr.QueryError, match=r"SQL: .*nothing"):
        query(tr.Store(place), "SELECT nothing FROM runs")
    with pytest.raises(tr.QueryError, match=r"SQL: .*syntax"):
        query(tr.Store(place), "SELEC 1")
