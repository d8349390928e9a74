"""The load at which a queue and the window laws of its flows agree.

The queue maps a load to a loss probability and a wait; the flows map these to a load. Both maps are
monotone, so there is exactly one fixed point (Barman et al. 2004 Eqs. 4 and 5).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import floor, log

import numpy as np

from tailroom.errors import NotApplicableError
from tailroom.models.assumptions import one_bottleneck, steady_link
from tailroom.models.bottleneck import Bottleneck, FlowClass
from tailroom.models.model import Assumption, Prediction, assume
from tailroom.models.numerics.queue_chains import Stationary
from tailroom.models.numerics.root import root_between
from tailroom.models.numerics.smallest_limit import LARGEST_LIMIT, smallest_limit
from tailroom.models.window_laws import law_of
from tailroom.models.window_laws.window_law import Floats, WindowLaw
from tailroom.written_numbers import number, significant

Queue = Callable[[float], Stationary]
"""Long-run means at a load, given by its logarithm."""
Laws = Mapping[str, Callable[[FlowClass], WindowLaw]]
"""Window laws by congestion control, in place of the usual ones."""

LEAST_LOSS = 1e-100
"""Smallest loss probability; it keeps windows finite."""
LARGEST_LOG_LOAD = 600.0
EXACT = 4 * np.finfo(float).eps
LEAST_WINDOW = 4.0
"""With less, three packets after a lost one do not arrive, and a timeout must repair the loss."""


class Demand:
    """The offered load of a link's traffic, as a function of loss and wait.

    The load of streams and dynamic flows does not depend on loss and wait.
    """

    def __init__(self, link: Bottleneck, laws: Laws | None = None) -> None:
        """Reads the link's traffic.

        Raises:
            NotApplicableError: A congestion control has no law, or nothing crosses the link.
        """
        if not (link.classes or link.streams or link.dynamic):
            raise NotApplicableError(f"link {link.name}: nothing crosses it")
        self.service_s = 1 / link.capacity_pps
        self.constant = link.stream_load + link.dynamic_load
        self.classes: list[FlowClass] = []
        self._groups: list[tuple[WindowLaw, slice]] = []
        for alike in _alike(link.classes):
            flows = alike[0]
            law = (laws or {}).get(flows.congestion, law_of)(flows)
            begin = len(self.classes)
            self.classes += alike
            self._groups.append((law, slice(begin, len(self.classes))))
        bits = 8.0 * self._each(lambda flow_class: flow_class.packet_bytes)
        self._rtts_s = self._each(lambda flow_class: flow_class.rtt_s)
        self._largest = self._each(lambda flow_class: flow_class.max_window)
        self._access_pps = self._each(lambda flow_class: flow_class.access_rate_bps) / bits
        self._load_per_pps = self._each(lambda flow_class: flow_class.count) * bits / link.rate_bps

    def _each(self, value: Callable[[FlowClass], float]) -> Floats:
        return np.array([value(flow_class) for flow_class in self.classes], dtype=float)

    def windows(self, met: Stationary) -> Floats:
        """Mean window of each of `classes`, in packets."""
        loss = max(met.loss, LEAST_LOSS)
        rtts_s = self.rtts_s(met)
        windows = np.empty_like(rtts_s)
        for law, part in self._groups:
            windows[part] = law.window(loss, rtts_s[part])
        return np.minimum(np.minimum(windows, self._largest), self._access_pps * rtts_s)

    def rtts_s(self, met: Stationary) -> Floats:
        """Round trip of each of `classes`: propagation and wait."""
        return self._rtts_s + met.wait * self.service_s

    def loads(self, met: Stationary) -> Floats:
        """Rate of each of `classes`, as a fraction of the link's rate."""
        return self._load_per_pps * self.windows(met) / self.rtts_s(met)

    def load(self, met: Stationary) -> float:
        """Load at the queue, as a fraction of the link's rate."""
        return self.constant + float(self.loads(met).sum())

    def excess(self, queue: Queue, log_load: float) -> float:
        """Logarithm of the traffic's load over the assumed load; a falling function."""
        return log(self.load(queue(log_load))) - log_load


def _alike(classes: tuple[FlowClass, ...]) -> list[list[FlowClass]]:
    """Classes that have one law."""
    by_law: dict[str, list[FlowClass]] = {}
    for flow_class in classes:
        parameters = sorted(flow_class.parameters.items())
        key = repr(
            (
                flow_class.congestion,
                parameters,
                flow_class.packets_per_ack,
                flow_class.pacing,
                flow_class.ecn,
            )
        )
        by_law.setdefault(key, []).append(flow_class)
    return list(by_law.values())


