"""A comparison of choices on the terminal: a row per choice."""

from collections.abc import Sequence

from rich.console import Console

from tailroom.cli.blocks import Column, print_block
from tailroom.cli.metric_cells import cells, heading, headings_in_one_table, owner_of
from tailroom.cli.sentences import say
from tailroom.cli.terminal_text import escape
from tailroom.studies.choice_study.answer import Choices

OF_LINKS = ("utilization", "loss_fraction", "queue_delay_s_p99")
"""Metrics of a link that are printed by default."""
OF_GROUPS = (
    "coflows.completion_time_s_p99",
    "all_sizes.completion_time_s_p99",
    "one_way_delay_s_p99",
    "goodput_bps",
    "queue_delay_s_p99",
    "loss_fraction",
)
"""Metrics of a group of flows of which the first that it has is printed by default: what its user
notices."""


def show(
    compared: Choices, console: Console, *, is_short: bool = False, by_owner: bool = False
) -> None:
    """Prints the titles, the tables, and each warning once.

    Args:
        compared: The choices.
        console: Where to print them.
        is_short: Print few of the metrics of `compared`: what each link and group is judged by.
        by_owner: Print a table per link and per group of flows instead of one table.
    """
    _show_head(compared, console)
    metrics = short_metrics(compared.metrics) if is_short else compared.metrics
    blocks: dict[str, list[str]] = {}
    for metric in metrics:
        blocks.setdefault(owner_of(metric)[0] if by_owner else "", []).append(metric)
    known = list(dict.fromkeys(name for choice in compared.choices for name in choice.metrics))
    for owner, some in blocks.items():
        # Scenarios may differ in links and groups.
        rows = [
            choice
            for choice in compared.choices
            if any(metric in choice.metrics for metric in some)
        ]
        names = [
            Column(head, [row.words[place] for row in rows])
            for place, head in enumerate(compared.headings)
        ]
        heads = (
            [heading(owner_of(metric)[1]) for metric in some]
            if owner
            else headings_in_one_table(some, known)
        )
        columns = [
            Column(head, cells(metric, (row.metrics.get(metric) for row in rows)))
            for head, metric in zip(heads, some, strict=True)
        ]
        if not owner:
            console.print()
        print_block(console, owner, names, columns)
    console.print()
    for same in compared.identical:
        text = "the same in every metric: what they differ in never acts in these runs"
        say(console, escape(f"{' and '.join(same)}: {text}"))
    for warning, concerned in compared.warnings_by_choice:
        which = [choice.words for choice in compared.choices if choice.name in concerned]
        place = "" if len(which) == len(compared.choices) else f" ({escape(grouped(which))})"
        say(console, f"[yellow]warning:[/yellow]{place} {escape(warning['text'])}")


def short_metrics(metrics: Sequence[str]) -> list[str]:
    """Selects what each link and group is judged by: of a group, the first metric that it has.

    Args:
        metrics: Full names of the metrics of links, groups and all flows.
    """
    shown: dict[str, None] = {}
    for metric in metrics:
        owner, name = ".".join(metric.split(".")[:2]), owner_of(metric)[1]
        if metric.startswith("groups."):
            judged = (f"{owner}.{one}" for one in OF_GROUPS)
            shown |= dict.fromkeys([next(one for one in judged if one in metrics)])
        elif not metric.startswith("links.") or name in OF_LINKS:
            shown[metric] = None
    fairness = [metric for metric in metrics if metric.endswith(".jain_index")]
    return [*shown, *(fairness if len(fairness) == 1 and fairness[0] not in shown else [])]


def grouped(names: Sequence[Sequence[str]]) -> str:
    """Names choices by what they have in common: `codel with pie or red; red with pie`.

    Args:
        names: The words of each choice, one per key that varies.
    """
    by_first: dict[tuple[str, ...], list[str]] = {}
    for *first, last in names:
        by_first.setdefault(tuple(filter(None, first)), []).append(last)
    if not any(by_first):
        return ", ".join(filter(None, by_first.get((), [])))
    return "; ".join(
        " with ".join(filter(None, [*first, " or ".join(filter(None, last))]))
        for first, last in by_first.items()
    )


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
    say(console, seeds, is_one_line=False)
    for note in compared.notes:
        say(console, escape(note))
