"""A sender on a path of its own, as a scenario.

A link loses every n-th packet, or holds it back. Other packets that have passed before the flow
begins shift the count, so that the link acts on the packet that the script names, and on no other
in the run.
"""

from bisect import bisect
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

from tailroom.errors import VectorFileError
from tailroom.simulation import sender_trace
from tailroom.simulation.result import Result
from tailroom.vectors.judge import Results
from tailroom.vectors.runs import bbr_states
from tailroom.vectors.runs.engine import simulated
from tailroom.vectors.scripts import Occurrence, SenderScript

START_S = 1.0
"""When the flow begins."""
FAST = 1e12
CLOCK_S = 0.001
"""Granularity of the timer, G of RFC 6298."""
SAMPLES_PER_RTT = 50
SHIFTING_BYTES = 64
MARKING = {"rate": 10e9, "packet": 9000, "offered": 10.1e9}
"""The link that marks is faster than the path, so that only other packets make its queue, which
grows by 10 ms per second."""
MARK_EARLY_S = 2e-3
BBR = ("bbr1", "bbr3")
MOST_TRACED_PACKETS = 100_000
"""The trace of a vector that may send more has no packets."""


def results(
    script: SenderScript, seed: int, *, has_packets: bool, qlog: Path | None = None
) -> Results:
    """Runs the script.

    Args:
        script: The script.
        seed: Seed of the run.
        has_packets: Whether the times at which packets are sent are recorded.
        qlog: File for the trace of the run; it has the packets unless there are too many.

    Raises:
        VectorFileError: The event from which the script counts does not happen.
    """
    after = script.rate_changes_after or script.late_packets_after
    before = None
    if script.pause:
        before = _seen_before(script, script.pause.after, seed)
    elif after:
        script = _with_event(script, _seen_before(script, after, seed))
    has_few = qlog is not None and _most_packets(script) <= MOST_TRACED_PACKETS
    document = scenario(script, has_packets=has_packets or has_few, before=before)
    result = simulated(document, seed)
    if qlog:
        series = result.table("flow_series")
        sender_trace.write_flow(series, result, result.scenario, qlog, "flow", origin_s=START_S)
    events = _events(result, script, has_packets)
    if script.pause and before:
        # The pause hides from outside when the state began. Up to it both runs are the same.
        events[script.pause.after.event] = before.times
    return Results(samples=_samples(result), events=events)


@dataclass(frozen=True)
class _Before:
    """A run up to an event, which nothing follows from yet."""

    times: list[float]
    """Those of the event and the same before it."""
    sent_packets: int


def _seen_before(script: SenderScript, after: Occurrence, seed: int) -> _Before:
    """What a run shows without what follows from an event.

    Up to the event both runs are the same.

    Raises:
        VectorFileError: The event does not happen.
    """
    plain = replace(
        script,
        rate_changes=() if script.rate_changes_after else script.rate_changes,
        rate_changes_after=None,
        late_packets=() if script.late_packets_after else script.late_packets,
        late_packets_after=None,
        pause=None,
    )
    events = results(plain, seed, has_packets=True).events
    times = events.get(after.event, [])
    if len(times) < after.number:
        raise VectorFileError(f"{len(times)} events `{after.event}` happen, not {after.number}")
    seen = times[: after.number]
    return _Before(seen, bisect(events["sent"], seen[-1]))


def _with_event(script: SenderScript, before: _Before) -> SenderScript:
    """The script with times and numbers that count from the start."""
    first = before.times[-1]
    if script.rate_changes_after:
        changes = tuple((first + after_s, rate_bps) for after_s, rate_bps in script.rate_changes)
        script = replace(script, rate_changes=changes, rate_changes_after=None)
    if script.late_packets_after:
        late = tuple(
            replace(packet, number=before.sent_packets + packet.number)
            for packet in script.late_packets
        )
        script = replace(script, late_packets=late, late_packets_after=None)
    return script


