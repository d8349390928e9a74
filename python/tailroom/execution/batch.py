"""Finished runs that share a file: a file for each would take longer than a short run.

A `Batch` decides when they are written.
"""

import threading
import time
from collections.abc import Callable, Iterable
from typing import Protocol

from tailroom.storage.run import TEXTS, Run

EVERY_S = 0.5
"""Longest time between the end of a run and its writing. A process that is killed loses the runs of
this time."""
MOST_BYTES = 1 << 25
"""Size of the runs that are written together, approximately; it bounds the memory that they take.
"""


class Keeper(Protocol):
    """Keeps finished runs: a store, or the memory."""

    def add(self, runs: Iterable[Run]) -> None:
        """Keeps these runs."""


class Batch:
    """The finished runs that have not been written yet; several threads may add some."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        """Begins empty; `now_s` is the clock."""
        self._runs: list[Run] = []
        self._bytes = 0
        self._now_s = now_s
        self._changing = threading.Lock()
        """Held also while runs are written, so that `write` returns when they are."""
        self._written_s = -EVERY_S + now_s()

    def add(self, run: Run, keeper: Keeper) -> None:
        """Takes a finished run, and writes all of them if it is time.

        A run that ends when none has been written for some time is written at once.

        Raises:
            NotWrittenError: The runs cannot be written.
        """
        with self._changing:
            self._runs.append(run)
            self._bytes += sum(len(run.row[name]) for name in TEXTS)
            self._bytes += sum(table.nbytes for table in run.tables.values())
        self.write_if_due(keeper)

    def write_if_due(self, keeper: Keeper) -> None:
        """Writes the runs if the last ones were written `EVERY_S` ago, or if they take much memory.

        Raises:
            NotWrittenError: The runs cannot be written.
        """
        if self._bytes >= MOST_BYTES or self._now_s() - self._written_s >= EVERY_S:
            self.write(keeper)

    def write(self, keeper: Keeper) -> None:
        """Writes the runs.

        Raises:
            NotWrittenError: The runs cannot be written.
        """
        with self._changing:
            if self._runs:
                runs, self._runs, self._bytes = self._runs, [], 0
                keeper.add(runs)
                self._written_s = self._now_s()
