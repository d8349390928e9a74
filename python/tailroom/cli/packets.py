"""`tailroom run --pcap`, `--packets` and `--qlog`: packets at links and ends of flows, in files."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import tailroom
from tailroom.cli import failures
from tailroom.cli.options import seconds_of
from tailroom.scenario.scenario import Scenario
from tailroom.simulation.packet_capture import ENDS
from tailroom.simulation.sender_trace import MOST_FLOWS
from tailroom.storage.output import output_directory, output_file

MOST_PACKETS = 10_000_000
"""Maximum number of packets in a file; they take 1.3 GB of memory."""
Writer = Callable[[], None]
"""Writes an output."""
FILE_BYTES = 100
"""Bytes of a packet in a capture."""


@dataclass(frozen=True)
class Wanted:
    """The packets that are asked for, and their files."""

    pcap: Path | None
    packets: Path | None
    qlog: Path | None
    at: Sequence[str]
    start: str | None
    end: str | None
    flows: Sequence[str]
    every: int
    direction: str | None
    ip: str | None

    def __post_init__(self) -> None:
        """Checks that the options fit together.

        Raises:
            InputError: They do not.
        """
        if self.qlog:
            if self.pcap or self.packets or self.at or self._chooses:
                raise failures.InputError(
                    "--qlog: records every packet at the sender of its flow; leave out --at, "
                    "--every, --direction, --ip, --pcap and --packets"
                )
        elif self.pcap or self.packets:
            if not self.at:
                raise failures.InputError(
                    "--pcap and --packets: need a place; add for example --at links.bottleneck, or "
                    "--at FLOW.sender"
                )
            if self.ip and not self.pcap:
                raise failures.InputError("--ip: chooses the headers of a capture; add --pcap FILE")
        elif self.at or self.start or self.end or self.flows or self._chooses:
            raise failures.InputError(
                "--at, --from, --to, --only-flows, --every, --direction and --ip: choose packets; "
                "add --pcap FILE, --packets FILE or --qlog DIR"
            )

    @property
    def _chooses(self) -> bool:
        """Whether there are options of captures and tables alone."""
        return self.every != 1 or self.direction is not None or self.ip is not None

    def __bool__(self) -> bool:
        """Whether any packets are asked for."""
        return bool(self.at or self.qlog)

    def recorded_by(self, scenario: Scenario) -> Scenario:
        """Returns the scenario with a record of these packets.

        Raises:
            InputError: There is no such link or flow, a flow does not cross the links, or too many
                packets would be recorded.
        """
        links = scenario.handle.resolved["links"]
        groups = scenario.handle.resolved["flows"]
        self._check_flows(groups)
        known = json.loads(scenario.handle.model_input())
        traced = {one["group"] for link in known["links"] for one in link["classes"]}
        start_s = self._time_s("--from", self.start, 0.0)
        end_s = self._time_s("--to", self.end, known["duration_s"])
        if not 0 <= start_s < end_s:
            raise failures.InputError(
                f"--to {end_s:g} s: is not after --from {start_s:g} s; give a later time"
            )
        rates = {
            link["name"]: link["rate_bps"] / 8 / link["packet_bytes"] for link in known["links"]
        }
        logs: dict[str, object] = {}
        for place in self.at or self._traced_senders(groups, traced):
            name = place.removeprefix("links.")
            group = _group_of_end(groups, place)
            if group is None and name not in links:
                raise failures.InputError(
                    f"--at {place}: there is no such link or end of a flow; choose among "
                    f"{', '.join([*_ends(groups), *(f'links.{link}' for link in links)])}"
                )
            packets = round(_packets_per_second(name, group, rates, groups) * (end_s - start_s))
            self._check_size(place, packets)
            key = f"flows.{group}.endpoint_log" if group else f"links.{name}.arrival_log"
            # A link may be offered more than it can send; the run ends if it is much more.
            logs[key] = {
                "from": f"{start_s:.12f} s",
                "to": f"{end_s:.12f} s",
                "most_packets": min(MOST_PACKETS, 4 * packets + 100_000),
            }
        return scenario.replacing(logs)

    def _traced_senders(self, groups: dict[str, Any], traced: set[str]) -> list[str]:
        """A sender of each group with flows whose trace is written."""
        group_of = {name: _group_in(groups, name) or name for name in self.flows or traced}
        chosen = [name for name, group in group_of.items() if group in traced]
        if not chosen or len(chosen) < len(group_of):
            others = ", ".join(name for name in groups if name in traced)
            raise failures.InputError(
                "--qlog: needs permanent flows under congestion control with a `path`; "
                + (f"choose with --only-flows among {others}" if others else "leave out --qlog")
            )
        flows = sum(groups[name]["count"] if name in groups else 1 for name in chosen)
        if flows > MOST_FLOWS:
            raise failures.InputError(
                f"--qlog: would write traces of {flows:,} flows, at most {MOST_FLOWS:,}; choose "
                "others with --only-flows"
            )
        return sorted({f"flows.{group_of[name]}.sender" for name in chosen})

    def _check_flows(self, groups: dict[str, Any]) -> None:
        """Checks that the flows have names and cross one of the links."""
        ends = {_group_of_end(groups, place) for place in self.at} - {None}
        links = {place.removeprefix("links.") for place in self.at}
        for flow in self.flows:
            name = _group_in(groups, flow)
            if name is None:
                raise failures.InputError(
                    f"--only-flows {flow}: there is no such flow; choose a group, or a flow of it: "
                    f"{', '.join(map(_names, groups, groups.values()))} (flows that arrive and "
                    "depart have the name of their group)"
                )
            group = groups[name]
            crossed = [*group.get("path", links), *group.get("reverse_path", ())]
            if links and name not in ends and not links.intersection(crossed):
                raise failures.InputError(
                    f"--only-flows {flow}: does not cross --at {', '.join(self.at)}; its links are "
                    f"{', '.join(crossed)}"
                )

    def _time_s(self, option: str, text: str | None, default_s: float) -> float:
        if text is None:
            return default_s
        time_s = seconds_of(text)
        if time_s is None:
            raise failures.InputError(
                f'{option} {text}: not a time in s, ms or us; write for example "1.5 s"'
            )
        return time_s

    def _check_size(self, place: str, packets: int) -> None:
        if packets > MOST_PACKETS:
            raise failures.InputError(
                f"--at {place}: about {packets:,} packets would arrive, {FILE_BYTES * packets:,} "
                f"bytes in a capture; at most {MOST_PACKETS:,} are recorded: shorten the time with "
                "--from and --to"
            )

    @contextmanager
    def files(self, out: Path | None) -> Iterator[Callable[[tailroom.Result], list[Writer]]]:
        """Opens the files; yields a function that returns for a result what writes each of them.

        Args:
            out: The directory of `--out`.

        Raises:
            InputError: Two of the outputs are the same, or one is in the other.
            OutputDirectoryError: An output cannot be written.
        """
        _check_apart({"--out": out, "--pcap": self.pcap, "--packets": self.packets})
        _check_apart({"--out": out, "--qlog": self.qlog})
        with ExitStack() as stack:
            pcap, packets = (
                stack.enter_context(output_file(path)) if path else None
                for path in (self.pcap, self.packets)
            )
            traces = stack.enter_context(output_directory(self.qlog)) if self.qlog else None

            def writers(result: tailroom.Result) -> list[Writer]:
                places = self.at if any(_end_of(place) for place in self.at) else ()
                chosen: dict[str, Any] = {
                    "flows": self.flows,
                    "every": self.every,
                    "at": places,
                    "direction": self.direction,
                }
                fills = (
                    (pcap, partial(result.save_pcap, ip=int(self.ip or 4), **chosen)),
                    (packets, partial(result.save_packets, **chosen)),
                    (traces, partial(result.save_qlog, flows=self.flows)),
                )
                return [partial(output.write, fill) for output, fill in fills if output]

            yield writers


def _end_of(place: str) -> str:
    """The end of a flow that a place is; empty if it is none."""
    end = place.rpartition(".")[2]
    return end if end in ENDS and not place.startswith("links.") else ""


def _group_of_end(groups: dict[str, Any], place: str) -> str | None:
    """The group of the flow whose end is a place; `None` if the place is no end of a flow."""
    if not _end_of(place):
        return None
    name = _group_in(groups, place.removeprefix("flows.").rpartition(".")[0])
    return name if name and "congestion" in groups[name] else None


def _ends(groups: dict[str, Any]) -> list[str]:
    """The ends of groups, as places."""
    return [f"{name}.{end}" for name in groups if "congestion" in groups[name] for end in ENDS]


def _packets_per_second(
    link: str, end_of: str | None, rates: dict[str, float], groups: dict[str, Any]
) -> float:
    """The most packets that pass a link, or both ends of a group's flows, per second.

    On a link of ACKs alone, one for each packet of data; each packet of data and each ACK passes
    two ends.
    """
    if end_of:
        path = groups[end_of].get("path", rates)
        return 4 * min((rates.get(one, 0.0) for one in path), default=0.0)
    most = rates.get(link, 0.0)
    paths = [group.get("path", [link]) for group in groups.values()]
    if any(link in path for path in paths):
        return most
    answered = [
        path
        for path, group in zip(paths, groups.values(), strict=True)
        if link in group.get("reverse_path", ())
    ]
    # Groups that share their slowest link share its rate.
    slowest = {min(path, key=lambda one: rates.get(one, 0.0)) for path in answered}
    return min(most, sum(rates.get(one, 0.0) for one in slowest))


def _group_in(groups: dict[str, Any], flow: str) -> str | None:
    """The group that is meant by its name or by that of a flow; `None` if nothing is."""
    group, _, index = flow.rpartition(".")
    if flow in groups:
        return flow
    count = groups[group]["count"] if group in groups else 1
    is_flow = count > 1 and index.isdecimal() and index == str(min(int(index), count - 1))
    return group if is_flow else None


def _names(name: str, group: dict[str, Any]) -> str:
    return f"{name} ({name}.0 to {name}.{group['count'] - 1})" if group["count"] > 1 else name


def _check_apart(outputs: dict[str, Path | None]) -> None:
    """Checks that no output is the same as another, or in it."""
    places = [(option, Path(os.path.abspath(path))) for option, path in outputs.items() if path]
    for (first, one), (second, other) in combinations(places, 2):
        if one.is_relative_to(other) or other.is_relative_to(one):
            raise failures.InputError(
                f"{second} {outputs[second]}: is the output of {first} or in it; give each option "
                "a place of its own"
            )
