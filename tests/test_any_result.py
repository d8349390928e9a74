"""What all results share: tables, frames, warnings, JSON, a picture, files."""

import csv
import json
import tomllib
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import tailroom as tr
from tailroom.simulation.any_result import AnyResult

pytestmark = pytest.mark.usefixtures("quick_models")

SHORT = {"duration": "4 s", "measure_from": "1 s"}
MEASURED = "tests/measurements/simulated.flent.gz"
LIMIT = "links.bottleneck.queue.limit"
LIMITS = {LIMIT: ["10 packets", "40 packets"]}
MAKE: dict[str, Callable[[], AnyResult]] = {
    "Result": lambda: tr.run("first", set=SHORT, series_samples=20),
    "SweepResult": lambda: tr.sweep("first", grid=LIMITS, seeds=2, set=SHORT),
    "Size": lambda: tr.size("first", "utilization >= 50%", set=SHORT, max_seeds=4, precision=0.5),
    "Choices": lambda: tr.choices("first", LIMITS, seeds=2, set=SHORT),
    "Evaluation": lambda: tr.evaluate("reno", quick=True, seeds=2),
    "MeasuredComparison": lambda: tr.compare_measured(MEASURED, "first", set=SHORT),
    "Predictions": lambda: tr.predict("first"),
    "Curves": lambda: tr.predict_over("first", tr.Axis(LIMIT, tuple(LIMITS[LIMIT]))),
}
SLOW = {"Evaluation"}
"""Results of more than ten seconds of runs."""
TABLES = {
    "Result": ("flows", "links", "pools", "groups", "link_series"),
    "SweepResult": ("runs",),
    "Size": ("buffers", "models"),
    "Choices": ("choices",),
    "Evaluation": ("criteria", "runs"),
    "MeasuredComparison": ("quantities", "rtts"),
    "Predictions": ("models", "assumptions"),
    "Curves": ("curves",),
}
every_result = pytest.mark.parametrize(
    "kind", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in MAKE]
)


@cache
def made_and_shown(kind: str) -> tuple[AnyResult, list[warnings.WarningMessage]]:
    """A result, and the warnings that Python shows while it is made."""
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always", tr.TailroomWarning)
        return MAKE[kind](), shown


def made(kind: str) -> AnyResult:
    return made_and_shown(kind)[0]


@every_result
def test_the_main_table_is_what_frames_show(kind: str) -> None:
    result = made(kind)
    assert type(result).__name__ == kind
    assert result.table_names[: len(TABLES[kind])] == TABLES[kind]
    table = result.table()
    assert table.num_rows > 0
    assert table.equals(result.table(TABLES[kind][0]))
    assert list(result.to_pandas().columns) == table.column_names
    assert result.to_polars().height == table.num_rows


@every_result
def test_every_table_is_a_frame_under_its_name(kind: str) -> None:
    result = made(kind)
    for name in TABLES[kind]:
        assert len(result.to_pandas(name)) == result.table(name).num_rows


@every_result
def test_a_wrong_name_of_a_table_is_refused(kind: str) -> None:
    with pytest.raises(ValueError, match="nonsense"):
        made(kind).table("nonsense")


@every_result
def test_warnings_are_data_each_kind_and_place_once(kind: str) -> None:
    found = made(kind).warnings
    assert found
    for one in found:
        assert one.keys() == {"kind", "place", "values", "text"}
    assert len({(one["kind"], one["place"]) for one in found}) == len(found)


@every_result
def test_python_shows_the_warnings_at_the_line_that_asks_for_the_result(kind: str) -> None:
    result, shown = made_and_shown(kind)
    # All models at once are a table of what holds and what does not.
    told = () if kind in ("Predictions", "Curves") else result.warnings
    assert [str(one.message) for one in shown] == [one["text"] for one in told]
    assert [one.category for one in shown] == [tr.TailroomWarning] * len(told)
    assert [one.filename for one in shown] == [__file__] * len(told)


@every_result
def test_a_result_is_drawn_and_shown_in_a_notebook(kind: str) -> None:
    result = made(kind)
    assert result.plot().axes
    assert result._repr_html_().count("<img") == 1


@every_result
def test_a_result_is_saved_whole_and_only_into_a_new_directory(kind: str, tmp_path: Path) -> None:
    result, directory = made(kind), tmp_path / "out"
    result.save(directory)
    content = {path.name for path in directory.iterdir()}
    with pytest.raises(tr.OutputDirectoryError):
        result.save(directory)
    if kind == "Result":
        assert tr.load(directory) == result
        assert {"windows_and_queue.png", "utilization.png", "link_series.parquet"} <= content
        return
    main = TABLES[kind][0]
    assert json.loads((directory / f"{main}.json").read_text(encoding="utf-8")) == plain(result)
    for name in TABLES[kind]:
        with (directory / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            headings, *rows = csv.reader(file)
        assert headings == result.table(name).column_names
        assert len(rows) == result.table(name).num_rows
    further = {
        "Choices": {"scenarios", "choices.png"},
        "Evaluation": {"report.md", "report.html", "report_card.png"},
    }.get(kind, {f"{main}.png"})
    assert content == {f"{main}.json", *(f"{name}.csv" for name in TABLES[kind]), *further}


def plain(result: AnyResult) -> Any:
    """What JSON makes of the result."""
    return json.loads(json.dumps(result.as_dict()))


def test_a_result_without_a_picture_is_saved_all_the_same(tmp_path: Path) -> None:
    predictions = tr.predict("first", models=["processor_sharing"])
    with pytest.raises(tr.ArgumentError, match="nothing to draw"):
        predictions.plot()
    predictions.save(tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"assumptions.csv", "models.csv", "models.json"}


def test_the_table_of_a_sweep_may_be_a_metric() -> None:
    swept = made("SweepResult")
    assert isinstance(swept, tr.SweepResult)
    assert swept.table("utilization").equals(swept.means("utilization"))


def test_a_point_of_a_sweep_has_its_means() -> None:
    swept = made("SweepResult")
    assert isinstance(swept, tr.SweepResult)
    point = swept.as_dict()["points"][1]
    assert point["settings"] == {LIMIT: "40 packets"}
    assert point["runs"] == 2
    name = "links.bottleneck.utilization"
    assert point["metrics"][name]["mean"] == swept.means(name)["mean"][1].as_py()


def test_the_assumptions_that_fail_are_the_warnings_of_predictions() -> None:
    with pytest.warns(tr.TailroomWarning, match="sawtooth: does not hold here"):
        tr.predict("first", models=["sawtooth"])
    predictions = made("Predictions")
    assert isinstance(predictions, tr.Predictions)
    failing = [answer.model.name for answer in predictions.answers if answer.failing]
    assert [one["place"] for one in predictions.warnings] == failing
    column = predictions.table()["failing"].to_pylist()
    assert [bool(count) for count in column].count(True) == len(failing)


def test_the_contracts_on_imports_have_no_exemption() -> None:
    root = Path(tr.__file__).parents[2]
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    contracts = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    assert contracts
    assert not [one["name"] for one in contracts if "ignore_imports" in one]
