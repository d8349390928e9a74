"""A measurement of another tool: the buffer that explains it, and what a scenario gives instead."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from tailroom import written_numbers
from tailroom.arguments import IDLE_RTT
from tailroom.errors import ScenarioError
from tailroom.field_docs import with_field_docs
from tailroom.measurements.buffer_estimate import BufferEstimate, estimate_buffer
from tailroom.measurements.import_measurement import import_measurement
from tailroom.measurements.samples import Measurement, Values, values
from tailroom.models.bottleneck import read_bottleneck
from tailroom.scenario.custom_controls import Congestion
from tailroom.scenario.scenario import Scenario, ScenarioLike
from tailroom.scenario.trust import allowing
from tailroom.simulation.any_result import AnyResult, Tables
from tailroom.simulation.engine_run import simulate, told_as_progress
from tailroom.simulation.progress import Progress
from tailroom.simulation.result import Result
from tailroom.simulation.run_warnings import warn

if TYPE_CHECKING:
    import pyarrow as pa

    from tailroom.simulation.result_types import RunWarning

PERCENTILES = (50, 95, 99)
DOWNLOAD = "throughput of the download"
"""A row that only a load in both directions has; the row before it is then the upload."""
QUANTITIES: dict[str, tuple[str, Callable[[float], str]]] = {
    "throughput_bps": ("throughput (payload)", written_numbers.rate),
    "download_bps": (DOWNLOAD, written_numbers.rate),
    **{f"rtt_s_p{percent}": (f"RTT p{percent}", written_numbers.delay) for percent in PERCENTILES},
    "retransmitted_fraction": ("retransmitted", written_numbers.fraction),
    "buffer_bytes": ("buffer (bytes)", written_numbers.count),
}
"""Each quantity with its words, and how a value is written."""
SERIES_SAMPLES = 1000
"""Instants at which RTTs of the simulation are sampled, if the scenario has no `[series]`."""


@with_field_docs
@dataclass(frozen=True)
class MeasuredComparison(AnyResult):
    """A measurement, the buffer that explains it, and a simulation.

    `table` knows `quantities` (a row per quantity, with the columns `quantity`, `measured` and
    `simulated`) and `rtts` (`source`, `time_s`, `rtt_s`). The picture is both RTTs over time, and
    their distributions.
    """

    measurement: Measurement
    """What the other tool measured."""
    buffer: BufferEstimate
    """The buffer that explains it."""
    link: str | None = None
    """The link of the scenario; `None` without a scenario."""
    simulated: Result | None = None
    """The run of the scenario; `None` without a scenario."""
    given_idle_rtt_s: float | None = None
    """RTT of the idle path that the caller gave, in seconds."""

    def __repr__(self) -> str:
        """The sentence on the buffer."""
        return f"<MeasuredComparison of {self.measurement.tool}: {self.buffer.sentence}>"

    @property
    def warnings(self) -> "tuple[RunWarning, ...]":
        """The warnings of the simulation."""
        return self.simulated.warnings if self.simulated else ()

    @property
    def idle_rtt_s(self) -> float | None:
        """RTT of the idle path: the given one, else the measured one; `None` if it is unknown."""
        given = self.given_idle_rtt_s
        return self.measurement.idle_rtt_s if given is None else given

    @property
    def rate_bps(self) -> float | None:
        """Rate of the load with its headers, in bit/s; `None` if it is unknown."""
        payload_bps = self.measurement.mean_throughput_bps
        if payload_bps is None:
            return None
        return payload_bps * self.measurement.packet_bytes / self.measurement.payload_bytes

    @property
    def quantities(self) -> dict[str, tuple[float | None, float | None]]:
        """Each quantity as measured and as simulated; `None` where it is unknown."""
        measured = self._measured_quantities()
        simulated = self._simulated_quantities()
        return {name: (measured[name], simulated.get(name)) for name in QUANTITIES}

    @property
    def rows(self) -> list[tuple[str, str, str]]:
        """Each quantity in words, as measured and as simulated; a dash where it is unknown."""
        quantities = self.quantities
        is_both = self.measurement.direction == "both"
        return [
            (
                "throughput of the upload" if is_both and name == "throughput_bps" else words,
                _shown(quantities[name][0], write),
                _shown(quantities[name][1], write),
            )
            for name, (words, write) in QUANTITIES.items()
            if is_both or words != DOWNLOAD
        ]

    def simulated_rtts(self) -> tuple[Values, Values]:
        """Returns times and RTTs of the simulation in the measured window, in seconds.

        Of the flows that cross the link, the smallest smoothed RTT at each instant, as of the
        connections of a measurement; both empty without a scenario.
        """
        if self.simulated is None or self.link is None:
            return values([]), values([])
        summary = self.simulated.summary
        flows = set(_flows(self.simulated, self.link))
        series = self.simulated.series("srtt").to_pydict()
        smallest: dict[float, float] = {}
        for time_s, flow, rtt in zip(*series.values(), strict=True):
            # A flow has no smoothed RTT before its first sample.
            if flow in flows and time_s >= summary["measured_from_s"] and rtt and rtt > 0:
                smallest[time_s] = min(rtt, smallest.get(time_s, rtt))
        return values(list(smallest)), values(list(smallest.values()))

    def as_dict(self) -> dict[str, Any]:
        """Quantities, the buffer and its conditions, for JSON."""
        estimate = self.buffer
        return {
            "tool": self.measurement.tool,
            "direction": self.measurement.direction,
            "link": self.link,
            "quantities": {
                name: {"measured": measured, "simulated": simulated}
                for name, (measured, simulated) in self.quantities.items()
            },
            "buffer": {
                "buffer_bytes": estimate.buffer_bytes,
                "low_bytes": estimate.low_bytes,
                "high_bytes": estimate.high_bytes,
                "packet_bytes": estimate.packet_bytes,
                "sentence": estimate.sentence,
                "conditions": [
                    {"statement": one.statement, "holds": one.holds, "found": one.found}
                    for one in estimate.conditions
                ],
            },
            "warnings": list(self.warnings),
        }

    @property
    def _tables(self) -> Tables:
        return {"quantities": self._quantities_table, "rtts": self._rtts_table}

    def _quantities_table(self) -> "pa.Table":
        import pyarrow as pa  # noqa: PLC0415 - an optional library

        rows = self.quantities
        columns = list(zip(*rows.values(), strict=True))
        return pa.table(
            {
                "quantity": list(rows),
                "measured": pa.array(columns[0], pa.float64()),
                "simulated": pa.array(columns[1], pa.float64()),
            }
        )

    def _rtts_table(self) -> "pa.Table":
        import pyarrow as pa  # noqa: PLC0415 - an optional library

        times, rtts = self.simulated_rtts()
        measured = self.measurement
        sources = ["measured"] * len(measured.rtt_s) + ["simulated"] * len(rtts)
        return pa.table(
            {
                "source": pa.array(sources, pa.string()),
                "time_s": np.concatenate([measured.rtt_time_s, times]),
                "rtt_s": np.concatenate([measured.rtt_s, rtts]),
            }
        )

    def _measured_quantities(self) -> dict[str, float | None]:
        measured = self.measurement
        return {
            "throughput_bps": measured.mean_throughput_bps,
            "download_bps": measured.download_bps,
            **{f"rtt_s_p{percent}": measured.rtt_s_percentile(percent) for percent in PERCENTILES},
            "retransmitted_fraction": measured.retransmitted_fraction,
            "buffer_bytes": self.buffer.buffer_bytes,
        }

    def _simulated_quantities(self) -> dict[str, float | None]:
        if self.simulated is None or self.link is None:
            return {}
        _, rtts = self.simulated_rtts()
        flows = _flows(self.simulated, self.link)
        goodput_bps = sum(flow["goodput_bps"] or 0.0 for flow in flows.values())
        summary = self.simulated.summary
        window_s = summary["measured_to_s"] - summary["measured_from_s"]
        packets = goodput_bps * window_s / (8 * self.measurement.payload_bytes)
        lost = sum(flow["retransmissions"] or 0 for flow in flows.values())
        return {
            "throughput_bps": goodput_bps,
            **{
                f"rtt_s_p{percent}": float(np.percentile(rtts, percent)) if len(rtts) else None
                for percent in PERCENTILES
            },
            "retransmitted_fraction": lost / packets if packets else None,
            "buffer_bytes": self.simulated.links[self.link]["limit_bytes"],
        }


def compare_measured(  # noqa: PLR0913 - keyword arguments
    path: str | PathLike[str],
    scenario: ScenarioLike | None = None,
    *,
    idle_rtt_s: float | None = None,
    link: str | None = None,
    seed: int | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002
    progress: Callable[[Progress], object] | None = None,
    congestion: Congestion | None = None,
    allow_code: bool = False,
    allow_files: bool = False,
) -> MeasuredComparison:
    """Reads a measurement, estimates the buffer that explains it, and simulates a scenario.

    Args:
        path: A data file of flent (compressed or not), the output of `iperf3 -J` over TCP, a log of
            repeated `ss -tin`, or the CSV of Waveform's bufferbloat test.
        scenario: Path of a scenario file, or a scenario built in Python, whose permanent flows are
            compared with the measurement; if left out, only the measurement is described.
        idle_rtt_s: RTT of the idle path, in seconds, which replaces that of the measurement.
        link: Name of the link whose flows are compared; if left out, the link that its
            traffic fills first.
        seed: Replaces the scenario's seed.
        set: Replaces values of the scenario, as `tailroom.run` does.
        progress: Called with a `Progress` at most ten times a second.
        congestion: Congestion controls by group, or one for the only group, as `tailroom.run` takes
            them.
        allow_code: Load the code in Python that the scenario file names (controls, disciplines,
            sources); code that arguments name is always loaded.
        allow_files: Read the files that the scenario file names outside its directory.

    Raises:
        MeasurementError: The file cannot be read, is damaged, or is of another tool.
        ArgumentError: An argument has the wrong type, or is out of range.
        ScenarioError: The scenario is wrong, or has no such link, or no permanent flow crosses it.
    """
    IDLE_RTT.check("idle_rtt_s", idle_rtt_s)
    measured = import_measurement(path)
    estimate = estimate_buffer(measured, idle_rtt_s)
    if scenario is None:
        return MeasuredComparison(measured, estimate, given_idle_rtt_s=idle_rtt_s)
    with allowing(code=allow_code, files=allow_files):
        source = Scenario.of(scenario, set, congestion)
    chosen = read_bottleneck(source, link, seed).name
    told = told_as_progress(progress)
    result = simulate(source, seed=seed, progress=told, series_samples=SERIES_SAMPLES)
    if not _flows(result, chosen):
        raise ScenarioError(
            f"{source.place}: links.{chosen}: no permanent flow under congestion control crosses "
            'it; add a group with source = "bulk", or choose another link'
        )
    warn(result.warnings)
    return MeasuredComparison(measured, estimate, chosen, result, idle_rtt_s)


def _shown(value: float | None, write: Callable[[float], str]) -> str:
    return "-" if value is None else write(value)


def _flows(result: Result, link: str) -> dict[str, Mapping[str, Any]]:
    """The permanent flows under congestion control that cross a link, by name."""
    groups = result.groups
    return {
        flow["name"]: flow
        for flow in result.flows
        if flow["congestion"] and link in groups[flow["group"]]["settings"]["path"]
    }
