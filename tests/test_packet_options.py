"""Options in captured headers: what tshark reads is what the RFCs derive from the packets.

The capture has the data that reach the receivers and the ACKs that leave them. From the data, the
test derives what RFC 2018, 2883 and 7323 let the ACKs carry; it shares no code with the engine.
"""

import bisect
import csv
import io
import json
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

import pyarrow.parquet as pq
import pytest

from tests.conftest import Tailroom

TSHARK = shutil.which("tshark")
pytestmark = pytest.mark.skipif(not TSHARK, reason="tshark is not installed")

SCENARIO = """
duration = "6 s"
measure_from = "0 s"
[links.b]
rate = "10 Mbit/s"
delay = "10 ms"
queue = {{ kind = "drop_tail", limit = "{limit} packets" }}
[links.last]
rate = "10 Gbit/s"
delay = "0 ms"
queue = {{ kind = "drop_tail", limit = "20 packets" }}
[links.back]
rate = "{back}"
delay = "10 ms"
queue = {{ kind = "drop_tail", limit = "20 packets" }}
{loss}
[flows.tcp]
count = 3
path = ["b", "last"]
reverse_path = ["back"]
congestion = "reno"
rtt = {{ from = "20 ms", to = "60 ms" }}
sender_side = 1.0
{more}
"""
"""Of the links only `b` has a queue. All private propagation is at the senders, so that a packet
is at its receiver when `last` has sent it, and an ACK leaves when it arrives at `back`."""

HEADER, PAYLOAD = 52, 1448
"""Of a packet of 1500 bytes, in the run; that of the handshake has no payload."""
ROUNDING_S = 2.5e-9
"""Two times of the capture, in ns; data are 1.2 ms apart."""

NO_RACK = 'recovery = "sack"\nsack_compression = false'
CASES: dict[str, dict[str, str | int]] = {
    "linux": {},
    "an ack per packet": {"more": f"{NO_RACK}\ndelayed_ack = false"},
    "delayed acks": {"more": f"{NO_RACK}\nquick_acks = 0"},
    "acks wait and are dropped": {"back": "150 kbit/s", "limit": 60},
    "probes arrive twice": {
        "loss": 'loss = { kind = "bernoulli", probability = 0.5 }',
        "more": 'source = { kind = "objects", size = "5 kB", arrivals_per_second = 5 }',
    },
}


def scenario(tmp_path: Path, **case: str | int) -> Path:
    path = tmp_path / "scenario.toml"
    every = {"limit": 20, "back": "20 Mbit/s", "more": "", "loss": "", **case}
    path.write_text(SCENARIO.format(**every))
    return path


def shown(capture: Path, *fields: str) -> Iterator[list[str]]:
    """The fields of all packets as tshark reads them, with the numbers of the headers."""
    asked = [part for field in fields for part in ("-e", field)]
    raw = ["-o", "tcp.relative_sequence_numbers:FALSE"]
    command = [str(TSHARK), "-r", str(capture), *raw, "-T", "fields", *asked]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    return (line.split("\t") for line in ended.stdout.splitlines())


@dataclass
class Segment:
    """A packet of data or an ACK in the capture."""

    time_s: float
    connection: str
    start: int
    end: int
    ack: int
    stamp: int | None
    echo: int | None
    blocks: list[tuple[int, int]]
    is_data: bool

    @property
    def arrival_s(self) -> float:
        """When a packet of data has crossed the last link."""
        return self.time_s + (HEADER + self.end - self.start) * 8 / 10e9


FIELDS = (
    *("frame.time_epoch", "ip.src", "ip.dst", "tcp.seq", "tcp.len", "tcp.ack"),
    *("tcp.options.timestamp.tsval", "tcp.options.timestamp.tsecr"),
    *("tcp.options.sack_le", "tcp.options.sack_re", "_ws.malformed"),
)


