"""Queues of the fluid model: differential equations of content and discipline.

The state of a queue is a list of numbers: its content in packets, then the discipline's state.
"""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, expm1, inf, log, log1p
from typing import Any, Protocol

import numpy as np

from tailroom.errors import NotApplicableError
from tailroom.models.bottleneck import Bottleneck
from tailroom.models.window_laws.window_law import Floats, seconds


class FluidQueue(Protocol):
    """A queue discipline as differential equations."""

    @property
    def largest(self) -> float:
        """Largest content, in packets."""
        ...

    @property
    def marks_up_to(self) -> float:
        """Below this probability, packets that understand marks are marked and not dropped."""
        ...

    def waiting(self, content: float) -> float:
        """Packets that wait, in [0, limit]."""
        ...

    def busy(self, content: float) -> float:
        """Share of the link's rate in use if nothing arrives, in [0, 1]."""
        ...

    def probability(self, state: list[float]) -> float:
        """Share of packets dropped or marked on arrival by a buffer that is not full."""
        ...

    def slope(self, state: list[float], enter_pps: float, step_s: float) -> list[float]:
        """Returns the derivative of the state; rates faster than a step are limited to the step.

        Args:
            state: The state.
            enter_pps: Packets that enter the buffer in a second.
            step_s: The step in seconds; 0 for the true derivative.
        """
        ...

    def bounded(self, state: list[float]) -> list[float]:
        """Returns the state within its bounds."""
        ...

    def at_rest(self, content: float) -> tuple[float, float]:
        """Returns the least and the largest probability at which the content is stationary."""
        ...

    def resting(self, content: float, probability: float) -> list[float]:
        """The state at rest with this content and probability."""
        ...


def queue_of(link: Bottleneck) -> FluidQueue:
    """The queue of a link.

    Raises:
        NotApplicableError: There are no equations for its discipline.
    """
    if link.discipline == "drop_tail":
        return DropTail(link.capacity_pps, link.system_packets)
    if link.discipline == "red":
        return _red(link)
    if link.discipline == "pie":
        return _pie(link)
    raise NotApplicableError(
        f"link {link.name}: the fluid model has equations for drop_tail, red and pie, not for "
        f"{link.discipline}"
    )


LEAST_CONTENT = 1e-6
"""Of a buffer where nothing may wait."""
_POINTS = 2000
_LARGEST_LOG_LOAD = 14.0


class DropTail:
    """A DropTail queue by the pointwise stationary fluid flow approximation.

    At every moment the queue has the distribution of an M/M/1/K queue whose mean content is the
    state (Wang, Tipper, Banerjee 1996): the content L determines a load rho(L), and with it how
    much of the link is busy and which share of the arrivals is lost. At rest this is M/M/1/K at the
    load of the arrivals; a small buffer is there within a fraction of a round trip (Raina, Towsley,
    Wischik 2005), a large one fills and drains like a fluid.
    """

    marks_up_to = 0.0

    def __init__(self, capacity_pps: float, system_packets: float) -> None:
        """A link of so many packets per second, and K, the packet in transmission included."""
        self._capacity, k = capacity_pps, system_packets
        self.largest = system_packets
        span = np.arcsinh(_LARGEST_LOG_LOAD * k)
        x = np.sinh(np.linspace(-span, span, _POINTS)) / k  # ln rho; never 0
        with np.errstate(over="ignore"):
            content = 1 / np.expm1(-x) - (k + 1) / np.expm1(-(k + 1) * x)
            log_loss = np.where(x < 0, k * x, 0.0) + _log_ratio(np.abs(x), k)
            log_idle = np.where(x > 0, -k * x, 0.0) + _log_ratio(np.abs(x), k)
        content = np.maximum.accumulate(np.clip(content, 0.0, k))
        busy = -np.expm1(log_idle)
        busy_slope = np.gradient(busy, x)
        loss_slope = np.exp(np.minimum(x, 50.0)) * np.gradient(np.exp(log_loss), x)
        content_slope = np.maximum(np.gradient(content, x), 1e-300)
        relaxation = capacity_pps * (busy_slope + loss_slope) / content_slope
        self._by_content = _Interpolation(content, (busy, log_loss, relaxation))

    def waiting(self, content: float) -> float:
        """See `FluidQueue`."""
        return max(0.0, content - self.busy(content))

    def busy(self, content: float) -> float:
        """See `FluidQueue`."""
        busy, _, _ = self._by_content.at(content)
        return busy

    def probability(self, state: list[float]) -> float:
        """See `FluidQueue`."""
        _, log_loss, _ = self._by_content.at(state[0])
        return exp(log_loss)

    def slope(self, state: list[float], enter_pps: float, step_s: float) -> list[float]:
        """See `FluidQueue`."""
        busy, _, relaxation = self._by_content.at(state[0])
        slope = enter_pps - self._capacity * busy
        if step_s > 0:
            slope /= max(1.0, relaxation * step_s)
        return [slope]

    def bounded(self, state: list[float]) -> list[float]:
        """See `FluidQueue`."""
        return [min(max(state[0], 0.0), self.largest)]

    def at_rest(self, content: float) -> tuple[float, float]:
        """See `FluidQueue`."""
        loss = self.probability([content])
        return loss, loss

    def resting(self, content: float, _probability: float) -> list[float]:
        """See `FluidQueue`."""
        return [content]


