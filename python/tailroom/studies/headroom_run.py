"""`tailroom.simulate_headroom`: the worst case of a port, simulated."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any

from tailroom.arguments import named
from tailroom.errors import ArgumentError
from tailroom.field_docs import with_field_docs
from tailroom.pfc_headroom.result import Headroom
from tailroom.pfc_headroom.terms import OVERHEAD_BYTES, PAUSE_FRAME_BYTES, Role
from tailroom.scenario.scenario import Scenario
from tailroom.simulation.engine_run import simulate

XOFF_FRAMES = 10
"""Frames that wait when the port asks for the pause."""
LARGEST_FRAME_BYTES = 65_535
"""Largest packet of a scenario."""
PS = 10**12


@with_field_docs
@dataclass(frozen=True)
class SimulatedHeadroom:
    """What a port received after it had asked for a pause, in the worst case."""

    wire_bytes: int
    """The headroom without the terms for cells, rounding and margins: what may arrive."""
    frame_bytes: int
    """Size of each frame, with preamble and gap if the formula counts them."""
    peak_bytes: int
    """The most headroom that was occupied."""
    drops_packets: int
    """Frames that a headroom of `wire_bytes` did not hold."""
    shorter_drops_packets: int
    """Frames that a headroom of a frame less did not hold."""
    crossing_bytes: int
    """The most of a frame that lies above the threshold that it crosses: a frame less a byte,
    which the formula omits."""
    crossing_drops_packets: int
    """Frames that a headroom of `wire_bytes` did not hold when such a frame crossed the
    threshold."""
    covered_drops_packets: int
    """Frames that a headroom of `wire_bytes + crossing_bytes` did not hold then."""

    def as_dict(self) -> dict[str, int]:
        """The result as the command prints it with `--json`."""
        return dict(vars(self))


def simulate_headroom(headroom: Headroom) -> SimulatedHeadroom:
    """Simulates the worst case for a headroom, and for one that is a frame smaller.

    The peer sends without a break, and nothing leaves the port any more. The peer stops only when
    every delay of the formula has passed, and finishes the frame that it has just begun.

    The threshold is a whole number of frames, and then a byte more: the rest of the frame that
    crosses it takes headroom, which the formulas of the standard and of SONiC omit.

    Args:
        headroom: The headroom, from `tailroom.headroom`.

    Raises:
        ArgumentError: A frame is larger than the packets of a scenario, or the delays are shorter
            than the pause frame.
    """
    frame, wire = int(_sum(headroom, "last frame")), floor(_wire(headroom))
    if _stop(headroom) < 0:
        raise ArgumentError(f"{named('response')}: is shorter than a pause frame; raise it")
    if frame > LARGEST_FRAME_BYTES:
        raise ArgumentError(
            f"{named('lossless_frame_bytes')}: with preamble and gap a frame has {frame} B; "
            f"a scenario has packets of at most {LARGEST_FRAME_BYTES} B"
        )
    whole, rest = XOFF_FRAMES * frame, frame - 1
    peak, drops = _worst_case(headroom, frame, wire, whole)
    _, shorter_drops = _worst_case(headroom, frame, wire - frame, whole)
    _, crossing_drops = _worst_case(headroom, frame, wire, whole + 1)
    _, covered_drops = _worst_case(headroom, frame, wire + rest, whole + 1)
    return SimulatedHeadroom(
        wire, frame, peak, drops, shorter_drops, rest, crossing_drops, covered_drops
    )


def _sum(headroom: Headroom, role: Role) -> Fraction:
    terms = (term.exact_bytes for term in headroom.terms if term.role == role)
    return sum(terms, Fraction())


def _wire(headroom: Headroom) -> Fraction:
    return headroom.xoff_bytes - _sum(headroom, "memory")


def _stop(headroom: Headroom) -> Fraction:
    """Returns the bytes of the response time; the engine adds the pause frame to it."""
    delays = _sum(headroom, "stop") + _sum(headroom, "pause frame")
    return delays - (PAUSE_FRAME_BYTES + OVERHEAD_BYTES)


def _worst_case(headroom: Headroom, frame: int, size: int, threshold: int) -> tuple[int, int]:
    """Returns the most headroom that was occupied, and the frames that were dropped."""
    result = simulate(_scenario(headroom, frame, size, threshold))
    peak, drops = (
        result.links["port"]["headroom_bytes_max"],
        result.links["next"]["drops_headroom_packets"],
    )
    return int(peak or 0), drops


def _scenario(headroom: Headroom, frame: int, size: int, threshold: int) -> Scenario:
    """A link into a switch, and one out of it that has stopped."""
    ps_per_byte = Fraction(8 * PS, headroom.speed_mbps * 10**6)
    sent = 2 * (threshold + _wire(headroom))
    rate = f"{headroom.speed_mbps} Mbit/s"
    queue = {"kind": "drop_tail", "limit": f"{ceil(sent)} B"}
    links: Any = {
        "port": {
            "rate": rate,
            "delay": _time(_sum(headroom, "path") / 2 * ps_per_byte),
            "queue": queue,
            "pause": {
                "xoff": f"{threshold} B",
                "xon": "1 B",
                "headroom": f"{max(size, 1)} B",
                "response_time": _time(_stop(headroom) * ps_per_byte),
            },
        },
        "next": {
            "rate": rate,
            "delay": "0 s",
            "queue": queue,
            "changes": [{"at": "0 s", "rate": "0 bit/s"}],
        },
    }
    flow: Any = {
        "path": ["port", "next"],
        "packet_size": f"{frame} B",
        "source": {"kind": "cbr", "rate": rate},
    }
    return Scenario(duration=_time(sent * ps_per_byte), links=links, flows={"peer": flow})


def _time(picoseconds: Fraction) -> str:
    return f"{ceil(picoseconds)} ps"
