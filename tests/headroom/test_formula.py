"""Headrooms against published tables, a worked example, and the sums of quoted bit times."""

import json
from itertools import groupby

import pytest

import tailroom as tr
from tailroom.pfc_headroom.formats import sonic_profile, sonic_row
from tailroom.pfc_headroom.profiles import ASICS, TABLES
from tailroom.pfc_headroom.speeds import SPEEDS
from tailroom.vectors.sets.headroom import published

LARGER_AT_800G = 63_488
"""By how much the published rows of SN6600 at 800G are above the formula."""


def terms(result: tr.Headroom) -> dict[str, float]:
    return {term.name: float(term.exact_bytes) for term in result.terms}


def test_the_cable_is_that_of_ciscos_white_paper_on_copper() -> None:
    """ "Priority Flow Control: Build Reliable Layer 2 Infrastructure" (Nexus 5000).

    At 70 % of the speed of light, 100 m take 476 ns, in which 595 B are sent at 10 Gbit/s.
    """
    cable = terms(tr.headroom("10G", "100m", medium="copper"))["cable, both ways"]
    assert cable == pytest.approx(2 * 595)


def test_there_are_114_rows_that_the_formula_gives() -> None:
    counts = {table: len([*rows]) for table, rows in groupby(published(), lambda row: row[0])}
    assert counts == {
        "msn2700": 15,
        "msn3700": 18,
        "msn4700": 21,
        "sn5600": 24,
        "sn5640": 36,
        "sn6600": 9,
    }
    assert sum(counts.values()) - counts["sn6600"] == 114


@pytest.mark.parametrize(("table", "speed_mbps", "cable", "xoff_bytes"), published())
def test_a_published_row_is_given_to_the_byte(
    table: str, speed_mbps: int, cable: str, xoff_bytes: int
) -> None:
    found = tr.headroom(1e6 * speed_mbps, cable, table=table).xoff_bytes
    is_larger = table == "sn6600" and speed_mbps == 800_000
    assert found == xoff_bytes - (LARGER_AT_800G if is_larger else 0)


def test_the_user_is_told_where_published_rows_are_larger() -> None:
    assert "63,488 B larger" in tr.headroom("800G", "5m", table="sn6600").assumptions[0]
    assert "larger" not in " ".join(tr.headroom("400G", "5m", table="sn6600").assumptions)


@pytest.mark.parametrize(
    ("table", "speed", "cable", "amounts"),
    [
        # pg_profile_lookup.ini of ACS-MSN4700 and ACS-SN5600: size, xon, xoff.
        ("msn4700", "200G", "300m", (223_232, 19_456, 203_776)),
        ("msn4700", "400G", "5m", (86_016, 37_888, 38_912)),
        ("msn4700", "400G", "40m", (124_928, 37_888, 77_824)),
        ("msn4700", "400G", "300m", (420_864, 37_888, 373_760)),
        ("sn5600", "400G", "300m", (697_344, 19_456, 677_888)),
        ("sn5600", "800G", "5m", (304_128, 38_912, 257_024)),
        ("sn5600", "800G", "40m", (410_624, 38_912, 362_496)),
        ("sn5600", "800G", "300m", (1_198_080, 38_912, 1_150_976)),
    ],
)
def test_the_published_sizes_have_a_frame_more_at_eight_lanes(
    table: str, speed: str, cable: str, amounts: tuple[int, int, int]
) -> None:
    result = tr.headroom(speed, cable, table=table)
    assert (result.size_bytes, result.xon_bytes, result.xoff_bytes) == amounts
    has_eight_lanes = amounts[0] > amounts[1] + amounts[2]
    assert ("eight lanes" in " ".join(result.assumptions)) == has_eight_lanes


@pytest.mark.parametrize(
    ("asic", "speed", "cable", "amounts"),
    [
        ("spectrum-3", "400G", "300m", (320_512, 38_912, 272_384)),
        ("spectrum-3", "100G", "40m", (70_656, 19_456, 51_200)),
        ("spectrum-4", "800G", "300m", (522_240, 38_912, 474_112)),
        ("spectrum-4", "200G", "40m", (84_992, 19_456, 65_536)),
    ],
)
def test_the_worked_examples_of_sonics_script_are_given_to_the_byte(
    asic: str, speed: str, cable: str, amounts: tuple[int, int, int]
) -> None:
    """Size, xon and xoff by the script, as sonic-net/sonic-swss#3235 lists them.

    Port MTU 9100, lossless MTU 1024, 50 % small packets; without the 2 KiB that the script adds
    since sonic-swss#4757.
    """
    result = tr.headroom(
        speed, cable, asic=asic, frame_bytes=9100, lossless_frame_bytes=1024, small_percent=50
    )
    margin = int(terms(result)["margin"])
    found = (result.size_bytes - margin, result.xon_bytes, result.xoff_bytes - margin)
    assert (margin, *found) == (2048, *amounts)


