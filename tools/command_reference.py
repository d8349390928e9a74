"""The reference of the command line, from its commands."""

import re
from collections.abc import Iterator
from typing import Any

import typer

from markdown_table import markdown_table
from tailroom.cli.main import app

HEAD = """\
# Command line reference

Generated from the commands; `tailroom COMMAND --help` prints the same. Exit status: 0 done, 1 the
run failed, or `headroom --check` or `vectors check` found a fault, 2 the input is wrong, 3 a
congestion control of your own raised an exception, 4 no buffer that `size` tried meets every
target, 130 interrupted.

"""


def commands_page() -> str:
    """The page, with the commands in the order of the help."""
    return HEAD + "\n".join(_commands("tailroom", app)).rstrip() + "\n"


def _commands(path: str, group: Any) -> Iterator[str]:
    for name in group.commands:
        command = group.load(name) if hasattr(group, "load") else group.commands[name]
        if hasattr(command, "commands"):
            yield from _commands(f"{path} {name}", command)
        else:
            yield from _command(f"{path} {name}", command)


def _command(path: str, command: Any) -> Iterator[str]:
    shown = [parameter for parameter in command.params if not getattr(parameter, "hidden", False)]
    arguments = [parameter for parameter in shown if parameter.param_type_name == "argument"]
    yield f"## `{path}`"
    yield ""
    yield "```text"
    yield " ".join([path, *map(_placeholder, arguments), "[OPTIONS]"])
    yield "```"
    yield ""
    yield from (line.strip() for line in (command.help or "").splitlines())
    yield ""
    if shown:
        context = typer.Context(command)
        rows = []
        for parameter in shown:
            names, meaning = parameter.get_help_record(context)
            if parameter.param_type_name == "argument":
                names = _placeholder(parameter)
            rows.append([f"`{_plain_types(names)}`", meaning])
        yield markdown_table(["argument or option", "meaning"], rows)
    if command.epilog:  # an example
        yield from ("```sh", command.epilog.splitlines()[-1].strip(), "```", "")


def _placeholder(parameter: Any) -> str:
    name = parameter.metavar or parameter.name.upper()
    return name if parameter.required or name.startswith("[") else f"[{name}]"


def _plain_types(names: str) -> str:
    """Writes `<int range>` as INT."""
    return re.sub(r"<(\w+)[^>]*>", lambda found: found[1].upper(), names)
