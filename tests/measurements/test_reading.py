"""Files of other tools, written by hand after the formats' descriptions."""

import bz2
import gzip
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tailroom as tr
from tailroom.measurements.import_measurement import import_measurement
from tests.measurements import measurement_files
from tests.measurements.measurement_files import Link

FLENT: dict[str, Any] = {
    "version": 4,
    "metadata": {"NAME": "tcp_2up", "IP_VERSION": 6},
    "x_values": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0],
    "results": {
        "Ping (ms) ICMP": [20.0, 21.0, None, 60.0, 70.0, 80.0],
        "TCP upload::1": [None, None, 4.0, 5.0, 6.0, None],
        "TCP upload::2": [None, None, None, 5.0, 4.0, None],
        "TCP upload::1::tcp_rtt": [None, None, 50.0, 61.0, 71.0, None],
        "TCP upload avg": [None, None, 4.0, 5.0, 5.0, None],
    },
}
IPERF3: dict[str, Any] = {
    "start": {
        "connected": [{"socket": 5, "local_host": "192.0.2.1", "local_port": 44582}],
        "version": "iperf 3.16",
        "tcp_mss_default": 1448,
        "test_start": {"protocol": "TCP", "num_streams": 2, "omit": 1, "duration": 2, "reverse": 0},
    },
    "intervals": [
        {
            "streams": [{"rtt": 90000, "omitted": True, "sender": True}],
            "sum": {"end": 1.0, "bits_per_second": 1e6, "retransmits": 9, "omitted": True},
        },
        {
            "streams": [{"rtt": 50000, "sender": True}, {"rtt": 40000, "sender": True}],
            "sum": {"end": 1.0, "bits_per_second": 8e6, "retransmits": 2, "omitted": False},
        },
        {
            "streams": [{"rtt": 45000, "sender": True}, {"rtt": 46000, "sender": True}],
            "sum": {"end": 2.0, "bits_per_second": 1e7, "retransmits": 1, "omitted": False},
        },
    ],
    "end": {"sender_tcp_congestion": "cubic"},
}
SS = """\
1700000000.000000000
State Recv-Q Send-Q Local Address:Port Peer Address:Port Process
ESTAB 0      100    192.0.2.1:22       192.0.2.9:50000
\t cubic wscale:7,7 rto:201 rtt:0.5/0.1 mss:1448 pmtu:1500 cwnd:10 bytes_acked:500 minrtt:0.4
ESTAB 0      99000  192.0.2.1:40000    192.0.2.2:5201
\t ts sack cubic wscale:7,7 rto:236 rtt:40.5/1.2 mss:1448 pmtu:1500 rcvmss:536 cwnd:90 \
bytes_sent:2000 bytes_acked:1000000 segs_out:9 send 1Mbps lastsnd:4 busy:1000ms \
retrans:0/2 rcv_rtt:1 rcv_space:14480 minrtt:20.5
1700000001.000000000
State Recv-Q Send-Q Local Address:Port Peer Address:Port Process
ESTAB 0      100    192.0.2.1:22       192.0.2.9:50000
\t cubic wscale:7,7 rto:201 rtt:0.5/0.1 mss:1448 pmtu:1500 cwnd:10 bytes_acked:600 minrtt:0.4
ESTAB 0      99000  192.0.2.1:40000    192.0.2.2:5201
\t ts sack cubic wscale:7,7 rto:236 rtt:60.5/1.2 mss:1448 pmtu:1500 cwnd:90 \
bytes_acked:2250000 busy:2000ms retrans:1/5 minrtt:20.4
1700000001.500000000
State Recv-Q Send-Q Local Address:Port Peer Address:Port Process
ESTAB 0      99000  192.0.2.1:40000    192.0.2.2:5201
\t ts sack cubic wscale:7,7 rto:236 rtt:70/1.2 mss:1448 pmtu:1500 cwnd:90 \
bytes_acked:2875000 busy:2500ms retrans:0/6 minrtt:20.4
"""


