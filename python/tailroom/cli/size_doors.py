"""Where an answer of `size` leads on, for people: the finding, and the command to give next."""

import shlex
import sys
from collections.abc import Sequence

from rich.console import Console

from tailroom.arguments import option
from tailroom.cli.sentences import say
from tailroom.cli.terminal_text import escape
from tailroom.studies.size_study.answer import Size
from tailroom.studies.size_study.doors import Door


def doors_that_fit(doors: Sequence[Door], lines: int) -> list[Door]:
    """Returns the doors for which there is room, those with a command first; at least one.

    Args:
        doors: All doors.
        lines: Number of lines for them.
    """
    chosen: list[Door] = []
    for door in sorted(doors, key=lambda one: not one.argument):
        lines -= 1 + bool(door.argument)
        if lines >= 0 or not chosen:
            chosen.append(door)
    return [door for door in doors if door in chosen]


def show_doors(doors: Sequence[Door], answer: Size, console: Console) -> None:
    """Prints doors, and for each the command that goes through it where an option does.

    Args:
        doors: The doors.
        answer: Their answer.
        console: Where to print.
    """
    needed = [one for one in answer.doors if one.kind == "not_ended"]
    for door in doors:
        say(console, f"[cyan]next:[/cyan] {escape(door.text)}")
        if door.argument:
            # Behind another door, too, the runs decide only on what has ended.
            together = [*(one for one in needed if one is not door), door]
            console.print(f"  {escape(_command(together))}", soft_wrap=True)


def _command(doors: Sequence[Door]) -> str:
    """The running command with the options of doors in place of earlier ones."""
    arguments = sys.argv[1:]
    for door in doors:
        given = option(door.argument)
        if door.argument != "set":
            arguments = _without(arguments, given)
        arguments = [*arguments, given, door.given]
    return shlex.join(["tailroom", *arguments])


def _without(arguments: list[str], given: str) -> list[str]:
    """The arguments without an option and its value."""
    kept, is_value = [], False
    for argument in arguments:
        if not is_value and not argument.startswith((f"{given}=", given)):
            kept.append(argument)
        is_value = argument == given
    return kept
