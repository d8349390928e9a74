"""A sender without a network, which writes and ACKs drive."""

from operator import attrgetter
from typing import Any

from tailroom import _engine
from tailroom.scenario.scenario import Scenario
from tailroom.vectors.judge import Results
from tailroom.vectors.scripts import AckArrival, AckScript, Write

IPV4_AND_TCP = 40
TIMESTAMPS = 12
QUANTITIES = (
    *("cwnd_packets", "ssthresh_packets", "unacked_packets", "sacked_packets", "lost_packets"),
    *("retransmitted_packets", "srtt_s", "rto_s"),
)
STATES = ("open", "disorder", "reduced", "recovery", "loss")
"""The states of Linux (`enum tcp_ca_state`); their places are their numbers."""


def results(script: AckScript) -> Results:
    """Runs the script, up to an ACK of a packet that has not left."""
    run = _Run(script)
    events: list[Write | AckArrival] = [*script.writes, *script.acks]
    for event in sorted(events, key=attrgetter("at_s")):  # writes first
        run.fire_until(event.at_s)
        if isinstance(event, AckArrival) and run.lacks(event):
            return run.results
        run.take_in(event)
    run.fire_until(script.duration_s)
    return run.results


class _Run:
    def __init__(self, script: AckScript) -> None:
        handle = Scenario.of(_scenario(script)).handle
        self.sender = _engine.ScriptedSender(handle, 0.0, script.handshake_rtt_s)
        series = (*QUANTITIES, "state", "sent_packets", "last_sent_again")
        self.results = Results(
            samples={name: [] for name in series}, events={"sent": [], "sent_again": []}
        )
        self.sent_packets = self.last_sent_again = 0
        self.note(script.handshake_rtt_s)

    def fire_until(self, until_s: float) -> None:
        """Fires the timers before a time."""
        while (fired_s := self.sender.fire(until_s)) is not None:
            self.note(fired_s)

    def lacks(self, ack: AckArrival) -> bool:
        """Whether an ACK is about a packet that has not left."""
        return max(ack.up_to, *(last for _, last in ack.sacked), 0) > self.sent_packets

    def take_in(self, event: Write | AckArrival) -> None:
        """Tells the sender what happens."""
        if isinstance(event, Write):
            self.sender.write(event.at_s, event.packets)
        else:
            self.sender.ack(
                event.at_s,
                event.up_to,
                [(first - 1, last) for first, last in event.sacked],
                ece=event.ece,
                duplicate=None if event.duplicate is None else event.duplicate - 1,
                echo_s=event.echo_s,
            )
        self.note(event.at_s)

    def note(self, time_s: float) -> None:
        """Records what has left, and the state."""
        for sent_s, packet, is_again in self.sender.take_sent():
            self.results.events["sent_again" if is_again else "sent"].append(sent_s)
            if is_again:
                self.last_sent_again = packet + 1
            self.sent_packets = max(self.sent_packets, packet + 1)
        info = self.sender.info()
        values = {name: float(info[name]) for name in QUANTITIES} | {
            "state": float(STATES.index(str(info["state"]))),
            "sent_packets": float(self.sent_packets),
            "last_sent_again": float(self.last_sent_again),
        }
        for name, value in values.items():
            if value < float("inf"):
                self.results.samples[name].append((time_s, value))


def _scenario(script: AckScript) -> Any:
    header = IPV4_AND_TCP + (TIMESTAMPS if script.has_timestamps else 0)
    kinds = {"reno": "reno", "cubic": {"kind": "cubic", "variant": "linux"}}
    flow: dict[str, Any] = {
        "path": ["link"],
        "host": "linux",
        "congestion": kinds[script.control],
        "rtt": "100 ms",
        "packet_size": f"{script.packet_bytes + header} B",
        "header_size": f"{header} B",
        "pacing": script.is_paced,
        "slow_start_after_idle": script.slow_start_after_idle,
        "window_validation": script.slow_start_after_idle,
    }
    if not script.has_sack:
        flow["recovery"] = "newreno"
    if not script.has_timestamps:
        flow["rtt_samples"] = "karn"
    if script.has_ecn:
        flow["ecn"] = "classic"
    if not script.hystart:
        flow["slow_start"] = "standard"
    queue = {"kind": "drop_tail", "limit": "1000 packets"}
    link = {"rate": "1 Gbit/s", "delay": "1 ms", "queue": queue}
    return {"duration": "1000 s", "links": {"link": link}, "flows": {"flow": flow}}
