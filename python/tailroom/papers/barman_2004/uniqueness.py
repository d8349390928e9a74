"""How many solutions the paper's Eq. 5 has, and whether plain iteration finds one."""

from math import exp, log
from typing import NamedTuple

import numpy as np

from tailroom.models import Bottleneck
from tailroom.models.fixed_point import Demand, whole_places
from tailroom.models.queue_chains import mm1k

LOG_LOADS = np.concatenate((np.linspace(-20, -0.5, 400), np.linspace(-0.5, 0.5, 8001)[1:]))
"""ln(rho) from 2e-9 to 1.6: beyond, ten flows lose nearly half of what they send."""


class Solutions(NamedTuple):
    """Of Eq. 5 at one buffer."""

    crossings: int
    """Loads at which what the flows send crosses the load that they are given."""
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
    excess = answers - LOG_LOADS
    crossings = np.flatnonzero(np.diff(np.sign(excess)) != 0)
    root = float(LOG_LOADS[crossings[0]]) if len(crossings) else 0.0
    step = 1e-3 / places
    slope = (exp(answer(root + step)) - exp(answer(root - step))) / (
        exp(root + step) - exp(root - step)
    )
    return Solutions(len(crossings), bool(np.all(np.diff(answers) <= 1e-12)), slope)
