"""How the Linux kernel's TCP and tailroom's repair losses: timeouts, retransmissions, waits.

Goals, for every experiment: timeouts of a run within a factor of 2 or 3; the share of lost packets
within 15 % of itself or two packets of a run; packets sent again per lost packet within a tenth or
two packets of a run; tail loss probes, where both sides count them, as timeouts. For requests: the
quantiles of the completion time in QUANTILES within 10 %.
"""

import statistics
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from math import inf
from typing import Any

import tailroom as tr
from tests.validation.kernel_comparison import Comparison
from validation.kernel.summary import recovery

EVENTS = 3
"""Timeouts, or probes, by which a run may differ in any case."""
FACTOR = 2
"""Factor by which their number may differ otherwise."""
COUNTED_EVENTS = 5
"""The same of what COUNTED names."""
COUNTED = (
    (
        "undone reductions",
        ("TCPFullUndo", "TCPPartialUndo", "TCPDSACKUndo", "TCPLossUndo"),
        "undone_reductions",
    ),
    ("discarded as old", ("PAWSEstab",), "discarded_packets"),
)
"""A statistic, the kernel's counters of it, and its name in a group's summary."""
LOSS_PART = 0.15
REPEATED_PART = 0.1
PACKETS = 2
"""Packets by which losses and retransmissions of a run may differ in any case."""
QUANTILES = (0.5, 0.9, 0.95)
COMPLETION_PART = 0.1
STEP = 0.02
"""A quantile this close to the share of requests that lose nothing is replaced by BEYOND: there the
completion time jumps by a round trip, and chance decides on which side the quantile lies."""
BEYOND = 0.98


def is_requests(flow: Mapping[str, Any]) -> bool:
    """Whether a recorded flow is a group of requests.

    Args:
        flow: One of the `flows` of a run.
    """
    return "requests" in flow


def is_open(flow: Mapping[str, Any]) -> bool:
    """Whether a recorded flow is an open connection for responses.

    Args:
        flow: One of the `flows` of a run.
    """
    return "writes" in flow


def log_of_responses(run: Mapping[str, Any]) -> dict[str, str]:
    """Return the settings that let the simulator record the ACKs of responses.

    Args:
        run: A recorded run.
    """
    log = f'{{ from = "0 s", to = "{run["measured_to_s"]} s" }}'
    groups = (flow["group"] for flow in run["flows"] if is_open(flow))
    return {f"flows.{group}.endpoint_log": log for group in groups}


def recoveries(
    runs: Sequence[dict[str, Any]], simulated: Sequence[dict[str, Any]]
) -> Iterator[Comparison]:
    """Yield how losses are repaired.

    Args:
        runs: The recorded runs.
        simulated: Summaries of the simulator's runs.
    """
    kernel = [recovery(run) for run in runs]
    packet_bytes = runs[0]["flows"][0]["packet_bytes"]  # of all flows
    tailroom = [_simulated_recovery(summary, packet_bytes) for summary in simulated]
    yield _events(
        "timeouts",
        tuple(one.timeouts for one in kernel),
        tuple(one["timeouts"] for one in tailroom),
    )
    probes = [one.loss_probes for one in kernel if one.loss_probes is not None]
    simulated_probes = tuple(one["loss_probes"] for one in tailroom if "loss_probes" in one)
    if probes and simulated_probes:
        yield _events("loss probes", tuple(probes), simulated_probes)
    for what, counters, name in COUNTED:
        counted = [_counted(run, counters) for run in runs]
        known = [count for count in counted if count is not None]
        if known:
            ours = tuple(
                float(sum(group[name] for group in summary["groups"].values()))
                for summary in simulated
            )
            yield _events(what, tuple(known), ours, COUNTED_EVENTS)
    sent = statistics.fmean(one.sent_packets for one in kernel)
    lost = statistics.fmean(one.lost_packets for one in kernel)
    of_kernel = tuple(100 * one.lost_packets / one.sent_packets for one in kernel)
    yield Comparison(
        "loss (%)",
        of_kernel,
        tuple(100 * one["lost_packets"] / one["sent_packets"] for one in tailroom),
        max(LOSS_PART * statistics.fmean(of_kernel), 100 * PACKETS / sent),
    )
    if lost and all(one["lost_packets"] for one in tailroom):
        yield Comparison(
            "sent again per loss",
            tuple(one.sent_again_packets / max(one.lost_packets, 1) for one in kernel),
            tuple(one["sent_again_packets"] / one["lost_packets"] for one in tailroom),
            max(REPEATED_PART, PACKETS / lost),
        )


def _counted(run: Mapping[str, Any], counters: Sequence[str]) -> float | None:
    """What the hosts counted in the measured window, if they were asked."""
    hosts = run.get("counters", {"measured": ()})["measured"]
    found = [host[name] for host in hosts for name in counters if name in host]
    return float(sum(found)) if found else None


def _events(
    what: str, kernel: tuple[float, ...], tailroom: tuple[float, ...], events: int = EVENTS
) -> Comparison:
    mean = statistics.fmean(kernel)
    above = max(events, (FACTOR - 1) * mean)
    return Comparison(what, kernel, tailroom, above, max(events, mean - mean / FACTOR))