def segments(capture: Path) -> list[Segment]:
    read = []
    for row in shown(capture, *FIELDS):
        time, source, target, start, length, ack, stamp, echo, left, right, malformed = row
        assert not malformed
        is_data = target == "198.18.0.1"
        edges = [[int(edge) for edge in text.split(",") if edge] for text in (left, right)]
        read.append(
            Segment(
                time_s=float(time),
                connection=source if is_data else target,
                start=int(start),
                end=int(start) + int(length),
                ack=int(ack),
                stamp=int(stamp) if stamp else None,
                echo=int(echo) if echo else None,
                blocks=list(zip(*edges, strict=True)),
                is_data=is_data,
            )
        )
    return read


@dataclass
class Receiver:
    """The receiver of RFC 2018 with every packet that it has had, in the order of arrival."""

    came: dict[int, int] = field(default_factory=dict)
    """By first byte, the number of the latest arrival of the packet."""
    arrivals: int = 0
    twice: int | None = None
    """A packet that has arrived again since the last ACK (RFC 2883)."""
    last_ack: int = 1
    echo: int = 0

    def take(self, packet: Segment) -> None:
        self.arrivals += 1
        # RFC 7323 sec. 5.3, R1; Linux lets the clock be a tick behind.
        if packet.stamp is not None and packet.stamp + 1 < self.echo:
            self.twice = packet.start if packet.start < self.expected() else self.twice
            return
        if packet.end > packet.start:
            self.twice = packet.start if packet.start in self.came else self.twice
            self.came[packet.start] = self.arrivals
        # RFC 7323 sec. 5.3, R2 and R3: of the packets in the window that begin at or below the last
        # ACK, the newest.
        if packet.start <= self.last_ack <= max(packet.end, 1) and packet.stamp is not None:
            self.echo = max(self.echo, packet.stamp)

    def expected(self) -> int:
        """The first byte that has not arrived."""
        byte = self.last_ack
        while byte in self.came:
            byte += PAYLOAD
        return byte

    def islands(self) -> list[tuple[int, int]]:
        """What has arrived behind the gap in whole pieces; that of the latest arrival first."""
        beyond = sorted(start for start in self.came if start > self.expected())
        pieces: list[tuple[int, list[int]]] = []
        for start in beyond:
            if pieces and pieces[-1][1][-1] + PAYLOAD == start:
                pieces[-1][1].append(start)
            else:
                pieces.append((start, [start]))
        latest = sorted(pieces, key=lambda piece: -max(self.came[start] for start in piece[1]))
        return [(first, starts[-1] + PAYLOAD) for first, starts in latest]


def receivers_and_acks(read: list[Segment]) -> Iterator[tuple[Receiver, Segment]]:
    """Each ACK, with its receiver at the moment at which it leaves."""
    receivers: dict[str, Receiver] = defaultdict(Receiver)
    data = sorted((one for one in read if one.is_data), key=lambda one: one.time_s)
    arrived = 0
    for ack in sorted((one for one in read if not one.is_data), key=lambda one: one.time_s):
        while arrived < len(data) and data[arrived].arrival_s <= ack.time_s + ROUNDING_S:
            receivers[data[arrived].connection].take(data[arrived])
            arrived += 1
        receiver = receivers[ack.connection]
        yield receiver, ack
        receiver.last_ack, receiver.twice = ack.ack, None


@pytest.mark.parametrize("name", CASES)
def test_acks_carry_the_blocks_and_echoes_that_the_rfcs_derive_from_the_data(
    name: str, tailroom: Tailroom, tmp_path: Path
) -> None:
    file = tmp_path / "run.pcapng"
    ends = ("--at", "links.last", "--at", "links.back")
    ended = tailroom("run", scenario(tmp_path, **CASES[name]), "--pcap", file, *ends)
    assert (ended.status, ended.errors) == (0, "")
    has_d_sack = NO_RACK not in str(CASES[name].get("more"))
    numbers: dict[int, int] = defaultdict(int)
    twice = forgotten = 0
    for receiver, ack in receivers_and_acks(segments(file)):
        assert ack.ack == receiver.expected()
        again = [(receiver.twice, receiver.twice + PAYLOAD)] if receiver.twice else []
        blocks = [*(again if has_d_sack else []), *receiver.islands()][:3]
        # A receiver remembers three pieces; if one is acknowledged, it does not tell the fourth.
        assert ack.blocks == blocks[: len(ack.blocks)], ack
        forgotten += ack.blocks != blocks
        assert ack.echo == receiver.echo, ack
        assert ack.stamp == int(ack.time_s * 1e3 + 1e-6)
        numbers[len(blocks)] += 1
        twice += bool(again)
    assert forgotten <= 0.01 * sum(numbers.values())
    if name == "probes arrive twice":
        assert twice > 10
    else:
        assert numbers[0] > 500
        assert all(numbers[count] > 20 for count in (1, 2, 3))


