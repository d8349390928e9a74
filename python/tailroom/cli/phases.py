"""What shifts of RTTs by fractions of a packet time change, as a table for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

from tailroom.cli import report
from tailroom.cli.metric_cells import cell, value

if TYPE_CHECKING:
    from tailroom.studies.phases import PhaseSpread


def show(spreads: Sequence[PhaseSpread], console: Console) -> None:
    """Prints a row per metric, and a warning that names those that depend on phases."""
    if not spreads:
        return
    runs = spreads[0].shifts.count
    title = f"Phase check: RTTs as written, and {runs} times shifted by less than a packet time"
    table = report.table_of(
        title, "metric", "as written\nmean +-95 %", "shifted\nmean +-95 %", "shifted\nrange"
    )
    last = [one.metric.rpartition(".")[2] for one in spreads]
    is_clear = len(set(last)) == len(last)
    for one, name in zip(spreads, last, strict=True):
        shown = name if is_clear else one.metric.partition(".")[2]
        mark = " [yellow]*[/yellow]" if one.is_phase_dependent else ""
        table.add_row(
            escape(shown) + mark,
            cell(one.metric, one.seeds).replace("\n", " "),
            cell(one.metric, one.shifts).replace("\n", " "),
            f"{value(one.metric, one.lowest)} to {value(one.metric, one.highest)}",
        )
    console.print(table)
    warn(spreads, "", console)


def warn(spreads: Sequence[PhaseSpread], where: str, console: Console) -> None:
    """Prints a warning that names the metrics that depend on phases, if there are any."""
    found = [one.metric for one in spreads if one.is_phase_dependent]
    if not found:
        return
    console.print(
        f"[yellow]warning:[/yellow] {escape(where)}{escape(', '.join(found))}: shifting RTTs by "
        "microseconds changes the result (traffic phase effects), so it does not describe the "
        f"network; draw the RTTs of a group, as in {escape('{ uniform = [a, b] }')}, or raise "
        "send_jitter",
        soft_wrap=True,
    )


def as_dicts(spreads: Sequence[PhaseSpread]) -> list[dict[str, Any]]:
    """One object per metric, as --json prints it."""
    return [
        {
            "metric": one.metric,
            "mean": one.seeds.mean,
            "half_width": one.seeds.half_width,
            "shifted_mean": one.shifts.mean,
            "shifted_half_width": one.shifts.half_width,
            "shifted_lowest": one.lowest,
            "shifted_highest": one.highest,
            "runs": one.shifts.count,
            "is_phase_dependent": one.is_phase_dependent,
        }
        for one in spreads
    ]
