"""Arguments of functions that are wrong: the library's own errors, with the names of Python."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

import tailroom as tr
from tailroom import arguments
from tailroom_atlas.plan import named_cells
from tailroom_atlas.study import compute_atlas
from tailroom_papers.framework import load as paper
from tailroom_papers.framework import reproduce
from tests.conftest import Tailroom

TARGET = "utilization >= 90%"
TOO_SMALL: dict[str, list[Any]] = {
    "max_seeds": [1, 4.5, "8", True],
    "precision": [-1, 0, 0.6, "0.02", float("nan")],
    "seed": [-1, 2**63, "1", 1.5, [1, 2], True],
    "seeds": [0, -1, "3", 2.5],
    "workers": [0, -1, 1.5, "2"],
    "max_runs": [0, "many"],
    "runs": [1, 0, "8"],
    "series_samples": [-5, 0, "10"],
}
"""Values that no function takes, by argument."""
CALLS: dict[str, Callable[..., object]] = {
    "run": tr.run,
    "size": lambda scenario, **wrong: tr.size(scenario, TARGET, **wrong),
    "sweep": lambda scenario, **wrong: tr.sweep(scenario, store=scenario.parent / "store", **wrong),
    "choices": tr.choices,
    "phase_check": tr.phase_check,
    "predict": tr.predict,
    "predict_over": lambda scenario, **wrong: tr.predict_over(
        scenario, tr.Axis("links.bottleneck.queue.limit", ("5 packets",)), **wrong
    ),
    "evaluate": lambda _, **wrong: tr.evaluate("reno", quick=True, **wrong),
    "compute_atlas": lambda scenario, **wrong: compute_atlas([], scenario.parent / "s", **wrong),
    "reproduce": lambda scenario, **wrong: reproduce(
        paper("barman-2004"), scenario.parent / "paper", **wrong
    ),
}
FUNCTIONS: dict[str, Callable[..., object]] = {
    "compute_atlas": compute_atlas,
    "reproduce": reproduce,
}


def wrong_arguments() -> list[tuple[str, str, Any]]:
    """Every function with each of its limited arguments and each wrong value."""
    return [
        (name, argument, value)
        for name in CALLS
        for argument, parameter in inspect.signature(
            FUNCTIONS.get(name, getattr(tr, name, print))
        ).parameters.items()
        for value in TOO_SMALL.get(argument, ())
        if type(value) is not type(parameter.default) or value != parameter.default
    ]


@pytest.mark.parametrize(("function", "argument", "value"), wrong_arguments())
def test_a_number_out_of_range_is_refused_before_the_work(
    small: Path, function: str, argument: str, value: object
) -> None:
    with pytest.raises(tr.ArgumentError, match=rf"^{argument}: .*; give a .*number") as refused:
        CALLS[function](small, **{argument: value})
    assert "--" not in str(refused.value)
    assert [path.name for path in small.parent.iterdir()] == ["small.toml"]


HUGE = 10**6000
"""Python refuses to write its digits."""


@pytest.mark.parametrize(
    "call",
    [
        lambda small: tr.run(small, seed=HUGE),
        lambda small: tr.run(small, series_samples=HUGE),
        lambda small: tr.run(small, set={"links.bottleneck.queue.limit": HUGE}),
        lambda small: tr.run(small, set={"links.bottleneck.queue": {"limit": HUGE}}),
        lambda small: tr.run(small, set=HUGE),  # type: ignore[arg-type]
        lambda small: tr.sweep(small, grid={"links.bottleneck.queue.limit": [HUGE]}),
        lambda small: tr.sweep(small, seeds=HUGE),
        lambda small: tr.size(small, TARGET, max_seeds=HUGE),
        lambda small: tr.size(small, [HUGE]),  # type: ignore[list-item]
        lambda small: tr.size(small, TARGET, most_loss=HUGE),
        lambda _: tr.dumbbell(rate=HUGE, rtt=0.04, flows=2),
        lambda _: tr.dumbbell(rate=20e6, rtt=0.04, flows=HUGE),
    ],
)
def test_an_integer_of_thousands_of_digits_is_refused_in_words(
    small: Path, call: Callable[[Path], object]
) -> None:
    with pytest.raises(tr.WrongInputError) as refused:
        call(small)
    assert len(str(refused.value)) < 400


def test_a_buffer_is_looked_at_with_four_seeds(small: Path) -> None:
    with pytest.raises(tr.ArgumentError, match=r"^max_seeds: 3 .*; give a whole number of .* 4"):
        tr.size(small, TARGET, max_seeds=3)


@pytest.mark.parametrize("function", ["run", "size", "sweep", "choices", "phase_check", "predict"])
def test_values_to_replace_are_a_mapping(small: Path, function: str) -> None:
    for wrong in (["a"], "seed=2", 3):
        with pytest.raises(tr.ArgumentError, match=r"^set: .* is not a mapping"):
            CALLS[function](small, set=wrong)


@pytest.mark.parametrize("wrong", [0.9, [0.9], None, {"utilization": 0.9}])
def test_a_target_is_a_text_or_a_target(small: Path, wrong: Any) -> None:
    with pytest.raises(tr.TargetError, match=r"^target: .* is not a target"):
        tr.size(small, wrong)


@pytest.mark.parametrize("function", ["size", "frontier"])
def test_targets_has_one_name_in_python_and_in_commands(tailroom: Tailroom, function: str) -> None:
    call: Any = getattr(tr, function)
    with pytest.raises(tr.ArgumentError, match=r"^targets: is called target; write target="):
        call("first", targets="utilization >= 90%")
    assert "target" in inspect.signature(call).parameters
    assert "--target" in tailroom("size", "first", "--targets", "utilization >= 90%").errors


def test_what_is_not_known_is_refused_with_the_librarys_errors(small: Path) -> None:
    result = tr.run(small, series_samples=None)
    series = tr.run(small)
    refused: list[Callable[[], object]] = [
        lambda: tr.load("/nope"),
        lambda: tr.predict(small, models=["nothing"]),
        lambda: tr.Requirement(utilization=2.0),
        lambda: tr.import_capture("x.pcap", window_s=0.0),
        lambda: tr.import_capture("x.pcap", to="nowhere"),
        lambda: tr.warm_up(result),
        lambda: tr.warm_up(series, link="nothing"),
        lambda: result.series("queue"),
        lambda: series.plot(cast("Any", "nothing")),
        lambda: named_cells(["nothing"]),
    ]
    for call in refused:
        with pytest.raises(tr.ArgumentError):
            call()


def test_messages_name_arguments_in_python_and_options_in_commands(
    tailroom: Tailroom, small: Path
) -> None:
    with pytest.raises(tr.ScenarioError, match=r"^scenario: set hue: there is no such key"):
        tr.run({"duration": "5 s"}, set={"hue": "1"})
    assert "--set hue: there is no such key" in tailroom("run", small, "--set", "hue=1").errors
    with pytest.raises(tr.TargetError, match=r"^target: is missing"):
        tr.size(small)
    assert tailroom("size", small).errors.startswith("error: --target: is missing")
    with pytest.raises(tr.ArgumentError, match=r"^to nowhere"):
        tr.import_capture("x.pcap", to="nowhere")
    assert tailroom("import", "x.pcap", "--to", "x").errors.startswith("error: --to x: is not")
    for option in ("--max-seeds", "--precision", "--workers"):
        ended = tailroom("size", small, "--target", TARGET, option, 0)
        assert ended.status == 2
        assert ended.errors.startswith(f"error: {option}: 0")
        assert "; give " in ended.errors
    assert arguments.named("precision") == "precision"


def test_numbers_of_numpy_are_numbers(small: Path) -> None:
    numpy = pytest.importorskip("numpy")
    assert tr.run(small, seed=numpy.int64(7)).summary["seed"] == 7
    arguments.PRECISION.check("precision", numpy.float32(0.1))
