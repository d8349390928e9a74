"""Window laws against RED: a birth-death chain that the queue itself thins."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, expm1, inf, log

import numpy as np

from tailroom.errors import NotApplicableError
from tailroom.models.bottleneck import Bottleneck
from tailroom.models.fixed_point.drop_tail_fixed_point import exponential_sizes
from tailroom.models.fixed_point.solution import (
    Demand,
    FixedPoint,
    Laws,
    limit_for_utilization,
    whole_places,
)
from tailroom.models.fixed_point.solution import assumptions as of_every_fixed_point
from tailroom.models.fixed_point.solution import solve as solve_queue
from tailroom.models.model import Assumption, Model, Prediction, Requirement, assume
from tailroom.models.numerics.queue_chains import ThinnedChain
from tailroom.models.numerics.root import root_between
from tailroom.models.window_laws.window_law import Floats
from tailroom.written_numbers import number

HALF_TARGET_DELAY_S = 2.5e-3
LEAST_MIN_THRESHOLD = 5.0
MAX_OVER_MIN = 3.0
"""Automatic thresholds: Floyd, Gummadi and Shenker 2001 sec. 6."""
TARGET_MARGIN = 0.4
"""Where the target of the average begins and ends, as a part of the way between the thresholds
(sec. 4 there)."""
MOST_STATES = 2_100_000


@dataclass(frozen=True)
class Red:
    """RED's parameters, thresholds in packets that wait."""

    min_threshold: float
    max_threshold: float
    max_p: float = 0.1
    gentle: bool = True
    uniform: bool = True
    wait: bool = False
    range_of_max_p: tuple[float, float] | None = None
    """Of Adaptive RED; `None` where `max_p` is fixed."""

    @property
    def forced_threshold(self) -> float:
        """Queue length from which every packet is dropped."""
        return (2 if self.gentle else 1) * self.max_threshold

    def drop_probability(self, waiting: Floats, max_p: float) -> Floats:
        """Returns the drop probability at this number of waiting packets; nondecreasing.

        p_b of Floyd and Jacobson 1993 at w_q = 1, nothing below two waiting packets (as in ns-2).
        Gaps that are `uniform` on 1 to 1/p_b - 1 make it 2 p_b, and those on 1/p_b to 2/p_b - 1
        (`wait`) 2 p_b / (3 - p_b).
        """
        low, high = self.min_threshold, self.max_threshold
        p = max_p * np.clip((waiting - low) / (high - low), 0.0, 1.0)
        p[waiting < 2] = 0.0
        if self.gentle:
            p += (1 - max_p) * np.clip((waiting - high) / high, 0.0, 1.0)
        p[waiting >= self.forced_threshold] = 1.0
        if self.wait:
            return 2 * p / (3 - p)
        return np.minimum(1.0, 2 * p) if self.uniform else p


def parameters(link: Bottleneck) -> Red:
    """RED's parameters, with its automatic thresholds.

    Raises:
        NotApplicableError: The buffer is not under RED.
    """
    if link.discipline not in ("red", "adaptive_red"):
        raise NotApplicableError(f"link {link.name}: its buffer is {link.discipline}, not RED")
    given, adaptive = link.parameters, link.discipline == "adaptive_red"
    automatic = max(LEAST_MIN_THRESHOLD, HALF_TARGET_DELAY_S * link.capacity_pps)
    low = link.amounts_packets.get("min_threshold", automatic)
    return Red(
        min_threshold=low,
        max_threshold=link.amounts_packets.get("max_threshold", MAX_OVER_MIN * low),
        max_p=given["max_p"],
        gentle=given["gentle"],
        uniform=adaptive or given["uniform"],
        wait=given["wait"],
        range_of_max_p=(given["lowest_max_p"], given["highest_max_p"]) if adaptive else None,
    )


def chain(red: Red, max_p: float, places: float = inf) -> ThinnedChain:
    """The number of packets in the system, at most `places`, with the packet in service.

    A packet that arrives at n packets finds n - 1 waiting packets.
    """
    states = int(min(places, red.forced_threshold + 2))
    return ThinnedChain(red.drop_probability(np.maximum(np.arange(states) - 1.0, 0.0), max_p))