WAVEFORM = """\
====== WAVEFORM.COM BUFFERBLOAT TEST RESULTS======
Bufferbloat Grade,C
Download speed (Mbps),100.5
Upload speed (Mbps),20.25
====== UNLOADED LATENCY MEASUREMENTS (ms) ======
10
11.5
====== DOWNLOAD STAGE LATENCY MEASUREMENTS (ms) ======
20
90.5

====== UPLOAD STAGE LATENCY MEASUREMENTS (ms) ======
30
60
70
"""


def saved(path: Path, content: object) -> Path:
    text = content if isinstance(content, str) else json.dumps(content)
    path.write_text(text, encoding="utf-8")
    return path


def test_flent_has_pings_and_the_sum_of_its_connections(tmp_path: Path) -> None:
    read = import_measurement(saved(tmp_path / "a", FLENT))
    assert (read.tool, read.direction, read.probe) == ("flent tcp_2up", "upload", "ping")
    assert read.throughput_time_s.tolist() == [2.0, 3.0, 4.0]
    assert read.throughput_bps.tolist() == [4e6, 10e6, 10e6]
    assert read.rtt_time_s.tolist() == [3.0, 4.0]
    assert read.rtt_s.tolist() == [0.06, 0.07]
    assert read.idle_rtts_s.tolist() == [0.02]
    assert read.idle_rtt_s == 0.02
    assert read.retransmissions is read.retransmitted_fraction is None
    assert (read.payload_bytes, read.packet_bytes) == (1428, 1500)


@pytest.mark.slow
@pytest.mark.skipif("FLENT_SAMPLES" not in os.environ, reason="needs the files of flent's tests")
def test_the_files_that_flent_tests_itself_with_are_read() -> None:
    """Of github.com/tohojo/flent, unittests/test_data; their names tell test and direction."""
    found = {}
    for path in Path(os.environ["FLENT_SAMPLES"]).glob("test-*.flent.gz"):
        try:
            read = import_measurement(path)
        except tr.MeasurementError as error:
            found[path.name] = str(error)
        else:
            assert len(read.throughput_bps) > 3
            found[path.name] = read.direction
    assert "neither a ping nor a TCP connection" in found.pop("test-http.flent.gz")
    both = {"rrul", "rrul-icmp", "rrul_be-socket_stats", "voip-rrul"}
    up = {"http-1up", "rtt-fair", "tcp_1up_noping-cpu_stats", "tcp_nup", "voip-1up"}
    assert found == {
        **{f"test-{name}.flent.gz": "both" for name in both},
        **{f"test-{name}.flent.gz": "upload" for name in up},
    }


def test_flent_without_pings_has_the_smallest_rtt_of_its_connections(tmp_path: Path) -> None:
    results = {name: FLENT["results"][name] for name in FLENT["results"] if "Ping" not in name}
    results["TCP upload::2::tcp_rtt"] = [None, None, None, 58.0, 72.0, None]
    read = import_measurement(saved(tmp_path / "a", {**FLENT, "results": results}))
    assert read.probe == "tcp"
    assert read.rtt_s.tolist() == [0.05, 0.058, 0.071]
    assert read.idle_rtt_s is None


def test_a_connection_keeps_its_rate_until_its_next_report(tmp_path: Path) -> None:
    """A sum of what is reported at each instant has 1.5 Mbit/s here; the load has 3 Mbit/s."""
    reports = {
        "TCP upload::1": [None, 2, None, 2, None, 2],
        "TCP upload::2": [None, 1, 1, None, 1, 1],
    }
    total = [None, 3.0, 1.0, 2.0, 1.0, 3.0]
    meta = {name: {"MEAN_VALUE": mean} for name, mean in zip(reports, (2.0, 1.0), strict=True)}
    content = {
        **FLENT,
        "metadata": {"SERIES_META": meta},
        "results": {"Ping (ms) ICMP": [20.0] * 6, **reports, "TCP upload sum": total},
    }
    read = import_measurement(saved(tmp_path / "a", content))
    assert read.throughput_bps.tolist() == [3e6] * 5
    assert read.over_stated == 1
    meta["TCP upload::1"]["MEAN_VALUE"] = 4.0
    wrong = tr.compare_measured(saved(tmp_path / "b", content)).buffer.conditions
    assert [one.found for one in wrong if "states" in one.statement and not one.holds] == [
        "60% of it"
    ]


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress])
def test_a_compressed_file_is_recognized_by_its_content(tmp_path: Path, compress: Any) -> None:
    path = tmp_path / "without-suffix"
    path.write_bytes(compress(json.dumps(FLENT).encode()))
    plain = import_measurement(saved(tmp_path / "a", FLENT))
    assert np.array_equal(import_measurement(path).rtt_s, plain.rtt_s)


