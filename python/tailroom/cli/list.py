"""`tailroom list`: the components of scenarios, and the shipped scenarios."""

import json
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tailroom import _engine
from tailroom.cli import completion, failures
from tailroom.quoting import shown
from tailroom.scenario.named_values import nearest
from tailroom.scenario.shipped_scenarios import shipped_scenarios

SCENARIO_KIND = "scenarios"
WIDEST_NAME = 28
"""Width of the column of names, in characters; the title of a longer name follows it."""
NAMED_LISTS = ("metrics", "models")
"""Kinds that are no components of scenarios."""


def list_components(
    kind: Annotated[
        str | None,
        typer.Argument(
            help="Kind of component: congestion, queue, source, slow_start, loss, host or "
            "scenarios (default: the names of all, without parameters); or metrics or models.",
            autocompletion=completion.component_kinds,
        ),
    ] = None,
    word: Annotated[
        str, typer.Argument(help="Of metrics or models, those with this word.", show_default=False)
    ] = "",
) -> None:
    """List the components of scenarios and the shipped scenarios."""
    with failures.reported():
        console = Console(highlight=False)
        components = json.loads(_engine.components())
        if kind in NAMED_LISTS:
            from tailroom.cli.named_lists import LISTS  # noqa: PLC0415 - it loads NumPy

            LISTS[kind](console, word)
            return
        if word:
            raise failures.InputError(
                f"list: only {' and '.join(NAMED_LISTS)} take a word; leave it out"
            )
        kinds = [*components, SCENARIO_KIND]
        if kind is not None and kind not in kinds:
            raise failures.InputError(
                f"list {shown(kind)}: is unknown; {nearest(kind, [*kinds, *NAMED_LISTS])}"
            )
        if kind is None:
            _print_names(console, components)
        elif kind == SCENARIO_KIND:
            _print_scenarios(console)
        else:
            for component in components[kind]:
                if "sets" in component:
                    _print_host(console, component)
                else:
                    _print_component(console, kind, component)


def _print_names(console: Console, components: dict[str, list[dict[str, Any]]]) -> None:
    """Prints a line per component and scenario: the name, and what it is."""
    titles = {
        kind: {one["kind"]: _title(one["doc"]) for one in some} for kind, some in components.items()
    }
    titles[SCENARIO_KIND] = {name: _title_of(path) for name, path in shipped_scenarios().items()}
    for kind, some in titles.items():
        console.print(Text(f"\n{kind}: `tailroom list {kind}` has more", style="bold"))
        widest = min(max(map(len, some)), WIDEST_NAME)
        for name, title in some.items():
            print_on_a_line(Text(f"  {name:{widest}}  {title}"), console)
    lists = ", ".join(f"`tailroom list {name}`" for name in NAMED_LISTS)
    console.print(Text(f"\nelsewhere: {lists}", style="bold"), soft_wrap=True)


def print_on_a_line(line: Text, console: Console) -> None:
    """Prints a line, cut on a terminal that is too narrow for it."""
    if console.is_terminal:
        line.truncate(console.width, overflow="ellipsis")
    console.print(line, soft_wrap=True)


def _title(doc: str) -> str:
    """The first sentence of a description, without what follows a colon outside brackets."""
    text = " ".join(doc.split())
    ends = re.finditer(r"(?<!\bal)[.:;](?=\s|$)", text)
    heads = (text[: end.start()] for end in ends)
    return next((head for head in heads if head.count("(") == head.count(")")), text)


def _title_of(path: Path) -> str:
    return str(tomllib.loads(path.read_text(encoding="utf-8")).get("title", ""))


def _print_component(console: Console, kind: str, component: dict[str, Any]) -> None:
    console.print(Text(f'{kind} = {{ kind = "{component["kind"]}" }}', style="bold"))
    console.print(Text(component["doc"]))
    if component["parameters"]:
        table = Table("parameter", "default", "values", "meaning", box=box.SIMPLE_HEAD)
        for parameter in component["parameters"]:
            table.add_row(
                Text(parameter["name"]),
                _shown(parameter.get("default")),
                values_text(parameter),
                Text(parameter["doc"]),
            )
        console.print(table)
    else:
        console.print()


def _print_host(console: Console, host: dict[str, Any]) -> None:
    """Prints each setting of a host profile, where it applies, and its source."""
    console.print(Text(f'host = "{host["kind"]}"', style="bold"))
    console.print(Text(host["doc"]))
    for setting in host["sets"]:
        console.print(Text(f"  {setting['name']} = {setting['value']}", style="bold"))
        for label, words in (("for", setting["applies_to"]), ("source", setting["doc"])):
            console.print(Padding(Text(f"{label}: {words}"), (0, 0, 0, 4)))
    console.print()


def values_text(parameter: dict[str, Any]) -> str:
    """Returns the allowed values of a parameter: its choices, its range or its type."""
    if "choices" in parameter:
        return " or ".join(parameter["choices"])
    minimum, maximum = parameter.get("minimum"), parameter.get("maximum")
    if minimum is not None and maximum is not None:
        return f"{minimum:,} to {maximum:,}"
    if minimum is not None:
        return f"from {minimum:,}"
    return str(parameter["type"]).replace("_", " ")


def _shown(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def _print_scenarios(console: Console) -> None:
    """Prints each name as `tailroom run` takes it, with the title of the scenario."""
    for name, path in shipped_scenarios().items():
        console.print(Text(name, style="bold"), soft_wrap=True)
        console.print(Text(f"  {_title_of(path)}"), soft_wrap=True)
