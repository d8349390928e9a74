"""The table of a sweep, and the tables that `tailroom results` prints and writes."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from rich.console import Console

import tailroom as tr
from tailroom.cli.table_excerpt import print_excerpt
from tailroom.scenario.axis import value_words
from tailroom.simulation.metrics import metrics_of
from tailroom.studies.sweep_study.query import query
from tests.conftest import SMALL, Printed, Tailroom
from tests.test_named_values import TWO_LINKS

QUEUE = "links.bottleneck.queue"


def swept(tailroom: Tailroom, path: Path, *arguments: object) -> str:
    ended = tailroom("sweep", path, "--store", path.parent / "store", *arguments)
    assert ended.status == 0, ended.errors
    return ended.output


def test_a_sweep_shows_what_varies_and_what_is_asked_for(printed: Printed, tmp_path: Path) -> None:
    (tmp_path / "two-links.toml").write_text(TWO_LINKS, encoding="utf-8")
    printed("sweep")


def test_one_seed_has_no_infinite_interval(tailroom: Tailroom, small: Path, tmp_path: Path) -> None:
    text = swept(tailroom, small, "--grid", f"{QUEUE}.limit=5 packets, 20 packets", "--seeds", 1)
    assert "±" not in text
    store = tmp_path / "store"
    sweep = tr.Store(store).sweeps()[0].id
    shown = tailroom("results", store, "--sweep", sweep).output
    assert "±" not in shown
    rows = list(
        csv.DictReader(io.StringIO(tailroom("results", store, "--metric", "utilization").output))
    )
    assert [row["half_width"] for row in rows] == ["", ""]
    for name in ("means.csv", "means.parquet"):
        command = ("results", store, "--metric", "utilization", "--out", tmp_path / name)
        assert tailroom(*command).status == 0
    assert pq.read_table(tmp_path / "means.parquet")["half_width"].null_count == 2
    assert "inf" not in (tmp_path / "means.csv").read_text(encoding="utf-8")


RED, RED_2 = (
    {"kind": "red", "limit": "9 packets"},
    {"kind": "red", "limit": "9 packets", "max_p": 0.2},
)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([{"kind": "codel", "limit": "5 packets"}, {"kind": "pie"}], ["codel", "pie"]),
        ([RED, {**RED, "max_p": 0.2}], ["red", "red max_p 0.2"]),
        (["cubic", {"kind": "cubic", "beta": 0.5}], ["cubic", "cubic beta 0.5"]),
        (["5 packets", "20 packets"], ["5 packets", "20 packets"]),
        ([True, False], ["yes", "no"]),
        ([{"from": "1 s", "to": "2 s"}], ["from 1 s, to 2 s"]),
        (
            [
                {"kind": "custom", "control": "mine.py:A"},
                {"kind": "custom", "control": "mine.py:B"},
            ],
            ["mine.py:A", "mine.py:B"],
        ),
    ],
)
def test_values_are_told_apart_in_few_words(values: list[object], words: list[str]) -> None:
    assert [value_words(value, values) for value in values] == words


def test_a_word_in_a_grid_keeps_the_limit(tailroom: Tailroom, small: Path, tmp_path: Path) -> None:
    swept(tailroom, small, "--grid", f"{QUEUE}=codel, drop_tail", "--seeds", 1)
    sql = f'SELECT "{QUEUE}", "links.bottleneck.limit_packets" FROM runs ORDER BY 1'
    answer = tailroom("results", tmp_path / "store", "--sql", sql).output
    assert answer.splitlines()[1:] == ["codel,20.0", "drop_tail,20.0"]


@pytest.fixture
def store(tailroom: Tailroom, small: Path, tmp_path: Path) -> Path:
    """A store with two sweeps that vary different keys."""
    swept(tailroom, small, "--grid", f"{QUEUE}=codel, pie", "--seeds", 2)
    swept(tailroom, small, "--grid", "flows.reno.count=1, 3", "--seeds", 1)
    return tmp_path / "store"


def rows_of(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_file_of_all_runs_has_their_settings(
    tailroom: Tailroom, store: Path, tmp_path: Path
) -> None:
    assert tailroom("results", store, "--out", tmp_path / "runs.csv").status == 0
    rows = rows_of(tmp_path / "runs.csv")
    found = sorted((row[QUEUE], row["flows.reno.count"], row["seed"]) for row in rows)
    assert found == [
        ("", "1", "1"),
        ("", "3", "1"),
        ("codel", "", "1"),
        ("codel", "", "2"),
        ("pie", "", "1"),
        ("pie", "", "2"),
    ]
    assert set(list(rows[0])[:3]) == {QUEUE, "flows.reno.count", "seed"}


def test_files_of_runs_have_no_whole_texts_unless_asked_for(
    tailroom: Tailroom, store: Path, tmp_path: Path
) -> None:
    command = ("results", store, "--sweep", tr.Store(store).sweeps()[0].id)
    for name in ("runs.csv", "runs.parquet"):
        assert tailroom(*command, "--out", tmp_path / name).status == 0
    rows = rows_of(tmp_path / "runs.csv")
    assert not {"scenario", "summary"} & set(rows[0])
    assert not {"scenario", "summary"} & set(pq.read_table(tmp_path / "runs.parquet").column_names)
    # A row of numbers: each run has some 100 metrics of 20 characters at most.
    assert (tmp_path / "runs.csv").stat().st_size < 5_000 * (len(rows) + 1)
    assert tailroom(*command, "--texts", "--out", tmp_path / "all.csv").status == 0
    row = rows_of(tmp_path / "all.csv")[0]
    assert "[links.bottleneck]" in row["scenario"]
    assert json.loads(row["summary"])["title"] == "Two Reno flows"
    refused = tailroom(*command, "--texts")
    assert refused.status == 2
    assert "--texts: applies to the runs that --out writes; add --out" in refused.errors


def test_printed_texts_are_cut(tailroom: Tailroom, store: Path) -> None:
    ended = tailroom("results", store, "--sql", "SELECT * FROM runs")
    assert ended.status == 0
    rows = list(csv.DictReader(io.StringIO(ended.output)))
    assert len(rows) == 6
    assert {len(row["scenario"]) for row in rows} == {203}
    assert all(row["scenario"].endswith("...") for row in rows)
    assert "12 texts of more than 200 characters were cut; --out FILE writes" in ended.errors


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_terminal_shows_an_excerpt_and_how_to_get_all(store: Path, width: int) -> None:
    text = io.StringIO()
    sql = "SELECT * FROM runs, range(20)"
    print_excerpt(query(tr.Store(store), sql), Console(file=text, width=width))
    lines = text.getvalue().splitlines()
    table = [line for line in lines if not line.startswith("Shown")]
    assert max(map(len, table)) <= width
    assert len(lines) < 50
    assert "40 of 120 rows" in lines[-1]
    assert "columns; name columns in the query, or write the whole table with --out" in lines[-1]


def test_a_small_answer_is_shown_whole(store: Path) -> None:
    text = io.StringIO()
    print_excerpt(query(tr.Store(store), "SELECT 1 AS one"), Console(file=text, width=80))
    assert "one" in text.getvalue()
    assert "Shown" not in text.getvalue()


def test_the_runs_with_shifted_rtts_are_marked(
    tailroom: Tailroom, small: Path, tmp_path: Path
) -> None:
    small.write_text(SMALL, encoding="utf-8")
    swept(tailroom, small, "--grid", f"{QUEUE}.limit=5 packets", "--seeds", 2, "--phase-check")
    assert tailroom("results", tmp_path / "store", "--out", tmp_path / "runs.csv").status == 0
    rows = rows_of(tmp_path / "runs.csv")
    assert sorted(row["phase_shift"] for row in rows) == ["", "", "1", "2"]
    assert {row[f"{QUEUE}.limit"] for row in rows} == {"5 packets"}


def test_a_sweep_over_a_switch_shows_queries_and_the_links_that_lose_most(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    """The port of the client alone loses packets, of more than 80 links."""
    short = ("--set", 'duration="300 ms"', "--seeds", 1, "--store", tmp_path / "store")
    ended = tailroom("sweep", "incast", "--grid", "flows.queries.source.fan_in=10,40", *short)
    titles = [line for line in ended.output.splitlines() if line.startswith("Sweep ")]
    assert titles[0].endswith(", group queries")
    assert len([line for line in titles if ", link " in line]) == 20
    assert any(line.endswith(", link tor-switch-h0") for line in titles)
    rows = [line.split() for line in ended.output.splitlines() if line.startswith(("10 ", "40 "))]
    with_times = rows[0]
    assert "-" not in with_times
    queries = tr.run("incast", set={"duration": "300 ms", "flows.queries.source.fan_in": 10})
    mean_s = metrics_of(queries.summary)["groups.queries.coflows.completion_time_s_mean"]
    assert mean_s is not None
    # A query is in progress when the run ends.
    assert with_times[1:4] == ["≥", f"{1e3 * mean_s:.2f}", "ms"]
