"""`tailroom sweep`: run a scenario at many points into a store."""

from math import isfinite
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from tailroom.axis import Axis, parse_axis
from tailroom.cli import failures, report
from tailroom.cli.options import ClusterAddress, ScenarioFile, Settings, parse_settings
from tailroom.cli.progress import sweep_bar
from tailroom.metrics import MetricError
from tailroom.phases import PhaseSpread
from tailroom.sweep import MOST_RUNS, SweepResult, sweep
from tailroom.sweep_plan import Until

SHOWN = ("utilization", "loss_fraction", "queue_delay_s_mean", "jain_index")
"""Metrics of the table that a sweep ends with, where there is one link."""

MOST_NAMED = 20
"""Points that are not precise enough are named up to this number."""


def sweep_command(  # noqa: PLR0913 - one argument an option
    file: ScenarioFile,
    *,
    store: Annotated[
        Path, typer.Option(metavar="DIR", help="Directory of the store; made if it is not there.")
    ] = Path("tailroom-store"),
    grid: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUES",
            help='Vary a key, e.g. --grid links.bottleneck.queue.limit="10 packets, 100 packets", '
            'a TOML list, or { from = "10 packets", to = "1000 packets", points = 9, '
            'scale = "log" }. Every combination is a point. May be repeated.',
        ),
    ] = None,
    together: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUES",
            help="Vary keys row by row: the first value of one goes with the first of the others. "
            "May be repeated.",
        ),
    ] = None,
    seeds: Annotated[int | None, typer.Option(min=1, help="Runs of each point.")] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="METRIC<WIDTH",
            help="Repeat each point until the 95 % confidence interval of a metric is no wider "
            'than WIDTH to either side, e.g. --until "utilization<0.005".',
        ),
    ] = None,
    at_most: Annotated[
        int, typer.Option(min=2, help="Runs after which --until gives a point up.")
    ] = Until.at_most,
    set_: Settings = None,
    series: Annotated[
        bool,
        typer.Option(
            "--series",
            help="Keep time series too; they show whether measure_from is late enough.",
        ),
    ] = False,
    phase_check: Annotated[
        bool,
        typer.Option(
            "--phase-check",
            help="Repeat each point, as often as with seeds, with RTTs shifted by less than a "
            "packet's transmission time, and show what that changes.",
        ),
    ] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Runs at a time; all cores if left out.")
    ] = None,
    cluster: ClusterAddress = None,
    yes: Annotated[
        bool, typer.Option("--yes", help=f"Allow more than {MOST_RUNS:,} runs.")
    ] = False,
) -> None:
    """Run a scenario at every point of a grid, several times each, and keep every run.

    What varies stands in the scenario's [sweep] or in --grid and --together. Runs that the store
    holds already are not run again; a sweep that was stopped goes on where it was.
    """
    with failures.reported(), sweep_bar() as progress:
        result = sweep(
            file,
            store,
            grid=_axes("--grid", grid),
            together=_axes("--together", together),
            seeds=seeds,
            until=_until(until, at_most),
            set=parse_settings(set_),
            series=series,
            phase_check=phase_check or None,
            workers=workers,
            cluster=cluster,
            most_runs=10**9 if yes else MOST_RUNS,
            progress=progress,
        )
    show(result, Console(highlight=False))


def _axes(option: str, texts: list[str] | None) -> dict[str, Axis]:
    axes: dict[str, Axis] = {}
    for read in map(parse_axis, texts or []):
        if read.key in axes:
            raise failures.InputError(f"{option} {read.key}: is given twice; put all values in one")
        axes[read.key] = read
    return axes


