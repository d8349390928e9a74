"""The terms of a headroom: what arrives between the decision to pause and the last byte.

All amounts are fractions, so that rounding up to a cell or to 1 KiB is exact.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import Literal

from tailroom.arguments import named
from tailroom.errors import ArgumentError
from tailroom.field_docs import with_field_docs
from tailroom.pfc_headroom.profiles import KIB, SONIC, Profile
from tailroom.pfc_headroom.speeds import QUANTUM_BYTES, SONIC_SOURCE, Speed

OVERHEAD_BYTES = 20
"""Preamble, start of frame and gap between frames: 8 and 12 bytes (IEEE 802.3)."""
PAUSE_FRAME_BYTES = 64
SMALLEST_FRAME_BYTES = 64
MAC_PHY_BYTES = Fraction(8 * KIB, 10)
"""0.8 KiB: `mac_phy_delay` of SONiC's asic_table.j2."""
MARGIN_BYTES = 2 * KIB
"""What SONiC's script adds, and by how much a headroom is below that of small packets alone."""
Role = Literal["path", "stop", "pause frame", "last frame", "memory"]
"""What happens during a term: the way there and back, the response of the peer, the pause frame, a
frame just begun, or what the memory needs more."""
BOOK = "Cisco's storage-networks book, chapter 7, after IEEE 802.1Q, Annex O"


@with_field_docs
@dataclass(frozen=True)
class Term:
    """A part of the headroom."""

    name: str
    """What arrives, or why."""
    exact_bytes: Fraction
    """Its size."""
    formula: str
    """How the size follows from the link."""
    source: str
    """Where the formula or the number stands."""
    role: Role = "stop"
    """What it is on the link: `"path"` (on the wire, both ways), `"stop"` (time until the peer
    stops), `"pause frame"`, `"last frame"` (which the peer finishes), or `"memory"` (room that
    packets waste)."""


@dataclass(frozen=True)
class Question:
    """A link with everything that the terms depend on; delays are for one way, in seconds."""

    speed: Speed
    cable_m: Fraction
    medium: tuple[Fraction, str]
    """Delay per metre in seconds, and its source."""
    profile: Profile
    frame_bytes: int
    lossless_frame_bytes: int
    small_percent: int
    is_shared: bool
    response_s: Fraction | None = None
    """Measured time until the peer stops; the profile's or the standard's if left out."""
    interface_s: Fraction | None = None
    """Delay of the interface; the largest that the standard allows if left out."""
    delays: tuple[tuple[str, Fraction], ...] = field(default=())
    """Names and delays of what stands on the way: gearbox, FEC, MACsec."""

    @property
    def cell_bytes(self) -> int | None:
        """Size of a cell; `None` if it is not known."""
        return self.profile.cell_bytes


def terms_of(question: Question) -> tuple[Term, ...]:
    """Returns the terms; their sum is the headroom, a whole number of bytes.

    Args:
        question: The link and the profile.

    Raises:
        ArgumentError: No source states the time until the peer stops at this speed.
    """
    methods = {"standard": _standard, "sonic": _sonic, "fit": _fit}
    return tuple(methods[question.profile.method](question))


def cable_term(question: Question) -> Term:
    """Returns what arrives while the pause frame and the last byte before the pause travel.

    Args:
        question: The link.
    """
    delay, source = question.medium
    return Term(
        "cable, both ways",
        2 * question.cable_m * delay * question.speed.bytes_per_s,
        f"2 x {float(question.cable_m):g} m x {float(delay) * 1e9:.4g} ns/m x {_rate(question)}",
        source,
        "path",
    )


def response_term(question: Question) -> Term:
    """Returns what arrives until the peer, which has the pause frame, stops.

    Args:
        question: The link.

    Raises:
        ArgumentError: No source states it at this speed.
    """
    name, speed, fixed = "response of the peer", question.speed, question.profile.response_bytes
    if question.response_s is not None:
        return _delayed(name, question.response_s, question, "given", ways=1)
    if fixed is not None:
        return Term(name, fixed, "3.8 KiB at every speed", SONIC)
    if question.profile.method == "sonic" and speed.quanta is not None:
        quanta, source = speed.quanta, SONIC_SOURCE
    elif speed.response is not None:
        quanta, source = speed.response
    else:
        raise ArgumentError(
            f"{named('response')}: no source states how fast a peer stops at {speed.name}; give a "
            "time, such as 1us"
        )
    return Term(
        name, Fraction(quanta * QUANTUM_BYTES), f"{quanta} quanta x {QUANTUM_BYTES} B", source
    )


def _rate(question: Question) -> str:
    return f"{question.speed.name}bit/s / 8"


