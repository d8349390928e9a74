"""A scenario from four numbers: rate, RTT, flows and congestion control."""

from tailroom.models.bottleneck import read_bottleneck, read_duration
from tailroom.scenario import ScenarioText
from tailroom.scenario_types import DropTailQueue, Scenario

BUFFER: DropTailQueue = {"kind": "drop_tail", "limit": "1 bdp"}
"""Until a better one is found."""
RTT_SPREAD = 0.1
"""Flows have RTTs up to this part shorter or longer: equal ones march in step."""
FEWEST_RTTS = 300
"""What a run lasts at least, in RTTs."""
FEWEST_SECONDS = 30.0
"""What it lasts at least besides."""
MOST_PACKETS = 2e7
"""What a run lasts at most, in packets at the full link: about two seconds' work."""
SETTLING = 0.3
"""The part of a run that the statistics leave out."""


def dumbbell(  # noqa: PLR0913 - the four numbers, and two more
    rate: str,
    rtt: str,
    flows: int,
    congestion: str,
    *,
    duration: str | None = None,
    packet_size: str = "1500 B",
) -> Scenario:
    """Long flows of one control over one DropTail link.

    The flows start at random times, and their RTTs are drawn from `rtt` plus or minus 10 %, as
    flows that do not differ lose packets together. Without `duration`, a run lasts 300 RTTs and at
    least 30 s, but no more than 20 million packets.

    Args:
        rate: Of the link, with its unit, as in `"1 Gbit/s"`.
        rtt: Two-way propagation delay, with its unit.
        flows: How many.
        congestion: Their congestion control.
        duration: Of a run, with its unit.
        packet_size: On the wire.

    Raises:
        ScenarioError: A value is wrong; the message names the scenario's key.
    """
    draft: Scenario = {
        "duration": duration or "1 s",
        "links": {"bottleneck": {"rate": rate, "delay": "0 s", "queue": BUFFER}},
        "flows": {
            "flows": {
                "count": flows,
                "path": ["bottleneck"],
                "congestion": congestion,
                "packet_size": packet_size,
                "rtt": rtt,
            }
        },
    }
    read = ScenarioText.of(draft, {})
    link = read_bottleneck(read)
    rtt_s = link.mean_rtt_s
    longest_s = max(MOST_PACKETS / link.capacity_pps, 20 * rtt_s)
    run_s = min(max(FEWEST_RTTS * rtt_s, FEWEST_SECONDS), longest_s)
    span_s = read_duration(read) if duration else run_s
    group = draft["flows"]["flows"]
    spread = [f"{1e3 * rtt_s * factor:.6g} ms" for factor in (1 - RTT_SPREAD, 1 + RTT_SPREAD)]
    group["rtt"] = {"uniform": spread}
    group["start"] = {"uniform": ["0 s", f"{min(0.2 * span_s, 50 * rtt_s):.6g} s"]}
    draft["title"] = f"{flows} {congestion} flows, {rate}, RTT {rtt}"
    draft["duration"] = f"{span_s:.6g} s"
    draft["measure_from"] = f"{SETTLING * span_s:.6g} s"
    draft["links"]["bottleneck"]["delay"] = f"{1e3 * rtt_s / 4:.6g} ms"
    return draft
