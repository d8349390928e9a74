"""The figures of a run that comparisons start from."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
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
class Recovery:
    """How losses were repaired in the measured window, by all flows together.

    Attributes:
        sent_packets: Data packets that came to the link, those that were sent again included.
        lost_packets: Of these, the packets that were dropped, or lost at random; and SYNs.
        sent_again_packets: Retransmissions, those of handshakes included.
        timeouts: Retransmission timeouts, those of handshakes included.
        loss_probes: Tail loss probes (RFC 8985 sec. 7); `None` if they were not recorded.
    """

    sent_packets: int
    lost_packets: int
    sent_again_packets: int
    timeouts: int
    loss_probes: int | None


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


LOSS_STATE = 4
"""State of a sender after a timeout (`TCP_CA_Loss` of the kernel)."""


def recovery(run: Mapping[str, Any]) -> Recovery:
    """Return how losses were repaired in one of the `runs` of a recorded file.

    The kernel's counters tell it, where they were recorded. The first experiments have samples of
    the connections only: a timeout is a sample in the state after one, behind a sample in another
    state, so a recovery that is shorter than the interval of the samples may be missed.

    Args:
        run: The run.
    """
    counts = [
        run["directions"][flow["direction"]]["measured"][index]
        for index, flow in enumerate(run["flows"])
    ]
    if "counters" in run:
        senders = {flow["direction"] for flow in run["flows"]}
        of_kernel = [run["counters"]["measured"][host] for host in senders]
        repeated, timeouts, handshakes, probes = (
            sum(host[name] for host in of_kernel)
            for name in ("RetransSegs", "TCPTimeouts", "TCPSynRetrans", "TCPLossProbes")
        )
        # A SYN that is sent again was lost.
        return Recovery(
            sent_packets=sum(flow["data_arrivals_packets"] for flow in counts),
            lost_packets=sum(flow["data_losses_packets"] for flow in counts) + handshakes,
            sent_again_packets=repeated,
            timeouts=timeouts,
            loss_probes=probes,
        )
    losses = (flow["drops_packets"] + flow["random_losses_packets"] for flow in counts)
    sampled = [_sampled_recovery(run, flow["samples"]) for flow in run["flows"]]
    return Recovery(
        sent_packets=sum(flow["arrivals_packets"] for flow in counts),
        lost_packets=sum(losses),
        sent_again_packets=sum(repeated for repeated, _ in sampled),
        timeouts=sum(timeouts for _, timeouts in sampled),
        loss_probes=None,
    )


def _sampled_recovery(run: Mapping[str, Any], samples: Mapping[str, Any]) -> tuple[int, int]:
    """Retransmissions and timeouts of a flow in the measured window, by its samples."""
    begin = bisect_left(samples["time_s"], run["measured_from_s"])
    end = bisect_left(samples["time_s"], run["measured_to_s"])
    if begin >= end:
        return 0, 0
    repeated = samples["retransmissions"]
    states = samples["state"][max(begin - 1, 0) : end]
    timeouts = sum(state == LOSS_STATE != before for before, state in pairwise(states))
    return repeated[end - 1] - (repeated[begin - 1] if begin else 0), timeouts
