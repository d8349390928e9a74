"""Headrooms, and faults in tables of headrooms, as text for people."""

from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING, Any

from rich.console import Console

from tailroom.cli.table import NumberTable
from tailroom.cli.terminal_text import escape
from tailroom.pfc_headroom.check import CheckedTable, HeadroomCheck, explaining
from tailroom.pfc_headroom.faults import KINDS, Fault
from tailroom.pfc_headroom.profiles import ASICS, TABLES
from tailroom.pfc_headroom.public_rows import SOURCE as ROWS_OF
from tailroom.pfc_headroom.public_rows import published_tables
from tailroom.pfc_headroom.result import Headroom
from tailroom.pfc_headroom.tables import PROFILE_NAME, HeadroomRow
from tailroom.pfc_headroom.terms import Term
from tailroom.quoting import quoted

MOST_NAMES = 3
"""Names of profiles that a message has."""

if TYPE_CHECKING:
    from tailroom.studies.headroom_run import SimulatedHeadroom


def show(answer: Headroom, console: Console) -> None:
    """Prints the terms, the amounts, and what was assumed.

    Args:
        answer: The headroom.
        console: Where to print it.
    """
    profile = answer.profile
    console.print(
        f"PFC headroom of a lossless priority at [bold]{answer.speed}[/bold], {answer.cable}: "
        f"{escape(profile.name)} ({escape(profile.words)})",
        soft_wrap=True,
    )
    console.print(_terms("Terms", answer.terms, answer.xoff_bytes, "xoff: the headroom"))
    _show_sources(answer.terms, console)
    of = f" of {profile.cell_bytes} B" if profile.cell_bytes else ""
    xoff_cells = _cells(answer.xoff_cells)
    console.print(f"\n[bold]xoff {answer.xoff_bytes:,} B[/bold]{xoff_cells}{of}")
    offset = answer.xon_offset_bytes
    below = "" if offset is None else f", or {offset:,} B below the threshold (xon_offset)"
    console.print(f"xon  {answer.xon_bytes:,} B{_cells(answer.xon_cells)}{below}")
    shared = ", as ports share the headroom" if answer.is_shared else ""
    console.print(f"size {answer.size_bytes:,} B{_cells(answer.size_cells)}{shared}")
    if answer.pool_bytes is not None and answer.is_shared:
        over = f" / {answer.oversubscription:g}" if answer.oversubscription > 1 else ""
        console.print(
            f"pool {answer.pool_bytes:,} B{_cells(answer.pool_cells)} of headroom for "
            f"{answer.ports:,} ports x {answer.priorities} priorities{over}"
        )
    if answer.verdict:
        colour = "red" if answer.fits is False else "default"
        console.print(f"all  [{colour}]{answer.verdict}[/{colour}]", soft_wrap=True)
    if answer.published:
        _show_published(answer, console)
    console.print(f"\nAssumed: {escape(' '.join(answer.assumptions))}", soft_wrap=True)


def _show_published(answer: Headroom, console: Console) -> None:
    """Prints what public tables of the chip have here: what grows with the cable, and the rest."""
    title = f"Public tables of {answer.profile.chip} at this speed and cable ({ROWS_OF})"
    table = NumberTable(title, "table", "xoff", "per byte of cable", "on the cable", "the rest")
    for row in answer.published:
        parts = (row.stored_per_byte, row.cable_bytes, row.rest_bytes)
        ratio, cable, rest = ("one cable" if part is None else part for part in parts)
        table.add_row(
            escape(", ".join(row.tables)),
            f"{row.xoff_bytes:,}",
            ratio if isinstance(ratio, str) else f"{ratio:.2f}",
            cable if isinstance(cable, str) else f"{cable:,.0f}",
            rest if isinstance(rest, str) else f"{rest:,.0f}",
        )
    console.print(table)
    console.print(
        "They differ in the memory that a byte on the cable takes (small packets in cells), and in "
        "the rest, frames and delays, which no table states.",
        soft_wrap=True,
    )


def known_profiles() -> list[dict[str, Any]]:
    """The chips and published tables, as the command prints them with `--json`."""
    known = [
        {
            "name": profile.name,
            "words": profile.words,
            "option": "--asic" if profile.of_chip is None else "--table",
            "method": profile.method,
            "unit_bytes": profile.granularity_bytes,
            "source": profile.source,
        }
        for profile in (*ASICS, *TABLES)
    ]
    rows = [
        {"name": name, "asic": asic, "rows": rows, "source": ROWS_OF}
        for asic, name, rows in published_tables()
    ]
    return [*known, *rows]


