"""Metrics of Table 1 and Figure 3, from stored runs."""

from collections.abc import Sequence
from functools import partial
from math import log, nan
from typing import Any

from tailroom.simulation.metrics import jain_index
from tailroom_papers.framework import *

LINK = "bottleneck"
FAIR = "fair"
BACKGROUND = "background"


def carried(who: dict[str, Any], lost: float | None, capacity_bps: float) -> float:
    """Share of the link that the packets behind it take, headers included."""
    return float(who["throughput_bps"]) * (1 - (lost or 0.0)) / capacity_bps


def capacity_bps(run: StoredRun) -> float:
    """Of the bottleneck."""
    return float(run.summary["links"][LINK]["capacity_bps"])


def flows_of(run: StoredRun, group: str) -> list[dict[str, Any]]:
    """The permanent flows of a group."""
    return [flow for flow in run.summary["flows"] if flow["group"] == group]


def utilizations(run: StoredRun) -> list[float]:
    """Link utilization of F1, F2 and F3."""
    capacity = capacity_bps(run)
    return [carried(flow, flow["loss_fraction"], capacity) for flow in flows_of(run, FAIR)]


def utilization(run: StoredRun, place: int) -> float:
    """Link utilization of one of the three flows, from 0."""
    return utilizations(run)[place]


def utilization_of(place: int) -> Metric:
    """Returns the metric of the link utilization of one of the three flows, from 0."""
    return partial(utilization, place=place)


def least_utilization(run: StoredRun) -> float:
    """Link utilization of the flow with the lowest."""
    return min(utilizations(run))


def total_utilization(run: StoredRun) -> float:
    """Link utilization of the three flows together."""
    return sum(utilizations(run))


def background_utilization(run: StoredRun) -> float:
    """Link utilization of all background traffic (F4): long-lived, short-lived and web flows."""
    groups = {name: group for name, group in run.summary["groups"].items() if name != FAIR}
    return sum(
        carried(value, value["links"][LINK]["loss_fraction"], capacity_bps(run))
        for value in groups.values()
    )


def fairness(run: StoredRun) -> float | None:
    """Jain's index of the three flows' link utilizations."""
    return jain_index(utilizations(run))


def background_loss(run: StoredRun) -> float | None:
    """Packets of the long-lived background flows that are dropped, over those that arrive."""
    loss: float | None = run.summary["groups"][BACKGROUND]["links"][LINK]["loss_fraction"]
    return loss


def total_with_background(run: StoredRun) -> float:
    """Link utilization of the three flows and the background."""
    return total_utilization(run) + background_utilization(run)


def long_flow_loss(run: StoredRun) -> float | None:
    """Loss rate of F3, which has the longest round trip time."""
    loss: float | None = flows_of(run, FAIR)[2]["loss_fraction"]
    return loss


def loss_range(point: PointResults) -> tuple[float, float]:
    """Least and greatest loss of a long-lived background flow, each a mean over the runs."""
    rows = [
        [flow["loss_fraction"] or 0.0 for flow in flows_of(run, BACKGROUND)] for run in point.runs
    ]
    means = [sum(column) / len(column) for column in zip(*rows, strict=True)]
    return min(means), max(means)


def against_rtt(run: StoredRun) -> float | None:
    """Log of the ratio of F1's rate to F3's over the inverse ratio of their round trip times.

    0 where rates go with 1 / RTT, queueing included, which is what equal windows give.
    """
    first, _, third = flows_of(run, FAIR)
    rates = first["throughput_bps"], third["throughput_bps"]
    if not all(rates):
        return None
    return log(rates[0] / rates[1] * first["rtt_s_mean"] / third["rtt_s_mean"])


def mean_of(runs: Sequence[StoredRun], metric: Metric) -> float:
    """Mean over runs; NaN if it is undefined in all."""
    values = [value for value in (run.value(metric) for run in runs) if value is not None]
    return sum(values) / len(values) if values else nan
