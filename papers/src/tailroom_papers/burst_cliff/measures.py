"""Metrics of a run: the law's prediction, and its error."""

from tailroom.models import MODELS, Requirement, read_bottleneck
from tailroom.scenario.scenario import Scenario
from tailroom_papers.framework import *

UTILIZATION = "utilization"


def predicted(run: StoredRun) -> float | None:
    """Utilization in [0, 1] that the law predicts for the scenario of a run."""
    link = read_bottleneck(Scenario.stored(run.scenario), seed=run.seed)
    return MODELS["burst_cliff"].predict(link, Requirement()).utilization


def error(point: PointResults) -> float:
    """Returns the prediction less the simulated mean over seeds, in points of utilization / 100."""
    return point.mean(predicted) - point.mean(UTILIZATION)
