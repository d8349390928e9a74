"""The scenarios of the curves: flows of each class at DualPI2 with the defaults of RFC 9332."""

from collections.abc import Mapping
from typing import Any

import tailroom as tr

CONTROLS: Mapping[str, str] = {
    "prague": 'congestion = { kind = "prague" }\necn = "l4s"\npacing = true\n',
    "cubic": 'congestion = { kind = "cubic" }\n',
    "bbr3": 'congestion = { kind = "bbr3" }\n',
}
"""CUBIC and BBR are not ECN-capable, so that their packets are classic and are dropped."""
PROBES = 10
PROBE_BPS = PROBES * 8 * 200 / 0.01
"""What L4S senders with one small packet in flight send, if none is lost."""


def toml(
    rate_mbps: float, rtt_ms: float, controls: tuple[str, ...], from_s: float, until_s: float
) -> str:
    """One flow per control over a link with both queues; all start within a second."""
    text = _link(rate_mbps, from_s, until_s)
    for control in controls:
        text += f"""
[flows.{control}]
rtt = "{rtt_ms} ms"
start = {{ uniform = ["0 s", "1 s"] }}
{CONTROLS[control]}"""
    return text


def overload_toml(
    source: str, offered_mbps: float, rate_mbps: float, from_s: float, until_s: float
) -> str:
    """Classic packets that do not react, and L4S senders with one small packet in flight each."""
    return (
        _link(rate_mbps, from_s, until_s)
        + f"""
[flows.classic]
source = {{ kind = "{source}", rate = "{offered_mbps} Mbit/s" }}
[flows.l4s]
count = {PROBES}
host = "plain"
ecn = "l4s"
congestion = {{ kind = "fixed_window", window = 1.0 }}
initial_window = 1
packet_size = "200 B"
rtt = {{ from = "9 ms", to = "11 ms" }}
start = {{ uniform = ["0 s", "1 s"] }}
"""
    )


def _link(rate_mbps: float, from_s: float, until_s: float) -> str:
    return f"""
duration = "{until_s} s"
measure_from = "{from_s} s"
[defaults]
path = ["bottleneck"]
send_burst = 1
access_rate = "10 Gbit/s"
[links.bottleneck]
rate = "{rate_mbps} Mbit/s"
delay = "0 s"
queue = {{ kind = "dual_pi2" }}
"""


def run(text: str, seed: int, settings: Mapping[str, Any] | None = None) -> tr.Result:
    """Runs a scenario."""
    return tr.run(tr.Scenario.from_toml(text), seed=seed, set=settings)
