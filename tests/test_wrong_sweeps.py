"""Sweeps and questions to a store that are wrong: status 2, place and remedy, no file touched."""

from pathlib import Path

import pytest

import tailroom as tr
from tests.conftest import SMALL, Printed, Tailroom
from tests.killed_sweeps import RANDOM_START
from tests.printed_text import same_as_file, shown
from tests.test_store import files_of

LIMIT = "links.bottleneck.queue.limit"


@pytest.mark.parametrize("place", ["new", "old"])
def test_wrong_sweeps_touch_no_store(refused: Printed, tmp_path: Path, place: str) -> None:
    if place == "old":
        tr.Store.create(tmp_path / "store")
    refused("sweep")


WRONG_TABLES = [
    "seed = 3",
    'grid = { "links.core.rate" = ["1 bps"] }',
    "grid = { seeds = [] }",
    "grid = { seeds = 3 }",
    "seeds = 0",
    'until = { metric = "utilisation", half_width = 0.1 }',
    'until = { metric = "utilization", half_width = -0.1 }',
    'until = { metric = "utilization", half_width = 0.1, at_most = 5 }',
    "grid = {" + ",".join(f"k{place} = [1, 2]" for place in range(101)) + "}",
]


def test_wrong_tables_touch_no_store(
    tailroom: Tailroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path("wrong.toml")
    messages = []
    for text in WRONG_TABLES:
        path.write_text(f"{SMALL}\n[sweep]\n{text}\n", encoding="utf-8")
        ended = tailroom("sweep", path, "--store", "store")
        assert (ended.status, ended.errors.count("\n")) == (2, 1)
        assert list(tmp_path.iterdir()) == [tmp_path / path]
        messages.append(f"# {text[:80]}\n{shown(ended)}")
    same_as_file("refusals_of_sweep_tables", "\n".join(messages))


def test_more_runs_are_done_if_asked_for(tailroom: Tailroom, small: Path, tmp_path: Path) -> None:
    ended = tailroom("sweep", small, "--store", tmp_path / "store", "--seeds", 4, "--max-runs", 3)
    assert ended.status == 2
    assert "4 runs are more than the 3 allowed; " in ended.errors
    assert not (tmp_path / "store").exists()
    ended = tailroom("sweep", small, "--store", tmp_path / "store", "--seeds", 4, "--max-runs", 4)
    assert ended.status == 0


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with two sweeps."""
    scenario = tmp_path / "random.toml"
    scenario.write_text(SMALL + RANDOM_START, encoding="utf-8")
    for limits in (["5 packets"], ["5 packets", "20 packets"]):
        tr.sweep(scenario, store=tmp_path / "store", grid={LIMIT: limits}, seeds=1)
    return tmp_path / "store"


def test_wrong_questions_touch_nothing(refused: Printed, store: Path) -> None:
    refused("results")


@pytest.mark.parametrize(
    "query",
    [
        "SELEC 1",
        "SELECT nothing FROM runs",
        "SELECT * FROM '/etc/passwd'",
        "COPY runs TO 'stolen.csv'",
    ],
)
def test_wrong_sql_touches_nothing(tailroom: Tailroom, store: Path, query: str) -> None:
    before = files_of(store.parent)
    ended = tailroom("results", store, "--sql", query)
    assert (ended.status, ended.output) == (2, "")
    assert ended.errors.startswith("error: SQL: ")
    assert files_of(store.parent) == before


@pytest.mark.parametrize("name", ["utilisation", "seed", "scenario"])
def test_results_have_no_such_metric(tailroom: Tailroom, store: Path, name: str) -> None:
    sweep = tr.Store(store).sweeps()[0].id
    ended = tailroom("results", store, "--sweep", sweep, "--metric", name)
    assert ended.status == 2
    assert f"error: {name}: there is no such metric; " in ended.errors


def test_a_message_quotes_the_start_of_a_long_key(small: Path) -> None:
    with pytest.raises(tr.ScenarioError, match="has 87500 steps") as caught:
        tr.sweep(small, grid={"a." * 87_499 + "b": [1]})
    assert len(str(caught.value)) < 1_000
