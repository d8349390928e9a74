"""One run of one scenario, wherever it is performed."""

from dataclasses import dataclass
from typing import Protocol

from tailroom import _engine
from tailroom.errors import RunError
from tailroom.scenario.source import ScenarioSource
from tailroom.simulation.engine_run import simulate
from tailroom.storage.store import Run, as_run

SERIES_SAMPLES = 500
"""Samples of the time series that are kept if the scenario asks for none."""


class Flag(Protocol):
    """Tells a run whether it has been cancelled."""

    def is_set(self) -> bool:
        """Whether the run has been cancelled."""


class Cancelled(Exception):  # noqa: N818 - it is no error
    """The run has been cancelled, and nobody waits for its result."""


@dataclass(frozen=True)
class Task:
    """One run; it may travel to another process or machine."""

    source: ScenarioSource
    seed: int
    key: str
    """Name of the run in the store."""
    scenario_hash: str
    engine_build: str
    keep: tuple[str, ...]
    """Tables of the result that the store keeps, such as `link_series`."""


def run_task(task: Task, cancelled: Flag) -> Run:
    """Performs a run in this thread.

    Raises:
        RunError: The run failed, this machine has another engine than the one where the study
            began, or a file that the scenario names has changed.
        ControlError: A control written in Python raised an exception.
        Cancelled: The run has been cancelled.
    """
    build = _engine.build()
    if build != task.engine_build:
        raise RunError(
            f"a worker has engine {build}, and the sweep began with {task.engine_build}; "
            "install the same tailroom on every machine"
        )

    def check(_fraction: float, _simulated_s: float) -> None:
        if cancelled.is_set():
            raise Cancelled

    samples = SERIES_SAMPLES if any(name.endswith("_series") for name in task.keep) else None
    result = simulate(task.source, seed=task.seed, progress=check, series_samples=samples)
    if result.summary["scenario_hash"] != task.scenario_hash:
        raise RunError(
            f"{task.source.place}: a file that it names has changed since the sweep began; "
            "start again"
        )
    return as_run(task.key, build, result, keep=task.keep)
