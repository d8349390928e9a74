"""Drives the engine's sender by a script, and compares what it does."""

import re
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tailroom import _engine
from tailroom.errors import TailroomError
from tailroom.scenario.scenario import Scenario
from validation.packetdrill.assertions import Assertions, variables
from validation.packetdrill.script import (
    Call,
    Code,
    Command,
    Event,
    NotExpressibleError,
    Script,
    Segment,
    When,
    read,
)
from validation.packetdrill.settings import Settings

TOLERANCE_S = 0.004
"""Of packetdrill, if the script names none; or a hundredth of the time since the last event."""
MOST_WAIT_S = 100.0
FAST_OPEN = "TCP Fast Open"
IPV4_AND_TCP = 40
TIMESTAMPS = 12
OWN_MSS = 1460
LIMITS = {
    "shutdown": "a connection that ends",
    "splice": "splice()",
    "sendfile": "sendfile()",
    "poll": "poll()",
    "epoll_create": "epoll",
    "ioctl": "ioctl()",
}
WITHOUT_EFFECT = {
    *("socket", "bind", "listen", "accept", "connect", "fcntl", "getsockopt", "read", "recv"),
}
OPTIONS_WITHOUT_EFFECT = {
    *("SO_REUSEADDR", "SO_SNDBUF", "IP_TOS", "IPV6_TCLASS", "IP_MTU_DISCOVER", "TCP_NODELAY"),
    *("SO_RCVBUF", "IPV6_MTU_DISCOVER", "SO_SNDTIMEO"),
}
WRITES = {"write": 2, "send": 2, "sendto": 2}
"""Calls that hand over data, with the place of their size among the arguments."""


@dataclass(frozen=True)
class Outcome:
    """What became of a script."""

    kind: str
    """`passes`, `differs` or `cannot be expressed`."""
    detail: str = ""
    """Why, or the part that passes."""


class Differs(Exception):  # noqa: N818 - a finding
    """tailroom's sender does something else."""


class Ended(Exception):  # noqa: N818 - the end of what is compared
    """The connection is closed; what follows is not about data."""


def judge(path: Path) -> Outcome:
    """Runs a script."""
    try:
        run = _Run(read(path.read_text(encoding="utf-8")), path.parent)
        run.all()
    except NotExpressibleError as reason:
        return Outcome("cannot be expressed", str(reason))
    except (Differs, TailroomError) as reason:
        return Outcome("differs", str(reason))
    return Outcome("passes", run.part)


@dataclass
class _Bytes:
    """The packets of the bytes that are written, which count from 1."""

    mss: int
    ends: list[int] = field(default_factory=list)

    def write(self, size: int, sent: int) -> int:
        """Adds bytes; returns how many packets are new. A short packet that waits is filled."""
        last = self.ends[-1] if self.ends else 1
        start = self.ends[-2] if len(self.ends) > 1 else 1
        if len(self.ends) > sent and (room := self.mss - (last - start)):
            taken = min(room, size)
            self.ends[-1] += taken
            size, last = size - taken, last + taken
        added = [min(last + at + self.mss, last + size) for at in range(0, size, self.mss)]
        self.ends += added
        return len(added)

    def packet(self, sequence: int, what: str) -> int:
        # The packet that begins with a byte, or ends before it.
        if sequence == 1:
            return 0
        try:
            return self.ends.index(sequence) + 1
        except ValueError:
            raise NotExpressibleError(f"{what} inside a packet") from None


