"""Options of `tailroom` itself: its version and the completion of the shell."""

from typing import Annotated, Any

import typer
from typer.main import get_command

from tailroom import __version__, _engine


def build_words() -> str:
    """How the engine was built: a development build is slower."""
    return "release build" if _engine.profile() == "release" else "development build"


def _print_version(is_given: bool) -> None:
    if is_given:
        print(f"tailroom {__version__} ({build_words()})")
        raise typer.Exit


def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Print the version and exit.",
            callback=_print_version,
            is_eager=True,
            expose_value=False,
        ),
    ] = False,
) -> None:
    """A callback whose parameters are the options of the root command."""


def root_options() -> list[Any]:
    """The options of the root command, with those for shell completion (bash, zsh, fish)."""
    app = typer.Typer(callback=_root, rich_markup_mode=None)
    return list(get_command(app).params)
