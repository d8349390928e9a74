"""Rule of thumb: one bandwidth-delay product keeps a link busy after a window is halved."""

from tailroom.models.assumptions import (
    drop_tail,
    long_flows_alone,
    one_bottleneck,
    only_controls,
    steady_link,
    unbounded_windows,
)
from tailroom.models.bottleneck import Bottleneck
from tailroom.models.model import Assumption, Model, Prediction, Requirement, assume
from tailroom.models.traffic import need_permanent_flows


def predict(link: Bottleneck, _target: Requirement) -> Prediction:
    """The limit that fills the link: capacity times mean RTT (Villamizar and Song 1994).

    Raises:
        NotApplicableError: No permanent flow under congestion control crosses the link.
    """
    need_permanent_flows(link)
    return Prediction(required_packets=link.bdp_packets, required_for="full utilization")


def assumptions(link: Bottleneck) -> list[Assumption]:
    """One long Reno flow, or several that lose packets at the same time."""
    flows = link.flow_count
    return [
        only_controls(link, "reno"),
        assume("one flow, or all reduce together", flows == 1, f"{flows} flows"),
        unbounded_windows(link),
        drop_tail(link),
        long_flows_alone(link),
        one_bottleneck(link),
        steady_link(link),
    ]


MODEL = Model(
    name="rule_of_thumb",
    title="Rule of thumb: one bandwidth-delay product",
    source="Villamizar and Song 1994, CCR 24(5)",
    assumptions=assumptions,
    predict=predict,
)
