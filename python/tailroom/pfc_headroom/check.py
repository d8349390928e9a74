"""`tailroom.check_headroom`: tables of headrooms against the standard, the chip, and themselves."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import chain, combinations
from math import ceil
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tailroom.errors import ArgumentError
from tailroom.field_docs import with_field_docs
from tailroom.pfc_headroom.arrow_table import only_table
from tailroom.pfc_headroom.calculate import link_question
from tailroom.pfc_headroom.faults import CONTRADICTIONS, Fault, faults_of, has_known_response
from tailroom.pfc_headroom.profiles import STANDARD, TABLES, Profile, asic_of_path, read_profile
from tailroom.pfc_headroom.public_rows import PublishedHeadroom, published_headrooms
from tailroom.pfc_headroom.speeds import speed_of
from tailroom.pfc_headroom.tables import HeadroomRow, read_table
from tailroom.pfc_headroom.terms import Term, terms_of

if TYPE_CHECKING:
    import pyarrow as pa


@with_field_docs
@dataclass(frozen=True)
class CheckedTable:
    """A file with its faults."""

    file: str
    """The file as it was given."""
    rows: tuple[HeadroomRow, ...]
    """Its rows."""
    asic: Profile | None
    """The chip: as given, or that of the device that the path names; `None` if not known."""
    profile: Profile
    """The profile with which the rows are computed again: the published table whose parameters
    give the most rows, if they give half of them, or else the chip's, or the standard's."""
    reproduced: int
    """Number of rows that the profile gives to the byte."""
    faults: tuple[Fault, ...]
    """What is wrong."""
    other_profiles: tuple[str, ...] = ()
    """Names of profiles that were not checked, as they have no speed and cable."""

    @property
    def without_response(self) -> tuple[HeadroomRow, ...]:
        """Rows compared with cable plus a frame, as no source states the response."""
        return tuple(row for row in self.rows if not has_known_response(row))

    @property
    def differences(self) -> tuple[Fault, ...]:
        """Rows that differ from the formula by more than a cell, with the terms of that size."""
        return tuple(_differences(self.profile, self.rows))

    def published(self, row: HeadroomRow) -> tuple[PublishedHeadroom, ...]:
        """Returns what public tables of the chip have at the speed and cable of a row.

        Args:
            row: The row.
        """
        if self.asic is None:
            return ()
        return published_headrooms(self.asic.chip, row.speed_mbps, row.cable_m)

    def expected(self, row: HeadroomRow) -> tuple[Term, ...]:
        """Returns the terms of a row by the profile; none if the speed has no known response.

        Args:
            row: The row.
        """
        return _terms(self.profile, row)


@with_field_docs
@dataclass(frozen=True)
class HeadroomCheck:
    """What is wrong with tables of headrooms.

    The table `faults` has a row per fault: `file`, `line`, `speed_mbps`, `cable_m`,
    `xoff_bytes`, `formula_bytes` (null if no formula is known), `kind` and `text`.
    """

    tables: tuple[CheckedTable, ...]
    """The files in the order in which they were given."""

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What is wrong in all files."""
        return tuple(chain.from_iterable(table.faults for table in self.tables))

    @property
    def contradicting(self) -> tuple[HeadroomRow, ...]:
        """Rows that contradict other rows of their table, or are below cable plus response."""
        rows = (fault.row for fault in self.faults if fault.kind in CONTRADICTIONS)
        return tuple(dict.fromkeys(rows))

    @property
    def _rows(self) -> list[dict[str, Any]]:
        return [
            {
                "file": fault.row.file,
                "line": fault.row.line,
                "speed_mbps": fault.row.speed_mbps,
                "cable_m": float(fault.row.cable_m),
                "xoff_bytes": fault.row.xoff_bytes,
                "formula_bytes": _sum(table.expected(fault.row)),
                "kind": fault.kind,
                "text": fault.text,
            }
            for table in self.tables
            for fault in table.faults
        ]

    def table(self, name: str | None = None) -> "pa.Table":
        """Returns the table of the faults.

        Args:
            name: `faults`, or left out.

        Raises:
            ArgumentError: There is no such table.
            MissingLibraryError: PyArrow is not installed (`pip install 'tailroom[tables]'`).
        """
        return only_table(name, "faults", self._rows)

    def as_dict(self) -> dict[str, Any]:
        """The result as the command prints it with `--json`."""
        return {
            "files": [
                {
                    "file": table.file,
                    "rows": len(table.rows),
                    "asic": table.asic.name if table.asic else None,
                    "profile": table.profile.name,
                    "reproduced": table.reproduced,
                    "rows_without_response": len(table.without_response),
                    "other_profiles": list(table.other_profiles),
                }
                for table in self.tables
            ],
            "faults": self._rows,
        }

    def __repr__(self) -> str:
        """The numbers of files, rows and faults by kind."""
        rows = sum(len(table.rows) for table in self.tables)
        kinds = Counter(fault.kind for fault in self.faults)
        found = json.dumps(kinds) if kinds else "nothing"
        return f"<HeadroomCheck of {len(self.tables)} files, {rows} rows: {found}>"


