"""Where an answer of `size` leads on, for people: the finding, and the command to give next."""

import shlex
import sys

from rich.console import Console

from tailroom.arguments import option
from tailroom.cli.sentences import say
from tailroom.cli.terminal_text import escape
from tailroom.studies.size_study.answer import Size
from tailroom.studies.size_study.doors import Door


def show_doors(answer: Size, console: Console) -> None:
    """Prints each door, and the command that goes through it where an option does.

    Args:
        answer: The answer.
        console: Where to print.
    """
    for door in answer.doors:
        say(console, f"[cyan]next:[/cyan] {escape(door.text)}")
        if door.argument:
            console.print(f"  {escape(_command(door))}", soft_wrap=True)


def _command(door: Door) -> str:
    """The running command with the option of the door in place of an earlier one."""
    given = option(door.argument)
    arguments = sys.argv[1:]
    if door.argument != "set":
        arguments = list(_without(arguments, given))
    return shlex.join(["tailroom", *arguments, given, door.given])


def _without(arguments: list[str], given: str) -> list[str]:
    """The arguments without an option and its value."""
    kept, is_value = [], False
    for argument in arguments:
        if not is_value and not argument.startswith((f"{given}=", given)):
            kept.append(argument)
        is_value = argument == given
    return kept
