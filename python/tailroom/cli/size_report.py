"""The answer of `size` as tables for people."""

from collections.abc import Sequence
from math import isfinite, isinf

from rich.console import Console

from tailroom import written_numbers
from tailroom.cli import phases, report
from tailroom.cli.answer_box import print_answer
from tailroom.cli.blocks import Column, print_block, tables_needed
from tailroom.cli.elsewhere import show_elsewhere
from tailroom.cli.metric_cells import cells, heading, owner_of
from tailroom.cli.model import show_failing
from tailroom.cli.sentences import say
from tailroom.cli.size_doors import doors_that_fit, show_doors
from tailroom.cli.terminal_text import escape
from tailroom.cli.where_met import met_alone, where_met
from tailroom.export.devices import Device
from tailroom.statistics.outcome import Outcome
from tailroom.studies.size_study.amounts import amounts_words
from tailroom.studies.size_study.answer import Size
from tailroom.studies.size_study.frontier import Frontier
from tailroom.studies.size_study.known import Evidence, FittedMean, Tried
from tailroom.studies.size_study.targets import Target

MOST_LINES = 27
"""Lines of an answer without --explain up to which the ways on are shown; one is shown always."""
FITTED = "*"
"""Marks what a fit says, not the runs of the value alone."""


def show(
    answer: Size,
    console: Console,
    *,
    so_far: bool = False,
    device: Device | None = None,
    explain: bool = False,
) -> None:
    """Prints the answer, what each choice costs, what to know of it, and the lines to configure.

    Args:
        answer: The result of the search.
        console: Where to print it.
        so_far: The search was interrupted, so that a smaller buffer may suffice too.
        device: Print the buffer as lines of this system instead of those of tc.
        explain: Print first how the answer was found: tested values, phase check, models; and the
            lines for other tools.
    """
    if explain or so_far:
        _show_tried(answer, console)
    if explain:
        phases.show(answer.phases, console)
        if answer.varied.is_limit:
            _show_models(answer, console)
        console.print()
    with console.capture() as first:
        _show_answer(answer, console, so_far=so_far, explain=explain)
        if answer.choices:
            _show_choices(answer, console, every=explain)
        if not explain:
            phases.warn(answer.phases, "", console)
        for warning in answer.warnings:
            say(console, f"[yellow]warning:[/yellow] {escape(warning['text'])}")
    with console.capture() as last:
        if answer.answer is not None:
            show_elsewhere(answer, device, console, every=explain)
    taken = sum(part.get().count("\n") for part in (first, last)) + 1
    doors = answer.doors if explain else doors_that_fit(answer.doors, MOST_LINES - taken)
    console.file.write(first.get())
    show_doors(doors, answer, console)
    console.file.write(last.get())
    if not explain:
        console.print(_more(answer, len(answer.doors) - len(doors)), soft_wrap=True)


def _more(answer: Size, doors: int) -> str:
    """How to see more, in a line.

    Args:
        answer: The result of the search.
        doors: Number of doors that are not shown.
    """
    ways = f"{doors} more way{'' if doors == 1 else 's'} on, " if doors else ""
    explain = f"--explain ({ways}tested values, phase check, models"
    if not answer.on_devices():
        return f"More: {explain})"
    return f"More: {explain}, other tools), --config"


def show_frontier(frontier: Frontier, console: Console, *, explain: bool = False) -> None:
    """Prints a line per value of the other keys: the answer, its interval, and what it costs.

    Args:
        frontier: The answers.
        console: Where to print them.
        explain: Print first how each answer was found.
    """
    for words, one in frontier.named if explain else []:
        console.print(f"\n[bold]{escape(words)}[/bold]")
        show(one, console, explain=True)
    first = frontier.sizes[0]
    targets = " and ".join(map(str, first.targets))
    what = "queue limit" if first.varied.is_limit else first.varied.key
    metrics, is_alpha = frontier.shown_metrics, first.varied.is_alpha
    columns = [_cells([(one, one.chosen) for one in frontier.sizes], name) for name in metrics]
    table = report.table_of(
        f"{first.varied.wanted.capitalize()} {escape(what)} for {escape(targets)}",
        escape(", ".join(axis.key.rpartition(".")[2] for axis in frontier.axes)),
        first.varied.wanted,
        *(["all that meet the targets"] if is_alpha else []),
        "95 % interval",
        *(escape(_short(metric, first)) for metric in metrics),
    )
    for (words, one), *costs in zip(frontier.named, *columns, strict=True):
        table.add_row(
            escape(words),
            one.answer_text,
            *([", ".join(map(one.varied.text, one.alphas)) or "none"] if is_alpha else []),
            one.interval_text or "-",
            *costs,
        )
    console.print(table)
    for warning in frontier.warnings:
        say(console, f"  [yellow]warning:[/yellow] {escape(warning['text'])}")