def _delayed(name: str, delay_s: Fraction, question: Question, source: str, ways: int) -> Term:
    """A term that arrives during a delay."""
    times = f"{ways} x " if ways > 1 else ""
    return Term(
        name,
        ways * delay_s * question.speed.bytes_per_s,
        f"{times}{float(delay_s) * 1e9:g} ns x {_rate(question)}",
        source,
        "path" if ways > 1 else "stop",
    )


def _on_the_way(question: Question) -> Iterator[Term]:
    """What delays the pause frame on its way there, and data on their way back."""
    for name, delay_s in question.delays:
        if delay_s:
            yield _delayed(f"{name}, both ways", delay_s, question, "given", ways=2)


def _standard(question: Question) -> Iterator[Term]:
    """The terms of IEEE 802.1Q, Annex O, then the cells of the packet memory."""
    own, peer = question.frame_bytes, question.lossless_frame_bytes
    terms = [
        Term(
            "largest frame, just begun here",
            Fraction(own + OVERHEAD_BYTES),
            f"{own} B + {OVERHEAD_BYTES} B",
            BOOK,
        ),
        Term(
            "pause frame",
            Fraction(PAUSE_FRAME_BYTES + OVERHEAD_BYTES),
            f"{PAUSE_FRAME_BYTES} B + {OVERHEAD_BYTES} B",
            BOOK,
            "pause frame",
        ),
        _interface(question),
        cable_term(question),
        *_on_the_way(question),
        response_term(question),
        Term(
            "largest lossless frame, just begun at the peer",
            Fraction(peer + OVERHEAD_BYTES),
            f"{peer} B + {OVERHEAD_BYTES} B",
            BOOK,
            "last frame",
        ),
    ]
    yield from terms
    total = sum((term.exact_bytes for term in terms), Fraction())
    if question.cell_bytes:
        ratio = _stored_per_byte(question, question.cell_bytes)
        yield _small_packets(
            total * (ratio - 1),
            f"({float(ratio):.4g} - 1) x all terms: 64 B + 20 B on the wire take "
            f"{_stored(SMALLEST_FRAME_BYTES, question.cell_bytes)} B of cells",
            question.profile.source,
        )
        total *= ratio
    yield from _rounded(total, question)


def _interface(question: Question) -> Term:
    """The delay of MAC and PHY here."""
    name, bits = "interface (MAC and PHY)", question.speed.interface_bits
    if question.interface_s is not None:
        return _delayed(name, question.interface_s, question, "given", ways=1)
    if bits is not None:
        return Term(name, Fraction(bits, 8), f"{bits:,} bit times / 8", BOOK)
    bound = response_term(question)
    return Term(
        name,
        bound.exact_bytes,
        f"at most the response: {bound.formula}",
        "no source: the response passes the same layers, so it is a bound",
    )


def _stored(frame: int, cell: int) -> int:
    """Bytes of the cells that a frame takes."""
    return ceil(Fraction(frame, cell)) * cell


def _stored_per_byte(question: Question, cell: int) -> Fraction:
    """Bytes of cells per byte on the wire, for the mix of smallest and largest frames."""
    small, large = question.small_percent, 100 - question.small_percent
    frame = question.lossless_frame_bytes
    cells = small * _stored(SMALLEST_FRAME_BYTES, cell) + large * _stored(frame, cell)
    wire = small * (SMALLEST_FRAME_BYTES + OVERHEAD_BYTES) + large * (frame + OVERHEAD_BYTES)
    return max(Fraction(cells, wire), Fraction(1))


def _small_packets(amount: Fraction, formula: str, source: str) -> Term:
    return Term("small packets in whole cells", amount, formula, source, "memory")


def _rounded(total: Fraction, question: Question) -> Iterator[Term]:
    """What is added to a total to make it a multiple of a cell, or of 1 KiB."""
    unit = question.profile.granularity_bytes
    rounding = ceil(total / unit) * unit - total
    if rounding:
        source = SONIC if unit == KIB else "the unit of the packet memory"
        yield Term("rounding", rounding, f"up to a multiple of {unit} B", source, "memory")


def _check_fitted(question: Question) -> None:
    """Checks that a fit can answer the question.

    Raises:
        ArgumentError: Rows of this speed were not fitted, or a delay is given that the fit has not
            told from the others.
    """
    name, (low, high) = question.profile.name, question.profile.fitted_mbps
    if not low <= question.speed.mbps <= high:
        raise ArgumentError(
            f"{named('speed')}: {name} is a fit to rows at {low // 1000}G to {high // 1000}G; "
            f"choose such a speed, or leave {named('asic')} out"
        )
    for argument, delay in (("response", question.response_s), ("interface", question.interface_s)):
        if delay is not None:
            raise ArgumentError(
                f"{named(argument)}: {name} is a fit, in which the delays are one number; leave "
                f"{named(argument)} or {named('asic')} out"
            )