def show_list(console: Console) -> None:
    """Prints the chips and published tables that are known.

    Args:
        console: Where to print it.
    """
    methods = {"standard": "Annex O", "sonic": "SONiC's formula", "fit": "fit"}
    for title, profiles in (("Chips (--asic)", ASICS), ("Published tables (--table)", TABLES)):
        console.print(f"{title}: unit, formula, source")
        for profile in profiles:
            console.print(
                f"  {profile.name}: {escape(profile.words)}; {profile.granularity_bytes} B, "
                f"{methods[profile.method]}; {escape(profile.source)}",
                soft_wrap=True,
            )
    table = NumberTable(f"Public tables to compare with ({ROWS_OF})", "table", "rows", "chip")
    table.columns[2].justify = "left"
    for asic, name, rows in published_tables():
        table.add_row(escape(name), str(rows), asic)
    console.print(table)


def _cells(number: int | None) -> str:
    return "" if number is None else f" = {number:,} cells"


def show_simulated(found: "SimulatedHeadroom", console: Console) -> None:
    """Prints what the simulated port received.

    Args:
        found: What was simulated.
        console: Where to print it.
    """
    console.print(
        f"\nSimulated: {found.peak_bytes:,} B arrived after the decision to pause, of "
        f"{found.wire_bytes:,} B in the formula without cells and margins; "
        f"{found.drops_packets} frames of {found.frame_bytes:,} B were dropped, and "
        f"{found.shorter_drops_packets} with a headroom of a frame less",
        soft_wrap=True,
    )
    console.print(
        f"The formula omits the rest of the frame that crosses the threshold, up to "
        f"{found.crossing_bytes:,} B. If the threshold lies a byte above whole frames, drops with "
        f"this headroom: {found.crossing_drops_packets}; with "
        f"{found.wire_bytes + found.crossing_bytes:,} B: {found.covered_drops_packets}. The "
        "warning of a scenario counts these bytes.",
        soft_wrap=True,
    )


def _terms(title: str, terms: Iterable[Term], total: int, total_name: str) -> NumberTable:
    table = NumberTable(title, "term", "bytes", "formula")
    table.columns[2].justify, table.columns[2].overflow = "left", "fold"
    for term, number in _whole_bytes(list(terms), total):
        table.add_row(escape(term.name), f"{number:,}", escape(term.formula))
    table.add_row(f"[bold]{total_name}[/bold]", f"[bold]{total:,}[/bold]", "")
    return table


def _whole_bytes(terms: list[Term], total: int) -> Iterator[tuple[Term, int]]:
    """Each term in whole bytes; the last one that is none makes up the sum: the rounding."""
    numbers = [floor(term.exact_bytes + Fraction(1, 2)) for term in terms]
    fractions = [at for at, term in enumerate(terms) if term.exact_bytes.denominator > 1]
    if fractions:
        numbers[fractions[-1]] += total - sum(numbers)
    return zip(terms, numbers, strict=True)


def _show_sources(terms: Iterable[Term], console: Console) -> None:
    """Prints each source with its terms."""
    names: dict[str, list[str]] = {}
    for term in terms:
        names.setdefault(term.source, []).append(term.name)
    console.print("\nSources")
    for source, some in names.items():
        console.print(f"  {escape(source)}: {escape('; '.join(some))}", soft_wrap=True)


def show_check(answer: HeadroomCheck, console: Console, *, explain: bool) -> None:
    """Prints the faults file by file, and their numbers.

    Args:
        answer: The check.
        console: Where to print it.
        explain: Also print the terms of rows that are wrong or differ from their formula.
    """
    for table in answer.tables:
        explained = [row for row in table.rows if _is_explained(table, row)] if explain else []
        if table.faults or explained:
            _show_table(table, explained, console)
        if not table.rows:
            console.print(f"{escape(table.file)}: has no rows", soft_wrap=True)
        _show_other_profiles(table, console)
    _show_numbers(answer, console)