def _show_answer(answer: Size, console: Console, *, so_far: bool, explain: bool) -> None:
    """Prints a box with the answer: green, or red without one."""
    if answer.answer is None:
        colour = "red"
        what = "buffer" if answer.varied.is_limit else "value"
        meets = "is shown to meet" if answer.is_open else "meets"
        lines = [f"[bold red]No tested {what} {meets} every target.[/bold red]"]
        if answer.price:
            lines.append(f"[yellow]{escape(answer.price)} (--most-loss)[/yellow]")
    else:
        colour = "green"
        lines = [f"[bold green]{escape(_headline(answer, so_far))}[/bold green]{_amounts(answer)}"]
        if kept := answer.kept_limit_sentence:
            lines.append(f"[bold green]{escape(kept[:1].upper() + kept[1:])}[/bold green]")
        lines += map(escape, _undecided(answer, explain=explain))
        if answer.price:
            lines.append(f"[yellow]{escape(answer.price)}[/yellow]")
    for feasible in answer.feasible:
        is_bounded = isfinite(feasible.high) or not feasible.is_one_interval
        # The line with the price says that no value keeps to the added bound.
        is_said = bool(answer.price) and feasible.target.is_default and isinf(feasible.low)
        # The list of all alphas that meet the targets says the same.
        is_said |= bool(answer.alphas) and met_alone(feasible.target, answer) == answer.alphas
        if explain or ((is_bounded or answer.answer is None) and not is_said):
            added = " (added; --most-loss)" if feasible.target.is_default else ""
            lines.append(f"{escape(str(feasible.target))}{added}: {where_met(feasible, answer)}")
        lines += _runs_alone(feasible.target, answer)
    for target, other in answer.conflicts:
        lines.append(f"[red]{escape(str(target))} and {escape(str(other))} conflict[/red]")
    print_answer(console, [*_link_lines(answer), *lines], colour)


def _headline(answer: Size, so_far: bool) -> str:
    """The answer in a line."""
    if sentence := answer.kept_sentence:
        return sentence[:1].upper() + sentence[1:]
    what = "queue limit" if answer.varied.is_limit else answer.varied.key
    text = answer.varied.text(answer.answer or 0)
    if answer.smallest is None and not so_far and not answer.too_large:
        return f"A {what} that meets every target: {text}"
    accepted = "accepted " if answer.is_smallest_accepted else ""
    found = f"{answer.varied.wanted.capitalize()} {accepted}{what}{' so far' if so_far else ''}"
    return f"{found}: {text}"


def _link_lines(answer: Size) -> list[str]:
    """The link, and why it is this one, as markup."""
    link = answer.link
    if answer.pools:
        slowest = f"its slowest link with flows is {link.name}, {report.rate_of_link(link)}"
        return [escape(f"{answer.link_chosen or answer.pools.reason}; {slowest}")]
    bdp = f"bdp {report.packets(link.bdp_packets)}" if link.bdp_packets else "no bdp,"
    line = (
        f"Link [bold]{escape(link.name)}[/bold]: {report.rate_of_link(link)}, {bdp} packets of "
        f"{link.packet_bytes:g} B, {link.discipline}"
    )
    return [line, *map(escape, filter(None, [answer.link_chosen, *answer.assumed]))]


def _amounts(answer: Size) -> str:
    """A limit in the other units, and what it is only if all packets have one size."""
    if answer.answer is None or not answer.varied.is_limit:
        return ""
    same, about = amounts_words(answer.varied, answer.link, answer.answer)
    return "".join([f" = {same}" if same else "", f"; {about}" if about else ""])


def _undecided(answer: Size, *, explain: bool) -> list[str]:
    """What else meets the targets, and the range in which the smallest such value may lie."""
    text = answer.varied.text
    if answer.varied.is_alpha:
        as_good = ", ".join(map(text, answer.as_good))
        not_shown = ", ".join(
            text(one.limit)
            for one in answer.tried
            if one.verdict_on(answer.targets) is Outcome.OPEN
        )
        return [
            f"all that meet the targets: {', '.join(map(text, answer.alphas))}"
            + (f"; open: {not_shown}" if not_shown else ""),
            f"the best one has {answer.best_by}"
            + (f"; the runs do not tell it from {as_good}" if as_good else ""),
        ]
    if answer.too_large:
        rates = range((answer.answer or 0) + 1, answer.too_large)
        is_open = any(tried.limit in rates for tried in answer.tried)
        between = "; the runs do not decide on the rates in between" if is_open else ""
        return [f"{text(answer.too_large)} is too large{between}"]
    rate = answer.largest_rate
    largest = [f"largest tested rate that meets every target: {text(rate)}"] if rate else []
    return [*largest, *_interval(answer, explain=explain)]


