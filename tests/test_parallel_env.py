"""The environment of PettingZoo."""

from pathlib import Path

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test

import tailroom as tr
from tailroom.env import AuroraEnv
from tailroom.parallel_env import ParallelAuroraEnv
from tests.test_env import SCENARIO

TWO = SCENARIO + SCENARIO[SCENARIO.index("[flows.learner]") :].replace("learner", "other")
KEPT = np.zeros(1, np.float32)


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "scenario.toml"
    path.write_text(TWO, encoding="utf-8")
    return path


@pytest.mark.filterwarnings("error:.*agent.*:UserWarning")
def test_pettingzoo_finds_no_fault(scenario: Path) -> None:
    """More cycles than the episode has intervals."""
    parallel_api_test(ParallelAuroraEnv(scenario, flows=("learner", "other")), num_cycles=150)


def test_an_agent_alone_is_the_environment_of_gymnasium(tmp_path: Path) -> None:
    """Same run, same draws: each field of each interval."""
    path = tmp_path / "one.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    parallel, single = ParallelAuroraEnv(path, flows=("learner",)), AuroraEnv(path, flow="learner")
    seen, _ = parallel.reset(seed=3)
    alone, _ = single.reset(seed=3)
    assert np.array_equal(seen["learner"], alone)
    for number in range(100):
        action = np.array([number % 7 - 3], np.float32)
        learned = parallel.step({"learner": action})
        expected = single.step(action)
        assert np.array_equal(learned[0]["learner"], expected[0])
        assert tuple(part["learner"] for part in learned[1:]) == expected[1:]
    assert parallel.agents == []
    with pytest.raises(tr.ArgumentError, match="reset"):
        parallel.step({})


def test_agents_share_the_link(scenario: Path) -> None:
    """Twice 200 packets/s on a link of 250 packets/s: three eighths are lost."""
    env = ParallelAuroraEnv(scenario, flows=("learner", "other"))
    env.reset(seed=1)
    doubled = {agent: np.array([1e9], np.float32) for agent in env.agents}
    env.step(doubled)  # both at 1,000 packets/s
    fifth = {agent: np.array([-160], np.float32) for agent in env.agents}
    env.step(fifth)
    told = [env.step(dict.fromkeys(env.agents, KEPT))[4] for _ in range(80)][30:]
    assert all(one["rate_pps"] == pytest.approx(200) for both in told for one in both.values())
    # With such losses a retransmission timer expires now and then, so the median counts.
    totals = [sum(both[agent]["throughput_pps"] for agent in env.agents) for both in told]
    assert np.median(totals) == pytest.approx(250, rel=0.02)
    losses = [one["loss"] for both in told for one in both.values()]
    assert np.mean(losses) == pytest.approx(3 / 8, abs=0.03)


def test_wrong_arguments_are_named(scenario: Path) -> None:
    with pytest.raises(tr.ArgumentError, match="nobody"):
        ParallelAuroraEnv(scenario, flows=("learner", "nobody"))
