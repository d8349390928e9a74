"""The points of a sweep as tables, with warnings about their accuracy."""

from collections.abc import Mapping, Sequence
from math import isfinite
from pathlib import Path

from rich.console import Console

from tailroom.cli.blocks import Column, print_block
from tailroom.cli.metric_cells import cells, heading, headings_in_one_table, owner_of
from tailroom.cli.sentences import say
from tailroom.cli.terminal_text import escape
from tailroom.scenario.axis import headings, value_words
from tailroom.simulation.metrics import ALL_FLOWS, find_metric
from tailroom.statistics.intervals import Interval
from tailroom.studies.phases import PhaseSpread
from tailroom.studies.sweep_study.study import SweepResult

LINK_METRICS = ("utilization", "loss_fraction", "queue_delay_s_mean")
"""Metrics shown for each link by default."""
FAIRNESS = f"{ALL_FLOWS}.jain_index"

COFLOW_METRICS = ("completion_time_s_mean", "completion_time_s_p99")
"""Metrics shown for each group of queries or collective operations by default."""
MOST_LINKS = 20
"""Number of links with tables by default: those that lose most, then those that wait longest."""

MOST_NAMED = 20
"""Number of points that a warning lists."""


def show(
    result: SweepResult,
    console: Console,
    *,
    metrics: Sequence[str] = (),
    only_finished: bool = False,
) -> None:
    """Prints a row per point: the settings, and the means of metrics with their intervals.

    Args:
        result: The sweep.
        console: The console to print to.
        metrics: Names of the metrics to show (default: completion times of queries and steps;
            utilization, loss and mean queueing delay of the links that vary, else of all links, at
            most of 20; and the fairness of all flows).
        only_finished: Leave out points without a finished run.

    Raises:
        MetricError: There is no such metric.
    """
    _show_points(result, console, metrics, only_finished)
    finished, planned = sum(result.run_counts), result.planned_runs
    of_planned = f" of {planned:,}" if finished < planned else ""
    console.print(
        f"{finished:,}{of_planned} runs of {_points(len(result.record.points))} are in the store "
        f"{escape(str(result.store.directory))}"
    )
    for warning, points in result.own_warnings:
        _show_warning(warning["text"], points, "", result, console)
    for path in result.store.damaged:
        if path not in result.store.problems:
            _warn(console, _ending_of(path))
    for warning, points in result.warnings_of_runs:
        _show_warning(warning["text"], points, ", with the numbers of the first", result, console)


def _ending_of(damaged: Path) -> str:
    """What became of a damaged file: a sweep removes it when its runs are in another one."""
    if damaged.exists():
        return f"{damaged} is damaged and was left out"
    return f"{damaged} was damaged; the runs in it that are needed were repeated"


def _show_points(
    result: SweepResult, console: Console, metrics: Sequence[str], only_finished: bool
) -> None:
    finished = result.run_counts
    shown = [place for place, count in enumerate(finished) if count or not only_finished]
    known = result.metrics
    blocks = _chosen(metrics, known) if metrics else _blocks(result, known)
    names = [*dict.fromkeys(metric for block in blocks.values() for metric in block)]
    means = {metric: result.intervals(metric) for metric in names}
    by_point = result.phase_spreads(names)
    spreads = [{spread.metric: spread for spread in point} for point in by_point]
    names_of_points = _settings(result, shown)
    planned = [len(point["runs"]) for point in result.record.points]
    counts = [(finished[place], planned[place]) for place in shown]
    if len(set(counts)) > 1 or any(count < all_ for count, all_ in counts):
        words = (f"{count} of {all_}" if count < all_ else f"{count}" for count, all_ in counts)
        names_of_points.append(Column("runs", list(words)))
    for title, block in blocks.items():
        columns = [
            Column(words, _with_shifts(metric, means[metric], spreads, shown))
            for metric, words in block.items()
        ]
        full_title = ", ".join(filter(None, [f"Sweep {result.record.id}", title]))
        print_block(console, full_title, names_of_points, columns)
    _show_names(names, console)


def _show_names(metrics: Sequence[str], console: Console) -> None:
    """Prints the names of the printed metrics, by which queries, targets and --metric find them."""
    owners = {owner for metric in metrics if (owner := metric.split(".")[1]) and "links." in metric}
    names = dict.fromkeys(
        metric
        if len(owners) <= 1 or not metric.startswith("links.")
        else f"links.NAME.{owner_of(metric)[1]}"
        for metric in metrics
    )
    words = f"\nNames for --metric and, in double quotes, SQL: {escape(', '.join(names))}"
    say(console, words, is_one_line=False)


