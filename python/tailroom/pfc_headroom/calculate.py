"""`tailroom.headroom`: the PFC headroom of a link, term by term."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tailroom import _engine
from tailroom.arguments import Limits, named
from tailroom.errors import ArgumentError, ScenarioError
from tailroom.pfc_headroom.lengths import (
    MEDIA,
    SONIC_DELAY,
    read_delay,
    read_length,
    read_medium,
)
from tailroom.pfc_headroom.profiles import Profile, read_profile
from tailroom.pfc_headroom.result import NO_XON, Headroom
from tailroom.pfc_headroom.speeds import Speed, read_speed
from tailroom.pfc_headroom.terms import Question, terms_of

FRAME = Limits(64, 65_535)
PERCENT = Limits(0, 100)
PORTS = Limits(1, 4096)
PRIORITIES = Limits(1, 8)
OVERSUBSCRIPTION = Limits(1, 1000, is_whole=False)
MOST_BYTES = 1e15
"""More memory than any switch has."""


def headroom(  # noqa: PLR0913 - a parameter per term
    speed: str | float,
    cable: str | float,
    *,
    asic: str | None = None,
    table: str | None = None,
    medium: str | None = None,
    frame_bytes: int | None = None,
    lossless_frame_bytes: int | None = None,
    small_percent: int | None = None,
    response: str | float | None = None,
    interface: str | float | None = None,
    gearbox: str | float | None = None,
    fec: str | float | None = None,
    macsec: str | float | None = None,
    shared: bool | None = None,
    ports: int | None = None,
    priorities: int | None = None,
    oversubscription: float | None = None,
    buffer: str | float | None = None,
) -> Headroom:
    """Computes the PFC headroom of a lossless priority, with every term and its source.

    Without a chip or a table, the terms are those of IEEE 802.1Q, Annex O, with the largest delays
    that the standards allow, in bytes without cells.

    Args:
        speed: Speed of the port, `"1G"` to `"1.6T"`. In Python also a number of bit/s.
        cable: Length of the cable, `"1m"` to `"120km"`. In Python also a number of metres.
        asic: Chip whose cells and formula count, such as `"spectrum-4"` or `"tomahawk-5"`, or a
            published table.
        table: Published table whose parameters count, such as `"sn5600"`.
        medium: Medium of the cable, `"fiber"` (5 ns/m) or `"copper"` (4.76 ns/m); that of the
            formula if left out.
        frame_bytes: Largest frame of any class, which may delay the pause frame; that of the chip
            or table if left out, mostly 9216.
        lossless_frame_bytes: Largest frame of the lossless class, which the peer finishes; that of
            the chip or table if left out.
        small_percent: Percentage of packets of 64 bytes, which waste cells; that of the chip or
            table if left out, mostly 100.
        response: Time until the peer stops, such as `"1us"`, if it was measured; the standard's
            bound or that of the chip or table if left out.
        interface: Delay of MAC and PHY, such as `"250ns"`; the standard's bound or that of the
            chip or table if left out.
        gearbox: Delay of a gearbox, one way.
        fec: Delay of forward error correction beyond that of the interface, one way.
        macsec: Delay of MACsec, one way.
        shared: Ports share the headroom, so that none is reserved per priority.
        ports: Number of ports, for the size of the headroom that they share.
        priorities: Lossless priorities per port; 2 if left out.
        oversubscription: How many times the shared headroom is too small for all priorities of all
            ports at once; 1 if left out.
        buffer: Memory of the switch, such as `"32MB"`, for the verdict whether it holds what all
            ports set apart. In Python also a number of bytes.

    Raises:
        ArgumentError: An argument is not known, has no unit or is out of range.
    """
    profile = read_profile(asic, table)
    read = read_speed(speed)
    for name, value, limits in (
        ("frame_bytes", frame_bytes, FRAME),
        ("lossless_frame_bytes", lossless_frame_bytes, FRAME),
        ("small_percent", small_percent, PERCENT),
        ("ports", ports, PORTS),
        ("priorities", priorities, PRIORITIES),
        ("oversubscription", oversubscription, OVERSUBSCRIPTION),
    ):
        limits.check(name, value)
    ways = (("gearbox", gearbox), ("FEC", fec), ("MACsec", macsec))
    delays = ((name, _delay(name.lower(), delay)) for name, delay in ways)
    given: dict[str, Any] = {
        "medium": None if medium is None else read_medium(medium),
        "frame_bytes": frame_bytes,
        "lossless_frame_bytes": lossless_frame_bytes,
        "small_percent": small_percent,
        "is_shared": shared,
        "response_s": _delay("response", response),
        "interface_s": _delay("interface", interface),
        "delays": tuple((name, delay) for name, delay in delays if delay is not None),
    }
    question = replace(
        link_question(profile, read, read_length(cable)),
        **{name: value for name, value in given.items() if value is not None},
    )
    return Headroom(
        read.name,
        read.mbps,
        question.cable_m,
        profile,
        terms_of(question),
        profile.xon_at(read.mbps),
        question.is_shared,
        ports,
        2 if priorities is None else priorities,
        1.0 if oversubscription is None else float(oversubscription),
        tuple(_assumptions(question)),
        _buffer_bytes(buffer, ports),
        _eight_lanes_frame_bytes(question),
    )


def _eight_lanes_frame_bytes(question: Question) -> int:
    """The frame that SONiC's script adds to the size of a port with eight lanes; 0 at others."""
    profile = question.profile
    if question.is_shared or question.speed.mbps != profile.eight_lanes_mbps:
        return 0
    stated = profile.eight_lanes_frame_bytes
    return question.frame_bytes if stated is None else stated


