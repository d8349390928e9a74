"""An environment of PettingZoo in which several agents set the pacing rates of flows.

Observation, action and reward of each agent are those of `tailroom.env`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tailroom import env
from tailroom.errors import ArgumentError
from tailroom.libraries import named_if_missing
from tailroom.scenario.scenario import Scenario, ScenarioLike
from tailroom.simulation.stepping import Simulation

with named_if_missing():
    import gymnasium
    import numpy as np
    from numpy.typing import NDArray
    from pettingzoo import ParallelEnv

Seen = dict[str, NDArray[np.float32]]
Told = dict[str, dict[str, Any]]
"""Observations, and what is told in addition, by agent."""


class ParallelAuroraEnv(ParallelEnv[str, NDArray[np.float32], NDArray[np.float32]]):  # type: ignore[misc]
    """Agents that change the pacing rates of flows, named by their flows, all once per interval.

    All agents are truncated at the end of the scenario.
    """

    metadata: dict[str, Any] = {"name": "tailroom_aurora_v0", "render_modes": []}  # noqa: RUF012

    def __init__(
        self,
        scenario: ScenarioLike,
        *,
        flows: Sequence[str],
        interval: str | float = "100 ms",
        reward: env.Reward = "aurora",
    ) -> None:
        """Opens no simulation yet: `reset` does.

        Args:
            scenario: The scenario; each flow is alone in its group, with `congestion = "stepped"`.
            flows: Names of the flows.
            interval: Length of an interval, with its unit, or in seconds.
            reward: The reward of an interval for an agent: `"aurora"`, or a function, as of
                `tailroom.env.AuroraEnv`.

        Raises:
            ArgumentError: There is no such flow or reward, or an argument is out of range.
            ScenarioError: The scenario is wrong.
        """
        self._scenario = Scenario.of(scenario)
        self._interval_s = env.seconds_of_interval(interval)
        self._learners = {
            flow: env.Learner(self._scenario, flow, self._interval_s, reward=reward)
            for flow in flows
        }
        self.possible_agents = list(self._learners)
        self.agents: list[str] = []
        self._random = np.random.default_rng()
        self._run: Simulation | None = None

    def observation_space(self, agent: str) -> gymnasium.spaces.Box:
        """Returns the space of an agent's observations.

        Args:
            agent: Name of its flow.
        """
        return self._learners[agent].observation_space

    def action_space(self, agent: str) -> gymnasium.spaces.Box:
        """Returns the space of an agent's actions.

        Args:
            agent: Name of its flow.
        """
        return self._learners[agent].action_space

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[Seen, Told]:
        """Begins an episode.

        Args:
            seed: Seed of the generator that draws the seed of each run, and the rates at its start.
            options: `set`, values that replace those of the scenario. Others are ignored, as
                PettingZoo's test of environments requires.

        Returns:
            The observations before the first interval, and an empty dictionary per agent.

        Raises:
            ArgumentError: A flow is not under the stepped control.
            ScenarioError: A value of `set` is wrong.
        """
        if seed is not None:
            self._random = np.random.default_rng(seed)
        self.close()
        self._run = Simulation(
            self._scenario,
            every=self._interval_s / 2,
            seed=int(self._random.integers(2**31)),
            set=(options or {}).get("set"),
            series_samples=None,
        )
        for learner in self._learners.values():
            learner.begin(self._run, float(self._random.uniform(*env.RATES_PPS)))
        self.agents = list(self.possible_agents)
        return self._seen(), {agent: {} for agent in self.agents}

    def step(
        self, actions: Mapping[str, NDArray[np.float32]]
    ) -> tuple[Seen, dict[str, float], dict[str, bool], dict[str, bool], Told]:
        """Changes the rates, and simulates an interval.

        Args:
            actions: The action of each agent: one number; 40 doubles the rate.

        Returns:
            By agent: the observation, the reward, `False`, whether the scenario has ended, and the
            rate, the throughput, the latency and the loss of the interval.

        Raises:
            ArgumentError: The episode is over.
        """
        if self._run is None or self._run.is_over:
            raise ArgumentError("the episode is over; call reset")
        for agent, action in actions.items():
            self._learners[agent].act(self._run, action)
        steps = env.next_interval(self._run)
        learned = {agent: self._learners[agent].learn(steps) for agent in self.agents}
        ended = dict.fromkeys(self.agents, False)
        over: dict[str, bool] = dict.fromkeys(self.agents, self._run.is_over)
        seen = self._seen()
        rewards = {agent: reward for agent, (reward, _) in learned.items()}
        told: Told = {agent: {**known} for agent, (_, known) in learned.items()}
        if self._run.is_over:
            self.agents = []
        return seen, rewards, ended, over, told

    def close(self) -> None:
        """Frees the memory of the run."""
        if self._run is not None:
            self._run.close()
            self._run = None

    def _seen(self) -> Seen:
        return {agent: self._learners[agent].observation() for agent in self.agents}
