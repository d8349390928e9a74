"""What the vectors of Linux have in common: a connection with a window of ten packets."""

from collections.abc import Sequence
from typing import Any

from tailroom.vectors.scripts import AckArrival, AckScript, Write
from tailroom.vectors.vector import Expectation, Vector

RTT_S = 0.1
START_S = RTT_S
"""When the handshake is over, and the application writes first."""
BETA = {"reno": 0.5, "cubic": 717 / 1024}
MOMENT_S = 0.002
"""What happens at an instant may take this long."""
OPEN, DISORDER, REDUCED, RECOVERY, LOSS = range(5)


def vector(
    name: str,
    title: str,
    function: str,
    events: Sequence[Write | AckArrival],
    *expect: Expectation,
    file: str = "net/ipv4/tcp_input.c",
    **settings: Any,
) -> Vector:
    """A vector of a function of the kernel; times of `events` count from the first write."""
    events = sorted(events, key=lambda event: event.at_s)
    last_s = max(event.at_s for event in events)
    ends_s = max([last_s, *(expectation.at[1] for expectation in expect if expectation.at)])
    script = AckScript(
        control=settings.pop("control", "cubic"),
        handshake_rtt_s=settings.pop("rtt_s", RTT_S),
        writes=tuple(event for event in events if isinstance(event, Write)),
        acks=tuple(event for event in events if isinstance(event, AckArrival)),
        duration_s=ends_s + 0.01,
        **settings,
    )
    return Vector(
        id=f"linux.{name}",
        title=title,
        source=f"Linux 6.18, {function} in {file}",
        url=f"https://github.com/torvalds/linux/blob/v6.18/{file}",
        script=script,
        expect=expect,
    )


def write(after_s: float, packets: int, *, start_s: float = START_S) -> Write:
    """The application writes."""
    return Write(at_s=_time(start_s + after_s), packets=packets)


def ack(  # noqa: PLR0913 - the fields of an ACK
    after_s: float,
    up_to: int,
    *sacked: tuple[int, int],
    start_s: float = START_S,
    ece: bool = False,
    duplicate: int | None = None,
    echo_after_s: float | None = None,
) -> AckArrival:
    """An ACK comes."""
    return AckArrival(
        at_s=_time(start_s + after_s),
        up_to=up_to,
        sacked=sacked,
        ece=ece,
        duplicate=duplicate,
        echo_s=None if echo_after_s is None else _time(start_s + echo_after_s),
    )


def holds(  # noqa: PLR0913 - the fields of an expectation
    quantity: str,
    after_s: float,
    value: float | tuple[float, float],
    why: str,
    *,
    until_s: float | None = None,
    start_s: float = START_S,
) -> Expectation:
    """A quantity at a time, after what happens then."""
    first = _time(start_s + after_s)
    last = first if until_s is None else _time(start_s + until_s)
    band = value if isinstance(value, tuple) else (value, value)
    return Expectation(quantity=quantity, at=(first, last), value=band, why=why)


def window(after_s: float, packets: int, why: str, *, start_s: float = START_S) -> Expectation:
    """The window, of which Linux counts whole packets."""
    return holds("cwnd_packets", after_s, (packets, packets + 0.999), why, start_s=start_s)


def leave(  # noqa: PLR0913 - the fields of an expectation
    after_s: float,
    until_s: float,
    packets: float | tuple[float, float],
    why: str,
    *,
    event: str = "sent",
    start_s: float = START_S,
) -> Expectation:
    """Packets that leave; those sent again are the event `sent_again`."""
    band = packets if isinstance(packets, tuple) else (packets, packets)
    at = (_time(start_s + after_s), _time(start_s + until_s))
    return Expectation(event=event, at=at, value=band, why=why)


def _time(seconds: float) -> float:
    """Without the last digits of a sum."""
    return round(seconds, 9)