def _fit(question: Question) -> Iterator[Term]:
    """Two frames, the cable and a fitted delay, all in cells."""
    profile, cell = question.profile, question.cell_bytes or 1
    fitted = profile.fitted_delay_s(question.speed.mbps)
    _check_fitted(question)
    own, peer = question.frame_bytes, question.lossless_frame_bytes
    terms = [
        Term("largest frame, just begun here", Fraction(own), f"{own} B", profile.source),
        cable_term(question),
        *_on_the_way(question),
        _delayed("interfaces and response (fitted)", fitted, question, profile.source, ways=1),
        Term(
            "largest lossless frame, just begun at the peer",
            Fraction(peer),
            f"{peer} B",
            profile.source,
            "last frame",
        ),
    ]
    yield from terms
    total = sum((term.exact_bytes for term in terms), Fraction())
    ratio = _stored_per_byte(question, cell)
    yield _small_packets(
        total * (ratio - 1), f"({float(ratio):.4g} - 1) x all terms", profile.source
    )
    yield from _rounded(total * ratio, question)


def _sonic(question: Question) -> Iterator[Term]:
    """SONiC's formula."""
    profile, own, peer = question.profile, question.frame_bytes, question.lossless_frame_bytes
    gbps = Fraction(question.speed.mbps, 1000)
    stretched = [
        Term("largest frame, just begun here", Fraction(own), f"{own} B", SONIC),
        cable_term(question),
        *_on_the_way(question),
        _mac_phy(question),
        response_term(question),
    ]
    if profile.tile_bytes_per_gbps:
        rate = profile.tile_bytes_per_gbps
        formula = f"{rate} B x {float(gbps):g} Gbit/s"
        stretched.append(Term("tile of the chip", rate * gbps, formula, SONIC))
    yield from stretched
    last = "largest lossless frame, just begun at the peer"
    yield Term(last, Fraction(peer), f"{peer} B", SONIC, "last frame")
    inside = sum((term.exact_bytes for term in stretched), Fraction())
    occupancy, words = _occupancy(question, question.small_percent)
    yield _small_packets(inside * (occupancy - 1), words, SONIC)
    total = inside * occupancy + peer
    yield from _rounded(total, question)
    unit = profile.granularity_bytes
    if profile.extra_bytes:
        yield Term(
            "pipeline of the chip",
            Fraction(profile.extra_bytes),
            f"{profile.extra_bytes // KIB} KiB",
            "SONiC, sonic-swss#4797",
            "memory",
        )
    least, _ = _occupancy(question, 100)
    most = ceil((inside * least + peer) / unit) * unit
    is_mixed = profile.has_margin and question.small_percent < 100 and not question.is_shared
    if is_mixed and most - ceil(total / unit) * unit > MARGIN_BYTES:
        words = "2 KiB, as not all packets are small"
        yield Term("margin", Fraction(MARGIN_BYTES), words, SONIC, "memory")


def _mac_phy(question: Question) -> Term:
    name = "interface (MAC and PHY)"
    if question.interface_s is not None:
        return _delayed(name, question.interface_s, question, "given", ways=1)
    return Term(name, MAC_PHY_BYTES, "0.8 KiB", SONIC)


def _occupancy(question: Question, small_percent: int) -> tuple[Fraction, str]:
    """SONiC's bytes of cells per byte, and its formula in words.

    The formula takes 64 bytes over the mean size of a packet as the share of bytes in small
    packets, whatever the percentage of packets that are small.
    """
    cell, peer, small = question.cell_bytes or 1, question.lossless_frame_bytes, small_percent
    if cell > 2 * SMALLEST_FRAME_BYTES:
        waste = Fraction(cell, SMALLEST_FRAME_BYTES)
    else:
        waste = Fraction(2 * cell, 1 + cell)
    if question.profile.rounds_waste:
        waste = Fraction(ceil(waste))
    mixed = Fraction(small * SMALLEST_FRAME_BYTES + (100 - small) * peer, 100)
    share = 100 * SMALLEST_FRAME_BYTES / mixed
    occupancy = (100 - share + share * waste) / 100
    words = (
        f"({float(occupancy):.4g} - 1) x the terms of both ways: {float(share):.3g} % of the bytes "
        f"in 64 B packets, which take {float(waste):g} times their size"
    )
    return occupancy, words