class _Interpolation:
    """Three functions of one variable, linear between their points.

    `numpy.interp` of one number takes most of its time for the call, and an integration asks for
    the same place again and again.
    """

    def __init__(self, x: Floats, values: tuple[Floats, Floats, Floats]) -> None:
        """Tabulates the functions at ascending x, of which some may be equal."""
        self._x: list[float] = x.tolist()
        with np.errstate(divide="ignore", invalid="ignore"):
            slopes = [np.diff(value) / np.diff(x) for value in values]
        rows = [column.tolist() for pair in zip(values, slopes, strict=True) for column in pair]
        self._rows = list(zip(*(row[: len(self._x) - 1] for row in rows), strict=True))
        one, two, three = values
        self._first = (float(one[0]), float(two[0]), float(three[0]))
        self._last = (float(one[-1]), float(two[-1]), float(three[-1]))
        self._place, self._found = self._x[0], self._first

    def at(self, place: float) -> tuple[float, float, float]:
        """Returns the functions at x; constant beyond the ends."""
        if place != self._place:
            self._place, self._found = place, self._at(place)
        return self._found

    def _at(self, place: float) -> tuple[float, float, float]:
        x = self._x
        if place >= x[-1]:
            return self._last
        if place < x[0]:
            return self._first
        index = bisect_right(x, place) - 1
        ahead = place - x[index]
        one, of_one, two, of_two, three, of_three = self._rows[index]
        return of_one * ahead + one, of_two * ahead + two, of_three * ahead + three


def _log_ratio(x: Floats, k: float) -> Floats:
    """The logarithm of (1 - e^-x) / (1 - e^-(k+1)x), positive x."""
    ratio: Floats = np.log(-np.expm1(-x)) - np.log(-np.expm1(-(k + 1) * x))
    return ratio


class _Plain:
    """A queue whose link is idle only if the content is 0."""

    def waiting(self, content: float) -> float:
        """See `FluidQueue`."""
        return content

    def busy(self, content: float) -> float:
        """See `FluidQueue`."""
        return 1.0 if content > 0 else 0.0


@dataclass(frozen=True)
class Red(_Plain):
    """RED: the probability follows the average queue (Misra, Gong, Towsley 2000, Eq. 6).

    The average is sampled at the rate of the link, d avg/dt = ln(1 - w_q) C (avg - q).
    """

    capacity_pps: float
    largest: float
    min_threshold: float
    max_threshold: float
    max_p: float
    weight: float
    gentle: bool = True
    spread: float = 1.0
    """Drops over those of independent draws: 2 where gaps are uniform from 1 to 1/p packets, 2/3
    where they are from 1/p to 2/p (Floyd and Jacobson 1993 sec. 7)."""
    marks_up_to: float = 1.0

    def probability(self, state: list[float]) -> float:
        """See `FluidQueue`."""
        return self._curve(state[1])

    def _curve(self, average: float) -> float:
        if average < self.min_threshold:
            return 0.0
        if average < self.max_threshold:
            span = self.max_threshold - self.min_threshold
            share = self.max_p * (average - self.min_threshold) / span
        elif not self.gentle or average >= 2 * self.max_threshold:
            return 1.0
        else:
            share = self.max_p + (1 - self.max_p) * (average / self.max_threshold - 1)
        return min(1.0, self.spread * share)

    @property
    def sampling_per_s(self) -> float:
        """K of Hollot et al. 2001: the pole of the average."""
        return -self.capacity_pps * log1p(-self.weight) if self.weight < 1 else inf

    def slope(self, state: list[float], enter_pps: float, step_s: float) -> list[float]:
        """See `FluidQueue`."""
        content, average = state
        rate = min(self.sampling_per_s, 1 / step_s if step_s > 0 else FASTEST_PER_S)
        return [enter_pps - self.capacity_pps, rate * (content - average)]

    def bounded(self, state: list[float]) -> list[float]:
        """See `FluidQueue`."""
        return [min(max(length, 0.0), self.largest) for length in state]

    def at_rest(self, content: float) -> tuple[float, float]:
        """See `FluidQueue`."""
        near = 1e-9 * (1 + content)
        return self._curve(content - near), self._curve(content + near)

    def resting(self, content: float, _probability: float) -> list[float]:
        """See `FluidQueue`."""
        return [content, content]


