"""The fluid model of flows that share a queue (Misra, Gong, Towsley 2000, Eqs. 1 to 6).

Of class i, with R_i = T_i + q/C and the heard rate of reductions h_i = u_i(t - R_i):

    dw_i/dt = increase(w_i, R_i) / R_i - decrease(w_i) w_i h_i,   u_i = min(1, p w_i) / R_i,
    dq/dt = sum of n_i w_i / R_i + other traffic, less what is dropped, - C.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tailroom.errors import NotApplicableError
from tailroom.models.bottleneck import Bottleneck, FlowClass
from tailroom.models.fluid.queues import FluidQueue, queue_of
from tailroom.models.window_laws import law_of
from tailroom.models.window_laws.window_law import Floats, WindowLaw

MOST_CLASSES = 20
"""Largest number of classes; further classes are merged with the nearest RTT of their control."""
_WINDOWS = 512
_DELAYS = 9
_LOSSES = 257
_LEAST_LOSS = 1e-16
_PRECISION = 1e-13
_NEAR_KINK = 0.1
_AT_REST = 1e-3
"""Of a packet a packet sent."""


@dataclass(frozen=True)
class Rest:
    """The fixed point."""

    state: Floats
    probability: float
    """Probability of a drop or mark that flows see."""
    smooth: bool
    """Whether the equations rest there by themselves and have derivatives: the queue is neither
    empty nor full, the probability does not jump, and no flow is about to fall each round trip."""


class Equations:
    """The model of one link, as a `fluid_integration.System`.

    The state is the windows of the classes, then that of the queue. Signals are the reductions
    that each class will hear of, per second and flow, then packets that arrive, are lost and are
    served, per second, and packets that wait.
    """

    def __init__(self, link: Bottleneck) -> None:
        """Reads a link.

        Raises:
            NotApplicableError: No permanent flow under congestion control crosses the link, one of
                them has no window law or answers shares of marks, other traffic fills the link, or
                there are no equations for the discipline.
        """
        _check(link)
        self.queue: FluidQueue = queue_of(link)
        self.classes = merged(link.classes)
        self.capacity_pps = link.capacity_pps
        self.background_pps = (link.stream_load + link.dynamic_load) * link.capacity_pps
        self._last: _Flow | None = None
        self.step_s = 0.0
        """Step of integration; 0 for the true derivatives."""
        self.counts = np.array([float(flow_class.count) for flow_class in self.classes])
        # A path without delay still has the transmission time of a packet.
        rtts_s = np.array([flow_class.rtt_s for flow_class in self.classes])
        self.rtts_s = np.maximum(rtts_s, 1 / self.capacity_pps)
        laws = [law_of(flow_class) for flow_class in self.classes]
        self._marked = np.array([flow_class.ecn for flow_class in self.classes]) & (
            self.queue.marks_up_to > 0
        )
        self._marks = bool(self._marked.any())
        self._dropped_counts = np.where(self._marked, 0.0, self.counts)
        longest = self.queue.largest / self.capacity_pps
        # Far above the window that fills link and buffer.
        top = 4 * (self.capacity_pps * float(self.rtts_s.max()) + self.queue.largest) + 100
        self.largest_windows = np.array(
            [min(top, max(1.0, flow_class.max_window)) for flow_class in self.classes]
        )
        self._tables = _Tables(laws, self.rtts_s, longest, top)

    def signals(self, state: Floats) -> Floats:
        """Returns the signals of a state."""
        now = self._flow(state)
        entering, heard = now.entering_pps, now.early
        lost = now.arriving_pps - entering
        if now.queue[0] >= self.queue.largest and entering > self.capacity_pps:
            lost = now.arriving_pps - self.capacity_pps
            heard += (1 - heard) * (1 - self.capacity_pps / entering)
        served = self.capacity_pps * self.queue.busy(now.queue[0])
        if now.queue[0] <= 0:
            served = min(self.capacity_pps, entering)
        size = len(self.counts)
        signals = np.empty(size + 4)
        signals[:size] = np.minimum(heard * now.windows, 1.0) / now.round_trips_s
        signals[size:] = now.arriving_pps, lost, served, now.delay_s * self.capacity_pps
        return signals

    def delays(self, state: Floats) -> Floats:
        """Round trip times of the classes, queueing included."""
        return self._flow(state).round_trips_s

    def slope(self, state: Floats, heard: Floats) -> Floats:
        """The derivative of the state."""
        now = self._flow(state)
        increase, decrease = self._tables.at(now.windows, now.delay_s)
        slope = np.empty(len(state))
        size = len(now.windows)
        slope[:size] = increase / now.round_trips_s - decrease * now.windows * heard
        slope[size:] = self.queue.slope(now.queue, now.entering_pps, self.step_s)
        return slope

    def _flow(self, state: Floats) -> "_Flow":
        """Returns the rates of the flows in a state; the last result is cached."""
        if self._last is None or self._last.state is not state:
            size = len(self.counts)
            windows, queue = state[:size], state[size:].tolist()
            delay = self.queue.waiting(queue[0]) / self.capacity_pps
            round_trips = self.rtts_s + delay
            rates = windows / round_trips
            arriving = float(self.counts @ rates) + self.background_pps
            early = self.queue.probability(queue)
            entering = arriving - self._early_drops(rates, arriving, early)
            self._last = _Flow(state, windows, queue, delay, round_trips, arriving, early, entering)
        return self._last

    def bounded(self, state: Floats) -> Floats:
        """Returns the state within its bounds: no window is below 1 packet."""
        size = len(self.counts)
        bounded = np.empty_like(state)
        bounded[:size] = np.minimum(np.maximum(state[:size], 1.0), self.largest_windows)
        bounded[size:] = self.queue.bounded(state[size:].tolist())
        return bounded

    def _early_drops(self, rates: Floats, arriving: float, probability: float) -> float:
        """Early drops of the discipline per second, without drops of a full buffer."""
        if probability < self.queue.marks_up_to and self._marks:
            return probability * (float(self._dropped_counts @ rates) + self.background_pps)
        return probability * arriving

    def slope_by_probability(self, state: Floats) -> Floats:
        """The slope of the derivative by the probability of now: what is dropped does not enter."""
        now = self._flow(state)
        rates = now.windows / now.round_trips_s
        more = self._early_drops(rates, now.arriving_pps, now.early) / max(now.early, 1e-300)
        without = np.array(self.queue.slope(now.queue, now.entering_pps + more / 2, 0.0))
        slope = np.zeros(len(state))
        slope[len(self.counts) :] = self.queue.slope(now.queue, now.entering_pps - more / 2, 0.0)
        slope[len(self.counts) :] -= without
        return slope

    def windows(self, probability: float, delay_s: float) -> Floats:
        """Windows that neither grow nor shrink at this probability and queueing delay."""
        windows: Floats = np.minimum(
            self._tables.windows(probability, delay_s), self.largest_windows
        )
        return windows

    def rest(self) -> Rest:
        """The fixed point: the content, and a probability that keeps it, at which flows balance."""
        low, high = 0.0, self.queue.largest
        while high - low > _PRECISION * self.queue.largest:
            middle = (low + high) / 2
            least, largest = self.queue.at_rest(middle)
            if self._excess(middle, largest, largest) > 0:
                low = middle
            elif largest == least or self._excess(middle, least, least) < 0:
                high = middle
            else:
                low = high = middle
        least, largest = self.queue.at_rest(low)
        if low >= self.queue.largest * (1 - 1e-9):
            low, probability = high, self._balanced(high, least, 1.0, largest)
        else:
            probability = self._balanced(low, least, largest, largest)
        windows = self.windows(probability, self.queue.waiting(low) / self.capacity_pps)
        state = self.bounded(np.concatenate([windows, self.queue.resting(low, probability)]))
        # Where p w is 1, the reductions have a kink.
        kink = np.any(np.abs(probability * state[: len(self.counts)] - 1) < _NEAR_KINK)
        return Rest(state, probability, bool(not kink and self._is_smooth(state)))

    def _balanced(self, content: float, least: float, largest: float, early: float) -> float:
        """The probability in this range with which the content lasts."""
        while largest - least > _PRECISION * largest:
            middle = (least + largest) / 2
            if self._excess(content, middle, min(middle, early)) > 0:
                least = middle
            else:
                largest = middle
        return largest

    def _excess(self, content: float, probability: float, early: float) -> float:
        """Arrivals less departures, in packets per second; a full buffer drops the excess.

        `probability` is that of all drops and marks, `early` that of the discipline's own.
        """
        delay = self.queue.waiting(content) / self.capacity_pps
        rates = self.windows(probability, delay) / (self.rtts_s + delay)
        arriving = float(self.counts @ rates) + self.background_pps
        entering = arriving - self._early_drops(rates, arriving, early)
        if probability > early:
            entering *= (1 - probability) / (1 - early)
        return entering - self.capacity_pps * self.queue.busy(content)

    def _is_smooth(self, state: Floats) -> bool:
        size = len(self.counts)
        if not 0 < state[size] < self.queue.largest:
            return False
        slope = self.slope(state, self.signals(state)[:size])
        scale = self.capacity_pps * np.ones_like(slope)
        scale[:size] = state[:size] / self.delays(state)
        scale[size + 1 :] = 1.0
        held = np.zeros(len(state), dtype=bool)
        held[:size] = (state[:size] <= 1) | (state[:size] >= self.largest_windows)
        return bool(np.all(held | (np.abs(slope) < _AT_REST * scale)))


class _Flow(NamedTuple):
    state: Floats
    windows: Floats
    queue: list[float]
    delay_s: float
    round_trips_s: Floats
    arriving_pps: float
    early: float
    """Share dropped or marked by the discipline."""
    entering_pps: float


class _Tables:
    """Increase and decrease of each class over ln w and the queueing delay."""

    def __init__(self, laws: list[WindowLaw], rtts_s: Floats, longest_s: float, top: float) -> None:
        grid = np.exp(np.linspace(0.0, np.log(top), _WINDOWS))
        self._steps_per_log = (_WINDOWS - 1) / np.log(top)
        self._logs = np.log(grid)
        self._delays_per_s = (_DELAYS - 1) / longest_s if longest_s > 0 else 0.0
        delays = np.linspace(0.0, longest_s, _DELAYS)
        shape = (_DELAYS, len(laws), _WINDOWS)
        self._increase, self._decrease = np.empty(shape), np.empty(shape[1:])
        for index, (law, rtt_s) in enumerate(zip(laws, rtts_s, strict=True)):
            assert law.decrease is not None
            self._decrease[index] = law.decrease(grid)
            self._increase[:, index] = increase(law, grid, rtt_s + delays)
        # One lookup per point: increase at two neighbouring delays, and decrease.
        later = np.concatenate([self._increase[1:], self._increase[-1:]])
        decrease = np.broadcast_to(self._decrease, shape)
        rows = np.stack([self._increase, later - self._increase, decrease], axis=-1)
        self._rows = rows.reshape(_DELAYS, len(laws) * _WINDOWS, 3)
        self._offsets = np.arange(len(laws)) * _WINDOWS

    def at(self, windows: Floats, delay_s: float) -> tuple[Floats, Floats]:
        """Increase per round trip, and the part that a reduction takes."""
        rows, rest = self._slice(delay_s)
        place = np.log(windows) * self._steps_per_log
        index = np.minimum(place.astype(np.intp), _WINDOWS - 2)
        place -= index
        index += self._offsets
        low = rows[index]
        entries = low + place[:, None] * (rows[index + 1] - low)
        return entries[:, 0] + rest * entries[:, 1], entries[:, 2]

    def _slice(self, delay_s: float) -> tuple[Floats, float]:
        place = delay_s * self._delays_per_s
        number = min(int(place), _DELAYS - 1)
        return self._rows[number], place - number

    def windows(self, probability: float, delay_s: float) -> Floats:
        """Windows at which increase and decrease are equal."""
        rows, rest = self._slice(delay_s)
        table = rows.reshape(len(self._offsets), _WINDOWS, 3)
        growth = table[:, :, 0] + rest * table[:, :, 1]
        # The reductions a packet, and a round trip, that balance the growth.
        a_packet = np.log(growth) - np.log(self._decrease) - 2 * self._logs
        by_rate = [
            _falls_to(log_rate, np.log(max(probability, 1e-300)), self._logs)
            for log_rate in a_packet
        ]
        once = [_falls_to(log_rate + self._logs, 0.0, self._logs) for log_rate in a_packet]
        # At a larger p w there is one a round trip and no more.
        windows: Floats = np.exp(np.maximum(by_rate, once))
        return windows


def increase(law: WindowLaw, windows: Floats, round_trips_s: Floats) -> Floats:
    """Growth in packets per round trip, a row per round trip time, a column per window.

    Of a law whose growth depends on the time since a loss it is the mean with which the fixed point
    is its response function: decrease(w) w^2 p, where p is the probability with mean window w.
    """
    shape = (len(round_trips_s), len(windows))
    if law.increase is not None:
        return np.broadcast_to(law.increase(windows, round_trips_s[:, None]), shape)
    assert law.decrease is not None
    log_losses = np.linspace(np.log(_LEAST_LOSS), 0.0, _LOSSES)
    means = np.log(law.window(np.exp(log_losses), round_trips_s[:, None]))
    means = np.broadcast_to(means, (shape[0], _LOSSES))[:, ::-1]
    logs = np.log(windows)
    losses = np.exp([_beyond(logs, row, log_losses[::-1]) for row in means])
    growth: Floats = law.decrease(windows) * windows**2 * losses
    return growth


def _beyond(x: Floats, known: Floats, values: Floats) -> Floats:
    """Linear interpolation, and the first slope below the first point."""
    first = max(int(np.searchsorted(known, known[0], side="right")), 1) - 1
    slope = (values[first + 1] - values[first]) / (known[first + 1] - known[first])
    below = values[first] + slope * (x - known[first])
    return np.where(x < known[0], below, np.interp(x, known, values))


def _falls_to(falling: Floats, value: float, logs: Floats) -> float:
    """Returns where a falling function has a value, or the nearer end."""
    return float(np.interp(-value, np.maximum.accumulate(-falling), logs))


def _check(link: Bottleneck) -> None:
    if not link.classes:
        raise NotApplicableError(
            f"link {link.name}: no permanent flow under congestion control crosses it"
        )
    load = link.stream_load + link.dynamic_load
    if load >= 1:
        raise NotApplicableError(
            f"link {link.name}: other traffic offers {load:.3g} of its rate and leaves nothing"
        )
    for flow_class in link.classes:
        if flow_class.ecn and law_of(flow_class).counts_marks and link.discipline != "drop_tail":
            raise NotApplicableError(
                f"link {link.name}: {flow_class.congestion} of group {flow_class.group} answers "
                "the share of marks, not each of them"
            )


def merged(classes: tuple[FlowClass, ...]) -> list[FlowClass]:
    """Flows of one control and RTT as one class, and of neighbouring RTTs if there are too many.

    Each has the mean RTT of its flows. Different controls are never merged.
    """
    kinds: dict[str, dict[float, list[FlowClass]]] = {}
    for flow_class in sorted(classes, key=lambda flow_class: flow_class.rtt_s):
        kinds.setdefault(_kind(flow_class), {}).setdefault(flow_class.rtt_s, []).append(flow_class)
    different = sum(len(by_rtt) for by_rtt in kinds.values())
    share = min(1.0, max(0, MOST_CLASSES - len(kinds)) / max(1, different - len(kinds)))
    merged_classes = []
    for by_rtt in kinds.values():
        parts = 1 + int(share * (len(by_rtt) - 1))
        for indices in np.array_split(np.arange(len(by_rtt)), parts):
            groups = list(by_rtt.values())[indices[0] : indices[-1] + 1]
            merged_classes.append(_one_of([flow_class for group in groups for flow_class in group]))
    return merged_classes


def _kind(flow_class: FlowClass) -> str:
    return repr(
        (
            flow_class.congestion,
            sorted(flow_class.parameters.items()),
            flow_class.max_window,
            flow_class.ecn,
        )
    )


def _one_of(group: list[FlowClass]) -> FlowClass:
    count = sum(flow_class.count for flow_class in group)
    mean = sum(flow_class.count * flow_class.rtt_s for flow_class in group) / count
    return replace(group[0], count=count, rtt_s=mean)
