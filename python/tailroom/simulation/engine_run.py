"""The call of the engine: one scenario, one seed, one result."""

import gc
import json
import time
import tomllib
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from tailroom import _engine
from tailroom.arguments import SEED, SERIES_SAMPLES
from tailroom.scenario.custom_controls import Congestion
from tailroom.scenario.custom_disciplines import Disciplines
from tailroom.scenario.custom_sources import Sources
from tailroom.scenario.named_values import NamedValues
from tailroom.scenario.one_control_each import OneEach
from tailroom.scenario.scenario import Scenario, ScenarioLike
from tailroom.scenario.trust import allowing
from tailroom.simulation.arrow_tables import arrow_table, labels_of
from tailroom.simulation.progress import Progress
from tailroom.simulation.result import Result
from tailroom.simulation.run_warnings import warn, warning

if TYPE_CHECKING:
    import pyarrow as pa

    from tailroom.simulation.result_types import RunWarning, Summary, Timing

SAMPLES_BY_DEFAULT = 500
"""Samples of the time series that are kept if neither scenario nor caller asks for others."""


def run(  # noqa: PLR0913 - each is one option of a run
    scenario: ScenarioLike,
    *,
    seed: int | None = None,
    set: Mapping[str, object] | None = None,  # noqa: A002
    progress: Callable[[Progress], object] | None = None,
    series_samples: int | None = SAMPLES_BY_DEFAULT,
    congestion: Congestion | None = None,
    disciplines: Disciplines | None = None,
    sources: Sources | None = None,
    allow_code: bool = False,
    allow_files: bool = False,
) -> Result:
    """Simulates a scenario.

    The interpreter's lock is released during the simulation, so threads may run scenarios in
    parallel. The same scenario and seed give the same bytes on every machine, except `timing`.

    Args:
        scenario: Path of a scenario file, the name of a shipped scenario (`"first"`), `"-"` for
            standard input, or a scenario built in Python.
        seed: Seed of the random streams, 0 or more; the seed of the scenario if left out.
        set: Values that replace those of the scenario, by dotted key:
            `{"links.bottleneck.queue.limit": "625 packets"}`. As with `--set` on the command line,
            a text that is a TOML value is read as TOML.
        progress: Called with a `Progress` at most ten times a second. An exception that it raises
            ends the run.
        series_samples: Number of instants, at least 1, at which time series are recorded if the
            scenario has no `[series]`; `None` for none. Fewer where they would take more than a
            twentieth of `memory_limit`. Recording changes no other result.
        congestion: Congestion controls by the name of their group of flows: a class of your own
            (see `CongestionControl` and `RateBasedControl`), a function that makes a control for
            each flow, a name as in a scenario file (`"cubic"`, `"module:Class"`), or a table with a
            kind and its parameters. Without a name of a group: the control of the only group that
            has a congestion control.
        disciplines: Queue disciplines of your own by the name of their link: a class (see
            `QueueRule`), or a function that makes a discipline. The link keeps the size of its
            buffer.
        sources: Sources of your own by the name of their group of flows: a class (see
            `PacketSource` and `FlowSource`), or a function that makes a source. The kind of the
            source in the scenario is `custom_packets` or `custom_flows`; its rates stay.
        allow_code: Load the code in Python that the scenario file names (controls, disciplines,
            sources); code that arguments name is always loaded.
        allow_files: Read the files that the scenario file names outside its directory.

    Returns:
        Statistics, tables and the resolved scenario.

    Raises:
        ArgumentError: An argument has the wrong type, or is out of range.
        ScenarioError: The scenario is wrong, or code of your own returned an invalid value;
            the message names the place and the remedy.
        ControlError: Code of your own (a control, a discipline, a source) raised an exception,
            which is the `__cause__`.
        RunError: The run failed, for example for lack of memory.
        KeyboardInterrupt: The user pressed Ctrl-C; the run stops at once.
    """
    with allowing(code=allow_code, files=allow_files):
        read = Scenario.of(scenario, set, congestion, disciplines, sources)
    told = told_as_progress(progress)
    result = simulate(read, seed=seed, progress=told, series_samples=series_samples)
    warn(result.summary["warnings"])
    return result


def told_as_progress(
    progress: Callable[[Progress], object] | None,
) -> Callable[[float, float], object] | None:
    """Returns what `simulate` calls, so that `progress` gets a `Progress`.

    Args:
        progress: What the user gave.
    """
    return None if progress is None else partial(_tell, progress)