def _simulated_recovery(summary: dict[str, Any], packet_bytes: int) -> dict[str, float]:
    """The fields of `Recovery` of a simulation; its probes only if the engine counts them."""
    seconds = summary["measured_to_s"] - summary["measured_from_s"]
    found = dict.fromkeys(("sent_packets", "lost_packets", "sent_again_packets", "timeouts"), 0.0)
    for group in summary["groups"].values():
        sent = group["throughput_bps"] * seconds / 8 / packet_bytes
        found["sent_packets"] += sent
        found["lost_packets"] += round(sent * (group["loss_fraction"] or 0.0))
        found["sent_again_packets"] += group["retransmissions"]
        found["timeouts"] += group["timeouts"]
        if group.get("loss_probes") is not None:
            found["loss_probes"] = found.get("loss_probes", 0.0) + group["loss_probes"]
    return found


def completion_times(
    recorded: Mapping[str, Any],
    runs: Sequence[dict[str, Any]],
    results: Sequence[tr.Result],
) -> Iterator[Comparison]:
    """Yield quantiles of the completion times of requests or responses, in milliseconds.

    A time ends when the last byte is acknowledged. That of a request begins with the first SYN, and
    that of a response on an open connection when the application writes it, on both sides.

    Args:
        recorded: The recorded experiment.
        runs: Its valid runs.
        results: The simulator's runs.
    """
    for index, flow in enumerate(runs[0]["flows"]):
        if is_requests(flow):
            of_kernel = [_recorded_times(run, run["flows"][index]["requests"]) for run in runs]
            of_tailroom = [_simulated_times(result, flow["group"]) for result in results]
        elif is_open(flow):
            of_kernel = [_recorded_responses(run, run["flows"][index]["writes"]) for run in runs]
            of_tailroom = [simulated_responses(result, flow) for result in results]
        else:
            continue
        for quantile in quantiles_of(recorded["scenario"], flow["group"]):
            kernel = tuple(_quantile(times, quantile) for times in of_kernel)
            tailroom = tuple(_quantile(times, quantile) for times in of_tailroom)
            allowed = COMPLETION_PART * statistics.fmean(kernel)
            yield Comparison(f"p{100 * quantile:.0f} of completion (ms)", kernel, tailroom, allowed)


def quantiles_of(scenario: str, group: str) -> list[float]:
    """Return the quantiles that are compared: QUANTILES, with BEYOND in place of one at a step.

    Args:
        scenario: The scenario of an experiment.
        group: Its group of requests.
    """
    described = tomllib.loads(scenario)
    lossless = _share_without_loss(described, group)
    return [BEYOND if abs(one - lossless) < STEP else one for one in QUANTILES]


def _share_without_loss(described: dict[str, Any], group: str) -> float:
    """Share of the requests of a group that lose no packet at random."""
    loss = described["links"]["bottleneck"].get("loss", {"probability": 0.0})["probability"]
    defaults = described["defaults"]
    packet, header = (int(defaults[key].split()[0]) for key in ("packet_size", "header_size"))
    size = int(described["flows"][group]["source"]["size"].split()[0])
    packets = -(-size // (packet - header))
    return float((1 - loss) ** (1 + packets)) if loss else inf  # a SYN may be lost, too


def _quantile(values: Sequence[float], quantile: float) -> float:
    """The smallest value that is not below this share of the values."""
    ordered = sorted(values)
    return ordered[min(int(quantile * len(ordered)), len(ordered) - 1)]


def _recorded_times(run: dict[str, Any], requests: dict[str, Any]) -> list[float]:
    rows = zip(requests["start_s"], requests["handshake_us"], requests["transfer_us"], strict=True)
    begin, end = run["measured_from_s"], run["measured_to_s"]
    return [
        (handshake + transfer) / 1e3
        for start, handshake, transfer in rows
        if start >= begin and transfer is not None and start + (handshake + transfer) * 1e-6 < end
    ]


def _simulated_times(result: tr.Result, group: str) -> list[float]:
    log = result.table("flow_log").to_pydict()
    rows = zip(log["group"], log["completion_time_s"], strict=True)
    return [1e3 * time for name, time in rows if name == group]


def _recorded_responses(run: dict[str, Any], writes: dict[str, Any]) -> list[float]:
    rows = zip(writes["start_s"], writes["completion_us"], strict=True)
    begin, end = run["measured_from_s"], run["measured_to_s"]
    return [
        time / 1e3
        for start, time in rows
        if start >= begin and time is not None and start + time * 1e-6 < end
    ]


def simulated_responses(result: tr.Result, flow: Mapping[str, Any]) -> list[float]:
    """Return the times from each write until its last packet is acknowledged at the sender, in ms.

    Args:
        result: A simulation with the log of `log_of_responses`.
        flow: The recorded flow with the same writes.
    """
    log = result.table("packets").to_pydict()
    rows = zip(log["link"], log["content"], log["time_s"], log["sequence"], strict=True)
    acks = [
        (time, to)
        for place, content, time, to in rows
        if place.endswith(".sender") and content == "ack"
    ]
    times, starts = [], flow["writes"]["start_s"]
    ends = accumulate(-(-size // flow["mss_bytes"]) for size in flow["writes"]["size_bytes"])
    at, begin = 0, result.summary["measured_from_s"]
    for start, end in zip(starts, ends, strict=True):
        at = next((i for i in range(at, len(acks)) if acks[i][1] >= end), len(acks))
        if at < len(acks) and start >= begin:
            times.append(1e3 * (acks[at][0] - start))
    return times
