"""`tailroom plot`: pictures of a saved result, or of a scenario that is run for them."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

import tailroom
from tailroom.cli import failures
from tailroom.cli.progress import progress_bar
from tailroom.cli.run import AUTOMATIC_SAMPLES


class Kind(StrEnum):
    """The figures."""

    WINDOWS = "windows"
    UTILIZATION = "utilization"
    DISPERSION = "dispersion"
    ARRIVALS = "arrivals"


class FileFormat(StrEnum):
    """The formats of picture files."""

    PNG = "png"
    SVG = "svg"
    PDF = "pdf"


def plot(
    place: Annotated[
        Path,
        typer.Argument(
            metavar="DIR_OR_FILE",
            help="Directory written by `tailroom run --out`, or a scenario file to run.",
        ),
    ],
    kind: Annotated[
        list[Kind] | None, typer.Option(help="Figure to draw; if left out, all that were recorded.")
    ] = None,
    file_format: Annotated[
        FileFormat, typer.Option("--format", help="File format of the pictures.")
    ] = FileFormat.PNG,
) -> None:
    """Draw windows and queue or utilization over time, burstiness by time scale, or arrivals.

    Pictures of a result go into its directory, those of a scenario beside the scenario file.
    """
    from tailroom import plots  # noqa: PLC0415 - matplotlib takes a second to load

    with failures.reported():
        result, prefix = _result(place)
        for path in plots.write(
            result,
            place if place.is_dir() else place.parent,
            kinds=[one.value for one in kind] if kind else None,
            file_format=file_format.value,
            prefix=prefix,
        ):
            print(path)


def _result(place: Path) -> tuple[tailroom.Result, str]:
    """The result to draw, and what the names of its pictures begin with."""
    if place.is_dir():
        try:
            return tailroom.load(place), ""
        except ValueError as error:
            raise failures.InputError(str(error)) from None
    with progress_bar() as progress:
        result = tailroom.run(place, progress=progress, series_samples=AUTOMATIC_SAMPLES)
    return result, f"{place.stem}-"
