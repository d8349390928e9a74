"""Faults in tables of headrooms, on excerpts of public tables and on tables made for the test."""

import json
from pathlib import Path

import pytest

import tailroom as tr
from tailroom.pfc_headroom.check import explaining

# Rows of Mellanox-SN5600-C224O8 (sonic-net/sonic-buildimage, Apache License 2.0, Copyright (c)
# NVIDIA CORPORATION & AFFILIATES): the formula at 5 m and 40 m, one frame less at 250 m.
SN5600_C224O8 = """\
# speed cable  size   xon    xoff   threshold
  10000    5m 19456   19456  20480         0
  25000    5m 19456   19456  21504         0
  10000   40m 19456   19456  20480         0
  25000   40m 19456   19456  22528         0
  10000  250m 19456   19456  14336         0
  25000  250m 19456   19456  20480         0
"""


# Rows of sonic-net/sonic-buildimage 086b03b (Apache License 2.0, Copyright (C) Microsoft; that of
# SN4700 Copyright (c) 2024 NVIDIA CORPORATION & AFFILIATES) with the faults of each.
PUBLIC = {
    "x86_64-mlnx_msn4700-r0/Mellanox-SN4700-O8C48": (
        """\
 400000  300m 38912  38912  225280         0
 200000 1500m 19456  19456  427008         0
 400000 1500m 38912  38912  427008         0
 400000 2000m 38912  38912  555008         0
""",
        [(3, "below_response"), (4, "below_response")],
    ),
    "x86_64-nexthop_5010-r0/NH-5010-F-O64": (
        """\
400000  30m        0       0    514553     -6         1454025
400000  50m        0       0    524707     -6         1454025
800000  30m        0       0    244000     -6         1454025
800000  50m        0       0    244000     -6         1454025
""",
        [(3, "less_at_higher_speed"), (4, "less_at_higher_speed")],
    ),
    "x86_64-nokia_ixr7220_h6_128-r0/Nokia-IXR7220-H6-O256": (
        """\
  50000  40m   8400    0     144480     0         4200
 100000  40m   8400    0     131880     0         4200
""",
        [(2, "less_at_higher_speed")],
    ),
    "x86_64-arista_7060x6_64pe_b/Arista-7060X6-64PE-B-P32O64": (
        """\
800000  5m   8636    0    724662  0         3556
800000  40m  8636    0    833536  0         3556
""",
        [(2, "not_whole_cells")],
    ),
    "x86_64-nokia_ixr7220_h5_64d-r0/Nokia-IXR7220-H5-64D": (
        """\
  10000  300m 1248    2288 46176   0        2288
  25000  300m 1248    2288 79040   0        2288
 800000  300m 1248    2288 929132  0        2288
""",
        [(1, "other_chip"), (2, "other_chip")],
    ),
    "x86_64-nvidia_sn5600-r0/Mellanox-SN5600-C224O8": (
        SN5600_C224O8,
        [
            (6, "less_at_longer_cable"),
            (6, "below_frame"),
            (7, "less_at_longer_cable"),
            (7, "below_frame"),
        ],
    ),
}
CONTRADICTING = 7
"""Rows of `PUBLIC` below another row of their table, or below cable plus response."""


def written(directory: Path, text: str, name: str = "pg_profile_lookup.ini") -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def row(speed_mbps: int, cable: str, xoff: int) -> str:
    return f"{speed_mbps} {cable} 19456 19456 {xoff} 0\n"


def kinds(check: tr.HeadroomCheck) -> list[tuple[int, str]]:
    """Line and kind of each fault."""
    return [(fault.row.line, fault.kind) for fault in check.faults]


@pytest.mark.parametrize("device", PUBLIC)
def test_the_faults_of_public_rows_are_found(tmp_path: Path, device: str) -> None:
    text, faults = PUBLIC[device]
    check = tr.check_headroom([written(tmp_path, text, f"device/{device}/pg_profile_lookup.ini")])
    assert kinds(check) == faults