def _buffer_bytes(buffer: str | float | None, ports: int | None) -> int | None:
    """The memory of the switch in bytes.

    Raises:
        ArgumentError: It is not an amount of memory, or there is no number of ports.
    """
    if buffer is None:
        return None
    if ports is None:
        raise ArgumentError(f"{named('buffer')}: needs the number of ports; add {named('ports')}")
    try:
        read = _engine.quantity("size", buffer) if isinstance(buffer, str) else float(buffer)
    except ScenarioError as error:
        raise ArgumentError(f"{named('buffer')}: {error}") from None
    if not 0 < read < MOST_BYTES:
        raise ArgumentError(
            f"{named('buffer')}: {buffer} is no memory of a switch; write for example 32MB"
        )
    return int(read)


def _delay(argument: str, given: str | float | None) -> Fraction | None:
    return None if given is None else read_delay(argument, given)


def link_question(profile: Profile, speed: Speed, cable_m: Fraction) -> Question:
    """Returns the question about a link with everything as the profile has it.

    Args:
        profile: The chip or published table.
        speed: Speed of the link.
        cable_m: Length of the cable in metres.
    """
    return Question(
        speed,
        cable_m,
        SONIC_DELAY if profile.method == "sonic" else MEDIA["fiber"],
        profile,
        profile.frame_bytes,
        profile.lossless_frame_bytes,
        profile.small_percent,
        profile.is_shared,
    )


def _assumptions(question: Question) -> Iterator[str]:
    """Yields what a reader should know before using the numbers."""
    profile = question.profile
    yield from (text for mbps, text in profile.differences if mbps == question.speed.mbps)
    if profile.method == "fit":
        yield (
            "xoff is a straight line through published rows, within 5 % of them, and no "
            "specification of the vendor; xon, xon_offset and size are those of the rows."
        )
    if profile.method == "standard":
        if question.response_s is not None:
            yield "The peer's response is as given."
        else:
            whose = "SONiC's bound" if question.speed.standard_quanta is None else "the standard's"
            yield f"The peer's response is {whose}; a peer may stop sooner, but need not."
    elif profile.response_bytes is not None and question.response_s is None:
        yield (
            "The response is 3.8 KiB at every speed, as in old tables; the standard allows "
            "25 KB at 100G and 58 KB at 400G."
        )
    if profile.cell_bytes is None:
        yield "Bytes are counted without cells: give --asic, as small packets waste parts of cells."
    elif question.small_percent:
        some = question.small_percent
        small = "All packets" if some == 100 else f"{some} % of the packets"
        yield f"{small} are of 64 B, and each takes whole cells of {profile.cell_bytes} B."
    if not profile.xon_bytes and profile.xon_offset_bytes is None:
        yield NO_XON
    if frame := _eight_lanes_frame_bytes(question):
        yield (
            f"The port has eight lanes, for which SONiC's script adds a frame of {frame:,} B to "
            "the size."
        )
    if question.speed.name == "800G" and question.response_s is None and profile.method != "fit":
        yield "The response at 800G is SONiC's, which takes 400G's 905 quanta."
