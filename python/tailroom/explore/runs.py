"""Runs of the page: a thread per core, progress while they last, and an end when nobody listens."""

import asyncio
import json
import os
import threading
import time
from collections.abc import AsyncGenerator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tailroom import _engine
from tailroom.arguments import WORKERS
from tailroom.explore.opened import memory_limit_bytes
from tailroom.explore.questions import FAULTS, Question, fault

if TYPE_CHECKING:
    from tailroom.explore.stored_runs import StoredRuns
    from tailroom.storage.store import Run

LONGEST_RUN_S = 600.0
PIECE = 1 << 20
"""Characters of an answer that are sent at once."""
MEMORY_OF_ANSWER = 2.5
"""Memory of a run whose series become JSON, over that of the run alone: text of numbers is longer
than the numbers."""
MOST_WAITING = 256
"""Runs that wait for a core; more are refused."""


class TooManyRunsError(Exception):
    """So many runs wait already that another one is refused."""


class _EndedError(Exception):
    """The page has closed the connection, or the run has lasted too long."""


@dataclass(eq=False)
class _Listener:
    """What a run says, for the request that listens: the newest progress, then the end."""

    loop: asyncio.AbstractEventLoop
    news: asyncio.Event = field(default_factory=asyncio.Event)
    gone: threading.Event = field(default_factory=threading.Event)
    """Set when nobody listens any more."""
    fraction: float = 0.0
    seconds: float = 0.0
    line: str | None = None
    """The newest line that was not sent yet; an older one is of no interest any more."""
    last: tuple[str, ...] | None = None
    """The line with the answer or the error, in parts: an answer may be as large as a run."""

    deadline: float = float("inf")
    """End of the time that the run may take, on the monotonic clock."""

    def is_set(self) -> bool:
        """Whether the run must end: nobody listens any more, or it has lasted too long."""
        return self.gone.is_set() or time.monotonic() > self.deadline

    def tell(self, *, line: str | None = None, last: tuple[str, ...] | None = None) -> None:
        self.line, self.last = line, last
        self.loop.call_soon_threadsafe(self.news.set)


class Runs:
    """Performs runs, each in a thread: the engine does not hold the interpreter's lock."""

    def __init__(
        self,
        workers: int | None = None,
        *,
        stored: "StoredRuns | None" = None,
        longest_s: float = LONGEST_RUN_S,
    ) -> None:
        """Takes limits and a store.

        Args:
            workers: Maximum number of runs at a time; as many as there are cores if left out.
            stored: Where runs without time series are looked up and kept.
            longest_s: Longest time that a run may take.

        Raises:
            ArgumentError: `workers` is below 1.
        """
        WORKERS.check("workers", workers)
        self.workers = workers or len(os.sched_getaffinity(0))
        self._stored = stored
        self._longest_s = longest_s
        self._threads = ThreadPoolExecutor(self.workers, thread_name_prefix="run")
        self._listeners: set[_Listener] = set()

    @property
    def unfinished(self) -> int:
        """Number of runs that last or wait."""
        return len(self._listeners)

    def end(self) -> None:
        """Ends all runs, with an error for those who listen."""
        for listener in self._listeners:
            listener.gone.set()
            listener.tell(last=(_error("`tailroom explore` has ended"),))

    def check_room(self) -> None:
        """Refuses another run if many wait.

        Raises:
            TooManyRunsError: Too many runs wait already.
        """
        if self.unfinished >= self.workers + MOST_WAITING:
            raise TooManyRunsError

    async def lines(self, question: Question) -> AsyncGenerator[str, None]:
        """Yields progress, at most ten times a second, and the answer or error: lines of JSON.

        A line comes in pieces of at most `PIECE` characters, so that no copy of a long one is made.
        The run ends when the generator is closed.
        """
        listener = _Listener(asyncio.get_running_loop())
        self._listeners.add(listener)
        task = self._threads.submit(self._perform, question, listener)
        try:
            while listener.last is None:
                await listener.news.wait()
                listener.news.clear()
                line, listener.line = listener.line, None
                if line is not None:
                    yield f"{line}\n"
            for part in (*listener.last, "\n"):
                for begin in range(0, len(part), PIECE):
                    yield part[begin : begin + PIECE]
        finally:
            self._listeners.remove(listener)
            listener.gone.set()
            task.cancel()

    def _perform(self, question: Question, listener: _Listener) -> None:
        listener.deadline = time.monotonic() + self._longest_s
        finished = None
        try:
            last, finished = self._answer(question, listener)
        except _EndedError:
            last = (_error(self._too_long()),)
        except FAULTS as error:
            last = (json.dumps({"error": fault(error)}),)
        except Exception as error:
            bug = f"{type(error).__name__}: {error}; this is a bug in tailroom: please report it"
            last = (_error(bug),)
        if not listener.gone.is_set():
            listener.tell(last=last)
        # Writing takes longer than many a run, so the answer comes first.
        if finished is not None and self._stored is not None:
            self._stored.keep(finished)

    def _answer(
        self, question: Question, listener: _Listener
    ) -> tuple[tuple[str, ...], "Run | None"]:
        """Returns the line with the answer, and the run if a store is to keep it.

        Raises:
            _EndedError: The page has closed the connection, or the run has lasted too long.
        """
        started = time.monotonic()
        identity = question.identity()
        series, finished = "null", None
        if self._stored is not None and (task := self._stored.task(question, identity)) is not None:
            completed = self._stored.complete(task, listener)
            if completed is None:
                raise _EndedError
            summary, finished = completed
        else:
            summary, series = self._run(question, identity["scenario"], listener)
        wall_ms = 1e3 * (time.monotonic() - started)
        head = json.dumps({**identity, "wall_ms": wall_ms})[:-1]
        begin = f'{{"answer":{head},"summary":'
        return (begin, summary, ',"series":', series, "}}"), finished

    def _run(self, question: Question, scenario: str, listener: _Listener) -> tuple[str, str]:
        """Performs a run that tells its progress, and returns summary and series as JSON.

        The engine's JSON is returned as it is: to read and write it again takes as long as a run.
        """

        def check(fraction: float, seconds: float) -> None:
            if listener.is_set():
                raise _EndedError
            listener.fraction, listener.seconds = fraction, seconds

        def watch(series: str | None) -> None:
            place = f'"fraction":{listener.fraction!r},"seconds":{listener.seconds!r}'
            listener.tell(line=f'{{"progress":{{{place},"series":{series or "null"}}}}}')

        source = question.source
        overrides = list(source.overrides)
        if "\n[series" in scenario:
            most_bytes = int(memory_limit_bytes(scenario) / MEMORY_OF_ANSWER)
            overrides.append(("memory_limit", f'"{most_bytes} B"'))
        with source.named_in_errors():
            answer = _engine.run(
                source.text,
                source.directory,
                overrides,
                question.seed,
                check,
                source.controls.find,
                watch,
                source.permitted_files,
            )
        return answer["summary"], answer["series"] or "null"

    def _too_long(self) -> str:
        return (
            f"the run took more than {self._longest_s:g} s; shorten it, or run it with `tailroom "
            "run`, which has no limit"
        )


def _error(message: str) -> str:
    return json.dumps({"error": {"kind": "run", "message": message}})
