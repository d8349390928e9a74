"""A queue whose arrivals do not react to it, as a scenario."""

from typing import Any

from tailroom.vectors.judge import Results
from tailroom.vectors.runs.engine import simulated
from tailroom.vectors.scripts import QueueScript

VALUES = ("queue_packets_mean", "queue_delay_s_mean", "loss_fraction")


def results(script: QueueScript, seed: int, *, has_drops: bool) -> Results:
    """Runs the script.

    Args:
        script: The script.
        seed: Seed of the run.
        has_drops: Whether the times of drops are recorded.
    """
    result = simulated(scenario(script, has_drops=has_drops), seed)
    link = dict(result.links["queue"])
    found: dict[str, Any] = {name: link[name] for name in VALUES}
    if script.probe:
        [probe] = [flow for flow in result.flows if flow["group"] == "probe"]
        found["probe_marked_fraction"] = probe["marked_fraction"]
    values = {name: value for name, value in found.items() if value is not None}
    if not has_drops:
        return Results(values=values)
    log = result.table("packet_log").to_pydict()
    drops = [
        time for time, event in zip(log["time_s"], log["event"], strict=True) if event == "drop"
    ]
    return Results(values=values, events={"drop": drops})


def scenario(script: QueueScript, *, has_drops: bool = False) -> dict[str, Any]:
    """The scenario that means the script."""
    arrivals = script.arrivals
    packets = script.duration_s * arrivals.rate_bps / (8 * arrivals.packet_bytes)
    queue = {"kind": script.discipline, "limit": f"{script.limit_packets} packets"}
    flows: dict[str, Any] = {
        "arrivals": {
            "path": ["queue"],
            "packet_size": arrivals.packet_bytes,
            "send_jitter": "none",
            "source": {"kind": "cbr", "rate": arrivals.rate_bps, "phase": 0.0},
        }
    }
    if script.probe:
        flows["probe"] = {
            "path": ["queue"],
            "host": "plain",
            "ecn": "l4s",
            "congestion": {"kind": "fixed_window", "window": 1.0},
            "initial_window": 1,
            "packet_size": script.probe.packet_bytes,
            "rtt": script.probe.rtt_s,
        }
    return {
        "duration": script.duration_s,
        "measure_from": script.measured_from_s,
        "links": {
            "queue": {
                "rate": script.rate_bps,
                "delay": 0.0,
                "queue": {**queue, **script.parameters},
                # An arrival, and a departure or a drop, each.
                "packet_log": int(3 * packets) if has_drops else 0,
            }
        },
        "flows": flows,
    }
