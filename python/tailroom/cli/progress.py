"""Progress of runs and sweeps that take over a second."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
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
FIRST_ANSWER_AFTER_S = 10.0
"""Seconds before intermediate answers are printed."""


@contextmanager
def progress_bar() -> Iterator[Callable[[tailroom.Progress], None] | None]:
    """Yields the progress callback of `tailroom.run`, or `None` without a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
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
    task = bar.add_task("run", total=1.0)
    begun = time.monotonic()

    def report(state: tailroom.Progress) -> None:
        if time.monotonic() - begun > SHOW_AFTER_S:
            bar.start()
        bar.update(task, completed=state.done, total=state.total)

    try:
        yield report
    finally:
        bar.stop()


@contextmanager
def runs_bar() -> Iterator[Callable[[RunProgress], None]]:
    """Yields the progress callback of a study of many runs.

    The bar appears on terminals only; a log has the number of runs after a second.
    """
    bar = Progress(
        TextColumn("{task.completed:,} of {task.total:,} runs"),
        BarColumn(),
        TextColumn("{task.fields[rate]},"),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    task = bar.add_task("runs", total=0, rate="")
    begun = time.monotonic()

    def report(state: RunProgress) -> None:
        spent_s = time.monotonic() - begun
        rate = f"{(state.done - state.found) / spent_s:.1f} per second"
        bar.update(task, completed=state.done, total=max(1, state.total), rate=rate)

    with _shown_soon(bar, ""):
        yield report


@contextmanager
def _shown_soon(bar: Progress, about: str) -> Iterator[None]:
    """Shows a bar after a second, whether a run has ended or not; without a terminal, the plan."""

    def show() -> None:
        if sys.stderr.isatty():
            bar.start()
            return
        [task] = bar.tasks
        ended = f"{task.completed:,.0f} of {about}{task.total:,.0f} runs have ended"
        words = ended if task.total else "no run has begun"
        bar.console.print(f"after {max(SHOW_AFTER_S, 0):.0f} s: {words}", highlight=False)

    timer = threading.Timer(SHOW_AFTER_S, show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        bar.stop()


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

    The bar appears on terminals only. After 10 s, what becomes known or seems so and each stage
    after the search are printed on lines of their own, so that a log has them too.
    """
    console = Console(stderr=True)
    bar = SearchProgress(
        BarColumn(),
        TextColumn("{task.completed:,} of about {task.total:,} runs,"),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
        console=console,
        transient=True,
        disable=not sys.stderr.isatty(),
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

    with _shown_soon(bar, "about "):
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
