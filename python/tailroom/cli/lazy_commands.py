"""A group of subcommands whose modules are imported when they are called."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from tailroom.cli import INTERRUPTED
from tailroom.cli.value_names import name_values


@dataclass(frozen=True)
class Subcommand:
    """The location of a subcommand, and its summary in the help of its group."""

    place: str
    """`module:name` of a function, or of a `typer.Typer` with subcommands of its own; the module
    may belong to a distribution that is installed separately."""
    summary: str
    """The first paragraph of its docstring; a test compares the two."""
    example: str
    """The command with which its help ends, without `tailroom`."""


class LazyGroup(TyperGroup):
    """A group that has only names and summaries of some subcommands until one is called."""

    def __init__(
        self,
        subcommands: Mapping[str, Subcommand],
        commands: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        """Takes the subcommands in the order of the help.

        Args:
            subcommands: Those that are imported when they are called.
            commands: Those that stand before them and are imported already.
            settings: Settings of a group.
        """
        self._subcommands = subcommands
        known = dict(commands or {})
        for name, subcommand in subcommands.items():
            known[name] = TyperCommand(name, short_help=subcommand.summary)
        super().__init__(commands=known, **{"rich_markup_mode": None, **settings})
        _suggest_commands(self)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """Imports the subcommand that the arguments name.

        Raises:
            typer.Exit: Ctrl-C interrupted the import.
        """
        name, _, rest = super().resolve_command(ctx, args)
        try:
            return name, self.load(name), rest
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            raise typer.Exit(INTERRUPTED) from None

    def load(self, name: str | None) -> Any:
        """Imports a subcommand."""
        if name is None:  # only when the shell completes arguments
            return None
        if name not in self._subcommands:
            return self.commands[name]
        subcommand = self._subcommands[name]
        module, _, attribute = subcommand.place.partition(":")
        target = getattr(_imported(module), attribute)
        app = target if isinstance(target, typer.Typer) else _application_of(name, target)
        command = get_command(app)
        command.name = name
        command.epilog = ending(subcommand.example)
        parts = getattr(command, "commands", {}).values()
        if parts and not isinstance(command, LazyGroup):
            _suggest_commands(command)
        for part in parts:
            # The library would cut a summary that takes two lines.
            whole = " ".join((part.help or "").partition("\n\n")[0].split())
            part.short_help = whole or part.short_help
        for one in [command, *parts]:
            name_values(one)
            _show_remedies(one)
        return command


def ending(example: str) -> str:
    """The end of a help: an example, without `tailroom`."""
    # The mark \b keeps the line whole.
    return f"\b\nExample:\n  tailroom {example}"


def _suggest_commands(group: Any) -> None:
    """Names in the message about an unknown subcommand what it may mean, as for every name."""
    group.suggest_commands = False  # those of the library, which knows other words
    resolve = group.resolve_command

    def resolve_command(context: Any, given: list[str]) -> Any:
        try:
            return resolve(context, given)
        except Exception as error:
            from tailroom.cli.argument_errors import explain_command  # noqa: PLC0415 - as below

            explain_command(error, given[0], group.commands)
            raise

    group.resolve_command = resolve_command


def _show_remedies(command: Any) -> None:
    """Adds remedies to the messages of the library.

    The message about an argument that is missing gets an example, that about an unknown option what
    to write instead.
    """
    read = command.parse_args
    _, _, example = (command.epilog or "").partition("Example:\n  ")

    def parse_args(context: Any, given: list[str]) -> Any:
        written = list(given)  # the library removes what it has read
        try:
            return read(context, given)
        except Exception as error:
            # Only an argument that is missing has no message of its own.
            if isinstance(error, typer.BadParameter) and example and not error.message:
                error.message = f"For example: {example}"
            from tailroom.cli.argument_errors import explain  # noqa: PLC0415 - for errors only

            explain(error, command, written)
            raise

    command.parse_args = parse_args


def _imported(module: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        missing = error
    from tailroom.cli import failures  # noqa: PLC0415 - not for `--help`

    with failures.reported():
        raise missing


def _application_of(name: str, function: Any) -> typer.Typer:
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    app.command(name)(function)
    return app
