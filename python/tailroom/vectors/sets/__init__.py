"""The sets of vectors, a file each; their expectations follow from the sources alone."""

from collections.abc import Callable, Iterator
from importlib import import_module

from tailroom.vectors.vector import Vector

SETS = {
    "reno": "Slow start, congestion avoidance, halving, NewReno and timeouts",
    "cubic": "CUBIC: the cubic function, fast convergence, the Reno-friendly region",
    "highspeed": "HighSpeed TCP: each row of the table of RFC 3649",
    "fhstcp": "FHSTCP: growth in proportion to the RTT",
    "dctcp": "DCTCP: the estimate alpha, and reductions by it",
    "prague": "Prague: the first mark, marks without end, growth at a short RTT",
    "bbr3": "BBRv3: all 22 test cases of the draft, and restarts from idle",
    "hystart": "HyStart++: when slow start ends, and when it does not",
    "recovery": "Proportional rate reduction, RACK, and tail loss probes",
    "linux": "Linux's sender at each ACK: window, recovery, timers, pacing, bursts",
    "codel": "CoDel: when it drops",
    "fq_codel": "FQ-CoDel: equal bytes, sparse flows first, drops from the largest queue",
    "pie": "PIE: bursts, small probabilities, and the delay that it keeps",
    "red": "RED: the average queue that it settles at",
    "dual_pi2": "DualPI2: marks of L4S packets, by the classic loss and by their delay",
    "shared_memory": "Dynamic thresholds: what congested ports get",
    "headroom": "PFC headrooms of published tables",
}


def all_vectors() -> list[Vector]:
    """Returns every vector, in the order of the sets."""
    return [vector for name in SETS for vector in vectors_of(name)]


def vectors_of(name: str) -> Iterator[Vector]:
    """Yields the vectors of a set."""
    make: Callable[[], Iterator[Vector]] = import_module(f"{__name__}.{name}").vectors
    return make()
