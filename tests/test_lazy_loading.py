"""Commands start at once: libraries that take long to load are loaded where they are needed."""

import importlib
import inspect
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType

import pytest

import tailroom as tr
from tailroom import errors
from tailroom.cli.main import app
from tests.conftest import Tailroom

SLOW = ("duckdb", "matplotlib", "numpy", "pyarrow", "rich", "scipy")
SCENARIOS = Path(tr.__file__).parents[2] / "scenarios"
FIRST = SCENARIOS / "first.toml"

CALL = """
import sys
sys.argv = ["tailroom", *sys.argv[1:]]
from tailroom.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
print("\\nLOADED", *sorted(sys.modules))
"""


def loaded_by(*arguments: object) -> set[str]:
    """The modules that a command loads in a process of its own."""
    command = [sys.executable, "-c", CALL, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("LOADED")[2].split())


def test_help_loads_none_of_the_slow_libraries_and_no_command() -> None:
    loaded = loaded_by("--help")
    assert loaded.isdisjoint(SLOW)
    commands = {one for one in loaded if one.startswith("tailroom.cli.")}
    needed = {"main", "lazy_commands", "root_options", "completion", "streams", "value_names"}
    assert commands == {f"tailroom.cli.{name}" for name in needed}


@pytest.mark.parametrize("arguments", [(), ("--set", "duration=30 s"), ("--json",)])
def test_a_run_whose_series_nobody_reads_loads_neither_numpy_nor_arrow(
    arguments: tuple[str, ...],
) -> None:
    slow = set(SLOW) - {"rich"}
    assert loaded_by("run", FIRST, *arguments).isdisjoint(slow)


def test_a_wrong_scenario_is_refused_without_the_slow_libraries(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("duration = 3\n", encoding="utf-8")
    call = CALL.replace("assert not end.code, end.code", "assert end.code == 2, end.code")
    command = [sys.executable, "-c", call, "run", str(wrong)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.rpartition("LOADED")[2].split())
    assert loaded.isdisjoint(set(SLOW) - {"rich"})


@pytest.mark.parametrize("scenario", ["first.toml", "barman-2004/figure-3.toml"])
def test_models_load_numpy_alone(scenario: str) -> None:
    loaded = loaded_by("model", SCENARIOS / scenario)
    assert loaded.isdisjoint(set(SLOW) - {"numpy", "rich"})


def test_models_compute_without_threads_that_wait_busily() -> None:
    call = CALL.replace('print("', 'import os\nprint(os.environ["OPENBLAS_NUM_THREADS"], "')
    command = [sys.executable, "-c", call, "model", str(FIRST)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.partition(" \nLOADED")[0].endswith("\n1")


def test_the_main_help_says_what_each_command_says_of_itself() -> None:
    groups = [app, app.load("atlas")]
    lazy = [(group, *item) for group in groups for item in group._subcommands.items()]
    assert len(lazy) > len(app._subcommands)
    for group, name, subcommand in lazy:
        own = group.load(name)
        paragraph = inspect.cleandoc(own.help).partition("\n\n")[0]
        assert " ".join(paragraph.split()) == subcommand.summary


@pytest.mark.parametrize(
    ("command", "distribution"),
    [
        (["papers"], "tailroom-papers"),
        (["papers", "run", "barman-2004"], "tailroom-papers"),
        (["atlas", "plan"], "tailroom-atlas"),
    ],
)
def test_a_command_of_a_distribution_that_is_missing_names_it(
    tailroom: Tailroom, monkeypatch: pytest.MonkeyPatch, command: list[str], distribution: str
) -> None:
    def import_module(name: str) -> ModuleType:
        if name.startswith(distribution.replace("-", "_")):
            raise ModuleNotFoundError(name=name.partition(".")[0])
        return importlib.import_module(name)

    monkeypatch.setattr("tailroom.cli.lazy_commands.import_module", import_module)
    ended = tailroom(*command)
    assert ended.status == 2
    assert f"pip install {distribution}\n" in ended.errors


def test_no_module_has_the_name_of_a_public_name() -> None:
    code = """
        import importlib, pkgutil, types
        import tailroom
        for one in pkgutil.walk_packages(tailroom.__path__, "tailroom."):
            if one.name != "tailroom.__main__":
                importlib.import_module(one.name)
        for name in tailroom.__all__:
            assert not isinstance(getattr(tailroom, name), types.ModuleType), name
        assert set(tailroom.__all__) <= set(dir(tailroom))
        """
    subprocess.run([sys.executable, "-c", inspect.cleandoc(code)], check=True)


def test_every_exception_is_public_and_derives_from_one() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    assert len(kinds) > 10
    for kind in kinds:
        assert getattr(tr, kind.__name__) is kind
        is_apart = kind in (tr.Interrupted, tr.TailroomWarning)
        assert issubclass(kind, tr.TailroomError) or is_apart


def test_a_name_that_does_not_exist_is_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'runn'"):
        getattr(tr, "runn")  # noqa: B009 - type checkers refuse the name as well


@pytest.mark.parametrize(
    "error", [tr.CaptureError, tr.ControlError, tr.RunError, tr.ScenarioError, tr.StoreError]
)
def test_errors_survive_pickling_with_their_names(error: type[Exception]) -> None:
    again = pickle.loads(pickle.dumps(error("why")))
    assert type(again) is error
    assert again.args == ("why",)


def test_a_result_survives_pickling_with_tables_that_nobody_has_read(small: Path) -> None:
    result = tr.run(small, series_samples=10)
    again = pickle.loads(pickle.dumps(result))
    assert again.summary == result.summary
    assert again.link_series.equals(result.link_series)
    assert again.packet_log is None


def test_threads_that_read_a_table_at_once_get_the_same_one(small: Path) -> None:
    result = tr.run(small, series_samples=100)
    read: list[object] = []
    threads = [threading.Thread(target=lambda: read.append(result.link_series)) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(read) == len(threads)
    assert all(one is read[0] for one in read)
