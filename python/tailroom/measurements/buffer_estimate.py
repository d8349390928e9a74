"""The buffer that explains a measurement: a full drop-tail queue delays by its size over the rate.

Loss-based congestion controls fill a drop-tail buffer before each loss. The largest queueing delay
under load (RTT minus idle RTT) times the rate of the link is therefore the buffer. Samples rarely
hit the moment at which it is full, so its ends are:

* low: the 90th percentile of the delay, at the lower end of the rate, minus two packets: the packet
  that is being sent and the one that is measured are no part of the queue;
* high: the upper confidence limit of the end point of the delay, at the upper end of the rate,
  plus two packets: a full buffer may have a packet's room, and delays grow by packets. With m
  separate visits above the 90th percentile x, whose largest delays are at least as dense near the
  end point as anywhere above x, the end point is below x + (largest - x) a^(-1/m) with confidence
  1 - a (Robson and Whitlock, "Estimation of a truncation point", Biometrika 51, 1964; Cooke,
  "Statistical inference for bounds of random variables", Biometrika 66, 1979).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tailroom.field_docs import with_field_docs
from tailroom.measurements.samples import Measurement, Values
from tailroom.simulation import metric_units
from tailroom.statistics.distributions import student_quantile
from tailroom.statistics.intervals import CONFIDENCE

FEWEST_RTTS = 20
PARTS = 4
"""Parts of a test that are compared with one another."""
LOWEST_PEAK = 0.75
"""Smallest ratio of the largest delays of two parts if a full buffer bounds the delay."""
LOWEST_UPPER_DECILE = 0.87
"""Smallest ratio of the 90th percentile to the largest delay if the queue is often almost full."""
HIGHEST_RATE_RATIO = 1.15
"""Largest ratio of the rates of two parts if the link has one rate."""
FEWEST_PACKETS = 3
"""Smallest queue that stands out, in packets."""
LOSS_BASED = ("reno", "cubic", "bic", "htcp", "highspeed", "scalable")
"""Controls of Linux that send more until a packet is lost."""
IS_DROP_TAIL = "the queue is drop tail"
AQM_DELAY_S = 0.03
"""Twice the target of PIE (15 ms, RFC 8033 sec. 5.1), the largest default target of an AQM; that
of CoDel is 5 ms (RFC 8289 sec. 4.4)."""


@with_field_docs
@dataclass(frozen=True)
class Condition:
    """A condition under which the largest delay shows the buffer."""

    statement: str
    """The condition."""
    holds: bool | None
    """Whether the measurement meets it; `None` if the measurement does not tell."""
    found: str
    """What the measurement shows."""


@with_field_docs
@dataclass(frozen=True)
class BufferEstimate:
    """The buffer of the bottleneck, in bytes of IP packets."""

    buffer_bytes: float | None
    """The buffer by the 95th percentile of the delay; `None` if it cannot be identified."""
    low_bytes: float | None
    """Lower end of the 95 % interval, also a lower bound of a buffer that cannot be identified;
    `None` if there is no bound."""
    high_bytes: float | None
    """Upper end of the 95 % interval; `None` if it cannot be identified."""
    packet_bytes: int
    """IP packet with full payload."""
    conditions: tuple[Condition, ...]
    """The conditions, each checked against the measurement."""

    @property
    def failing(self) -> tuple[Condition, ...]:
        """The conditions that the measurement does not meet."""
        return tuple(one for one in self.conditions if one.holds is False)

    @property
    def sentence(self) -> str:
        """The answer in words."""
        if self.buffer_bytes is not None:
            packets = self.buffer_bytes / self.packet_bytes
            return (
                f"the bottleneck holds about {_kilobytes(self.buffer_bytes)} ({packets:,.0f} "
                f"packets of {self.packet_bytes:,} bytes), from {_kilobytes(self.low_bytes)} to "
                f"{_kilobytes(self.high_bytes)}, if its queue is drop tail and "
                f"the load fills it{self._doubt}"
            )
        why = self.failing[0]
        reason = f"{why.statement}: {why.found}"
        if self.low_bytes:
            return (
                f"the bottleneck holds at least {_kilobytes(self.low_bytes)}; how much more, the "
                f"measurement does not show, since a condition fails: {reason}"
            )
        return f"the measurement does not show the buffer, since a condition fails: {reason}"

    @property
    def _doubt(self) -> str:
        open_ones = [one for one in self.conditions if one.holds is None]
        return "".join(f"; {one.found}" for one in open_ones if one.statement == IS_DROP_TAIL)


def _kilobytes(size: float | None) -> str:
    return "-" if size is None else f"{size / 1e3:,.4g} kB"


def estimate_buffer(measured: Measurement, idle_rtt_s: float | None = None) -> BufferEstimate:
    """Estimates the buffer of the bottleneck.

    Args:
        measured: The measurement.
        idle_rtt_s: RTT of the idle path, in seconds; if left out, what the measurement has.
    """
    idle = measured.idle_rtts_s if idle_rtt_s is None else np.array([idle_rtt_s])
    is_complete = len(measured.rtt_s) >= FEWEST_RTTS and len(measured.throughput_bps) >= PARTS
    conditions = list(_of_load(measured, is_complete=is_complete))
    low = high = middle = None
    if is_complete and measured.direction not in ("both", "none"):
        # The smallest RTT under load is no smaller than that of the idle path.
        base = idle if len(idle) else np.array([measured.rtt_s.min()])
        delays = measured.rtt_s - float(np.median(base))
        rate = _Rate.of(measured, delays)
        queue = _queue(measured, delays, idle, rate)
        conditions += [_idle_is_known(idle), queue]
        if queue.holds:
            conditions += _of_queue(measured, delays, rate)
            # If the rate varies, the queue may have been longest while the link was slowest.
            slowest_bps = rate.low_bps if rate.is_one else min(rate.parts_bps)
            spread_s = float(np.median(base) - base.min())
            low = max(slowest_bps / 8 * _decile(delays) - 2 * measured.packet_bytes, 0.0)
            high = rate.high_bps / 8 * (_end_point(delays) + spread_s) + 2 * measured.packet_bytes
            middle = rate.mean_bps / 8 * float(np.percentile(delays, 95))
    if any(one.holds is False for one in conditions):
        high = middle = None
    elif middle is not None and low is not None and high is not None:
        middle = min(max(middle, low), high)
    return BufferEstimate(middle, low, high, measured.packet_bytes, tuple(conditions))


@dataclass(frozen=True)
class _Rate:
    """The rate of the link in bits of IP packets per second."""

    mean_bps: float
    low_bps: float
    high_bps: float
    parts_bps: tuple[float, ...]

    @property
    def is_one(self) -> bool:
        """Whether all parts of the test have nearly the same rate."""
        return max(self.parts_bps) <= HIGHEST_RATE_RATIO * min(self.parts_bps)

    @classmethod
    def of(cls, measured: Measurement, delays: Values) -> "_Rate":
        """Measures the rate while a queue keeps the link busy."""
        queue_s = np.interp(measured.throughput_time_s, measured.rtt_time_s, delays)
        is_busy = queue_s > _decile(delays) / 2
        # The first interval has the beginning of the load.
        is_busy[0] = False
        rates = measured.throughput_bps[is_busy]
        if len(rates) < PARTS:
            rates = measured.throughput_bps
        rates = rates * measured.packet_bytes / measured.payload_bytes
        parts = tuple(float(part.mean()) for part in np.array_split(rates, PARTS))
        mean = float(rates.mean())
        quantile = student_quantile(len(rates) - 1, (1 + CONFIDENCE) / 2)
        half_width = quantile * float(rates.std(ddof=1)) / len(rates) ** 0.5
        return cls(mean, max(mean - half_width, 0.0), mean + half_width, parts)


def _decile(delays: Values) -> float:
    return float(np.percentile(delays, 90))


def _end_point(delays: Values) -> float:
    """Upper confidence limit of the largest possible delay, in seconds."""
    threshold = _decile(delays)
    is_above = delays > threshold
    visits = int(np.count_nonzero(is_above[1:] & ~is_above[:-1])) + int(is_above[0])
    share = (1 - CONFIDENCE) / 2
    return float(threshold + (delays.max() - threshold) * share ** (-1 / max(visits, 1)))


def _of_load(measured: Measurement, *, is_complete: bool) -> Iterator[Condition]:
    """What the load has to be like."""
    one_way = "the load goes in one direction"
    if measured.direction == "none":
        yield Condition("a load fills the path", False, "there is no load")
    elif measured.direction == "both":
        yield Condition(one_way, False, "an RTT is the sum of the queues of both directions")
    else:
        yield Condition(one_way, True, measured.direction)
    counts = f"{len(measured.rtt_s):,} RTTs, {len(measured.throughput_bps):,} rates"
    if not is_complete and not len(measured.rtt_s):
        counts = "no RTT; the side that sends knows the RTTs, or a ping"
    statement = f"there are {FEWEST_RTTS} RTTs and {PARTS} rates under load"
    yield Condition(statement, is_complete, counts)


def _idle_is_known(idle: Values) -> Condition:
    found = (
        f"{metric_units.milliseconds(float(np.median(idle)))}"
        if len(idle)
        else "unknown; measure it with ping, and give it"
    )
    return Condition("the RTT of the idle path is known", bool(len(idle)), found)


def _queue(measured: Measurement, delays: Values, idle: Values, rate: _Rate) -> Condition:
    """Whether the load keeps a queue that stands out from the jitter of the idle path."""
    packet_s = 8 * measured.packet_bytes / max(rate.mean_bps, 1.0)
    jitter_s = float(np.percentile(idle, 90) - np.median(idle)) if len(idle) else 0.0
    threshold_s = FEWEST_PACKETS * packet_s + 2 * jitter_s
    delay_s = _decile(delays)
    found = f"the load adds {metric_units.milliseconds(delay_s)} (90th percentile)"
    if delay_s <= threshold_s:
        found += ": an AQM, a queue per flow, or no full link"
    return Condition("the load keeps a queue", delay_s > threshold_s, found)


def _of_queue(measured: Measurement, delays: Values, rate: _Rate) -> Iterator[Condition]:
    """What a full drop-tail buffer shows."""
    peaks = [float(part.max()) for part in np.array_split(delays, PARTS)]
    lowest, highest = min(peaks), max(peaks)
    yield Condition(
        f"the largest delay is the same in each of {PARTS} parts of the test",
        lowest >= LOWEST_PEAK * highest,
        f"from {metric_units.milliseconds(lowest)} to {metric_units.milliseconds(highest)}",
    )
    share = _decile(delays) / highest if highest > 0 else 0.0
    yield Condition(
        f"the queue often has {LOWEST_UPPER_DECILE:.0%} of its largest delay",
        share >= LOWEST_UPPER_DECILE,
        f"a tenth of the time it has at least {share:.0%}",
    )
    yield Condition(
        "the link has one rate",
        rate.is_one,
        f"parts of the test have {metric_units.rate(min(rate.parts_bps))} to "
        f"{metric_units.rate(max(rate.parts_bps))}",
    )
    control = measured.congestion
    yield Condition(
        "the congestion control fills a buffer, as CUBIC does",
        None if control is None else control in LOSS_BASED,
        control or "the file does not tell",
    )
    lost = measured.retransmissions
    yield Condition(
        "packets were lost, so the buffer was full",
        None if lost is None else lost > 0,
        "the file does not tell" if lost is None else f"{lost:,} retransmissions",
    )
    delay_s = _decile(delays)
    is_long = delay_s > AQM_DELAY_S
    found = f"{metric_units.milliseconds(delay_s)} of queueing delay"
    yield Condition(
        IS_DROP_TAIL,
        True if is_long else None,
        f"{found} is more than an AQM permits" if is_long else f"{found} may be that of an AQM",
    )
