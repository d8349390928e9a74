"""A scenario from four numbers: rate, RTT, flows and congestion control."""

import difflib
import json
import re
from collections.abc import Mapping
from math import cbrt
from typing import Any

from tailroom import _engine
from tailroom.errors import ScenarioError
from tailroom.scenario.types import DropTailQueue, Scenario

HOST = "linux"
"""Profile of the hosts: a question without a scenario is about hosts of today."""
BUFFER: DropTailQueue = {"kind": "drop_tail", "limit": "1 bdp"}
"""Queue of the link before a search replaces the limit."""
RTT_SPREAD = 0.1
"""RTTs of several flows differ by up to this fraction: equal RTTs synchronize the losses."""
FEWEST_RTTS = 300
"""Minimum duration of a run, in RTTs."""
FEWEST_SECONDS = 30.0
"""Minimum duration of a run, in seconds."""
MOST_PACKETS = 2e7
"""Maximum duration of a run, in packets at the full rate: about two seconds of computing."""
FEWEST_CYCLES = 4
"""Minimum duration of the statistics, in cycles of CUBIC from loss to loss."""
SETTLING = 0.3
"""Fraction of a run before the statistics begin."""
PACKET_BYTES = 1500
"""Packet size on the wire."""

CUBIC_BETA, CUBIC_C = 0.7, 0.4  # RFC 9438 sec. 4.6 and 5
RENO_FRIENDLY_ALPHA = 3 * (1 - CUBIC_BETA) / (1 + CUBIC_BETA)  # RFC 9438 sec. 4.3

_RANGE = re.compile(r"(.+?)(?:\s+to\s+|\s*\.\.\.?\s*|\s*(?<![eE])-\s*)(.+)")
_NUMBER_AND_UNIT = re.compile(r"([\d._]+)\s*(.*)")
_MIX = re.compile(r"(\d+)\s+([A-Za-z]\w*)")


def dumbbell(  # noqa: PLR0913 - the four numbers, and two more
    rate: str,
    rtt: str,
    flows: int | Mapping[str, int] = 1,
    congestion: str | None = None,
    *,
    duration: str | None = None,
    host: str = HOST,
) -> Scenario:
    """Long flows of 1500-byte packets over one DropTail link.

    The flows start at random times. The RTTs of several flows are drawn from `rtt` plus or minus
    10 %, as flows that do not differ lose packets together, or from the range that `rtt` gives; one
    flow has the RTT as given. Without `duration`, a run lasts 300 RTTs, at least 30 s, and so long
    that its statistics cover four cycles of CUBIC, but no more than 20 million packets.

    Args:
        rate: Rate of the link with its unit, as in `"1 Gbit/s"`.
        rtt: Two-way propagation delay with its unit, as in `"40 ms"` or `"5 ms to 200 ms"`.
        flows: Number of flows, or number per congestion control: `{"cubic": 500, "bbr3": 100}`.
        congestion: The congestion control of all flows, where `flows` is a number; CUBIC if left
            out.
        duration: Simulated time of a run, with its unit.
        host: Profile of the hosts, as `tailroom list host` names it.

    Raises:
        ScenarioError: A value is wrong; the message begins with the name of the argument.
    """
    _check_text("rate", rate, "1 Gbit/s")
    _check_text("rtt", rtt, "40 ms")
    _check_text("duration", duration, "60 s")
    rate_bps = _read("rate", "rate", rate)
    shortest_s, longest_s = read_rtts(rtt)
    mix = _mix(flows, congestion)
    mean_s = (shortest_s + longest_s) / 2
    if shortest_s == longest_s and sum(mix.values()) > 1:
        shortest_s, longest_s = (mean_s * part for part in (1 - RTT_SPREAD, 1 + RTT_SPREAD))
    if duration:
        span_s = _read("duration", "positive_duration", duration)
    else:
        most_s = max(MOST_PACKETS * 8 * PACKET_BYTES / rate_bps, 20 * mean_s)
        window = rate_bps * mean_s / (8 * PACKET_BYTES) / sum(mix.values())
        cycles_s = FEWEST_CYCLES * cubic_cycle_s(window, mean_s) / (1 - SETTLING)
        span_s = min(max(FEWEST_RTTS * mean_s, cycles_s, FEWEST_SECONDS), most_s)
    start_s = min(0.2 * span_s, 50 * mean_s)
    delay = _milliseconds(min(mean_s / 4, shortest_s / 2))
    groups: dict[str, Any] = {
        name: {
            "count": count,
            "path": ["bottleneck"],
            "congestion": control,
            "host": _known("host", host),
            "packet_size": f"{PACKET_BYTES} B",
            "rtt": _milliseconds(mean_s)
            if shortest_s == longest_s
            else {"uniform": [_milliseconds(shortest_s), _milliseconds(longest_s)]},
            "start": {"uniform": ["0 s", f"{start_s:.6g} s"]},
        }
        for name, control, count in _groups(mix)
    }
    return {
        "title": f"{_mix_words(mix)}, {rate.strip()}, RTT {rtt.strip()}",
        "duration": f"{span_s:.6g} s",
        "measure_from": f"{SETTLING * span_s:.6g} s",
        "links": {"bottleneck": {"rate": rate, "delay": delay, "queue": BUFFER}},
        "flows": groups,
    }


