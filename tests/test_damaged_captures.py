"""Damaged captures, and files that are none: a message, and what is whole is imported."""

import random
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Finished, Tailroom
from tests.hand_made import block, interface, pcap, section
from tests.test_import import HANDSHAKE, LOOPBACK, flow_bytes, frames, rows_of, without_directions


def check_survived(ended: Finished, path: Path) -> None:
    """A list and perhaps a warning, or one message and status 2."""
    if ended.status == 2:
        assert ended.output == ""
        assert ended.errors.startswith(f"error: {path}: ")
        assert ended.errors.count("\n") == 1
    else:
        assert ended.status == 0, ended.errors
        assert rows_of(ended.output)
        for line in ended.errors.splitlines():
            assert line.startswith(("warning: ", "skipped: ", "note: "))


def as_pcapng(capture: bytes) -> bytes:
    """A little-endian capture in microseconds, in the other format."""
    blocks = section() + interface()
    at = 24
    while at < len(capture):
        seconds, fraction, kept, length = struct.unpack_from("<IIII", capture, at)
        ticks = 1_000_000 * seconds + fraction
        packet = capture[at + 16 : at + 16 + kept]
        header = struct.pack("<IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, kept, length)
        blocks += block(6, header + packet)
        at += 16 + kept
    return blocks


FORMATS: dict[str, Callable[[bytes], bytes]] = {"pcap": bytes, "pcapng": as_pcapng}


@pytest.mark.parametrize("name", FORMATS)
def test_both_formats_give_the_same_list(tailroom: Tailroom, tmp_path: Path, name: str) -> None:
    path = tmp_path / "capture"
    path.write_bytes(FORMATS[name](LOOPBACK.read_bytes()))
    assert tailroom("import", path).output == tailroom("import", LOOPBACK).output


@pytest.mark.parametrize("name", FORMATS)
def test_a_truncated_capture_imports_what_is_whole(
    tailroom: Tailroom, tmp_path: Path, name: str
) -> None:
    whole = FORMATS[name](LOOPBACK.read_bytes())
    path = tmp_path / "capture"
    totals = []
    for length in [*range(200), *range(200, len(whole), 37)]:
        path.write_bytes(whole[:length])
        ended = tailroom("import", path)
        check_survived(ended, path)
        if ended.status == 0:
            totals.append(sum(size for _, _, size in flow_bytes(rows_of(ended.output))))
            broken = f"warning: {path}: broken at byte "
            errors = without_directions(ended.errors)
            assert errors == "" or errors.startswith(broken)
    assert totals == sorted(totals), "more of the file never shows fewer bytes"
    assert totals[-1] > 0


@pytest.mark.parametrize("name", FORMATS)
def test_a_corrupted_capture_is_survived(tailroom: Tailroom, tmp_path: Path, name: str) -> None:
    whole = FORMATS[name](LOOPBACK.read_bytes())
    path = tmp_path / "capture"
    statuses = []
    for seed in range(300):
        draw = random.Random(seed)
        damaged = bytearray(whole)
        for _ in range(draw.choice([1, 3, 30, 300])):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        path.write_bytes(damaged)
        ended = tailroom("import", path)
        check_survived(ended, path)
        statuses.append(ended.status)
    assert {0, 2} == set(statuses), "some are partly readable, some are not"


@pytest.mark.parametrize("name", FORMATS)
def test_a_warning_says_where_a_capture_is_broken(
    tailroom: Tailroom, tmp_path: Path, name: str
) -> None:
    whole = FORMATS[name](LOOPBACK.read_bytes())
    path = tmp_path / "capture"
    path.write_bytes(whole + b"\xff" * 100)
    ended = tailroom("import", path)
    assert ended.output == tailroom("import", LOOPBACK).output
    assert ended.errors.startswith(f"warning: {path}: broken at byte {len(whole):,}: a ")


@pytest.mark.parametrize("name", ["micro", "nano"])
def test_packets_with_a_second_or_more_of_fraction_are_counted(
    tailroom: Tailroom, tmp_path: Path, name: str
) -> None:
    """As in tcpdump's `timestamp_invalid_micro.pcap`; the packets behind such a packet are read."""
    whole = LOOPBACK.read_bytes()
    head, records = whole[:24], whole[24:]
    fraction = 10**6
    if name == "nano":
        head, fraction = bytes.fromhex("4d3cb2a1") + head[4:], 10**9
    path = tmp_path / "capture"
    path.write_bytes(head + struct.pack("<IIII", 1, fraction, 4, 4) + bytes(4) + records)
    ended = tailroom("import", path)
    assert ended.status == 0
    assert "skipped: 1 time with a second or more of fraction" in ended.errors
    path.write_bytes(head + records)
    assert ended.output == tailroom("import", path).output


NO_CAPTURES = {
    "empty": (b"", "the file is empty"),
    "text": (b"start_s,bytes\n0,1000\n0.1,2000\n", "pcapng"),
    "gzip": (b"\x1f\x8b\x08" + bytes(40), "gunzip"),
    "half a header": (pcap([])[:20], "ends within the header"),
    "no packets": (pcap([]), "holds no packets"),
    "no packets, pcapng": (section() + interface(), "holds no packets"),
    "no data": (pcap(frames(HANDSHAKE)), "no TCP connection carries data in 3 packets"),
    "no TCP": (pcap([(0.0, bytes(12) + b"\x08\x06" + bytes(28))]), "skipped: 1 not IP"),
    "a huge packet": (
        pcap([]) + bytes(8) + b"\xff" * 8,
        "broken at byte 24: a packet of 4294967295",
    ),
    "a huge block": (
        section() + b"\x06\0\0\0\xfc\xff\xff\xff" + bytes(9),
        "broken at byte 28: a block",
    ),
    "a second or more": (
        pcap([]) + struct.pack("<IIII", 1, 10**6, 0, 0),
        "skipped: 1 time with a second or more of fraction",
    ),
    "two lengths": (section() + block(5, b"")[:-1] + b"\1", "broken at byte 28: a block whose two"),
    "zeros": (section() + bytes(100), "broken at byte 28: a block of 0 bytes"),
}


@pytest.mark.parametrize("name", NO_CAPTURES)
def test_what_is_no_capture_of_tcp_data(tailroom: Tailroom, tmp_path: Path, name: str) -> None:
    content, named = NO_CAPTURES[name]
    path = tmp_path / "file"
    path.write_bytes(content)
    ended = tailroom("import", path, "--out", tmp_path / "flows.csv")
    check_survived(ended, path)
    assert ended.status == 2
    assert named in ended.errors
    assert list(tmp_path.iterdir()) == [path]
