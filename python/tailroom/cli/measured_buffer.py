"""A measurement of another tool, compared with a simulation, as printed tables."""

from rich.console import Console

from tailroom.cli import report
from tailroom.cli.answer_box import print_answer
from tailroom.cli.terminal_text import escape
from tailroom.studies.measured_comparison import MeasuredComparison

WORDS = {True: "[green]yes[/green]", False: "[red]no[/red]", None: "[yellow]unknown[/yellow]"}


def show(comparison: MeasuredComparison, console: Console) -> None:
    """Prints the quantities, the conditions under which the buffer is right, and the buffer."""
    measured, has_run = comparison.measurement, comparison.simulated is not None
    idle = measured.idle_rtt_s
    about = [
        measured.tool,
        f"direction {measured.direction}",
        f"{len(measured.rtt_s):,} RTTs under load ({measured.probe})",
        "no RTT of the idle path" if idle is None else f"idle RTT {report.shown('rtt_s', idle)}",
    ]
    console.print(escape(", ".join(about)))
    table = report.table_of("Under load", "", "measured", *(["simulated"] if has_run else []))
    for words, *cells in comparison.rows:
        table.add_row(words, *cells[: 1 + has_run])
    console.print(table)
    conditions = report.table_of("Conditions of this answer", "condition", "holds", "measured")
    for one in comparison.buffer.conditions:
        conditions.add_row(escape(one.statement), WORDS[one.holds], escape(one.found))
    console.print(conditions)
    console.print()
    report.show_warnings(comparison.warnings, console)
    print_answer(console, [f"Buffer: {escape(comparison.buffer.sentence)}."], _colour(comparison))


def _colour(comparison: MeasuredComparison) -> str:
    """Green if the buffer is known and every condition holds, red if there is no buffer."""
    if comparison.buffer.buffer_bytes is None:
        return "red"
    return "green" if all(one.holds for one in comparison.buffer.conditions) else "yellow"