def cubic_cycle_s(window_packets: float, rtt_s: float) -> float:
    """The time from loss to loss of a CUBIC flow without a queue (RFC 9438 sec. 4.2 and 4.3).

    Args:
        window_packets: Its window at a loss.
        rtt_s: Its round-trip time.
    """
    lost = (1 - CUBIC_BETA) * window_packets
    return min(cbrt(lost / CUBIC_C), max(lost / RENO_FRIENDLY_ALPHA, 4) * rtt_s)


def read_flows(text: str) -> int | dict[str, int]:
    """Reads `10`, or `500 cubic, 100 bbr3`.

    Raises:
        ScenarioError: The text is neither.
    """
    if text.strip().isdecimal():
        return int(text)
    mix: dict[str, int] = {}
    for part in text.split(","):
        match = _MIX.fullmatch(part.strip())
        if not match:
            raise ScenarioError(
                f'flows: "{text}" is not a number of flows; write a number, or a mix of congestion '
                'controls, as in "500 cubic, 100 bbr3"'
            )
        mix[match[2]] = mix.get(match[2], 0) + int(match[1])
    return mix


def _mix(flows: int | Mapping[str, int], congestion: str | None) -> dict[str, int]:
    """Returns the number of flows per congestion control.

    Raises:
        ScenarioError: A control is unknown or named twice, or a number is below 1.
    """
    if isinstance(flows, Mapping):
        if congestion is not None:
            raise ScenarioError(
                "congestion: flows names the congestion controls already; leave congestion out"
            )
        mix = dict(flows)
    else:
        mix = {congestion or "cubic": flows}
    for control, count in mix.items():
        _known("congestion", control)
        if count < 1:
            raise ScenarioError(f"flows: {count} flows; give at least 1")
    if not mix:
        raise ScenarioError("flows: is empty; give at least 1 flow")
    return mix


def _known(name: str, kind: str) -> str:
    """Returns the kind of a component after checking that it exists.

    Raises:
        ScenarioError: There is no such component.
    """
    known = [component["kind"] for component in json.loads(_engine.components())[name]]
    if kind in known:
        return kind
    near = difflib.get_close_matches(kind, known, n=2, cutoff=0.5)
    near += [
        known_kind for known_kind in known if known_kind.startswith(kind) and known_kind not in near
    ]
    meant = f"did you mean `{'` or `'.join(near)}`? " if near else ""
    raise ScenarioError(f'{name}: "{kind}" is unknown; {meant}`tailroom list {name}` names all')


def _groups(mix: Mapping[str, int]) -> list[tuple[str, str, int]]:
    """Name, control and number of flows of each group; one group alone is called `flows`."""
    if len(mix) == 1:
        return [("flows", control, count) for control, count in mix.items()]
    return [(control, control, count) for control, count in mix.items()]


def _mix_words(mix: Mapping[str, int]) -> str:
    parts = [f"{count} {control}" for control, count in mix.items()]
    return f"{' and '.join(parts)} {'flow' if sum(mix.values()) == 1 else 'flows'}"


def read_rtts(rtt: str) -> tuple[float, float]:
    """Reads `40 ms`, `5 ms to 200 ms` or `5-200 ms`: the shortest and the longest RTT in seconds.

    Args:
        rtt: The text.

    Raises:
        ScenarioError: The text is not an RTT or a range, or the range is empty.
    """
    match = _RANGE.fullmatch(rtt.strip())
    if not match:
        rtt_s = _read("rtt", "positive_duration", rtt)
        return rtt_s, rtt_s
    shortest, longest = match.groups()
    last = _NUMBER_AND_UNIT.fullmatch(longest)
    if last and (first := _NUMBER_AND_UNIT.fullmatch(shortest)) and not first[2]:
        shortest += last[2]
    shortest_s, longest_s = (_read("rtt", "positive_duration", end) for end in (shortest, longest))
    if shortest_s >= longest_s:
        raise ScenarioError(f'rtt: "{rtt}" is empty; give the shorter RTT first')
    return shortest_s, longest_s


def _check_text(name: str, value: object, example: str) -> None:
    """Refuses a number, which has no unit.

    Raises:
        ScenarioError: The value is not a string.
    """
    if value is not None and not isinstance(value, str):
        raise ScenarioError(f'{name}: {value!r} has no unit; write a string, as in "{example}"')


def _read(name: str, kind: str, text: str) -> float:
    try:
        return _engine.quantity(kind, text)
    except ScenarioError as error:
        raise ScenarioError(f"{name}: {error}") from None


def _milliseconds(value_s: float) -> str:
    return f"{1e3 * value_s:.6g} ms"
