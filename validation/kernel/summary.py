"""The figures of a run that comparisons start from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FlowSummary:
    """A flow.

    Attributes:
        name: Its name in the scenario.
        control: The kernel's congestion control.
        throughput_bps: What left the link in the measured window, headers included.
        share: Its part of what left the link.
        drops_packets: Data packets that were dropped or lost, over the whole run.
        retransmissions_packets: Its retransmissions, over the whole run.
        marks_packets: Data packets that were marked, over the whole run.
    """

    name: str
    control: str
    throughput_bps: float
    share: float
    drops_packets: int
    retransmissions_packets: int
    marks_packets: int


@dataclass(frozen=True)
class RunSummary:
    """A run, in the measured window unless said otherwise.

    Attributes:
        is_valid: Whether the run may be used.
        utilization: Fraction of the capacity of the first link that was used.
        queue_delay_s_mean: Mean wait of the packets at the first link.
        queue_delay_s_p99: 99th percentile of these waits.
        stalled_s: Sum of the stalls of the machine, over the whole run.
        flows: The flows.
    """

    is_valid: bool
    utilization: float
    queue_delay_s_mean: float
    queue_delay_s_p99: float
    stalled_s: float
    flows: tuple[FlowSummary, ...]

    @property
    def unrepaired_packets(self) -> int:
        """Drops without a retransmission, and retransmissions without a drop, over all flows.

        A few are the tail loss probes of the sender, or the end of the run.
        """
        differences = (flow.drops_packets - flow.retransmissions_packets for flow in self.flows)
        return sum(abs(difference) for difference in differences)


def summarize(run: Mapping[str, Any]) -> RunSummary:
    """Return the figures of one of the `runs` of a recorded file.

    Args:
        run: The run.
    """
    link = run["directions"][0]
    seconds = run["measured_to_s"] - run["measured_from_s"]
    sums: list[float] = [
        sum(counts["departures_bytes"] for counts in direction["measured"])
        for direction in run["directions"]
    ]
    flows = []
    for index, flow in enumerate(run["flows"]):
        direction = run["directions"][flow["direction"]]
        measured, whole = direction["measured"][index], direction["whole"][index]
        flows.append(
            FlowSummary(
                name=flow["name"],
                control=flow["control"],
                throughput_bps=measured["departures_bytes"] * 8 / seconds,
                share=measured["departures_bytes"] / max(sums[flow["direction"]], 1),
                drops_packets=whole["drops_packets"] + whole["random_losses_packets"],
                retransmissions_packets=flow["retransmissions_packets"],
                marks_packets=whole["marks_packets"],
            )
        )
    return RunSummary(
        is_valid=not run["invalid"],
        utilization=link["utilization"],
        queue_delay_s_mean=link["queue_delay_s_mean"],
        queue_delay_s_p99=link["queue_delay_s_p99"],
        stalled_s=run["stalls"]["total_s"],
        flows=tuple(flows),
    )