FASTEST_PER_S = 1e5
"""Largest rate at which the average follows the queue; faster averages use this rate."""


def _red(link: Bottleneck) -> Red:
    given, amounts = link.parameters, link.amounts_packets
    # Floyd, Gummadi, Shenker 2001 sec. 6, as in the simulator.
    least = amounts.get("min_threshold", max(5.0, 2.5e-3 * link.capacity_pps))
    spread = (2 / 3 if given["wait"] else 2.0) if given["uniform"] else 1.0
    return Red(
        capacity_pps=link.capacity_pps,
        largest=max(link.limit_packets, LEAST_CONTENT),
        min_threshold=least,
        max_threshold=amounts.get("max_threshold", 3 * least),
        max_p=float(given["max_p"]),
        weight=float(given.get("weight", -expm1(-1 / link.capacity_pps))),
        gentle=bool(given["gentle"]),
        spread=spread,
    )


SCALES = ((1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (0.1, 2.0))
"""Below such a probability PIE divides a step by this much (RFC 8033 sec. 4.2)."""
DECAY = 0.98
"""Factor on PIE's probability per update at an empty queue (RFC 8033 sec. 4.2)."""
DERANDOMIZED = 1 / 1.85
"""Drops over those of independent draws: none before the probabilities sum to 0.85, then each
packet with probability p (RFC 8033 sec. 5.4), makes a gap of 1.85 / p."""


@dataclass(frozen=True)
class Pie(_Plain):
    """PIE (RFC 8033) in continuous time, without its burst allowance.

    dp/dt = (alpha (delay - target) + beta T d delay/dt) / (T scale(p)), T the update interval.
    """

    capacity_pps: float
    largest: float
    target_s: float
    interval_s: float
    alpha: float
    beta: float
    marks_up_to: float
    spread: float = DERANDOMIZED

    def probability(self, state: list[float]) -> float:
        """See `FluidQueue`."""
        return self.spread * state[1]

    def slope(self, state: list[float], enter_pps: float, _step_s: float) -> list[float]:
        """See `FluidQueue`."""
        content, p = state
        growth = enter_pps - self.capacity_pps
        if (content <= 0 and growth < 0) or (content >= self.largest and growth > 0):
            growth = 0.0
        error = content / self.capacity_pps - self.target_s
        step = self.alpha / self.interval_s * error + self.beta * growth / self.capacity_pps
        step /= next((divisor for bound, divisor in SCALES if p < bound), 1.0)
        if content <= 0:
            step += p * log(DECAY) / self.interval_s
        return [growth, step]

    def bounded(self, state: list[float]) -> list[float]:
        """See `FluidQueue`."""
        content, p = state
        return [min(max(content, 0.0), self.largest), min(max(p, 0.0), 1.0)]

    def at_rest(self, content: float) -> tuple[float, float]:
        """See `FluidQueue`."""
        target = self.target_s * self.capacity_pps
        near = 1e-9 * (1 + target)
        largest = self.spread if content > target - near else 0.0
        return (self.spread if content > target + near else 0.0), largest

    def resting(self, content: float, probability: float) -> list[float]:
        """See `FluidQueue`."""
        return [content, min(1.0, probability / self.spread)]


def _pie(link: Bottleneck) -> Pie:
    given: Mapping[str, Any] = link.parameters
    return Pie(
        capacity_pps=link.capacity_pps,
        largest=max(link.limit_packets, LEAST_CONTENT),
        target_s=seconds(given["target"]),
        interval_s=seconds(given["update_interval"]),
        alpha=float(given["alpha"]),
        beta=float(given["beta"]),
        marks_up_to=float(given["mark_up_to"]),
        spread=DERANDOMIZED if given["derandomize"] else 1.0,
    )
