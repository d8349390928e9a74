"""Window laws against M/M/1/K, with HighSpeed's exact fluid in place of its response function.

This avoids the "simplifying approximations" of their Eq. 3; M/M/1/K remains.
"""

from functools import partial

from tailroom.errors import NotApplicableError
from tailroom.models.bottleneck import Bottleneck
from tailroom.models.fixed_point import drop_tail_fixed_point
from tailroom.models.model import Assumption, Model, Prediction, Requirement
from tailroom.models.window_laws import highspeed

LAWS = {"highspeed": partial(highspeed.law, form="fluid")}


def predict(link: Bottleneck, target: Requirement) -> Prediction:
    """As `drop_tail_fixed_point`, with Barman's Eq. 2 integrated by quadrature.

    Raises:
        NotApplicableError: No HighSpeed flow crosses the link, or as `drop_tail_fixed_point`.
    """
    if all(flow_class.congestion not in LAWS for flow_class in link.classes):
        crossing = (
            ", ".join(sorted({flow_class.congestion for flow_class in link.classes}))
            or "no permanent flows"
        )
        raise NotApplicableError(
            f"link {link.name}: no permanent HighSpeed flow crosses it, but {crossing}"
        )
    return drop_tail_fixed_point.predict(link, target, laws=LAWS)


def assumptions(link: Bottleneck) -> list[Assumption]:
    """Returns the assumptions of `drop_tail_fixed_point`."""
    return drop_tail_fixed_point.assumptions(link, laws=LAWS)


MODEL = Model(
    name="drop_tail_fixed_point_fluid",
    title="Window laws against M/M/1/K, HighSpeed as a fluid",
    source="Barman, Smaragdakis and Matta 2004, Eq. 2 by quadrature",
    assumptions=assumptions,
    predict=predict,
)
