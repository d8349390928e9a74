"""`tailroom run --pcap` and `--packets`: other programs read in the file what the run counts."""

import csv
import io
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import tailroom as tr
from tests.conftest import Printed, Tailroom

TSHARK = shutil.which("tshark")
needs_tshark = pytest.mark.skipif(not TSHARK, reason="tshark is not installed")

REPEATED = (
    "tcp.analysis.retransmission",
    "tcp.analysis.fast_retransmission",
    "tcp.analysis.spurious_retransmission",
    "tcp.analysis.out_of_order",
)
"""How Wireshark calls data below the highest sequence number; the name depends on the ACKs and on
the time since then. At the first link nothing is out of order, so all of these are repetitions."""

SCENARIO = """
duration = "6 s"
measure_from = "0 s"
[links.b]
rate = "10 Mbit/s"
delay = "10 ms"
queue = {{ kind = "{queue}", limit = "{limit} packets" }}
[flows.tcp]
count = 3
path = ["b"]
congestion = "{control}"
rtt = {{ from = "20 ms", to = "60 ms" }}
{more}
"""

CASES: dict[str, dict[str, str | int]] = {
    "reno": {"control": "reno"},
    "cubic": {"control": "cubic"},
    "bbr": {"control": "bbr3"},
    "short buffer": {"control": "reno", "limit": 3},
    "head drop": {"control": "reno", "queue": "drop_head"},
    "codel": {"control": "cubic", "queue": "codel", "limit": 200},
    "marks": {"control": "cubic", "queue": "codel", "limit": 200, "more": 'ecn = "classic"'},
    "fair": {"control": "cubic", "queue": "fq_codel", "limit": 100},
    "host of ns-2": {"control": "reno", "more": 'host = "ns2"'},
    "acks in a queue": {"control": "reno", "more": 'reverse_path = ["back"]'},
}
BACK = """
[links.back]
rate = "1 Mbit/s"
delay = "10 ms"
queue = { kind = "drop_tail", limit = "20 packets" }
"""


def scenario(tmp_path: Path, name: str) -> Path:
    case: dict[str, str | int] = {"queue": "drop_tail", "limit": 20, "more": "", **CASES[name]}
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO.format(**case) + (BACK if "back" in str(case["more"]) else ""))
    return path


def shown(capture: Path, *fields: str) -> list[list[str]]:
    """The fields of all packets as tshark reads them; empty where a packet has none."""
    asked = [part for field in fields for part in ("-e", field)]
    command = [str(TSHARK), "-r", str(capture), "-T", "fields", *asked]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in ended.stdout.splitlines()]


@needs_tshark
@pytest.mark.parametrize("name", CASES)
def test_wireshark_finds_the_retransmissions_drops_and_marks_of_the_run(
    name: str, tailroom: Tailroom, tmp_path: Path
) -> None:
    file = tmp_path / "run.pcapng"
    ended = tailroom("run", scenario(tmp_path, name), "--pcap", file, "--at", "links.b", "--json")
    assert (ended.status, ended.errors) == (0, "")
    summary = json.loads(ended.output)
    link = summary["links"]["b"]
    packets = shown(file, "frame.comment", "_ws.malformed", "ip.checksum.status", *REPEATED)
    assert len(packets) == link["arrivals_packets"] > 2_000
    # What is sent in the last instant arrives after the end.
    sent = sum(flow["retransmissions"] for flow in summary["flows"])
    assert 0 <= sent - sum(any(repeated) for _, _, _, *repeated in packets) <= 3
    drops = sum(comment.startswith("dropped") for comment, *_ in packets)
    marks = sum(comment.startswith("marked") for comment, *_ in packets)
    assert (drops, marks) == (link["drops_packets"], link["marks_packets"])
    assert sent > 0 or marks > 0
    assert not any(malformed or checksum == "0" for _, malformed, checksum, *_ in packets)


def duplicate_acks(log: list[dict[str, Any]]) -> int:
    """ACKs that ask for the same packet as the ACK of their connection before."""
    last: dict[int, int] = {}
    count = 0
    for row in log:
        if row["content"] == "ack":
            count += last.get(row["connection"]) == row["sequence"]
            last[row["connection"]] = row["sequence"]
    return count


