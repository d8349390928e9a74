"""Captures at the ends of flows, with ECN and IPv6: what tshark reads is what the run did."""

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import tailroom as tr
from tests.conftest import Printed, Tailroom
from tests.test_packets import CASES, REPEATED, scenario, shown

needs_tshark = pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")

MARKING = """
duration = "6 s"
measure_from = "0 s"
[links.b]
rate = "10 Mbit/s"
delay = "10 ms"
queue = {{ kind = "codel", limit = "500 packets" }}
[flows.tcp]
count = 3
path = ["b"]
congestion = "{control}"
rtt = {{ from = "20 ms", to = "60 ms" }}
handshake = true
ecn = "{ecn}"
"""
FLAGS = ("syn", "ack", "ae", "cwr", "ece", "ace")
"""Of TCP, as tshark names them."""


def marking(tmp_path: Path, ecn: str, control: str = "cubic") -> Path:
    path = tmp_path / "scenario.toml"
    path.write_text(MARKING.format(ecn=ecn, control=control), encoding="utf-8")
    return path


def captured(tailroom: Tailroom, path: Path, *more: str) -> tuple[dict[str, Any], Path]:
    """The summary of a run, and its capture."""
    file = path.with_suffix(".pcapng")
    ended = tailroom("run", path, "--json", "--pcap", file, *more)
    assert (ended.status, ended.errors) == (0, "")
    return json.loads(ended.output), file


def flags(file: Path, *more: str) -> list[tuple[dict[str, int], list[str]]]:
    """The flags of each packet by name, and other fields; ACE is that of packets without a SYN."""
    read = shown(file, *(f"tcp.flags.{name}" for name in FLAGS), *more)
    values = {"": 0, "True": 1, "False": 0}
    number = [[values.get(text) for text in row[:6]] for row in read]
    return [
        (
            {
                name: int(text) if value is None else value
                for name, value, text in zip(FLAGS, known, row, strict=False)
            },
            row[6:],
        )
        for known, row in zip(number, read, strict=True)
    ]


@needs_tshark
@pytest.mark.parametrize("name", CASES)
def test_at_the_sender_wireshark_finds_each_retransmission_of_the_run(
    name: str, tailroom: Tailroom, tmp_path: Path
) -> None:
    summary, file = captured(tailroom, scenario(tmp_path, name), "--at", "tcp.sender")
    fields = ("ip.dst", "tcp.len", "frame.packet_flags_direction", "_ws.malformed", *REPEATED)
    sent: Counter[str] = Counter()
    for receiver, payload, direction, malformed, *repeated in shown(file, *fields):
        is_out = receiver == "198.18.0.1"
        assert int(direction, 0) == (2 if is_out else 1)
        assert not malformed
        assert is_out or payload == "0"
        sent["again"] += any(repeated)
        sent["data"] += is_out
        sent["acks"] += not is_out
    assert sent["again"] == sum(flow["retransmissions"] for flow in summary["flows"])
    assert sent["again"] > 0 or name == "marks"
    assert sent["data"] > 2_000
    assert sent["acks"] > 500


@needs_tshark
def test_an_interface_stands_for_each_end_and_link(tailroom: Tailroom, tmp_path: Path) -> None:
    places = ("--at", "tcp.0.sender", "--at", "flows.tcp.receiver", "--at", "links.b")
    _, file = captured(tailroom, scenario(tmp_path, "reno"), *places)
    names = Counter(name for (name,) in shown(file, "frame.interface_name"))
    expected = {"b", "tcp.0.sender", *(f"tcp.{number}.receiver" for number in range(3))}
    assert names.keys() == expected
    assert min(names.values()) > 500


