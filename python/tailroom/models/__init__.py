"""Analytic models: what the literature says of a scenario, in milliseconds.

A new model is one file with a `MODEL`, and one line in `MODELS`. Models know no simulator; they
read a `Bottleneck`.
"""

from tailroom.models import (
    drop_tail_fixed_point,
    drop_tail_fixed_point_fluid,
    drop_tail_fixed_point_md1k,
    red_fixed_point,
    residual_sawtooth,
    rule_of_thumb,
    sawtooth,
)
from tailroom.models.bottleneck import Bottleneck, read_bottleneck
from tailroom.models.model import Assumption, Model, NotApplicableError, Prediction, Target

MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        rule_of_thumb.MODEL,
        drop_tail_fixed_point.MODEL,
        drop_tail_fixed_point_md1k.MODEL,
        drop_tail_fixed_point_fluid.MODEL,
        red_fixed_point.MODEL,
        sawtooth.MODEL,
        residual_sawtooth.MODEL,
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