def _show_other_profiles(table: CheckedTable, console: Console) -> None:
    """Prints how many profiles were not checked, and why."""
    others = table.other_profiles
    if others:
        more = ", ..." if len(others) > MOST_NAMES else ""
        console.print(
            f"{escape(table.file)}: {len(others)} of {len(others) + len(table.rows)} profiles not "
            f"checked, as their names are not {PROFILE_NAME}: "
            f"{escape(', '.join(map(quoted, others[:MOST_NAMES])))}{more}",
            soft_wrap=True,
        )


def _show_table(table: CheckedTable, explained: list[HeadroomRow], console: Console) -> None:
    chip = table.asic.words if table.asic else "chip not known, cells not checked (--asic)"
    rows = f"{len(table.rows)} row{'' if len(table.rows) == 1 else 's'}"
    formula = f"formula {table.profile.name} gives {table.reproduced} of {rows}"
    console.print(
        f"[bold]{escape(table.file)}[/bold]: {escape(chip)}; {escape(formula)}", soft_wrap=True
    )
    of_row: dict[int, list[Fault]] = {}
    for fault in table.faults:
        of_row.setdefault(fault.row.line, []).append(fault)
    for row in table.rows:
        for fault in of_row.get(row.line, []):
            console.print(
                f"  line {row.line}: {_words(row)}: [red]{KINDS[fault.kind]}[/red]: "
                f"{escape(fault.text)}",
                soft_wrap=True,
            )
        if row in explained:
            _explain(table, row, console)


def _words(row: HeadroomRow) -> str:
    return f"{row.speed_mbps:,} Mbit/s {row.cable} xoff {row.xoff_bytes:,} B"


def _is_explained(table: CheckedTable, row: HeadroomRow) -> bool:
    """Whether a row is wrong, or differs from its formula by more than a cell."""
    return any(fault.row == row for fault in (*table.faults, *table.differences))


def _explain(table: CheckedTable, row: HeadroomRow, console: Console) -> None:
    """Prints the terms of a row, and which of them are as large as the difference."""
    terms = table.expected(row)
    if not terms:
        console.print("  there is no formula for this speed")
        return
    total = int(sum(term.exact_bytes for term in terms))
    title = f"line {row.line}: {_words(row)}, by the formula {table.profile.name}"
    console.print(_terms(title, terms, total, "sum"))
    difference = total - row.xoff_bytes
    if not difference:
        console.print("The row is the sum.\n")
        return
    side = "less" if difference > 0 else "more"
    console.print(f"The row has {abs(difference):,} B {side} than the sum.")
    unit = table.profile.granularity_bytes
    for some in list(explaining(terms, abs(difference), unit))[:1]:
        names = " and ".join(term.name for term in some)
        console.print(f"Terms of that size: {escape(names)}.")
    published = table.published(row)
    if published:
        words = "; ".join(f"{', '.join(one.tables)} {one.xoff_bytes:,} B" for one in published)
        console.print(f"Public tables of the chip here: {escape(words)}.", soft_wrap=True)
    console.print()


def _show_numbers(answer: HeadroomCheck, console: Console) -> None:
    faults = answer.faults
    rows = sum(len(table.rows) for table in answer.tables)
    wrong = len({(fault.row.file, fault.row.line) for fault in faults})
    files = len({fault.row.file for fault in faults})
    console.print(
        f"{wrong:,} of {rows:,} rows in {files:,} of {len(answer.tables):,} files are wrong",
        soft_wrap=True,
    )
    numbers = Counter(fault.kind for fault in faults)
    for kind, words in KINDS.items():
        if numbers[kind]:
            console.print(f"  {numbers[kind]:5,}  {words}")
    unstated = [row for table in answer.tables for row in table.without_response]
    if unstated:
        speeds = ", ".join(f"{mbps:,}" for mbps in sorted({row.speed_mbps for row in unstated}))
        console.print(
            f"{len(unstated):,} of {rows:,} rows compared with cable plus a frame only: no source "
            f"states the response at {speeds} Mbit/s",
            soft_wrap=True,
        )
    odd = answer.contradicting
    if odd:
        files = len({row.file for row in odd})
        console.print(
            f"{len(odd):,} of {rows:,} rows in {files:,} of {len(answer.tables):,} files "
            "contradict their neighbours, or are below cable plus response",
            soft_wrap=True,
        )
