"""The environment of Gymnasium."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import tailroom as tr
from tailroom.env import AuroraEnv, aurora_reward

SCENARIO = """
duration = "10 s"
[defaults]
host = "plain"
[links.b]
rate = "3 Mbit/s"
delay = "50 ms"
queue = { kind = "drop_tail", limit = "5 packets" }
[flows.learner]
path = ["b"]
congestion = "stepped"
rtt = "100 ms"
send_jitter = "none"
packet_size = "1500 B"
"""
"""250 packets/s, within the range of the published code."""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_gymnasium_finds_no_fault(scenario: Path) -> None:
    env = gymnasium.make("tailroom/Aurora-v0", scenario=scenario, flow="learner")
    check_env(env.unwrapped, skip_render_check=True)


def test_an_episode_ends_with_the_scenario(scenario: Path) -> None:
    env = AuroraEnv(scenario, flow="learner")
    env.reset(seed=1)
    ends = [env.step(np.zeros(1, np.float32))[2:4] for _ in range(100)]
    assert ends == [(False, False)] * 99 + [(False, True)]
    with pytest.raises(tr.ArgumentError, match="reset"):
        env.step(np.zeros(1, np.float32))


def test_the_reward_is_that_of_the_paper() -> None:
    # 250 packets/s, 120 ms, 2 %: 0.001 * (2500 - 120 - 40).
    assert aurora_reward(250, 0.12, 0.02) == pytest.approx(2.34)


def test_at_half_the_rate_of_the_link_nothing_waits(scenario: Path) -> None:
    env = AuroraEnv(scenario, flow="learner")
    env.reset(seed=1, options={"rate_pps": 125})
    seen = [env.step(np.zeros(1, np.float32)) for _ in range(40)]
    observation, reward, _, _, told = seen[-1]
    # The RTT is the propagation and 4 ms of transmission.
    assert told["latency_s"] == pytest.approx(0.104, abs=1e-4)
    assert told["loss"] == 0
    assert told["throughput_pps"] == pytest.approx(125, abs=10)
    gradient, ratio, send_ratio = observation[-3:]
    assert (gradient, ratio) == pytest.approx((0, 1), abs=1e-3)
    assert send_ratio == pytest.approx(1, abs=0.1)
    assert reward == aurora_reward(told["throughput_pps"], told["latency_s"], 0)


def test_at_twice_the_rate_of_the_link_half_is_lost(scenario: Path) -> None:
    env = AuroraEnv(scenario, flow="learner")
    env.reset(seed=1, options={"rate_pps": 500})
    lost = [env.step(np.zeros(1, np.float32))[4]["loss"] for _ in range(60)]
    assert np.mean(lost[20:]) == pytest.approx(0.5, abs=0.05)


def test_an_action_changes_the_rate_as_the_paper_says(scenario: Path) -> None:
    env = AuroraEnv(scenario, flow="learner")
    env.reset(seed=1, options={"rate_pps": 100})
    rates = [env.step(np.array([a], np.float32))[4]["rate_pps"] for a in (4, -4, 1e9, -1e9)]
    assert rates == pytest.approx([110, 100, 1000, 40])


def test_same_seed_same_episode(scenario: Path) -> None:
    env = AuroraEnv(scenario, flow="learner")
    episodes = []
    for seed in (5, 5, 6):
        first, _ = env.reset(seed=seed)
        seen = [env.step(np.array([3], np.float32))[0] for _ in range(30)]
        episodes.append(np.stack([first, *seen]))
    assert np.array_equal(episodes[0], episodes[1])
    assert not np.array_equal(episodes[0], episodes[2])


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_several_environments_run_side_by_side_and_begin_again(scenario: Path, mode: str) -> None:
    """Each is the environment with the next seed; after an episode the next one begins."""
    ratio = np.array([3], np.float32)
    vector = gymnasium.make_vec(
        "tailroom/Aurora-v0",
        num_envs=3,
        vectorization_mode=mode,
        scenario=scenario,
        flow="learner",
        interval="500 ms",
    )
    seen = [vector.reset(seed=5)[0]]
    ends = []
    for _ in range(25):
        observation, _, ended, truncated, _ = vector.step(np.tile(ratio, (3, 1)))
        seen.append(observation)
        ends.append((ended.any(), truncated.tolist()))
    vector.close()
    # 20 intervals of 0.5 s; the step after the last one only resets.
    assert [place for place, (_, over) in enumerate(ends) if any(over)] == [19]
    assert ends[19] == (False, [True] * 3)
    for place in range(3):
        env = AuroraEnv(scenario, flow="learner", interval="500 ms")
        alone = [env.reset(seed=5 + place)[0], *(env.step(ratio)[0] for _ in range(20))]
        alone += [env.reset()[0], *(env.step(ratio)[0] for _ in range(4))]
        assert np.array_equal(np.stack(alone), np.stack([one[place] for one in seen]))


def test_rewards_and_observations_have_names_or_are_functions(scenario: Path) -> None:
    def lost_least(throughput_pps: float, latency_s: float, loss: float) -> float:
        return -loss

    def waiting(steps: Sequence[tr.Seen]) -> list[int]:
        return [step.links["b"].queue_packets for step in steps] or [0, 0]

    env = AuroraEnv(scenario, flow="learner", reward=lost_least, observation=waiting)
    named = AuroraEnv(scenario, flow="learner", reward="aurora", observation="aurora")
    first, _ = env.reset(seed=1, options={"rate_pps": 500})
    named.reset(seed=1, options={"rate_pps": 500})
    assert first.tolist() == [0, 0]
    for _ in range(20):
        observation, reward, _, _, told = env.step(np.zeros(1, np.float32))
        aurora, paper, _, _, same = named.step(np.zeros(1, np.float32))
    assert told == same
    assert told["loss"] > 0
    assert (reward, paper) == (
        -told["loss"],
        aurora_reward(told["throughput_pps"], told["latency_s"], told["loss"]),
    )
    # At twice the rate of the link its buffer of 5 packets is full, or one packet has just left.
    assert observation in env.observation_space
    assert min(observation) >= 4
    assert aurora.shape == (30,)


@pytest.mark.parametrize("argument", ["reward", "observation"])
@pytest.mark.parametrize("value", ["power", 3])
def test_what_is_no_reward_or_observation_is_refused(
    scenario: Path, argument: str, value: Any
) -> None:
    with pytest.raises(tr.ArgumentError, match=rf"{argument}: .*{value}.* aurora, or"):
        gymnasium.make("tailroom/Aurora-v0", scenario=scenario, flow="learner", **{argument: value})


def test_an_observation_of_changing_shape_is_refused(scenario: Path) -> None:
    env = AuroraEnv(scenario, flow="learner", observation=lambda steps: [0.0] * len(steps))
    env.reset(seed=1)
    with pytest.raises(tr.ArgumentError, match="observation: its shape"):
        env.step(np.zeros(1, np.float32))


def test_wrong_arguments_are_named(scenario: Path) -> None:
    with pytest.raises(tr.ArgumentError, match="learner"):
        AuroraEnv(scenario, flow="nobody")
    with pytest.raises(tr.ArgumentError, match="rate_pps or set"):
        AuroraEnv(scenario, flow="learner").reset(options={"rate": 3})