def test_a_row_with_two_faults_contradicts_once(tmp_path: Path) -> None:
    files = [
        written(tmp_path, text, f"device/{device}/pg_profile_lookup.ini")
        for device, (text, _) in PUBLIC.items()
    ]
    found = tr.check_headroom(files).contradicting
    assert len(found) == len({(row.file, row.line) for row in found}) == CONTRADICTING
    below = row(10_000, "40m", 200) + row(10_000, "300m", 100)
    assert len(tr.check_headroom([written(tmp_path, below)]).contradicting) == 2


def test_the_reason_names_the_other_row(tmp_path: Path) -> None:
    first = tr.check_headroom([written(tmp_path, SN5600_C224O8)]).faults[0]
    assert (first.row.cable, first.row.xoff_bytes) == ("250m", 14_336)
    assert first.text == "40m has 20,480 B (line 4)"


def test_the_missing_term_is_named(tmp_path: Path) -> None:
    [table] = tr.check_headroom([written(tmp_path, SN5600_C224O8)]).tables
    assert (table.profile.name, table.reproduced) == ("sn5640", 4)
    wrong = table.faults[0].row
    terms = table.expected(wrong)
    difference = int(sum(term.exact_bytes for term in terms)) - wrong.xoff_bytes
    assert difference == 9216
    [missing] = next(iter(explaining(terms, difference, 1024)))
    assert missing.name == "largest frame, just begun here"


def test_less_at_a_higher_speed_names_the_lower_one(tmp_path: Path) -> None:
    text = row(400_000, "50m", 524_707) + row(800_000, "50m", 244_000)
    check = tr.check_headroom([written(tmp_path, text)])
    assert check.faults[0].text == "400,000 Mbit/s has 524,707 B (line 1)"


def test_below_cable_and_response_is_found(tmp_path: Path) -> None:
    """Mellanox-SN4700-O8C48: 427,008 B at 400G and 1,500 m, of 750,000 + 57,920; Tofino: 18,432
    B at 400G and 5 m, of 2,500 + 57,920."""
    text = row(400_000, "1500m", 427_008) + row(400_000, "5m", 18_432)
    check = tr.check_headroom([written(tmp_path, text)])
    assert kinds(check) == [(1, "below_response"), (2, "below_response")]
    assert "= 807,920 B" in check.faults[0].text
    assert "= 60,420 B" in check.faults[1].text


@pytest.mark.parametrize(
    ("xoff", "found"),
    [
        # 100G, 40 m: cable 5,000 B, response 25,216 B; a frame of 9,216 B on top.
        (30_215, ["below_response"]),
        (30_216, ["below_frame"]),
        (39_431, ["below_frame"]),
        (39_432, []),
    ],
)
def test_the_bounds_are_exact(tmp_path: Path, xoff: int, found: list[str]) -> None:
    check = tr.check_headroom([written(tmp_path, row(100_000, "40m", xoff))])
    assert [fault.kind for fault in check.faults] == found


def test_a_table_may_be_named_where_a_chip_is(tmp_path: Path) -> None:
    """SN5640's parameters give more of the rows, but SN5600's are asked for."""
    path = written(tmp_path, SN5600_C224O8)
    [table] = tr.check_headroom([path], asic="sn5600").tables
    assert table.asic == table.profile
    assert table.profile.name == "sn5600"


def test_a_value_between_cells_is_found(tmp_path: Path) -> None:
    text = row(100_000, "5m", 254 * 600) + row(100_000, "40m", 254 * 700 + 1)
    path = written(tmp_path, text)
    assert not tr.check_headroom([path]).faults
    assert kinds(tr.check_headroom([path], asic="tomahawk-5")) == [(2, "not_whole_cells")]


def test_the_values_of_another_chip_are_found(tmp_path: Path) -> None:
    """Tomahawk's rows, multiples of 208 B, stand in tables of Tomahawk 5 (Nokia H5)."""
    text = row(100_000, "5m", 165_568) + row(100_000, "40m", 177_632) + row(800_000, "5m", 572_516)
    path = written(tmp_path, text, "x86_64-nokia_ixr7220_h5_64d-r0/pg_profile_lookup.ini")
    check = tr.check_headroom([path])
    assert kinds(check) == [(1, "other_chip"), (2, "other_chip")]
    assert check.faults[0].text == (
        "208 B (Broadcom Trident 2, Broadcom Tomahawk, Broadcom Tomahawk 2), "
        "not 254 B (Broadcom Tomahawk 5)"
    )
    assert kinds(tr.check_headroom([path], asic="tomahawk-1")) == [(3, "not_whole_cells")]


