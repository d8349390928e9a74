"""`tailroom import`: what a capture shows is what was sent, and damage is told."""

import csv
import io
import os
import random
import re
import select
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import tailroom as tr
from tests.conftest import Tailroom
from tests.hand_made import (
    ACK,
    COOKED,
    COOKED_2,
    ETHERNET,
    FIN,
    LOOP,
    NULL,
    RAW_IP,
    RST,
    SYN,
    Segment,
    block,
    enhanced,
    interface,
    pcap,
    section,
)

CAPTURES = Path(__file__).parent / "captures"
LOOPBACK = CAPTURES / "loopback.pcap"

Rows = list[dict[str, str]]
Importer = Callable[..., Rows]


def rows_of(text: str) -> Rows:
    return list(csv.DictReader(io.StringIO(text)))


def without_directions(errors: str) -> str:
    """What an import says in addition to how many flows go each way."""
    return re.sub(r"note: flows go both ways: .*\n", "", errors)


@pytest.fixture
def imported(tailroom: Tailroom, tmp_path: Path) -> Importer:
    """Imports the bytes of a capture, which must be whole, and gives the rows of the list."""

    def call(capture: bytes, *arguments: str) -> Rows:
        path = tmp_path / "capture"
        path.write_bytes(capture)
        ended = tailroom("import", path, *arguments)
        assert (ended.status, without_directions(ended.errors)) == (0, "")
        return rows_of(ended.output)

    return call


def flow_bytes(rows: Rows) -> list[tuple[str, str, int]]:
    return [(row["flow"], row["direction"], int(row["bytes"])) for row in rows]


# Captures of real programs.


def test_a_capture_of_curl_and_http_server_imports_to_what_curl_says(tailroom: Tailroom) -> None:
    # loopback.csv is curl's own account of what it sent and received; the capture kept 82 bytes of
    # each packet (captures/record.sh).
    ended = tailroom("import", LOOPBACK)
    assert (ended.status, without_directions(ended.errors)) == (0, "")
    rows = rows_of(ended.output)
    counted: dict[int, dict[str, int]] = {}
    for row in rows:
        port = int(row["flow"].split(" > ")[0].rpartition(":")[2])
        counted.setdefault(port, {})[row["direction"]] = int(row["bytes"])
    transfers = rows_of((CAPTURES / "loopback.csv").read_text(encoding="utf-8"))
    assert counted == {
        int(transfer["client_port"]): {
            "forward": int(transfer["sent_bytes"]),
            "reverse": int(transfer["received_bytes"]),
        }
        for transfer in transfers
    }
    assert sum("[::1]" in row["flow"] for row in rows) == 2
    starts = [float(row["start_s"]) for row in rows]
    assert starts == sorted(starts)
    assert all(0 < float(row["rtt_s"]) < 0.001 for row in rows), "SYN to ACK as tcpdump prints it"


class CountingHandler(BaseHTTPRequestHandler):
    """Answers GET /N with a body of N bytes; the log is what it wrote, by client port."""

    written: dict[int, int]

    def do_GET(self) -> None:
        answer = b"HTTP/1.0 200 OK\r\n\r\n" + bytes(int(self.path[1:]))
        self.wfile.write(answer)
        self.written[self.client_address[1]] = len(answer)

    def log_message(self, *arguments: object) -> None:
        pass


@contextmanager
def captured_loopback(path: Path) -> Iterator[None]:
    """Captures the loopback interface as tcpdump does, with a socket of Linux's AF_PACKET."""
    if not hasattr(socket, "AF_PACKET"):
        pytest.skip("capturing needs Linux's packet sockets")
    try:
        wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        wire.bind(("lo", 0))
    except PermissionError:
        pytest.skip("capturing needs the right to open a packet socket (root)")
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    done = threading.Event()
    packets: list[tuple[float, bytes]] = []

    def capture() -> None:
        while not done.is_set() or select.select([wire], [], [], 0.2)[0]:
            if select.select([wire], [], [], 0.1)[0]:
                frame, (_, _, kind, *_) = wire.recvfrom(1 << 17)
                if kind != socket.PACKET_OUTGOING:  # loopback packets pass twice
                    packets.append((len(packets) * 1e-6, frame))

    thread = threading.Thread(target=capture)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        wire.close()
    path.write_bytes(pcap(packets))


