"""`tailroom new`: a commented scenario to begin with."""

import shlex
import sys
import tomllib
from pathlib import Path
from typing import Annotated

import typer

from tailroom.cli import completion, failures
from tailroom.quoting import shown
from tailroom.scenario.named_values import few
from tailroom.scenario.shipped_scenarios import did_you_mean, shipped_scenario, shipped_scenarios
from tailroom.storage.output import output_file

STANDARD_OUTPUT = "-"


def new(
    file: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]",
            help="New scenario file (default: the name of the preset), or - for standard output.",
            show_default=False,
        ),
    ] = None,
    *,
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Shipped scenario to begin with (`tailroom list scenarios`); a terminal asks for "
            "it if left out.",
            show_default=False,
            autocompletion=completion.scenario_names,
        ),
    ] = None,
) -> None:
    """Write a commented scenario file to start from."""
    with failures.reported():
        name = preset or _asked()
        source = shipped_scenario(name)
        if source is None:
            raise failures.InputError(
                f"--preset {shown(name)}: there is no such scenario"
                f"{did_you_mean(name) or f'; choose one of {few(name, _presets())}'} "
                "(`tailroom list scenarios` shows all)"
            )
        if file == "":
            raise failures.InputError(
                "FILE is empty; give the name of a new file, or leave it out for the preset's name"
            )
        text = source.read_text(encoding="utf-8")
        if file == STANDARD_OUTPUT:
            print(text, end="")
            return
        path = Path(file or f"{source.stem}.toml")
        _write(path, text)
        print(f"{shown(str(path))}: {tomllib.loads(text)['title']}")
        for command, purpose in (("run", "simulate it"), ("explore", "move a slider over it")):
            print(f"  tailroom {command} {_quoted(path)}".ljust(44) + f"# {purpose}")


def _quoted(path: Path) -> str:
    """Returns a path as a shell and a command read it."""
    text = shown(str(path))
    return shlex.quote(f"./{text}" if text.startswith("-") else text)


def _write(path: Path, text: str) -> None:
    """Writes a new file.

    Raises:
        InputError: The file exists.
        OutputDirectoryError: It cannot be written.
    """
    if path.exists():
        raise failures.InputError(
            f"{shown(str(path))}: exists already; give another name, or remove it first"
        )
    with output_file(path) as output:
        output.write(lambda target: target.write_text(text, encoding="utf-8"), rescue=False)


def _presets() -> dict[str, Path]:
    """Returns the files of the shipped scenarios that belong to no paper or standard, by name."""
    return {name: file for name, file in shipped_scenarios().items() if "/" not in name}


def _asked() -> str:
    """Asks for one of the presets at the terminal.

    Raises:
        InputError: There is nobody to ask.
    """
    files = _presets()
    presets = list(files)
    if not sys.stdin.isatty():
        raise failures.InputError(f"--preset NAME is missing; choose one of {', '.join(presets)}")
    for number, name in enumerate(presets, 1):
        title = tomllib.loads(files[name].read_text(encoding="utf-8"))["title"]
        print(f"{number:3}  {name:18} {title}", file=sys.stderr)
    answer = ""
    while answer not in presets:
        print("Number or name: ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            raise failures.InputError("--preset: no scenario was chosen; give its name")
        answer = line.strip()
        if answer.isdecimal() and 1 <= int(answer) <= len(presets):
            answer = presets[int(answer) - 1]
    return answer
