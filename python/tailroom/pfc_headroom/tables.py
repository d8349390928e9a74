"""Reading tables of headrooms: `pg_profile_lookup.ini` and BUFFER_PROFILE of SONiC."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from os import PathLike
from typing import Any

from tailroom.errors import HeadroomTableError
from tailroom.field_docs import with_field_docs
from tailroom.given_files import FileReader
from tailroom.pfc_headroom.lengths import length_words
from tailroom.quoting import quoted

COLUMNS = "speed cable size xon xoff threshold [xon_offset]"
_PROFILE = re.compile(
    r"pg_lossless_(?P<speed>\d+)_(?P<cable>[\d.]+m)(?:_(?P<variant>\w+))?_profile"
)
PROFILE_NAME = "pg_lossless_SPEED_CABLE_profile"
"""Form of the names of profiles that are checked."""
LARGEST_DYNAMIC = 8
"""Larger thresholds are bytes, and no exponents of alpha."""
_STRING = re.compile(r'("(?:[^"\\]|\\.)*")(\s*:)?')
"""A string of JSON, and whether it is a key."""
_WHOLE = re.compile(r"-?\d+")
_CABLE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)m")
MOST_COLUMNS = 7
MOST_BYTES = 16_000_000
"""Length of a file that is read; the configuration of a large switch has 1 MB."""
MOST_ROWS = 2_000
"""Rows of a file, each of which is compared with every formula; public tables have some dozens."""


@with_field_docs
@dataclass(frozen=True)
class HeadroomRow:
    """A row of a table, or a profile."""

    file: str
    """The file as it was given."""
    line: int
    """Number of the line, from 1."""
    speed_mbps: int
    """Speed in Mbit/s."""
    cable_m: Fraction
    """Length of the cable in metres."""
    size_bytes: int
    """Bytes reserved for the group."""
    xon_bytes: int
    """Bytes at or below which the peer may resume."""
    xoff_bytes: int
    """Bytes of headroom."""
    xon_offset_bytes: int | None = None
    """Bytes below the threshold at which the peer may resume; `None` if the table has none."""
    has_static_threshold: bool = False
    """Whether the threshold is a number of bytes, and not an exponent of alpha."""
    variant: str = ""
    """What the name of a profile has after speed and cable, such as `mtu1500`."""

    @property
    def cable(self) -> str:
        """Length of the cable, such as `300m`."""
        return length_words(self.cable_m)


@with_field_docs
@dataclass(frozen=True)
class ReadTable:
    """What a file has."""

    rows: tuple[HeadroomRow, ...]
    """Its rows, or its profiles whose names have a speed and a cable."""
    other_profiles: tuple[str, ...] = ()
    """Names of its other profiles."""


def read_table(file: str | PathLike[str]) -> ReadTable:
    """Reads a table; a file with nothing but comments has no rows.

    Args:
        file: A `pg_profile_lookup.ini`, or JSON with a BUFFER_PROFILE, such as `config_db.json`.

    Raises:
        HeadroomTableError: The file cannot be read, is empty, or is damaged: the message names
            file and line, and what was expected.
    """
    name = str(file)
    reader = FileReader(
        error=lambda message: HeadroomTableError(f"{name}: {message}"),
        wanted=f"rows of {COLUMNS}, or JSON with a BUFFER_PROFILE",
        most_bytes=MOST_BYTES,
        shorter="give the rows of fewer platforms at a time",
    )
    text = reader.text(file)
    if text.lstrip().startswith(("{", "[")):
        read = _profiles(name, text, reader.json(text))
    else:
        read = ReadTable(tuple(islice(_lookup_rows(name, text), MOST_ROWS + 1)))
    if len(read.rows) > MOST_ROWS:
        raise reader.error(f"has more than {MOST_ROWS:,} rows; {reader.shorter}")
    return read


def _lookup_rows(name: str, text: str) -> Iterator[HeadroomRow]:
    lines = (line.partition("#")[0].split() for line in text.splitlines())
    return (_lookup_row(name, number, cells) for number, cells in enumerate(lines, 1) if cells)


def _lookup_row(file: str, line: int, cells: list[str]) -> HeadroomRow:
    place, shown = f"{file}:{line}", quoted(" ".join(cells))
    if not MOST_COLUMNS - 1 <= len(cells) <= MOST_COLUMNS:
        raise HeadroomTableError(
            f"{place}: `{shown}` has {len(cells)} columns; expected {COLUMNS}, or a file of JSON "
            "with a BUFFER_PROFILE"
        )
    speed, cable, size, xon, xoff, *rest = cells
    threshold, *offset = (
        _whole(place, column, cell, is_signed=True)
        for cell, column in zip(rest, ("threshold", "xon_offset"), strict=False)
    )
    row = _row(file, line, {"speed": speed, "cable": cable, "size": size, "xon": xon, "xoff": xoff})
    is_static = threshold > LARGEST_DYNAMIC
    return replace(
        row, xon_offset_bytes=offset[0] if offset else None, has_static_threshold=is_static
    )


def _row(file: str, line: int, given: dict[str, str], profile: str = "") -> HeadroomRow:
    place = f"{file}:{line}: {profile}" if profile else f"{file}:{line}"
    metres = _CABLE.fullmatch(given["cable"])
    if not metres:
        raise HeadroomTableError(
            f"{place}: cable is `{quoted(given['cable'])}`; expected a number of metres "
            "such as 300m"
        )
    amounts = {name: _whole(place, name, given[name]) for name in ("speed", "size", "xon", "xoff")}
    return HeadroomRow(
        file,
        line,
        amounts["speed"],
        Fraction(metres[1]),
        amounts["size"],
        amounts["xon"],
        amounts["xoff"],
    )


def _whole(place: str, column: str, cell: str, *, is_signed: bool = False) -> int:
    if not _WHOLE.fullmatch(cell) or len(cell) > 18 or (cell.startswith("-") and not is_signed):
        unit = "Mbit/s" if column == "speed" else "bytes"
        wanted = "a whole number" if is_signed else f"a whole number of {unit}"
        raise HeadroomTableError(f"{place}: {column} is `{quoted(cell)}`; expected {wanted}")
    return int(cell)


def _profiles(file: str, text: str, content: Any) -> ReadTable:
    """Reads the profiles of a BUFFER_PROFILE whose names have a speed and a cable.

    Raises:
        HeadroomTableError: The text has no BUFFER_PROFILE, or a profile is damaged.
    """
    profiles = content.get("BUFFER_PROFILE") if isinstance(content, dict) else None
    if not isinstance(profiles, dict):
        raise HeadroomTableError(
            f"{file}:1: there is no BUFFER_PROFILE; expected an object with profiles such as "
            "pg_lossless_100000_300m_profile"
        )
    lines = _lines_of_keys(text)
    rows, others = [], []
    for name, profile in profiles.items():
        line, quote = lines[name], quoted(name)
        if not isinstance(profile, dict):
            raise HeadroomTableError(
                f"{file}:{line}: {quote} is not an object; expected size, xoff"
            )
        named = _PROFILE.fullmatch(name)
        if not named:
            others.append(name)
            continue
        given = {key: str(profile.get(key, "missing")) for key in ("size", "xon", "xoff")}
        given["speed"], given["cable"] = named["speed"], named["cable"]
        offset = profile.get("xon_offset")
        place = f"{file}:{line}: {quote}"
        stated = None if offset is None else _whole(place, "xon_offset", str(offset))
        rows.append(
            replace(
                _row(file, line, given, quote),
                xon_offset_bytes=stated,
                has_static_threshold="static_th" in profile,
                variant=named["variant"] or "",
            )
        )
    return ReadTable(tuple(rows), tuple(others))


def _lines_of_keys(text: str) -> dict[str, int]:
    """The line of each key of JSON from BUFFER_PROFILE on, where it stands first."""
    lines: dict[str, int] = {}
    line, begin = 1, 0
    # Strings that are no keys are passed over whole: they may contain what looks like a key.
    for string in _STRING.finditer(text):
        if not string[2]:
            continue
        line, begin = line + text.count("\n", begin, string.start()), string.start()
        name = json.loads(string[1])
        if lines or name == "BUFFER_PROFILE":
            lines.setdefault(name, line)
    return lines