def test_what_is_captured_here_imports_to_what_was_sent(tmp_path: Path) -> None:
    CountingHandler.written = {}
    sent: dict[int, int] = {}
    server = HTTPServer(("127.0.0.1", 0), CountingHandler)
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    serving.start()
    with captured_loopback(tmp_path / "capture.pcap"):
        for size in (1, 3_000, 500_000):
            with socket.create_connection(("127.0.0.1", server.server_port)) as client:
                request = f"GET /{size} HTTP/1.0\r\n\r\n".encode()
                client.sendall(request)
                sent[client.getsockname()[1]] = len(request)
                while client.recv(1 << 16):
                    pass
        server.shutdown()
        serving.join()
        server.server_close()
    flows = tr.import_capture(tmp_path / "capture.pcap").flows.to_pylist()
    counted = {
        (int(flow["flow"].split(" > ")[0].rpartition(":")[2]), flow["direction"]): flow["bytes"]
        for flow in flows
        if flow["flow"].endswith(f":{server.server_port}")
    }
    assert counted == {(port, "forward"): size for port, size in sent.items()} | {
        (port, "reverse"): size for port, size in CountingHandler.written.items()
    }


# Packets made by hand.

HANDSHAKE = [
    (10.0, Segment(sequence=99, flags=SYN)),
    (10.03, Segment(sequence=499).reply(acknowledgment=100, flags=SYN | ACK)),
    (10.05, Segment(sequence=100, acknowledgment=500)),
]
"""Both streams begin at 100 and 500; the opener's capture point is 30 ms and 20 ms away."""

CLIENT = Segment(sequence=100, acknowledgment=500)
KEY = "10.0.0.1:1000 > 10.0.0.2:80"


def frames(segments: list[tuple[float, Segment]]) -> list[tuple[float, bytes]]:
    return [(time_s, segment.ethernet()) for time_s, segment in segments]


def request(size: int = 1000) -> list[tuple[float, Segment]]:
    """A handshake and one segment of data."""
    return [*HANDSHAKE, (10.5, replace(CLIENT, payload=bytes(size)))]


@pytest.mark.parametrize("order", ["<", ">"], ids=["little", "big"])
@pytest.mark.parametrize("nanoseconds", [False, True], ids=["microseconds", "nanoseconds"])
def test_every_pcap_variant(imported: Importer, order: str, nanoseconds: bool) -> None:
    [row] = imported(pcap(frames(request()), order=order, nanoseconds=nanoseconds))
    assert row == {
        "start_s": "0.500000000",
        "bytes": "1000",
        "rate_bps": "",
        "rtt_s": "0.050000000",
        "flow": KEY,
        "direction": "forward",
    }


@pytest.mark.parametrize("order", ["<", ">"], ids=["little", "big"])
def test_pcapng_with_interfaces_of_several_resolutions(imported: Importer, order: str) -> None:
    # Interface 0 counts microseconds, 1 nanoseconds from 10 s on, 2 in 2^-20 s, as raw IP.
    packets = [segment for _, segment in request()]
    capture = (
        section(order)
        + interface(order=order)
        + interface(resolution=9, offset_s=10, order=order)
        + interface(RAW_IP, resolution=0x80 | 20, order=order)
        + enhanced(10_000_000, packets[0].ethernet(), order=order)
        + enhanced(30_000_000, packets[1].ethernet(), of=1, order=order)
        + enhanced(50_000_007, packets[2].ethernet(), of=1, order=order)
        + block(5, bytes(12), order)  # statistics, which are no packet
        + enhanced(21 << 19, packets[3].ip(), of=2, order=order)
    )
    [row] = imported(capture)
    assert (row["start_s"], row["rtt_s"]) == ("0.500000000", "0.050000007")


def test_a_section_of_the_other_byte_order_may_follow(imported: Importer) -> None:
    packets = frames(request())
    capture = section("<") + interface()
    capture += b"".join(enhanced(round(1e6 * time), packet) for time, packet in packets[:2])
    capture += section(">") + interface(resolution=3, order=">")
    for time_s, packet in packets[2:]:
        capture += enhanced(round(1e3 * time_s), packet, order=">")
    [row] = imported(capture)
    assert (row["bytes"], row["start_s"], row["rtt_s"]) == ("1000", "0.500000000", "0.050000000")


