"""Sweeps and questions to a store that are wrong: status 2, place and remedy, no file touched."""

from pathlib import Path

import pytest

import tailroom as tr
from tests.conftest import SMALL, Tailroom
from tests.killed_sweeps import RANDOM_START
from tests.test_store import files_of

LIMIT = "links.bottleneck.queue.limit"
RANGE = f'{LIMIT}={{ from = "1 packets", to = "9 packets", points = 3'

WRONG_OPTIONS = {
    "unknown key": (
        ["--grid", "links.bottleneck.queue.limi=1 packets"],
        ["small.toml: links.bottleneck.queue.limi: there is no such key", "`limit`"],
    ),
    "unknown table": (["--grid", "links.core.rate=1 Mbit/s"], ["links.core", "bottleneck"]),
    "wrong value": (["--grid", f"{LIMIT}=1 packets, 3 apples"], [f"{LIMIT}: ", "apples"]),
    "no values": (["--grid", f"{LIMIT}=[]"], [f"{LIMIT}: the list of values is empty; give"]),
    "no key": (["--grid", "=1 packets"], ["KEY=VALUES; give"]),
    "value given twice": (
        ["--grid", f"{LIMIT}=1 packets, 2 packets, 1 packets"],
        [f"{LIMIT}: '1 packets' is given twice; keep one"],
    ),
    "key given twice": (
        ["--grid", f"{LIMIT}=1 packets", "--grid", f"{LIMIT}=2 packets"],
        [f"--grid {LIMIT}: the key is given twice; give all its values in one option"],
    ),
    "row given twice": (
        [
            "--together",
            "flows.reno.count=1, 2, 1",
            "--together",
            f"{LIMIT}=5 packets, 6 packets, 5 packets",
        ],
        ["sweep.together: (1, '5 packets') is given twice; keep one"],
    ),
    "key in grid and together": (
        ["--grid", f"{LIMIT}=1 packets", "--together", f"{LIMIT}=2 packets"],
        [f"{LIMIT} is in grid and in together; keep one"],
    ),
    "rows of different length": (
        ["--together", f"{LIMIT}=1 packets, 2 packets", "--together", "flows.reno.count=1,2,3"],
        [
            f"{LIMIT} has 2, flows.reno.count has 3 values; "
            "give the same number of values for each key"
        ],
    ),
    "seed as a key": (
        ["--grid", "seed=1,2"],
        ["seed is not a key to vary; repeat each point with `seeds`"],
    ),
    "range without an end": (["--grid", f"{RANGE}"], ["is not TOML; give a list"]),
    "range with a typing error": (
        ["--grid", RANGE + ', scala = "log" }'],
        ["a range takes from, to, points and scale"],
    ),
    "range without a finite end": (
        ["--grid", f'{LIMIT}={{ from = "1 packets", to = "1e400 packets", points = 3 }}'],
        [f"{LIMIT}: no range from 1 to inf; give different finite ends"],
    ),
    "range of infinite length": (
        ["--grid", "flows.reno.count={ from = -1e308, to = 1e308, points = 3 }"],
        ["no range from -1e+308 to 1e+308"],
    ),
    "table given twice": (
        ["--grid", 'links.bottleneck.queue=[{ kind = "codel" }, { kind = "codel" }]'],
        ["links.bottleneck.queue: {'kind': 'codel'} is given twice; keep one"],
    ),
    "no seeds": (["--seeds", "0"], ["--seeds"]),
    "too many runs": (
        [
            "--grid",
            f'{LIMIT}={{ from = "1 packets", to = "100 packets", points = 100 }}',
            "--seeds",
            "101",
        ],
        ["10,100 runs are more than the 10,000 allowed; give fewer values or seeds", "--max-runs"],
    ),
    "too many runs until": (
        [
            "--grid",
            f'{LIMIT}={{ from = "1 packets", to = "1001 packets", points = 1001 }}',
            "--until",
            "utilization<1",
        ],
        ["10,010 runs are more than the 10,000 allowed", "--max-runs"],
    ),
    "seeds and until": (
        ["--seeds", "3", "--until", "utilization<0.1"],
        ["seeds and until are given; keep one"],
    ),
    "unknown metric": (
        ["--until", "utilisation<0.1"],
        ["utilisation: there is no such metric; did you mean utilization?"],
    ),
    "metric of the machine": (["--until", "wall_s<0.1"], ["wall_s: there is no such metric"]),
    "no width": (["--until", "utilization"], ["--until utilization: ", "METRIC<WIDTH; write"]),
    "width that is no number": (["--until", "utilization<nan"], ["METRIC<WIDTH; write"]),
    "negative width": (["--until", "utilization<-1"], ["METRIC<WIDTH; write"]),
    "maximum without until": (["--max-seeds", "9"], ["--max-seeds: limits --until"]),
    "one run at most": (["--until", "utilization<1", "--max-seeds", "1"], ["--max-seeds"]),
    "too little memory": (
        ["--grid", 'memory_limit="1 kB", "1 GB"'],
        ["memory_limit", "raise memory_limit"],
    ),
    "wrong setting": (
        ["--set", "links.bottleneck.rat=1"],
        ["--set links.bottleneck.rat", "`rate`"],
    ),
}


