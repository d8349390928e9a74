"""What must hold of any scenario, and a process of its own in which that is tried.

A scenario that aborts its process or never ends is a finding like any other, so whoever tries one
has to survive it.
"""

import json
import math
import multiprocessing
import os
import resource
import signal
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import fields
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pyarrow as pa
import tomli_w

import tailroom as tr
from tailroom.simulation.result_tables import ResultTables
from tests.hostile.scenarios import FILES, OWN

Ending = Literal["refused", "ran", "failed", "interrupted", "wrong", "aborted", "hung"]
GOOD: tuple[Ending, ...] = ("refused", "ran", "failed", "interrupted")

RUN_S = 0.3
"""Processor time after which a run is interrupted, as by Ctrl-C."""
MOST_RUNS = 20
"""A larger sweep is refused."""
HANGS_S = 30.0
"""A trial that takes more processor time hangs."""
WAITS = 1_200
WAIT_S = 0.5
"""So does one that has not ended after this many waits, which are many: a busy machine gives it
little processor time."""
START_S = 120
"""How long a process may take to begin; a loaded machine may need that."""
ADDRESS_SPACE = 4 << 30
"""What a trial may map; Python with its libraries maps about 1 GB."""
SETTINGS = {"memory_limit": "100 MB"}
STEP = "2.3 ms"
"""Length of the steps of a run in steps; runs take some tens of milliseconds."""
STEPPED = ("stepped", {"kind": "stepped"})
"""The control whose flows are acted on."""
FRACTIONS = ("utilization", "loss_synchronization", "jain_index")
"""Metrics in [0, 1] whose names do not end in "fraction"."""


class Outcome(NamedTuple):
    """How a trial ended."""

    ending: Ending
    detail: str = ""
    """The message of an error, or what is wrong."""


class TooLongError(BaseException):
    """The run has had its processor time."""


class WrongError(AssertionError):
    """Something does not hold."""


def outcome(scenario: dict[str, Any], directory: Path) -> Outcome:
    """Runs a scenario twice, or its sweep, and checks what must hold.

    Args:
        scenario: The scenario.
        directory: A directory with `FILES`, into which the scenario is written.
    """
    try:
        given = _given(scenario, directory)
        if "sweep" in scenario:
            _check_sweep(given)
        else:
            _check_run(given)
            _check_actions(given, _stepped(scenario))
    except tr.ScenarioError as error:
        return _refused(str(error))
    except tr.RunError as error:
        return Outcome("failed" if _names_remedy(str(error)) else "wrong", str(error))
    except (TooLongError, KeyboardInterrupt):
        return Outcome("interrupted")
    except WrongError as error:
        return Outcome("wrong", str(error))
    except BaseException:
        return Outcome("wrong", traceback.format_exc())
    return Outcome("ran")


def _given(scenario: dict[str, Any], directory: Path) -> Any:
    """Writes a scenario into a file; what cannot be written is given as it is."""
    try:
        text = tomli_w.dumps(scenario).encode()
    except (TypeError, ValueError):
        return scenario
    path = directory / "scenario.toml"
    path.write_bytes(text)
    return path


def _check_run(given: Any) -> None:
    """Checks that a run has numbers as they should be, and repeats itself.

    Raises:
        WrongError: It does not.
    """
    first = _run(given)
    _check_numbers(first.summary)
    if _bytes_of(first) != _bytes_of(_run(given)):
        raise WrongError("the same seed gives another result")
    if _bytes_of(first) != _bytes_of(_run_in_steps(given)):
        raise WrongError("a run in steps gives another result")


def _stepped(scenario: dict[str, Any]) -> list[str]:
    """The groups under the stepped control."""
    groups = scenario.get("flows", {}).items()
    return [name for name, group in groups if group.get("congestion") in STEPPED]


def _check_actions(given: Any, groups: list[str]) -> None:
    """Checks that a run in which flows are acted on is the same again.

    Raises:
        WrongError: It is not.
    """
    if not groups:
        return
    limited = tr.Scenario.read(given, set=SETTINGS)
    with _limited_time(), tr.Simulation(limited, every=STEP) as run:
        # Of a group whose flows arrive, only a flow that has arrived can be acted on.
        permanent = {name.partition(".")[0] for name in run.flows}
        for number, _ in enumerate(run):
            if not run.is_over:
                for group in filter(permanent.__contains__, groups):
                    run.act(flow=group, window=1 + number % 5)
        acted = run.result()
    log = acted.actions
    with _limited_time():
        if log is None or _bytes_of(tr.Simulation.replay(limited, log)) != _bytes_of(acted):
            raise WrongError("the same actions give another result")


def _check_sweep(given: Any) -> None:
    """Checks that a sweep has numbers as they should be, and finds its runs again.

    Raises:
        WrongError: It does not.
    """
    with tempfile.TemporaryDirectory(prefix="tailroom-") as store:
        first = _swept(given, store)
        _check_numbers(first.runs.to_pylist())
        if not _swept(given, store).runs.equals(first.runs):
            raise WrongError("the same sweep performs runs again, or reads them otherwise")


def _run(scenario: Any) -> tr.Result:
    with _limited_time():
        return tr.run(scenario, set=SETTINGS)


