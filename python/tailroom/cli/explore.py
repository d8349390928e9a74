"""`tailroom explore`: the page with the native engine behind it."""

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tailroom.cli import completion, failures
from tailroom.cli.options import AllowCode, AllowFiles, Workers
from tailroom.explore.guard import is_loopback
from tailroom.explore.opened import Opened
from tailroom.explore.runs import Runs
from tailroom.explore.serve import serve

if TYPE_CHECKING:
    from tailroom.explore.stored_runs import StoredRuns

PORT = 8217


def explore(  # noqa: PLR0913 - one argument an option
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]",
            help="Scenario file (TOML), name of a shipped scenario, or - for standard input, with "
            "which the page begins. Only this file may name other files and, with --allow-code, "
            "controls in Python.",
            show_default=False,
            autocompletion=completion.scenario_names,
        ),
    ] = None,
    *,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for any free port.")
    ] = PORT,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS",
            help="Address to listen on. Whoever reaches another one than this machine's own can "
            "use its processors.",
        ),
    ] = "127.0.0.1",
    open_page: Annotated[
        bool, typer.Option("--open", help="Open the page in the web browser.")
    ] = False,
    store: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Store for the runs of the trade-off; stored runs are not repeated.",
        ),
    ] = None,
    workers: Workers = None,
    allow_code: AllowCode = False,
    allow_files: AllowFiles = False,
) -> None:
    """Serve a page on this machine that shows what a buffer costs while you move a slider.

    The page runs the same engine as every other command. It is served until Ctrl-C.
    """

    def ready(address: str) -> None:
        print(f"{address} (Ctrl-C to end)", flush=True)
        if not is_loopback(host):
            print("warning: other machines can reach this page and run simulations here")
        if open_page:
            webbrowser.open(address)

    with failures.reported():
        opened = Opened.nothing() if file is None else Opened.of(file)
        runs = Runs(workers, stored=None if store is None else _stored_runs(store))
        serve(opened, runs, host=host, port=port, ready=ready)


def _stored_runs(store: Path) -> "StoredRuns":
    from tailroom.explore.stored_runs import StoredRuns  # noqa: PLC0415 - it loads pyarrow

    return StoredRuns(store)
