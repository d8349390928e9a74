"""Ports that share memory, as a scenario."""

from typing import Any

from tailroom.vectors.judge import Results
from tailroom.vectors.runs.engine import simulated
from tailroom.vectors.scripts import MemoryScript


def results(script: MemoryScript, seed: int) -> Results:
    """Runs the script."""
    result = simulated(scenario(script), seed)
    waiting = [link["queue_packets_mean"] for link in result.links.values()]
    size = script.arrivals.packet_bytes
    return Results(
        values={
            "least_queue_bytes_mean": size * min(waiting),
            "largest_queue_bytes_mean": size * max(waiting),
        }
    )


def scenario(script: MemoryScript) -> dict[str, Any]:
    """The scenario that means the script."""
    ports = [f"port{number}" for number in range(1, script.ports + 1)]
    arrivals = script.arrivals
    return {
        "duration": script.duration_s,
        "measure_from": script.measured_from_s,
        "pools": {
            "memory": {
                "size": script.memory_bytes,
                "policy": {"kind": script.policy, **script.parameters},
            }
        },
        "links": {
            port: {
                "rate": script.port_rate_bps,
                "delay": 0.0,
                "pool": "memory",
                "queue": {"kind": "drop_tail"},
            }
            for port in ports
        },
        "flows": {
            port: {
                "path": [port],
                "packet_size": arrivals.packet_bytes,
                "source": {"kind": "cbr", "rate": arrivals.rate_bps},
            }
            for port in ports
        },
    }
