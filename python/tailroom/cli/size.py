"""`tailroom size`: the smallest buffer that meets every target."""

import json as json_text
from math import isfinite, isinf
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

from tailroom import ScenarioError
from tailroom.cli import failures, phases, report
from tailroom.cli.model import show_failing
from tailroom.cli.options import ClusterAddress, LinkName, Settings, parse_settings
from tailroom.cli.progress import size_bar
from tailroom.equivalents import equivalents
from tailroom.first_question import dumbbell
from tailroom.scenario_types import Scenario
from tailroom.size import SHOWN_METRICS, Feasible, Size, Tried, size


def size_command(  # noqa: PLR0913 - one argument an option
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="Scenario file (TOML); or give --rate and so on.",
            readable=False,
        ),
    ] = None,
    *,
    target: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GOAL",
            help='What the buffer is to achieve, e.g. --target "utilization >= 0.98" '
            '--target "queue_delay_s_p99 <= 0.005". May be repeated.',
        ),
    ] = None,
    rate: Annotated[str | None, typer.Option(help="Without FILE: rate of the link.")] = None,
    rtt: Annotated[str | None, typer.Option(help="Without FILE: RTT without queues.")] = None,
    flows: Annotated[
        int | None, typer.Option(min=1, help="Without FILE: number of long flows; 1 if left out.")
    ] = None,
    congestion: Annotated[
        str | None,
        typer.Option(help="Without FILE: their congestion control; cubic if left out."),
    ] = None,
    duration: Annotated[
        str | None, typer.Option(help="Without FILE: simulated time of a run.")
    ] = None,
    set_: Settings = None,
    link: LinkName = None,
    at_most: Annotated[int, typer.Option(min=4, help="Seeds of one buffer.")] = 32,
    precision: Annotated[
        float,
        typer.Option(min=0.0001, max=0.5, help="The answer is the smallest buffer to this part."),
    ] = 0.02,
    store: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Keep the runs, so that asking again takes no time."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Runs at a time; all cores if left out.")
    ] = None,
    cluster: ClusterAddress = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw goals and trade-off (.png, .svg or .pdf)."),
    ] = None,
) -> None:
    """Find the smallest buffer that meets every target with 95 % confidence.

    The models of the literature say where to look, simulation decides. Where no buffer meets all
    targets, the answer says where each of them is met, and which two conflict.
    """
    with failures.reported():
        if out and out.suffix not in (".png", ".svg", ".pdf"):
            raise failures.InputError(f"--out {out}: give a file that ends in .png, .svg or .pdf")
        if out and not out.parent.is_dir():
            raise failures.InputError(f"--out {out}: {out.parent} is no directory; make it first")
        if file is None and (rate is None or rtt is None):
            raise failures.InputError("give a scenario file, or --rate and --rtt")
        if file is not None and (rate or rtt or flows or congestion or duration):
            raise failures.InputError(
                "--rate, --rtt, --flows, --congestion and --duration go without a scenario file; "
                "replace the values of one by --set"
            )
        asked = file or _from_numbers(rate, rtt, flows, congestion, duration)
        with size_bar() as progress:
            answer = size(
                asked,
                target or [],
                link=link,
                store=store,
                set=parse_settings(set_),
                at_most=at_most,
                precision=precision,
                workers=workers,
                cluster=cluster,
                progress=progress,
            )
        if out:
            answer.plot().savefig(out, dpi=150)
        if json:
            print(json_text.dumps(as_dict(answer), indent=2))
        else:
            _show(answer, Console(highlight=False))
            if out:
                print(f"The picture is {out}")


def _from_numbers(
    rate: str | None,
    rtt: str | None,
    flows: int | None,
    congestion: str | None,
    duration: str | None,
) -> Scenario:
    """The scenario of the question that is asked without a file."""
    control = congestion or "cubic"
    try:
        return dumbbell(rate or "", rtt or "", flows or 1, control, duration=duration)
    except ScenarioError as error:
        options = "--rate, --rtt, --flows, --congestion, --duration"
        raise failures.InputError(f"{options}: the {error}") from None


def as_dict(answer: Size) -> dict[str, Any]:
    """The answer as --json prints it."""
    packets = answer.limit_packets
    return {
        "link": answer.link.name,
        "goals": [str(goal) for goal in answer.goals],
        "limit": None if packets is None else _amounts(answer, packets),
        "metrics": _metrics(answer.chosen, answer) if answer.chosen else None,
        "feasible": [
            {
                "goal": str(one.goal),
                "from_packets": one.low if isfinite(one.low) else None,
                "to_packets": one.high if isfinite(one.high) else None,
                "met_somewhere": isfinite(one.low),
                "is_one_interval": one.is_one_interval,
            }
            for one in answer.feasible
        ],
        "conflicts": [[str(one), str(other)] for one, other in answer.conflicts],
        "tried": [
            {"limit_packets": one.limit, "runs": len(one.point.keys), **_metrics(one, answer)}
            for one in answer.tried
        ],
        "models": answer.predictions.as_dict()["models"],
        "phase_check": phases.as_dicts(answer.phases),
        "equivalents": None if packets is None else equivalents(answer.link, packets),
    }


