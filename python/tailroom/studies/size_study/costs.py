"""What choices cost: the metrics and the tested values that an answer of `size` shows."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tailroom.models import Bottleneck
from tailroom.storage.run import metric_names
from tailroom.studies.size_study.known import Tried
from tailroom.studies.size_study.pools import Pools
from tailroom.studies.size_study.targets import Target

SHOWN_METRICS = ("utilization", "loss_fraction", "queue_delay_s_mean", "queue_delay_s_p99")
"""Metrics of the link that an answer shows for any targets."""
GOODPUT = re.compile(r"groups\.[^.]+\.goodput_bps")
MANY_GROUPS = 4
"""Number of groups whose goodput an answer shows."""
FAIRNESS = "flows.jain_index"
"""Metric that an answer shows if there are several flows."""


def shown_metrics(
    link: Bottleneck, pools: Pools | None, rows: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Returns the full names of the metrics that an answer shows for any targets.

    Args:
        link: The link.
        pools: The pools that the varied key belongs to, if it does.
        rows: Metrics of the runs by name.
    """
    if pools:
        return pools.shown_metrics(rows)
    return [f"links.{link.name}.{metric}" for metric in SHOWN_METRICS]


def goodputs(link: Bottleneck, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns the full names of the goodput of each group, or of many those that cross the link.

    Args:
        link: The link.
        rows: Metrics of the runs by name.
    """
    names = [name for name in metric_names(rows[0]) if GOODPUT.fullmatch(name)] if rows else []
    crossing = {*(one.group for one in link.classes), *(one.group for one in link.dynamic)}
    own = [name for name in names if name.split(".")[1] in crossing]
    return names if len(names) <= MANY_GROUPS else own[:MANY_GROUPS]


def around(
    tried: Sequence[Tried], answer: int, own: Collection[int | None], *, with_half: bool
) -> list[Tried]:
    """Returns the answer and the tested values nearest to half and twice of it, in ascending order.

    Args:
        tried: The tested values.
        answer: The answer, in steps.
        own: Further values that are shown if they were tested.
        with_half: Whether the one nearest to half the answer is shown.
    """
    smaller = [one for one in tried if one.limit < answer]
    larger = [one for one in tried if one.limit > answer]
    half = _nearest(smaller, answer, 0.5) if with_half else None
    shown = [half, _nearest(larger, answer, 2)]
    shown += [one for one in tried if one.limit == answer or one.limit in own]
    known = {one.limit: one for one in shown if one}
    return [known[limit] for limit in sorted(known)]


def around_nearest(
    tried: Sequence[Tried],
    nearest: Tried,
    targets: Sequence[Target],
    own: Collection[int | None],
) -> list[Tried]:
    """Returns the values that an answer shows where none meets all targets, in ascending order.

    Args:
        tried: The tested values, in ascending order.
        nearest: The one that comes nearest to the targets.
        targets: The targets.
        own: Further values that are shown if they were tested.
    """
    place = tried.index(nearest)
    next_to_it = [one.limit for one in tried[max(0, place - 1) : place + 2]]
    wanted = {*own, *(edges(tried, targets) or next_to_it)}
    return [one for one in tried if one.limit in wanted]


def edges(tried: Sequence[Tried], targets: Sequence[Target]) -> set[int]:
    """Returns where the values that meet each target begin and end within the tested range.

    Args:
        tried: The tested values, in ascending order.
        targets: The targets.
    """
    met = [[one.limit for one in tried if one.meets(target)] for target in targets]
    lowest = {limits[0] for limits in met if limits} - {tried[0].limit}
    highest = {limits[-1] for limits in met if limits} - {tried[-1].limit}
    return lowest | highest


def _nearest(tried: Sequence[Tried], answer: int, factor: float) -> Tried | None:
    """The buffer nearest to `factor` times the answer on a logarithmic scale."""
    wanted = factor * answer
    ratios = {buffer.limit: max(buffer.limit / wanted, wanted / buffer.limit) for buffer in tried}
    return min(tried, key=lambda buffer: ratios[buffer.limit], default=None)
