"""Options of commands: they are the parameters of the functions that the commands call."""

import inspect
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tailroom as tr
from tailroom import arguments
from tailroom.cli.figures import Kind
from tailroom.cli.main import app
from tailroom.cli.signature import parameters_of
from tailroom.cli.value_names import limits
from tests.conftest import Tailroom
from tests.test_lazy_loading import SLOW, loaded_by

CAPTURES = Path(__file__).parent / "captures"
CALLED = {
    "run": "choices",
    "size": "size",
    "sweep": "sweep",
    "model": "predict",
    "evaluate": "evaluate",
    "import": "import_capture",
    "headroom": "headroom",
}
"""The functions that commands call."""
NOT_OPTIONS = {
    "run": {"congestion"},
    "sweep": {"congestion"},
    "model": {"congestion", "target"},
    "import": {"window_s"},
}
"""Parameters that no option gives, or one of another type."""


def function_of(name: str) -> Any:
    """The function or method of this public name."""
    value: Any = tr
    for part in name.split("."):
        value = getattr(value, part)
    return value


def options_of(command: str) -> dict[str, Any]:
    """The options and arguments of a command by the name of what they give."""
    return {parameter.name: parameter for parameter in app.load(command).params}


@pytest.mark.parametrize("name", [*CALLED.values(), "run", "SweepResult.plot"])
def test_what_is_read_from_the_source_is_what_python_knows(name: str) -> None:
    known = dict(inspect.signature(function_of(name)).parameters)
    known.pop("self", None)
    read = parameters_of(name)
    assert list(read) == list(known)
    for parameter, (argument, expected) in zip(read.values(), known.items(), strict=True):
        assert parameter.name == argument
        assert parameter.default in (None, expected.default)
    assert parameters_of("sweep")["max_runs"].default == 10_000


@pytest.mark.parametrize("command", CALLED)
def test_every_parameter_of_the_function_is_an_option_with_its_text(command: str) -> None:
    parameters = parameters_of(CALLED[command])
    missing = parameters.keys() - options_of(command).keys() - {"progress"}
    assert missing == NOT_OPTIONS.get(command, set())
    for name, given in options_of(command).items():
        if name in parameters and given.param_type_name == "option" and name != "executor":
            assert given.opts[0] == arguments.option(name)
            assert parameters[name].meaning in given.help


def test_help_names_options_and_leaves_out_what_only_python_takes() -> None:
    help_of = {name: option.help for name, option in options_of("sweep").items()}
    assert "Instead of --seeds" in help_of["until"]
    assert "`tailroom run`" in help_of["set"]
    assert "Axis" not in help_of["grid"]
    assert "Axis" in inspect.getdoc(tr.sweep)  # type: ignore[operator]


def test_an_option_that_is_left_out_is_left_to_the_function(
    tailroom: Tailroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, object]] = []

    def choices(scenarios: object, **options: object) -> None:
        del scenarios, options["progress"]
        asked.append(options)
        raise tr.ScenarioError("enough")

    monkeypatch.setattr(tr, "choices", choices)
    tailroom("run", "first", "--vary", "seed=1", "--metric", "loss", "--metric", "goodput")
    [options] = asked
    assert options.keys() == {"vary", "metrics"}
    assert options["metrics"] == ["loss", "goodput"]


@pytest.mark.parametrize("command", ["run", "explore"])
def test_help_loads_no_slow_library(command: str) -> None:
    assert loaded_by(command, "--help").isdisjoint(set(SLOW) - {"rich"})


@pytest.mark.parametrize("name", app.commands)
def test_help_ends_with_an_example_whose_options_exist(tailroom: Tailroom, name: str) -> None:
    *_, line = tailroom(name, "--help").output.splitlines()
    program, *words = shlex.split(line.partition(">")[0] if name == "schema" else line)
    assert (program, words[0]) == ("tailroom", name)
    command, given = app.load(name), words[1:]
    while hasattr(command, "commands"):
        command, given = command.commands[given[0]], given[1:]
    command.make_context(name, given)


def _helps() -> Iterator[tuple[str, ...]]:
    for name in app.commands:
        yield (name,)
        yield from ((name, each) for each in getattr(app.load(name), "commands", {}))


@pytest.mark.parametrize("words", list(_helps()), ids=" ".join)
def test_every_help_ends_with_an_example_and_names_no_types(
    tailroom: Tailroom, words: tuple[str, ...]
) -> None:
    text = tailroom(*words, "--help").output
    *_, before, line = text.splitlines()
    assert before.split() == ["Example:"]
    assert line.split()[: 1 + len(words)] == ["tailroom", *words][: len(line.split())]
    # Words of the library: types of Python, braces around what is required, `0<=x<=65535`.
    assert not re.search(r"<(str|int|float|path|list|int range)|list\[|\{[A-Z_|]+\}|x[<>]=", text)
    assert max(map(len, text.splitlines())) <= 80
    # A summary that takes two lines is not cut off.
    assert not re.search(r"[a-z]\.\.\.$", text, re.MULTILINE)


# The limits are the numbers of lines before the options that came last.
@pytest.mark.parametrize(
    ("name", "most"), [("run", 72), ("size", 101), ("headroom", 78), ("results", 25)]
)
def test_a_help_that_has_grown_was_made_as_short_again(
    tailroom: Tailroom, name: str, most: int
) -> None:
    assert len(tailroom(name, "--help").output.splitlines()) <= most


@pytest.mark.parametrize(
    ("least", "most", "words"),
    [(1, None, "at least 1"), (None, 9, "at most 9"), (0, 65535, "0 to 65,535"), (None,) * 3],
)
def test_limits_of_numbers_are_words(
    least: float | None, most: float | None, words: str | None
) -> None:
    assert limits(least, most) == words


def test_the_help_of_the_program_ends_with_an_example_that_is_read(tailroom: Tailroom) -> None:
    *_, before, line = tailroom("--help").output.splitlines()
    assert before.split() == ["Example:"]
    program, name, *given = shlex.split(line)
    assert program == "tailroom"
    app.load(name).make_context(name, given)


@pytest.mark.parametrize(
    "words", [("run",), ("sweep",), ("plot",), ("model",), ("evaluate",), ("vectors", "write")]
)
def test_an_argument_that_is_missing_is_named_with_an_example(
    tailroom: Tailroom, words: tuple[str, ...]
) -> None:
    ended = tailroom(*words)
    assert ended.status == 2
    example = tailroom(*words, "--help").output.splitlines()[-1].strip()
    assert ended.errors.endswith(f". For example: {example}\n")


def test_help_names_every_figure_that_plot_draws(tailroom: Tailroom) -> None:
    text = " ".join(tailroom("plot", "--help").output.split())
    assert all(kind in text for kind in Kind)


QUICK = ("run", "new", "sweep", "results", "plot", "model", "headroom", "compare", "import", "list")
"""Commands whose examples run in seconds, in an order in which one needs what others leave."""


@pytest.mark.slow
def test_the_examples_run(
    tailroom: Tailroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(CAPTURES / "web.pcap", tmp_path / "capture.pcap")
    monkeypatch.chdir(tmp_path)
    for name in (*QUICK, "atlas", "schema", "size"):
        line = tailroom(name, "--help").output.splitlines()[-1].partition(">")[0]
        ended = tailroom(*shlex.split(line)[1:])
        assert ended.status == 0, (line, ended.errors)
