"""PFC headrooms of published tables, to the byte."""

import csv
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from tailroom.vectors.runs.headroom import name_of
from tailroom.vectors.scripts import HeadroomScript
from tailroom.vectors.vector import Expectation, Vector

PUBLISHED = Path(__file__).with_name("published_headrooms.csv")
LARGER = ("sn6600", 800_000)
"""The published rows of this table at this speed are larger than its other rows explain."""


def published() -> list[tuple[str, int, str, int]]:
    """Table, speed in Mbit/s, cable and xoff in bytes of each published row."""
    lines = (line for line in PUBLISHED.read_text(encoding="utf-8").splitlines() if line[0] != "#")
    return [
        (row["table"], int(row["speed_mbps"]), row["cable"], int(row["xoff_bytes"]))
        for row in csv.DictReader(lines)
    ]


def vectors() -> Iterator[Vector]:
    """A vector per table."""
    for table, rows in groupby(published(), lambda row: row[0]):
        kept = [row[1:] for row in rows if row[:2] != LARGER]
        yield Vector(
            id=f"headroom.{table}",
            title=f"Headroom of each speed and cable of {table}",
            source="sonic-net/sonic-buildimage, pg_profile_lookup.ini of the device",
            url="https://github.com/sonic-net/sonic-buildimage",
            script=HeadroomScript(table, tuple((speed, cable) for speed, cable, _ in kept)),
            expect=tuple(
                Expectation(
                    quantity=name_of(speed, cable),
                    value=(xoff, xoff),
                    why=f"the published row for {speed} Mbit/s and {cable}",
                )
                for speed, cable, xoff in kept
            ),
        )
