"""Headrooms of public tables at one speed and cable, and the terms in which they differ."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

from tailroom.field_docs import with_field_docs
from tailroom.pfc_headroom.lengths import MEDIA

ROWS = Path(__file__).with_name("public_rows.csv")
SOURCE = "sonic-buildimage 086b03b"
_DELAY, _ = MEDIA["fiber"]


@with_field_docs
@dataclass(frozen=True)
class PublishedHeadroom:
    """The headroom of public tables: what grows with the cable, and the rest.

    What grows with the cable follows from another row of the table at the same speed.
    """

    tables: tuple[str, ...]
    """Tables that have the row, by the names of their directories."""
    xoff_bytes: int
    """The headroom."""
    stored_per_byte: float | None
    """Bytes of memory per byte on the cable; `None` if the table has one cable at this speed."""
    cable_bytes: float | None
    """What of the headroom grows with the cable; `None` as above."""

    @property
    def rest_bytes(self) -> float | None:
        """Frames and delays: the headroom without what grows with the cable."""
        return None if self.cable_bytes is None else self.xoff_bytes - self.cable_bytes

    def as_dict(self) -> dict[str, object]:
        """The amounts as the command prints them with `--json`."""
        return {**vars(self), "tables": list(self.tables), "rest_bytes": self.rest_bytes}


def on_cable(mbps: int, cable_m: Fraction) -> Fraction:
    """Returns the bytes on a cable of fiber, both ways.

    Args:
        mbps: Speed in Mbit/s.
        cable_m: Length in metres.
    """
    return 2 * cable_m * _DELAY * mbps * 10**6 / 8


def published_headrooms(asic: str, mbps: int, cable_m: Fraction) -> tuple[PublishedHeadroom, ...]:
    """Returns the headrooms of public tables of a chip, the smallest first.

    Args:
        asic: Name of the chip.
        mbps: Speed in Mbit/s.
        cable_m: Length of the cable in metres.
    """
    found = (
        _split(tables, mbps, cable_m, xoffs)
        for chip, tables, speed, xoffs in _rows()
        if (chip, speed) == (asic, mbps) and cable_m in xoffs
    )
    return tuple(sorted(found, key=lambda row: row.xoff_bytes))


def published_tables() -> Iterator[tuple[str, str, int]]:
    """Yields each public table that is known: its chip, its name, and its number of rows."""
    numbers: dict[tuple[str, str], int] = {}
    for asic, tables, _, xoffs in _rows():
        for table in tables:
            numbers[asic, table] = numbers.get((asic, table), 0) + len(xoffs)
    for (asic, table), number in numbers.items():
        yield asic, table, number


def _split(
    tables: tuple[str, ...], mbps: int, cable_m: Fraction, xoffs: dict[Fraction, int]
) -> PublishedHeadroom:
    """Splits a row by the farthest other cable, as amounts are rounded to cells."""
    xoff = xoffs[cable_m]
    other = max(xoffs, key=lambda length: abs(length - cable_m))
    if other == cable_m:
        return PublishedHeadroom(tables, xoff, None, None)
    per_byte = (xoffs[other] - xoff) / (on_cable(mbps, other) - on_cable(mbps, cable_m))
    return PublishedHeadroom(
        tables, xoff, float(per_byte), float(per_byte * on_cable(mbps, cable_m))
    )


@cache
def _rows() -> tuple[tuple[str, tuple[str, ...], int, dict[Fraction, int]], ...]:
    """Chip, tables, speed, and xoff by cable of each line."""
    lines = (line for line in ROWS.read_text(encoding="utf-8").splitlines() if line[0] != "#")
    return tuple(
        (
            row["asic"],
            tuple(row["tables"].split("|")),
            int(row["speed_mbps"]),
            {
                Fraction(cable.removesuffix("m")): int(xoff)
                for cable, xoff in (pair.split(":") for pair in row["xoff_bytes"].split())
            },
        )
        for row in csv.DictReader(lines)
    )
