"""An environment of Gymnasium in which an agent sets the pacing rate of a flow.

Observation, action and reward are those of Aurora (Jay, Rotman, Godfrey, Schapira, Tamar 2019, "A
deep reinforcement learning perspective on Internet congestion control"), with the constants of its
published code.

    import gymnasium
    import tailroom.env

    simulated = gymnasium.make("tailroom/Aurora-v0", scenario="scenario.toml", flow="learner")
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from tailroom.errors import ArgumentError
from tailroom.libraries import named_if_missing
from tailroom.scenario.scenario import Scenario, ScenarioLike
from tailroom.simulation.stepping import Simulation

with named_if_missing():
    import gymnasium
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

from tailroom._engine import Seen, SeenFlow, quantity
from tailroom.scenario.named_values import nearest

HISTORY = 10
"""Intervals of an observation, in the paper and in the published code."""
ALPHA = 0.025
"""Factor of a change of the rate, in the paper and in the published code."""
RATES_PPS = (40.0, 1000.0)
"""Bounds of the rate in the published code, in packets/s."""
REWARD_SCALE = 0.001
"""Factor of the reward in the published code."""
MOST_SEND_RATIO = 1000.0
"""Largest ratio of packets sent to packets acknowledged in the published code; above, it is 1."""
WINDOW = 5000
"""The window, in packets: it limits no flow (the published code's `MAX_CWND`)."""

RewardFunction: TypeAlias = Callable[[float, float, float], float]
"""A reward from throughput in packets/s, latency in seconds, and the fraction of packets lost."""
Reward: TypeAlias = str | RewardFunction
"""A reward by its name in `REWARDS`, or a function."""
ObservationFunction: TypeAlias = Callable[[Sequence[Seen]], ArrayLike]
"""An observation, of one shape, from the steps of an interval; there are none before the first."""
Observation: TypeAlias = str | ObservationFunction
"""An observation by its name (`"aurora"`), or a function."""


def aurora_reward(throughput_pps: float, latency_s: float, loss: float) -> float:
    """Returns 10 x throughput - 1000 x latency - 2000 x loss, scaled by 0.001.

    Args:
        throughput_pps: Packets acknowledged per second.
        latency_s: Mean RTT of the interval, in seconds; 0 without samples.
        loss: Packets lost over packets lost or acknowledged.
    """
    return REWARD_SCALE * (10.0 * throughput_pps - 1000.0 * latency_s - 2000.0 * loss)


REWARDS: dict[str, RewardFunction] = {"aurora": aurora_reward}
"""The rewards that have a name."""


def reward_function(reward: Reward) -> RewardFunction:
    """Returns the function that a reward stands for.

    Args:
        reward: A name, or a function.

    Raises:
        ArgumentError: There is no reward of this name, or it is neither a name nor a function.
    """
    if callable(reward):
        return reward
    if reward in REWARDS:
        return REWARDS[reward]
    raise ArgumentError(
        f"reward: there is no {reward!r}; choose one of {', '.join(REWARDS)}, or give a function "
        "of throughput (packets/s), latency (s) and loss"
    )


def observation_function(observation: Observation) -> ObservationFunction | None:
    """Returns the function that an observation stands for; `None` for that of Aurora.

    Args:
        observation: A name, or a function.

    Raises:
        ArgumentError: There is no observation of this name, or it is neither a name nor a function.
    """
    if callable(observation):
        return observation
    if observation == "aurora":
        return None
    raise ArgumentError(
        f"observation: there is no {observation!r}; choose aurora, or give a function of the steps "
        "of an interval"
    )


class Learner:
    """What an agent does and sees: it changes the pacing rate of one flow once per interval."""

    def __init__(  # noqa: PLR0913 - each is an option of the environments
        self,
        scenario: Scenario,
        flow: str,
        interval_s: float,
        *,
        reward: Reward,
        rates_pps: tuple[float, float] = RATES_PPS,
        observation: Observation = "aurora",
    ) -> None:
        """Reads the packet size of the flow.

        Args:
            scenario: The scenario.
            flow: Name of the flow, alone in its group.
            interval_s: Length of an interval in seconds.
            reward: The reward of an interval.
            rates_pps: Lowest and highest rate, in packets/s.
            observation: The observation after an interval.

        Raises:
            ArgumentError: There is no such flow, reward or observation.
            ScenarioError: The scenario is wrong.
        """
        groups = scenario.resolved["flows"]
        if flow not in groups:
            raise ArgumentError(f"flow: there is no {flow!r}; {nearest(flow, groups)}")
        self._packet_bits = 8.0 * quantity("size", groups[flow]["packet_size"])
        self._flow, self._interval_s = flow, interval_s
        self._reward = reward_function(reward)
        self._own_observation = observation_function(observation)
        self._seen: Sequence[Seen] = ()
        self._rates_pps = rates_pps
        self._rate_pps = 0.0
        self._lowest_s = 0.0
        self._history: deque[tuple[float, float, float]] = deque(maxlen=HISTORY)
        # The bounds of the published code.
        low, high = np.array([-1.0, 0.0, 0.0]), np.array([10.0, 10_000.0, MOST_SEND_RATIO])
        self.observation_space = gymnasium.spaces.Box(
            np.tile(low, HISTORY).astype(np.float32), np.tile(high, HISTORY).astype(np.float32)
        )
        if self._own_observation:
            shape = np.shape(self._own_observation(()))
            self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, shape, np.float32)
        self.action_space = gymnasium.spaces.Box(-1e12, 1e12, (1,), np.float32)

    def begin(self, run: Simulation, rate_pps: float) -> None:
        """Begins an episode.

        Args:
            run: The simulation, before its first step.
            rate_pps: The rate in packets/s.
        """
        self._hold(run, rate_pps)
        self._lowest_s = 0.0
        self._seen = ()
        self._history.extend([(0.0, 1.0, 1.0)] * HISTORY)

    def act(self, run: Simulation, action: NDArray[np.float32]) -> None:
        """Changes the rate.

        Args:
            run: The simulation.
            action: One number; 40 doubles the rate.
        """
        change = ALPHA * float(np.asarray(action).reshape(-1)[0])
        up, down = 1 + max(change, 0), 1 + max(-change, 0)
        self._hold(run, self._rate_pps * up / down)

    def learn(self, seen: list[Seen]) -> tuple[float, dict[str, float]]:
        """Returns the reward of an interval, and its rate, throughput, latency and loss.

        Args:
            seen: The steps of the interval.
        """
        self._seen = seen
        halves = [step.flows[self._flow] for step in seen]
        sent = sum(half.sent_packets for half in halves)
        acked = sum(half.delivered_packets for half in halves)
        lost = sum(half.lost_packets for half in halves)
        latency_s = _mean_rtt_s(halves)
        self._history.append(
            (self._gradient(halves), self._ratio(latency_s), _send_ratio(sent, acked))
        )
        throughput_pps = acked / self._interval_s
        loss = lost / (lost + acked) if lost + acked else 0.0
        told = {
            "rate_pps": self._rate_pps,
            "throughput_pps": throughput_pps,
            "latency_s": latency_s,
            "loss": loss,
        }
        return self._reward(throughput_pps, latency_s, loss), told

    def observation(self) -> NDArray[np.float32]:
        """Returns the observation after the last interval.

        Raises:
            ArgumentError: A function of the caller's returned an observation of another shape.
        """
        if self._own_observation:
            own = np.asarray(self._own_observation(self._seen), np.float32)
            if own.shape != self.observation_space.shape:
                raise ArgumentError(
                    f"observation: its shape is {own.shape} after an interval, and "
                    f"{self.observation_space.shape} before the first; return one shape"
                )
            return own
        seen = np.array(self._history, np.float32).reshape(-1)
        return np.clip(seen, self.observation_space.low, self.observation_space.high)

    def _hold(self, run: Simulation, rate_pps: float) -> None:
        lowest, highest = self._rates_pps
        self._rate_pps = min(max(rate_pps, lowest), highest)
        bits = round(self._rate_pps * self._packet_bits)
        run.act(flow=self._flow, window=WINDOW, pacing_rate=bits)

    def _gradient(self, halves: list[SeenFlow]) -> float:
        first, second = halves[0].rtt_s_mean, halves[-1].rtt_s_mean
        return 0.0 if first is None or second is None else (second - first) / self._interval_s

    def _ratio(self, latency_s: float) -> float:
        if latency_s == 0:
            return 1.0
        self._lowest_s = min(latency_s, self._lowest_s or latency_s)
        return latency_s / self._lowest_s


