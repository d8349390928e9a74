"""A comparison of choices on the terminal: a table per link and per group, a row per choice."""

from rich.console import Console

from tailroom.cli.blocks import Column, print_block
from tailroom.cli.metric_cells import cell, heading, owner_of
from tailroom.cli.sentences import say
from tailroom.cli.terminal_text import escape
from tailroom.studies.choice_study.answer import Choices


def show(compared: Choices, console: Console) -> None:
    """Prints the titles, the tables, and each warning once."""
    _show_head(compared, console)
    blocks: dict[str, list[tuple[str, str]]] = {}
    for metric in compared.metrics:
        owner, name = owner_of(metric)
        blocks.setdefault(owner, []).append((name, metric))
    for owner, metrics in blocks.items():
        # Scenarios may differ in links and groups.
        rows = [
            choice
            for choice in compared.choices
            if any(metric in choice.metrics for _, metric in metrics)
        ]
        names = [
            Column(head, [row.words[place] for row in rows])
            for place, head in enumerate(compared.headings)
        ]
        columns = [
            Column(heading(name), [cell(name, row.metrics.get(metric)) for row in rows])
            for name, metric in metrics
        ]
        print_block(console, owner, names, columns)
    console.print()
    for warning, names_of_choices in compared.warnings_by_choice:
        concerns_all = len(names_of_choices) == len(compared.choices)
        concerned = "" if concerns_all else f" ({escape(', '.join(names_of_choices))})"
        text = escape(warning["text"])
        say(console, f"[yellow]warning:[/yellow]{concerned} {text}")


def _show_head(compared: Choices, console: Console) -> None:
    titles = dict.fromkeys(choice.title for choice in compared.choices)
    if len(titles) == 1 and (title := next(iter(titles))):
        console.print(f"[bold]{escape(title)}[/bold]")
    elif len(titles) > 1:
        for choice in {
            choice.title: choice for choice in reversed(compared.choices)
        }.values().__reversed__():
            console.print(f"[bold]{escape(choice.words[0])}[/bold]: {escape(choice.title)}")
    first, last = compared.seeds[0], compared.seeds[-1]
    seeds = (
        f"seed {first}"
        if first == last
        else f"means over seeds {first} to {last} with 95 % intervals"
    )
    spans = dict.fromkeys(
        (choice.measured_from_s, choice.measured_to_s) for choice in compared.choices
    )
    if len(spans) == 1:
        seeds += ", statistics from {:g} s to {:g} s".format(*next(iter(spans)))
    console.print(seeds)
    for note in compared.notes:
        say(console, escape(note))