def check_headroom(
    files: Sequence[str | PathLike[str]],
    *,
    asic: str | None = None,
    table: str | None = None,
    strict: bool = False,
) -> HeadroomCheck:
    """Checks tables of PFC headrooms: `pg_profile_lookup.ini` and BUFFER_PROFILE of SONiC.

    A row is wrong if its xoff is less than that at a shorter cable or at a lower speed, is below
    the cable both ways plus the longest response of a peer, with or without a frame, or is no
    multiple of the chip's cell; if another row has its speed and cable but other values, if its
    xon is above its size, or if its speed or cable is out of range (10 Mbit/s to 1.6T, 1 m to
    120 km). Where no source states the response, xoff is compared with cable plus a frame.

    Args:
        files: Paths of the files.
        asic: Chip of all files, or a published table, which states its chip; if left out, that
            of the device that the path names, and without a known device, cells are not checked.
        table: Published table with whose parameters rows are computed again; the one that gives
            the most rows if left out.
        strict: A row is also wrong if it differs from the formula by more than a cell.

    Raises:
        ArgumentError: The chip or the table is not known, or there is no file.
        HeadroomTableError: A file cannot be read, is empty, or is damaged.
    """
    if not files:
        raise ArgumentError("files: there is none; give a pg_profile_lookup.ini")
    chip = None if asic is None else read_profile(asic, None)
    published = chip if chip in TABLES else None
    published = published if table is None else read_profile(None, table)
    return HeadroomCheck(tuple(_checked(file, chip, published, strict) for file in files))


def _checked(
    file: str | PathLike[str],
    asic: Profile | None,
    published: Profile | None,
    is_strict: bool,
) -> CheckedTable:
    read, chip = read_table(file), asic or asic_of_path(str(Path(file).absolute()))
    rows = read.rows
    profile = published or _fitting(rows) or chip or STANDARD
    found = tuple(faults_of(rows, chip))
    if is_strict:
        found += tuple(_differences(profile, rows))
    reproduced = _reproduced(profile, rows)
    return CheckedTable(str(file), rows, chip, profile, reproduced, found, read.other_profiles)


def _fitting(rows: Sequence[HeadroomRow]) -> Profile | None:
    """The published table whose parameters give the most rows; `None` if not half of them."""
    best = max(TABLES, key=lambda profile: _reproduced(profile, rows))
    return best if rows and 2 * _reproduced(best, rows) >= len(rows) else None


def _reproduced(profile: Profile, rows: Sequence[HeadroomRow]) -> int:
    return sum(_sum(_terms(profile, row)) == row.xoff_bytes for row in rows)


def _terms(profile: Profile, row: HeadroomRow) -> tuple[Term, ...]:
    return _terms_at(profile, row.speed_mbps, row.cable_m)


@lru_cache(maxsize=4096)  # rows of several tables have the same speeds and cables
def _terms_at(profile: Profile, speed_mbps: int, cable_m: Fraction) -> tuple[Term, ...]:
    speed = speed_of(speed_mbps)
    if speed is None:
        return ()
    try:
        return terms_of(link_question(profile, speed, cable_m))
    except ArgumentError:  # no source states the response at this speed
        return ()


def _differences(profile: Profile, rows: Sequence[HeadroomRow]) -> Iterator[Fault]:
    """Yields the rows that differ from the formula of a profile by more than a cell."""
    unit = profile.granularity_bytes
    for row in rows:
        terms = _terms(profile, row)
        total = _sum(terms)
        if total is None or abs(total - row.xoff_bytes) <= unit:
            continue
        less = total - row.xoff_bytes
        side = "less" if less > 0 else "more"
        text = f"{profile.name} gives {total:,} B, the row has {abs(less):,} B {side}"
        some = next(explaining(terms, abs(less), unit), ())
        if some:
            text += f": as much as {' and '.join(term.name for term in some)}"
        yield Fault(row, "differs_from_formula", text)


def _sum(terms: Sequence[Term]) -> int | None:
    return int(sum(term.exact_bytes for term in terms)) if terms else None


MOST_EXPLAINING = 2
"""Terms that together may explain a difference."""


def explaining(terms: Sequence[Term], difference: int, unit: int) -> Iterator[tuple[Term, ...]]:
    """Yields the terms, alone or in pairs, that are as large as a difference.

    Args:
        terms: The terms of the formula.
        difference: By how much a row is below the formula, in bytes.
        unit: Amounts are multiples of this, so that a difference may be off by less.
    """
    for number in range(1, MOST_EXPLAINING + 1):
        for some in combinations(terms, number):
            if abs(ceil(sum(term.exact_bytes for term in some)) - difference) < unit:
                yield some
