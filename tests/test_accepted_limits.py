"""The search ends at the smallest limit that the queue accepts, whatever its thresholds are."""

from pathlib import Path

import pytest

import tailroom as tr
from tailroom.scenario import types
from tailroom.scenario.scenario import Scenario
from tailroom.studies.size_study.accepted_limits import smallest_accepted
from tailroom.studies.size_study.varied_key import Varied
from tests.conftest import Tailroom

RED = {
    "kind": "red",
    "limit": "200 packets",
    "min_threshold": "20 packets",
    "max_threshold": "60 packets",
}
STEP_MARK = {"kind": "step_mark", "limit": "100 packets", "threshold": "30 packets"}
KEY = "links.bottleneck.queue.limit"


def scenario(queue: object) -> types.Scenario:
    """Four flows at 20 Mbit/s, whose bdp is 67 packets."""
    found: types.Scenario = {
        "duration": "10 s",
        "measure_from": "3 s",
        "links": {"bottleneck": {"rate": "20 Mbit/s", "delay": "5 ms", "queue": queue}},  # type: ignore[typeddict-item]
        "flows": {
            "reno": {
                "count": 4,
                "path": ["bottleneck"],
                "rtt": {"uniform": ["30 ms", "50 ms"]},
                "congestion": "reno",
                "ecn": "classic",
            }
        },
    }
    return found


@pytest.mark.parametrize(("queue", "smallest"), [(STEP_MARK, 31), (RED, 21), ("drop_tail", 1)])
def test_the_smallest_limit_is_one_that_the_engine_accepts(queue: object, smallest: int) -> None:
    whole = {"kind": queue, "limit": "100 packets"} if isinstance(queue, str) else queue
    source = Scenario.of(scenario(whole), {})
    found = smallest_accepted(source, Varied(KEY), 1000)
    assert found.packets == smallest
    source.replacing({KEY: f"{smallest} packets"}).to_toml()
    if smallest > 1:
        with pytest.raises(tr.ScenarioError, match="limit"):
            source.replacing({KEY: f"{smallest - 1} packets"}).to_toml()
        assert f"below {smallest} packets" in found.warning["text"]


def test_no_limit_in_question_is_accepted() -> None:
    source = Scenario.of(scenario(STEP_MARK), {})
    with pytest.raises(tr.ScenarioError, match=f"{KEY} = 25 packets.*threshold: 30 packets"):
        smallest_accepted(source, Varied(KEY), 25)


@pytest.mark.parametrize(("queue", "smallest"), [(STEP_MARK, 31), (RED, 21)])
def test_a_queue_with_absolute_thresholds_is_sized(queue: object, smallest: int) -> None:
    answer = tr.size(scenario(queue), "utilization >= 50%", most_loss=None, max_seeds=4)
    assert answer.limit_packets == smallest
    assert min(tried.limit for tried in answer.tried) == smallest
    assert f"no value below {smallest} packets is accepted" in answer.warnings[0]["text"]


def test_a_point_that_contradicts_the_file_is_named(tailroom: Tailroom, tmp_path: Path) -> None:
    grid = "links.port.queue.limit=20 packets, 100 packets"
    done = tailroom("sweep", "data-center", "--grid", grid, "--store", tmp_path / "store")
    assert done.status == 2
    assert "threshold: 65 packets is not below the limit of 20 packets" in done.errors
    assert "the point has links.port.queue.limit = 20 packets" in done.errors
