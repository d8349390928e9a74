"""The command and the result object: what they print, and what they refuse."""

import json
from pathlib import Path

import pytest

import tailroom as tr
from tests.conftest import Printed, Tailroom
from tests.headroom.test_check import SN5600_C224O8, row, written

LINK = ("headroom", "--speed", "100G", "--cable", "300m")


def test_every_term_stands_with_bytes_formula_and_source(tailroom: Tailroom) -> None:
    ended = tailroom(*LINK, "--table", "sn5640")
    assert ended.status == 0
    for text in ("394 quanta x 64 B", "25,216", "tile of the chip", "xoff 83,968 B = 438 cells"):
        assert text in ended.output
    assert "buffer_headroom_mellanox.lua" in ended.output
    assert "Assumed: 50 % of the packets are of 64 B" in ended.output


def test_json_has_the_amounts_and_the_terms(tailroom: Tailroom) -> None:
    answer = json.loads(tailroom(*LINK, "--table", "sn5600", "--ports", 64, "--json").output)
    assert (answer["xon_bytes"], answer["xoff_bytes"]) == (19_456, 225_280)
    assert answer["size_bytes"] == 19_456 + 225_280
    assert answer["pool_bytes"] == 128 * 225_280
    assert sum(term["bytes"] for term in answer["terms"]) == pytest.approx(225_280)
    assert {"term", "bytes", "formula", "source"} == answer["terms"][0].keys()


def test_sonic_gets_a_row_and_a_profile(tailroom: Tailroom) -> None:
    ended = tailroom(*LINK, "--table", "sn5640", "--format", "sonic")
    lookup, _, profile = ended.output.partition("\n\n")
    assert lookup.splitlines()[1] == "100000 300m 19456 19456 83968 0"
    named = json.loads(profile)["BUFFER_PROFILE"]["pg_lossless_100000_300m_profile"]
    assert (named["xoff"], named["xon"], named["size"]) == ("83968", "19456", "19456")
    assert named["pool"] == "ingress_lossless_pool"


def test_openconfig_gets_a_dedicated_buffer(tailroom: Tailroom) -> None:
    ended = tailroom(*LINK, "--table", "sn5600", "--format", "openconfig")
    profiles = json.loads(ended.output)["openconfig-qos:qos"]["buffer-allocation-profiles"]
    [profile] = profiles["buffer-allocation-profile"]
    [queue] = profile["queues"]["queue"]
    assert queue["config"]["dedicated-buffer"] == "244736"
    assert queue["config"]["shared-buffer-limit-type"] == "DYNAMIC_BASED_ON_SCALING_FACTOR"


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


def test_a_check_lists_reasons_and_ends_with_status_1(tailroom: Tailroom, tmp_path: Path) -> None:
    ended = tailroom("headroom", "--check", written(tmp_path, SN5600_C224O8))
    assert ended.status == 1
    assert (
        "line 6: 10,000 Mbit/s 250m xoff 14,336 B: less than at a shorter cable of the same speed: "
        "40m has 20,480 B (line 4)"
    ) in ended.output
    assert "2 of 6 rows in 1 of 1 files are wrong" in ended.output
    assert ended.output.endswith(
        "2 of 6 rows in 1 of 1 files contradict their neighbours, "
        "or are below cable plus response\n"
    )


def test_explain_shows_the_terms_and_the_missing_one(tailroom: Tailroom, tmp_path: Path) -> None:
    ended = tailroom("headroom", "--check", "--explain", written(tmp_path, SN5600_C224O8))
    assert "The row has 9,216 B less than the sum." in ended.output
    assert "Terms of that size: largest frame, just begun here." in ended.output
    assert "67 quanta x 64 B" in ended.output


def test_a_sound_table_ends_with_status_0(tailroom: Tailroom, tmp_path: Path) -> None:
    sound = written(tmp_path, row(100_000, "40m", 49_152))
    ended = tailroom("headroom", "--check", sound, "--asic", "spectrum-5")
    assert (ended.status, ended.output) == (0, "0 of 1 rows in 0 of 1 files are wrong\n")


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


def test_a_damaged_table_ends_with_status_2(tailroom: Tailroom, tmp_path: Path) -> None:
    path = written(tmp_path, "10000 5m 1 2 three 0\n")
    ended = tailroom("headroom", "--check", path)
    assert (ended.status, ended.output) == (2, "")
    assert f"error: {path}:1: xoff is `three`; expected a whole number of bytes" in ended.errors


def test_wrong_input_is_refused_with_a_remedy(refused: Printed) -> None:
    refused("headroom")
