"""Arguments and options that several commands share."""

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tailroom.arguments import WORKERS, Limits, option
from tailroom.cli import completion, failures
from tailroom.figure_titles import titles
from tailroom.quoting import shown

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

OptionalScenarioFile = Annotated[Path | None, *ScenarioFile.__metadata__]

ScenarioFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="FILE",
        help="Scenario file (TOML), name of a shipped scenario (`tailroom list scenarios`), or - "
        "for standard input.",
        readable=False,
        autocompletion=completion.scenario_names,
    ),
]


UNITS_S = {"s": 1.0, "ms": 1e-3, "us": 1e-6}


def _allow(context: typer.Context, switch: typer.CallbackParam, is_given: bool) -> None:
    """Lets scenario files name code or files until the command ends."""
    from tailroom.scenario.trust import allowing  # noqa: PLC0415 - loaded where it is used

    if is_given:
        context.with_resource(allowing(**{str(switch.name).removeprefix("allow_"): True}))


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
        help="Perform the runs on the Dask cluster with this scheduler, as in "
        "tcp://192.0.2.1:8786.",
    ),
]


def _check_picture(path: Path | None) -> Path | None:
    if path and path.suffix not in (".png", ".svg", ".pdf"):
        raise typer.BadParameter(f"{path}: give a file that ends in .png, .svg or .pdf")
    return path


PictureFile = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="Draw the answer into FILE (.png, .svg or .pdf).",
        callback=_check_picture,
    ),
]


def _leave_out_titles(context: typer.Context, is_given: bool) -> None:
    """Leaves out the titles of pictures until the command ends."""
    context.with_resource(titles(wanted=not is_given))


NoTitle = Annotated[
    bool,
    typer.Option(
        "--no-title",
        help="Leave titles out of pictures, as for a paper.",
        callback=_leave_out_titles,
        expose_value=False,
    ),
]

Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]


def refuse(given: Mapping[str, object], arguments: Iterable[str], why: str) -> None:
    """Refuses options that do not apply.

    Args:
        given: The given arguments by name.
        arguments: The names of those that do not apply.
        why: The problem and its remedy.
    """
    for name in arguments:
        if given.get(name):
            raise failures.InputError(f"{option(name)}: {why}")


def read_settings(argument: str, settings: list[str]) -> dict[str, str]:
    """Splits each KEY=VALUE at its first equals sign."""
    overrides = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not (key.strip() and equals):
            name = option(argument)
            raise failures.InputError(
                f"{name} {setting}: not KEY=VALUE; write for example {name} seed=2"
            )
        overrides[key.strip()] = value.strip()
    return overrides


def read_axes(argument: str, texts: list[str]) -> "dict[str, Axis]":
    """Reads each KEY=VALUES."""
    from tailroom.scenario.axis import parse_axis  # noqa: PLC0415 - loaded where it is used

    axes: dict[str, Axis] = {}
    for read in map(parse_axis, texts):
        if read.key in axes:
            raise failures.InputError(
                f"{option(argument)} {read.key}: the key is given twice; give all its values in "
                "one option"
            )
        axes[read.key] = read
    return axes