@pytest.mark.parametrize("case", WRONG_OPTIONS)
@pytest.mark.parametrize("place", ["new", "old"])
def test_wrong_sweeps_touch_no_store(
    tailroom: Tailroom, small: Path, tmp_path: Path, case: str, place: str
) -> None:
    store = tmp_path / "store"
    if place == "old":
        tr.Store.create(store)
    before = files_of(tmp_path)
    arguments, named = WRONG_OPTIONS[case]
    ended = tailroom("sweep", small, "--store", store, *arguments)
    assert ended.status == 2
    assert ended.output == ""
    for text in named:
        assert text in ended.errors
    assert "Traceback" not in ended.errors
    assert files_of(tmp_path) == before


WRONG_TABLES = {
    "unknown key": ("seed = 3", ["sweep.seed", "`seeds`"]),
    "unknown key of the scenario": ('grid = { "links.core.rate" = ["1 bps"] }', ["links.core"]),
    "no values": ("grid = { seeds = [] }", ["the list of values is empty"]),
    "more keys than anybody varies": (
        "grid = {" + ",".join(f"k{place} = [1, 2]" for place in range(101)) + "}",
        ["sweep: 101 keys vary; at most 100 are allowed; leave out"],
    ),
    "no list": ("grid = { seeds = 3 }", ["seeds: 3 is not a list of values; give a list"]),
    "no seeds": ("seeds = 0", ["seeds"]),
    "unknown metric": (
        'until = { metric = "utilisation", half_width = 0.1 }',
        ["did you mean utilization?"],
    ),
    "negative width": (
        'until = { metric = "utilization", half_width = -0.1 }',
        ["until", "half_width"],
    ),
    "fewer at most than at least": (
        'until = { metric = "utilization", half_width = 0.1, at_most = 5 }',
        ["until", "at_least"],
    ),
}


@pytest.mark.parametrize("case", WRONG_TABLES)
def test_wrong_tables_touch_no_store(tailroom: Tailroom, tmp_path: Path, case: str) -> None:
    text, named = WRONG_TABLES[case]
    path = tmp_path / "wrong.toml"
    path.write_text(f"{SMALL}\n[sweep]\n{text}\n", encoding="utf-8")
    ended = tailroom("sweep", path, "--store", tmp_path / "store")
    assert ended.status == 2
    for part in named:
        assert part in ended.errors
    assert ended.errors.count("\n") == 1
    assert list(tmp_path.iterdir()) == [path]


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


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (
            ["--metric", "utilization"],
            ["there are several sweeps; choose a sweep with --sweep: random"],
        ),
        (["--sweep", "random"], ["there are several sweeps whose id begins with random; choose"]),
        (["--sweep", "other"], ["there is no sweep whose id begins with other; choose a sweep"]),
        (["--sql", "SELEC 1"], ["SQL: ", "SELEC"]),
        (["--sql", "SELECT nothing FROM runs"], ["SQL: ", "nothing"]),
        (["--sql", "SELECT * FROM '/etc/passwd'"], ["SQL: "]),
        (["--sql", "COPY runs TO 'stolen.csv'"], ["SQL: "]),
        (["--out", "runs.xls"], ["give a file that ends in .csv or .parquet"]),
        (["--out", "nowhere/runs.csv"], ["nowhere is not a directory; create it first"]),
        (["--sql", "SELECT 1", "--metric", "utilization"], ["--sql and --metric", "one of them"]),
    ],
)
def test_wrong_questions_touch_nothing(
    tailroom: Tailroom, store: Path, arguments: list[str], named: list[str]
) -> None:
    before = files_of(store.parent)
    ended = tailroom("results", store, *arguments)
    assert ended.status == 2
    assert ended.output == ""
    for text in named:
        assert text in ended.errors
    assert "Traceback" not in ended.errors
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
