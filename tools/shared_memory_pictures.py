"""Draws what alpha costs in the smallest model of shared memory.

python tools/shared_memory_pictures.py

Two queues share memory for 20 packets; Poisson packets of exponential sizes load one link twofold
and the other by half. The lines are exact, from the Markov chain; the dots are runs. Writes
docs/images/shared_memory.png, in a minute.
"""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import tailroom as tr
from tailroom.plots import style
from tailroom.statistics.intervals import mean_interval

REPOSITORY = Path(__file__).parents[1]
IMAGE = REPOSITORY / "docs/images/shared_memory.png"
DOTS_PER_INCH = 110

PLACES = 20
LOADS = {"busy": 2.0, "quiet": 0.5}
ALPHAS = [2.0**exponent for exponent in range(-3, 6)]
SEEDS = range(1, 9)
PACKET_BYTES, CELL_BYTES, RATE_BPS = 5000, 65536, 40_000_000
"""The mean packet takes 1 ms, and each packet one cell."""


Document = Any
"""A scenario as TOML has it."""


def main() -> None:
    """Writes the picture."""
    _figure().savefig(IMAGE, dpi=DOTS_PER_INCH, metadata={"Software": None})
    print(f"wrote {IMAGE.relative_to(REPOSITORY)}")


def exact_losses(alpha: float) -> list[float]:
    """The loss of each queue, from the stationary distribution of the Markov chain.

    A packet that is served keeps its place; time is in mean services.
    """
    states = [state for state in product(range(PLACES + 1), repeat=2) if sum(state) <= PLACES]
    number = {state: index for index, state in enumerate(states)}
    rates = np.zeros((len(states), len(states)))
    refused = np.zeros((2, len(states)))
    for (state, index), (queue, load) in product(number.items(), enumerate(LOADS.values())):
        step = np.eye(2, dtype=int)[queue]
        if state[queue] > 0:
            rates[index, number[tuple(state - step)]] += 1.0
        if state[queue] < alpha * (PLACES - sum(state)):
            rates[index, number[tuple(state + step)]] += load
        else:
            refused[queue, index] = 1.0
    rates -= np.diag(rates.sum(axis=1))
    balance = np.vstack([rates.T, np.ones(len(states))])
    target = np.append(np.zeros(len(states)), 1.0)
    share = np.linalg.lstsq(balance, target, rcond=None)[0]
    return [float(loss) for loss in refused @ share]


def scenario(alpha: float) -> Document:
    """The two links and their memory."""
    link = {"rate": f"{RATE_BPS} bit/s", "delay": "0 s", "queue": "drop_tail", "pool": "memory"}
    return {
        "duration": "205 s",
        "measure_from": "5 s",
        "pools": {
            "memory": {
                "size": f"{PLACES * CELL_BYTES} B",
                "cell": f"{CELL_BYTES} B",
                "policy": {"kind": "dynamic_threshold", "alpha": alpha},
            }
        },
        "links": dict.fromkeys(LOADS, link),
        "flows": {
            name: {
                "path": [name],
                "packet_size": f"{PACKET_BYTES} B",
                "source": {
                    "kind": "poisson",
                    "rate": f"{load * RATE_BPS:.0f} bit/s",
                    "sizes": "exponential",
                },
            }
            for name, load in LOADS.items()
        },
    }


def _figure() -> Figure:
    runs = {alpha: [tr.run(scenario(alpha), seed=seed) for seed in SEEDS] for alpha in ALPHAS}
    fine = [2.0**exponent for exponent in np.linspace(-3, 5, 65)]
    exact = np.array([exact_losses(alpha) for alpha in fine])
    figure = Figure(figsize=(6.5, 3.6), layout="constrained")
    axes = figure.subplots()
    for index, (name, load) in enumerate(LOADS.items()):
        color = style.COLOURS[index + 1]
        axes.plot(fine, exact[:, index], color=color, label=f"{name} link, load {load:g}")
        for alpha, repeated in runs.items():
            interval = mean_interval([run.links[name]["loss_fraction"] or 0.0 for run in repeated])
            axes.errorbar(alpha, interval.mean, interval.half_width, fmt="o", color=color, ms=4)
    axes.set_xscale("log", base=2)
    axes.set_xticks(ALPHAS, [f"{alpha:g}" for alpha in ALPHAS])
    axes.set(yscale="log", xlabel="alpha", ylabel="loss")
    axes.legend(fontsize="small")
    return figure


if __name__ == "__main__":
    main()