@needs_tshark
def test_classic_ecn_is_negotiated_and_each_reduction_is_told_by_a_cwr(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    """RFC 3168 sec. 6.1: codel drops nothing here, so that marks alone reduce windows."""
    places = ("--at", "tcp.sender", "--at", "tcp.receiver")
    summary, file = captured(tailroom, marking(tmp_path, "classic"), *places)
    assert summary["links"]["b"]["drops_packets"] == 0
    found: Counter[str] = Counter()
    echoing = dict.fromkeys(("198.18.0.1",), False)
    unacknowledged: dict[str, bool] = {}  # whether one of the packets since the last ACK is marked
    sets = 0
    fields = ("frame.interface_name", "ip.dst", "ip.src", "ip.dsfield.ecn")
    for flag, (place, receiver, sender, ecn) in flags(file, *fields):
        is_data, at_sender = receiver == "198.18.0.1", place.endswith("sender")
        bits = (flag["ae"], flag["cwr"], flag["ece"])
        if flag["syn"]:
            assert bits == ((0, 1, 1) if is_data else (0, 0, 1))
            found["openings"] += 1
        elif is_data:
            assert (flag["ae"], flag["ece"]) == (0, 0)
            found["cwr"] += at_sender and flag["cwr"]
            if not at_sender:
                marked = int(ecn, 0) == 3
                sets += marked
                echoing[sender] = marked or (echoing.get(sender, False) and not flag["cwr"])
                unacknowledged[sender] = marked or unacknowledged.get(sender, False)
        else:
            assert (flag["ae"], flag["cwr"]) == (0, 0)
            if not at_sender:
                # A delayed ACK echoes the mark of either packet (sec. 6.1.3).
                is_marked = unacknowledged.pop(receiver, False)
                assert flag["ece"] == (echoing.get(receiver, False) or is_marked)
                found["ece"] += flag["ece"]
    assert found["cwr"] == sum(flow["congestion_events"] for flow in summary["flows"]) > 20
    assert found["openings"] == 12
    assert found["ece"] > found["cwr"]
    # What the link marks in the last 10 ms is on the way.
    assert 0 <= summary["links"]["b"]["marks_packets"] - sets <= 3


@needs_tshark
@pytest.mark.parametrize(("ecn", "control"), [("accurate", "cubic"), ("l4s", "prague")])
def test_accurate_ecn_counts_the_marked_packets_in_the_ace_bits(
    ecn: str, control: str, tailroom: Tailroom, tmp_path: Path
) -> None:
    """RFC 9768 sec. 3.1 and 3.2: the counter begins with 5, and its last three bits are sent."""
    places = ("--at", "tcp.receiver", "--at", "tcp.sender")
    _, file = captured(tailroom, marking(tmp_path, ecn, control), *places)
    marks: Counter[str] = Counter()
    answers = {0b010: 0, 0b011: 0, 0b100: 0}
    seen: Counter[str] = Counter()
    fields = ("frame.interface_name", "ip.dst", "ip.src", "ip.dsfield.ecn", "tcp.seq", "tcp.len")
    for flag, (place, receiver, sender, ecn_field, sequence, payload) in flags(file, *fields):
        is_data, at_receiver = receiver == "198.18.0.1", place.endswith("receiver")
        # Wireshark knows by the handshake that the three flags are a number.
        ace = 4 * flag["ae"] + 2 * flag["cwr"] + flag["ece"] if flag["syn"] else flag["ace"]
        if flag["syn"]:
            if is_data:
                assert ace == 0b111
                seen["ect syn"] += int(ecn_field, 0) != 0
            else:
                answers[ace] += 1
        elif is_data:
            assert ace == (0b010 if sequence == "1" and int(payload) else 5)
            marks[sender] += at_receiver and int(ecn_field, 0) == 3
        elif at_receiver:
            assert ace == (5 + marks[receiver]) % 8
            seen["acks"] += 1
    assert seen["acks"] > 1_000
    assert sum(marks.values()) > 20
    if seen["ect syn"]:
        assert answers[0b010] == 0
    else:
        assert answers == {0b010: 6, 0b011: 0, 0b100: 0}


@needs_tshark
@pytest.mark.parametrize("name", ["reno", "acks in a queue"])
def test_in_ipv6_wireshark_finds_the_same(name: str, tailroom: Tailroom, tmp_path: Path) -> None:
    path = scenario(tmp_path, name)
    udp = '[flows.udp]\npath = ["b"]\nsource = { kind = "poisson", rate = "1 Mbit/s" }\n'
    path.write_text(path.read_text() + udp)
    summary, file = captured(tailroom, path, "--at", "links.b", "--ip", "6")
    fields = ("frame.len", "ipv6.plen", "ipv6.src", "ipv6.dst", "tcp.len", "udp.length")
    again, sizes = 0, Counter[int]()
    rows = shown(file, *fields, "_ws.malformed", "_ws.expert", *REPEATED)
    for size, length, source, target, payload, udp_length, malformed, _, *repeated in rows:
        assert source.startswith("2001:2:0:1::")
        assert target == "2001:2:0:2::1"
        assert int(length) == int(size) - 40
        assert int(udp_length) == int(length) if udp_length else int(payload) in (0, 1428)
        assert not malformed
        sizes[int(size)] += 1
        again += any(repeated)
    assert len(rows) == summary["links"]["b"]["arrivals_packets"]
    assert sizes[1500] > 2_000
    assert 0 <= sum(flow.get("retransmissions") or 0 for flow in summary["flows"]) - again <= 3
    checked = shown(file, "udp.checksum.bad", "udp.checksum")
    assert all(checksum not in ("0x0000", "0") for _, checksum in checked)


def test_a_direction_leaves_data_or_acks(tailroom: Tailroom, tmp_path: Path) -> None:
    contents = {}
    path = scenario(tmp_path, "reno")
    for direction in ("data", "acks"):
        file = tmp_path / f"{direction}.parquet"
        chosen = ("--at", "tcp.0.receiver", "--direction", direction)
        ended = tailroom("run", path, "--packets", file, *chosen)
        assert (ended.status, ended.errors) == (0, "")
        table = pq.read_table(file)
        assert table["link"].unique().to_pylist() == ["tcp.0.receiver"]
        contents[direction] = (
            set(table["content"].to_pylist()),
            set(table["fate"].to_pylist()),
        )
    assert contents == {
        "data": ({"data", "retransmission"}, {"received"}),
        "acks": ({"ack"}, {"sent"}),
    }


def test_places_and_versions_that_a_result_does_not_have_are_refused(tmp_path: Path) -> None:
    span = {"flows.tcp.endpoint_log": {"from": "0 s", "to": "1 s"}}
    result = tr.run(scenario(tmp_path, "reno"), set=span)
    file = tmp_path / "run.pcapng"
    with pytest.raises(tr.ArgumentError, match=r"at .tcp\.sendr.; choose among tcp\.0\.sender"):
        result.save_pcap(file, at=["tcp.sendr"])
    with pytest.raises(tr.ArgumentError, match="ip is 5; give 4 or 6"):
        result.save_pcap(file, ip=5)
    with pytest.raises(tr.ArgumentError, match="direction is 'up'; give data or acks"):
        result.save_packets(file, direction="up")
    assert not file.exists()


def test_wrong_requests_for_ends_are_refused(refused: Printed, tmp_path: Path) -> None:
    path = scenario(tmp_path, "reno")
    udp = '[flows.udp]\npath = ["b"]\nsource = { kind = "poisson", rate = "1 Mbit/s" }\n'
    path.write_text(path.read_text() + udp)
    refused("packet_ends")