@pytest.mark.parametrize(
    ("path", "asic"),
    [
        ("device/mellanox/x86_64-nvidia_sn5600-r0/ACS-SN5600/pg_profile_lookup.ini", "spectrum-4"),
        ("device/mellanox/x86_64-nvidia_sn5640-r0/a/pg_profile_lookup.ini", "spectrum-5"),
        ("device/common/profiles/th/gen/BALANCED/pg_profile_lookup.ini", "tomahawk-1"),
        ("device/common/profiles/th5/gen/BALANCED/pg_profile_lookup.ini", "tomahawk-5"),
        ("device/nexthop/x86_64-nexthop_4210-r0021/NH-4210/pg_profile_lookup.ini", "tomahawk-6"),
        ("device/dell/x86_64-dell_s6100_c2538-r0/pg_profile_lookup.ini", None),
    ],
)
def test_the_path_names_the_chip(tmp_path: Path, path: str, asic: str | None) -> None:
    [table] = tr.check_headroom([written(tmp_path, "# none\n", path)]).tables
    assert (table.asic.name if table.asic else None) == asic
    assert not table.rows


def test_a_sound_table_has_no_findings(tmp_path: Path) -> None:
    text = "".join(
        row(mbps, cable, tr.headroom(1e6 * mbps, cable, table="sn5640").xoff_bytes)
        for mbps in (100_000, 200_000, 400_000)
        for cable in ("5m", "40m", "300m", "2000m")
    )
    [table] = tr.check_headroom([written(tmp_path, text)], asic="spectrum-5").tables
    assert not table.faults
    assert (table.profile.name, table.reproduced) == ("sn5640", 12)


@pytest.mark.parametrize(
    ("speed_mbps", "cable", "text"),
    [
        (100_000, "0m", "cable 0m; expected 1m to 120km"),
        (100_000, "120001m", "cable 120001m; expected 1m to 120km"),
        (0, "5m", "0 Mbit/s; expected 10 to 1,600,000 Mbit/s"),
        (3_200_000, "5m", "3,200,000 Mbit/s; expected 10 to 1,600,000 Mbit/s"),
    ],
)
def test_a_speed_or_a_cable_out_of_range_is_found(
    tmp_path: Path, speed_mbps: int, cable: str, text: str
) -> None:
    check = tr.check_headroom([written(tmp_path, row(speed_mbps, cable, 10**12))])
    assert [(fault.kind, fault.text) for fault in check.faults] == [("out_of_range", text)]
    assert not check.contradicting


@pytest.mark.parametrize(
    ("xoff", "found"),
    [
        # 1.6T, 5 m: cable 10,000 B, and a frame of 9,216 B.
        (19_215, ["below_cable_and_frame"]),
        (19_216, []),
    ],
)
def test_without_a_known_response_cable_and_frame_are_the_bound(
    tmp_path: Path, xoff: int, found: list[str]
) -> None:
    text = row(1_600_000, "5m", xoff) + row(100_000, "40m", 50_000)
    check = tr.check_headroom([written(tmp_path, text)])
    assert [fault.kind for fault in check.faults if fault.row.line == 1] == found
    assert [row.line for row in check.tables[0].without_response] == [1]


def test_a_speed_that_is_none_of_ethernets_is_compared_too(tmp_path: Path) -> None:
    """Mellanox-SN2201 has rows at 100 Mbit/s, which no source of responses has."""
    text = row(100, "5m", 9216)
    check = tr.check_headroom([written(tmp_path, text)])
    assert check.faults[0].text == "cable 1 B + frame 9,216 B = 9,217 B"


