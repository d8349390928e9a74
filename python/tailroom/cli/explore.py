"""`tailroom explore`: the page in the browser."""

import shlex
import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from tailroom.cli import completion
from tailroom.cli.options import refuse
from tailroom.cli.signature import options_of
from tailroom.explore.page_files import write_page
from tailroom.explore.page_scenario import page_start
from tailroom.explore.serve import serve
from tailroom.storage.output import output_directory

PORT = 8217
EMBEDDED = (
    '<iframe src="https://HOST/index.html#embed=slider,verdict,queue" width="720" height="840">'
    "</iframe>"
)


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
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help=f"Port to listen on; 0 for any free port (default: {PORT}).",
        ),
    ] = None,
    open_page: Annotated[
        bool, typer.Option("--open", help="Open the page in the web browser.")
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(help="Most runs at a time (default: the number of cores)."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Serve nothing: write the page, which begins with FILE, into this new directory, "
            "for any web server.",
        ),
    ] = None,
) -> None:
    """Serve a page on this machine that shows what a buffer costs while you move a slider.

    The page simulates in the browser, with the same results as every other command, and needs this
    command only to load. Controls in Python and stores of runs are for the other commands. The page
    is served until Ctrl-C; with --out it is written for another web server, a slide or a blog.
    """
    if out is not None:
        given = {"port": port is not None, "open": open_page}
        refuse(given, given, "--out writes the page and serves nothing; leave one of them out")
        _write(file, workers, out)
        return

    def ready(address: str) -> None:
        print(f"{address} (Ctrl-C to end)", flush=True)
        if open_page:
            webbrowser.open(address)

    serve(page_start(file, workers), port=PORT if port is None else port, ready=ready)


def _write(file: str | None, workers: int | None, out: Path) -> None:
    """Writes the page for other web servers, and prints how to serve and embed it."""
    with output_directory(out) as new:
        opened = page_start(file, workers, is_copy=True)
        new.write(lambda place: write_page(place, opened), rescue=False)
    print(f"The page is in {out}. Any web server can serve it, as with:")
    print(f"  python -m http.server -d {shlex.quote(str(out))}")
    print("On a slide or in a blog, with the address of your server for https://HOST:")
    print(f"  {EMBEDDED}")