@needs_tshark
@pytest.mark.parametrize("name", CASES)
def test_with_the_acks_in_the_capture_wireshark_counts_the_same(
    name: str, tailroom: Tailroom, tmp_path: Path
) -> None:
    file, table = tmp_path / "run.pcapng", tmp_path / "run.parquet"
    path = scenario(tmp_path, name)
    if name != "acks in a queue":
        text = path.read_text() + 'reverse_path = ["back"]\n' + BACK.replace("1 Mbit", "20 Mbit")
        path.write_text(text)
    outputs = ("--pcap", file, "--packets", table, "--at", "links.b", "--at", "links.back")
    ended = tailroom("run", path, *outputs, "--json")
    assert (ended.status, ended.errors) == (0, "")
    summary = json.loads(ended.output)
    log = sorted(pq.read_table(table).to_pylist(), key=lambda row: row["time_s"])
    doubts = ("ack_lost_segment", "lost_segment", "window_full", "zero_window")
    packets = shown(
        file,
        *("frame.interface_name", "frame.comment", "ip.dsfield.ecn", "_ws.malformed"),
        *(f"tcp.analysis.{doubt}" for doubt in doubts),
        *("tcp.analysis.duplicate_ack", *REPEATED),
    )
    assert len(packets) == len(log) > 3_000
    for row, packet in zip(log, packets, strict=True):
        link, comment, ecn, *doubted = packet[:-5]
        assert (link, bool(comment)) == (row["link"], row["fate"] != "accepted")
        assert int(ecn, 0) == {"not_ect": 0, "ect1": 1, "ect0": 2, "ce": 3}[row["ecn"]]
        assert not any(doubted), packet
    sent = sum(flow["retransmissions"] for flow in summary["flows"])
    assert 0 <= sent - sum(any(packet[-4:]) for packet in packets) <= 3
    assert sum(bool(packet[-5]) for packet in packets) == duplicate_acks(log)
    at_link = [packet[1] for packet in packets if packet[0] == "b"]
    drops = sum(comment.startswith("dropped") for comment in at_link)
    marks = sum(comment.startswith("marked") for comment in at_link)
    link = summary["links"]["b"]
    assert (drops, marks) == (link["drops_packets"], link["marks_packets"])


@needs_tshark
def test_wireshark_shows_ends_sizes_and_the_link(tailroom: Tailroom, tmp_path: Path) -> None:
    file, table = tmp_path / "run.pcapng", tmp_path / "run.parquet"
    path = scenario(tmp_path, "acks in a queue")
    chosen = ("--at", "links.back", "--from", "2 s", "--to", "3 s")
    ended = tailroom("run", path, "--pcap", file, "--packets", table, *chosen)
    assert (ended.status, ended.errors) == (0, "")
    log = pq.read_table(table).to_pylist()
    rows = shown(
        file,
        *("frame.interface_name", "frame.time_epoch", "frame.len", "tcp.len", "ip.dst"),
    )
    assert len(rows) == len(log) > 100
    for (link, time, size, payload, receiver), row in zip(rows, log, strict=True):
        # 12 of 52 bytes are timestamps; SACK blocks are more.
        blocks = len(row["sack_blocks"][:3])
        assert (link, int(payload)) == ("back", 0)
        assert int(size) == 52 + (4 + 8 * blocks if blocks else 0) == row["bytes"]
        assert abs(float(time) - row["time_s"]) < 1e-9
        assert 2 <= row["time_s"] < 3
        assert receiver == f"10.0.0.{row['connection'] + 1}"
        assert row["content"] == "ack"


@pytest.mark.parametrize("name", ["reno", "host of ns-2", "short buffer"])
def test_an_import_of_the_capture_gives_the_flows_back(
    name: str, tailroom: Tailroom, tmp_path: Path
) -> None:
    file = tmp_path / "run.pcapng"
    span = {"links.b.arrival_log": {"from": "0 s", "to": "6 s"}}
    result = tr.run(scenario(tmp_path, name), set=span)
    result.save_pcap(file)
    ended = tailroom("import", file)
    assert ended.status == 0
    rows = list(csv.DictReader(io.StringIO(ended.output)))
    assert len(rows) == 3
    assert result.packets is not None
    header_bytes = 40 if name == "host of ns-2" else 52
    log = result.packets.to_pandas()
    for row in rows:
        connection = int(row["flow"].split(":")[0].split(".")[-1]) - 1
        own = log[log.connection == connection]
        payload = int(own.bytes.max()) - header_bytes
        assert int(row["bytes"]) == own.sequence.nunique() * payload


def test_chosen_flows_and_every_nth_packet_are_written(tailroom: Tailroom, tmp_path: Path) -> None:
    table = tmp_path / "run.parquet"
    chosen = ("--at", "links.b", "--only-flows", "tcp.1", "--every", "10")
    ended = tailroom("run", scenario(tmp_path, "reno"), "--packets", table, *chosen)
    assert (ended.status, ended.errors) == (0, "")
    result = tr.run(
        scenario(tmp_path, "reno"), set={"links.b.arrival_log": {"from": "0 s", "to": "6 s"}}
    )
    assert result.packets is not None
    log = result.packets.to_pandas()
    own = log[log.flow == "tcp.1"].iloc[::10]
    assert pq.read_table(table)["sequence"].to_pylist() == own.sequence.tolist()


def test_a_record_of_packets_changes_no_statistic(tmp_path: Path) -> None:
    path = scenario(tmp_path, "acks in a queue")
    logs = {f"links.{link}.arrival_log": {"from": "0 s", "to": "6 s"} for link in ("b", "back")}
    plain, logged = tr.run(path), tr.run(path, set=logs)
    assert (plain.links, plain.flows) == (logged.links, logged.flows)


def test_wrong_requests_for_packets_are_refused(refused: Printed, tmp_path: Path) -> None:
    scenario(tmp_path, "reno")
    refused("packets")
