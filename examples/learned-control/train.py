"""Trains a congestion control and compares it with CUBIC, on links that lose packets at random.

The control is a linear function of what Aurora's agent sees of the last interval; the cross-entropy
method (Rubinstein 1999) improves its four weights: it draws weights, keeps the best, and draws the
next ones around these. The reward is Aurora's. A minute on one core:

    python train.py
"""

import gymnasium
import numpy as np
from numpy.typing import NDArray

import tailroom as tr
import tailroom.env
from tailroom.env import aurora_reward

INTERVAL_S = 0.1
FLOW = "learner"
RATE = "links.link.rate"
SCENARIO = tr.Scenario.from_toml("""
duration = "20 s"

[links.link]
rate = "3 Mbit/s"
delay = "20 ms"
queue = { kind = "drop_tail", limit = "50 packets" }
loss = { kind = "bernoulli", probability = 0.01 }

[flows.learner]
path = ["link"]
congestion = "stepped"
rtt = "50 ms"
""")
"""One flow; a link of 1.2 to 6 Mbit/s, as the seed says, which loses 1 % of the packets."""

Weights = NDArray[np.float64]


def link(seed: int) -> dict[str, object]:
    """The link of an episode: 100 to 500 packets of 1500 B per second."""
    return {RATE: f"{np.random.default_rng(seed).uniform(1.2, 6):.3f} Mbit/s"}


def action(weights: Weights, seen: NDArray[np.float32]) -> NDArray[np.float32]:
    """At most 40, which doubles the rate: from latency gradient, latency ratio and send ratio."""
    gradient, latency, send = seen[-3:]
    features = np.array([1.0, gradient, latency - 1, send - 1])
    return np.array([40 * np.tanh(weights @ features)], np.float32)


def reward_of(env: gymnasium.Env, weights: Weights, seed: int) -> float:
    """Mean reward per interval of an episode."""
    seen, _ = env.reset(seed=seed, options={"set": link(seed)})
    rewards, is_over = [], False
    while not is_over:
        seen, reward, _, is_over, _ = env.step(action(weights, seen))
        rewards.append(float(reward))
    return float(np.mean(rewards))


def train(
    env: gymnasium.Env, rounds: int = 12, drawn: int = 24, kept: int = 6, episodes: int = 3
) -> Weights:
    """Returns the weights in the middle of the best of the last round."""
    draws = np.random.default_rng(1)
    middle, spread = np.zeros(4), np.ones(4)
    for number in range(rounds):
        candidates = middle + spread * draws.standard_normal((drawn, 4))
        seeds = range(number * episodes, (number + 1) * episodes)
        rewards = [np.mean([reward_of(env, one, seed) for seed in seeds]) for one in candidates]
        best = candidates[np.argsort(rewards)[-kept:]]
        middle, spread = best.mean(axis=0), best.std(axis=0) + 0.02
    return middle


def reward_of_cubic(seed: int) -> float:
    """Mean reward per interval of CUBIC on the same link."""
    given = {**link(seed), f"flows.{FLOW}.congestion": "cubic"}
    rewards = []
    with tr.Simulation(SCENARIO, every=INTERVAL_S, seed=seed, set=given) as run:
        for step in run:
            seen = step.flows[FLOW]
            acked, lost = seen.delivered_packets, seen.lost_packets
            loss = lost / (lost + acked) if lost + acked else 0.0
            rewards.append(aurora_reward(acked / INTERVAL_S, seen.rtt_s_mean or 0.0, loss))
    return float(np.mean(rewards))


def compare(env: gymnasium.Env, weights: Weights, seeds: range) -> tuple[NDArray[np.float64], ...]:
    """Rewards of the learner and of CUBIC, a value per seed."""
    learned = [reward_of(env, weights, seed) for seed in seeds]
    return np.array(learned), np.array([reward_of_cubic(seed) for seed in seeds])


def environment() -> gymnasium.Env:
    """The environment in which the control is trained."""
    return gymnasium.make(
        "tailroom/Aurora-v0", scenario=SCENARIO, flow=FLOW, interval=f"{INTERVAL_S} s"
    )


if __name__ == "__main__":
    env = environment()
    weights = train(env)
    learned, cubic = compare(env, weights, range(1000, 1040))
    more = learned - cubic
    # 2.02 is the 97.5 % quantile of Student's t with 39 degrees of freedom.
    width = 2.02 * more.std(ddof=1) / np.sqrt(len(more))
    print("weights:", " ".join(f"{weight:.2f}" for weight in weights))
    print(f"reward per interval: learned {learned.mean():.2f}, CUBIC {cubic.mean():.2f}")
    print(f"difference over {len(more)} fresh seeds: {more.mean():.2f} +- {width:.2f} (95 %)")