def scenario(
    script: SenderScript, *, has_packets: bool = False, before: _Before | None = None
) -> dict[str, Any]:
    """The scenario that means the script, given what happens before its pause."""
    end = START_S + script.duration_s
    path: dict[str, Any] = {"rate": script.rate_bps, "delay": 0.0, "queue": _unlimited()}
    if script.rtt_changes or script.rate_changes:
        path |= _changing(script)
    if script.limit_packets:
        path["queue"] = {"kind": "drop_tail", "limit": f"{script.limit_packets} packets"}
    if script.policer:
        burst = script.policer.burst_bytes
        path["policer"] = {"rate": script.policer.rate_bps, "burst": burst}
    if has_packets:
        path["arrival_log"] = {"from": START_S, "to": end}
    links = {"path": path}
    flows: dict[str, Any] = {}
    for earlier, number in enumerate(sorted(script.lost_packets)):
        name = f"loss{earlier + 1}"
        every = number + _most_packets(script)
        links[name] = {**_wire(), "loss": {"kind": "periodic", "every": every}}
        flows[name] = _shift(name, every - (number - earlier))
    # The last first: a packet that is late changes the order of those behind it, not before it.
    for later, packet in enumerate(reversed(script.late_packets)):
        name = f"late{len(script.late_packets) - later}"
        every = packet.number + _most_packets(script)
        hold = {"kind": "periodic", "every": every, "extra_delay": packet.late_s}
        links[name] = {**_wire(), "reorder": hold}
        lost = bisect(sorted(script.lost_packets), packet.number)
        flows[name] = _shift(name, every - (packet.number - lost))
    if script.lost_every:
        links["losses"] = {**_wire(), "loss": {"kind": "periodic", "every": script.lost_every}}
    if script.marked_s:
        links["mark"] = {**_wire(), "rate": MARKING["rate"], "queue": _marks_all()}
        flows["mark"] = _marking(script.marked_s)
    flows["flow"] = _flow(script, [*links], before)
    return {
        "duration": end,
        "measure_from": START_S,
        # The estimate would fill the path, which the flow does not.
        "memory_limit": "1000 TB",
        "series": {"interval": script.rtt_s / SAMPLES_PER_RTT},
        "links": links,
        "flows": flows,
    }


def _changing(script: SenderScript) -> dict[str, Any]:
    """Changes of the path, in order of time; those of the RTT are changes of its delay."""
    half = script.rtt_s / 2
    times = [
        (at_s, {"delay": half + rtt_s - script.rtt_s}) for at_s, rtt_s in script.rtt_changes
    ] + [(at_s, {"rate": rate_bps}) for at_s, rate_bps in script.rate_changes]
    changes = [
        {"at": START_S + at_s, **change} for at_s, change in sorted(times, key=itemgetter(0))
    ]
    return {"delay": half, "changes": changes} if script.rtt_changes else {"changes": changes}


def _flow(script: SenderScript, path: list[str], before: _Before | None) -> dict[str, Any]:
    """The sender, without delayed ACKs and the random delays of hosts."""
    flow = {
        "path": path,
        "host": "plain",
        "send_jitter": "none",
        "sender_side": 0.0,
        "start": START_S,
        "congestion": {"kind": script.control, **script.parameters},
        "recovery": script.recovery,
        "prr": script.proportional_rate_reduction,
        "slow_start": {"kind": script.slow_start},
        "rtt": script.rtt_s,
        "packet_size": script.packet_bytes,
        "header_size": 40,
        "initial_window": script.initial_cwnd_packets,
        "min_rto": script.min_rto_s,
        "rto_granularity": CLOCK_S,
    }
    if script.initial_ssthresh_packets:
        flow["initial_ssthresh"] = script.initial_ssthresh_packets
    if script.control == "prague":
        flow["ecn"] = "l4s"
    elif script.marked_s:
        flow["ecn"] = "accurate"
    if script.ack_interval_s:
        flow["ack_aggregation"] = script.ack_interval_s
    if script.detects_spurious_loss:
        flow |= {"undo": True, "rtt_samples": "timestamps"}
    if script.writes:
        size = script.writes.packets * (script.packet_bytes - 40)
        flow["source"] = {
            "kind": "objects",
            "size": size,
            "arrivals_per_second": script.writes.per_s,
        }
    if script.pause and before:
        # What has been sent by then is all that there is.
        resumed_s = before.times[-1] + script.pause.length_s
        flow["source"] = {
            "kind": "objects",
            "size": before.sent_packets * (script.packet_bytes - 40),
            "arrivals": [START_S, START_S + resumed_s],
        }
    if script.transfer_packets:
        size = script.transfer_packets * (script.packet_bytes - 40)
        flow["source"] = {"kind": "finite_flows", "size": size, "arrivals": [START_S]}
        del flow["start"]
    return flow


