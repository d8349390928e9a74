"""How results are drawn, shown in notebooks and written: what `AnyResult` looks up by class.

matplotlib takes a second to load, so a module that draws is loaded when something is drawn.
"""

import csv
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tailroom.errors import ArgumentError
from tailroom.figure_titles import titles
from tailroom.scenario.json_text import json_text
from tailroom.simulation import logged_packets
from tailroom.simulation.any_result import AnyResult
from tailroom.staging import remove
from tailroom.storage import result_directory
from tailroom.storage.output import StoppedDrawing, output_directory

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure

    from tailroom.simulation.result import Result
    from tailroom.studies.choice_study.answer import Choices

SHOWN_BY = {
    "Result": ("draw", "result_html"),
    "SweepResult": ("draw_sweep", "sweep_html"),
    "Size": ("size_curves.draw", "size_html"),
    "Frontier": ("frontier_curves.draw", "frontier_html"),
    "Choices": ("choices_trade_off.draw", "choices_html"),
    "Evaluation": ("report_card.draw", "evaluation_html"),
    "Predictions": ("required_buffers.draw", "predictions_html"),
    "MeasuredComparison": ("measured_rtts.draw", "measured_html"),
    "Curves": ("model_curves.draw", "curves_html"),
}
"""By the class of a result, the function of `tailroom.plots` that draws it, and the function of
`tailroom.reports.notebook` that shows it."""
DOTS_PER_INCH = 150


def draw(
    result: AnyResult, *options: object, title: bool | None = True, **named: object
) -> "Figure":
    """Draws a result; the options are those of its `plot`.

    Raises:
        ArgumentError: The result has nothing to draw, or an option is wrong.
    """
    name, _ = _of_class(result, SHOWN_BY)
    with titles(wanted=title):
        figure: Figure = _function(f"tailroom.plots.{name}")(result, *options, **named)
    return figure


def html(result: AnyResult) -> str:
    """Returns a fragment of HTML with a table and a picture, for notebooks."""
    _, name = _of_class(result, SHOWN_BY)
    page: str = _function(f"tailroom.reports.notebook.{name}")(result)
    return page


def save(result: AnyResult, directory: str | PathLike[str]) -> None:
    """Writes a result into a new directory; if a file cannot be written, none is left.

    Args:
        result: The result.
        directory: The new directory; missing, or an empty directory.

    Raises:
        OutputDirectoryError: The directory has content already, or cannot be written.
    """
    with output_directory(directory) as output:
        output.write(lambda staging: write(result, staging), rescue=False)


def write(result: AnyResult, directory: Path) -> None:
    """Writes the files of a result into an existing directory, the pictures last.

    Raises:
        StoppedDrawing: Ctrl-C while a picture was drawn; none is left, all other files are.
    """
    _of_class(result, WRITE)(result, directory)


def _of_class(result: AnyResult, table: Mapping[str, Any]) -> Any:
    """The entry of a result's class, or of the class from which it is derived."""
    return next(table[kind.__name__] for kind in type(result).__mro__ if kind.__name__ in table)


def _function(name: str) -> Any:
    module, _, function = name.rpartition(".")
    return getattr(import_module(module), function)


def _write_run(result: "Result", directory: Path) -> None:
    result_directory.write(result, directory)
    drawn = (result.link_series, result.arrival_dispersion, logged_packets.at_links(result))
    if any(table is not None for table in drawn):
        with _pictures_of(directory):
            _function("tailroom.plots.write")(result, directory)


def _write_study(result: AnyResult, directory: Path) -> None:
    _write_tables(result, directory)
    _write_picture(result, directory)


def _write_choices(choices: "Choices", directory: Path) -> None:
    _write_tables(choices, directory)
    for choice in choices.choices:
        # The files of different scenarios may have the same names, so each gets a directory.
        scenario_directory = _free(directory / "scenarios", choice.name)
        scenario_directory.mkdir(parents=True)
        result_directory.write_scenario(choice.scenario, scenario_directory)
    _write_picture(choices, directory)


def _write_evaluation(card: AnyResult, directory: Path) -> None:
    _write_tables(card, directory)
    with _pictures_of(directory):
        _function("tailroom.reports.report_card.write")(card, directory)


@contextmanager
def _pictures_of(directory: Path) -> Iterator[None]:
    """Removes what the block has written if Ctrl-C ends it, as the last file may be incomplete.

    Raises:
        StoppedDrawing: Ctrl-C.
    """
    before = {*directory.iterdir()}
    try:
        yield
    except KeyboardInterrupt:
        for path in {*directory.iterdir()} - before:
            remove(path)
        raise StoppedDrawing from None


def _write_tables(result: AnyResult, directory: Path) -> None:
    """Writes a CSV file per table, and everything as JSON."""
    for name in result.table_names:
        _write_csv(result.table(name), directory / f"{name}.csv")
    text = json_text(result.as_dict())
    (directory / f"{result.table_names[0]}.json").write_text(text, encoding="utf-8")


def _write_picture(result: AnyResult, directory: Path) -> None:
    with _pictures_of(directory), suppress(ArgumentError):  # there is nothing to draw
        figure = result.plot()
        figure.savefig(directory / f"{result.table_names[0]}.png", dpi=DOTS_PER_INCH)


def _write_csv(table: "pa.Table", path: Path) -> None:
    with path.open("x", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.column_names)
        writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _free(parent: Path, name: str) -> Path:
    """A path below `parent` that is named after a choice and does not exist yet."""
    plain = re.sub(r"[^\w.+-]+", "-", name).strip("-.") or "choice"
    numbered = (f"{plain}-{number}" for number in range(2, 10**6))
    path = parent / plain
    while path.exists():
        path = parent / next(numbered)
    return path


WRITE = {
    "Result": _write_run,
    "Choices": _write_choices,
    "Evaluation": _write_evaluation,
    "AnyResult": _write_study,
}
"""The function that writes a result, by its class."""
