"""The command and the result object: what they print, and what they refuse."""

import json
import re
from pathlib import Path

import pytest

import tailroom as tr
from tailroom.pfc_headroom.profiles import ASICS
from tests.conftest import Printed, Tailroom
from tests.headroom.test_check import SN5600_C224O8, row, written

LINK = ("headroom", "--speed", "100G", "--cable", "300m")


def test_people_see_terms_with_sources_configurations_and_faults(
    printed: Printed, tmp_path: Path
) -> None:
    written(tmp_path, row(100_000, "40m", 49_152)).rename(tmp_path / "sound.ini")
    written(tmp_path, row(1_600_000, "40m", 100_000)).rename(tmp_path / "fast.ini")
    profiles = {
        name: {"size": "0"} for name in ("egress_lossless_profile", "ingress_lossy_profile")
    }
    profiles["pg_lossless_100000_40m_profile"] = {"size": "1", "xon": "1", "xoff": "49152"}
    written(tmp_path, json.dumps({"BUFFER_PROFILE": profiles}), "config_db.json")
    written(tmp_path, SN5600_C224O8)
    printed("headroom")


@pytest.mark.parametrize("asic", [profile.name for profile in ASICS])
def test_the_terms_are_whole_bytes_that_add_up(tailroom: Tailroom, asic: str) -> None:
    """361,112.4 B cannot be configured, and the tenth of a byte is of no use."""
    given = ("headroom", "--speed", "400G", "--cable", "40m", "--asic", asic)
    lines = tailroom(*given).output.splitlines()
    end = next(at for at, line in enumerate(lines) if line.startswith("xoff: the headroom"))
    numbers = [
        int(found[1].replace(",", ""))
        for line in lines[:end]
        if (found := re.search(r"  ([\d,]+)  \S", line[20:]))
    ]
    assert f"{sum(numbers):,}" in lines[end]
    assert not [line for line in lines[:end] if re.search(r"  [\d,]+\.\d+  ", line)]


