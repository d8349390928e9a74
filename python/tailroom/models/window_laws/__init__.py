"""Window laws of the congestion controls.

A new law is a file with a function `law(flows) -> WindowLaw`, and a line in `LAWS`.
"""

from collections.abc import Callable

from tailroom import _engine
from tailroom.errors import NotApplicableError
from tailroom.models.bottleneck import FlowClass
from tailroom.models.window_laws import (
    aimd,
    bic,
    cubic,
    dctcp,
    fhstcp,
    highspeed,
    htcp,
    reno,
    scalable,
)
from tailroom.models.window_laws.window_law import WindowLaw

LAWS: dict[str, Callable[[FlowClass], WindowLaw]] = {
    "reno": reno.law,
    "highspeed": highspeed.law,
    "cubic": cubic.law,
    "scalable": scalable.law,
    "bic": bic.law,
    "htcp": htcp.law,
    "aimd": aimd.law,
    "fhstcp": fhstcp.law,
    "dctcp": dctcp.law,
}


def law_of(flows: FlowClass) -> WindowLaw:
    """The law of a congestion control with its parameters.

    Raises:
        NotApplicableError: There is no closed law for this control.
    """
    if flows.congestion not in LAWS:
        raise NotApplicableError(_engine.no_window_law(flows))
    return LAWS[flows.congestion](flows)