def _interval(answer: Size, *, explain: bool) -> list[str]:
    """The interval of the smallest value, or why there is none."""
    text = answer.varied.text
    if answer.everything:
        return []
    if one := answer.interval:
        runs = f"{_runs(answer):,} runs"
        return [f"95 % interval {answer.interval_text}, estimate {text(one.estimate)}; {runs}"]
    lines = []
    if answer.why_no_regression:
        how = f": {answer.varied.noun}s were tested one by one" if explain else ""
        lines.append(f"no interval{how}, since {answer.why_no_regression}")
    small, good = answer.too_small, answer.answer or 0
    if not answer.is_bounded:
        lines.append(f"No value is known to be too small{_why_not(answer)}")
    # Of neighbours, the headline says it.
    if 0 < small < good - 1:
        how = " (95 % confidence)" if explain else ""
        is_open = any(small < tried.limit < good for tried in answer.tried)
        between = f"; the runs do not decide on the {answer.varied.noun}s in between"
        rest = f"{between}{_why_not(answer)}" if is_open else ""
        lines.append(f"{answer.varied.too_small(small)}{how}{rest}")
    return lines


def _why_not(answer: Size) -> str:
    """Why the runs do not decide on values below the answer, where they are the same queue."""
    if not answer.same_queue:
        return ""
    is_limit = answer.varied.key.endswith(".limit")
    are = "are the same queue, which no packet finds full" if is_limit else "act on no packet"
    return f": {answer.same_queue} {are}; the difference between them is seeds"


def _runs(answer: Size) -> int:
    """Number of runs of all tested values, without those of the scenario's limit after a fit."""
    own = answer.scenario_value if answer.varied.is_limit and answer.interval else None
    return sum(
        len(tried.point.keys)
        for tried in answer.tried
        if tried.limit != own or answer.decided_by(tried) == Evidence.FIT.value
    )


def _runs_alone(target: Target, answer: Size) -> list[str]:
    """Why a target is met although the runs of the answer miss it, where no fitted mean says so."""
    chosen = answer.chosen
    if chosen is None or target in chosen.fitted or chosen.margin(target) >= 0:
        return []
    if answer.decided_by(chosen) != "fit":
        return []
    runs = len(chosen.point.keys)
    value = " ".join(_cells([(answer, chosen)], target.metric)[0].split("\n"))
    return [
        f"{escape(str(target))}: the answer's own {runs} runs average {escape(value)}; the fit to "
        f"all {_runs(answer):,} runs decides"
    ]


def _show_choices(answer: Size, console: Console, *, every: bool) -> None:
    """Prints a table with the metrics of the answer and of smaller and larger values.

    The neighbours of the answer are left out, the smaller one first, where only a second table
    would have room for them, unless `every` choice is asked for.
    """
    name = "queue limit" if answer.varied.is_limit else answer.varied.key.rpartition(".")[2]
    metrics = Column(name, [_short(metric, answer) for metric in answer.shown_metrics])
    choices, spare = answer.choices, [] if every else answer.neighbours
    columns = _columns(answer, choices)
    while spare and tables_needed(console, [metrics], columns) > 1:
        choices = [one for one in choices if one is not spare[0]]
        columns, spare = _columns(answer, choices), spare[1:]
    is_fitted = any(FITTED in cell for column in columns for cell in column.cells)
    by_fit = f" ({FITTED} by a fit to all {_runs(answer):,} runs)" if is_fitted else ""
    title = f"What each choice costs: mean and 95 % interval{by_fit}"
    print_block(console, title, [metrics], columns)


def _columns(answer: Size, choices: Sequence[Tried]) -> list[Column]:
    """A column per value with its metrics."""
    shown = [(answer, choice) for choice in choices]
    rows = [_cells(shown, metric) for metric in answer.shown_metrics]
    return [
        Column(
            ("nearest: " if choice is answer.nearest else "") + answer.varied.text(choice.limit),
            [row[place] for row in rows],
            is_bold=choice.limit == answer.answer or choice is answer.nearest,
        )
        for place, choice in enumerate(choices)
    ]


def _short(metric: str, answer: Size) -> str:
    """A metric in words, without the link if it is the link of the first line."""
    owner, name = owner_of(metric)
    words = " ".join(heading(name).split())
    return words if owner in (f"Link {answer.link.name}", "All flows") else f"{owner}: {words}"


