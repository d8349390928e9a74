"""What choices cost: the metrics and the tested values that an answer of `size` shows."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tailroom.models import Bottleneck
from tailroom.studies.size_study.known import Tried
from tailroom.studies.size_study.pools import Pools

SHOWN_METRICS = ("utilization", "loss_fraction", "queue_delay_s_mean", "queue_delay_s_p99")
"""Metrics of the link that an answer shows for any targets."""
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


def _nearest(tried: Sequence[Tried], answer: int, factor: float) -> Tried | None:
    """The buffer nearest to `factor` times the answer on a logarithmic scale."""
    wanted = factor * answer
    ratios = {buffer.limit: max(buffer.limit / wanted, wanted / buffer.limit) for buffer in tried}
    return min(tried, key=lambda buffer: ratios[buffer.limit], default=None)