def test_data_echo_the_last_ack_that_had_reached_the_sender(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    """An ACK reaches its sender 16 us (40 bytes), 10 ms, and half of the private delays later."""
    file, table = tmp_path / "run.pcapng", tmp_path / "run.parquet"
    ends = ("--at", "links.b", "--at", "links.back")
    ended = tailroom("run", scenario(tmp_path), "--pcap", file, "--packets", table, *ends)
    assert (ended.status, ended.errors) == (0, "")
    log = sorted(pq.read_table(table).to_pylist(), key=lambda row: row["time_s"])
    heard: dict[str, list[tuple[float, int]]] = defaultdict(list)
    for row in log:
        if row["content"] == "ack":
            private_s = {"tcp.0": 0.0, "tcp.1": 0.01, "tcp.2": 0.02}[row["flow"]]
            arrival = row["time_s"] + 16e-6 + 0.01 + private_s
            heard[row["flow"]].append((arrival, int(row["time_s"] * 1e3)))
    read = segments(file)
    checked = 0
    for row, packet in zip(log, read, strict=True):
        assert packet.is_data == (row["content"] != "ack")
        assert (packet.stamp, packet.echo) == (row["timestamp_ms"], row["echo_ms"])
        if packet.is_data:
            before = bisect.bisect_right(heard[row["flow"]], (row["sent_s"] + 1e-8, 0))
            assert packet.echo == (heard[row["flow"]][before - 1][1] if before else 0)
            assert packet.stamp == int(row["sent_s"] * 1e3 + 1e-6)
            checked += before > 0
    assert checked > 3_000


def test_tshark_measures_the_round_trips_of_the_run(tailroom: Tailroom, tmp_path: Path) -> None:
    """Between the links of the capture lie 10 ms and half of the private delays on either side.

    Bound, from before the first run: 1 %. A sender has a sample per ACK, as tshark does; the
    random delay of packets before they leave, at most a packet's time, is in the sender's alone.
    """
    file = tmp_path / "run.pcapng"
    ends = ("--at", "links.b", "--at", "links.back", "--json")
    path = scenario(tmp_path, limit=200, more="max_window = 40")
    ended = tailroom("run", path, "--pcap", file, *ends)
    assert (ended.status, ended.errors) == (0, "")
    flows = json.loads(ended.output)["flows"]
    assert not any(flow["retransmissions"] for flow in flows)
    samples: dict[str, list[float]] = defaultdict(list)
    echoed: dict[str, list[float]] = defaultdict(list)
    fields = ("ip.dst", "tcp.analysis.ack_rtt", "frame.time_epoch", "tcp.options.timestamp.tsecr")
    for sender, rtt, time, echo in shown(file, *fields):
        if rtt:
            samples[sender].append(float(rtt))
            echoed[sender].append(float(time) - int(echo) / 1e3)
    for number, flow in enumerate(flows):
        sender, private_s = f"10.0.0.{number + 1}", 0.02 * number
        assert len(samples[sender]) > 500
        outside_s = 0.01 + 16e-6 + private_s
        assert fmean(samples[sender]) + outside_s == pytest.approx(flow["rtt_s_mean"], rel=0.01)
        # A timestamp is that of the sender, up to a millisecond before; on average half of one.
        to_link_s = 0.01 + 16e-6 + private_s / 2
        by_stamps = fmean(echoed[sender]) + to_link_s - 0.5e-3
        assert by_stamps == pytest.approx(flow["rtt_s_mean"], rel=0.01)


@pytest.mark.parametrize("recovery", ["rack", "newreno"])
def test_a_handshake_offers_what_the_connection_uses(
    recovery: str, tailroom: Tailroom, tmp_path: Path
) -> None:
    file = tmp_path / "run.pcapng"
    sack = 'recovery = "newreno"\nprr = false\nsack_compression = false\nundo = false\nfrto = false'
    more = "handshake = true\n" + (sack if recovery == "newreno" else "")
    ends = ("--at", "links.b", "--at", "links.back")
    ended = tailroom("run", scenario(tmp_path, more=more), "--pcap", file, *ends)
    assert (ended.status, ended.errors) == (0, "")
    fields = (
        *("tcp.flags.syn", "tcp.flags.ack", "tcp.options.mss_val", "tcp.options.sack_perm"),
        *("tcp.options.wscale.shift", "tcp.options.timestamp.tsval", "tcp.options.sack_le"),
    )
    read = [[field in ("1", "True") for field in row[:2]] + row[2:] for row in shown(file, *fields)]
    opening = [row for row in read if row[0]]
    has_sack = recovery == "rack"
    assert [row[1] for row in opening].count(False) == 3
    assert [row[1] for row in opening].count(True) == (3 if has_sack else 0)
    for _, _, size, permitted, shift, stamp, blocks in opening:
        assert (size, shift, blocks) == ("1460", "14", "")
        assert bool(permitted) == has_sack
        assert stamp
    assert any(row[-1] for row in read) == has_sack
    assert sum(bool(row[1]) for row in read) == len(read) - 3


def test_the_last_packet_and_its_ack_end_where_the_data_end(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    """50 kB are 34 packets of 1,448 bytes and one of 768."""
    file = tmp_path / "run.pcapng"
    path = scenario(tmp_path, more='source = { kind = "bulk", bytes = "50 kB" }')
    ended = tailroom("run", path, "--pcap", file, "--at", "links.b", "--at", "links.back")
    assert (ended.status, ended.errors) == (0, "")
    read = segments(file)
    assert len({one.connection for one in read}) == 3
    for connection in {one.connection for one in read}:
        own = [one for one in read if one.connection == connection]
        assert max(one.end for one in own if one.is_data) == 50_001
        assert max(one.ack for one in own) == 50_001
    unseen = [row for row in shown(file, "tcp.analysis.ack_lost_segment") if row[0]]
    assert not unseen


def test_a_fast_link_of_acks_is_recorded_as_long_as_their_data_are_few(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    """1 Gbit/s would send 19 million ACKs, more than a file holds; 5,000 packets ask for them."""
    table = tmp_path / "run.parquet"
    path = scenario(tmp_path, back="1 Gbit/s")
    ended = tailroom("run", path, "--packets", table, "--at", "links.back")
    assert (ended.status, ended.errors) == (0, "")
    assert 1_000 < pq.read_table(table).num_rows < 5_000


def test_an_import_of_both_directions_gives_the_flows_and_their_round_trips_back(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    """Bound of the round trips, from before the first run: 5 %, for the packets of the others."""
    file = tmp_path / "run.pcapng"
    ends = ("--at", "links.b", "--at", "links.back")
    path = scenario(tmp_path, more="handshake = true")
    assert tailroom("run", path, "--pcap", file, *ends).status == 0
    ended = tailroom("import", file)
    assert ended.status == 0
    rows = list(csv.DictReader(io.StringIO(ended.output)))
    read = segments(file)
    assert len(rows) == 3
    for row in rows:
        sender = row["flow"].split(":")[0]
        number = int(sender.rpartition(".")[2])
        own = {one.start for one in read if one.connection == sender and one.end > one.start}
        assert int(row["bytes"]) == len(own) * PAYLOAD
        assert float(row["rtt_s"]) == pytest.approx(0.02 * number, rel=0.05)
