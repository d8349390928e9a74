"""What is known of chips and of published tables: cells, formulas, parameters, sources.

A chip's profile states how its vendor's tables are made, where that is known: by SONiC's formula,
or along a straight line that was fitted to published rows. For the other chips only the cell is
known, and the standard's terms are counted in cells.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from tailroom.arguments import named
from tailroom.errors import ArgumentError
from tailroom.field_docs import with_field_docs
from tailroom.scenario.named_values import near, nearest

KIB = 1024
Method = Literal["standard", "sonic", "fit"]
"""How a headroom is computed: IEEE 802.1Q's terms, SONiC's formula, a fitted straight line."""
SONIC = "SONiC, buffer_headroom_mellanox.lua and asic_table.j2"
PUBLISHED = "published rows of sonic-buildimage 086b03b that the formula gives to the byte"


@with_field_docs
@dataclass(frozen=True)
class Profile:
    """How the headroom of a chip or of a published table is computed."""

    name: str
    """Name, such as `tomahawk-5` or `sn5600`."""
    words: str
    """What it describes."""
    source: str
    """Where the facts stand."""
    method: Method = "standard"
    """`standard` (IEEE 802.1Q, Annex O), `sonic` (SONiC's formula) or `fit` (a straight line)."""
    cell_bytes: int | None = None
    """Size of a cell of the packet memory; `None` if it is not known."""
    small_percent: int = 100
    """Percentage of packets that are as small as Ethernet allows, in the worst case."""
    frame_bytes: int = 9216
    """Largest frame of any class, which may delay the pause frame."""
    lossless_frame_bytes: int = 9216
    """Largest frame of the lossless class, which the peer finishes."""
    xon_bytes: int = 0
    """Bytes at or below which the peer may resume; 0 if no source states it."""
    eight_lanes_mbps: int | None = None
    """Speed, in Mbit/s, whose ports have eight lanes."""
    eight_lanes_xon_bytes: int = 0
    """`xon_bytes` of ports with eight lanes."""
    eight_lanes_frame_bytes: int | None = None
    """Frame by which SONiC's script enlarges the size of ports with eight lanes; `frame_bytes` if
    left out."""
    xon_offset_bytes: int | None = None
    """How far the queue must be below the threshold before the peer may resume, if that is more
    than `xon_bytes`; `None` if no source states it."""
    reserved_bytes: int | None = None
    """Bytes that a table reserves for a group, without headroom; xon if left out."""
    is_shared: bool = False
    """Whether ports share the headroom, so that the size of a group is its xon."""
    response_bytes: Fraction | None = None
    """What arrives until the peer stops, if it is fixed; by speed if left out."""
    rounds_waste: bool = True
    """Whether the cells that a small frame wastes are rounded up to whole cells."""
    tile_bytes_per_gbps: int = 0
    """What a tile of the chip adds, in bytes per Gbit/s."""
    extra_bytes: int = 0
    """What is added after rounding."""
    has_margin: bool = False
    """Whether SONiC's script adds 2 KiB if small packets are not the only packets."""
    of_chip: str | None = None
    """Name of the chip of a published table; `None` for a chip."""
    differences: tuple[tuple[int, str], ...] = ()
    """How published rows differ from the result: the speed in Mbit/s, and a sentence."""
    fit_delay_s: Fraction | None = None
    """Delay that was fitted, apart from frames and cable."""
    fit_delays_s: tuple[tuple[int, Fraction], ...] = ()
    """Delays that were fitted speed by speed: the speed in Mbit/s, and the delay."""
    fitted_mbps: tuple[int, int] = (0, 0)
    """Lowest and highest speed of the rows that were fitted."""
    tells_chip: bool = True
    """Whether amounts that are multiples of the cell tell the chip, as the cell is known."""
    is_in_kib: bool = False
    """Whether amounts are multiples of 1 KiB, as SONiC's scripts make them, and not of a cell."""

    @property
    def chip(self) -> str:
        """Name of the chip: that of a table, or its own."""
        return self.of_chip or self.name

    def fitted_delay_s(self, mbps: int) -> Fraction:
        """Returns the delay that was fitted at a speed, apart from frames and cable.

        Args:
            mbps: Speed of the port in Mbit/s.
        """
        return dict(self.fit_delays_s).get(mbps, self.fit_delay_s or Fraction(0))

    @property
    def granularity_bytes(self) -> int:
        """Amounts are multiples of this: a cell, or 1 KiB in SONiC's scripts."""
        return KIB if self.is_in_kib or self.method == "sonic" else self.cell_bytes or 1

    def xon_at(self, mbps: int) -> int:
        """Returns the bytes at or below which the peer may resume.

        Args:
            mbps: Speed of the port in Mbit/s.
        """
        return self.eight_lanes_xon_bytes if mbps == self.eight_lanes_mbps else self.xon_bytes


STANDARD = Profile(
    "standard",
    "any chip, bytes without cells",
    "IEEE 802.1Q (802.1Qbb), Annex O, and IEEE 802.3, 31B.3.7",
)


def _spectrum(number: str, cell: int, eight_lanes: int | None, xon_kib: int = 19) -> Profile:
    """A chip of NVIDIA, by the present form of SONiC's script with its default traffic."""
    is_tiled = number in ("4", "5")
    return Profile(
        f"spectrum-{number}",
        f"NVIDIA Spectrum-{number}",
        SONIC,
        method="sonic",
        cell_bytes=cell,
        lossless_frame_bytes=1024,
        xon_bytes=xon_kib * KIB,
        eight_lanes_mbps=eight_lanes,
        eight_lanes_xon_bytes=2 * xon_kib * KIB,
        tile_bytes_per_gbps=15 if is_tiled else 0,
        extra_bytes=18 * KIB if number == "6" else 0,
        has_margin=True,
    )


def _cells(name: str, words: str, cell: int, source: str = "SONiC, sonic-mgmt") -> Profile:
    """A chip of which only the cell is known."""
    return Profile(name, words, f"cell: {source}", cell_bytes=cell)


def _units(name: str, words: str, unit: int, source: str) -> Profile:
    """A chip of which only the unit of published amounts is known; no packet wastes parts of it."""
    chip = _cells(name, words, unit, source)
    return replace(chip, source=f"unit: {source}", small_percent=0, tells_chip=False)


def _fit(name: str, words: str, cell: int, rows: str, **stated: Any) -> Profile:
    """A chip whose published rows lie near a straight line over speed and length.

    `stated` is what all rows have in common. Their groups reserve two frames or less, and the pool
    has its own amount of headroom.
    """
    return Profile(
        name,
        words,
        f"fit to the rows of {rows} in sonic-buildimage 086b03b (within 5 %)",
        method="fit",
        cell_bytes=cell,
        fit_delay_s=Fraction(22, 10**7),
        is_shared=True,
        **stated,
    )


ASICS = (
    _spectrum("1", 96, None),
    _spectrum("2", 144, None),
    _spectrum("3", 144, 400_000),
    _spectrum("4", 192, 800_000),
    _spectrum("5", 192, 800_000),
    _spectrum("6", 256, 1_600_000, xon_kib=42),
    _cells("trident-2", "Broadcom Trident 2", 208),
    _cells("trident-3", "Broadcom Trident 3", 256),
    _cells("tomahawk-1", "Broadcom Tomahawk", 208),
    _cells("tomahawk-2", "Broadcom Tomahawk 2", 208),
    _cells("tomahawk-3", "Broadcom Tomahawk 3", 254),
    _cells("tomahawk-4", "Broadcom Tomahawk 4", 254),
    _fit(
        "tomahawk-5",
        "Broadcom Tomahawk 5",
        254,
        "Dell Z9864F and Micas",
        reserved_bytes=18_796,
        xon_offset_bytes=3556,
        fitted_mbps=(100_000, 800_000),
    ),
    _fit(
        "tomahawk-6",
        "Broadcom Tomahawk 6",
        420,
        "Nexthop NH-4210",
        reserved_bytes=4620,
        xon_offset_bytes=3360,
        fitted_mbps=(50_000, 800_000),
    ),
    replace(_cells("tofino-1", "Intel Tofino", 80, "ns3-datacenter"), is_in_kib=True),
    replace(_cells("tofino-2", "Intel Tofino 2", 176, "SONiC, asic_table.j2"), is_in_kib=True),
    _units("teralynx-10", "Marvell Teralynx 10", 128, "the rows of d64p512t in sonic-buildimage"),
    _units(
        "jericho-2",
        "Broadcom Jericho 2",
        4096,
        "blocks in sonic-mgmt, and the rows of Arista 7800R3 in sonic-buildimage",
    ),
    _cells("nexus-9300-fx2", "Cisco Nexus 9300-FX2", 416, "Cisco's manual"),
)
"""Chips; `tomahawk-5` and `tomahawk-6` are fits."""

_OLD_RESPONSE = Fraction(38 * KIB, 10)
"""3.8 KiB: `peer_response_time` of SONiC's asic_table.j2, which old tables use at every speed."""
_PORT_MTU_BYTES = 9100
"""The port's MTU in SONiC, which gives the published sizes of ports with eight lanes."""


def _published(chip: str, name: str, words: str, **others: Any) -> Profile:
    """A published table: what is known of its chip, but for `others` and what SONiC added later."""
    (known,) = (asic for asic in ASICS if asic.name == chip)
    stated = {
        "name": name,
        "words": words,
        "source": PUBLISHED,
        "extra_bytes": 0,
        "of_chip": chip,
        "eight_lanes_frame_bytes": _PORT_MTU_BYTES,
    }
    return replace(known, has_margin=False, **{**stated, **others})


_IN_HALVES: dict[str, Any] = {"small_percent": 50, "lossless_frame_bytes": 4096}
_OLD_144: dict[str, Any] = {
    "eight_lanes_xon_bytes": 37 * KIB,
    "response_bytes": _OLD_RESPONSE,
    "rounds_waste": False,
}
TABLES = (
    _published(
        "spectrum-1",
        "msn2700",
        "ACS-MSN2700 (Spectrum-1), all packets small",
        frame_bytes=9100,
        response_bytes=_OLD_RESPONSE,
    ),
    _published("spectrum-2", "msn3700", "ACS-MSN3700 (Spectrum-2), all packets small", **_OLD_144),
    _published("spectrum-3", "msn4700", "ACS-MSN4700 (Spectrum-3), all packets small", **_OLD_144),
    _published("spectrum-4", "sn5600", "ACS-SN5600 (Spectrum-4), all packets small"),
    _published(
        "spectrum-5",
        "sn5640",
        "Mellanox-SN5640-C448O16 (Spectrum-5), half of the packets small, shared headroom",
        is_shared=True,
        **_IN_HALVES,
    ),
    _published(
        "spectrum-6",
        "sn6600",
        "ACS-SN6600_LD (Spectrum-6), half of the packets small",
        source=f"{PUBLISHED}, except those at 800G",
        differences=(
            (
                800_000,
                "The published rows at 800G are 63,488 B larger than this; no source says why.",
            ),
        ),
        eight_lanes_mbps=None,
        **_IN_HALVES,
    ),
    _published(
        "tomahawk-5",
        "z9864f",
        "Dell-Z9864f-O64 (Tomahawk 5), all packets small, a delay fitted at each speed",
        source=f"{PUBLISHED}, at 100G to 800G",
        fit_delays_s=tuple(
            (mbps, Fraction(delay, 10**9))
            for mbps, delay in (
                (100_000, 2360),
                (200_000, 2245),
                (400_000, 2181),
                (800_000, 2178),
            )
        ),
    ),
)
"""Published tables of SONiC with the parameters that reproduce them."""
PROFILES = (STANDARD, *ASICS, *TABLES)
"""All profiles."""

DEVICES = (
    (r"msn2\d{3}|sn2\d{3}", "spectrum-1"),
    (r"msn3\d{3}|sn3\d{3}", "spectrum-2"),
    (r"msn4\d{3}|sn4\d{3}", "spectrum-3"),
    (r"sn5640", "spectrum-5"),
    (r"sn5\d{3}", "spectrum-4"),
    (r"sn6\d{3}", "spectrum-6"),
    (r"profiles[/\\]td2[/\\]", "trident-2"),
    (r"profiles[/\\]th[/\\]", "tomahawk-1"),
    (r"profiles[/\\]th2[/\\]", "tomahawk-2"),
    (r"profiles[/\\]th4[/\\]|z9664f", "tomahawk-4"),
    (r"profiles[/\\]th5[/\\]|z9864f|7060x6|ixr7220_h5|nh-4010|m2-w6940", "tomahawk-5"),
    (r"ixr7220_h6|nh-4210", "tomahawk-6"),
    (r"as9516", "tofino-2"),
    (r"wedge100bf|7170", "tofino-1"),
    (r"d64p512t", "teralynx-10"),
    (r"7800r3_48cq2", "jericho-2"),
)
"""Parts of the paths of SONiC's files, and the chip of the device (the first that fits)."""


def asic_of_path(path: str) -> Profile | None:
    """Returns the chip of the device that the path of a file names; `None` if it is not known.

    Args:
        path: The path, such as `device/mellanox/x86_64-nvidia_sn5600-r0/ACS-SN5600/...`.
    """
    for pattern, asic in DEVICES:
        if re.search(pattern, path.lower()):
            return _BY_NAME[asic]
    return None


def read_profile(asic: str | None, table: str | None) -> Profile:
    """Returns the profile of a chip or of a published table; the standard's without either.

    Args:
        asic: Name of a chip, or of a published table, which states its chip.
        table: Name of a published table.

    Raises:
        ArgumentError: Both are given, or a name is not known.
    """
    if asic is not None and table is not None:
        raise ArgumentError(
            f"{named('asic')} and {named('table')}: a table states its chip; leave one out"
        )
    if asic is not None:
        return _named("asic", asic, PROFILES)
    return STANDARD if table is None else _named("table", table, TABLES)


def _named(argument: str, name: str, profiles: Iterable[Profile]) -> Profile:
    by_name = {profile.name: profile for profile in profiles}
    if name.lower() not in by_name:
        remedy = nearest(name, by_name) if near(name, by_name) else f"choose {', '.join(by_name)}"
        raise ArgumentError(f"{named(argument)}: {name} is not known; {remedy}")
    return by_name[name.lower()]


_BY_NAME = {profile.name: profile for profile in PROFILES}
