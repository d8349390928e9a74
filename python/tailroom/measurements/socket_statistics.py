"""Logs of repeated `ss -tin`, on the host that sends.

A socket is a line with its two ends and a line with the kernel's statistics: `rtt:` and `minrtt:`
in ms, `bytes_acked:`, `busy:` (time with data in flight, in ms), `retrans:now/total`, `mss:`,
`pmtu:` (names as iproute2 writes them). A line with a time (`date +%s.%N`, or ISO 8601) may stand
before each output; without such lines, the clock is `busy` of the busiest socket.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise

from tailroom.errors import MeasurementError
from tailroom.measurements.json_fields import number
from tailroom.measurements.samples import (
    IPV4_HEADERS_BYTES,
    LARGEST_PACKET_BYTES,
    LARGEST_RTT_S,
    LONGEST_S,
    SMALLEST_PAYLOAD_BYTES,
    USUAL_PAYLOAD_BYTES,
    Measurement,
    values,
)

Ends = tuple[str, str]

SOCKET = re.compile(r"^(?:[a-z]\S*\s+)?(?:[A-Z][A-Z0-9-]*\s+)?\d+\s+\d+\s+(\S+)\s+(\S+)")
STATISTIC = re.compile(r"(?:^|\s)(rtt|minrtt|bytes_acked|busy|retrans|mss|pmtu):(\S+)")
CONGESTION = re.compile(r"^.*?\s([a-z]\w*) wscale:\d")
"""iproute2 writes the control before the scale of the window."""
CLOCK = re.compile(r"^\s*(?:[a-z]+\s*[:=]\s*)?(\d{9,19}(?:\.\d*)?)\s*$", re.IGNORECASE)
"""Seconds, milliseconds, microseconds or nanoseconds since 1970."""
CALENDAR = re.compile(r"^\s*(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*)\s*$")
HEADING = re.compile(r"^\s*(?:Netid\s+)?(?:State\s+)?Recv-Q\s+Send-Q\b")
LEAST_SHARE = 0.01
"""A socket carries load if it has this share of the bytes of the log."""
MOST_BYTES = 2.0**64


@dataclass
class _Socket:
    """Statistics of one socket in one output."""

    rtt_s: float | None = None
    idle_rtt_s: float | None = None
    acked_bytes: float = 0.0
    busy_s: float | None = None
    retransmissions: int = 0
    congestion: str | None = None
    payload_bytes: int = 0
    packet_bytes: int = 0


@dataclass
class _Output:
    """One output of ss."""

    time_s: float | None = None
    sockets: dict[Ends, _Socket] = field(default_factory=dict)


def is_log(text: str) -> bool:
    """Whether a text has statistics of sockets."""
    return any(STATISTIC.search(line) for line in text.splitlines())


def read(text: str) -> Measurement:
    """Reads the text of a log.

    Raises:
        MeasurementError: A line is wrong, or no socket sends.
    """
    outputs = [one for one in _outputs(text) if one.sockets]
    _check_times(outputs)
    first = {ends: socket for one in reversed(outputs) for ends, socket in one.sockets.items()}
    last = {ends: socket for one in outputs for ends, socket in one.sockets.items()}
    carried = {ends: last[ends].acked_bytes - first[ends].acked_bytes for ends in last}
    total = sum(carried.values())
    if total <= 0:
        raise MeasurementError(
            "no socket sent data between two outputs; log `ss -tin` on the host that sends, "
            "several times a second during the transfer"
        )
    loading = {ends for ends, size in carried.items() if size >= LEAST_SHARE * total}
    busiest = max(loading, key=lambda ends: (carried[ends], ends))
    # Sockets to other hosts may have other paths behind the bottleneck, so other idle RTTs.
    same_path = {ends for ends in loading if _host(ends) == _host(busiest)}
    samples = list(_samples(outputs, loading, same_path))
    idle = [
        socket.idle_rtt_s
        for one in outputs
        for ends, socket in one.sockets.items()
        if ends in same_path and socket.idle_rtt_s is not None
    ]
    payload = last[busiest].payload_bytes or USUAL_PAYLOAD_BYTES
    return Measurement(
        tool="ss",
        direction="upload",
        probe="tcp",
        rtt_time_s=values([time_s for time_s, _, rtt in samples if rtt is not None]),
        rtt_s=values([rtt for *_, rtt in samples if rtt is not None]),
        idle_rtts_s=values([min(idle)] if idle else []),
        throughput_time_s=values([time_s for time_s, *_ in samples]),
        throughput_bps=values([rate for _, rate, _ in samples]),
        congestion=last[busiest].congestion,
        retransmissions=sum(
            last[ends].retransmissions - first[ends].retransmissions for ends in loading
        ),
        payload_bytes=payload,
        packet_bytes=last[busiest].packet_bytes or payload + IPV4_HEADERS_BYTES,
    )


def _host(ends: Ends) -> str:
    """The host to which a socket sends."""
    return ends[1].rpartition(":")[0]


def _outputs(text: str) -> Iterator[_Output]:
    """Yields the outputs of a log: each begins with a time, a heading, or a socket seen before."""
    current, ends, is_begun = _Output(), None, False
    for place, line in enumerate(text.splitlines(), start=1):
        time_s = _time_s(line, place)
        found = SOCKET.match(line)
        if time_s is not None or HEADING.match(line):
            if not is_begun or time_s is not None:
                yield current
                current = _Output(time_s)
            # A heading follows the time of its output.
            is_begun, ends = time_s is not None, None
            continue
        if found and ":" in found[1] and ":" in found[2]:
            ends, is_begun = (found[1], found[2]), False
            if ends in current.sockets:
                yield current
                current = _Output()
            current.sockets[ends] = _Socket()
        if ends:
            _add_statistics(current.sockets[ends], line, place)
    yield current


def _time_s(line: str, place: int) -> float | None:
    """The time on a line of its own, in seconds; `None` if the line is none.

    Raises:
        MeasurementError: The line looks like a time of the calendar and is none.
    """
    if found := CLOCK.match(line):
        digits = len(found[1].partition(".")[0])
        return float(found[1]) / 10.0 ** (3 * max(0, (digits - 10 + 2) // 3))
    if found := CALENDAR.match(line):
        try:
            return datetime.fromisoformat(found[1]).timestamp()
        except (ValueError, OverflowError):
            raise MeasurementError(
                f"line {place}: is not a time; write for example the output of `date +%s.%N`"
            ) from None
    return None


def _add_statistics(socket: _Socket, line: str, place: int) -> None:
    """Adds what a line says about a socket."""
    if control := CONGESTION.match(line):
        socket.congestion = control[1]
    for name, text in STATISTIC.findall(line):
        here, number_text = f"line {place}: {name}", text
        if name == "rtt":
            number_text = text.partition("/")[0]
            socket.rtt_s = _number(number_text, here, 1e3 * LARGEST_RTT_S) / 1e3
        elif name == "minrtt":
            socket.idle_rtt_s = _number(text, here, 1e3 * LARGEST_RTT_S) / 1e3
        elif name == "bytes_acked":
            socket.acked_bytes = _number(text, here, MOST_BYTES)
        elif name == "busy":
            socket.busy_s = _number(text.removesuffix("ms"), here, 1e3 * LONGEST_S) / 1e3
        elif name == "retrans":
            socket.retransmissions = round(_number(text.partition("/")[2], here, MOST_BYTES))
        elif name == "mss":
            socket.payload_bytes = _size(text, here)
        else:
            socket.packet_bytes = _size(text, here)


def _size(text: str, place: str) -> int:
    return round(_number(text, place, LARGEST_PACKET_BYTES, SMALLEST_PAYLOAD_BYTES))


def _number(text: str, place: str, most: float, least: float = 0.0) -> float:
    try:
        value: float | None = float(text)
    except ValueError:
        value = None
    return number(value, place, most, least)


def _check_times(outputs: list[_Output]) -> None:
    """Checks that all outputs have a time or none has, and that times ascend.

    Raises:
        MeasurementError: They do not.
    """
    times = [one.time_s for one in outputs]
    known = [time_s for time_s in times if time_s is not None]
    if known and len(known) < len(times):
        raise MeasurementError(
            "some outputs have no time; write a line of `date +%s.%N` before each `ss -tin`"
        )
    if any(later < earlier for earlier, later in pairwise(known)):
        raise MeasurementError("times do not ascend; give one log, in its order")
    if known and known[-1] - known[0] > LONGEST_S:
        raise MeasurementError(f"times span more than {LONGEST_S:g} s; give the log of one test")


def _samples(
    outputs: list[_Output], loading: set[Ends], same_path: set[Ends]
) -> Iterator[tuple[float, float, float | None]]:
    """Yields time in s, rate in bit/s and smallest RTT in s after each interval with data."""
    time_s = 0.0
    for earlier, later in pairwise(outputs):
        grown = {ends: _grown_bytes(earlier, later, ends) for ends in loading & set(later.sockets)}
        length_s = _length_s(earlier, later, grown)
        time_s += length_s
        if length_s > 0 and any(grown.values()):
            sending = [later.sockets[ends].rtt_s for ends in same_path if grown.get(ends)]
            rtts = [rtt for rtt in sending if rtt is not None]
            yield time_s, 8 * sum(grown.values()) / length_s, min(rtts, default=None)


def _grown_bytes(earlier: _Output, later: _Output, ends: Ends) -> float:
    before = earlier.sockets.get(ends, _Socket()).acked_bytes
    return max(0.0, later.sockets[ends].acked_bytes - before)


def _length_s(earlier: _Output, later: _Output, sending: Iterable[Ends]) -> float:
    """The time between two outputs: by the clock, else the time that the busiest socket sent.

    Raises:
        MeasurementError: There is neither.
    """
    if earlier.time_s is not None and later.time_s is not None:
        return later.time_s - earlier.time_s
    lengths = [0.0]
    for ends in sending:
        before = earlier.sockets[ends].busy_s if ends in earlier.sockets else 0.0
        after = later.sockets[ends].busy_s
        if after is None or before is None:
            raise MeasurementError(
                "neither times nor busy: in the log; write a line of `date +%s.%N` before each "
                "`ss -tin`"
            )
        lengths.append(after - before)
    return max(lengths)
