"""The paper's own model of RED (Sec. IV), alongside which `red_fixed_point` is a modified one.

Its p(n) is over the number n of packets in the buffer, with the packet in transmission; thresholds
are 40 % of the buffer and the buffer; every arrival is dropped independently with p(n); and the
delay is that of the mean number of packets. `red_fixed_point` counts the waiting packets, n - 1,
spaces drops as ns-2 does (which makes them 2 p / (3 - p) at most), and adapts max_p.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from tailroom.models.fixed_point.solution import Demand, FixedPoint, solve
from tailroom.models.numerics.queue_chains import Stationary, ThinnedChain
from tailroom_papers.barman_2004.bounds import BOUNDS
from tailroom_papers.barman_2004.predictions import link_of_scenario
from tailroom_papers.barman_2004.settings import LIMIT
from tailroom_papers.framework import *

MIN_THRESHOLD = 0.4
"""Of the buffer, in the paper's numerical evaluation; its max_th is the buffer."""
P_MAX = 0.1
"""The paper does not give p_max; this is ns-2's."""


def chain(places: int, p_max: float) -> ThinnedChain:
    """The number of packets in the buffer, with p(n) as the paper writes it and p(K) = 1.

    Args:
        places: K, the buffer in packets.
        p_max: Drop probability at max_th.
    """
    n = np.arange(places + 1, dtype=float)
    low = MIN_THRESHOLD * places
    refusals = np.where(n <= low, 0.0, (n - low) * p_max / (places - low))
    refusals[-1] = 1.0
    return ThinnedChain(refusals)


@lru_cache(maxsize=1024)
def solved(scenario: str, places: int, p_max: float = P_MAX) -> FixedPoint:
    """The load at which the flows of a scenario and the paper's RED agree."""
    queue = chain(places, p_max)

    def at(log_load: float) -> Stationary:
        met = queue.at(log_load)
        return replace(met, wait=met.waiting + met.utilization)

    return solve(at, Demand(link_of_scenario(scenario)), places)


def of_point(point: PointResults, p_max: float = P_MAX) -> FixedPoint:
    """The same for a point of a study, with its buffer."""
    return solved(point.runs[0].scenario, round(point.number(LIMIT)), p_max)


def utilization(point: PointResults, p_max: float = P_MAX) -> float:
    """Utilization by the paper's model."""
    return of_point(point, p_max).queue.utilization


def loss(point: PointResults, p_max: float = P_MAX) -> float:
    """p_red by the paper's model."""
    return of_point(point, p_max).queue.loss


def error(point: PointResults) -> Interval:
    """By how much the paper's model lies above the simulated utilization."""
    said = utilization(point)
    return mean_interval([said - value for value in point.values("utilization")])


def is_close(what: str, point: PointResults) -> Check:
    """Whether the paper's model and the simulation are close."""
    return between(what, error(point), BOUNDS["close"])
