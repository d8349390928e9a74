"""`tailroom run --pcap`, `--packets` and `--qlog`: packets that arrive at links, in files."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tailroom
from tailroom.cli import failures
from tailroom.cli.options import seconds_of
from tailroom.scenario.scenario import Scenario
from tailroom.storage.output import output_directory, output_file

MOST_PACKETS = 10_000_000
"""Maximum number of packets in a file; they take 1.1 GB of memory."""
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

    def __post_init__(self) -> None:
        """Checks that the options fit together.

        Raises:
            InputError: They do not.
        """
        if self.qlog:
            if self.pcap or self.packets or self.at or self.every != 1:
                raise failures.InputError(
                    "--qlog: records every packet at the first link of its flow; leave out --at, "
                    "--every, --pcap and --packets"
                )
        elif self.pcap or self.packets:
            if not self.at:
                raise failures.InputError(
                    "--pcap and --packets: need a link; add for example --at links.bottleneck"
                )
        elif self.at or self.start or self.end or self.flows or self.every != 1:
            raise failures.InputError(
                "--at, --from, --to, --only-flows and --every: choose packets; add --pcap FILE, "
                "--packets FILE or --qlog DIR"
            )

    def __bool__(self) -> bool:
        """Whether any packets are asked for."""
        return bool(self.at or self.qlog)

    def recorded_by(self, scenario: Scenario) -> Scenario:
        """Returns the scenario with a record of these packets.

        Raises:
            InputError: There is no such link, or too many packets would be recorded.
        """
        links = scenario.handle.resolved["links"]
        self._check_flows(scenario.handle.resolved["flows"])
        known = json.loads(scenario.handle.model_input())
        start_s = self._time_s("--from", self.start, 0.0)
        end_s = self._time_s("--to", self.end, known["duration_s"])
        if not 0 <= start_s < end_s:
            raise failures.InputError(
                f"--to {end_s:g} s: is not after --from {start_s:g} s; give a later time"
            )
        rates = {link["name"]: (link["rate_bps"], link["packet_bytes"]) for link in known["links"]}
        logs: dict[str, object] = {}
        for place in self.at or self._first_links(scenario.handle.resolved["flows"]):
            name = place.removeprefix("links.")
            if name not in links:
                raise failures.InputError(
                    f"--at {place}: there is no such link; choose among "
                    f"{', '.join(f'links.{link}' for link in links)}"
                )
            rate_bps, packet_bytes = rates.get(name, (0.0, 1.0))
            packets = round(rate_bps * (end_s - start_s) / 8 / packet_bytes)
            self._check_size(place, packets)
            # A link may be offered more than it can send; the run ends if it is much more.
            logs[f"links.{name}.arrival_log"] = {
                "from": f"{start_s:.12f} s",
                "to": f"{end_s:.12f} s",
                "most_packets": min(MOST_PACKETS, 4 * packets + 100_000),
            }
        return scenario.replacing(logs)

    def _first_links(self, groups: dict[str, Any]) -> list[str]:
        """The first link of each flow whose trace is written."""
        chosen = {name for flow in self.flows for name in (flow, flow.rpartition(".")[0])}
        paths = [
            group["path"]
            for name, group in groups.items()
            if "congestion" in group and "path" in group and (not self.flows or name in chosen)
        ]
        if not paths:
            raise failures.InputError(
                "--qlog: needs a flow under congestion control with a `path`; leave out --qlog, or "
                "choose others with --only-flows"
            )
        return list(dict.fromkeys(path[0] for path in paths))

    def _check_flows(self, groups: dict[str, Any]) -> None:
        for flow in self.flows:
            group, _, index = flow.rpartition(".")
            is_flow = group in groups and index.isdecimal() and int(index) < groups[group]["count"]
            if flow not in groups and not is_flow:
                raise failures.InputError(
                    f"--only-flows {flow}: there is no such flow; choose a group, or a flow of it: "
                    f"{', '.join(groups)}"
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
    def files(self) -> Iterator[Any]:
        """Opens the files; yields a function that writes the packets of a result into them."""
        with ExitStack() as stack:
            pcap, packets = (
                stack.enter_context(output_file(path)) if path else None
                for path in (self.pcap, self.packets)
            )
            traces = stack.enter_context(output_directory(self.qlog)) if self.qlog else None

            def write(result: tailroom.Result) -> None:
                if pcap:
                    pcap.write(
                        lambda file: result.save_pcap(file, flows=self.flows, every=self.every)
                    )
                if traces:
                    traces.write(lambda place: result.save_qlog(place, flows=self.flows))
                if packets:
                    packets.write(
                        lambda file: result.save_packets(file, flows=self.flows, every=self.every)
                    )

            yield write
