"""Number of solutions of the paper's Eq. 5, and convergence of plain iteration."""

from math import exp, log
from typing import NamedTuple

import numpy as np

from tailroom.models import Bottleneck
from tailroom.models.fixed_point.solution import Demand, whole_places
from tailroom.models.numerics.queue_chains import mm1k
from tailroom.models.numerics.root import root_between

LOG_LOADS = np.concatenate((-np.geomspace(20, 1e-7, 300), [0.0], np.geomspace(1e-7, 0.5, 200)))
"""ln(rho) from 2e-9 to 1.6, close where a long queue makes loss steep: around a load of 1."""


class Solutions(NamedTuple):
    """Of Eq. 5 at one buffer."""

    crossings: int
    """Number of loads at which the flows' load equals the given load."""
    falls: bool
    """Whether what they send in answer falls all the way, so that there can be no second."""
    slope: float
    """Of the right side of Eq. 5 at the solution: plain iteration converges between -1 and 1."""


def solutions(link: Bottleneck) -> Solutions:
    """Follows the right side of Eq. 5 over the load."""
    places, demand = whole_places(link), Demand(link)

    def answer(x: float) -> float:
        return log(demand.load(mm1k(x, places)))

    answers = np.array([answer(float(x)) for x in LOG_LOADS])
    crossings = np.flatnonzero(np.diff(np.sign(answers - LOG_LOADS)) != 0)
    before, behind = LOG_LOADS[crossings[0]], LOG_LOADS[crossings[0] + 1]
    root = root_between(lambda x: answer(x) - x, before, behind)
    step = 1e-3 / places
    slope = (exp(answer(root + step)) - exp(answer(root - step))) / (
        exp(root + step) - exp(root - step)
    )
    return Solutions(len(crossings), bool(np.all(np.diff(answers) <= 1e-12)), slope)