def seconds_of(text: str) -> float | None:
    """A time in s, ms or us, such as `100 ms`, in seconds; `None` if the text is none."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*(s|ms|us)\s*", text)
    return float(match[1]) * UNITS_S[match[2]] if match else None


def duration_of(value_s: float) -> str:
    """A time in the largest unit of which it is at least one, as `seconds_of` reads it."""
    unit = next((unit for unit, size in UNITS_S.items() if value_s >= size), "s")
    return f"{value_s / UNITS_S[unit]:g} {unit}"


def read_duration_s(argument: str, text: str, limits: Limits) -> float:
    """Reads a duration in s, ms or us, and returns it in seconds.

    Args:
        argument: Name of the argument.
        text: As in `100 ms`.
        limits: Its limits, in seconds.
    """
    value_s = seconds_of(text)
    if value_s is None or not limits.least <= value_s <= limits.most:
        raise failures.InputError(
            f"{option(argument)} {text}: not a duration from {duration_of(limits.least)} to "
            f'{duration_of(limits.most)}; write for example "100 ms"'
        )
    return value_s


def _fraction(text: str) -> float:
    """A number or a percentage as a number; negative if the text is neither."""
    number = text.removesuffix("%")
    try:
        return float(number) / (100 if number != text else 1)
    except ValueError:
        return -1.0


def read_share(argument: str, text: str) -> float:
    """Reads a share above 0 and at most 1."""
    share = _fraction(text)
    if not 0 < share <= 1:
        raise failures.InputError(
            f"{option(argument)} {text}: is not a share above 0 and at most 1; write 5% or 0.05"
        )
    return share


def read_fraction(argument: str, text: str) -> float | None:
    """Reads a fraction above 0 and below 1, or `none`."""
    if text == "none":
        return None
    fraction = _fraction(text)
    if not 0 < fraction < 1:
        raise failures.InputError(
            f"{option(argument)} {text}: is not a fraction above 0 and below 1; write 1% or 0.01, "
            "or none for no bound"
        )
    return fraction


class Form:
    """How a command takes an argument, where the function's signature does not tell."""

    def __init__(
        self, note: str = "", read: Callable[[str, Any], object] | None = None, **settings: Any
    ) -> None:
        """Describes an option.

        Args:
            note: What the help adds to the entry of the docstring.
            read: Makes a value for the function from the argument's name and the given text.
            settings: Settings of a `typer.Option`; `help` replaces the entry of the docstring.
        """
        self.note = note
        self.read = read
        self.settings = settings


_AXIS: dict[str, Any] = {
    "metavar": "KEY=VALUES",
    "read": read_axes,
    "autocompletion": completion.axis_keys,
}
FORMS = {
    "allow_code": Form("Or TAILROOM_ALLOW_CODE=1.", callback=_allow, expose_value=False),
    "allow_files": Form("Or TAILROOM_ALLOW_FILES=1.", callback=_allow, expose_value=False),
    "access_rate": Form(metavar="RATE"),
    "active": Form("As in 5% or 0.05.", metavar="SHARE", read=read_share),
    "asic": Form(metavar="NAME", autocompletion=completion.asic_names),
    "cable": Form(metavar="LENGTH"),
    "congestion": Form(metavar="CONTROL", autocompletion=completion.control_names),
    "executor": Form(
        metavar="ADDRESS",
        help="Perform the runs on the Dask cluster with this scheduler, as in "
        "tcp://192.0.2.1:8786.",
    ),
    "fec": Form(metavar="TIME"),
    "from_": Form(metavar="PREFIX"),
    "gearbox": Form(metavar="TIME"),
    "grid": Form(
        'Example: --grid links.bottleneck.queue.limit="10 packets, 100 packets"; or a TOML list, '
        'or { from = "10 packets", to = "1000 packets", points = 9, scale = "log" }.',
        **_AXIS,
    ),
    "host": Form(autocompletion=completion.host_names),
    "interface": Form(metavar="TIME"),
    "link": Form(metavar="NAME", autocompletion=completion.link_names),
    "macsec": Form(metavar="TIME"),
    "medium": Form(metavar="NAME"),
    "metrics": Form(metavar="NAME", autocompletion=completion.metric_names),
    "models": Form(metavar="NAME", autocompletion=completion.model_names),
    "most_loss": Form(
        "As in 2% or 0.02; none for no bound.", metavar="FRACTION", read=read_fraction
    ),
    "response": Form(metavar="TIME"),
    "set": Form(
        'Example: --set links.up.rate="5 Mbit/s".',
        metavar="KEY=VALUE",
        read=read_settings,
        autocompletion=completion.setting_keys,
    ),
    "speed": Form(metavar="SPEED", autocompletion=completion.speed_names),
    "store": Form(metavar="DIR"),
    "table": Form(metavar="NAME", autocompletion=completion.headroom_tables),
    "target": Form(metavar="TARGET", autocompletion=completion.metric_names),
    "to": Form(metavar="PREFIX"),
    "together": Form(**_AXIS),
    "until": Form(metavar="METRIC<WIDTH", autocompletion=completion.metric_names),
    "vary": Form("Example: --vary links.bottleneck.queue=codel,pie,fq_codel.", **_AXIS),
    "x": Form(metavar="KEY", autocompletion=completion.swept_keys),
    "y": Form(metavar="KEY", autocompletion=completion.swept_keys),
}
"""The forms of options, by argument; it means the same in all functions that have it."""


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
