"""Eq. 5 with the slips that are plausible in its evaluation: units, logarithms, Eq. 3's forms.

The utilization of ten HighSpeed flows on Figure 3's link, by Eqs. 3 to 5, from constants that each
slip changes. Without a slip it is the model `drop_tail_fixed_point` with equal RTTs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import exp, expm1, log, log10, sqrt

from tailroom.models.numerics.root import root_between
from tailroom.models.window_laws import reno
from tailroom.models.window_laws.highspeed import DEFAULTS
from tailroom_papers.barman_2004.settings import FIGURE_3, PACKET_BITS

FLOWS = 10
BYTE_BITS = 8
PACKET_BYTES = PACKET_BITS / BYTE_BITS
LOG_WINDOWS = log(DEFAULTS.high_window / DEFAULTS.low_window)
LOG_LOSSES = log(DEFAULTS.high_p / DEFAULTS.low_p)
MOST_LOG_LOAD = -1e-9
LEAST_LOG_LOAD = -12.0
LEAST_LOSS = 1e-100
"""It keeps windows finite."""


@dataclass(frozen=True)
class Evaluation:
    """What an evaluation of Eq. 5 takes for each quantity."""

    form: str = "last"
    """Form of Eq. 3."""
    exponent: float = 1.0
    """Factor of A/c."""
    buffer: float = 1.0
    """Factor of K."""
    delay: float = 1.0
    """Factor of the queueing delay in R_i."""
    rtt: float = 1.0
    """Factor of 2 d_i."""
    capacity: float = 1.0
    """Factor of C in Eq. 4."""
    flows: int = FLOWS
    loss: float = 1.0
    """Factor of p."""


@dataclass(frozen=True)
class Slip:
    """A plausible slip."""

    words: str
    field: str
    """The field of `Evaluation` that it changes."""
    value: object

    def of(self, evaluation: Evaluation) -> Evaluation:
        """The evaluation with this slip, too."""
        return replace(evaluation, **{self.field: self.value})  # type: ignore[arg-type]


SLIPS = (
    Slip("buffer K in bytes taken for bits: K / 8", "buffer", 1 / BYTE_BITS),
    Slip("buffer K per flow: K / 10", "buffer", 1 / FLOWS),
    Slip("buffer K halved", "buffer", 0.5),
    Slip("buffer K in bits taken for bytes: 8 K", "buffer", BYTE_BITS),
    Slip("delay in bits for bytes: 8 times", "delay", BYTE_BITS),
    Slip("delay in bytes for bits: 1/8", "delay", 1 / BYTE_BITS),
    Slip("delay with C in packets/s (MSS twice)", "delay", PACKET_BYTES),
    Slip("no queueing delay", "delay", 0.0),
    Slip("2 d_i with d_i = RTT", "rtt", 2.0),
    Slip("d_i in place of 2 d_i", "rtt", 0.5),
    Slip("largest RTT for the mean", "rtt", FIGURE_3.rtts_ms[1] / (1e3 * FIGURE_3.mean_rtt_s)),
    Slip("C in bits for bytes: 8 C", "capacity", BYTE_BITS),
    Slip("C in bytes for bits: C / 8", "capacity", 1 / BYTE_BITS),
    Slip("one flow in the sum of Eq. 4", "flows", 1),
    Slip("p in percent", "loss", 100.0),
    Slip("p_l in percent", "loss", 0.01),
    Slip("log10 in A, ln in c", "exponent", log10(exp(1))),
    Slip("ln in A, log10 in c", "exponent", log(10)),
    Slip("log2 in A, ln in c", "exponent", 1 / log(2)),
    Slip("ln in A, log2 in c", "exponent", log(2)),
    Slip("Eq. 3, first form", "form", "first"),
    Slip("Eq. 3, exponents as typeset", "form", "typeset"),
    Slip("Eq. 3 without its bracket", "form", "no bracket"),
    Slip("Eq. 3 without 1 + A/c", "form", "no factor"),
    Slip("Eq. 3 with 1 - b for b", "form", "1 - b"),
    Slip("Eq. 3 with b = 0.1", "form", "b high"),
    Slip("window after the loss for the mean", "form", "after"),
    Slip("standard TCP's throughput", "form", "reno"),
)


def _low_loss(log_load: float, buffer: float) -> float:
    """Loss p of M/M/1/K at a load below 1."""
    return exp(buffer * log_load) * expm1(log_load) / expm1((buffer + 1) * log_load)


def _wait(log_load: float, buffer: float) -> float:
    """Packets that a packet finds, in Eq. 5's form."""
    at_k = exp(buffer * log_load)
    return -exp(log_load) / expm1(log_load) + buffer * at_k / expm1(buffer * log_load)


