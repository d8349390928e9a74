"""Progress of runs and sweeps that take over a second: a bar on a terminal, lines in a log."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, count
from math import isfinite
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

if TYPE_CHECKING:
    import tailroom
    from tailroom.execution.progress import RunProgress
    from tailroom.studies.size_study.size_progress import SizeProgress

SHOW_AFTER_S = 1.0
"""Seconds before the bar, or the first line of a log."""
FIRST_ANSWER_AFTER_S = 10.0
"""Seconds before intermediate answers are printed, and before the second line of a log."""
LINE_EVERY_S = 60.0
"""Seconds between the later lines of a log."""


@contextmanager
def progress_bar() -> Iterator[Callable[[tailroom.Progress], None]]:
    """Yields the progress callback of `tailroom.run`.

    The bar appears on terminals only; a log has a line after 10 s, and then each minute.
    """
    bar = Progress(
        TextColumn("simulating"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.completed:.1f} s simulated,"),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task("run", total=None)

    def report(state: tailroom.Progress) -> None:
        bar.update(task, completed=state.done, total=state.total)

    def words(spent_s: float) -> str:
        done, total = bar.tasks[0].completed, bar.tasks[0].total
        if total is None or spent_s < FIRST_ANSWER_AFTER_S:
            return ""
        return f"{done:.3g} of {total:.3g} s simulated{left_words(spent_s, done, total - done)}"

    with shown(bar, words):
        yield report


@contextmanager
def runs_bar() -> Iterator[Callable[[RunProgress], None]]:
    """Yields the progress callback of a study of many runs.

    The bar appears on terminals only; a log has the number of runs after 1 s, after 10 s, and then
    each minute.
    """
    bar = Progress(
        TextColumn("{task.completed:,} of {task.total:,} runs"),
        BarColumn(),
        TextColumn("{task.fields[rate]},"),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task("runs", total=0, rate="")
    begun = time.monotonic()
    new = 0
    """Number of runs that the store did not hold."""

    def report(state: RunProgress) -> None:
        nonlocal new
        new = state.done - state.found
        rate = f"{new / (time.monotonic() - begun):.1f} per second"
        bar.update(task, completed=state.done, total=max(1, state.total), rate=rate)

    def words(spent_s: float) -> str:
        [known] = bar.tasks
        left = ""
        if spent_s >= LINE_EVERY_S:  # the first runs are often the shortest
            left = left_words(spent_s, new, (known.total or 0) - known.completed)
        return ended_words(bar, "") + left

    with shown(bar, words):
        yield report


@contextmanager
def shown(bar: Progress, words: Callable[[float], str]) -> Iterator[None]:
    """Shows a bar after a second, whether a run has ended or not; without a terminal, lines.

    Args:
        bar: The bar, which is not started.
        words: Returns the line of a log after so many seconds; empty for none.
    """
    ended = threading.Event()
    begun = time.monotonic()

    def show() -> None:
        for moment in _moments():
            if ended.wait(begun + moment - time.monotonic()):
                return
            if sys.stderr.isatty():
                bar.start()
                return
            if line := words(moment):
                line = f"after {duration_words(moment)}: {line}"
                bar.console.print(line, highlight=False, markup=False)

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        if bar.live.is_started:  # otherwise it would end a line that it has not begun
            bar.stop()


def _moments() -> Iterator[float]:
    """Times of the lines of a log in seconds: soon the first, each minute the later ones."""
    yield SHOW_AFTER_S
    later = chain([FIRST_ANSWER_AFTER_S], count(LINE_EVERY_S, LINE_EVERY_S))
    yield from (moment for moment in later if moment > SHOW_AFTER_S)


def ended_words(bar: Progress, about: str) -> str:
    """Returns how many of a bar's runs have ended, in words.

    Args:
        bar: The bar, whose task counts runs.
        about: What stands before the number of all runs.
    """
    [task] = bar.tasks
    ended = f"{task.completed:,.0f} of {about}{task.total:,.0f} runs have ended"
    return ended if task.total else "no run has begun"


def left_words(spent_s: float, done: float, left: float) -> str:
    """Returns how long the rest takes at the speed so far, as the end of a line.

    Args:
        spent_s: Time spent so far.
        done: What has been done in this time; nothing is said if it is 0.
        left: What is left, in the same unit.
    """
    return f", about {duration_words(spent_s * left / done)} left" if done > 0 and left > 0 else ""


def duration_words(duration_s: float) -> str:
    """Returns a rough duration in words: "60 s", "2 min", "2.5 h"."""
    minutes = duration_s / 60
    if duration_s < 100:
        return f"{duration_s:.0f} s"
    return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"


class SearchProgress(Progress):
    """A bar below what the search knows, which has a line of its own."""

    def get_renderables(self) -> Iterable[RenderableType]:
        """Yields the description of each task and its bar."""
        for task in self.tasks:
            yield Text(task.description, no_wrap=True, overflow="ellipsis")
            yield self.make_tasks_table([task])


@contextmanager
def size_bar() -> Iterator[Callable[[SizeProgress], None]]:
    """Yields the progress callback of `tailroom.size`.

    The bar appears on terminals only; a log has the number of runs as with `runs_bar`, and the time
    that is left from 10 s on. From then on, what becomes known or seems so and each stage after the
    search are printed on lines of their own, so that a log has them too.
    """
    console = Console(stderr=True)
    bar = SearchProgress(
        BarColumn(),
        TextColumn("{task.completed:,} of about {task.total:,} runs,"),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
        console=console,
        transient=True,
    )
    task = bar.add_task("", total=0)
    begun = time.monotonic()
    printed: set[str] = set()

    def report(state: SizeProgress) -> None:
        spent_s = time.monotonic() - begun
        bracket, stage = _bracket(state), _STAGES.get(state.stage, "")
        if isfinite(min(state.high, state.seeming)) and spent_s > FIRST_ANSWER_AFTER_S:
            # A stage is named once for each answer.
            lines = {bracket: bracket, f"{state.seeming} {stage}": stage}
            for mark in [mark for mark, line in lines.items() if line and mark not in printed]:
                printed.add(mark)
                bar.console.print(f"after {spent_s:.0f} s: {lines[mark]}", highlight=False)
        shown = stage or bracket
        bar.update(task, completed=state.done, total=state.total, description=shown)

    def words(spent_s: float) -> str:
        [known] = bar.tasks
        left = ""
        if spent_s >= FIRST_ANSWER_AFTER_S:  # before, the number of runs is hardly known
            left = left_words(spent_s, known.completed, (known.total or 0) - known.completed)
        return ended_words(bar, "about ") + left

    with shown(bar, words):
        yield report


_STAGES = {
    "confirm": "repeating the answer with more seeds",
    "neighbours": "simulating about half and twice the answer",
    "doors": "one run with another queue on the way of the flows",
    "phases": "phase check: the answer with shifted RTTs",
    "models": "evaluating the models at the limit of the answer",
}
"""The stages after the search, in words."""


def _bracket(state: SizeProgress) -> str:
    """What is known of the answer, and what seems so, in words."""
    varied = state.varied
    low = varied.too_small(state.low) if state.low else "nothing is known to be too small"
    if state.seeming < state.high:
        return f"{varied.seems_to_suffice(state.seeming)}, {low}"
    high = varied.suffices(state.high) if isfinite(state.high) else "nothing suffices yet"
    return f"{high}, {low}"
