"""`tailroom explore`: the page in the browser."""

import webbrowser
from typing import Annotated

import typer

from tailroom.cli import completion
from tailroom.cli.signature import options_of
from tailroom.explore.page_scenario import page_start
from tailroom.explore.serve import serve

PORT = 8217


@options_of("run", only=("allow_files",))
def explore(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]",
            help="Scenario file (TOML), name of a shipped scenario, or - for standard input, with "
            "which the page begins. The page has the files that it names.",
            show_default=False,
            autocompletion=completion.scenario_names,
        ),
    ] = None,
    *,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 for any free port.")
    ] = PORT,
    open_page: Annotated[
        bool, typer.Option("--open", help="Open the page in the web browser.")
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(help="Maximum number of runs at a time (default: the number of cores)."),
    ] = None,
) -> None:
    """Serve a page on this machine that shows what a buffer costs while you move a slider.

    The page simulates in the browser, with the same results as every other command, and needs this
    command only to load. Controls in Python and stores of runs are for the other commands. The page
    is served until Ctrl-C.
    """

    def ready(address: str) -> None:
        print(f"{address} (Ctrl-C to end)", flush=True)
        if open_page:
            webbrowser.open(address)

    serve(page_start(file, workers), port=port, ready=ready)
