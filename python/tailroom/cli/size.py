"""`tailroom size`: the smallest buffer that meets every target."""

import json as json_text
import sys
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

import tailroom
from tailroom.cli import completion, failures
from tailroom.cli.answer import write_and_print
from tailroom.cli.options import Json, NoTitle, PictureFile, read_axes
from tailroom.cli.progress import size_bar
from tailroom.cli.signature import options_of
from tailroom.export.devices import Device
from tailroom.storage.output import output_file
from tailroom.studies.size_study.frontier import MOST_KEYS

if TYPE_CHECKING:
    from tailroom.scenario.axis import Axis
    from tailroom.storage.store import Store
    from tailroom.studies.size_study.answer import Size
    from tailroom.studies.size_study.frontier import Frontier


def _show_known(answer: "Size") -> str:
    """Prints the intermediate answer after Ctrl-C; returns how to continue."""
    from tailroom.cli.size_report import show  # noqa: PLC0415 - the first run does not wait for it

    if answer.tried:
        show(answer, Console(highlight=False, stderr=True), so_far=True)
    return _to_continue(answer.store)


def _to_continue(store: "Store | None") -> str:
    """Says where the runs of an answer are, and how to continue with them."""
    directory = store.directory if store else ""
    given = any(argument.partition("=")[0] == "--store" for argument in sys.argv)
    again = failures.this_command(*(() if given else ("--store", str(directory))))
    return f"finished runs are in the store {directory}; continue with {again}"


def _to_draw(answer: "Size") -> str:
    """Says how to draw the picture of an answer without a repetition of its runs."""
    from tailroom.studies.size_study.study import on_disk  # noqa: PLC0415 - it loads NumPy

    return _to_continue(replace(answer, kept=on_disk(answer.kept)).store)


@options_of("size", on_interrupt=_show_known)
def size_command(  # noqa: PLR0913 - each is one option
    scenario: Annotated[
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
    vary: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY[=VALUES]",
            help="Key of the scenario, or its end, whose smallest sufficient value is sought "
            "instead of the limit of the link's queue, such as queue.target, threshold, "
            "shaper.burst or a pool's alpha. A key with values, such as --vary "
            "queue.target=5ms,20ms, gives an answer per value, and two such keys one per pair.",
            autocompletion=completion.keys_to_vary,
        ),
    ] = None,
    config: Annotated[
        Device | None,
        typer.Option(
            help="Print lines for this switch or router instead of tc (--json has all).",
        ),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Print also every tested value, the phase check, models with their failing "
            "assumptions, and the lines for every tool.",
        ),
    ] = False,
    json: Json = False,
    out: PictureFile = None,
    no_title: NoTitle = False,
    **question: Any,
) -> None:
    """Find the smallest buffer that meets every target with 95 % confidence.

    Unless a target limits a loss, the answer also loses at most 1 % of the packets (--most-loss).

    The exit status is 4 if no buffer meets all targets. If all tested values of another key meet
    them, the answer is the scenario's own value.
    """
    sought, over = _split(vary or [])
    if config and over:
        raise failures.InputError(
            "--config writes one answer, and --vary "
            f"{' --vary '.join(vary or [])} gives one per value; leave out one of them"
        )
    with output_file(out) if out else nullcontext() as output:
        with size_bar() as progress:
            answer: Size | Frontier = (
                tailroom.frontier(scenario, over=over, vary=sought, progress=progress, **question)
                if over
                else tailroom.size(scenario, vary=sought, progress=progress, **question)
            )
        write_and_print(
            output,
            lambda path: answer.plot().savefig(path, dpi=150),
            lambda: _print(answer, config, explain=explain, json=json),
            again=None if isinstance(answer, tailroom.Frontier) else partial(_to_draw, answer),
        )
    if out and not json:
        print(f"The picture is {out}")
    if answer.is_unmet:
        raise typer.Exit(failures.NO_BUFFER)


def _split(vary: list[str]) -> "tuple[str | None, dict[str, Axis]]":
    """The key that is sought, and the others with their values."""
    keys = [text for text in vary if "=" not in text]
    over = read_axes("vary", [text for text in vary if "=" in text])
    if len(keys) > 1 or len(over) > MOST_KEYS:
        raise failures.InputError(
            f"--vary: {' and '.join(keys if len(keys) > 1 else over)}: give at most one key that "
            "is sought, and at most two with values, as in --vary queue.target --vary "
            "queue.interval=50ms,100ms"
        )
    return (keys[0] if keys else None), over


def _print(answer: "Size | Frontier", config: Device | None, *, explain: bool, json: bool) -> None:
    from tailroom.cli.size_report import show, show_frontier  # noqa: PLC0415 - as above

    console = Console(highlight=False)
    if json:
        print(json_text.dumps(answer.as_dict(), indent=2))
    elif isinstance(answer, tailroom.Frontier):
        show_frontier(answer, console, explain=explain)
    else:
        show(answer, console, device=config, explain=explain)