def _most_packets(script: SenderScript) -> int:
    """More than the flow sends after a loss.

    The application writes no more, or the window stays below 1.5 times its first value.
    """
    if script.writes:
        return int(1.3 * script.writes.packets * script.writes.per_s * script.duration_s) + 1000
    rounds = script.duration_s / script.rtt_s + 1
    return int(1.5 * script.initial_cwnd_packets * rounds) + 1000


def _unlimited() -> dict[str, Any]:
    return {"kind": "drop_tail", "limit": "1000000 packets"}


def _wire() -> dict[str, Any]:
    return {"rate": FAST, "delay": 0.0, "queue": _unlimited()}


def _marks_all() -> dict[str, Any]:
    return {
        "kind": "step_mark",
        "limit": "1000000 packets",
        "threshold": "1 packets",
        "drop_others": False,
    }


def _shift(link: str, packets: int) -> dict[str, Any]:
    """That many packets, before the flow begins."""
    gap_s = START_S / 2 / packets
    return {
        "path": [link],
        "packet_size": SHIFTING_BYTES,
        "send_jitter": "none",
        "stop": (packets - 0.5) * gap_s,
        "source": {"kind": "cbr", "rate": SHIFTING_BYTES * 8 / gap_s, "phase": 0.0},
    }


def _marking(interval_s: tuple[float, float]) -> dict[str, Any]:
    """Packets that keep a queue while those of the flow are to be marked."""
    first, last = interval_s
    return {
        "path": ["mark"],
        "packet_size": MARKING["packet"],
        "send_jitter": "none",
        "start": START_S + first - MARK_EARLY_S,
        "stop": START_S + last,
        "source": {"kind": "cbr", "rate": MARKING["offered"], "phase": 0.0},
    }


def _samples(result: Result) -> dict[str, list[tuple[float, float]]]:
    series = result.table("flow_series").to_pydict()
    times = [time - START_S for time in series["time_s"]]
    return {
        name: [
            (time, value)
            for time, value in zip(times, series[name], strict=True)
            if time >= 0 and value < float("inf")
        ]
        for name in ("cwnd_packets", "ssthresh_packets", "srtt_s")
    }


def _events(result: Result, script: SenderScript, has_packets: bool) -> dict[str, list[float]]:
    """Reductions show in ssthresh, up to a fiftieth of an RTT late."""
    series = result.table("flow_series").to_pydict()
    pairs = pairwise(zip(series["time_s"], series["ssthresh_packets"], strict=True))
    reductions = [
        time - START_S for (_, before), (time, now) in pairs if now != before < float("inf")
    ]
    events = {"reduction": reductions}
    if has_packets:
        log = result.table("packets").to_pydict()
        events["sent"] = [
            time - START_S
            for time, flow in zip(log["time_s"], log["flow"], strict=True)
            if flow == "flow"
        ]
    return events | _bbr_states(result, script, events) if script.control in BBR else events


def _bbr_states(
    result: Result, script: SenderScript, events: dict[str, list[float]]
) -> dict[str, list[float]]:
    windows = _samples(result)["cwnd_packets"]
    up, down = bbr_states.probes(windows, script.rtt_s)
    refill = bbr_states.refill(up, _samples(result)["srtt_s"])
    found = {
        "probe_rtt": bbr_states.probe_rtt(windows),
        "probe_refill": refill,
        "probe_up": up,
        "probe_down": down,
    }
    if "sent" in events:
        per_s = script.rate_bps / (8 * script.packet_bytes)
        found["drain"] = bbr_states.drain(events["sent"], per_s, script.rtt_s)
    return found