class _Run:
    def __init__(self, script: Script, folder: Path) -> None:
        self.script, self.folder = script, folder
        given = script.options.get("tolerance_usecs")
        self.tolerance_s = float(given) / 1e6 if given else TOLERANCE_S
        self.settings = Settings()
        self.assertions = Assertions()
        self.now = 0.0
        self.last_inbound = False
        self.before: float | None = None
        self.synack: Segment | None = None
        self.syn: Segment | None = None
        self.opened_at = 0.0
        self.sender: _engine.ScriptedSender | None = None
        self.bytes = _Bytes(OWN_MSS)
        self.sent: deque[tuple[float, int, bool]] = deque()
        self.sent_packets = 0
        self.window = 0
        self.acked = 1
        self.compared = 0
        self.part = ""

    def all(self) -> None:
        # Runs every event.
        try:
            for event in self.script.events:
                try:
                    self.one(event)
                except Differs as reason:
                    raise Differs(f"line {event.line}: {reason}") from None
        except Ended:
            pass
        if not self.compared + self.assertions.compared:
            raise NotExpressibleError("nothing about a sender of data")

    def one(self, event: Event) -> None:
        # Runs an event at its time.
        what = event.what
        start = self.now if event.when.is_relative else 0.0
        when = When(start + event.when.first, start + event.when.last, is_relative=False)
        if event.when.is_blocking and isinstance(what, Call) and what.name in WRITES:
            raise NotExpressibleError("a write that waits for room")
        if isinstance(what, Segment) and not what.is_inbound:
            self.expect(what, when)
            return
        self.advance(when.first)
        self.before, self.now = self.now, max(self.now, when.first)
        match what:
            case Command():
                self.command(what)
            case Code():
                self.advance(self.now, is_included=True)
                self.code(what)
            case Call():
                self.call(what)
            case Segment():
                self.hear(what)

    def command(self, command: Command) -> None:
        if self.sender and "sysctl" in command.text and "restore" not in command.text:
            raise NotExpressibleError("a setting that changes on an open connection")
        try:
            self.settings.take(command.text, self.folder)
        except NotExpressibleError as reason:
            if not self.assertions.compared:
                raise
            self.part = f"up to {reason}"
            raise Ended from None

    def code(self, code: Code) -> None:
        info = variables(self.sender.info(), self.bytes.mss) if self.sender else {}
        if fault := self.assertions.run(code.text, info):
            raise Differs(fault)

    def call(self, call: Call) -> None:
        if call.name in LIMITS:
            raise NotExpressibleError(LIMITS[call.name])
        if call.name == "close":
            if self.sender:
                raise Ended
        elif call.name == "setsockopt":
            self.set_option(call.arguments)
        elif call.name in WRITES:
            self.write(call)
        elif call.name not in WITHOUT_EFFECT:
            raise NotExpressibleError(f"{call.name}()")

    def set_option(self, arguments: str) -> None:
        name = arguments.split(",")[2].strip()
        if name == "TCP_CONGESTION":
            control = arguments.split('"')[1]
            self.settings.take(f"net.ipv4.tcp_congestion_control={control}", self.folder)
        elif name.startswith("TCP_FASTOPEN"):
            raise NotExpressibleError(FAST_OPEN)
        elif name not in OPTIONS_WITHOUT_EFFECT:
            raise NotExpressibleError(f"socket option {name}")

    def write(self, call: Call) -> None:
        if flag := re.search(r"MSG_(?!NOSIGNAL|DONTWAIT)\w+", call.arguments):
            raise NotExpressibleError(f"the flag {flag[0]}")
        if not self.sender:
            raise NotExpressibleError(FAST_OPEN)
        if not call.result.isdigit():
            raise NotExpressibleError("a call that fails")
        packets = self.bytes.write(int(call.result), self.sent_packets)
        if packets:
            self.sender.write(self.now, packets)
            self.collect()

    def hear(self, segment: Segment) -> None:
        # A packet comes.
        if set(segment.flags) & set("RF"):
            raise Ended
        if segment.is_opening:
            self.handshake(segment)
            return
        if not self.sender:
            self.open(self.now)
            return
        if segment.last > segment.first and segment.ack == self.acked:
            return  # data for a receiver, which is not compared
        self.ack(segment)

    def handshake(self, segment: Segment) -> None:
        if self.sender:
            raise NotExpressibleError("another handshake")
        if "A" in segment.flags:
            raise NotExpressibleError("AccECN")
        if segment.last > segment.first:
            raise NotExpressibleError(FAST_OPEN)
        if "FO" in segment.options or "FOEXP" in segment.options:
            raise NotExpressibleError(FAST_OPEN)
        self.syn = segment
        if segment.flags.endswith("."):
            self.open(self.now)

    def open(self, now: float) -> None:
        # The handshake is over.
        syn, own = self.syn, self.synack
        if syn is None or own is None:
            raise NotExpressibleError("a connection without a handshake")
        both = [options for options in (syn.options, own.options) if "..." not in options]
        settings = self.settings
        has_timestamps = settings.has_timestamps and all("TS" in options for options in both)
        mss = min(OWN_MSS, int(syn.options.get("mss", 536)))
        header = IPV4_AND_TCP + (TIMESTAMPS if has_timestamps else 0)
        payload = mss - (header - IPV4_AND_TCP)
        flow: dict[str, Any] = {
            "path": ["link"],
            "host": "linux",
            "rtt": "100 ms",
            "packet_size": f"{payload + header} B",
            "header_size": f"{header} B",
            **settings.flow,
        }
        if not all("sackOK" in options for options in both) or not settings.has_sack:
            flow["recovery"] = "newreno"
        if not has_timestamps:
            flow["rtt_samples"] = "karn"
        if settings.has_ecn and "E" in syn.flags:
            flow["ecn"] = "classic"
        queue = {"kind": "drop_tail", "limit": "1000 packets"}
        link = {"rate": "1 Gbit/s", "delay": "1 ms", "queue": queue}
        scenario: Any = {"duration": "1000 s", "links": {"link": link}, "flows": {"flow": flow}}
        self.bytes = _Bytes(payload)
        self.window = syn.window or 0
        handle = Scenario.of(scenario).handle
        self.sender = _engine.ScriptedSender(handle, self.opened_at, now - self.opened_at)

    def ack(self, segment: Segment) -> None:
        if segment.ack is None or self.sender is None:
            raise NotExpressibleError("a packet without an ACK")
        if segment.window == 0:
            raise NotExpressibleError("a window of 0")
        scale = int(self.syn.options.get("wscale", 0)) if self.syn else 0
        self.window = (segment.window or 0) << scale
        at = self.bytes.packet
        blocks = [(at(left, "SACK"), at(right, "SACK")) for left, right in segment.blocks]
        cumulative, duplicate = at(segment.ack, "an ACK"), None
        if cumulative > self.sent_packets:
            raise Differs(f"packet {cumulative} is acknowledged, but has not left")
        if blocks and segment.blocks[0][1] <= segment.ack:
            duplicate = blocks.pop(0)[0]
        self.acked = max(self.acked, segment.ack)
        ece = "E" in segment.flags
        self.sender.ack(self.now, cumulative, blocks, ece=ece, duplicate=duplicate)
        self.collect()

    def expect(self, segment: Segment, when: When) -> None:
        # A packet leaves.
        if segment.is_opening:
            self.now = max(self.now, when.first)
            if self.synack is None:
                self.synack, self.opened_at = segment, self.now
            elif not segment.flags.startswith("S."):
                raise NotExpressibleError("a handshake that is repeated")
            return
        if set(segment.flags) & set("RF"):
            raise Ended
        if segment.last == segment.first:
            if segment.first < self.acked and self.sender:
                raise NotExpressibleError("a probe of a window of 0")
            return  # an ACK, which a receiver sends
        if not self.sender:
            raise NotExpressibleError("data before the connection is open")
        first = self.bytes.packet(segment.first, "a packet")
        end = self.bytes.packet(segment.last, "a packet")
        for packet in range(first, end):
            self.compare(packet, when)
        self.compared += 1

    def compare(self, packet: int, when: When) -> None:
        # Compares the next packet that leaves.
        since = when.first - self.now
        tolerance = max(self.tolerance_s, since / 100)
        until = min(when.last, when.first + MOST_WAIT_S) + tolerance
        while not self.sent and self.sender and self.sender.fire(until + 1e-9) is not None:
            self.collect()
        name = f"packet {packet + 1} at {when.first:.3f} s"
        if not self.sent:
            raise Differs(f"{name} does not leave up to {until:.3f} s")
        at, found, is_again = self.sent.popleft()
        shown = f"packet {found + 1}{' again' if is_again else ''} at {at:.3f} s"
        if found != packet or at < when.first - tolerance:
            raise Differs(f"{shown} instead of {name}")
        self.now = max(self.now, at)

    def advance(self, until: float, *, is_included: bool = False) -> None:
        """Fires the timers before a time."""
        bound = until + 1e-9 if is_included else until
        while self.sender and self.sender.fire(bound) is not None:
            self.collect()

    def collect(self) -> None:
        # Takes what the sender has sent.
        if not self.sender:
            return
        for sent in self.sender.take_sent():
            _, packet, _ = sent
            self.sent_packets = max(self.sent_packets, packet + 1)
            if self.bytes.ends[packet] > self.acked + self.window:
                raise NotExpressibleError("the receiver's window limits the sender")
            self.sent.append(sent)
