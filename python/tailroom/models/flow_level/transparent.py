"""The transparent regime: flows limited by other links, whose peak rates fit on average.

Two effects may still fill the buffer. Packets of many flows arrive nearly as a Poisson process, so
the queue is M/M/1 (M/D/1 for packets of one size). The number of flows in progress is a Poisson
variable, so the sum of their rates may exceed the link's rate for longer than any buffer lasts.
"""

from dataclasses import dataclass
from functools import cached_property
from math import ceil, exp, floor, inf, log, sqrt

import numpy as np
from numpy.typing import NDArray

from tailroom.errors import NotApplicableError
from tailroom.models.assumptions import drop_tail, one_bottleneck, steady_link
from tailroom.models.bottleneck import Bottleneck
from tailroom.models.fixed_point.solution import whole_places
from tailroom.models.model import Assumption, Model, Prediction, Requirement, assume
from tailroom.models.numerics import poisson
from tailroom.models.numerics.root import root_between
from tailroom.models.numerics.smallest_limit import LEAST_LIMIT, smallest_limit
from tailroom.models.traffic import need_load_below_one, permanent_load
from tailroom.written_numbers import number, significant

NEARLY_POISSON = 0.1
"""Share of the link's rate below which the packets of a flow count as independent."""


@dataclass(frozen=True)
class Flows:
    """Flows in progress; rates are fractions of the link's rate."""

    mean: float
    """Mean of their Poisson number. Different groups are merged by mean rate and variance."""
    peak: float
    """Rate of a flow."""
    steady: float
    """Load of the permanent flows."""

    @property
    def room(self) -> float:
        """Number of flows that fit, fractional; infinite if their rate is 0."""
        return (1 - self.steady) / self.peak if self.peak else inf

    def overload(self) -> float:
        """Probability that the sum of their rates exceeds the link's rate."""
        return 0.0 if self.room == inf else poisson.beyond(floor(self.room), self.mean)

    def lost(self) -> float:
        """Share of the offered load that exceeds the link's rate, without a buffer."""
        if self.room == inf:
            return 0.0
        # E[(N - x)+] = m P(N >= k) - x P(N > k), with k the integer part of x.
        k = floor(self.room)
        some, more = poisson.beyond(k - 1, self.mean), poisson.beyond(k, self.mean)
        above = self.mean * some - self.room * more
        return max(0.0, self.peak * above / (self.mean * self.peak + self.steady))


def flows_of(link: Bottleneck) -> Flows:
    """Returns the dynamic flows, and the load of the permanent flows.

    Raises:
        NotApplicableError: Dynamic flows have no peak rate.
    """
    unlimited = [group.group for group in link.dynamic if group.peak_rate_bps == inf]
    if unlimited:
        raise NotApplicableError(
            f"link {link.name}: flows of {', '.join(unlimited)} have no peak rate, and each takes "
            "the link while it lasts"
        )
    rate = sum(group.rate_bps for group in link.dynamic) / link.rate_bps
    variance = (
        sum(group.rate_bps * group.peak_rate_bps for group in link.dynamic) / link.rate_bps**2
    )
    peak = variance / rate if rate else 0.0
    return Flows(rate / peak if peak else 0.0, peak, permanent_load(link) + link.stream_load)


MD1_EXACT = 60
"""From this number of packets on, the distribution of M/D/1 is geometric to the last digit:
the next root of its denominator has at least seven times the modulus of the first."""


