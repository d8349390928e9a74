"""One run of one scenario, in a form that any process or machine can perform."""

from dataclasses import dataclass
from typing import Protocol

from tailroom import _engine
from tailroom.errors import RunError
from tailroom.scenario.scenario import Scenario
from tailroom.simulation.engine_run import SAMPLES_BY_DEFAULT, simulate
from tailroom.storage.run import Run, as_run


class Flag(Protocol):
    """A flag that a run reads to learn whether it has been cancelled."""

    def is_set(self) -> bool:
        """Whether the run has been cancelled."""


class Cancelled(Exception):  # noqa: N818 - not an error
    """The run has been cancelled; its result is no longer needed."""


@dataclass(frozen=True)
class Task:
    """One run, which can be sent to another process or machine."""

    source: Scenario
    """The scenario."""
    seed: int
    """Seed of the run."""
    key: str
    """Key of the run in the store."""
    scenario_hash: str
    """Hash of the scenario and of the contents of its files where the study began."""
    engine_build: str
    """Version and hash of the engine where the study began."""
    keep: tuple[str, ...]
    """Tables of the result that the store keeps, such as `link_series`."""


def run_task(task: Task, cancelled: Flag) -> Run:
    """Performs a run in this thread.

    Args:
        task: The run.
        cancelled: Read at most ten times a second; the run ends when the flag is set.

    Returns:
        The run with its row and tables, as the store keeps it.

    Raises:
        RunError: The run failed, the engine differs from the engine of the machine where the study
            began, or a file that the scenario names has changed.
        ControlError: A control written in Python raised an exception.
        Cancelled: The run has been cancelled.
    """
    build = _engine.build()
    if build != task.engine_build:
        raise RunError(
            f"a worker has engine {build}, but the study began with {task.engine_build}; "
            "install the same tailroom on every machine"
        )

    def check(_fraction: float, _simulated_s: float) -> None:
        if cancelled.is_set():
            raise Cancelled

    samples = SAMPLES_BY_DEFAULT if any(name.endswith("_series") for name in task.keep) else None
    result = simulate(task.source, seed=task.seed, progress=check, series_samples=samples)
    if result.summary["scenario_hash"] != task.scenario_hash:
        raise RunError(
            f"{task.source.place}: a file that it names has changed since the study began; "
            "start the study again"
        )
    return as_run(task.key, build, result, keep=task.keep)
