"""Arguments and options that several commands share."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tailroom.arguments import SEED, WORKERS
from tailroom.cli import completion, failures
from tailroom.cli.shown_text import shown

if TYPE_CHECKING:
    from tailroom.scenario.axis import Axis
    from tailroom.storage.store import Store
    from tailroom.storage.sweep_record import SweepRecord


ScenarioFile = Annotated[
    Path,
    # The reader of the file reports errors.
    typer.Argument(
        metavar="FILE",
        help="Scenario file (TOML), name of a shipped scenario (`tailroom list scenarios`), or - "
        "for standard input.",
        readable=False,
        autocompletion=completion.scenario_names,
    ),
]

ScenarioFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE",
        help="Scenario file (TOML), name of a shipped scenario (`tailroom list scenarios`), or - "
        "for standard input; the results of several files are compared.",
        readable=False,
        autocompletion=completion.scenario_names,
    ),
]

Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help='Replace a value, e.g. --set links.bottleneck.queue.limit="625 packets". '
        "May be repeated.",
        autocompletion=completion.setting_keys,
    ),
]


def _allow(context: typer.Context, option: typer.CallbackParam, is_given: bool) -> None:
    """Lets scenario files name code or files until the command ends."""
    from tailroom.scenario.trust import allowing  # noqa: PLC0415 - loaded where it is used

    if is_given:
        context.with_resource(allowing(**{str(option.name).removeprefix("allow_"): True}))


AllowCode = Annotated[
    bool,
    typer.Option(
        "--allow-code",
        help="Load the controls in Python that scenario files name (also TAILROOM_ALLOW_CODE=1). "
        "Controls that the command line names are always loaded.",
        callback=_allow,
        expose_value=False,
    ),
]

AllowFiles = Annotated[
    bool,
    typer.Option(
        "--allow-files",
        help="Read the files that scenario files name outside their directories (also "
        "TAILROOM_ALLOW_FILES=1).",
        callback=_allow,
        expose_value=False,
    ),
]

Seed = Annotated[int | None, typer.Option(min=SEED.least, help="Replace the scenario's seed.")]

LinkName = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Name of the link (default: the slowest link that carries flows).",
        autocompletion=completion.link_names,
    ),
]

Workers = Annotated[
    int | None,
    typer.Option(
        min=WORKERS.least,
        help="Maximum number of runs at a time (default: the number of cores, or as many as the "
        "cluster takes).",
    ),
]

ClusterAddress = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="ADDRESS",
        help="Perform the runs on the Dask cluster whose scheduler has this address, e.g. "
        "tcp://192.0.2.1:8786.",
    ),
]


def parse_settings(settings: list[str] | None) -> dict[str, str]:
    """Splits each KEY=VALUE at its first equals sign."""
    overrides = {}
    for setting in settings or []:
        key, equals, value = setting.partition("=")
        if not (key.strip() and equals):
            raise failures.InputError(
                f"--set {setting}: not KEY=VALUE; write for example --set seed=2"
            )
        overrides[key.strip()] = value.strip()
    return overrides


def parse_axes(option: str, texts: list[str] | None) -> "dict[str, Axis]":
    """Reads KEY=VALUES of an option that may be repeated."""
    from tailroom.scenario.axis import parse_axis  # noqa: PLC0415 - loaded where it is used

    axes: dict[str, Axis] = {}
    for read in map(parse_axis, texts or []):
        if read.key in axes:
            raise failures.InputError(
                f"{option} {read.key}: the key is given twice; give all its values in one option"
            )
        axes[read.key] = read
    return axes


def chosen_sweep(store: "Store", start: str | None) -> "SweepRecord":
    """Returns the sweep whose id begins with `start`; without `start`, the only sweep."""
    records = [sweep for sweep in store.sweeps() if sweep.id.startswith(start or "")]
    if len(records) == 1:
        return records[0]
    damaged = "".join(f"; {warning}" for warning in damage(store))
    if not records and not start:
        raise failures.InputError(
            f"{store.directory}: there is no sweep; `tailroom sweep` makes one, and `tailroom "
            f"results STORE --out runs.csv` writes the runs of other commands{damaged}"
        )
    known = ", ".join(sweep.id for sweep in records or store.sweeps()) or "none"
    problem = "are several sweeps" if records else "is no sweep"
    named = f" whose id begins with {start}" if start else ""
    raise failures.InputError(
        f"{store.directory}: there {problem}{named}; choose a sweep with --sweep: {known}{damaged}"
    )


def damage(store: "Store") -> list[str]:
    """Returns a sentence per damaged file of a store, with the remedy where one is known."""
    return [
        f"{path} is damaged and was left out{problem and f': {problem}'}"
        for path in store.damaged
        for problem in [store.problems.get(path, "")]
    ]


def warn_of_damage(store: "Store") -> None:
    """Prints a warning per damaged file of a store."""
    for warning in damage(store):
        print(f"warning: {shown(warning)}", file=sys.stderr)