def test_two_rows_of_one_speed_and_cable_are_found(tmp_path: Path) -> None:
    text = row(100_000, "40m", 50_000) + row(100_000, "40m", 50_000) + row(100_000, "40m", 49_999)
    check = tr.check_headroom([written(tmp_path, text)])
    assert kinds(check) == [(3, "two_values")]
    assert check.faults[0].text == "line 1 has size 19,456 B, xon 19,456 B, xoff 50,000 B"
    assert not check.contradicting
    amounts = {"size": "19456", "xon": "19456"}
    profiles = {
        "pg_lossless_100000_40m_profile": {**amounts, "xoff": "50000"},
        "pg_lossless_100000_40m_mtu1500_profile": {**amounts, "xoff": "45000"},
    }
    path = written(tmp_path, json.dumps({"BUFFER_PROFILE": profiles}), "config_db.json")
    assert not tr.check_headroom([path]).faults


def test_an_xon_above_the_size_is_found_unless_more_may_be_in_use(tmp_path: Path) -> None:
    """AS7116 has a static threshold, and Trident 2's tables an xon_offset, above a small size."""
    rows = [
        "100000 40m 19456 19457 49152 0",
        "100000 40m 3584 78400 132160 82880",
        "100000 40m 1248 2288 177632 0 2288",
    ]
    found = [
        [fault.kind for fault in tr.check_headroom([written(tmp_path, one)]).faults] for one in rows
    ]
    assert found == [["xon_above_size"], [], []]
    assert not tr.check_headroom([written(tmp_path, rows[0])]).contradicting
    profile = {"size": "1248", "xon": "2288", "xoff": "177632"}
    kinds_of_json = []
    for more in ({"dynamic_th": "0"}, {"static_th": "82880"}, {"xon_offset": "2288"}):
        profiles = {"pg_lossless_100000_40m_profile": {**profile, **more}}
        path = written(tmp_path, json.dumps({"BUFFER_PROFILE": profiles}), "config_db.json")
        kinds_of_json.append([fault.kind for fault in tr.check_headroom([path]).faults])
    assert kinds_of_json == [["xon_above_size"], [], []]


def test_where_amounts_are_in_sonics_unit_the_message_says_so(tmp_path: Path) -> None:
    path = written(tmp_path, row(100_000, "5m", 50 * 1024 + 192))
    [fault] = tr.check_headroom([path], asic="spectrum-4").faults
    assert (fault.kind, fault.text) == (
        "not_whole_cells",
        "SONiC's unit of 1,024 B (NVIDIA Spectrum-4)",
    )


def test_profiles_of_config_db_are_read(tmp_path: Path) -> None:
    profiles = {
        "ingress_lossy_profile": {"pool": "ingress_lossless_pool", "size": "0", "dynamic_th": "3"},
        "pg_lossless_100000_40m_profile": {"size": "19456", "xon": "19456", "xoff": "49152"},
        "pg_lossless_100000_300m_profile": {"size": "19456", "xon": "19456", "xoff": "30000"},
    }
    groups = {"Ethernet0|3-4": {"profile": "pg_lossless_100000_300m_profile"}}
    text = json.dumps({"BUFFER_PG": groups, "BUFFER_PROFILE": profiles}, indent=2)
    check = tr.check_headroom([written(tmp_path, text, "config_db.json")])
    [table] = check.tables
    assert [row.xoff_bytes for row in table.rows] == [49_152, 30_000]
    assert table.other_profiles == ("ingress_lossy_profile",)
    assert check.as_dict()["files"][0]["other_profiles"] == ["ingress_lossy_profile"]
    line = text[: text.rindex("pg_lossless_100000_300m_profile")].count("\n") + 1
    assert kinds(check) == [(line, "less_at_longer_cable"), (line, "below_response")]


@pytest.mark.parametrize("asic", ["sn5600", "tomahawk-5"])
def test_what_the_command_writes_for_sonic_is_read_again(tmp_path: Path, asic: str) -> None:
    from tailroom.pfc_headroom.formats import sonic_profile, sonic_row  # noqa: PLC0415

    result = tr.headroom("400G", "2km", asic=asic)
    for text, name in ((sonic_row(result), "a.ini"), (sonic_profile(result), "b.json")):
        [table] = tr.check_headroom([written(tmp_path, text, name)]).tables
        [read] = table.rows
        assert (read.speed_mbps, read.cable) == (400_000, "2000m")
        assert (read.xoff_bytes, read.xon_bytes) == (result.xoff_bytes, result.xon_bytes)
        assert (read.size_bytes, table.faults) == (result.size_bytes, ())


