"""Analytic models: what the literature says of a scenario, in milliseconds.

A new model is one file with a `MODEL`, and one line in `MODELS`. Models know no simulator; they
read a `Bottleneck`.
"""

from collections.abc import Iterable

from tailroom.models import fluid, residual_sawtooth, rule_of_thumb, sawtooth
from tailroom.models.bottleneck import Bottleneck, read_bottleneck
from tailroom.models.model import Assumption, Model, NotApplicableError, Prediction, Target

MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        rule_of_thumb.MODEL,
        sawtooth.MODEL,
        residual_sawtooth.MODEL,
        fluid.MODEL,
    )
}


def models_named(names: Iterable[str]) -> list[Model]:
    """The models of these names.

    Raises:
        ValueError: There is no such model.
    """
    names = list(names)
    for name in names:
        if name not in MODELS:
            raise ValueError(f"there is no model {name!r}; choose one of {', '.join(MODELS)}")
    return [MODELS[name] for name in names]


__all__ = [
    "MODELS",
    "Assumption",
    "Bottleneck",
    "Model",
    "NotApplicableError",
    "Prediction",
    "Target",
    "models_named",
    "read_bottleneck",
]
