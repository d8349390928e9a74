"""What is wrong with a row of a table: against its neighbours, the standard, and the chip."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from tailroom.field_docs import with_field_docs
from tailroom.pfc_headroom.calculate import link_question
from tailroom.pfc_headroom.lengths import LEAST_M, MOST_M
from tailroom.pfc_headroom.profiles import ASICS, KIB, STANDARD, Profile
from tailroom.pfc_headroom.speeds import Speed, speed_of
from tailroom.pfc_headroom.tables import HeadroomRow
from tailroom.pfc_headroom.terms import cable_term, response_term

KINDS = {
    "less_at_longer_cable": "less than at a shorter cable of the same speed",
    "less_at_higher_speed": "less than at a lower speed and the same cable",
    "below_response": "below cable plus response",
    "below_frame": "below cable plus response plus a frame",
    "below_cable_and_frame": "below cable plus a frame (no source states the response)",
    "not_whole_cells": "not a multiple of the chip's cell or of SONiC's unit",
    "other_chip": "a multiple of another chip's cell",
    "two_values": "not the values of another row of the same speed and cable",
    "xon_above_size": "xon above size, without an xon_offset",
    "out_of_range": "a speed or cable out of range",
    "differs_from_formula": "not the value of the formula",
}
"""What can be wrong, by kind of fault."""
CONTRADICTIONS = ("less_at_longer_cable", "less_at_higher_speed", "below_response")
"""Kinds of faults that contradict other rows, or what arrives without any frame."""
OTHER_CELLS = sorted({asic.granularity_bytes for asic in ASICS if asic.tells_chip} - {KIB})
"""Cells whose multiples tell a chip; multiples of 1 KiB tell only of SONiC's scripts."""
LEAST_MBPS, MOST_MBPS = 10, 1_600_000
"""Speeds of Ethernet in Mbit/s."""
FEWEST_FOREIGN = 2
"""Different amounts that must be multiples of another chip's cell."""


@with_field_docs
@dataclass(frozen=True)
class Fault:
    """Something wrong with a row."""

    row: HeadroomRow
    """The row."""
    kind: str
    """The kind of fault, one of `KINDS`."""
    text: str
    """The reason, with numbers."""


def faults_of(rows: Sequence[HeadroomRow], asic: Profile | None) -> Iterator[Fault]:
    """Yields what is wrong with the rows of a table.

    Args:
        rows: The rows.
        asic: The chip of the device; without, cells are not checked.
    """
    foreign = None if asic is None else _foreign_cell(rows, asic)
    by_speed = _largest_below((row.speed_mbps, row.cable_m, row) for row in rows)
    by_cable = _largest_below((row.cable_m, row.speed_mbps, row) for row in rows)
    firsts: dict[tuple[int, Fraction, str], HeadroomRow] = {}
    for row in rows:
        shorter = by_speed[row.speed_mbps, row.cable_m]
        if shorter and shorter.xoff_bytes > row.xoff_bytes:
            yield Fault(row, "less_at_longer_cable", _has(shorter.cable, shorter))
        slower = by_cable[row.cable_m, row.speed_mbps]
        if slower and slower.xoff_bytes > row.xoff_bytes:
            yield Fault(row, "less_at_higher_speed", _has(f"{slower.speed_mbps:,} Mbit/s", slower))
        first = firsts.setdefault((row.speed_mbps, row.cable_m, row.variant), row)
        yield from _against_same_link(row, first)
        yield from _against_itself(row)
        yield from _against_standard(row)
        found = None if asic is None else _against_cells(row, asic, foreign)
        if found:
            yield found


def _has(where: str, row: HeadroomRow) -> str:
    return f"{where} has {row.xoff_bytes:,} B (line {row.line})"


Group = int | Fraction


def _largest_below(
    rows: Iterable[tuple[Group, Group, HeadroomRow]],
) -> dict[tuple[Group, Group], HeadroomRow | None]:
    """For each value within a group, the row of a lesser value that has the largest xoff.

    Of several the nearest counts, and at one value the first. It takes a pass over the sorted rows:
    a table may have thousands.

    Args:
        rows: Group, value and row.
    """
    groups: dict[Group, dict[Group, HeadroomRow]] = {}
    for group, value, row in rows:
        at = groups.setdefault(group, {})
        if value not in at or row.xoff_bytes > at[value].xoff_bytes:
            at[value] = row
    below: dict[tuple[Group, Group], HeadroomRow | None] = {}
    for group, at in groups.items():
        largest: HeadroomRow | None = None
        for value in sorted(at):
            below[group, value] = largest
            if largest is None or at[value].xoff_bytes >= largest.xoff_bytes:
                largest = at[value]
    return below


