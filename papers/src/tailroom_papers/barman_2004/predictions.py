"""Predictions of the models at the settings of stored runs."""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial

from tailroom.errors import NotApplicableError
from tailroom.models import Bottleneck, Prediction, read_bottleneck
from tailroom.models.fixed_point.drop_tail_fixed_point import solve
from tailroom.models.fixed_point.drop_tail_fixed_point_fluid import LAWS as FLUID
from tailroom.scenario.scenario import Scenario
from tailroom.studies.prediction import predict_source
from tailroom_papers.barman_2004.bounds import BOUNDS
from tailroom_papers.barman_2004.settings import LIMIT, Setting
from tailroom_papers.framework import *

PAPERS_MODEL = "drop_tail_fixed_point"
MODELS = {
    PAPERS_MODEL: "paper's model: fixed point, M/M/1/K",
    "drop_tail_fixed_point_md1k": "the same, M/D/1/K",
    "drop_tail_fixed_point_fluid": "the same, exact fluid",
    "sawtooth": "synchronised sawtooth",
}
"""Those of DropTail, as legends call them."""
RED_MODEL = "red_fixed_point"


@lru_cache(maxsize=4096)
def of_scenario(scenario: str, model: str) -> Prediction | None:
    """Returns a model's prediction for a stored scenario; `None` if it does not apply."""
    try:
        return predict_source(Scenario.stored(scenario), only=[model])[model]
    except NotApplicableError:
        return None


def utilization(point: PointResults, model: str) -> float:
    """Returns a model's prediction at a point; NaN without a prediction."""
    said = of_scenario(point.runs[0].scenario, model)
    return float("nan") if said is None or said.utilization is None else said.utilization


def loss(point: PointResults, model: str) -> float:
    """Returns a model's prediction at a point; NaN without a prediction."""
    said = of_scenario(point.runs[0].scenario, model)
    return float("nan") if said is None or said.loss_fraction is None else said.loss_fraction


def link_of(point: PointResults) -> Bottleneck:
    """The link of a point as the models read it."""
    return link_of_scenario(point.runs[0].scenario)


def link_of_scenario(scenario: str) -> Bottleneck:
    """The link of a stored scenario as the models read it."""
    return read_bottleneck(Scenario.stored(scenario))


def with_both_corrections(point: PointResults) -> float:
    """The utilization of the paper's model with M/D/1/K and with the exact fluid."""
    return solve(link_of(point), chain="md1k", laws=FLUID).queue.utilization


def error(point: PointResults, model: str) -> Interval:
    """By how much a model's utilization lies above the simulated one."""
    said = utilization(point, model)
    return mean_interval([said - value for value in point.values("utilization")])


def is_close(what: str, point: PointResults, model: str) -> Check:
    """Whether simulation and model are close."""
    return between(what, error(point, model), BOUNDS["close"])


def by(model: str) -> Callable[[PointResults], float]:
    """Returns the function that predicts the utilization at a point by this model."""
    return partial(utilization, model=model)


def curve(
    study: StudyResults, model: str, setting: Setting, fractions: Sequence[float]
) -> list[tuple[float, float]]:
    """Utilization and loss by a model at many buffers, from a stored scenario with another limit.

    NaN where the model does not predict.
    """
    source = Scenario.stored(study.points[0].runs[0].scenario)
    predicted = []
    for fraction in fractions:
        settings = {LIMIT: setting.limit(fraction)}
        asked = predict_source(source.replacing(settings), only=[model])
        said = asked.answers[0].prediction
        values = (said.utilization, said.loss_fraction) if said else (None, None)
        predicted.append(tuple(float("nan") if value is None else value for value in values))
    return predicted  # type: ignore[return-value]