def test_a_load_in_both_directions_is_named(tmp_path: Path) -> None:
    results = {**FLENT["results"], "TCP download::1": FLENT["results"]["TCP upload::1"]}
    path = saved(tmp_path / "a", {**FLENT, "results": results})
    found = tr.compare_measured(path)
    assert found.measurement.direction == "both"
    assert found.measurement.throughput_bps.tolist() == [4e6, 10e6, 10e6]
    assert found.measurement.download_bps == 5e6
    assert [row[:2] for row in found.rows[:2]] == [
        ("throughput of the upload", "8.00 Mbit/s"),
        ("throughput of the download", "5.00 Mbit/s"),
    ]
    assert "both directions" in found.buffer.sentence
    assert found.buffer.low_bytes is None


def test_iperf3_has_the_smallest_rtt_of_each_interval(tmp_path: Path) -> None:
    read = import_measurement(saved(tmp_path / "a", IPERF3))
    assert (read.tool, read.direction, read.probe) == ("iperf3", "upload", "tcp")
    assert read.rtt_time_s.tolist() == [1.0, 2.0]
    assert read.rtt_s.tolist() == [0.04, 0.045]
    assert read.throughput_bps.tolist() == [8e6, 1e7]
    assert (read.retransmissions, read.congestion) == (3, "cubic")
    # 18 Mbit in packets of 1,448 bytes.
    assert read.retransmitted_fraction == pytest.approx(3 / (18e6 / 8 / 1448))
    assert read.packet_bytes == 1500


def test_a_download_of_iperf3_has_the_rtts_that_the_server_saw(tmp_path: Path) -> None:
    test = {**IPERF3["start"]["test_start"], "reverse": 1}
    received = [{**one, "streams": [{"rtt": 0, "sender": False}]} for one in IPERF3["intervals"]]
    download = {
        **IPERF3,
        "start": {**IPERF3["start"], "test_start": test},
        "intervals": received,
    }
    alone = import_measurement(saved(tmp_path / "a", download))
    assert (alone.direction, len(alone.rtt_s), len(alone.throughput_bps)) == ("download", 0, 2)
    both = {**download, "server_output_json": {"intervals": IPERF3["intervals"]}}
    assert import_measurement(saved(tmp_path / "a", both)).rtt_s.tolist() == [0.04, 0.045]


def test_waveform_has_the_direction_that_adds_more_to_the_rtt(tmp_path: Path) -> None:
    read = import_measurement(saved(tmp_path / "a", WAVEFORM))
    assert (read.tool, read.direction, read.probe) == ("waveform", "download", "ping")
    assert read.throughput_bps.tolist() == [100.5e6]
    assert read.rtt_s.tolist() == [0.02, 0.0905]
    assert read.idle_rtts_s.tolist() == [0.01, 0.0115]
    read = import_measurement(saved(tmp_path / "b", WAVEFORM.replace("70", "700")))
    assert (read.direction, read.throughput_bps.tolist()) == ("upload", [20.25e6])
    assert read.rtt_s.tolist() == [0.03, 0.06, 0.7]