def _settings(result: SweepResult, places: Sequence[int]) -> list[Column]:
    """Returns a column per key that varies."""
    axes = result.record.axes
    points = [result.record.points[place]["settings"] for place in places]
    return [
        Column(heading, [value_words(point[key], axes[key]) for point in points])
        for heading, key in zip(headings(list(axes)), axes, strict=True)
    ] or [Column("", [""] * len(points))]


def _chosen(metrics: Sequence[str], known: Sequence[str]) -> dict[str, dict[str, str]]:
    """One block with the requested metrics."""
    full = {name: find_metric(name, known) if known else name for name in metrics}
    shown = list(dict.fromkeys(full.values()))
    return {"": dict(zip(shown, headings_in_one_table(shown, known), strict=True))}


def _blocks(result: SweepResult, known: Sequence[str]) -> dict[str, dict[str, str]]:
    """Full names of metrics with their headings, by the title of their table."""
    every = list(
        dict.fromkeys(metric.split(".")[1] for metric in known if metric.startswith("links."))
    )
    until = result.record.until
    named = [
        *result.record.axes,
        *([find_metric(until["metric"], known)] if until and known else []),
    ]
    varied = {key.split(".")[1] for key in named if key.startswith("links.")}
    links = [link for link in every if link in varied] or _most_notable(result, every)
    blocks = _of_coflows(known) | {
        f"link {link}": {f"links.{link}.{metric}": heading(metric) for metric in LINK_METRICS}
        for link in links
    }
    if FAIRNESS in known and len(blocks) != 1:
        blocks["all flows"] = {FAIRNESS: heading(FAIRNESS)}
    elif FAIRNESS in known:
        blocks[f"link {links[0]}"][FAIRNESS] = heading(FAIRNESS)
    return {"": blocks[f"link {every[0]}"]} if len(every) == len(blocks) == 1 else blocks


def _of_coflows(known: Sequence[str]) -> dict[str, dict[str, str]]:
    """Full names with headings, by the title of the table of a group with coflows."""
    groups = {name.split(".")[1]: None for name in known if ".coflows." in name}
    prefixes = {group: f"groups.{group}.coflows." for group in groups}
    return {
        f"group {group}": {
            f"{prefix}{metric}": heading(f"coflows.{metric}") for metric in COFLOW_METRICS
        }
        for group, prefix in prefixes.items()
    }


def _most_notable(result: SweepResult, links: Sequence[str]) -> list[str]:
    """The links that lose most, or else let packets wait longest, at any point; all if few."""
    if len(links) <= MOST_LINKS:
        return list(links)

    def largest(link: str, metric: str) -> float:
        by_point = result.intervals(f"links.{link}.{metric}")
        return max((one.mean for one in by_point if one and isfinite(one.mean)), default=0.0)

    ranked = sorted(links, key=lambda link: [-largest(link, metric) for metric in LINK_METRICS[1:]])
    kept = set(ranked[:MOST_LINKS])
    return [link for link in links if link in kept]


def _show_warning(
    text: str, points: Sequence[str], note: str, result: SweepResult, console: Console
) -> None:
    """Prints a warning, and the points that it concerns unless it concerns all of them."""
    if len(points) == len(result.record.points):
        _warn(console, text)
    else:
        count = f"{len(points):,} of {len(result.record.points):,} points"
        _warn(console, f"at {count}{note}: {text}")
        _list_points(points, console)


def _points(count: int) -> str:
    return "1 point" if count == 1 else f"{count:,} points"


def _warn(console: Console, text: str) -> None:
    say(console, f"[yellow]warning:[/yellow] {escape(text)}")


def _list_points(lines: Sequence[str], console: Console) -> None:
    for line in lines[:MOST_NAMED]:
        console.print(f"  {escape(line)}", soft_wrap=True)
    if len(lines) > MOST_NAMED:
        console.print(f"  and {len(lines) - MOST_NAMED:,} more")


def _with_shifts(
    metric: str,
    means: Sequence[Interval | None],
    spreads: Sequence[Mapping[str, PhaseSpread]],
    shown: Sequence[int],
) -> list[str]:
    """A column of means; below a mean, that over shifted RTTs where there is a phase check."""
    checked = {place: spreads[place][metric] for place in shown if metric in spreads[place]}
    every = [means[place] for place in shown] + [spread.shifts for spread in checked.values()]
    written = cells(metric, every)
    shifted = dict(zip(checked, written[len(shown) :], strict=True))
    return [
        f"{mean}\nshifted {shifted[place]}" if place in shifted else mean
        for place, mean in zip(shown, written, strict=False)
    ]
