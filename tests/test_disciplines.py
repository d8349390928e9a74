"""Every queue discipline from Python and on the command line: drops by reason, marks, state."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import tailroom as tr
from tailroom import _engine
from tests.conftest import Tailroom

KINDS = [
    component["kind"]
    for component in json.loads(_engine.components())["queue"]
    if component["kind"] != "custom"
]
EARLY = [
    *("red", "adaptive_red", "wred", "step_mark", "codel", "pie", "dual_pi2", "fq_codel", "fq_pie"),
    "cake",
]
"""Disciplines that signal congestion before the buffer is full."""


def queue(kind: str) -> dict[str, Any]:
    """A buffer of half a second, so that early signals come before it is full."""
    parameters: dict[str, Any] = {"kind": kind, "limit": "500 ms"}
    if kind == "step_mark":
        parameters["threshold"] = "10 packets"
    if kind == "wred":
        parameters.update(k_min="10 packets", k_max="50 packets")
    if kind in ("pie", "fq_pie"):
        parameters["mark_up_to"] = 1.0
    return parameters


def run(small: Path, kind: str, **replaced: object) -> tr.Result:
    keys = {key.replace("__", "."): value for key, value in replaced.items()}
    return tr.run(
        small,
        set={"links.bottleneck.queue": queue(kind), "duration": "20 s", **keys},
        series_samples=50,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_drops_have_reasons_and_the_state_is_in_the_series(small: Path, kind: str) -> None:
    result = run(small, kind)
    link: Mapping[str, Any] = result.links["bottleneck"]
    assert link["discipline"] == kind
    reasons = [link[f"drops_{reason}_packets"] for reason in ("overflow", "early", "head")]
    assert sum(reasons) == link["drops_packets"]
    assert link["utilization"] > 0.5
    assert result.link_series is not None
    for quantity, value in link["discipline_state"].items():
        column = result.link_series.column(quantity).to_pylist()
        assert len(column) == 50
        assert all(isinstance(sample, float) for sample in column)
        assert math.isfinite(value)


@pytest.mark.parametrize("kind", EARLY)
def test_marks_take_the_place_of_early_drops(small: Path, kind: str) -> None:
    dropped = run(small, kind).links["bottleneck"]
    assert dropped["drops_early_packets"] + dropped["drops_head_packets"] > 0
    assert dropped["marks_packets"] == 0
    result = run(small, kind, flows__reno__ecn="classic")
    link = result.links["bottleneck"]
    assert link["marks_packets"] > 0
    # A slow start may take Adaptive RED to where it drops even what can be marked.
    early = link["drops_early_packets"] + link["drops_head_packets"]
    assert early < dropped["drops_early_packets"] + dropped["drops_head_packets"]
    group: Mapping[str, Any] = result.groups["reno"]
    assert group["marked_fraction"] > 0
    assert group["congestion_events"] > 0


def test_the_terminal_shows_marks_and_state(tailroom: Tailroom, small: Path) -> None:
    ended = tailroom(
        "run",
        small,
        *("--set", 'links.bottleneck.queue={ kind = "pie" }'),
        *("--set", "flows.reno.ecn=classic"),
        "--explain",
    )
    assert ended.status == 0
    assert "marks" in ended.output
    assert "drop_probability" in ended.output
    assert "drop_probability" not in tailroom("run", small, "--explain").output


def test_a_saved_result_keeps_the_state(small: Path, tmp_path: Path) -> None:
    result = run(small, "fair")
    result.save(tmp_path / "out")
    loaded = tr.load(tmp_path / "out")
    assert loaded.links["bottleneck"]["discipline_state"]["active_flows_max"] == 2
    assert loaded.series("active_flows", link="bottleneck").num_rows == 50


def test_a_contradiction_names_the_key_and_the_range(tailroom: Tailroom, small: Path) -> None:
    wrong = '{ kind = "red", limit = "1 MB", min_threshold = "20 ms", max_threshold = "10 ms" }'
    ended = tailroom("run", small, "--set", f"links.bottleneck.queue={wrong}")
    assert ended.status == 2
    assert "links.bottleneck.queue.m" in ended.errors
    assert "threshold" in ended.errors
