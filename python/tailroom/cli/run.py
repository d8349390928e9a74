"""`tailroom run`: simulate a scenario, print or save the results."""

import shlex
import tomllib
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

import tailroom
from tailroom import figure_titles
from tailroom.cli import failures, phases, report
from tailroom.cli.answer import without_pictures, write_and_print
from tailroom.cli.options import Json, NoTitle, ScenarioFiles, refuse
from tailroom.cli.packets import Wanted
from tailroom.cli.progress import progress_bar, runs_bar
from tailroom.cli.signature import options_of
from tailroom.libraries import need
from tailroom.reports.presentation import write
from tailroom.scenario.json_text import json_text
from tailroom.scenario.scenario import Scenario
from tailroom.storage.output import output_directory

AUTOMATIC_SAMPLES = 5_000
"""Samples per series that --out records for the pictures of a scenario without `[series]`: enough
for the envelope of a queue that fills and drains within a round trip."""


@options_of("choices", without=("congestion",))
def run(  # noqa: PLR0913 - each is one option
    scenarios: ScenarioFiles,
    *,
    json: Json = False,
    no_title: NoTitle = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write scenario, summary, series and pictures into a new directory; of choices, "
            "the table (CSV and JSON) and one picture.",
        ),
    ] = None,
    pcap: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the packets at the places of --at into a capture (pcapng) for Wireshark. "
            "Example: --pcap run.pcapng --at links.bottleneck.",
        ),
    ] = None,
    packets: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the same packets as a table (Parquet)."),
    ] = None,
    qlog: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write a trace per flow under congestion control (qlog, for qvis and others): its "
            "packets and its window. Example: --qlog traces --only-flows reno.",
        ),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PLACE",
            help="Where --pcap and --packets take packets: a link, or FLOW.sender or FLOW.receiver "
            "of a flow or group under congestion control. Repeatable.",
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option("--from", metavar="TIME", help="Only packets from this time, such as '2 s'."),
    ] = None,
    end: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="Only packets before this time.")
    ] = None,
    only_flows: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FLOW", help="Only packets of this flow, or of this group. Repeatable."
        ),
    ] = None,
    every: Annotated[int, typer.Option(metavar="N", min=1, help="Only each n-th packet.")] = 1,
    direction: Annotated[
        Literal["data", "acks"] | None, typer.Option(help="Only packets of data, or only ACKs.")
    ] = None,
    ip: Annotated[
        Literal["4", "6"] | None, typer.Option(help="Version of IP in --pcap. [default: 4]")
    ] = None,
    phase_check: Annotated[
        bool,
        typer.Option(
            "--phase-check",
            help="Repeat the run with 8 seeds and with 8 shifts of the RTTs by less than a "
            "packet's transmission time, and show how far the results change.",
        ),
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Print more: up to 100 links, groups and flows, states, shares, speed; of "
            "choices, every metric.",
        ),
    ] = False,
    **options: Any,
) -> None:
    """Simulate a scenario and print the results.

    Values of --vary and several files are choices, which are compared row by row.
    """
    chosen = (start, end, only_flows or (), every, direction, ip)
    wanted = Wanted(pcap, packets, qlog, at or (), *chosen)
    if len(scenarios) > 1 or {"vary", "metrics"} & options.keys() or options.get("seeds", 1) != 1:
        if phase_check:
            raise failures.InputError(
                "--phase-check: applies to a single run; leave out --vary, --metric and "
                "--seeds, and give one FILE"
            )
        if wanted:
            raise failures.InputError(
                "--pcap, --packets and --qlog: apply to a single run; leave out --vary, --metric "
                "and --seeds, and give one FILE"
            )
        _run_choices(scenarios, options, json=json, out=out, explain=explain)
        return
    of_several = ("store",) if phase_check else ("store", "workers", "executor")
    refuse(
        options,
        of_several,
        "applies to several runs; leave it out, or add --vary, --seeds or another FILE",
    )
    options.pop("seeds", None)
    _run_one(
        scenarios[0],
        options,
        wanted,
        json=json,
        out=out,
        phase_check=phase_check,
        explain=explain,
    )
    if not json:
        for file in filter(None, (pcap, packets, qlog)):
            print(f"Packets are in {file}")


def _run_choices(
    scenarios: list[Path],
    options: dict[str, Any],
    *,
    json: bool,
    out: Path | None,
    explain: bool,
) -> None:
    """Compares choices, prints them, and writes them with --out."""
    from tailroom.cli import choices  # noqa: PLC0415 - it loads NumPy and Arrow

    with output_directory(out) if out else nullcontext() as output:
        with runs_bar() as progress:
            compared = tailroom.choices(scenarios, progress=progress, **options)

        def show() -> None:
            if json:
                every_metric = "metrics" not in options
                print(json_text(compared.as_dict(every_metric=every_metric)), end="")
            else:
                is_short = not (explain or "metrics" in options)
                choices.show(
                    compared, Console(highlight=False), is_short=is_short, by_owner=explain
                )

        write_and_print(
            output,
            lambda directory: write(compared, directory),
            show,
            in_place=lambda: without_pictures("table and scenarios", out),
        )
    if out and not json:
        print(f"Table, scenarios and picture are in {out}")


def _run_one(  # noqa: PLR0913 - what `run` was asked for
    scenario: Path,
    options: dict[str, Any],
    wanted: Wanted,
    *,
    json: bool,
    out: Path | None,
    phase_check: bool,
    explain: bool,
) -> None:
    """Simulates one scenario with one seed, and checks the phases if asked to."""
    of_run = {name: options[name] for name in ("seed", "set") if name in options}
    simulated: Path | Scenario = scenario
    if out:
        need("pyarrow", "matplotlib")
    if wanted:
        need("pyarrow")
        simulated = wanted.recorded_by(Scenario.of(scenario, of_run.pop("set", None)))
    with (
        output_directory(out) if out else nullcontext() as output,
        wanted.files(out) as packet_writers,
    ):
        if phase_check:  # comes first, because it refuses a cluster
            with runs_bar() as repeated:
                spreads = tailroom.phase_check(scenario, progress=repeated, **options)
        with progress_bar() as progress:
            result = tailroom.run(
                simulated,
                progress=progress,
                series_samples=AUTOMATIC_SAMPLES if out or wanted.qlog else None,
                **of_run,
            )
        if phase_check:
            result.summary["phase_check"] = [spread.as_dict() for spread in spreads]

        def show() -> None:
            if json:
                print(json_text(result.summary), end="")
                return
            report.show(result, Console(), explain=explain)
            if phase_check:
                phases.show(spreads, Console(highlight=False))

        write_and_print(
            output,
            lambda directory: write(result, directory),
            show,
            packet_writers(result),
            in_place=lambda: _to_draw(out),
        )
    if out and not json:
        print(f"Scenario, summary, series and pictures are in {out}{_automatic(result)}")


def _to_draw(out: Path | None) -> str:
    """Says what of a run is written without its pictures, and how to draw them."""
    options = [] if figure_titles.are_wanted() else ["--no-title"]
    command = shlex.join(["tailroom", "plot", str(out), *options])
    return f"scenario, summary and series are complete in {out}; draw the pictures with {command}"


def _automatic(result: tailroom.Result) -> str:
    """Returns a note on series that were recorded although the scenario has no `[series]`."""
    if "series" in tomllib.loads(result.scenario):
        return ""
    interval_s = result.series("queue")["time_s"][0].as_py()
    return f" (one sample per {interval_s:g} s, as the scenario has no [series])"
