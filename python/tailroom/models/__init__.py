"""Analytic models: what the literature says of a scenario, in milliseconds.

A new model is one file with a `MODEL`, and one line in `MODELS`. Models know no simulator; they
read a `Bottleneck`.
"""

from tailroom.models import bursts_over_background, residual_sawtooth, rule_of_thumb, sawtooth
from tailroom.models.bottleneck import Bottleneck, read_bottleneck
from tailroom.models.model import Assumption, Model, NotApplicableError, Prediction, Target

MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        rule_of_thumb.MODEL,
        sawtooth.MODEL,
        residual_sawtooth.MODEL,
        bursts_over_background.MODEL,
    )
}

__all__ = [
    "MODELS",
    "Assumption",
    "Bottleneck",
    "Model",
    "NotApplicableError",
    "Prediction",
    "Target",
    "read_bottleneck",
]