@dataclass(frozen=True)
class FixedPoint:
    """Where a queue and its traffic agree."""

    log_load: float
    """ln(rho)."""
    queue: Stationary
    demand: Demand

    @property
    def load(self) -> float:
        """rho: offered load, as a fraction of the link's rate."""
        return float(np.exp(self.log_load))

    def prediction(
        self, required_packets: float | None = None, required_for: str = "", **more: float
    ) -> Prediction:
        """Returns the fixed point as a `Prediction`.

        `details` has the offered load, and of each group of permanent flows its part of the
        offered load and the mean window of a flow.
        """
        windows, loads = self.demand.windows(self.queue), self.demand.loads(self.queue)
        details = {"load_fraction": self.load, **more}
        groups: dict[str, list[int]] = {}
        for at, flow_class in enumerate(self.demand.classes):
            groups.setdefault(flow_class.group, []).append(at)
        for group, members in groups.items():
            counts = [self.demand.classes[at].count for at in members]
            details[f"{group}_share_fraction"] = float(loads[members].sum()) / self.load
            details[f"{group}_window_packets"] = float(np.average(windows[members], weights=counts))
        return Prediction(
            utilization=min(1.0, self.queue.utilization),
            loss_fraction=min(1.0, self.queue.loss),
            queue_packets_mean=self.queue.waiting,
            queue_delay_s_mean=self.queue.wait * self.demand.service_s,
            required_packets=required_packets,
            required_for=required_for,
            details=details,
        )


def solve(queue: Queue, demand: Demand, places: float) -> FixedPoint:
    """Returns the load at which queue and traffic agree.

    Loss falls steeply below a load of 1, over about 1/K: that is where the search begins, `places`
    being K. Plain iteration does not converge (its slope is about -0.7 K).
    """
    x = _root(lambda at: demand.excess(queue, at), 1 / places)
    return FixedPoint(x, queue(x), demand)


def limit_for_utilization(
    queue_with: Callable[[int], Queue],
    demand: Demand,
    target: float,
    largest: float = LARGEST_LIMIT,
) -> float:
    """The smallest limit, in packets that wait, with which the fixed point reaches a utilization.

    At given places K utilization rises with the load. So what the traffic answers to the load that
    has the target utilization tells on which side of it the fixed point lies.

    Where the fixed point lies above a load of 1, utilization may dip by up to 0.002 with growing K;
    the limit found is then one that meets the target while the next smaller one does not.
    """

    def meets(limit: float) -> bool:
        queue, places = queue_with(int(limit) + 1), limit + 1
        at_target = _root(lambda x: target - queue(x).utilization, 1 / places)
        return demand.excess(queue, at_target) >= 0

    return smallest_limit(meets, largest)


def limit_for_loss(
    queue_with: Callable[[int], Queue],
    demand: Demand,
    target: float,
    largest: float = LARGEST_LIMIT,
) -> float:
    """Returns the smallest limit, in waiting packets, with at most this loss fraction."""

    def meets(limit: float) -> bool:
        queue, places = queue_with(int(limit) + 1), limit + 1
        at_target = _root(lambda x: target - queue(x).loss, 1 / places)
        return demand.excess(queue, at_target) <= 0

    return smallest_limit(meets, largest)


def _root(falling: Callable[[float], float], step: float) -> float:
    """Returns the root of a falling function, searched from 0 in growing steps."""
    at_zero = falling(0.0)
    if at_zero == 0:
        return 0.0
    sign = 1.0 if at_zero > 0 else -1.0
    near, far = 0.0, sign * step
    while sign * falling(far) > 0 and abs(far) < LARGEST_LOG_LOAD:
        near, far = far, max(-LARGEST_LOG_LOAD, min(LARGEST_LOG_LOAD, 8 * far))
    if sign * falling(far) > 0:
        return far
    return root_between(falling, near, far, absolute=1e-300, relative=EXACT)


def whole_places(link: Bottleneck) -> int:
    """K: whole packets that fit, with the packet in service."""
    return floor(link.system_packets + 1e-9)


def assumptions(link: Bottleneck, fixed_point: FixedPoint) -> list[Assumption]:
    """Returns the assumptions of every fixed point."""
    dynamic = ", ".join(group.group for group in link.dynamic)
    windows = fixed_point.demand.windows(fixed_point.queue)
    smallest = float(windows.min(initial=LEAST_WINDOW))
    offered = f"{dynamic} offer {100 * link.dynamic_load:.3g} % of the rate"
    return [
        as_random_as_poisson(link),
        assume(
            "windows are large enough to do without timeouts",
            smallest >= LEAST_WINDOW,
            f"{significant(smallest, 3)} packets on average",
        ),
        assume(
            "no dynamic flows cross the link",
            not link.dynamic,
            f"{offered}, taken as a constant load",
        ),
        one_bottleneck(link),
        steady_link(link),
    ]


def as_random_as_poisson(link: Bottleneck) -> Assumption:
    """Packets arrive independently of each other.

    Many flows together do so over times in which each sends about one packet, if it does not send
    in bursts. Near a load of 1 a queue of K places remembers about K^2 packets.
    """
    remembered = link.system_packets**2
    bursty = [
        f"{stream.group} is {stream.process}"
        for stream in link.streams
        if stream.process == "on_off"
    ]
    bursty += sorted(
        {
            f"group {flow_class.group} is not paced"
            for flow_class in link.classes
            if not flow_class.pacing
        }
    )
    flows = link.flow_count + sum(
        stream.count for stream in link.streams if stream.process == "cbr"
    )
    counted = "1 flow" if flows == 1 else f"{flows} flows"
    few = [f"{counted} for {number(remembered)} packets"] if 0 < flows < remembered else []
    return assume(
        "arrivals are random over the K^2 packets that a queue remembers",
        not (bursty or few),
        "; ".join(bursty + few),
    )