def _cells(shown: Sequence[tuple[Size, Tried | None]], metric: str) -> list[str]:
    """Mean and interval of tested values on two lines, all in one unit.

    Of an answer whose seeds give all the same result, only the mean; a dash without a value.
    """
    intervals = [answer.shown(tried, metric) if tried else None for answer, tried in shown]
    written = []
    for (answer, _), interval, words in zip(
        shown, intervals, cells(metric, intervals), strict=True
    ):
        mean, *arms = words.split("\n")
        mean += FITTED if isinstance(interval, FittedMean) else ""
        is_bare = answer.repeats_itself or not arms
        written.append(mean if is_bare else f"{mean}\n{' '.join(arms)}")
    return written


def _show_tried(answer: Size, console: Console) -> None:
    """Prints a row per tested value: runs, the targets' metrics, the verdict, and what it is by."""
    metrics = list(dict.fromkeys(target.metric for target in answer.targets))
    title, name = (
        ("Tested buffers", "limit") if answer.varied.is_limit else ("Tested values", "value")
    )
    headings = (escape(_short(metric, answer)) for metric in metrics)
    table = report.table_of(title, name, "runs", *headings, "verdict")
    words = {
        Outcome.YES: "[green]meets all[/green]",
        Outcome.NO: "[red]misses[/red]",
        Outcome.OPEN: "[yellow]open[/yellow]",
    }
    columns = [_cells([(answer, tried) for tried in answer.tried], metric) for metric in metrics]
    for place, tried in enumerate(answer.tried):
        mark = "[bold]<[/bold]" if tried.limit == answer.answer else ""
        is_bare = answer.varied.counts_packets
        value = f"{tried.limit:,}" if is_bare else answer.varied.text(tried.limit)
        runs = str(len(tried.point.keys))
        verdict = words[tried.verdict]
        if tried.verdict is Outcome.NO and _only_by_its_place(tried):
            verdict = "[red]too small[/red]"
        elif _loses_more(tried, answer):
            verdict = "[yellow]loses more[/yellow]"
        by = f" {FITTED}" if answer.decided_by(tried) == "fit" else ""
        measured = (column[place].replace("\n", " ") for column in columns)
        table.add_row(f"{value} {mark}", runs, *measured, f"{verdict}{by}")
    console.print(table)
    if any(answer.decided_by(tried) == "fit" for tried in answer.tried):
        say(
            console,
            f"{FITTED} by a fit to the runs of all {answer.varied.noun}s near the answer; a "
            f"verdict without such a mean, by the {answer.varied.noun}'s place next to them",
        )
    if any(tried.verdict is Outcome.OPEN for tried in answer.tried):
        say(
            console,
            f"open: the runs are not conclusive with 95 % confidence, so the {answer.varied.noun} "
            "counts as not sufficient; raise --max-seeds for more runs, or use a longer duration",
        )


def _only_by_its_place(tried: Tried) -> bool:
    """Whether no mean shows that a value misses, but its place below those near the answer."""
    missed = [target for target, met in tried.verdicts.items() if met is Outcome.NO]
    return all(
        tried.evidence.get(one) is Evidence.FIT and one not in tried.fitted for one in missed
    )


def _loses_more(tried: Tried, answer: Size) -> bool:
    """Whether a buffer meets the caller's targets, but not the added bound on the loss."""
    own = [target for target in answer.targets if not target.is_default]
    return tried.verdict_on(own) is Outcome.YES and tried.verdict is Outcome.NO


def _show_models(answer: Size, console: Console) -> None:
    table = report.table_of(
        "Buffers that models require", "model", "packets", "bdp", "for", "failing\nassumptions"
    )
    # Names are not folded; the purpose of a limit may take several lines.
    table.columns[0].no_wrap, table.columns[3].no_wrap = True, False
    bdp = answer.link.bdp_packets
    asked = [
        model_answer
        for model_answer in answer.predictions.answers
        if model_answer.prediction and model_answer.prediction.required_packets is not None
    ]
    for model_answer in asked:
        packets = model_answer.prediction.required_packets if model_answer.prediction else None
        none = packets is None or isinf(packets)
        failing = len(model_answer.failing)
        table.add_row(
            model_answer.model.name,
            "none" if none else report.packets(packets),
            "-" if none or not bdp else written_numbers.number((packets or 0) / bdp),
            model_answer.prediction.required_for if model_answer.prediction else "",
            f"[red]{failing} of {len(model_answer.assumptions)}[/red]" if failing else "none",
        )
    console.print(table)
    show_failing(asked, console)
