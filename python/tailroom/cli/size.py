"""`tailroom size`: the smallest buffer that meets every target."""

import json as json_text
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from tailroom import ScenarioError
from tailroom.arguments import MAX_SEEDS, PRECISION
from tailroom.buffer_atlas.data import MOST_LOSS
from tailroom.cli import completion, failures
from tailroom.cli.answer import write_and_print
from tailroom.cli.options import (
    AllowCode,
    AllowFiles,
    ClusterAddress,
    LinkName,
    Settings,
    Workers,
    parse_settings,
)
from tailroom.cli.progress import size_bar
from tailroom.cli.size_report import as_dict, show
from tailroom.scenario.dumbbell import read_flows
from tailroom.storage.output import output_file
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
            autocompletion=completion.scenario_names,
        ),
    ] = None,
    *,
    target: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TARGET",
            help='Target that the buffer must meet, e.g. --target "utilization >= 98%" '
            '--target "queue_delay_s_p99 <= 5ms". May be repeated.',
            autocompletion=completion.metric_names,
        ),
    ] = None,
    rate: Annotated[
        str | None, typer.Option(help="Without FILE: rate of the link, e.g. 1Gbit/s or 1G.")
    ] = None,
    rtt: Annotated[
        str | None,
        typer.Option(help='Without FILE: RTT without queues, e.g. 40ms or "5ms to 200ms".'),
    ] = None,
    flows: Annotated[
        str | None,
        typer.Option(
            help="Without FILE: number of long flows (default: 1), or a number per "
            'congestion control: "500 cubic, 100 bbr3" or "8 cubic, 8 module:Class".'
        ),
    ] = None,
    congestion: Annotated[
        str | None,
        typer.Option(
            help="Without FILE: congestion control of all flows (default: cubic); a name, "
            '"module:Class" of your own, or a table such as "{ kind = \'aimd\', increase = 2.0 }".',
            autocompletion=completion.control_names,
        ),
    ] = None,
    duration: Annotated[
        str | None, typer.Option(help="Without FILE: simulated duration of a run, e.g. 60s.")
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            help="Without FILE: profile of the hosts, linux (default) or plain.",
            autocompletion=completion.host_names,
        ),
    ] = None,
    set_: Settings = None,
    link: LinkName = None,
    most_loss: Annotated[
        str,
        typer.Option(
            metavar="FRACTION",
            help="Where no target limits a loss: largest loss of the link at the answer, as in "
            "2% or 0.02; none for no bound.",
        ),
    ] = f"{MOST_LOSS:.0%}",
    at_most: Annotated[
        int, typer.Option(min=MAX_SEEDS.least, help="Maximum number of seeds per buffer.")
    ] = 32,
    precision: Annotated[
        float,
        typer.Option(
            min=PRECISION.least,
            max=PRECISION.most,
            help="Relative tolerance of the answer (0.02 = 2 %).",
        ),
    ] = 0.02,
    store: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Store for the runs; stored runs are not repeated."),
    ] = None,
    workers: Workers = None,
    cluster: ClusterAddress = None,
    atlas: Annotated[
        bool,
        typer.Option(
            "--atlas/--no-atlas",
            help="Begin the search where the atlas has links nearby (`tailroom atlas`).",
        ),
    ] = True,
    json: Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Draw targets and trade-off into FILE (.png, .svg or .pdf)."
        ),
    ] = None,
    allow_code: AllowCode = False,
    allow_files: AllowFiles = False,
) -> None:
    """Find the smallest buffer that meets every target with 95 % confidence.

    Unless a target limits a loss, the answer also loses at most 1 % of the packets; if no tested
    buffer does, the answer says what it loses (--most-loss).

    The atlas or the models of the literature give the initial range, and simulations give the
    answer. If no buffer meets all targets, the answer lists the limits that meet each target and
    the pairs of targets that conflict, and the exit status is 4.
    """
    with failures.reported(_show_known):
        if out and out.suffix not in (".png", ".svg", ".pdf"):
            raise failures.InputError(f"--out {out}: give a file that ends in .png, .svg or .pdf")
        given = {
            "rate": rate,
            "rtt": rtt,
            "flows": flows,
            "congestion": congestion,
            "duration": duration,
            "host": host,
        }
        numbers = _numbers(file, {name: text for name, text in given.items() if text is not None})
        with output_file(out) if out else nullcontext() as output:
            with size_bar() as progress, _named_as_options(numbers):
                answer = size(
                    file,
                    target or [],
                    **numbers,
                    link=link,
                    store=store,
                    set=parse_settings(set_),
                    max_seeds=at_most,
                    precision=precision,
                    workers=workers,
                    executor=cluster,
                    progress=progress,
                    atlas=atlas,
                    most_loss=_read_most_loss(most_loss),
                )
            write_and_print(
                output,
                lambda path: answer.plot().savefig(path, dpi=150),
                lambda: _print(answer, json=json),
            )
        if out and not json:
            print(f"The picture is {out}")
        if answer.limit_packets is None:
            raise typer.Exit(failures.NO_BUFFER)


def _read_most_loss(text: str) -> float | None:
    """Reads a fraction above 0 and below 1, or `none`.

    Raises:
        InputError: The text is neither.
    """
    if text == "none":
        return None
    number = text.removesuffix("%")
    try:
        fraction = float(number) / (100 if number != text else 1)
    except ValueError:
        fraction = -1.0
    if not 0 < fraction < 1:
        raise failures.InputError(
            f"--most-loss {text}: is not a fraction above 0 and below 1; write 1% or 0.01, or none "
            "for no bound"
        )
    return fraction


def _print(answer: Size, *, json: bool) -> None:
    if json:
        print(json_text.dumps(as_dict(answer), indent=2))
    else:
        show(answer, Console(highlight=False))


def _numbers(file: Path | None, given: dict[str, str]) -> dict[str, Any]:
    """Returns the options that replace a scenario file as arguments of `tailroom.size`."""
    if file is None and not {"rate", "rtt"} <= given.keys():
        raise failures.InputError("give a scenario file, or --rate and --rtt")
    if file is not None and given:
        raise failures.InputError(
            "--rate, --rtt, --flows, --congestion, --duration and --host replace a scenario file; "
            "leave out FILE, or change its values with --set"
        )
    with _named_as_options(given):
        flows = {"flows": read_flows(given["flows"])} if "flows" in given else {}
    return {**given, **flows}


@contextmanager
def _named_as_options(numbers: Mapping[str, Any]) -> Iterator[None]:
    """Puts the name of the option in front of an error about its value."""
    try:
        yield
    except ScenarioError as error:
        name, colon, _ = str(error).partition(":")
        if colon and name.partition(".")[0] in numbers:
            raise failures.InputError(f"--{error}") from None
        raise


def _show_known(answer: Size) -> str:
    """Prints the intermediate answer after Ctrl-C; returns how to continue."""
    if answer.tried:
        show(answer, Console(highlight=False, stderr=True), so_far=True)
    if answer.store is None:
        return "the runs are not kept; --store DIR, with tailroom[tables], keeps them"
    store = answer.store.directory
    given = any(argument.partition("=")[0] == "--store" for argument in sys.argv)
    again = failures.this_command(*(() if given else ("--store", str(store))))
    return f"finished runs are in the store {store}; continue with {again}"
