"""`tailroom size`: the smallest buffer that meets every target."""

import json as json_text
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from tailroom import ScenarioError
from tailroom.cli import failures
from tailroom.cli.options import ClusterAddress, LinkName, Settings, parse_settings
from tailroom.cli.progress import size_bar
from tailroom.cli.size_report import as_dict, show
from tailroom.scenario.dumbbell import read_flows
from tailroom.studies.size_study.answer import Size
from tailroom.studies.size_study.study import size


def size_command(  # noqa: PLR0913 - one argument an option
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            help="Scenario file (TOML), name of a shipped scenario, or - for standard input; or "
            "give --rate and --rtt.",
            readable=False,
        ),
    ] = None,
    *,
    target: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GOAL",
            help='What the buffer is to achieve, e.g. --target "utilization >= 98%" '
            '--target "queue_delay_s_p99 <= 5ms". May be repeated.',
        ),
    ] = None,
    rate: Annotated[
        str | None, typer.Option(help="Without FILE: rate of the link, e.g. 1Gbit/s.")
    ] = None,
    rtt: Annotated[
        str | None,
        typer.Option(help='Without FILE: RTT without queues, e.g. 40ms or "5ms to 200ms".'),
    ] = None,
    flows: Annotated[
        str | None,
        typer.Option(
            help="Without FILE: number of long flows (1 if left out), or how many of each "
            'congestion control: "500 cubic, 100 bbr3".'
        ),
    ] = None,
    congestion: Annotated[
        str | None,
        typer.Option(help="Without FILE: congestion control of all flows; cubic if left out."),
    ] = None,
    duration: Annotated[
        str | None, typer.Option(help="Without FILE: simulated time of a run.")
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(help="Without FILE: profile of the hosts; linux if left out, else plain."),
    ] = None,
    set_: Settings = None,
    link: LinkName = None,
    at_most: Annotated[int, typer.Option(min=4, help="Maximum number of seeds per buffer.")] = 32,
    precision: Annotated[
        float,
        typer.Option(min=0.0001, max=0.5, help="Relative tolerance of the answer (0.02 = 2 %)."),
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
    targets, the answer says where each of them is met, and which two conflict; the exit status is
    then 4.
    """
    with failures.reported(_show_known):
        if out and out.suffix not in (".png", ".svg", ".pdf"):
            raise failures.InputError(f"--out {out}: give a file that ends in .png, .svg or .pdf")
        if out and not out.parent.is_dir():
            raise failures.InputError(f"--out {out}: {out.parent} is no directory; make it first")
        given = {
            "rate": rate,
            "rtt": rtt,
            "flows": flows,
            "congestion": congestion,
            "duration": duration,
            "host": host,
        }
        numbers = _numbers(file, {name: text for name, text in given.items() if text is not None})
        with size_bar() as progress, _named_as_options(numbers):
            answer = size(
                file,
                target or [],
                **numbers,
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
            show(answer, Console(highlight=False))
            if out:
                print(f"The picture is {out}")
        if answer.limit_packets is None:
            raise typer.Exit(failures.NO_BUFFER)


def _numbers(file: Path | None, given: dict[str, str]) -> dict[str, Any]:
    """What is asked without a file, as `tailroom.size` takes it."""
    if file is None and not {"rate", "rtt"} <= given.keys():
        raise failures.InputError("give a scenario file, or --rate and --rtt")
    if file is not None and given:
        raise failures.InputError(
            "--rate, --rtt, --flows, --congestion, --duration and --host go without a scenario "
            "file; replace the values of one by --set"
        )
    with _named_as_options(given):
        flows = {"flows": read_flows(given["flows"])} if "flows" in given else {}
    return {**given, **flows}


@contextmanager
def _named_as_options(numbers: Mapping[str, Any]) -> Iterator[None]:
    """Names the option in front of what is wrong with a number."""
    try:
        yield
    except ScenarioError as error:
        name, colon, _ = str(error).partition(":")
        if colon and name in numbers:
            raise failures.InputError(f"--{error}") from None
        raise


def _show_known(answer: Size) -> str:
    """Prints what is known after Ctrl-C, and says how to go on."""
    if answer.tried:
        show(answer, Console(highlight=False, stderr=True), so_far=True)
    store = answer.store.directory if answer.store else ""
    given = any(argument.partition("=")[0] == "--store" for argument in sys.argv)
    again = failures.this_command(*(() if given else ("--store", str(store))))
    return f"finished runs are in the store {store}; go on with {again}"