LINK_LAYERS: dict[str, tuple[int, Callable[[Segment], bytes]]] = {
    "VLAN": (ETHERNET, lambda segment: segment.ethernet(0x8100)),
    "VLAN in VLAN": (ETHERNET, lambda segment: segment.ethernet(0x88A8, 0x8100)),
    "Ethernet padding": (ETHERNET, lambda segment: segment.ethernet().ljust(60, b"\xff")),
    "raw IP": (RAW_IP, Segment.ip),
    "BSD loopback": (NULL, lambda segment: struct.pack("<I", 2) + segment.ip()),
    "OpenBSD loopback": (LOOP, lambda segment: struct.pack(">I", 2) + segment.ip()),
    "Linux cooked": (COOKED, lambda segment: bytes(14) + b"\x08\x00" + segment.ip()),
    "Linux cooked, version 2": (COOKED_2, lambda segment: b"\x08\x00" + bytes(18) + segment.ip()),
}


@pytest.mark.parametrize("name", LINK_LAYERS)
def test_every_link_layer(imported: Importer, name: str) -> None:
    link_type, wrap = LINK_LAYERS[name]
    packets = [(time_s, wrap(segment)) for time_s, segment in request(3)]
    [row] = imported(pcap(packets, link_type=link_type))
    assert (row["flow"], row["bytes"], row["rtt_s"]) == (KEY, "3", "0.050000000")


@pytest.mark.parametrize("extension", [b"", bytes([6, 0, 1, 4, 0, 0, 0, 0])], ids=["", "options"])
def test_ipv6(imported: Importer, extension: bytes) -> None:
    ends = {"source": ("2001:db8::1", 1000), "destination": ("2001:db8::2", 80)}
    segment = Segment(**ends, payload=bytes(321))  # type: ignore[arg-type]
    [row] = imported(pcap([(0.0, segment.ethernet(extension=extension))]))
    assert (row["flow"], row["bytes"]) == ("[2001:db8::1]:1000 > [2001:db8::2]:80", "321")


@pytest.mark.parametrize("snaplen", [48, 54, 60, 100])
def test_bytes_do_not_depend_on_what_the_capture_kept(imported: Importer, snaplen: int) -> None:
    # 48 bytes end after TCP's flags: 14 of Ethernet, 20 of IPv4, 14 of TCP.
    [row] = imported(pcap(frames(request(1400)), snaplen=snaplen))
    assert row["bytes"] == "1400"


def test_a_length_that_the_network_card_fills_in_is_taken_from_the_wire(imported: Importer) -> None:
    packet = replace(CLIENT, payload=bytes(100_000)).ethernet(total_length=0)
    [row] = imported(pcap([(0.0, packet)]))
    assert row["bytes"] == "100000"


def data(*pieces: tuple[int, int]) -> list[tuple[float, Segment]]:
    """Segments of the client, 1 ms apart: offset in the stream and length of each."""
    return [
        (11 + index / 1000, replace(CLIENT, sequence=100 + offset, payload=bytes(length)))
        for index, (offset, length) in enumerate(pieces)
    ]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([(0, 100), (0, 100), (100, 50)], 150),
        ([(0, 100), (50, 100)], 150),
        ([(200, 100), (0, 100), (100, 100)], 300),
        ([(0, 100), (200, 100), (100, 300)], 400),
        ([(0, 100), (99, 1), (99, 0)], 100),
    ],
    ids=["repeated", "overlapping", "out of order", "around a piece", "keep-alive"],
)
def test_every_byte_counts_once(
    imported: Importer, pieces: list[tuple[int, int]], expected: int
) -> None:
    [row] = imported(pcap(frames([*HANDSHAKE, *data(*pieces)])))
    assert (row["bytes"], row["start_s"]) == (str(expected), "1.000000000")


def test_sequence_numbers_wrap_around(imported: Importer) -> None:
    first = 2**32 - 1500
    segments = [(0.0, Segment(sequence=first - 1, flags=SYN))]
    segments += [
        (index / 1000, Segment(sequence=first + offset, payload=bytes(1000)))
        for index, offset in enumerate([1000, 0, 2000, 1000, 3000])
    ]
    [row] = imported(pcap(frames(segments)))
    assert row["bytes"] == "4000"