def test_the_worked_example_of_sn5640_has_these_terms() -> None:
    """100G, 300 m: 9,216 + 37,879 + 819 + 25,216 + 1,500, times 1.0615, plus 4,096, up to 1 KiB."""
    result = tr.headroom("100G", "300m", table="sn5640")
    found = terms(result)
    assert found["largest frame, just begun here"] == 9216
    assert found["cable, both ways"] == pytest.approx(37_879, abs=0.5)
    assert found["interface (MAC and PHY)"] == pytest.approx(819.2)
    assert found["response of the peer"] == 25_216
    assert found["tile of the chip"] == 1500
    assert found["largest lossless frame, just begun at the peer"] == 4096
    assert found["small packets in whole cells"] == pytest.approx(0.0615 * 74_630, rel=2e-3)
    assert result.xoff_bytes == 83_968
    assert (result.xon_bytes, result.size_bytes) == (19_456, 19_456)


@pytest.mark.parametrize(
    ("speed", "interface_bits", "metre_bits", "response_bits"),
    [
        ("10G", 8_192, 50, 30_720),
        ("25G", 6_144, 125, 40_960),
        ("40G", 24_576, 200, 60_416),
        ("100G", 122_880, 500, 201_728),
    ],
)
@pytest.mark.parametrize("metres", [1, 100, 2000])
def test_the_standard_is_the_sum_of_the_bit_times_that_ciscos_book_quotes(
    speed: str, interface_bits: int, metre_bits: int, response_bits: int, metres: int
) -> None:
    frame, pause, lossless_frame = 73_888, 672, 18_560
    bits = frame + pause + interface_bits + 2 * metres * metre_bits + response_bits + lossless_frame
    result = tr.headroom(speed, f"{metres}m", lossless_frame_bytes=2300)
    assert result.xoff_bytes == -(-bits // 8)
    assert terms(result)["pause frame"] == pause / 8


def test_the_delay_of_an_interface_without_a_stated_bound_is_that_of_the_response() -> None:
    found = terms(tr.headroom("400G", "5m"))
    assert found["response of the peer"] == 463_360 / 8
    assert found["interface (MAC and PHY)"] == found["response of the peer"]
    given = terms(tr.headroom("400G", "5m", interface="200ns"))
    assert given["interface (MAC and PHY)"] == 10_000


def test_what_stands_on_the_way_counts_twice() -> None:
    """100 ns at 400 Gbit/s are 5,000 bytes, there and back."""
    found = terms(
        tr.headroom("400G", "5m", gearbox="100ns", fec="50ns", macsec="1us", response="100ns")
    )
    assert found["gearbox, both ways"] == 10_000
    assert found["FEC, both ways"] == 5_000
    assert found["MACsec, both ways"] == 100_000
    assert found["response of the peer"] == 5_000


def test_copper_is_faster_than_fiber() -> None:
    """Cisco's white paper: 476 ns for 100 m of copper, 5,950 bytes at 100 Gbit/s, each way."""
    found = terms(tr.headroom("100G", "100m", medium="copper"))
    assert found["cable, both ways"] == 2 * 5950
    assert terms(tr.headroom("100G", "100m", medium="fiber"))["cable, both ways"] == 2 * 6250


@pytest.mark.parametrize(
    ("asic", "speed", "rows"),
    [
        ("tomahawk-5", "100G", (147_066, 160_274, 258_572)),
        ("tomahawk-5", "200G", (229_362, 255_778, 452_374)),
        ("tomahawk-5", "400G", (393_192, 446_024, 839_216)),
        ("tomahawk-5", "800G", (729_488, 835_406, 1_621_536)),
        ("tomahawk-6", "50G", (162_540, 173_460, 254_940)),
        ("tomahawk-6", "100G", (229_740, 251_580, 414_120)),
        ("tomahawk-6", "200G", (369_180, 412_860, 737_940)),
        ("tomahawk-6", "400G", (650_160, 737_940, 1_387_680)),
        ("tomahawk-6", "800G", (1_249_080, 1_424_220, 2_724_120)),
    ],
)
def test_a_fit_is_within_5_percent_of_the_rows_and_says_so(
    asic: str, speed: str, rows: tuple[int, ...]
) -> None:
    for cable, xoff_bytes in zip(("5m", "40m", "300m"), rows, strict=True):
        result = tr.headroom(speed, cable, asic=asic)
        assert result.xoff_bytes == pytest.approx(xoff_bytes, rel=0.05)
        assert result.xoff_bytes % (result.profile.cell_bytes or 0) == 0
        assert "within 5 %" in " ".join(result.assumptions)


@pytest.mark.parametrize(
    ("asic", "row", "two_frames"),
    [
        # Dell-Z9864f-O64 and NH-4210-F-P128 of sonic-buildimage (Apache License 2.0).
        ("tomahawk-5", "18796 0 393192 0 3556", 2 * 37 * 254),
        ("tomahawk-6", "4620 0 650160 0 3360", 2 * 22 * 420),
    ],
)
def test_what_the_rows_of_a_fit_have_in_common_is_given_to_the_byte(
    asic: str, row: str, two_frames: int
) -> None:
    result = tr.headroom("400G", "5m", asic=asic, ports=64)
    size, xon, xoff, _, xon_offset = map(int, row.split())
    assert (result.size_bytes, result.xon_bytes, result.xon_offset_bytes) == (size, xon, xon_offset)
    assert size <= two_frames
    assert size % (result.profile.cell_bytes or 0) == 0
    assert "No source" not in " ".join(result.assumptions)
    written = sonic_row(result).splitlines()
    assert written[0].endswith("threshold xon_offset")
    expected = row.replace(str(xoff), str(result.xoff_bytes))
    assert written[1] == f"400000 5m {expected}"
    [profile] = json.loads(sonic_profile(result))["BUFFER_PROFILE"].values()
    assert (profile["xon"], profile["xon_offset"]) == ("0", str(xon_offset))


def test_only_a_source_gives_an_xon_offset() -> None:
    for name in ("tomahawk-4", "spectrum-4"):
        result = tr.headroom("400G", "5m", asic=name)
        assert result.xon_offset_bytes is None
        assert "xon_offset" not in sonic_row(result) + sonic_profile(result)
    assert "No source states an xon" in " ".join(
        tr.headroom("400G", "5m", asic="tomahawk-4").assumptions
    )


def test_a_table_may_be_named_where_a_chip_is() -> None:
    assert tr.headroom("400G", "5m", asic="sn5600") == tr.headroom("400G", "5m", table="sn5600")


def test_each_small_packet_takes_whole_cells() -> None:
    """Of 254 B cells, 64 B + 20 B on the wire take one: 254 / 84 times the bytes."""
    plain = tr.headroom("100G", "300m").xoff_bytes
    cells = tr.headroom("100G", "300m", asic="tomahawk-3")
    assert cells.xoff_cells == -(-plain // 84)
    assert cells.xoff_bytes == 254 * (cells.xoff_cells or 0)
    large = tr.headroom("100G", "300m", asic="tomahawk-3", small_percent=0).xoff_bytes
    # 9,216 B take 37 cells, 9,398 B.
    assert large == pytest.approx(plain * 9398 / 9236, abs=254)


def test_the_script_of_today_adds_to_the_published_formula() -> None:
    """Spectrum-6: 18 KiB; and 2 KiB for private headroom if not all packets are small."""
    plain = tr.headroom("100G", "300m", asic="spectrum-6")
    assert terms(plain)["pipeline of the chip"] == 18_432
    mixed = {"small_percent": 50, "lossless_frame_bytes": 4096}
    private = tr.headroom("100G", "300m", asic="spectrum-5", **mixed)  # type: ignore[arg-type]
    shared = tr.headroom("100G", "300m", asic="spectrum-5", shared=True, **mixed)  # type: ignore[arg-type]
    assert shared.xoff_bytes == 83_968
    assert private.xoff_bytes == 83_968 + 2048


def test_eight_lanes_have_twice_the_xon() -> None:
    assert tr.headroom("400G", "5m", table="sn5600").xon_bytes == 19_456
    assert tr.headroom("800G", "5m", table="sn5600").xon_bytes == 38_912
    assert tr.headroom("400G", "5m", table="msn4700").xon_bytes == 37_888


def test_ports_share_a_pool() -> None:
    result = tr.headroom("100G", "300m", table="sn5640", ports=64, priorities=2, oversubscription=4)
    assert result.pool_bytes == 64 * 2 * 83_968 // 4
    assert tr.headroom("100G", "300m").pool_bytes is None


@pytest.mark.parametrize(
    ("name", "speed"),
    [
        (profile.name, speed.name)
        for profile in (*ASICS, *TABLES)
        for speed in SPEEDS
        if profile.method != "fit" or profile.fitted_mbps[0] <= speed.mbps <= 800_000
    ],
)
@pytest.mark.parametrize("cable", ["1m", "300m", "120km"])
def test_the_headroom_is_the_sum_of_its_terms_in_whole_units(
    name: str, speed: str, cable: str
) -> None:
    given = {"table": name} if name in {table.name for table in TABLES} else {"asic": name}
    response = "1us" if speed == "1.6T" else None
    result = tr.headroom(speed, cable, response=response, **given)  # type: ignore[arg-type]
    total = sum(term.exact_bytes for term in result.terms)
    assert total == result.xoff_bytes
    assert result.xoff_bytes % result.profile.granularity_bytes == 0
    assert all(term.exact_bytes >= 0 and term.formula and term.source for term in result.terms)
    assert result.size_bytes >= result.xon_bytes


def test_a_longer_cable_never_needs_less() -> None:
    for profile in ASICS:
        needed = [
            tr.headroom("100G", metres, asic=profile.name).xoff_bytes
            for metres in (1, 2, 10, 40, 300, 2000, 40_000, 120_000)
        ]
        assert needed == sorted(needed)
