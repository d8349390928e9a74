"""Files as other tools write them, from the series of a simulated link of known buffer.

`python -m tests.measurements.measurement_files` writes `simulated.flent.gz`, which the guide reads.
"""

import gzip
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import tailroom as tr

SAMPLE = Path(__file__).parent / "simulated.flent.gz"
"""250 kB at 50 Mbit/s, four CUBIC flows, an RTT of 20 ms, seed 1."""
IDLE_S = 5.0
"""Pings without load at the beginning of a test of flent."""
PAYLOAD_BYTES, PACKET_BYTES = 1448, 1500
SCENARIO = """\
duration = "35 s"
measure_from = "5 s"

[series]
interval = "200 ms"

[links.bottleneck]
rate = "{rate_mbps} Mbit/s"
delay = "5 ms"
queue = {{ kind = "{discipline}", limit = "{buffer_kb} kB" }}

[flows.load]
count = {flows}
path = ["bottleneck"]
congestion = "{congestion}"
rtt = "20 ms"
start = "5 s"
"""
IDLE_RTT_S = 0.02

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Link:
    """A link and its load."""

    rate_mbps: int = 50
    buffer_kb: int = 250
    flows: int = 4
    discipline: str = "drop_tail"
    congestion: str = "cubic"


@dataclass(frozen=True)
class Seen:
    """Series of a run: times, bytes in the queue, and the flows' RTTs and rates (time, flow)."""

    link: Link
    times: Values
    queue_bytes: Values
    rtts_s: Values
    rates_bps: Values
    retransmissions: int


def simulated(link: Link, seed: int, **settings: object) -> Seen:
    """Runs a load over a link that was idle for five seconds."""
    scenario = tr.Scenario.from_toml(SCENARIO.format(**vars(link)))
    result = tr.run(scenario, seed=seed, set=settings)
    queue = result.series("queue", link="bottleneck")
    flows = [flow["name"] for flow in result.flows]
    rtts = [result.series("srtt", flow=name)["srtt_s"].to_numpy() for name in flows]
    rates = [result.series("goodput", flow=name)["goodput_bps"].to_numpy() for name in flows]
    return Seen(
        link,
        queue["time_s"].to_numpy(),
        PACKET_BYTES * queue["queue_packets"].to_numpy(),
        np.column_stack(rtts),
        np.column_stack(rates),
        sum(flow["retransmissions"] for flow in result.flows),
    )


def flent(seen: Seen, path: Path, seed: int) -> Path:
    """A data file of flent with a ping through the queue, compressed."""
    byte_s = 8 / (1e6 * seen.link.rate_mbps)
    draw = random.Random(seed)
    # A ping that finds a queue also waits for the rest of the packet that is being sent.
    waits = [
        size * byte_s + (draw.random() * PACKET_BYTES * byte_s if size else 0.0)
        for size in seen.queue_bytes
    ]
    loads = seen.rates_bps.sum(axis=1)
    is_loaded = seen.times > IDLE_S + 0.2
    document: dict[str, Any] = {
        "version": 4,
        "metadata": {"NAME": "tcp_nup", "IP_VERSION": 4},
        "x_values": [round(float(time_s), 3) for time_s in seen.times],
        "results": {
            "Ping (ms) ICMP": [round(1e3 * (IDLE_RTT_S + wait), 2) for wait in waits],
            "TCP upload sum": [
                round(float(load) / 1e6, 2) if on else None
                for load, on in zip(loads, is_loaded, strict=True)
            ],
        },
        "raw_values": {},
    }
    path.write_bytes(gzip.compress(json.dumps(document).encode(), mtime=0))
    return path


def iperf3(seen: Seen, path: Path) -> Path:
    """The output of `iperf3 -J -i 0.2`."""
    begun = seen.times > IDLE_S + 0.2
    intervals = []
    for time_s, rtts, rates in zip(
        seen.times[begun], seen.rtts_s[begun], seen.rates_bps[begun], strict=True
    ):
        streams = [{"rtt": round(1e6 * rtt), "sender": True} for rtt in rtts]
        total = {
            "end": float(time_s) - IDLE_S,
            "bits_per_second": float(rates.sum()),
            "omitted": False,
        }
        intervals.append({"streams": streams, "sum": total})
    intervals[-1]["sum"]["retransmits"] = seen.retransmissions  # type: ignore[index]
    document = {
        "start": {
            "connected": [{"local_host": "192.0.2.1"}],
            "tcp_mss_default": PAYLOAD_BYTES,
            "test_start": {"protocol": "TCP", "num_streams": seen.link.flows, "reverse": 0},
        },
        "intervals": intervals,
        "end": {"sender_tcp_congestion": seen.link.congestion},
    }
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def socket_statistics(seen: Seen, path: Path, *, has_times: bool = True) -> Path:
    """A log of `ss -tin` every 0.2 s."""
    lines: list[str] = []
    acked = np.cumsum(np.nan_to_num(seen.rates_bps), axis=0) * 0.2 / 8
    for row, time_s in enumerate(seen.times):
        if time_s <= IDLE_S + 0.2:
            continue
        if has_times:
            lines.append(f"{1_700_000_000 + time_s:.9f}")
        lines.append("State Recv-Q Send-Q Local Address:Port Peer Address:Port Process")
        for flow in range(seen.link.flows):
            lines.append(f"ESTAB 0      198240      192.0.2.1:{40_000 + flow} 192.0.2.2:5201")
            lines.append(
                f"\t {seen.link.congestion} wscale:7,7 rto:236 "
                f"rtt:{1e3 * seen.rtts_s[row, flow]:.6g}"
                f"/1.2 mss:1448 pmtu:1500 rcvmss:536 advmss:1448 cwnd:90 "
                f"bytes_acked:{acked[row, flow]:.0f} segs_out:9 "
                f"busy:{1e3 * (time_s - IDLE_S):.0f}ms retrans:0/{row} rcv_space:14480 "
                f"minrtt:{1e3 * IDLE_RTT_S:g}"
            )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def waveform(seen: Seen, path: Path) -> Path:
    """The CSV of a download, whose RTTs have no times, and its mean rate, with slow start."""
    begun = seen.times > IDLE_S + 0.2
    byte_s = 8 / (1e6 * seen.link.rate_mbps)
    idle = "\n".join([f"{1e3 * IDLE_RTT_S:g}"] * 40)
    loaded = "\n".join(
        f"{1e3 * (IDLE_RTT_S + size * byte_s):.2f}" for size in seen.queue_bytes[begun]
    )
    rate_mbps = float(np.nansum(seen.rates_bps[begun], axis=1).mean()) / 1e6
    text = f"""====== WAVEFORM.COM BUFFERBLOAT TEST RESULTS======
Test ID,00000000-0000-4000-8000-000000000000
Bufferbloat Grade,C
Download speed (Mbps),{rate_mbps:.2f}
Upload speed (Mbps),1.5
====== UNLOADED LATENCY MEASUREMENTS (ms) ======
{idle}
====== DOWNLOAD STAGE LATENCY MEASUREMENTS (ms) ======
{loaded}
====== UPLOAD STAGE LATENCY MEASUREMENTS (ms) ======
{idle}
"""
    path.write_text(text, encoding="utf-8")
    return path


if __name__ == "__main__":
    flent(simulated(Link(), 1), SAMPLE, 1)
