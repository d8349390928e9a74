"""A scenario from four numbers: rate, RTT, flows and congestion control."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from numbers import Real
from typing import Any, cast

from tailroom import _engine
from tailroom.arguments import LARGEST_SEED, check_unicode
from tailroom.errors import ScenarioError
from tailroom.quoting import argument_text
from tailroom.scenario.control_arguments import control_words, controls_by_group, read_control
from tailroom.scenario.custom_controls import Congestion, Control
from tailroom.scenario.named_values import near
from tailroom.scenario.periods import PROBE_RTT_INTERVALS_S, period_s
from tailroom.scenario.scenario import Scenario
from tailroom.scenario.types import DropTailQueue, Flows, Queue

HOST = "linux"
"""Profile of the hosts: a question without a scenario is about hosts of today."""
BUFFER: DropTailQueue = {"kind": "drop_tail", "limit": "1 bdp"}
"""Queue of the link before a search replaces the limit."""
RTT_SPREAD = 0.1
"""RTTs of several flows differ by up to this fraction: equal RTTs synchronize the losses."""
FEWEST_RTTS = 300
"""Minimum duration of a run, in RTTs."""
FEWEST_SECONDS = 30.0
"""Minimum duration of a run, in seconds, unless that is more than `MANY_RTTS`."""
MANY_RTTS = 3000
"""Number of RTTs that are enough where they take `LEAST_SECONDS`: in data centres 30 s are a
hundred times as many."""
LEAST_SECONDS = 2.0
"""Ten retransmission timeouts (200 ms), and 20 intervals of CoDel."""
MOST_PACKETS = 2e7
"""Maximum duration of a run, in packets at the full rate: about two seconds of computing."""
FEWEST_CYCLES = 4
"""Minimum duration of the statistics, in periods of a control that losses shape."""
FEWEST_INTERVALS = 2
"""The same in intervals of BBR, one of which passes before the statistics begin."""
SETTLING = 0.3
"""Least fraction of a run before the statistics begin."""
SETTLING_CYCLES = 3
"""Least time between the last start of several flows and the statistics, in periods of a control
that losses shape: flows that start within seconds lose packets together at first."""
MOST_SETTLING = 0.5
"""Largest fraction of a run before the statistics begin."""
LATEST_START_RTTS = 50
"""The flows start within so many RTTs, or within a fifth of a run that is shorter."""
PACKET_BYTES = 1500
"""Packet size on the wire."""

_RANGE = re.compile(r"(.+?)(?:\s+to\s+|\s*\.\.\.?\s*|\s*(?<![eE])-\s*)(.+)")
_NUMBER_AND_UNIT = re.compile(r"([\d._]+)\s*(.*)")
_PREFIXED = re.compile(r"\s*([\d._]+(?:[eE]\d+)?)\s*(?:([kmgtKMGT])|([kKMGT])b(?:/s)?)\s*")
"""A rate with nothing but a prefix (`1G`, `100m`), or in short (`1Gb`, `1 Gb/s`). Where the case of
the letters would tell bits from bytes, as in `1gb` or `50 mbps`, the engine says what to write."""
_MIX = re.compile(r"(\d+)\s+([A-Za-z_][\w.]*(?::[\w.]+)?)")
ONLY_GROUP = "flows"
"""Name of the group of flows if there is only one group."""


def dumbbell(  # noqa: PLR0913 - the four numbers, and two more
    rate: str | float,
    rtt: "str | float | timedelta | tuple[float, float]",
    flows: int | str | Mapping[str, int] = 1,
    congestion: Congestion | None = None,
    *,
    queue: "Queue | str" = BUFFER,
    duration: str | float | timedelta | None = None,
    host: str = HOST,
    access_rate: str | float | None = None,
    groups: Mapping[str, Flows] | None = None,
) -> Scenario:
    """Long flows of 1500-byte packets over one link, `bottleneck`.

    The flows start at random times. The RTTs of several flows are drawn from `rtt` plus or minus
    10 %, as flows that do not differ lose packets together, or from the range that `rtt` gives; one
    flow has the RTT as given. The statistics begin three periods of each control after the flows
    have started (CUBIC from loss to loss; one period of a flow alone, one interval of BBR), but not
    before 30 % of a run, nor after half of it. Without `duration`, a run lasts 300 RTTs, at least
    30 s, or 3000 RTTs if they are 2 s to 30 s, and so long that its statistics cover four periods,
    or two intervals of BBR, but no more than 20 million packets.

    Args:
        rate: Rate of the link with its unit, as in `"1 Gbit/s"` or `"1G"`, or in bit/s.
        rtt: Two-way propagation delay with its unit, as in `"40 ms"` or `"5 ms to 200 ms"`, or in
            seconds, as in `0.04` or `(0.005, 0.2)`.
        flows: Number of flows, or number per congestion control: `{"cubic": 500, "bbr3": 100}` or
            `"500 cubic, 100 bbr3"`.
        congestion: The congestion control of all flows, where `flows` is a number; CUBIC if left
            out. Or congestion controls by the name of their group; see `ONLY_GROUP`.
        queue: Queue discipline of the link: its name, or a table with its parameters; a DropTail
            queue of one bandwidth-delay product if left out.
        duration: Simulated time of a run, with its unit or in seconds.
        host: Profile of the hosts, as `tailroom list host` names it.
        access_rate: Rate of the access link of each flow, as `rate`; without it, a flow may send at
            the rate of the link.
        groups: Other groups of flows by name; they cross the same link unless they have a `path`.

    Raises:
        ScenarioError: A value is wrong; the message begins with the name of the argument.
    """
    rate, rate_bps = read_rate(_rate_text("rate", rate))
    access = (
        None
        if access_rate is None
        else read_rate(_rate_text("access_rate", access_rate), "access_rate")
    )
    rtt = _rtt_text(rtt)
    shortest_s, longest_s = read_rtts(rtt)
    mix = _groups(flows, congestion)
    total = sum(group.count for group in mix)
    mean_s = (shortest_s + longest_s) / 2
    if shortest_s == longest_s and total > 1:
        shortest_s, longest_s = (mean_s * part for part in (1 - RTT_SPREAD, 1 + RTT_SPREAD))
    flow_bps = min(rate_bps / total, access[1] if access else rate_bps)
    window = flow_bps * mean_s / (8 * PACKET_BYTES)
    latest_s = LATEST_START_RTTS * mean_s
    cycles = SETTLING_CYCLES if total > 1 else 1
    needed = [_needed_s(group, window, mean_s, cycles) for group in mix]
    settled_s = max(settling for settling, _ in needed) + latest_s
    counted_s = max(statistics for _, statistics in needed)
    if duration:
        span_s = _read("duration", "positive_duration", _time_text("duration", duration, "60 s"))
    else:
        most_s = max(MOST_PACKETS * 8 * PACKET_BYTES / rate_bps, 20 * mean_s)
        least_s = max(settled_s + counted_s, counted_s / (1 - SETTLING))
        fewest_s = max(min(FEWEST_SECONDS, MANY_RTTS * mean_s), LEAST_SECONDS)
        span_s = min(max(FEWEST_RTTS * mean_s, least_s, fewest_s), most_s)
    start_s = min(0.2 * span_s, latest_s)
    begin_s = min(max(SETTLING * span_s, settled_s), MOST_SETTLING * span_s)
    delay = _milliseconds(min(mean_s / 4, shortest_s / 2))
    tables: dict[str, Any] = {
        group.name: {
            "count": group.count,
            "path": ["bottleneck"],
            "congestion": group.control,
            "host": _known("host", host),
            "packet_size": f"{PACKET_BYTES} B",
            **({"access_rate": access[0]} if access else {}),
            "rtt": _milliseconds(mean_s)
            if shortest_s == longest_s
            else {"uniform": [_milliseconds(shortest_s), _milliseconds(longest_s)]},
            "start": {"uniform": ["0 s", f"{start_s:.6g} s"]},
        }
        for group in mix
    }
    others = {name: {"path": ["bottleneck"], **group} for name, group in (groups or {}).items()}
    if both := tables.keys() & others.keys():
        raise ScenarioError(f"groups: {', '.join(sorted(both))} is taken; choose another name")
    return Scenario(
        title=f"{_words(mix)}, {rate.strip()}, RTT {rtt.strip()}"
        + (f", access links of {access[0].strip()}" if access else ""),
        duration=f"{span_s:.6g} s",
        measure_from=f"{begin_s:.6g} s",
        links={"bottleneck": {"rate": rate, "delay": delay, "queue": cast("Queue", queue)}},
        flows=tables | others,
    )


def _needed_s(
    group: "_Group", window_packets: float, rtt_s: float, cycles: int
) -> tuple[float, float]:
    """How long a group takes to settle, and how long its statistics must be.

    `cycles` is the time to settle, in periods of a control that losses shape.
    """
    control = group.control
    kind = str(control.get("kind") if isinstance(control, Mapping) else control)
    period = period_s(kind, window_packets, rtt_s)
    is_of_intervals = kind in PROBE_RTT_INTERVALS_S
    settling, counted = (1, FEWEST_INTERVALS) if is_of_intervals else (cycles, FEWEST_CYCLES)
    return settling * period, counted * period


def read_rate(text: str, name: str = "rate") -> tuple[str, float]:
    """Reads a rate as in a scenario, and also `1G` or `1 Gb/s`.

    Args:
        text: The text.
        name: The argument, for messages.

    Returns:
        The rate as a scenario has it, and in bit/s.

    Raises:
        ScenarioError: The text is not a rate, or could mean bytes.
    """
    if match := _PREFIXED.fullmatch(text):
        prefix = (match[2] or match[3]).upper().replace("K", "k")
        text = f"{match[1]} {prefix}bit/s"
    return text, _read(name, "rate", text)


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
                'controls, as in "500 cubic, 100 bbr3" or "8 cubic, 8 module:Class"'
            )
        mix[match[2]] = mix.get(match[2], 0) + int(match[1])
    return mix


@dataclass(frozen=True)
class _Group:
    """Flows under the same congestion control."""

    name: str
    control: Control
    count: int


def _groups(
    flows: int | str | Mapping[str, int], congestion: Congestion | None
) -> Sequence[_Group]:
    """Returns the groups of flows, one per congestion control.

    Raises:
        ScenarioError: A control is unknown or named twice, or a number is below 1.
    """
    if isinstance(flows, str):
        flows = read_flows(flows)
    by_group = isinstance(congestion, Mapping) and "kind" not in congestion
    if isinstance(flows, Mapping):
        if congestion is not None and not by_group:
            raise ScenarioError(
                "congestion: flows names the congestion controls already; leave congestion out"
            )
        groups = _mixed(flows)
    else:
        control = "cubic" if congestion is None or by_group else congestion
        groups = [_Group(ONLY_GROUP, read_control("congestion", control), flows)]
    if by_group:
        groups = _replaced(groups, controls_by_group(congestion, list))
    for group in groups:
        if isinstance(group.control, str) and ":" not in group.control:
            place = "flows" if isinstance(flows, Mapping) else "congestion"
            _known("congestion", group.control, place)
        _check_count(group.count)
    return groups


def _mixed(flows: Mapping[str, int]) -> list[_Group]:
    """Returns a group per control, named after the control.

    Raises:
        ScenarioError: There is no control, or a key is not a control.
    """
    if not flows:
        raise ScenarioError("flows: is empty; give at least 1 flow")
    if len(flows) == 1:
        return [_Group(ONLY_GROUP, read_control("flows", *flows), *flows.values())]
    groups: list[_Group] = []
    for key, count in flows.items():
        control = read_control("flows", key)
        name = re.sub(r"\W+", "_", control_words(control))
        alike = sum(re.sub(r"-\d+$", "", group.name) == name for group in groups)
        groups.append(_Group(f"{name}-{alike + 1}" if alike else name, control, count))
    return groups


def _replaced(groups: Iterable[_Group], controls: Mapping[str, Control]) -> list[_Group]:
    """Returns the groups with other controls.

    Raises:
        ScenarioError: There is no group of such a name.
    """
    groups = list(groups)
    names = [group.name for group in groups]
    for name in controls:
        if name not in names:
            raise ScenarioError(
                f"congestion: there is no group {name!r}; without a scenario, the names are "
                f"{', '.join(names)}, or give one control for all flows"
            )
    return [
        _Group(group.name, controls.get(group.name, group.control), group.count) for group in groups
    ]


def _check_count(count: object) -> None:
    """Refuses a number of flows that is not a whole number of at least 1.

    Raises:
        ScenarioError: It is not.
    """
    if not isinstance(count, int) or isinstance(count, bool) or count > LARGEST_SEED:
        raise ScenarioError(
            f"flows: {argument_text(count)} is not a number of flows; give a whole number, or a "
            'number per congestion control, as in {"cubic": 500, "bbr3": 100}'
        )
    if count < 1:
        raise ScenarioError(f"flows: {count} flows; give at least 1")


def _known(name: str, kind: str, place: str | None = None) -> str:
    """Returns the kind of a component after checking that it exists.

    Args:
        name: The key of the scenario: `congestion` or `host`.
        kind: The kind.
        place: The argument, for messages; `name` if left out.

    Raises:
        ScenarioError: There is no such component.
    """
    known = [component["kind"] for component in json.loads(_engine.components())[name]]
    if kind in known:
        return kind
    names = near(str(kind), known)
    remark = (
        f"{_engine.remark(kind, names[0])}. " if names and _engine.remark(kind, names[0]) else ""
    )
    meant = f"did you mean `{'` or `'.join(names)}`? {remark}" if names else ""
    own = ', and "module:Class" is a class of your own' if name == "congestion" else ""
    raise ScenarioError(
        f'{place or name}: "{kind}" is unknown; {meant}`tailroom list {name}` names all{own}'
    )


def _words(groups: Sequence[_Group]) -> str:
    """Returns the number of flows per control, as in "500 cubic and 100 bbr3 flows"."""
    parts = []
    for group in groups:
        name, comma, parameters = control_words(group.control).partition(", ")
        parts.append(f"{group.count} {name}{f' ({parameters})' if comma else ''}")
    total = sum(group.count for group in groups)
    return f"{' and '.join(parts)} {'flow' if total == 1 else 'flows'}"


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


def _rate_text(name: str, rate: object) -> str:
    if isinstance(rate, str):
        return rate
    rate_bps = _number(name, rate, "of bit/s", "1 Gbit/s")
    scales = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))
    scale, unit = next((known for known in scales if abs(rate_bps) >= known[0]), scales[-1])
    return f"{rate_bps / scale:.12g} {unit}"


def _rtt_text(rtt: object) -> str:
    if isinstance(rtt, (tuple, list)) and len(rtt) == 2:
        return " to ".join(_time_text("rtt", end, "40 ms") for end in rtt)
    return _time_text("rtt", rtt, "40 ms")


def _time_text(name: str, value: object, example: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, timedelta):
        value = value.total_seconds()
    value_s = _number(name, value, "of seconds", example)
    return f"{value_s:.12g} s" if abs(value_s) >= 1 else f"{1e3 * value_s:.12g} ms"


def _number(name: str, value: object, unit: str, example: str) -> float:
    """Returns a number.

    Raises:
        ScenarioError: The value is something else.
    """
    is_huge = isinstance(value, int) and abs(value) > LARGEST_SEED
    if not isinstance(value, Real) or isinstance(value, bool) or is_huge:
        raise ScenarioError(
            f"{name}: {argument_text(value)} is not a quantity; "
            f'write text, as in "{example}", or a number {unit}'
        )
    return float(value)


def _read(name: str, kind: str, text: str) -> float:
    check_unicode(f"{name}: {text}", text)
    try:
        return _engine.quantity(kind, text)
    except ScenarioError as error:
        raise ScenarioError(f"{name}: {error}") from None


def _milliseconds(value_s: float) -> str:
    return f"{1e3 * value_s:.6g} ms"