def test_ss_has_rates_of_all_loads_and_rtts_to_the_busiest_host(tmp_path: Path) -> None:
    read = import_measurement(saved(tmp_path / "a", SS))
    assert (read.tool, read.direction, read.probe) == ("ss", "upload", "tcp")
    assert read.rtt_time_s.tolist() == [1.0, 1.5]
    assert read.rtt_s.tolist() == [0.0605, 0.07]
    assert read.throughput_bps.tolist() == [1e7, 1e7]
    assert read.idle_rtts_s.tolist() == pytest.approx([0.0204])
    assert (read.retransmissions, read.congestion) == (4, "cubic")
    assert (read.payload_bytes, read.packet_bytes) == (1448, 1500)


@pytest.mark.parametrize("form", ["{0:.3f}", "{1}", "{2}", "{3}", "time:{0}", ""])
def test_ss_takes_any_clock_or_the_time_that_the_socket_was_busy(tmp_path: Path, form: str) -> None:
    lines = SS.splitlines()
    for place, line in enumerate(lines):
        if line.startswith("17000"):
            seconds = float(line)
            counts = (round(seconds * 10**digits) for digits in (3, 6, 9))
            lines[place] = form.format(seconds, *counts)
    read = import_measurement(saved(tmp_path / "a", "\n".join(lines)))
    assert read.rtt_time_s.tolist() == pytest.approx([1.0, 1.5])
    assert read.throughput_bps.tolist() == pytest.approx([1e7, 1e7])


@pytest.mark.parametrize("form", ["{:.6f}", "{:.0f}"])
def test_ss_takes_a_time_before_every_line(tmp_path: Path, form: str) -> None:
    """As `ss -tin | ts '%.s'` writes them; lines of an output are stamped one after the other."""
    lines, seconds = [], 0.0
    for line in SS.splitlines():
        if line.startswith("17000"):
            seconds = float(line)
        else:
            lines.append(f"{form.format(seconds)} {line}")
    read = import_measurement(saved(tmp_path / "a", "\n".join(lines)))
    if "6" in form:
        assert read.rtt_time_s.tolist() == pytest.approx([1.0, 1.5])
        assert read.throughput_bps.tolist() == pytest.approx([1e7, 1e7])
    else:
        assert len(read.rtt_s) == 2


def test_a_log_of_ss_without_sockets_says_so(tmp_path: Path) -> None:
    text = "".join(f"Nov 28 19:10:01 {line}\n" for line in SS.splitlines()[1:])
    with pytest.raises(tr.MeasurementError, match="no line names a socket"):
        import_measurement(saved(tmp_path / "a", text))


def test_ss_needs_no_heading_and_takes_one_line_per_socket(tmp_path: Path) -> None:
    lines = [line for line in SS.splitlines() if not line.startswith(("State", "17000"))]
    joined = "\n".join(lines).replace("\n\t", " ")
    read = import_measurement(saved(tmp_path / "a", joined))
    assert read.throughput_bps.tolist() == pytest.approx([1e7, 1e7])


@pytest.mark.parametrize("has_times", [True, False])
def test_all_tools_agree_on_one_run(tmp_path: Path, has_times: bool) -> None:
    seen = measurement_files.simulated(Link(), 1)
    path = tmp_path / "file"
    of_iperf3 = import_measurement(measurement_files.iperf3(seen, path))
    of_ss = import_measurement(measurement_files.socket_statistics(seen, path, has_times=has_times))
    assert of_ss.rtt_s == pytest.approx(of_iperf3.rtt_s[1:], abs=1e-6)
    # The counters of ss are whole bytes, its clock without times whole milliseconds.
    assert of_ss.throughput_bps == pytest.approx(of_iperf3.throughput_bps[1:], rel=1e-2)
    of_flent = import_measurement(measurement_files.flent(seen, path, 1))
    # flent's rates are written in Mbit/s with two decimals.
    assert of_flent.mean_throughput_bps == pytest.approx(of_iperf3.mean_throughput_bps, abs=5e3)
    assert of_flent.rtt_s_percentile(50) == pytest.approx(of_ss.rtt_s_percentile(50), rel=0.1)
