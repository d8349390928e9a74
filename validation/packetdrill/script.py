"""Reads a packetdrill script: https://github.com/google/packetdrill, `parser.y` and `lexer.l`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field


class NotExpressibleError(Exception):
    """The script is about something that tailroom's sender does not have; the message says what."""


@dataclass(frozen=True)
class When:
    """The time of an event, in seconds."""

    first: float
    last: float
    is_relative: bool
    is_blocking: bool = False
    """Whether it is a call that begins at the first time and ends later."""


@dataclass(frozen=True)
class Command:
    """Lines of a shell."""

    text: str


@dataclass(frozen=True)
class Code:
    """Lines of Python about `tcp_info`."""

    text: str


@dataclass(frozen=True)
class Call:
    """A system call."""

    name: str
    arguments: str
    result: str


@dataclass(frozen=True)
class Segment:
    """A packet of TCP."""

    is_inbound: bool
    flags: str
    first: int
    last: int
    ack: int | None
    window: int | None
    blocks: tuple[tuple[int, int], ...] = ()
    options: dict[str, str] = field(default_factory=dict)
    """Words of the options after their names; of `...`, nothing is known."""

    @property
    def is_opening(self) -> bool:
        """Whether it belongs to the handshake."""
        return "S" in self.flags


@dataclass(frozen=True)
class Event:
    """What happens, and when."""

    line: int
    when: When
    what: Command | Code | Call | Segment


@dataclass(frozen=True)
class Script:
    """The events of a script, and its own options (`--tolerance_usecs=20000`)."""

    events: tuple[Event, ...]
    options: dict[str, str]


NOW = When(0.0, 0.0, is_relative=True)
SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/|#[^\n]*)+", re.DOTALL)
OPTION = re.compile(r"--(\w+)(?:=(\S+))?")
TIME = re.compile(r"(\+?)(\d*\.?\d+|\*)(?:\s*(?:~|\.\.\.)\s*\+?(\d*\.?\d+))?\s+")
SHELL = re.compile(r"`([^`]*)`")
PYTHON = re.compile(r"%\{(.*?)\}%", re.DOTALL)
CALL = re.compile(r"(\w+)\((.*)\)\s*=\s*(.*)", re.DOTALL)
SEGMENT = re.compile(
    r"([<>])\s*(?:\[[\w ]+\]\s*)?([SFRPEWAN.]+)\s+(\d+):(\d+)\(\d+\)"
    r"(?:\s+ack\s+(\d+))?(?:\s+win\s+(\d+))?\s*(?:<([^>]*)>)?\s*$"
)


def read(text: str) -> Script:
    """Reads a script.

    Raises:
        NotExpressibleError: A line is none of those that are known here.
    """
    options: dict[str, str] = {}
    return Script(tuple(_events(text, options)), options)


def _events(text: str, options: dict[str, str]) -> Iterator[Event]:
    at = 0
    while True:
        if space := SPACE.match(text, at):
            at = space.end()
        if at >= len(text):
            return
        if option := OPTION.match(text, at):
            options[option[1]] = option[2] or ""
            at = option.end()
            continue
        line = text.count("\n", 0, at) + 1
        when = NOW
        if time := TIME.match(text, at):
            when, at = _when(time), time.end()
        what, at = _what(text, at)
        yield Event(line, when, what)


def _when(time: re.Match[str]) -> When:
    if time[2] == "*":
        return When(0.0, float("inf"), is_relative=True)
    first = float(time[2])
    is_blocking = "..." in time[0]
    last = float(time[3]) if time[3] and not is_blocking else first
    return When(first, last, is_relative=bool(time[1]), is_blocking=is_blocking)


def _what(text: str, at: int) -> tuple[Command | Code | Call | Segment, int]:
    if shell := SHELL.match(text, at):
        return Command(shell[1]), shell.end()
    if python := PYTHON.match(text, at):
        return Code(python[1]), python.end()
    line, end = _statement(text, at)
    if line[0] in "<>":
        return _segment(line), end
    if call := CALL.match(line):
        return Call(call[1], call[2], call[3].strip()), end
    raise NotExpressibleError(f"unknown line: {line[:60]}")


def _statement(text: str, at: int) -> tuple[str, int]:
    # A line without its comment, and those after it up to the last bracket.
    end, found = at, ""
    while True:
        stop = text.find("\n", end)
        stop = len(text) if stop < 0 else stop
        found += re.sub(r"//.*", "", text[end:stop]).strip() + " "
        end = stop + 1
        if found.count("(") <= found.count(")") and found.count("{") <= found.count("}"):
            return found.strip(), min(end, len(text))
        if stop == len(text):
            raise NotExpressibleError(f"a bracket stays open: {found[:60]}")


def _segment(line: str) -> Segment:
    found = SEGMENT.match(line)
    if not found:
        kind = line[1:].split(maxsplit=1)[0] if line[1:].split() else "nothing"
        raise NotExpressibleError(f"a packet that is no plain TCP segment ({kind})")
    way, flags, first, last, ack, window, options = found.groups()
    words = dict(_option(option) for option in (options or "").split(",") if option.strip())
    sacked = words.pop("sack", "")
    blocks = tuple((int(left), int(right)) for left, right in re.findall(r"(\d+):(\d+)", sacked))
    return Segment(
        is_inbound=way == "<",
        flags=flags,
        first=int(first),
        last=int(last),
        ack=int(ack) if ack else None,
        window=int(window) if window else None,
        blocks=blocks,
        options=words,
    )


def _option(text: str) -> tuple[str, str]:
    name, _, words = text.strip().partition(" ")
    return name, words
