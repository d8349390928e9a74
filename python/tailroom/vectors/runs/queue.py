"""A queue whose arrivals do not react to it, as a scenario."""

from typing import Any

from tailroom.vectors.judge import Results
from tailroom.vectors.runs.engine import simulated
from tailroom.vectors.scripts import Arrivals, QueueScript

VALUES = ("queue_packets_mean", "queue_delay_s_mean", "loss_fraction")
HEADER_BYTES = 40
"""Goodput is without it."""


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
    flows = {flow["name"]: flow for flow in result.flows}
    for name, arrivals in _flows(script).items() if script.others else ():
        flow, size = flows[name], arrivals.packet_bytes
        number = name.removeprefix("arrivals") or "1"
        found[f"delivered_bps_{number}"] = flow["goodput_bps"] * size / (size - HEADER_BYTES)
        found[f"loss_fraction_{number}"] = flow["loss_fraction"]
        found[f"delay_s_mean_{number}"] = flow["one_way_delay_s_mean"]
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
    per_s = sum(flow.rate_bps / (8 * flow.packet_bytes) for flow in _flows(script).values())
    packets = script.duration_s * per_s
    queue = {"kind": script.discipline, "limit": f"{script.limit_packets} packets"}
    flows: dict[str, Any] = {
        name: {
            "path": ["queue"],
            "packet_size": arrivals.packet_bytes,
            "header_size": HEADER_BYTES,
            "send_jitter": "none",
            "source": {"kind": "cbr", "rate": arrivals.rate_bps, "phase": 0.0},
        }
        for name, arrivals in _flows(script).items()
    }
    if script.probe:
        window = script.probe.window_packets or 1
        flows["probe"] = {
            "path": ["queue"],
            "host": "plain",
            "ecn": "l4s",
            "congestion": {"kind": "fixed_window", "window": float(window)},
            "initial_window": window,
            "packet_size": script.probe.packet_bytes,
            "rtt": script.probe.rtt_s,
        }
        if window > 1:  # The delays of hosts would vary the queue.
            flows["probe"]["send_jitter"] = "none"
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


def _flows(script: QueueScript) -> dict[str, Arrivals]:
    """The flows, by their names in the scenario."""
    others = {f"arrivals{number}": flow for number, flow in enumerate(script.others, 2)}
    return {"arrivals": script.arrivals, **others}
