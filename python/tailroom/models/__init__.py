"""Analytic models of the literature: predictions for a scenario, in milliseconds.

    from tailroom.models import MODELS, Requirement

    link = tr.predict("scenario.toml").link
    MODELS["sawtooth"].predict(link, Requirement(utilization=0.98)).required_packets

Models do not use the simulator; they read a `Bottleneck`. A new model is a file with a `MODEL`, in
the folder of its kind, and a line in `MODELS`.
"""

from collections.abc import Iterable

from tailroom.errors import ArgumentError, NotApplicableError
from tailroom.models.bottleneck import Bottleneck, busiest_of, crossed_links, read_bottleneck
from tailroom.models.bursts import bursts_over_background
from tailroom.models.fixed_point import (
    drop_tail_fixed_point,
    drop_tail_fixed_point_fluid,
    red_fixed_point,
)
from tailroom.models.flow_level import processor_sharing, short_flows, transparent
from tailroom.models.fluid import fluid
from tailroom.models.loss_episodes import partial_synchronization
from tailroom.models.model import Assumption, Model, Prediction, Requirement
from tailroom.models.rules import (
    bbr_buffer,
    burst_cliff,
    dctcp_threshold,
    decrease_rule,
    loss_and_delay_bounds,
    rule_of_thumb,
    square_root_rule,
    stability,
    tiny_buffers,
)
from tailroom.models.sawtooth import residual_sawtooth, sawtooth
from tailroom.scenario.named_values import nearest

MODELS: dict[str, Model] = {
    model.name: model
    for model in (
        rule_of_thumb.MODEL,
        square_root_rule.MODEL,
        decrease_rule.MODEL,
        tiny_buffers.MODEL,
        burst_cliff.MODEL,
        stability.MODEL,
        loss_and_delay_bounds.MODEL,
        short_flows.MODEL,
        bbr_buffer.MODEL,
        dctcp_threshold.MODEL,
        transparent.MODEL,
        processor_sharing.MODEL,
        sawtooth.MODEL,
        residual_sawtooth.MODEL,
        partial_synchronization.MODEL,
        drop_tail_fixed_point.MODEL,
        drop_tail_fixed_point.MODEL_MD1K,
        drop_tail_fixed_point_fluid.MODEL,
        red_fixed_point.MODEL,
        bursts_over_background.MODEL,
        fluid.MODEL,
    )
}
"""Every model by its name, in the order of the reference."""


def models_named(names: Iterable[str]) -> list[Model]:
    """Returns the models of these names, in the order of the names.

    Args:
        names: Keys of `MODELS`.

    Raises:
        ArgumentError: There is no such model.
    """
    names = list(names)
    for name in names:
        if name not in MODELS:
            raise ArgumentError(f"there is no model {name!r}; {nearest(str(name), MODELS)}")
    return [MODELS[name] for name in names]


__all__ = [
    "MODELS",
    "Assumption",
    "Bottleneck",
    "Model",
    "NotApplicableError",
    "Prediction",
    "Requirement",
    "busiest_of",
    "crossed_links",
    "models_named",
    "read_bottleneck",
]