def _tell(progress: Callable[[Progress], object], fraction: float, simulated_s: float) -> None:
    if fraction > 0:  # a first event may take long
        progress(Progress(simulated_s, simulated_s / fraction))


def simulate(
    scenario: Scenario,
    *,
    seed: int | None = None,
    progress: Callable[[float, float], object] | None = None,
    series_samples: int | None = None,
) -> Result:
    """Simulates a scenario that has been read; the arguments and errors are those of `run`.

    `progress` is called with the fraction done and the simulated time in seconds.
    """
    SEED.check("seed", seed)
    SERIES_SAMPLES.check("series_samples", series_samples)
    read = scenario.handle
    controls = OneEach(scenario.controls.find)
    with scenario.named_in_errors():
        started = time.perf_counter()
        answer = read.run(seed, progress, controls.find, series_samples)
        wall_s = time.perf_counter() - started
    return result_of(scenario, read, answer, shared=controls.shared, seed=seed, wall_s=wall_s)


def result_of(  # noqa: PLR0913 - each is what is known of a run
    scenario: Scenario,
    read: _engine.Scenario,
    answer: Mapping[str, Any],
    *,
    shared: list[str],
    seed: int | None,
    wall_s: float,
) -> Result:
    """Returns the result of a run.

    Args:
        scenario: The scenario.
        read: The same as the engine has read it.
        answer: What the engine returned.
        shared: Names of the user's controls of which several flows share an object.
        seed: Seed of the run; that of the scenario if left out.
        wall_s: Elapsed time of the run.
    """
    document = read.resolved
    resolved = scenario.with_absolute_paths(read, read.to_toml(seed))
    if read.files:
        document = tomllib.loads(resolved)
    measured = _summary_of(answer["summary"])
    measured["warnings"] += [_of_shared_control(name) for name in shared]
    timing = _timing(measured, wall_s)
    summary = _summary(measured, document, scenario.hash_of(read))
    tables: dict[str, Any] = {
        name: None if columns is None else _table_maker(name, columns, summary)
        for name, columns in answer["tables"].items()
    }
    return Result(
        summary=cast("Summary", summary),
        scenario=resolved,
        timing=cast("Timing", timing),
        **tables,
    )


def _summary_of(text: str) -> NamedValues:
    """Reads the summary without the garbage collector.

    It would look through the objects of each flow again and again, 2 s of the 5 of a million flows.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return cast("NamedValues", json.loads(text, object_pairs_hook=NamedValues))
    finally:
        if was_enabled:
            gc.enable()


def _of_shared_control(name: str) -> "RunWarning":
    text = (
        f"{name}: one object is the control of several flows, and their calls are not in the order "
        "of time, since a flow runs ahead of its links: return a new object for each flow"
    )
    return warning("shared_control", name, text)


def _table_maker(
    name: str, columns: _engine.Columns, summary: NamedValues
) -> Callable[[], "pa.Table"]:
    """Returns a function that makes the Arrow table; a `LazyTable` calls it."""
    return lambda: arrow_table(columns.arrays(), labels_of(name, summary))


def _timing(measured: NamedValues, wall_s: float) -> NamedValues:
    """Takes out of the summary what says how much work the run was.

    Args:
        measured: The summary that the engine returned.
        wall_s: Elapsed time of the run.
    """
    events = measured.pop("events")
    packet_hops = measured.pop("packet_hops")
    return NamedValues(
        wall_s=wall_s,
        events=events,
        packet_hops=packet_hops,
        ns_per_packet_hop=1e9 * wall_s / packet_hops if packet_hops else None,
    )


def _summary(measured: NamedValues, document: dict[str, Any], scenario_hash: str) -> NamedValues:
    """Adds hash and title of the scenario, and settings of groups.

    Args:
        measured: The summary that the engine returned.
        document: The resolved scenario.
        scenario_hash: Hash of the scenario and of the contents of its files.
    """
    for name, group in measured["groups"].items():
        group["settings"] = _settings(document["flows"][name])
    version = measured.pop("engine_version")
    return NamedValues(
        engine_version=version,
        scenario_hash=scenario_hash,
        title=document["title"],
        **measured,
    )


def _settings(group: dict[str, Any]) -> NamedValues:
    """Returns the keys of a group in the resolved scenario, defaults and host profile included.

    Values of unlimited size are left out: the parameters of a control written in Python, and
    every key of the source except its kind.
    """
    settings = NamedValues({**group, "source": group["source"]["kind"]})
    if "congestion" in group:
        control = group["congestion"]
        settings["congestion"] = {
            key: value for key, value in control.items() if key != "parameters"
        }
    return settings
