"""Long series and many groups: work grows with their number, and nothing is read twice."""

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tailroom as tr
from tailroom.scenario.json_text import json_text
from tailroom.scenario.scenario import own_controls, replace_files
from tailroom.studies.sweep_study.plan import _check_distinct
from tailroom.studies.warm_up_time import BATCH, truncation


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