def _window(p: float, given: Evaluation) -> float:
    """Packets per round trip by Eq. 3."""
    of_reno = reno.PERIODIC / sqrt(p)
    power = LOG_WINDOWS / LOG_LOSSES * given.exponent
    w = DEFAULTS.low_window * exp(power * log(p / DEFAULTS.low_p))
    if given.form == "reno" or w < DEFAULTS.low_window:
        return of_reno
    b, q = float(DEFAULTS.decrease(w)), 1 / power
    if given.form == "1 - b":
        b = 1 - b
    if given.form == "b high":
        b = DEFAULTS.high_decrease
    upper = (1 - b) ** -q - 1
    lower = (1 - b) ** -(1 + q) - 1
    factors = {
        "first": (1 + power) * upper / lower,
        "1 - b": (1 + power) * upper / lower,
        "b high": (1 + power) * upper / lower,
        "typeset": (1 + power) * upper / ((1 - b) ** (-1 / (1 + q)) - 1),
        "no bracket": 1 + power,
        "no factor": upper / lower,
        "after": 1 - b,
    }
    return float(w * abs(factors.get(given.form, 1.0)))


def utilization(given: Evaluation, fraction: float) -> float:
    """Utilization of Figure 3's link by Eqs. 3 to 5.

    Args:
        given: What the evaluation takes for each quantity.
        fraction: Buffer as a fraction of 12,500 packets.
    """
    capacity = FIGURE_3.capacity_bps / PACKET_BITS
    buffer = max(1.0, fraction * FIGURE_3.full_packets * given.buffer)

    def missing(log_load: float) -> float:
        p = max(LEAST_LOSS, _low_loss(log_load, buffer) * given.loss)
        trip = FIGURE_3.mean_rtt_s * given.rtt + given.delay * _wait(log_load, buffer) / capacity
        sent = given.flows * _window(p, given) / trip / (capacity * given.capacity)
        return log(sent) - log_load

    if missing(MOST_LOG_LOAD) > 0:
        return 1.0
    log_load = root_between(missing, LEAST_LOG_LOAD, MOST_LOG_LOAD)
    return exp(log_load) * (1 - _low_loss(log_load, buffer))


def buffer_divisor(fraction: float, wanted: float) -> float:
    """Returns the factor by which K must shrink to reach a utilization.

    Args:
        fraction: Buffer as a fraction of 12,500 packets.
        wanted: Utilization in (0, 1), below that of Eq. 5.
    """

    def missing(log_divisor: float) -> float:
        return utilization(Evaluation(buffer=exp(-log_divisor)), fraction) - wanted

    return exp(root_between(missing, 0.0, log(fraction * FIGURE_3.full_packets)))


def distance(given: Evaluation, stated: Sequence[tuple[float, float]]) -> float:
    """Largest distance from the utilizations that the paper states, in [0, 1].

    Args:
        given: What the evaluation takes for each quantity.
        stated: Fractions of the buffer and utilizations in percent.
    """
    return max(abs(utilization(given, at) - percent / 100) for at, percent in stated)


def ranked(
    stated: Sequence[tuple[float, float]], together: int = 1
) -> list[tuple[float, tuple[Slip, ...]]]:
    """Distances of all combinations of so many slips, the nearest first."""
    found = []
    for slips in combinations(SLIPS, together):
        if len({slip.field for slip in slips}) < together:
            continue
        given = Evaluation()
        for slip in slips:
            given = slip.of(given)
        found.append((distance(given, stated), slips))
    return sorted(found, key=lambda one: one[0])