@pytest.mark.parametrize("step", [1_000_000_000, 2_000_000_000])
def test_an_ack_confirms_the_packet_behind_a_gap_larger_than_any_window(
    tailroom: Tailroom, tmp_path: Path, step: int
) -> None:
    """The capture has a packet of 1000 bytes every `step` bytes, and its ACK."""
    path = tmp_path / "gaps.pcap"
    segments = [*HANDSHAKE]
    for index, offset in enumerate(range(0, 6_000_000_001, step)):
        first = (100 + offset) % 2**32
        last = (first + 1000) % 2**32
        segments += [
            (11.0 + index, replace(CLIENT, sequence=first, payload=bytes(1000))),
            (11.5 + index, CLIENT.reply(sequence=500, acknowledgment=last)),
        ]
    path.write_bytes(pcap(frames(segments)))
    ended = tailroom("import", path)
    assert [row["bytes"] for row in rows_of(ended.output)] == ["6000001000"]
    assert "skipped" not in ended.errors


def test_bytes_that_the_capture_lost_count_once_acknowledged(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    path = tmp_path / "lossy.pcap"
    answer = (11.5, CLIENT.reply(sequence=500, acknowledgment=1100))
    path.write_bytes(pcap(frames([*HANDSHAKE, *data((0, 400), (700, 300)), answer])))
    ended = tailroom("import", path)
    assert ended.status == 0
    assert [row["bytes"] for row in rows_of(ended.output)] == ["1000"]
    assert ended.errors == (
        "note: 300 bytes were acknowledged but are not in the capture; the flows include them\n"
    )


def test_each_direction_that_carried_data_is_a_row(imported: Importer) -> None:
    answer = CLIENT.reply(sequence=500, acknowledgment=1100, payload=bytes(7000))
    rows = imported(pcap(frames([*request(), (10.6, answer)])))
    assert flow_bytes(rows) == [(KEY, "forward", 1000), (KEY, "reverse", 7000)]
    assert [row["start_s"] for row in rows] == ["0.500000000", "0.600000000"]


PORT_REUSE: dict[str, tuple[list[tuple[float, Segment]], int]] = {
    "after FIN": ([(12.0, replace(CLIENT, sequence=1100, flags=FIN | ACK))], 99),
    "after RST": ([(12.0, replace(CLIENT, sequence=1100, flags=RST))], 99),
    "with a new initial sequence number": ([], 70_000),
}


@pytest.mark.parametrize("how", PORT_REUSE)
def test_port_reuse_begins_a_new_flow(imported: Importer, how: str) -> None:
    ending, number = PORT_REUSE[how]
    again = [
        (13.0, Segment(sequence=number, flags=SYN)),
        (13.1, Segment(sequence=number + 1, payload=bytes(250))),
    ]
    rows = imported(pcap(frames([*request(), *ending, *again])))
    assert flow_bytes(rows) == [(KEY, "forward", 1000), (KEY, "forward", 250)]
    assert [row["start_s"] for row in rows] == ["0.500000000", "3.100000000"]


def test_a_syn_begins_a_new_flow_where_only_the_answers_of_the_last_were_captured(
    imported: Importer,
) -> None:
    answer = (9.0, CLIENT.reply(sequence=77, acknowledgment=5, payload=bytes(30)))
    rows = imported(pcap(frames([answer, *request()])))
    assert [int(row["bytes"]) for row in rows] == [30, 1000]
    assert [row["rtt_s"] for row in rows] == ["", "0.050000000"]


def test_data_far_away_after_the_end_begins_a_new_flow(imported: Importer) -> None:
    end = (12.0, replace(CLIENT, sequence=1100, flags=RST))
    far = (13.0, replace(CLIENT, sequence=1100 + 2**31, payload=bytes(20)))
    rows = imported(pcap(frames([*request(), end, far])))
    assert [int(row["bytes"]) for row in rows] == [1000, 20]


def test_only_the_ack_of_the_syn_ack_ends_the_handshake(imported: Importer) -> None:
    stray = (10.04, replace(CLIENT, acknowledgment=499))
    rows = imported(pcap(frames([*HANDSHAKE[:2], stray, HANDSHAKE[2], request()[-1]])))
    assert [row["rtt_s"] for row in rows] == ["0.050000000"]


def test_flows_are_in_order_of_their_first_data(imported: Importer) -> None:
    other = Segment(source=("10.0.0.3", 1000), payload=bytes(5))
    rows = imported(pcap(frames([*HANDSHAKE, (10.4, other), request()[-1]])))
    assert [(row["start_s"], row["bytes"]) for row in rows] == [
        ("0.400000000", "5"),
        ("0.500000000", "1000"),
    ]


def test_starts_count_from_the_earliest_packet_wherever_it_stands(imported: Importer) -> None:
    # Interfaces write into one file with a delay of their own.
    late = (9.5, Segment(source=("10.0.0.3", 1000), payload=bytes(5)))
    rows = imported(pcap(frames([*request(), late])))
    assert [row["start_s"] for row in rows] == ["0.000000000", "1.000000000"]


def test_a_repeated_syn_is_the_same_flow_and_shows_no_rtt(imported: Importer) -> None:
    rows = imported(pcap(frames([HANDSHAKE[0], *request()])))
    assert flow_bytes(rows) == [(KEY, "forward", 1000)]
    assert rows[0]["rtt_s"] == ""


def test_a_flow_without_handshake_has_no_rtt(imported: Importer) -> None:
    [row] = imported(pcap(frames(data((0, 100), (100, 100)))))
    assert (row["bytes"], row["rtt_s"]) == ("200", "")


def test_the_opener_comes_first_even_if_only_its_answer_was_captured(imported: Importer) -> None:
    answer = CLIENT.reply(sequence=500, acknowledgment=100, payload=bytes(10))
    rows = imported(pcap(frames([HANDSHAKE[1], (11.0, answer)])))
    assert flow_bytes(rows) == [(KEY, "reverse", 10)]


def test_peak_rate_is_that_of_the_busiest_window(imported: Importer) -> None:
    # Packets of 1000 bytes with IP and TCP headers each 20 ms; from 12 s on, each 4 ms, 30 times.
    times = [11 + 0.02 * index for index in range(50)] + [12 + 0.004 * index for index in range(30)]
    segments = [
        (time_s, replace(CLIENT, sequence=100 + 960 * index, payload=bytes(960)))
        for index, time_s in enumerate(times)
    ]
    capture = pcap(frames([*HANDSHAKE, *segments, segments[-1], segments[-1]]))
    [row] = imported(capture)
    assert row["rate_bps"] == str(25 * 8000 * 10), "25 packets of 8000 bits in 0.1 s"
    [row] = imported(capture, "--window", "20ms")
    assert row["rate_bps"] == str(5 * 8000 * 50)
    [row] = imported(capture, "--window", "2 s")
    assert row["rate_bps"] == "", "the flow lasted less than a window"


def test_packets_that_are_no_tcp_are_counted_by_reason(tailroom: Tailroom, tmp_path: Path) -> None:
    arp = bytes(12) + b"\x08\x06" + bytes(28)
    tcp = CLIENT.ethernet()
    udp = tcp[:23] + b"\x11" + tcp[24:]
    fragment = tcp[:20] + b"\x00\x10" + tcp[22:]
    short_header = tcp[:46] + b"\x10" + tcp[47:]
    far = replace(CLIENT, sequence=100 + 2**31, payload=b"1").ethernet()
    odd = [arp, arp, udp, fragment, short_header, tcp[:40], far]
    path = tmp_path / "odd.pcap"
    path.write_bytes(pcap([*frames(request()), *((11.0, packet) for packet in odd)]))
    ended = tailroom("import", path)
    assert ended.status == 0
    assert flow_bytes(rows_of(ended.output)) == [(KEY, "forward", 1000)]
    assert ended.errors == (
        "skipped: 2 not IP, 1 not TCP, 1 IP fragments without TCP header, "
        "1 cut off before the end of the TCP header, 1 malformed headers, "
        "1 sequence number out of any window\n"
    )


def test_pcapng_blocks_that_cannot_be_used_are_counted_by_reason(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    packet = replace(CLIENT, payload=bytes(5)).ethernet()
    too_long = struct.pack("<IIIII", 0, 0, 0, 9999, 9999) + packet
    path = tmp_path / "odd.pcapng"
    path.write_bytes(
        section()
        + interface()
        + interface(147)  # reserved for private use
        + enhanced(0, packet, of=7)
        + enhanced(0, packet, of=1)
        + block(3, struct.pack("<I", len(packet)) + packet)
        + block(6, too_long)
        + enhanced(1, packet)
    )
    ended = tailroom("import", path)
    assert ended.status == 0
    assert flow_bytes(rows_of(ended.output)) == [(KEY, "forward", 5)]
    assert ended.errors == (
        "skipped: 1 unknown link layer, 1 undescribed interface, 1 block type without time, "
        "1 corrupted block\n"
    )


def test_connections_are_kept_apart_however_many_there_are(imported: Importer) -> None:
    draw = random.Random(7)
    sizes = {port: draw.randrange(1, 1400) for port in range(2000, 5000)}
    packets = [
        (index / 1000, Segment(source=("10.0.0.1", port), payload=bytes(size)).ethernet())
        for index, (port, size) in enumerate(sizes.items())
    ]
    rows = imported(pcap(packets))
    assert {int(row["flow"].split()[0].split(":")[1]): int(row["bytes"]) for row in rows} == sizes


# The list.


def test_parquet_holds_the_same_as_csv(tailroom: Tailroom, tmp_path: Path) -> None:
    for name in ("flows.csv", "flows.parquet"):
        ended = tailroom("import", LOOPBACK, "--window", "1 ms", "--out", tmp_path / name)
        assert (ended.status, without_directions(ended.errors)) == (0, "")
        assert ended.output == f"8 flows of 72 packets are in {tmp_path / name}\n"
    table = pq.read_table(tmp_path / "flows.parquet")
    rows = rows_of((tmp_path / "flows.csv").read_text(encoding="utf-8"))

    def number(text: str) -> float | None:
        return float(text) if text else None

    assert table.column_names == ["start_s", "bytes", "rate_bps", "rtt_s", "flow", "direction"]
    for column in ("start_s", "bytes", "rate_bps", "rtt_s"):
        written = table[column].to_pylist()
        assert written == pytest.approx([number(row[column]) for row in rows], abs=1e-9)
    assert table["rate_bps"].null_count == 7, "one flow lasted a millisecond"


def test_python_gives_the_same_list(tailroom: Tailroom) -> None:
    capture = tr.import_capture(LOOPBACK)
    assert capture.flows["bytes"].to_pylist() == [
        int(row["bytes"]) for row in rows_of(tailroom("import", LOOPBACK).output)
    ]
    assert (capture.skipped, capture.broken, capture.unseen_bytes) == ({}, None, 0)
    with pytest.raises(tr.CaptureError, match="No such file"):
        tr.import_capture("nowhere.pcap")
    with pytest.raises(ValueError, match="window_s"):
        tr.import_capture(LOOPBACK, window_s=0)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a named pipe")
def test_a_capture_may_come_through_a_pipe(tmp_path: Path, imported: Importer) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    feeding = threading.Thread(target=lambda: pipe.write_bytes(LOOPBACK.read_bytes()))
    feeding.start()
    capture = tr.import_capture(pipe)
    feeding.join()
    assert capture.flows.equals(tr.import_capture(LOOPBACK).flows)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs Linux's /proc")
def test_memory_does_not_grow_with_the_length_of_a_capture(tmp_path: Path) -> None:
    # One flow in packets of 60 kB, imported by a process of its own: 1 MB and 60 MB.
    program = (
        "import sys, tailroom as tr; tr.import_capture(sys.argv[1]);"
        "print(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
    )
    peaks_kb = []
    for count in (10, 1000):
        path = tmp_path / f"{count}.pcap"
        packets = [
            (index / 100, Segment(sequence=60_000 * index, payload=bytes(60_000)).ethernet())
            for index in range(count)
        ]
        path.write_bytes(pcap(packets))
        command = [sys.executable, "-c", program, str(path)]
        peaks_kb.append(int(subprocess.run(command, capture_output=True, check=True).stdout))
    assert peaks_kb[1] - peaks_kb[0] < 10_000