@dataclass(frozen=True)
class MD1:
    """The queue M/D/1 at a load in (0, 1)."""

    load: float

    @cached_property
    def probabilities(self) -> NDArray[np.float64]:
        """P(N = j), j = 0 .. MD1_EXACT, of the number in the system.

        By cuts: what goes up from j or less to more than j at a departure comes down from j + 1.
        All terms are positive, so that nothing cancels.
        """
        above = poisson.tails(MD1_EXACT + 1, self.load)
        probabilities = np.zeros(MD1_EXACT + 1)
        probabilities[0] = 1 - self.load
        for j in range(MD1_EXACT):
            up = probabilities[0] * above[j] + probabilities[1 : j + 1] @ above[j:0:-1]
            probabilities[j + 1] = up * exp(self.load)
        return probabilities

    @cached_property
    def decay(self) -> float:
        """P(N = j) over P(N = j + 1) in the long run: x > 1 with exp(rho (x - 1)) = x."""
        low = 1 / self.load
        high = 2 * low
        while self.load * (high - 1) < log(high):
            high *= 2
        return root_between(lambda x: self.load * (x - 1) - log(x), low, high, absolute=1e-14)

    @cached_property
    def _tails(self) -> NDArray[np.float64]:
        """P(N >= j), from the smallest terms up."""
        beyond = float(self.probabilities[-1]) / (self.decay - 1)
        sums: NDArray[np.float64] = np.cumsum(self.probabilities[::-1])[::-1]
        return sums + beyond

    def tail(self, packets: float) -> float:
        """P(N >= packets)."""
        whole = min(floor(packets), MD1_EXACT)
        further = floor(packets) - whole
        return float(self._tails[whole] * exp(-further * log(self.decay)))

    def loss(self, packets: float) -> float:
        """Loss fraction of M/D/1/K, K = `packets` in the system, at least 1.

        (1 - rho) Q / (1 - rho Q), Q = P(N >= K) in the infinite queue: below K departures of both
        leave the same behind, in proportion, and what is lost follows from the time that is idle.
        """
        tail = self.tail(packets)
        return (1 - self.load) * tail / (1 - self.load * tail)


def mm1_waiting(load: float, packets: float) -> float:
    """Mean number of waiting packets in M/M/1/K at a load below 1, K = `packets`."""
    full = float(load ** (packets + 1))
    system = load / (1 - load) - (packets + 1) * full / (1 - full)
    return max(0.0, system - (load - full) / (1 - full))


def predict(link: Bottleneck, target: Requirement) -> Prediction:
    """Loss, and the limit for the target loss.

    The loss is rho^n with room for n packets (Auge and Roberts 2006, sec. IV.A), plus the loss
    while more flows are in progress than fit.

    Raises:
        NotApplicableError: The load is not between 0 and 1, or flows have no limit of their own.
    """
    load = need_load_below_one(link)
    flows = flows_of(link)
    packets, lost = whole_places(link), flows.lost()
    of_packets = load**packets
    loss = min(1.0, of_packets + lost)
    for_packets = target.loss_fraction - lost
    queue = min(link.limit_packets, mm1_waiting(load, packets))

    constant = MD1(load)

    def meets(limit: float) -> bool:
        return constant.loss(limit + 1) <= for_packets

    return Prediction(
        utilization=load,
        loss_fraction=loss,
        queue_packets_mean=queue,
        queue_delay_s_mean=queue / link.capacity_pps,
        required_packets=required(load, for_packets),
        required_for=f"a loss of {target.loss_fraction:.4g}",
        details={
            "packet_loss_fraction": of_packets,
            "packet_loss_md1_fraction": constant.loss(packets),
            "overload_loss_fraction": lost,
            "overload_time_fraction": flows.overload(),
            "present_flows_mean": flows.mean,
            "room_flows": flows.room,
            "required_md1_packets": smallest_limit(meets) if for_packets > 0 else inf,
        },
    )


def required(load: float, loss: float) -> float:
    """Smallest whole limit, in packets that wait, with rho^(limit + 1) <= loss; at least 1.

    Infinite if loss is not above 0.
    """
    if loss <= 0:
        return inf
    return max(LEAST_LIMIT, ceil(log(loss) / log(load) - 1e-12) - 1.0)


def assumptions(link: Bottleneck) -> list[Assumption]:
    """Poisson arrivals of many flows that fit, each far slower than the link."""
    flows = flows_of(link)
    regular = [group.group for group in link.dynamic if not group.poisson]
    regular += [stream.group for stream in link.streams if stream.process == "on_off"]
    fast = [
        group.group
        for group in link.dynamic
        if group.peak_rate_bps > NEARLY_POISSON * link.rate_bps
    ]
    sigma = sqrt(flows.mean)
    return [
        assume(
            "flows are a tenth of the link or slower", not fast, f"{', '.join(fast)} are faster"
        ),
        assume("flows and packets arrive as Poisson processes", not regular, ", ".join(regular)),
        assume(
            "in less than 1 % of the time more flows are in progress than fit",
            flows.overload() < 0.01,
            f"{flows.overload():.2%}: {number(flows.mean)} flows, give or take "
            f"{significant(sigma, 3)}, and room for {number(flows.room)}",
        ),
        drop_tail(link),
        one_bottleneck(link),
        steady_link(link),
    ]


MODEL = Model(
    name="transparent",
    title="Transparent regime: flows that something else limits",
    source="Auge, Roberts 2006, NGI, sec. IV.A",
    assumptions=assumptions,
    predict=predict,
)