def test_a_pool_is_written_for_a_shared_headroom_alone() -> None:
    """64 ports x 2 priorities x 83,968 B."""
    from tailroom.pfc_headroom.formats import openconfig, remarks, sonic_profile  # noqa: PLC0415

    shared = tr.headroom("100G", "300m", table="sn5640", ports=64)
    written = json.loads(sonic_profile(shared))
    assert written["BUFFER_POOL"] == {
        "ingress_lossless_pool": {"type": "ingress", "mode": "dynamic", "xoff": "10747904"}
    }
    assert "which includes xoff" in str(remarks(shared, "sonic"))
    assert "each queue has its xoff of 83,968 B" in str(remarks(shared, "openconfig"))
    assert f'"dedicated-buffer": "{19_456 + 83_968}"' in openconfig(shared)
    assert "--ports" in str(remarks(tr.headroom("100G", "300m", table="sn5640"), "sonic"))
    private = tr.headroom("100G", "300m", table="sn5600", ports=64)
    assert "BUFFER_POOL" not in json.loads(sonic_profile(private))
    # 64 ports x 2 priorities x (19,456 + 225,280) B.
    assert remarks(private, "openconfig") == ["64 ports x 2 priorities set apart 31,326,208 B"]
    sized = tr.headroom("100G", "300m", table="sn5640", ports=64, buffer="64 MB")
    pool = json.loads(sonic_profile(sized))["BUFFER_POOL"]["ingress_lossless_pool"]
    assert (pool["size"], pool["xoff"]) == ("64000000", "10747904")


@pytest.mark.parametrize(
    ("text", "place", "expected"),
    [
        ("# ok\n10000 5m 1 2 3 0\n10000 40m 1 2\n", ":3", "speed cable size xon xoff threshold"),
        ('title = "A scenario"\n', ":1", "speed cable size xon xoff threshold"),
        ("10000 5 1 2 3 0\n", ":1", "a number of metres such as 300m"),
        ("10000 5m 1 2 three 0\n", ":1", "xoff is `three`"),
        ("10000 5m 1 2 -3 0\n", ":1", "xoff is `-3`"),
        ("10000 5m 1 2 3 high\n", ":1", "threshold is `high`"),
        ("ten 5m 1 2 3 0\n", ":1", "a whole number of Mbit/s"),
        ('{"BUFFER_PROFILE": {\n', ": line 2", "JSON"),
        ('{"PORT": {}}', ":1", "BUFFER_PROFILE"),
        (
            '{"BUFFER_PROFILE": {\n"pg_lossless_10000_5m_profile": {"xon": "1", "xoff": "2"}}}',
            ":2",
            "size is `missing`",
        ),
        (
            '{"BUFFER_PROFILE": {\n"pg_lossless_10000_5m_profile": {"size": "1", "xon": "1"}}}',
            ":2",
            "pg_lossless_10000_5m_profile: xoff is `missing`; expected a whole number of bytes",
        ),
        ("", "", "speed cable size xon xoff threshold"),
        (" \n\n", "", "speed cable size xon xoff threshold"),
    ],
)
def test_a_damaged_table_is_refused_with_line_and_expectation(
    tmp_path: Path, text: str, place: str, expected: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(tr.HeadroomTableError) as refused:
        tr.check_headroom([path])
    assert str(refused.value).startswith(f"{path}{place}: ")
    assert expected in str(refused.value)
    assert "expected" in str(refused.value) or "; give " in str(refused.value)


def test_a_file_that_is_no_text_or_missing_is_refused(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(tr.HeadroomTableError, match="is not text; give"):
        tr.check_headroom([tmp_path / "binary"])
    with pytest.raises(tr.HeadroomTableError, match="No such file"):
        tr.check_headroom([tmp_path / "missing"])