def show(result: SweepResult, console: Console) -> None:
    """Prints a row a point: the settings, and the means of a few metrics with their intervals."""
    metrics, shifted = {}, {}
    for name in SHOWN:
        try:
            metrics[name] = result.means(name)
            shifted[name] = result.phase_spreads([name])
        except MetricError:
            continue  # several links: the store has them all
    keys = list(result.record.axes)
    table = report.table_of(f"Sweep {escape(result.record.id)}", *_headings(keys), *metrics)
    for place, point in enumerate(result.record.points):
        settings = [escape(str(point["settings"][key])) for key in keys] or [""]
        cells = [
            _cell(means["mean"][place].as_py(), means["half_width"][place].as_py())
            + _shifted_cell(shifted[name][place])
            for name, means in metrics.items()
        ]
        table.add_row(*settings, *cells)
    console.print(table)
    runs = sum(len(point["runs"]) for point in result.record.points)
    console.print(
        f"{runs:,} runs of {len(result.record.points):,} points are in the store "
        f"{escape(str(result.store.directory))}"
    )
    if result.repeats_itself:
        console.print(
            "[yellow]warning:[/yellow] runs with different seeds are the same, as the scenario "
            "draws nothing at random; one seed suffices, or let flows start at random: "
            'start = { uniform = ["0 s", "1 s"] }',
            soft_wrap=True,
        )
    _show_imprecise(result, console)
    _show_unsettled(result, console)
    _show_phases(result, console)
    for path in result.store.damaged:
        console.print(
            f"[yellow]warning:[/yellow] {escape(str(path))} was damaged; its run was done again",
            soft_wrap=True,
        )


def _show_imprecise(result: SweepResult, console: Console) -> None:
    until, imprecise = result.record.until, result.imprecise
    if until is None or not imprecise:
        return
    console.print(
        f"[yellow]warning:[/yellow] {until['metric']} is not within +-{until['half_width']:g} "
        f"after {until['at_most']:,} runs at {len(imprecise):,} points; raise --at-most, or let "
        "the runs last longer:",
        soft_wrap=True,
    )
    _show_points([_named(settings) for settings in imprecise], console)


def _show_unsettled(result: SweepResult, console: Console) -> None:
    unsettled = result.unsettled
    if not unsettled:
        return
    console.print(
        "[yellow]warning:[/yellow] the queue has not settled (MSER-5) at measure_from at "
        f"{len(unsettled):,} points; raise measure_from and duration:",
        soft_wrap=True,
    )
    lines = []
    for settings, ends_s in unsettled:
        when = "not in the first half" if ends_s is None else f"at {ends_s:.3g} s"
        lines.append(f"{_named(settings)}: settles {when}")
    _show_points(lines, console)


def _show_phases(result: SweepResult, console: Console) -> None:
    """Names the points whose results depend on microseconds, whichever metric shows it."""
    lines = []
    for point, spreads in zip(result.record.points, result.phase_spreads(), strict=True):
        found = [one.metric for one in spreads if one.is_phase_dependent]
        if found:
            lines.append(f"{_named(point['settings'])}: {', '.join(found)}")
    if lines:
        console.print(
            "[yellow]warning:[/yellow] shifting RTTs by less than a packet's transmission time "
            f"changes results at {len(lines):,} points (traffic phase effects); draw the RTTs of a "
            f"group, as in {escape('{ uniform = [a, b] }')}, or raise send_jitter:",
            soft_wrap=True,
        )
        _show_points(lines, console)


def _named(settings: dict[str, object]) -> str:
    return ", ".join(f"{key} = {value}" for key, value in settings.items()) or "the only one"


def _show_points(lines: list[str], console: Console) -> None:
    for line in lines[:MOST_NAMED]:
        console.print(f"  {escape(line)}", soft_wrap=True)
    if len(lines) > MOST_NAMED:
        console.print(f"  and {len(lines) - MOST_NAMED:,} more")


def _headings(keys: list[str]) -> list[str]:
    """The last part of each key, where that tells them apart."""
    last = [key.rpartition(".")[2] for key in keys]
    return (last if len(set(last)) == len(last) else keys) or [""]


def _cell(mean: float | None, half_width: float | None) -> str:
    if mean is None or half_width is None:
        return "-"
    return f"{mean:.4g}\n+-{half_width:.2g}"


def _shifted_cell(spreads: list[PhaseSpread]) -> str:
    """The mean over shifted RTTs below the one over seeds, where phases were checked."""
    if not spreads:
        return ""
    shifts = spreads[0].shifts
    return f"\nshifted {shifts.mean:.4g}\n+-{shifts.half_width:.2g}"


def _until(text: str | None, at_most: int) -> Until | None:
    if text is None:
        return None
    metric, _, width = text.partition("<")
    try:
        half_width = float(width)
    except ValueError:
        half_width = -1.0
    if not metric.strip() or not (isfinite(half_width) and half_width >= 0):
        raise failures.InputError(
            f'--until {text}: no METRIC<WIDTH; write for example --until "utilization<0.005"'
        )
    return Until(metric.strip(), half_width, min(Until.at_least, at_most), at_most)
