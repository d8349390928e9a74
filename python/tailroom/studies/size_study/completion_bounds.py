"""Warnings of targets that nobody can judge, as too many queries or flows have not ended."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
FEWEST_BEGUN = 10
"""Flows or coflows that a run has to have with an earlier end of the arrivals: of as many by a
Poisson process, one run in 20,000 has none, and its metrics are not defined."""


def not_shown(tried: Sequence[Tried], targets: Sequence[Target]) -> Iterator["RunWarning"]:
    """Yields a warning per target that more runs cannot show to be met at some of the values.

    Args:
        tried: Tested values, with at least one run each.
        targets: The targets.
    """
    for target in targets:
        waiting = waiting_for_an_end(tried, target)
        if not waiting:
            continue
        *_, completed, unfinished = columns_of(_full_name(target, waiting[0]))
        rows = [row for one in waiting for row in one.point.finished]
        left = sum(row[unfinished] for row in rows)
        begun = left + sum(row[completed] for row in rows)
        group, stop = _group(target, waiting[0]), earlier_stop(waiting, target)
        remedy = (
            f"Add {usage('set', stop.setting)}{stop.instead}, so that whatever has not ended has "
            "missed the target, or lengthen duration"
            if stop
            else f"Lengthen duration, and let {group}.stop end the arrivals before the end of the "
            "run"
        )
        text = (
            f"{target} is not shown to be met at {len(waiting)} of {len(tried)} tested values: "
            f"{left:,.0f} of {begun:,.0f} {things_of(target, waiting[0])} had not ended when "
            "their run did, and count with their age, so that the metric is only a lower bound. "
            f"{remedy}"
        )
        yield warning(ONLY_LOWER_BOUND, group, text, unfinished=left, begun=begun)


def waiting_for_an_end(tried: Sequence[Tried], target: Target) -> list[Tried]:
    """Returns the values at which a target waits for the end of what has begun, not for more runs.

    Args:
        tried: Tested values, with at least one run each.
        target: The target.
    """
    return [one for one in tried if target.needs_an_end(one.interval(target.metric))]


def things_of(target: Target, tried: Tried) -> str:
    """Returns what a target is about: flows or coflows.

    Args:
        target: A target on completion times.
        tried: A value with runs.
    """
    *_, unfinished = columns_of(_full_name(target, tried))
    return unfinished.rpartition("_")[2]


@dataclass(frozen=True)
class Stop:
    """An end of the arrivals with which whatever has not ended has missed a target."""

    key: str
    """The key that sets it."""
    at_s: float
    """The end of the arrivals."""
    now: str
    """The end that the scenario has; empty if it has none."""

    @property
    def setting(self) -> str:
        """The key with its value."""
        return f"{self.key}={1e3 * self.at_s:g} ms"

    @property
    def instead(self) -> str:
        """What the scenario has instead, in words; empty without an end."""
        return f" in place of {self.now}" if self.now else ""


def earlier_stop(waiting: Sequence[Tried], target: Target) -> Stop | None:
    """Returns the end of arrivals that lets the runs decide on a target; `None` if none does.

    Args:
        waiting: The values at which the target waits for an end.
        target: The target.
    """
    if not waiting or ".completion_time_s_" not in target.metric or target.at_least:
        return None
    scenario: Any = waiting[0].point.source.resolved
    measured_from_s, end_s = (
        _engine.quantity("duration", scenario[key]) for key in ("measure_from", "duration")
    )
    group = _group(target, waiting[0])
    now = scenario["flows"][group.partition(".")[2]].get("stop", "")
    at_s, now_s = end_s - target.bound, _engine.quantity("duration", now) if now else end_s
    if at_s <= measured_from_s or now_s <= at_s:
        return None
    *_, completed, unfinished = columns_of(_full_name(target, waiting[0]))
    fewest = min(row[completed] + row[unfinished] for row in waiting[0].point.finished)
    if fewest * (at_s - measured_from_s) / (now_s - measured_from_s) < FEWEST_BEGUN:
        return None
    return Stop(f"{group}.stop", at_s, now)


def _full_name(target: Target, tried: Tried) -> str:
    return find_metric(target.metric, metric_names(tried.point.finished[0]))


def _group(target: Target, tried: Tried) -> str:
    return f"flows.{_full_name(target, tried).split('.')[1]}"
