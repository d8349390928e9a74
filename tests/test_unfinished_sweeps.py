"""An interrupted sweep: the runs that are kept and that are planned are two numbers everywhere."""

import csv
import io
import json
from pathlib import Path

import pytest

import tailroom as tr
from tests.conftest import Tailroom

LIMIT = "links.bottleneck.queue.limit"
KEPT, PLANNED = 3, 10


@pytest.fixture
def store(small: Path, tmp_path: Path) -> Path:
    """A sweep of two points with five runs each, which ended after three runs."""
    small.write_text(
        small.read_text(encoding="utf-8") + 'start = { uniform = ["0 s", "1 s"] }\n',
        encoding="utf-8",
    )

    def interrupt(progress: tr.RunProgress) -> None:
        if progress.done == KEPT:
            raise KeyboardInterrupt

    with pytest.raises(tr.Interrupted):
        tr.sweep(
            small,
            store=tmp_path / "store",
            grid={LIMIT: ["5 packets", "20 packets"]},
            seeds=5,
            workers=1,
            progress=interrupt,
        )
    assert len(tr.Store(tmp_path / "store").runs()) == KEPT
    return tmp_path / "store"


def test_results_says_how_many_runs_are_kept_and_planned(tailroom: Tailroom, store: Path) -> None:
    ended = tailroom("results", store)
    assert "runs kept" in ended.output
    [row] = [
        line.split()
        for line in ended.output.splitlines()
        if line.endswith((f" {PLANNED}", f" {PLANNED} "))
    ]
    assert row[-3:] == ["2", str(KEPT), str(PLANNED)]
    assert "Not complete: small-" in ended.output
    assert "The command of a sweep continues it." in ended.output


def test_results_says_it_as_json(tailroom: Tailroom, store: Path) -> None:
    [sweep] = json.loads(tailroom("results", store, "--json").output)
    assert (sweep["points"], sweep["runs"], sweep["planned_runs"]) == (2, KEPT, PLANNED)
    whole = json.loads(tailroom("results", store, "--json", "--sweep", sweep["id"]).output)
    assert sum(point["runs"] for point in whole["points"]) == KEPT
    assert [point["planned_runs"] for point in whole["points"]] == [5, 5]


def test_the_table_of_points_says_it(tailroom: Tailroom, store: Path) -> None:
    [record] = tr.Store(store).sweeps()
    ended = tailroom("results", store, "--sweep", record.id)
    assert "3 of 5" in ended.output
    assert "0 of 5" in ended.output
    assert f"{KEPT} of {PLANNED} runs of 2 points are in the store" in ended.output
    rows = csv.DictReader(io.StringIO(tailroom("results", store, "--metric", "utilization").output))
    assert [(row["runs"], row["planned_runs"]) for row in rows] == [("3", "5"), ("0", "5")]


def test_a_finished_sweep_says_nothing_of_a_plan(
    tailroom: Tailroom, small: Path, tmp_path: Path
) -> None:
    tr.sweep(small, store=tmp_path / "done", grid={LIMIT: ["5 packets"]}, seeds=2)
    shown = tailroom("results", tmp_path / "done").output
    assert "Not complete" not in shown
    assert " of " not in tailroom(
        "results", tmp_path / "done", "--sweep", "small"
    ).output.rpartition("runs of")[0].replace("small", "")
