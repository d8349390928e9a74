"""The progress bar of `tailroom atlas run`."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn

from tailroom.cli.progress import SearchProgress, left_words, shown
from tailroom_atlas.study import AtlasProgress


@contextmanager
def atlas_bar() -> Iterator[Callable[[AtlasProgress], None]]:
    """Yields the progress callback of the atlas.

    The bar appears on terminals only; a log has lines. What is left follows from the estimates of
    the cells and from the speed so far.
    """
    bar = SearchProgress(
        BarColumn(),
        TaskProgressColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task("", total=1.0)
    begun = time.monotonic()
    from_store = 0.0
    """Estimated time of what the store held."""

    def report(state: AtlasProgress) -> None:
        nonlocal from_store
        if not state.new_runs:
            from_store = state.core_s
        cells = f"{state.cells} of {state.all_cells} cells, {state.new_runs:,} new runs"
        left = left_words(
            time.monotonic() - begun, state.core_s - from_store, state.all_core_s - state.core_s
        )
        bar.update(task, total=state.all_core_s, completed=state.core_s, description=cells + left)

    with shown(bar, lambda _: bar.tasks[0].description):
        yield report
