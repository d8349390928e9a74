"""How often `tailroom size` is right about a queue whose loss has a closed form, over 200 seeds.

python -m tests.validation.size_confidence

Poisson arrivals of packets with exponential sizes at a DropTail link are M/M/1/K: the smallest
limit for a loss is known exactly. The runs of a buffer stop as soon as its verdict is clear; the
answer must not be biased by that, and the stated confidence of 95 % must hold.
"""

import sys
from collections.abc import Iterator

import numpy as np

import tailroom as tr
from tailroom_papers.framework import above
from tests.validation.frame import Claim, Item, Validation

REPETITIONS = 200
LOAD = 0.8
"""Offered load; sizes are rounded up by half a byte in 5,000, hence `ROUNDING`."""
ROUNDING = 1.0001
PLACES = 9
"""Packets in the system, the one in transmission included, that just suffice."""
MARGIN = 0.3
"""The bound lies this part of the way from the loss of the answer to that of one packet less."""
GOAL = 0.94
"""Share of the intervals that must hold the truth."""
LEAST = GOAL - 2 * (GOAL * (1 - GOAL) / REPETITIONS) ** 0.5
"""The goal but for two standard errors of a share of 200."""


def loss_of_a_queue(places: int, rho: float) -> float:
    """M/M/1/K, by the recursion B_K = rho B_(K-1) / (1 + rho B_(K-1))."""
    blocked = 1.0
    for _ in range(places):
        blocked = rho * blocked / (1 + rho * blocked)
    return blocked


def places_for(loss: float, rho: float) -> float:
    """The number of places, not whole, at which the closed form of M/M/1/K has a loss."""
    low, high = 1.0, 2.0 * PLACES
    for _ in range(60):
        middle = (low + high) / 2
        is_short = (1 - rho) * rho**middle / (1 - rho ** (middle + 1)) > loss
        low, high = (middle, high) if is_short else (low, middle)
    return low


SCENARIO = f"""
duration = "26 s"
measure_from = "1 s"
[links.queue]
rate = "40 Mbit/s"
delay = "1 ms"
queue = {{ kind = "drop_tail", limit = "100 packets" }}
[flows.arrivals]
path = ["queue"]
packet_size = "5000 B"
source = {{ kind = "poisson", rate = "{40 * LOAD} Mbit/s", sizes = "exponential" }}
"""
"""20,000 packets per run."""


def items() -> Iterator[Item]:
    """Asks 200 times: answers, bounds and intervals are right as often as they say."""
    just, short = (loss_of_a_queue(places, ROUNDING * LOAD) for places in (PLACES, PLACES - 1))
    bound = just + MARGIN * (short - just)
    right = PLACES - 1  # The limit leaves out the packet in transmission.
    edge = places_for(bound, ROUNDING * LOAD) - 1
    suffices, is_exact, is_bounded, is_held, is_edge_held, runs = [], [], [], [], [], []
    for repetition in range(REPETITIONS):
        scenario = tr.Scenario.from_toml(f"seed = {1 + 1_000_000 * repetition}\n{SCENARIO}")
        found = tr.size(scenario, [f"loss_fraction <= {bound}"])
        answer, chosen = found.limit_packets, found.chosen
        assert answer is not None
        assert chosen is not None
        suffices.append(answer >= right)
        is_exact.append(answer == right)
        is_bounded.append(found.too_small < right)
        # The test for lack of fit refuses one search in a hundred.
        limits = found.interval
        is_edge_held.append(limits is not None and limits.low <= edge <= limits.high)
        interval = chosen.interval("loss_fraction")
        is_held.append(
            interval.low <= loss_of_a_queue(answer + 1, ROUNDING * LOAD) <= interval.high
        )
        runs.append(sum(len(one.point.keys) for one in found.tried))
    for what, outcomes, least in (
        ("the answer suffices", suffices, LEAST),
        ("the answer is the smallest that does, to a packet", is_exact, 0.5),
        ("what is called too small is so", is_bounded, LEAST),
        ("the interval of the answer holds the limit of the closed form", is_edge_held, LEAST),
        ("the interval of the answer's loss holds the true one", is_held, LEAST),
    ):
        share = float(np.mean(outcomes))
        text = f"{what}: {share:.1%}, at least {least:.1%}"
        yield Claim(text, (above("share", share, least, percent=True),))
    yield (
        f"{np.mean(runs):.0f} runs a question; 32 of each buffer would be "
        f"{32 * len(found.tried):.0f}"
    )


main = Validation(items)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