def _places(red: Red, link: Bottleneck) -> int:
    """K.

    Raises:
        NotApplicableError: There are more states than can be summed in time.
    """
    places = whole_places(link)
    fitting = min(places, red.forced_threshold)
    if fitting > MOST_STATES:
        raise NotApplicableError(
            f"link {link.name}: {number(fitting)} packets fit before RED "
            f"drops all; the chain is summed for up to {MOST_STATES:,}"
        )
    return places


def solve(link: Bottleneck, *, laws: Laws | None = None) -> tuple[FixedPoint, float]:
    """The load at which flows and RED agree (Barman et al. 2004 sec. IV), and its `max_p`.

    A packet is lost with probability p_red = sum of pi(n) p(n), since Poisson arrivals see time
    averages, and pi belongs to the thinned chain (Bonald, May and Bolot 2000).

    Adaptive RED moves `max_p` from its first value only as far as the mean queue needs to enter its
    target, from 0.4 to 0.6 of the way between the thresholds, or to the end of its range.

    Raises:
        NotApplicableError: The buffer is not under RED, a congestion control has no window law, or
            nothing crosses the link.
    """
    red, demand = parameters(link), Demand(link, laws)
    places = _places(red, link)

    def at(max_p: float) -> FixedPoint:
        queue = chain(red, max_p, places)
        return solve_queue(queue.at, demand, queue.places)

    if red.range_of_max_p is None:
        return at(red.max_p), red.max_p
    return adapted(at, red, red.range_of_max_p)


def adapted(
    at: Callable[[float], FixedPoint], red: Red, range_of_max_p: tuple[float, float]
) -> tuple[FixedPoint, float]:
    """Returns the rest point of Adaptive RED; the mean queue falls with `max_p`."""
    unadapted = at(red.max_p)
    span = red.max_threshold - red.min_threshold
    low, high = (red.min_threshold + part * span for part in (TARGET_MARGIN, 1 - TARGET_MARGIN))
    if low <= unadapted.queue.waiting <= high:
        return unadapted, red.max_p
    is_low = unadapted.queue.waiting < low
    end, edge = (range_of_max_p[0], low) if is_low else (range_of_max_p[1], high)
    at_end = at(end)
    if end == red.max_p or (at_end.queue.waiting < edge) == is_low:
        return at_end, end
    bounds = sorted((log(end), log(red.max_p)))
    max_p = exp(
        root_between(
            lambda log_max_p: at(exp(log_max_p)).queue.waiting - edge, *bounds, absolute=1e-9
        )
    )
    return at(max_p), max_p


def predict(link: Bottleneck, target: Requirement) -> Prediction:
    """What the fixed point says.

    The required limit is that for the target utilization with unchanged thresholds; Adaptive RED
    has no required limit.

    Raises:
        NotApplicableError: As `solve`.
    """
    red = parameters(link)
    if red.range_of_max_p is not None:
        fixed_point, max_p = solve(link)
        return fixed_point.prediction(max_p_fraction=max_p)
    demand, whole = Demand(link), chain(red, red.max_p, MOST_STATES)
    queue = whole.limited(_places(red, link))
    return solve_queue(queue.at, demand, queue.places).prediction(
        limit_for_utilization(
            lambda places: whole.limited(places).at,
            demand,
            target.utilization,
            largest=whole.places,
        ),
        f"{100 * target.utilization:.6g} % utilization",
        max_p_fraction=red.max_p,
    )


def assumptions(link: Bottleneck) -> list[Assumption]:
    """Poisson arrivals, and drops that depend only on the current queue."""
    red, (fixed_point, _) = parameters(link), solve(link)
    weight = link.parameters.get("weight") or -expm1(-1 / link.capacity_pps)
    marked = ", ".join(sorted({flow_class.group for flow_class in link.classes if flow_class.ecn}))
    gaps = "1/p to 2/p" if red.wait else "1 to 1/p"
    return [
        assume("RED looks at the queue itself (w_q = 1)", weight == 1, f"w_q = {weight:.3g}"),
        assume("drops are independent", not red.uniform, f"gaps between them are {gaps}"),
        assume("RED drops and does not mark", not marked, f"packets of {marked} are marked"),
        exponential_sizes(link),
        *of_every_fixed_point(link, fixed_point),
    ]


MODEL = Model(
    name="red_fixed_point",
    title="Window laws against RED's thinned chain",
    source="Barman, Smaragdakis and Matta 2004, sec. IV; Bonald, May and Bolot 2000",
    assumptions=assumptions,
    predict=predict,
)
