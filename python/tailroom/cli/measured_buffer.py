"""A measurement of another tool, compared with a simulation, as printed tables."""

import shlex

from rich.console import Console

from tailroom import written_numbers
from tailroom.arguments import option
from tailroom.cli import report
from tailroom.cli.answer_box import print_answer
from tailroom.cli.sentences import say
from tailroom.cli.terminal_text import escape
from tailroom.studies.measured_comparison import MeasuredComparison

TARGETS = ("utilization >= 98%", "queue_delay_s_p99 <= 30 ms")
"""What a buffer may be asked to do: the link is used, and a call survives."""
WORDS = {True: "[green]yes[/green]", False: "[red]no[/red]", None: "[yellow]unknown[/yellow]"}


def show(comparison: MeasuredComparison, console: Console) -> None:
    """Prints the quantities, the conditions under which the buffer is right, and the buffer."""
    measured, has_run = comparison.measurement, comparison.simulated is not None
    idle = comparison.idle_rtt_s
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
    _show_next(comparison, console)


def _show_next(comparison: MeasuredComparison, console: Console) -> None:
    """Prints how to learn the RTT that lacks, or what the buffer should be."""
    idle_s, rate_bps = comparison.idle_rtt_s, comparison.rate_bps
    if idle_s is None:
        rtt = escape(shlex.join([option("idle_rtt"), "20 ms"]))
        say(
            console,
            "[cyan]next:[/cyan] measure the RTT of the path without load with ping, and add it: "
            f"{rtt}, for one of 20 ms",
        )
    elif rate_bps is not None and comparison.measurement.direction in ("upload", "download"):
        say(
            console,
            "[cyan]next:[/cyan] what the buffer should be, with targets of your own and the number "
            f"of flows ({option('flows')}):",
        )
        link = {"rate": written_numbers.rate(rate_bps), "rtt": written_numbers.delay(idle_s)}
        asked = [
            part
            for name, value in link.items()
            for part in (option(name), written_numbers.as_setting(value))
        ]
        for target in TARGETS:
            asked += [option("target"), target]
        console.print(f"  {escape(shlex.join(['tailroom', 'size', *asked]))}", soft_wrap=True)


def _colour(comparison: MeasuredComparison) -> str:
    """Green if the buffer is known and every condition holds, red if there is no buffer."""
    if comparison.buffer.buffer_bytes is None:
        return "red"
    return "green" if all(one.holds for one in comparison.buffer.conditions) else "yellow"
