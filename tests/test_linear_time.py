"""Long series and many groups: work grows with their number, and nothing is read twice."""

import json
import sys
import tomllib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tailroom as tr
from tailroom.pfc_headroom.tables import read_table
from tailroom.scenario.json_text import json_text
from tailroom.scenario.scenario import own_controls, replace_files
from tailroom.studies.sweep_study.plan import _check_distinct
from tailroom.studies.warm_up_time import BATCH, truncation
from tailroom.vectors.reading import read_results, read_vectors


def by_definition(values: np.ndarray) -> int | None:
    """MSER-5 as its definition says it, in quadratic time."""
    count = values.size // BATCH
    means = values[: BATCH * count].reshape(count, BATCH).mean(axis=1)
    rests = [means[left_out:] for left_out in range(count // 2 + 1)]
    best = int(np.argmin([((rest - rest.mean()) ** 2).sum() / len(rest) ** 2 for rest in rests]))
    return None if best == count // 2 else best


@pytest.mark.parametrize("seed", range(20))
def test_the_truncation_is_that_of_the_definition(seed: int) -> None:
    random = np.random.default_rng(seed)
    settled = 1e6 + random.normal(size=400)
    settled[: 10 * seed] += np.linspace(50, 0, 10 * seed)
    assert truncation(settled) == by_definition(settled)


def test_the_truncation_of_a_million_samples_visits_each_batch_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sums: list[None] = []
    total = np.sum

    def counted(*given: Any, **more: Any) -> Any:
        sums.append(None)
        return total(*given, **more)

    monkeypatch.setattr(np, "sum", counted)
    assert truncation(np.ones(1_000_000)) == 0
    assert len(sums) < 10


class Counted(str):
    """A text that counts how often it is compared."""

    comparisons = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.comparisons += 1
        return str.__eq__(self, other)


def test_the_values_of_a_key_are_not_compared_one_by_one() -> None:
    values = [Counted(f"{place} packets") for place in range(10_000)]
    _check_distinct("key", values)
    assert Counted.comparisons < 1_000
    with pytest.raises(tr.ScenarioError, match="'7 packets' is given twice"):
        _check_distinct("key", [*values, Counted("7 packets")])


CONTENT: list[Any] = [
    {},
    [],
    None,
    1.5,
    "é\x1b",
    {
        "a": 1,
        "b": [1, 2.5, "x"],
        "c": {},
        "d": [],
        "e": {"f": {"g": None}},
        "h": [[1], {"i": True}],
    },
    [[], {}, "\u202e", {"k": ["é", (1, 2)]}],
]


@pytest.mark.parametrize("content", CONTENT)
def test_json_is_that_of_the_standard_library(content: Any) -> None:
    written = json.dumps(content, indent=2, ensure_ascii=False)
    for character in "\x1b\u202e":
        written = written.replace(character, f"\\u{ord(character):04x}")
    assert json_text(content) == f"{written}\n".replace("\\u001b", "\\u001b")


def test_the_summary_of_a_run_is_that_of_the_standard_library(small: Path) -> None:
    summary = tr.run(small).summary
    assert json_text(summary) == json.dumps(summary, indent=2, ensure_ascii=False) + "\n"
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text({"a": [float("nan")]})


def test_a_run_reads_its_resolved_scenario_once(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    loads = tomllib.loads

    def counted(text: str) -> dict[str, Any]:
        read.append(text)
        return loads(text)

    monkeypatch.setattr(tomllib, "loads", counted)
    result = tr.run(small)
    assert result.scenario
    assert not read


@pytest.mark.parametrize(
    "line", ['trace = "x"', 'file="x"', '"file" = "x"', 'size = { kind = "empirical", file = "x" }']
)
def test_a_file_is_seen_however_its_key_is_written(line: str) -> None:
    replaced = replace_files(f"[a]\n{line}\n", lambda path: f"{path}-copy")
    assert "x-copy" in replaced


def test_own_controls_are_seen() -> None:
    flow = '[flows.a.congestion]\nkind = "custom"\ncontrol = "m:C"\n'
    assert own_controls(flow) == ["m:C"]
    assert own_controls(flow.replace("custom", "reno")) == []


def _vectors(count: int) -> str:
    expect = [{"value": [1, 2], "why": "x", "quantity": f"q{place}"} for place in range(count)]
    return json.dumps({"format": 1, "id": "x", "expect": expect})


def _results(**results: object) -> str:
    return json.dumps({"implementation": "mine", "results": {"x": results}})


def _profiles(count: int) -> str:
    row = {"size": "19456", "xon": "19456", "xoff": "49152"}
    names = (f"pg_lossless_100000_{place + 1}m_profile" for place in range(count))
    return json.dumps({"BUFFER_PROFILE": dict.fromkeys(names, row)}, indent=1)


FILES_OF_STRANGERS: dict[str, tuple[Callable[[Path], object], Callable[[int], str]]] = {
    "vectors": (read_vectors, _vectors),
    "samples": (read_results, lambda count: _results(samples={"q": [[0, 1]] * count})),
    "series": (
        read_results,
        lambda count: _results(values=dict.fromkeys(map(str, range(count)), 1)),
    ),
    "unknown keys": (
        read_results,
        lambda count: _results(**{f"sample{n}": 1 for n in range(count)}),
    ),
    "profiles": (read_table, _profiles),
    "other profiles": (read_table, lambda count: _profiles(count).replace("pg_", "p")),
    "rows": (read_table, lambda count: "100000 300m 19456 19456 49152 0\n" * count),
    "a long row": (read_table, lambda count: "1 " * count),
    "a long comment": (read_table, lambda count: "#" + "# " * count + "\n1"),
    "backslashes": (read_table, lambda count: json.dumps({"BUFFER_PROFILE": {"\\" * count: 1}})),
}
"""Readers in Python, and texts of a length."""
MOST_GROWTH = 2.2
"""Of the number of calls when a text is twice as long."""


def _calls(read: Callable[[Path], object], path: Path) -> int:
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        with suppress(tr.TailroomError):
            read(path)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("name", FILES_OF_STRANGERS)
def test_the_work_of_a_stranger_file_grows_with_its_length(tmp_path: Path, name: str) -> None:
    read, text_of = FILES_OF_STRANGERS[name]
    path = tmp_path / "file.json"
    calls = []
    for count in (900, 1_800):
        path.write_text(text_of(count), encoding="utf-8")
        calls.append(_calls(read, path))
    assert calls[1] < MOST_GROWTH * calls[0], calls