def _amounts(answer: Size, packets: int) -> dict[str, float | None]:
    link = answer.link
    return {
        "packets": packets,
        "bytes": packets * link.packet_bytes,
        "s": packets / link.capacity_pps,
        "bdp": packets / link.bdp_packets if link.bdp_packets else None,
    }


def _metrics(tried: Tried, answer: Size) -> dict[str, dict[str, float | None]]:
    """Mean and half-width of the goals' metrics and of a few more of the link."""
    names = dict.fromkeys(goal.metric for goal in answer.goals)
    names.update(dict.fromkeys(f"links.{answer.link.name}.{name}" for name in SHOWN_METRICS))
    intervals = {name: tried.interval(name) for name in names}
    return {
        name: {
            "mean": one.mean,
            "half_width": one.half_width if isfinite(one.half_width) else None,
        }
        for name, one in intervals.items()
    }


def _show(answer: Size, console: Console) -> None:
    link, packets = answer.link, answer.limit_packets
    console.print(
        f"Link [bold]{escape(link.name)}[/bold]: {report.rate(link.rate_bps)}, "
        f"bdp {report.packets(link.bdp_packets)} packets of {link.packet_bytes:g} B, "
        f"{link.discipline}"
    )
    if packets is None:
        console.print("[bold red]No buffer that was tried meets every target.[/bold red]")
    else:
        amounts = _amounts(answer, packets)
        bdp = f" = {amounts['bdp']:.4g} bdp" if amounts["bdp"] else ""
        console.print(
            f"[bold]Smallest queue limit: {packets:,} packets[/bold] = {amounts['bytes']:,.0f} B = "
            f"{1e3 * (amounts['s'] or 0):.4g} ms{bdp}"
        )
    for one in answer.feasible:
        console.print(f"  {escape(str(one.goal))}: {where_met(one, answer)}")
    for goal, other in answer.conflicts:
        console.print(f"  [red]{escape(str(goal))} and {escape(str(other))} conflict[/red]")
    for goal, arrivals in answer.unseen:
        console.print(
            f"  [yellow]warning:[/yellow] {escape(str(goal))} is not certain: no packet was lost, "
            f"but there were only {arrivals:,}; let the runs last longer",
            soft_wrap=True,
        )
    console.print(_tried(answer))
    if any(one.verdict is None for one in answer.tried):
        console.print(
            "open: these runs do not decide it with 95 % confidence, so it counts as missed; "
            "a larger --at-most allows more of them, a longer duration makes each tell more",
            soft_wrap=True,
        )
    phases.show(answer.phases, console)
    _show_models(answer, console)
    if packets is not None:
        console.print("\nThe same buffer elsewhere")
        for name, text in equivalents(link, packets).items():
            console.print(f"  {name}:\n    {escape(text)}", soft_wrap=True)


def where_met(one: Feasible, answer: Size) -> str:
    """Says in words where a goal is met."""
    if isinf(one.low):
        return f"met by no limit from {answer.tried[0].limit:,} to {answer.tried[-1].limit:,}"
    low = f"from {one.low:,.0f}" if one.low else "from the smallest tried"
    high = f"to {one.high:,.0f} packets" if isfinite(one.high) else "packets upwards"
    gaps = "" if one.is_one_interval else "; not everywhere between: it is not monotone"
    return f"met {low} {high}{gaps}"


def _tried(answer: Size) -> Any:
    metrics = list(dict.fromkeys(goal.metric for goal in answer.goals))
    table = report.table_of("Buffers tried", "limit", "runs", *metrics, "verdict")
    words = {True: "meets all", False: "[red]misses[/red]", None: "open"}
    for one in answer.tried:
        intervals = [one.interval(metric) for metric in metrics]
        cells = [f"{it.mean:.5g} +-{it.half_width:.1g}" for it in intervals]
        mark = "[bold]<[/bold]" if one.limit == answer.limit_packets else ""
        runs = str(len(one.point.keys))
        table.add_row(f"{one.limit:,} {mark}", runs, *cells, words[one.verdict])
    return table


def _show_models(answer: Size, console: Console) -> None:
    table = report.table_of(
        "What the literature asks for", "model", "packets", "bdp", "for", "failing\nassumptions"
    )
    # Names stay whole; what a limit is for may take several lines.
    table.columns[0].no_wrap, table.columns[3].no_wrap = True, False
    bdp = answer.link.bdp_packets
    asked = [
        one
        for one in answer.predictions.answers
        if one.prediction and one.prediction.required_packets is not None
    ]
    for one in asked:
        packets = one.prediction.required_packets if one.prediction else None
        none = packets is None or isinf(packets)
        failing = len(one.failing)
        table.add_row(
            one.model.name,
            "none" if none else report.packets(packets),
            "-" if none or not bdp else f"{(packets or 0) / bdp:.4g}",
            one.prediction.required_for if one.prediction else "",
            f"[red]{failing} of {len(one.assumptions)}[/red]" if failing else "none",
        )
    console.print(table)
    show_failing(asked, console)
