"""Runs of the page in a store, where pages opened later and other commands find them."""

import json
import sys
import tomllib
from collections.abc import Mapping
from os import PathLike

import pyarrow as pa

from tailroom import _engine
from tailroom.errors import NotWrittenError
from tailroom.execution.task import Cancelled, Flag, Task, run_task
from tailroom.explore.questions import Question
from tailroom.scenario.source import own_controls
from tailroom.storage.store import Run, Store, run_key


class StoredRuns:
    """Performs the runs that a store lacks, and keeps them in it.

    Their keys are those of every study, so `tailroom size --store` finds the runs of a page, and a
    page finds those of `tailroom sweep`.
    """

    def __init__(self, directory: str | PathLike[str]) -> None:
        """Opens the store, or creates it.

        Args:
            directory: Directory of the store.

        Raises:
            StoreError: The directory has other content or cannot be written.
        """
        self._store = Store.create(directory)
        self._is_writable = True

    def task(self, question: Question, identity: Mapping[str, str]) -> Task | None:
        """Returns the run that answers a question; `None` if it records time series.

        A store keeps no series of pages: at each position of the slider they are others.

        Args:
            question: The question.
            identity: Its resolved scenario and hash.

        Raises:
            ScenarioError: A control in Python may not be used.
            ControlError: The module of a control raised an exception.
        """
        scenario = identity["scenario"]
        document = tomllib.loads(scenario)
        if "series" in document:
            return None
        source, build, seed = question.source, _engine.build(), document["seed"]
        with source.named_in_errors():
            controls = source.controls.fingerprint(own_controls(scenario))
        key = run_key(identity["hash"], build, seed, controls)
        return Task(source, seed, key, identity["hash"], build, keep=())

    def complete(self, task: Task, ended: Flag) -> tuple[str, Run | None] | None:
        """Finds a run in the store, or performs it in this thread.

        Args:
            task: The run.
            ended: Read at most ten times a second; the run ends when the flag is set.

        Returns:
            The summary as JSON, and the run if the store lacks it; `None` if the flag was set.

        Raises:
            RunError: The run failed.
        """
        if (row := self._store.read(task.key)) is not None:
            return _summary(row), None
        try:
            run = run_task(task, ended)
        except Cancelled:
            return None
        return _summary(run.row), run

    def keep(self, run: Run) -> None:
        """Writes a finished run to the store; says on standard error if that fails."""
        try:
            self._store.add(run)
        except NotWrittenError as error:
            if self._is_writable:
                print(f"warning: {error}; runs of the page are not kept", file=sys.stderr)
            self._is_writable = False
        else:
            self._is_writable = True


def _summary(row: pa.Table) -> str:
    """Returns the summary of a stored run as JSON, with what the engine's own has elsewhere."""
    summary = json.loads(row["summary"][0].as_py())
    return json.dumps({**summary, "packet_hops": summary["timing"]["packet_hops"]})