def test_json_has_the_amounts_and_the_terms(tailroom: Tailroom) -> None:
    answer = json.loads(tailroom(*LINK, "--table", "sn5600", "--ports", 64, "--json").output)
    assert (answer["xon_bytes"], answer["xoff_bytes"]) == (19_456, 225_280)
    assert answer["size_bytes"] == 19_456 + 225_280
    assert answer["pool_bytes"] == 128 * 225_280
    assert answer["xon_cells"] == -(-19_456 // 192)
    assert answer["pool_cells"] == -(-128 * 225_280 // 192)
    assert sum(term["bytes"] for term in answer["terms"]) == pytest.approx(225_280)
    assert {"term", "bytes", "formula", "source"} == answer["terms"][0].keys()


def test_the_result_is_a_table_a_dictionary_and_a_line() -> None:
    result = tr.headroom("100G", "300m", table="sn5640")
    table = result.table()
    assert table.column_names == ["term", "bytes", "formula", "source"]
    assert table.num_rows == len(result.terms)
    assert sum(table["bytes"].to_pylist()) == pytest.approx(83_968)
    assert result.as_dict()["terms"] == table.to_pylist()
    assert repr(result) == (
        "<Headroom for 100G, 300m (sn5640): xoff 83,968 B, xon 19,456 B, size 19,456 B>"
    )
    with pytest.raises(tr.ArgumentError, match="nonsense"):
        result.table("nonsense")


@pytest.mark.parametrize(("buffer", "fits"), [("32 MB", False), ("128 MB", True)])
def test_what_all_ports_set_apart_is_compared_with_the_memory(
    tailroom: Tailroom, buffer: str, fits: bool
) -> None:
    """64 ports of 400G with 100 m and two lossless priorities: 69 MB of headroom."""
    link = ("headroom", "--speed", "400G", "--cable", "100m", "--asic", "tomahawk-5")
    asked = (*link, "--ports", 64, "--buffer", buffer)
    answer = json.loads(tailroom(*asked, "--json").output)
    assert answer["all_bytes"] == 128 * (18_796 + 539_750)
    assert answer["fits"] is fits
    assert ("does not fit into 32,000,000 B" in tailroom(*asked).output) != fits


@pytest.mark.parametrize("name", ["sonic", "openconfig"])
def test_no_configuration_is_written_that_the_memory_cannot_hold(
    tailroom: Tailroom, name: str
) -> None:
    """32 ports x 2 priorities share 64 x 677,888 B; OpenConfig shares nothing."""
    link = ("headroom", "--speed", "400G", "--cable", "300m", "--asic", "spectrum-4", "--shared")
    asked = (*link, "--ports", 32, "--oversubscription", 2, "--format", name)
    refused = tailroom(*asked, "--buffer", "16 MB")
    assert (refused.status, refused.output) == (2, "")
    assert f"--format {name}: 32 ports x 2 priorities set apart" in refused.errors
    assert "does not fit into 16,000,000 B" in refused.errors
    # Half of 43.4 MB with 64 reserves of 19,456 B is 22.9 MB; OpenConfig needs all of 44.6 MB.
    between = tailroom(*asked, "--buffer", "32 MB")
    assert between.status == (0 if name == "sonic" else 2)
    assert tailroom(*asked, "--buffer", "64 MB").status == 0


def test_an_xon_of_0_is_explained_next_to_it(tailroom: Tailroom) -> None:
    printed = tailroom("headroom", "--speed", "400G", "--cable", "100m", "--format", "sonic")
    assert '"xon": "0"' in printed.output
    assert "# No source states an xon here: it is 0" in printed.output
    assert printed.errors == ""
    known = tailroom(*LINK, "--table", "sn5640", "--format", "sonic").output
    assert "No source states" not in known


@pytest.mark.parametrize("asic", [asic.name for asic in ASICS])
@pytest.mark.parametrize("shared", [(), ("--shared", "--ports", "4")])
def test_no_chip_has_an_xon_of_0_without_its_reason(
    tailroom: Tailroom, asic: str, shared: tuple[str, ...]
) -> None:
    asked = ("headroom", "--speed", "400G", "--cable", "100m", "--asic", asic)
    printed = tailroom(*asked, *shared, "--format", "sonic")
    is_explained = re.search(r"^# .*\bxon\b", printed.output.partition("\n")[2], re.MULTILINE)
    assert printed.status == 0, printed.errors
    assert bool(is_explained) is ('"xon": "0"' in printed.output)


def test_a_check_as_json_has_a_row_per_finding(tailroom: Tailroom, tmp_path: Path) -> None:
    path = written(tmp_path, SN5600_C224O8)
    ended = tailroom("headroom", "--check", path, "--json")
    answer = json.loads(ended.output)
    assert ended.status == 1
    assert answer["files"][0]["profile"] == "sn5640"
    assert [one["line"] for one in answer["faults"]] == [6, 6, 7, 7]
    assert answer["faults"][0]["formula_bytes"] == 23_552
    check = tr.check_headroom([path])
    assert check.table().to_pylist() == answer["faults"]
    assert "less_at_longer_cable" in repr(check)


def test_the_list_as_json_has_chips_tables_and_their_sources(tailroom: Tailroom) -> None:
    known = {
        one["name"]: one for one in json.loads(tailroom("headroom", "--list", "--json").output)
    }
    assert (known["tomahawk-5"]["option"], known["z9864f"]["option"]) == ("--asic", "--table")
    assert known["Dell-Z9864f-O64"]["rows"] == 24
    assert all(one["source"] for one in known.values())


def test_a_damaged_table_ends_with_status_2(tailroom: Tailroom, tmp_path: Path) -> None:
    path = written(tmp_path, "10000 5m 1 2 three 0\n")
    ended = tailroom("headroom", "--check", path)
    assert (ended.status, ended.output) == (2, "")
    assert f"error: {path}:1: xoff is `three`; expected a whole number of bytes" in ended.errors


@pytest.mark.parametrize(
    "text", ["# speed cable size xon xoff threshold\n", '{"BUFFER_PROFILE": {}}']
)
def test_a_check_of_no_row_at_all_is_no_success(
    tailroom: Tailroom, tmp_path: Path, text: str
) -> None:
    ended = tailroom("headroom", "--check", written(tmp_path, text))
    assert ended.status == 2
    assert "nothing was checked, as no file has a row with a speed and a cable" in ended.errors


def test_wrong_input_is_refused_with_a_remedy(refused: Printed) -> None:
    refused("headroom")
