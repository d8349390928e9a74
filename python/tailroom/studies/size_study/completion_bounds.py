"""Warnings of targets that nobody can judge, as too many queries or flows have not ended."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tailroom import _engine
from tailroom.arguments import usage
from tailroom.simulation.lower_bounds import columns_of
from tailroom.simulation.metrics import find_metric
from tailroom.simulation.run_warnings import warning
from tailroom.storage.run import metric_names
from tailroom.studies.size_study.known import Tried
from tailroom.studies.size_study.targets import Target

if TYPE_CHECKING:
    from tailroom.simulation.result_types import RunWarning

ONLY_LOWER_BOUND = "only_lower_bound"
"""Kind of the warning."""


def not_shown(tried: Sequence[Tried], targets: Sequence[Target]) -> Iterator["RunWarning"]:
    """Yields a warning per target that more runs cannot show to be met at some of the values.

    Args:
        tried: Tested values, with at least one run each.
        targets: The targets.
    """
    for target in targets:
        open_at = [one for one in tried if target.needs_an_end(one.interval(target.metric))]
        if not open_at:
            continue
        known = metric_names(open_at[0].point.finished[0])
        metric = find_metric(target.metric, known)
        *_, completed, unfinished = columns_of(metric)
        rows = [row for one in open_at for row in one.point.finished]
        left = sum(row[unfinished] for row in rows)
        begun = left + sum(row[completed] for row in rows)
        group = f"flows.{metric.split('.')[1]}"
        things = unfinished.rpartition("_")[2]
        remedy = _remedy(target, group, open_at[0])
        text = (
            f"{target} is not shown to be met at {len(open_at)} of {len(tried)} tested values: "
            f"{left:,.0f} of {begun:,.0f} {things} had not ended when their run did, and count "
            f"with their age, so that the metric is only a lower bound. {remedy}"
        )
        yield warning(ONLY_LOWER_BOUND, group, text, unfinished=left, begun=begun)


def _remedy(target: Target, group: str, tried: Tried) -> str:
    """What lets the runs tell: what has not ended has then missed the target."""
    scenario = tried.point.source.resolved
    measured_from_s, end_s = (
        _engine.quantity("duration", scenario[key]) for key in ("measure_from", "duration")
    )
    is_time = ".completion_time_s_" in target.metric and not target.at_least
    stop_s = end_s - target.bound
    if not is_time or stop_s <= measured_from_s:
        return f"Lengthen duration, and let {group}.stop end the arrivals before the end of the run"
    stop = usage("set", f"{group}.stop={1e3 * stop_s:g} ms")
    return f"Add {stop}, so that whatever has not ended has missed the target, or lengthen duration"
