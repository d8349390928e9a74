"""The headroom of a port with its terms."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any

from tailroom.field_docs import with_field_docs
from tailroom.pfc_headroom.arrow_table import only_table
from tailroom.pfc_headroom.lengths import length_words
from tailroom.pfc_headroom.profiles import KIB, Profile
from tailroom.pfc_headroom.public_rows import PublishedHeadroom, published_headrooms
from tailroom.pfc_headroom.terms import Term

if TYPE_CHECKING:
    import pyarrow as pa


NO_XON = "No source states an xon here: it is 0, so that the peer resumes at an empty queue."
"""Why xon is 0."""


@with_field_docs
@dataclass(frozen=True)
class Headroom:
    """The PFC headroom of a lossless priority of a port.

    The table `terms` has a row per term: `term`, `bytes`, `formula` and `source`.
    """

    speed: str
    """Speed of the port, such as `400G`."""
    speed_mbps: int
    """Speed of the port in Mbit/s."""
    cable_m: Fraction
    """Length of the cable in metres."""
    profile: Profile
    """The chip or published table whose facts were used."""
    terms: tuple[Term, ...]
    """The terms, whose sum is `xoff_bytes`."""
    xon_bytes: int
    """Bytes in the queue at or below which the peer may resume."""
    is_shared: bool
    """Whether ports share the headroom, so that `size_bytes` has none."""
    ports: int | None
    """Number of ports of the pool; `None` if no pool was asked for."""
    priorities: int
    """Lossless priorities per port."""
    oversubscription: float
    """How many times the pool is too small for all priorities of all ports at once."""
    assumptions: tuple[str, ...]
    """What was assumed, a sentence each."""
    buffer_bytes: int | None = None
    """Memory of the switch; `None` if it was not given."""
    eight_lanes_frame_bytes: int = 0
    """Frame that `size_bytes` has beyond xon and xoff at a port with eight lanes, else 0."""

    @property
    def xoff_bytes(self) -> int:
        """Bytes that may arrive after the threshold for the pause is reached: the headroom."""
        return int(sum(term.exact_bytes for term in self.terms))

    @property
    def xon_offset_bytes(self) -> int | None:
        """Bytes below the threshold at which the peer may resume; `None` if no source states it."""
        return self.profile.xon_offset_bytes

    @property
    def why_xon_is_0(self) -> str:
        """Why `xon_bytes` is 0; empty if it is not."""
        if self.xon_bytes:
            return ""
        if self.xon_offset_bytes is None:
            return NO_XON
        return (
            "xon is 0 in the published rows: the peer resumes once the queue is "
            f"{self.xon_offset_bytes:,} B (xon_offset) below the threshold"
        )

    @property
    def size_bytes(self) -> int:
        """Bytes that are reserved for the priority: xon, unless a table states another amount.

        The headroom is part of them if it is not shared, with a frame at a port with eight lanes
        (`speed_overhead` of SONiC's buffer_headroom_mellanox.lua).
        """
        stated = self.profile.reserved_bytes
        reserved = self.xon_bytes if stated is None else stated
        if self.is_shared:
            return reserved
        size, frame = reserved + self.xoff_bytes, self.eight_lanes_frame_bytes
        if not frame:
            return size
        # The script rounds xoff before it adds; in published tables, the sum alone is rounded.
        is_published = self.profile.of_chip is not None
        roundings = [term.exact_bytes for term in self.terms if term.name == "rounding"]
        exact = size + frame - (sum(roundings) if is_published else 0)
        return ceil(exact / Fraction(KIB)) * KIB

    @property
    def xoff_cells(self) -> int | None:
        """Cells that the headroom takes; `None` if the cell is not known."""
        return self._cells(self.xoff_bytes)

    @property
    def xon_cells(self) -> int | None:
        """Cells that `xon_bytes` take; `None` if the cell is not known."""
        return self._cells(self.xon_bytes)

    @property
    def size_cells(self) -> int | None:
        """Cells that are reserved; `None` if the cell is not known."""
        return self._cells(self.size_bytes)

    @property
    def pool_bytes(self) -> int | None:
        """Size of the headroom that the ports share; `None` if no number of ports was given."""
        if self.ports is None:
            return None
        unit = self.profile.granularity_bytes
        needed = Fraction(self.ports * self.priorities * self.xoff_bytes) / Fraction(
            self.oversubscription
        )
        return -int(-needed // unit) * unit

    @property
    def all_bytes(self) -> int | None:
        """Memory that all ports set apart; `None` if no number of ports was given.

        What each priority reserves, and the headroom that the ports share, if they do.
        """
        if self.ports is None:
            return None
        shared = (self.pool_bytes or 0) if self.is_shared else 0
        return self.ports * self.priorities * self.size_bytes + shared

    @property
    def fits(self) -> bool | None:
        """Whether the memory of the switch holds `all_bytes`; `None` if one is not known."""
        needed = self.all_bytes
        return None if needed is None or self.buffer_bytes is None else needed < self.buffer_bytes

    @property
    def verdict(self) -> str:
        """What all ports set apart, and whether the switch has it; empty without their number."""
        needed = self.all_bytes
        if needed is None:
            return ""
        whose = f"{self.ports:,} ports x {self.priorities} priorities set apart {needed:,} B"
        if self.buffer_bytes is None:
            return whose
        if not self.fits:
            return f"{whose}, which does not fit into {self.buffer_bytes:,} B"
        rest = self.buffer_bytes - needed
        where = " and ".join(self._conditions)
        fits = f"fits {where}" if where else "fits"
        return f"{whose} of {self.buffer_bytes:,} B: {fits}, and leaves {rest:,} B"

    @property
    def _conditions(self) -> list[str]:
        """On what it depends that the memory suffices, in words."""
        conditions = []
        if self.profile.cell_bytes is None:
            conditions.append("if no packet wastes a part of a cell (give --asic)")
        if self.is_shared and self.oversubscription > 1:
            part = f"1/{self.oversubscription:g}"
            conditions.append(f"if at most {part} of the headroom is filled at once")
        return conditions

    @property
    def pool_cells(self) -> int | None:
        """Cells of the pool; `None` if the cell is not known, or no number of ports was given."""
        return None if self.pool_bytes is None else self._cells(self.pool_bytes)

    @property
    def published(self) -> tuple[PublishedHeadroom, ...]:
        """What public tables of the chip have at this speed and cable, the smallest first."""
        return published_headrooms(self.profile.chip, self.speed_mbps, self.cable_m)

    @property
    def cable(self) -> str:
        """Length of the cable, such as `300m`."""
        return length_words(self.cable_m)

    def _cells(self, amount: int) -> int | None:
        cell = self.profile.cell_bytes
        return None if cell is None else -(-amount // cell)

    @property
    def _rows(self) -> list[dict[str, Any]]:
        return [
            {
                "term": term.name,
                "bytes": float(term.exact_bytes),
                "formula": term.formula,
                "source": term.source,
            }
            for term in self.terms
        ]

    def table(self, name: str | None = None) -> "pa.Table":
        """Returns the table of the terms.

        Args:
            name: `terms`, or left out.

        Raises:
            ArgumentError: There is no such table.
            MissingLibraryError: PyArrow is not installed (`pip install 'tailroom[tables]'`).
        """
        return only_table(name, "terms", self._rows)

    def as_dict(self) -> dict[str, Any]:
        """The result as the command prints it with `--json`."""
        return {
            "speed": self.speed,
            "speed_mbps": self.speed_mbps,
            "cable_m": float(self.cable_m),
            "profile": self.profile.name,
            "method": self.profile.method,
            "source": self.profile.source,
            "xon_bytes": self.xon_bytes,
            "xon_offset_bytes": self.xon_offset_bytes,
            "xoff_bytes": self.xoff_bytes,
            "size_bytes": self.size_bytes,
            "cell_bytes": self.profile.cell_bytes,
            "xon_cells": self.xon_cells,
            "xoff_cells": self.xoff_cells,
            "size_cells": self.size_cells,
            "ports": self.ports,
            "pool_bytes": self.pool_bytes,
            "pool_cells": self.pool_cells,
            "all_bytes": self.all_bytes,
            "buffer_bytes": self.buffer_bytes,
            "fits": self.fits,
            "terms": self._rows,
            "assumptions": list(self.assumptions),
            "published": [row.as_dict() for row in self.published],
        }

    def __repr__(self) -> str:
        """The link, the headroom and the profile."""
        return (
            f"<Headroom for {self.speed}, {self.cable} ({self.profile.name}): "
            f"xoff {self.xoff_bytes:,} B, xon {self.xon_bytes:,} B, size {self.size_bytes:,} B>"
        )
