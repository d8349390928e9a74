"""The effect of shifting RTTs by fractions of a packet time, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console

from tailroom.cli import report
from tailroom.cli.metric_cells import cell, heading, owner_of
from tailroom.cli.sentences import say
from tailroom.cli.table import Parts
from tailroom.cli.terminal_text import escape
from tailroom.simulation.metric_catalogue import metric_of

if TYPE_CHECKING:
    from tailroom.studies.phases import PhaseSpread


def show(spreads: Sequence[PhaseSpread], console: Console) -> None:
    """Prints a row per metric, and a warning that names the metrics that depend on phases."""
    if not spreads:
        return
    runs = spreads[0].shifts.count
    title = f"Phase check: RTTs as written, and {runs} shifts of less than a packet time"
    table = report.table_of(
        title, "metric", "as written\nmean, 95 %", "shifted\nmean, 95 %", "shifted\nrange"
    )
    parts = [owner_of(spread.metric) for spread in spreads]
    words = [" ".join(heading(name).split()) for _, name in parts]
    is_clear = len(set(words)) == len(words)
    for spread, (owner, _), name in zip(spreads, parts, words, strict=True):
        shown = name if is_clear else f"{owner}: {name}"
        mark = " [yellow]*[/yellow]" if spread.is_phase_dependent else ""
        ends = (spread.lowest, spread.highest)
        write = metric_of(spread.metric).unit.writer(ends)
        table.add_row(
            escape(shown) + mark,
            Parts(*cell(spread.metric, spread.seeds, write).split("\n"), between=" "),
            Parts(*cell(spread.metric, spread.shifts, write).split("\n"), between=" "),
            " to ".join(map(write, ends)),
        )
    console.print(table)
    warn(spreads, "", console)


def warn(spreads: Sequence[PhaseSpread], where: str, console: Console) -> None:
    """Prints a warning that names the metrics that depend on phases, if there are any."""
    metrics = [spread.metric for spread in spreads if spread.is_phase_dependent]
    if not metrics:
        return
    say(
        console,
        f"[yellow]warning:[/yellow] {escape(where)}{escape(', '.join(metrics))}: shifting RTTs by "
        "microseconds changes the result (traffic phase effects), so it does not describe the "
        f"network; draw the RTTs of a group, as in {escape('{ uniform = [a, b] }')}, or raise "
        "send_jitter",
    )