def _against_same_link(row: HeadroomRow, first: HeadroomRow) -> Iterator[Fault]:
    """Compares a row with the first of the same speed and cable."""
    amounts = (first.size_bytes, first.xon_bytes, first.xoff_bytes)
    if amounts != (row.size_bytes, row.xon_bytes, row.xoff_bytes):
        named = zip(("size", "xon", "xoff"), amounts, strict=True)
        text = ", ".join(f"{name} {amount:,} B" for name, amount in named)
        yield Fault(row, "two_values", f"line {first.line} has {text}")


def _against_itself(row: HeadroomRow) -> Iterator[Fault]:
    """Checks speed and cable, and xon against size.

    With an xon_offset or a static threshold, more than the size may be in use when the peer
    resumes.
    """
    if row.cable_m < LEAST_M or row.cable_m > MOST_M:
        text = f"cable {row.cable}; expected {LEAST_M}m to {MOST_M // 1000}km"
        yield Fault(row, "out_of_range", text)
    if not LEAST_MBPS <= row.speed_mbps <= MOST_MBPS:
        text = f"{row.speed_mbps:,} Mbit/s; expected {LEAST_MBPS} to {MOST_MBPS:,} Mbit/s"
        yield Fault(row, "out_of_range", text)
    is_alone = row.xon_offset_bytes is None and not row.has_static_threshold
    if is_alone and row.xon_bytes > row.size_bytes:
        text = f"xon {row.xon_bytes:,} B, size {row.size_bytes:,} B"
        yield Fault(row, "xon_above_size", text)


def has_known_response(row: HeadroomRow) -> bool:
    """Whether a source states how fast a peer stops at the speed of a row.

    Args:
        row: The row.
    """
    speed = speed_of(row.speed_mbps)
    return speed is not None and speed.response is not None


def _against_standard(row: HeadroomRow) -> Iterator[Fault]:
    """Compares a row with what arrives from the longest response that the standard allows."""
    mbps, frame = row.speed_mbps, STANDARD.frame_bytes
    speed = speed_of(mbps) or Speed(f"{mbps} M", mbps, None, None)
    question = link_question(STANDARD, speed, row.cable_m)
    cable = cable_term(question).exact_bytes
    if not has_known_response(row):
        least = ceil(cable) + frame
        if row.xoff_bytes < least:
            text = f"cable {_bytes(cable)} + frame {frame:,} B = {least:,} B"
            yield Fault(row, "below_cable_and_frame", text)
        return
    response = response_term(question).exact_bytes
    least = ceil(cable + response)
    words = f"cable {_bytes(cable)} + response {_bytes(response)}"
    if row.xoff_bytes < least:
        yield Fault(row, "below_response", f"{words} = {least:,} B, without any frame")
    elif row.xoff_bytes < least + frame:
        yield Fault(row, "below_frame", f"{words} + frame {frame:,} B = {least + frame:,} B")


def _not_whole(row: HeadroomRow, asic: Profile) -> bool:
    return row.xoff_bytes % asic.granularity_bytes != 0


def _foreign_cell(rows: Iterable[HeadroomRow], asic: Profile) -> int | None:
    """The cell of another chip of which several amounts that do not suit this chip are multiples.

    Several, because a single amount may be a multiple by chance.
    """
    amounts = {row.xoff_bytes for row in rows if _not_whole(row, asic)}
    hits = {cell: sum(amount % cell == 0 for amount in amounts) for cell in OTHER_CELLS}
    # Of cells with as many hits, the smaller: multiples of 416 are multiples of 208.
    cell = max(OTHER_CELLS, key=lambda one: (hits[one], -one))
    return cell if hits[cell] >= FEWEST_FOREIGN else None


def _against_cells(row: HeadroomRow, asic: Profile, foreign: int | None) -> Fault | None:
    if not _not_whole(row, asic):
        return None
    unit = asic.granularity_bytes
    size = f"SONiC's unit of {unit:,} B" if unit != asic.cell_bytes else f"{unit} B"
    own = f"{size} ({asic.words})"
    if foreign is None or row.xoff_bytes % foreign:
        return Fault(row, "not_whole_cells", own)
    chips = [other.words for other in ASICS if other.granularity_bytes == foreign]
    return Fault(row, "other_chip", f"{foreign} B ({', '.join(chips)}), not {own}")


def _bytes(amount: Fraction) -> str:
    return f"{round(amount):,} B"
