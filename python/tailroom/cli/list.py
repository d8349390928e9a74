"""`tailroom list`: what a scenario may be made of."""

import json
import tomllib
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from tailroom import _engine
from tailroom.cli import failures

SCENARIOS = Path(__file__).parents[3] / "scenarios"
"""The shipped scenarios, in a checkout of the repository."""


class Kind(StrEnum):
    """What can be listed."""

    CONGESTION = "congestion"
    QUEUE = "queue"
    SOURCE = "source"
    SCENARIOS = "scenarios"


def list_components(
    kind: Annotated[Kind | None, typer.Argument(help="What to list; all if left out.")] = None,
) -> None:
    """List congestion controls, queue disciplines, sources and shipped scenarios."""
    with failures.reported():
        console = Console()
        components = json.loads(_engine.components())
        for chosen in [kind] if kind else list(Kind):
            if chosen is Kind.SCENARIOS:
                console.print(_scenarios())
            else:
                for component in components[chosen.value]:
                    _print_component(console, chosen.value, component)


def _print_component(console: Console, kind: str, component: dict[str, Any]) -> None:
    console.print(Text(f'{kind} = {{ kind = "{component["kind"]}" }}', style="bold"))
    console.print(Text(component["doc"]))
    if component["parameters"]:
        table = Table("parameter", "default", "range", "meaning", box=box.SIMPLE_HEAD)
        for parameter in component["parameters"]:
            table.add_row(
                Text(parameter["name"]),
                _shown(parameter.get("default")),
                _range(parameter),
                Text(parameter["doc"]),
            )
        console.print(table)
    else:
        console.print()


def _range(parameter: dict[str, Any]) -> str:
    minimum, maximum = parameter.get("minimum"), parameter.get("maximum")
    if minimum is None and maximum is None:
        return _shown(parameter.get("type"))
    if maximum is None:
        return f"from {_shown(minimum)}"
    return f"{_shown(minimum)} to {_shown(maximum)}"


def _shown(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def _scenarios() -> Table:
    table = Table("scenario", "title", box=box.SIMPLE_HEAD)
    for path in sorted(SCENARIOS.rglob("*.toml")):
        title = tomllib.loads(path.read_text(encoding="utf-8")).get("title", "")
        table.add_row(Text(_nearby(path)), Text(title))
    return table


def _nearby(path: Path) -> str:
    """The path as the user would type it."""
    here = Path.cwd()
    return str(path.relative_to(here) if path.is_relative_to(here) else path)