def _run_in_steps(scenario: Any) -> tr.Result:
    with (
        _limited_time(),
        tr.Simulation(scenario, every=STEP, set=SETTINGS) as run,
    ):
        for _ in run:
            pass
        return run.result()


def _swept(scenario: Any, store: str) -> tr.SweepResult:
    with ThreadPoolExecutor(1) as threads, _limited_time():
        # The process of a trial starts no others, and own code would want one.
        executor = threads if _has_own_code(scenario) else None
        return tr.sweep(
            scenario, store=store, set=SETTINGS, workers=1, max_runs=MOST_RUNS, executor=executor
        )


def _has_own_code(scenario: Any) -> bool:
    text = scenario.read_text("utf-8") if isinstance(scenario, Path) else str(scenario)
    return OWN in text


@contextmanager
def _limited_time() -> Iterator[None]:
    """Interrupts the block after `RUN_S`."""
    signal.setitimer(signal.ITIMER_VIRTUAL, RUN_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def _refused(message: str) -> Outcome:
    """Checks that each line of a message names a place and a remedy."""
    for line in message.splitlines():
        is_sum = line.rstrip(":").endswith("problems")
        if not is_sum and not (": " in line and _names_remedy(line)):
            return Outcome("wrong", f"no place or no remedy: {line}")
    return Outcome("refused", message)


def _names_remedy(message: str) -> bool:
    return "; " in message


def _bytes_of(result: tr.Result) -> tuple[bytes, ...]:
    """The summary and every table of a run."""
    tables = (getattr(result, field.name) for field in fields(ResultTables))
    written = (_written(table) for table in tables if table is not None)
    return json.dumps(result.summary).encode(), *written


def _written(table: pa.Table) -> bytes:
    """A table as Arrow writes it: two of equal bytes have equal values, NaN included."""
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    written: bytes = stream.getvalue().to_pybytes()
    return written


def _check_numbers(summary: Any) -> None:
    """Checks that numbers are finite, and fractions between 0 and 1.

    Raises:
        WrongError: A number is not.
    """
    for key, value in _numbers(summary, ""):
        name = key.rsplit(".", 1)[-1]
        is_fraction = name.endswith("fraction") or name in FRACTIONS
        if not math.isfinite(value) or (is_fraction and not 0 <= value <= 1):
            raise WrongError(f"{key} is {value}")


def _numbers(value: Any, place: str) -> Iterator[tuple[str, float]]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _numbers(item, f"{place}.{key}")
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _numbers(item, place)
    elif isinstance(value, (int, float)):
        yield place, value


def serve(connection: Connection) -> None:
    """Tries each scenario that comes, and sends how it ended; until the other end is closed.

    The first thing that is sent says that it has begun.
    """
    connection.send(None)
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.signal(signal.SIGVTALRM, _too_long)
    warnings.simplefilter("ignore", tr.TailroomWarning)
    os.environ["TAILROOM_ALLOW_CODE"] = "1"  # that of `FILES`
    with tempfile.TemporaryDirectory(prefix="tailroom-") as directory, suppress(EOFError):
        for name, text in FILES.items():
            Path(directory, name).write_text(text, encoding="utf-8")
        while True:
            scenario = connection.recv()
            limit_processor_time(HANGS_S)
            ended = outcome(scenario, Path(directory))
            limit_processor_time(0)
            connection.send(ended)


def limit_processor_time(limit_s: float) -> None:
    """Ends the process once it has taken this much; 0 lifts the limit."""
    signal.setitimer(signal.ITIMER_PROF, limit_s)  # nobody handles its signal, which ends a process


def _too_long(_signal: int, _frame: object) -> None:
    raise TooLongError


class Trials:
    """Tries scenarios in a process, which is replaced when one of them ends it."""

    def __init__(self, serve: Callable[[Connection], None] = serve, *, waits: int = WAITS) -> None:
        """Starts no process yet.

        Args:
            serve: What the process does.
            waits: Number of waits after which a trial hangs.
        """
        self._serve, self._waits = serve, waits
        self._context = multiprocessing.get_context("spawn")
        self._process: multiprocessing.process.BaseProcess | None = None
        self._connection: Connection | None = None

    def outcome(self, scenario: dict[str, Any]) -> Outcome:
        """Tries a scenario.

        Args:
            scenario: The scenario.
        """
        connection = self._connection or self._begin()
        try:
            connection.send(scenario)
            for _ in range(self._waits):
                if connection.poll(WAIT_S):
                    ended: Outcome | None = connection.recv()
                    if ended is not None:  # else the process has begun late
                        return ended
        except (EOFError, ConnectionError):
            status = self.end()
            if status == -signal.SIGPROF:
                return Outcome("hung", "no answer within its processor time")
            return Outcome("aborted", f"the process ended with status {status}")
        self.end()
        return Outcome("hung", f"no answer after {self._waits * WAIT_S:g} s")

    def _begin(self) -> Connection:
        self._connection, theirs = self._context.Pipe()
        self._process = self._context.Process(target=self._serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        if self._connection.poll(START_S):
            self._connection.recv()
        return self._connection

    def end(self) -> int | None:
        """Ends the process, and returns its exit status."""
        if self._connection is None or self._process is None:
            return None
        self._connection.close()
        self._process.join(WAIT_S)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        status = self._process.exitcode
        self._connection = self._process = None
        return status