def seconds_of_interval(interval: str | float) -> float:
    """Returns the length of an interval in seconds.

    Args:
        interval: The length with its unit, or in seconds.

    Raises:
        ArgumentError: It is not a positive duration.
    """
    text = interval if isinstance(interval, str) else f"{interval:.12f} s"
    return quantity("positive_duration", text)


def next_interval(run: Simulation) -> list[Seen]:
    """Simulates an interval; returns what is seen in its two steps."""
    return [seen for seen in (run.step(), run.step()) if seen]


class AuroraEnv(gymnasium.Env[NDArray[np.float32], NDArray[np.float32]]):
    """An agent that changes the pacing rate of one flow once per interval.

    Unless `observation` is a function, an observation has 30 numbers: of each of the last 10
    intervals, the oldest first, the latency gradient (mean RTT of the second half less that of the
    first, over the length of the interval), the latency ratio (mean RTT over the lowest mean of an
    interval so far), and the send ratio (packets sent over packets acknowledged). An action `a`
    multiplies the rate by 1 + 0.025 a, or divides it by 1 - 0.025 a if it is negative. An episode
    is truncated at the end of the scenario; it never terminates. Unlike in the published code,
    intervals are equally long, and a packet counts as lost when a queue or a wire loses it.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(  # noqa: PLR0913 - each is an option of the environment
        self,
        scenario: ScenarioLike,
        *,
        flow: str,
        interval: str | float = "100 ms",
        reward: Reward = "aurora",
        observation: Observation = "aurora",
        rates_pps: tuple[float, float] = RATES_PPS,
    ) -> None:
        """Opens no simulation yet: `reset` does.

        Args:
            scenario: The scenario; the flow is alone in its group, with `congestion = "stepped"`.
            flow: Name of the flow.
            interval: Length of an interval, with its unit, or in seconds.
            reward: The reward of an interval: `"aurora"`, or a function of throughput in
                packets/s, latency in seconds, and the fraction of packets lost.
            observation: What the agent sees: `"aurora"`, or a function of the steps of the last
                interval: two, one if the scenario ends after the first, or none before the first
                interval. It returns numbers of one shape.
            rates_pps: Lowest and highest rate, in packets/s.

        Raises:
            ArgumentError: There is no such flow, reward or observation, or an argument is out of
                range.
            ScenarioError: The scenario is wrong.
        """
        self._scenario = Scenario.of(scenario)
        self._interval_s = seconds_of_interval(interval)
        self._rates_pps = rates_pps
        self._learner = Learner(
            self._scenario,
            flow,
            self._interval_s,
            reward=reward,
            rates_pps=rates_pps,
            observation=observation,
        )
        self._run: Simulation | None = None
        self.observation_space = self._learner.observation_space
        self.action_space = self._learner.action_space

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins an episode.

        Args:
            seed: Seed of the generator that draws the seed of each run, and the rate at its start.
            options: `rate_pps`, the rate at the start, and `set`, values that replace those of the
                scenario.

        Returns:
            The observation before the first interval, and an empty dictionary.

        Raises:
            ArgumentError: The flow is not under the stepped control, or an option is wrong.
            ScenarioError: A value of `set` is wrong.
        """
        super().reset(seed=seed, options=dict(options or {}))
        given = dict(options or {})
        self.close()
        run_seed = int(self.np_random.integers(2**31))
        drawn = float(self.np_random.uniform(*self._rates_pps))
        self._run = Simulation(
            self._scenario,
            every=self._interval_s / 2,
            seed=run_seed,
            set=given.pop("set", None),
            series_samples=None,
        )
        self._learner.begin(self._run, float(given.pop("rate_pps", drawn)))
        if given:
            raise ArgumentError(f"options: there is no {next(iter(given))!r}; give rate_pps or set")
        return self._learner.observation(), {}

    def step(
        self, action: NDArray[np.float32]
    ) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Changes the rate, and simulates an interval.

        Args:
            action: One number; 40 doubles the rate.

        Returns:
            The observation, the reward, `False`, whether the scenario has ended, and the rate, the
            throughput, the latency and the loss of the interval.

        Raises:
            ArgumentError: The episode is over.
        """
        if self._run is None or self._run.is_over:
            raise ArgumentError("the episode is over; call reset")
        self._learner.act(self._run, action)
        reward, told = self._learner.learn(next_interval(self._run))
        return self._learner.observation(), reward, False, self._run.is_over, told

    def close(self) -> None:
        """Frees the memory of the run."""
        if self._run is not None:
            self._run.close()
            self._run = None


def _mean_rtt_s(halves: list[SeenFlow]) -> float:
    """Returns the mean RTT of the packets acknowledged; 0 without samples."""
    samples = [(half.rtt_s_mean, half.delivered_packets) for half in halves if half.rtt_s_mean]
    packets = sum(count for _, count in samples)
    return sum(rtt_s * count for rtt_s, count in samples) / packets if packets else 0.0


def _send_ratio(sent: int, acked: int) -> float:
    return sent / acked if acked and sent < MOST_SEND_RATIO * acked else 1.0


gymnasium.register("tailroom/Aurora-v0", entry_point="tailroom.env:AuroraEnv")
