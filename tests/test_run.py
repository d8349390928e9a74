"""`tailroom.run` from Python: scenarios as files and as objects, progress, threads."""

import threading
from pathlib import Path
from typing import Any

import pytest

import tailroom as tr
from tailroom.scenario.types import Defaults, DropTailQueue, Flows, Link, RenoCongestion
from tests.conftest import SMALL


def built_in_python() -> tr.Scenario:
    return tr.Scenario(
        title="Two Reno flows",
        duration="4 s",
        measure_from="1 s",
        links={
            "bottleneck": Link(
                rate="10 Mbit/s",
                delay="5 ms",
                queue=DropTailQueue(kind="drop_tail", limit="20 packets"),
            )
        },
        defaults=Defaults(host="plain"),
        flows={
            "reno": Flows(
                count=2,
                path=["bottleneck"],
                congestion=RenoCongestion(kind="reno"),
                rtt="20 ms",
            )
        },
    )


def test_a_scenario_built_in_python_is_the_same_as_a_file(small: Path) -> None:
    assert tr.run(built_in_python()).summary == tr.run(small).summary


def test_the_resolved_scenario_gives_the_same_result(small: Path, tmp_path: Path) -> None:
    result = tr.run(str(small), seed=3, set={"flows.reno.count": 4, "flows.reno.pacing": True})
    resolved = tmp_path / "resolved.toml"
    resolved.write_text(result.scenario, encoding="utf-8")
    assert tr.run(resolved).summary == result.summary


def test_a_whole_table_can_be_set(small: Path) -> None:
    queue = {"kind": "drop_tail", "limit": "5 packets"}
    rtt = {"uniform": ["20 ms", "30 ms"]}
    whole = tr.run(small, set={"links.bottleneck.queue": queue, "flows.reno.rtt": rtt})
    one_by_one = tr.run(
        small,
        set={
            "links.bottleneck.queue.limit": "5 packets",
            "flows.reno.rtt": '{ uniform = ["20 ms", "30 ms"] }',
        },
    )
    assert whole.summary == one_by_one.summary


def test_errors_name_the_file(small: Path) -> None:
    small.write_text(SMALL.replace("rate", "rat"), encoding="utf-8")
    with pytest.raises(tr.ScenarioError, match=r"small\.toml: line 9, links\.bottleneck\.rat: "):
        tr.run(small)
    with pytest.raises(ValueError, match=r"^scenario: .*duration"):
        tr.run({"links": {}})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"^scenario: "):
        tr.run({"duration": None})  # type: ignore[arg-type]


def test_progress_is_told_and_may_stop_the_run(small: Path) -> None:
    told: list[tr.Progress] = []

    class EnoughError(Exception):
        pass

    def progress(state: tr.Progress) -> None:
        told.append(state)
        if len(told) == 3:
            raise EnoughError

    with pytest.raises(EnoughError):
        tr.run(small, set={"duration": "100000 s"}, progress=progress)
    done = [state.done for state in told]
    assert done == sorted(done)
    assert done[0] > 0
    assert done[-1] < 100_000
    assert [state.total for state in told] == pytest.approx([100_000] * 3)


def test_runs_side_by_side_do_not_touch_each_other(small: Path) -> None:
    alone = [tr.run(small, seed=seed).summary for seed in (1, 2)]
    together: dict[int, Any] = {}

    def work(seed: int) -> None:
        together[seed] = tr.run(small, seed=seed).summary

    threads = [threading.Thread(target=work, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [together[1], together[2]] == alone
