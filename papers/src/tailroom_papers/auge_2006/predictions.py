"""Predictions of the model of bursts over a background for the settings of a run."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

from tailroom.models import read_bottleneck
from tailroom.models.bottleneck import Bottleneck
from tailroom.models.bursts.bursts_over_background import SEARCH, at_limit
from tailroom.models.bursts.cycle import Cycle
from tailroom.scenario.scenario import Scenario
from tailroom_papers.framework import *


def share(run: StoredRun) -> float:
    """The flow's share of the residual capacity, as `residual.residual_share` counts it."""
    return _share_of(run.scenario)


@lru_cache(maxsize=256)
def _share_of(scenario: str) -> float:
    link = _link(scenario)
    return _share(at_limit(link, link.limit_packets))


def shares_over(
    run: StoredRun, buffers: Sequence[int], settings: Mapping[str, object]
) -> list[float]:
    """The same with other buffers, in packets with the one being sent, and settings; to 0.005."""
    link = read_bottleneck(_source(run.scenario).replacing(settings))
    return [_share(at_limit(link, buffer - 1.0, SEARCH)) for buffer in buffers]


@lru_cache(maxsize=64)
def _link(scenario: str) -> Bottleneck:
    return read_bottleneck(_source(scenario))


def _source(scenario: str) -> Scenario:
    return Scenario.stored(scenario)


def _share(results: Cycle) -> float:
    background = results.utilization - results.flow_density
    return results.flow_density / (1 - background)
