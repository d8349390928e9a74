"""Arguments and options that several commands share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tailroom.cli import failures

if TYPE_CHECKING:
    from tailroom.store import Store, SweepRecord

ScenarioFile = Annotated[
    Path,
    # Who reads it says why it cannot be read.
    typer.Argument(metavar="FILE", help="Scenario file (TOML).", readable=False),
]

Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help='Replace a value, e.g. --set links.bottleneck.queue.limit="625 packets". '
        "May be repeated.",
    ),
]

Seed = Annotated[int | None, typer.Option(min=0, help="Replace the scenario's seed.")]

LinkName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="The link to look at; if left out, the slowest that carries flows."
    ),
]

ClusterAddress = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Run on the Dask cluster with its scheduler there, e.g. tcp://192.0.2.1:8786.",
    ),
]


def parse_settings(settings: list[str] | None) -> dict[str, str]:
    """Splits each KEY=VALUE at its first equals sign."""
    overrides = {}
    for setting in settings or []:
        key, equals, value = setting.partition("=")
        if not (key.strip() and equals):
            raise failures.InputError(
                f"--set {setting}: no KEY=VALUE; write for example --set seed=2"
            )
        overrides[key.strip()] = value.strip()
    return overrides


def chosen_sweep(store: "Store", start: str | None) -> "SweepRecord":
    """The sweep whose id begins so; the only one if none is named."""
    records = [one for one in store.sweeps() if one.id.startswith(start or "")]
    if len(records) == 1:
        return records[0]
    known = ", ".join(one.id for one in records or store.sweeps()) or "none"
    problem = "are several sweeps" if records else "is no sweep"
    named = f" whose id begins with {start}" if start else ""
    raise failures.InputError(
        f"{store.directory}: there {problem}{named}; choose one with --sweep: {known}"
    )
