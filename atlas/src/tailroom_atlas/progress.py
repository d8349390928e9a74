"""The progress bar of `tailroom atlas run`."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn

from tailroom.cli.progress import SHOW_AFTER_S, SearchProgress
from tailroom_atlas.study import AtlasProgress

LINE_EVERY_S = 60.0
"""Seconds between two printed lines."""


@contextmanager
def atlas_bar() -> Iterator[Callable[[AtlasProgress], None]]:
    """Yields the progress callback of the atlas.

    The bar appears on terminals only. Every minute a line is printed as well, so that a log has it
    too. What is left follows from the estimates of the cells and from the speed so far.
    """
    console = Console(stderr=True)
    bar = SearchProgress(
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[left]}"),
        console=console,
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    task = bar.add_task("", total=1.0, left="")
    begun = printed = time.monotonic()
    from_store = 0.0
    """Estimated time of what the store held."""

    def report(state: AtlasProgress) -> None:
        nonlocal printed, from_store
        now = time.monotonic()
        if not state.new_runs:
            from_store = state.core_s
        if now - begun > SHOW_AFTER_S:
            bar.start()
        done = state.core_s - from_store
        left = ""
        if done > 0:
            left_s = (state.all_core_s - state.core_s) * (now - begun) / done
            left = f"about {left_s / 60:.0f} minutes left"
        cells = f"{state.cells} of {state.all_cells} cells, {state.new_runs:,} new runs"
        if now - printed > LINE_EVERY_S:
            printed = now
            words = f"after {(now - begun) / 60:.0f} min: {cells}{left and ', ' + left}"
            bar.console.print(words, highlight=False)
        bar.update(
            task, total=state.all_core_s, completed=state.core_s, description=cells, left=left
        )

    try:
        yield report
    finally:
        bar.stop()
