"""`tailroom plot`: pictures of a saved result, of a scenario, or of a sweep."""

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

import tailroom
from tailroom.cli import completion, failures
from tailroom.cli.figures import OF_RESULTS, OF_SWEEPS, FileFormat, Kind
from tailroom.cli.options import NoTitle, chosen_sweep, refuse, warn_of_damage
from tailroom.cli.progress import progress_bar
from tailroom.cli.run import AUTOMATIC_SAMPLES
from tailroom.cli.signature import options_of
from tailroom.quoting import shown
from tailroom.scenario.named_values import nearest
from tailroom.storage.output import output_file
from tailroom.storage.store import MARKER, Store
from tailroom.studies.sweep_study.study import SweepResult

PICTURES = "plots"
"""Directory in the store for the pictures of a sweep."""


_Word = TypeVar("_Word", bound=StrEnum)


@options_of(
    "SweepResult.plot",
    "run",
    only=("x", "y", "metrics", "models", "link", "allow_code", "allow_files"),
)
def plot(  # noqa: PLR0913 - each is one option
    place: Annotated[
        Path,
        typer.Argument(
            metavar="DIR_OR_FILE",
            help="Directory written by `tailroom run --out`, a scenario file to run, or the store "
            "of `tailroom sweep`.",
            autocompletion=completion.stores_and_scenarios,
        ),
    ],
    *,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND",
            help=f"Figure to draw: {', '.join(OF_RESULTS)} of a run (default: all whose data were "
            f"recorded); {', '.join(OF_SWEEPS)} of a sweep (default: curves, tradeoff). "
            "Repeatable.",
            autocompletion=completion.figure_kinds,
        ),
    ] = None,
    file_format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="File format of the pictures: png (default), svg or pdf.",
            autocompletion=completion.figure_formats,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE_OR_DIR",
            help="For a sweep: file of one picture, or directory.",
        ),
    ] = None,
    no_title: NoTitle = False,
    sweep: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Draw this sweep; the beginning of its id suffices.",
            autocompletion=completion.sweep_ids,
        ),
    ] = None,
    **of_sweep: Any,
) -> None:
    """Draw the recorded time series of a run, or curves of a sweep.

    Pictures of a result are written into its directory, pictures of a scenario into the directory
    of the scenario file, pictures of a sweep into the directory `plots` of the store.
    """
    kinds = [_member("--kind", Kind, name) for name in kind or []]
    format_ = _member("--format", FileFormat, file_format) if file_format else None
    if (place / MARKER).exists():
        result = SweepResult(store := Store(place), chosen_sweep(store, sweep))
        paths = _draw_sweep(result, kinds, format_, out, of_sweep)
        warn_of_damage(store)
    else:
        given = {**of_sweep, "out": out, "sweep": sweep}
        refuse(given, given, "applies only to sweep stores; leave it out, or give a store")
        paths = _draw_result(place, kinds, format_ or FileFormat.PNG)
    for path in paths:
        print(path)


def _member(option: str, known: type[_Word], name: str) -> _Word:
    """The word that an option gives.

    Raises:
        InputError: There is no such word.
    """
    if name in [*known]:
        return known(name)
    raise failures.InputError(f"{option} {shown(name)}: is unknown; {nearest(name, known)}")


def _draw_result(place: Path, kinds: list[Kind], file_format: FileFormat) -> list[Path]:
    from tailroom import plots  # noqa: PLC0415 - matplotlib takes a second to load

    for kind in kinds:
        if kind not in OF_RESULTS:
            raise failures.InputError(f"--kind {kind}: draws a sweep; give the store of a sweep")
    directory = place if place.is_dir() else place.parent
    with output_file(directory / f"{place.stem}-plot"):
        pass  # shows before the run that pictures can be written
    result, prefix = _result(place)
    return plots.write(
        result,
        directory,
        kinds=[OF_RESULTS[kind] for kind in kinds] or None,
        file_format=file_format.value,
        prefix=prefix,
        rescue=True,
    )


def _draw_sweep(
    result: SweepResult,
    kinds: list[Kind],
    file_format: FileFormat | None,
    out: Path | None,
    options: dict[str, Any],
) -> list[Path]:
    for kind in kinds:
        if kind not in OF_SWEEPS:
            raise failures.InputError(
                f"--kind {kind}: draws a single run; give the directory of a result"
            )
    # An option that no requested figure supports is refused; a default figure without support for
    # it is left out.
    is_plain = options.keys() <= {"x", "link"}
    chosen = kinds or ([Kind.CURVES, Kind.TRADEOFF] if is_plain else [Kind.CURVES])
    paths = _sweep_files(result, chosen, file_format, out)
    for path in paths:
        _make_directory(path.parent)
    figures = [result.plot(OF_SWEEPS[kind], **options) for kind in chosen]
    for figure, path in zip(figures, paths, strict=True):
        with output_file(path) as output:
            output.write(partial(figure.savefig, dpi=150))
    return paths


def _make_directory(directory: Path) -> None:
    """Creates the directory of pictures.

    Raises:
        InputError: It cannot be created.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise failures.InputError(
            f"{directory}: cannot be written: {error.strerror}; choose another place with --out"
        ) from None


def _sweep_files(
    result: SweepResult, kinds: list[Kind], file_format: FileFormat | None, out: Path | None
) -> list[Path]:
    """Returns the path of each figure."""
    suffixes = [f".{choice.value}" for choice in FileFormat]
    if out is not None and out.suffix and not out.is_dir():
        if out.suffix not in suffixes or len(kinds) > 1:
            raise failures.InputError(
                f"--out {out}: give a directory, or for one --kind a file that ends in "
                f"{', '.join(suffixes)}"
            )
        if file_format and out.suffix != f".{file_format.value}":
            raise failures.InputError(
                f"--out {out}: does not end in .{file_format.value}; leave out --format"
            )
        return [out]
    directory = out or result.store.directory / PICTURES
    ending = (file_format or FileFormat.PNG).value
    return [directory / f"{result.record.id}-{kind.value}.{ending}" for kind in kinds]


def _result(place: Path) -> tuple[tailroom.Result, str]:
    """Returns the result to draw and the prefix of its picture files."""
    if place.is_dir():
        return tailroom.load(place), ""
    with progress_bar() as progress:
        result = tailroom.run(place, progress=progress, series_samples=AUTOMATIC_SAMPLES)
    return result, f"{place.stem}-"
