"""Window laws of the congestion controls.

A new law is one file with a function `law(flows) -> WindowLaw`, and one line in `LAWS`.
"""

from collections.abc import Callable

from tailroom.models.bottleneck import FlowClass
from tailroom.models.model import NotApplicableError
from tailroom.models.window_laws import cubic, highspeed, reno
from tailroom.models.window_laws.window_law import WindowLaw

LAWS: dict[str, Callable[[FlowClass], WindowLaw]] = {
    "reno": reno.law,
    "highspeed": highspeed.law,
    "cubic": cubic.law,
}


def law_of(flows: FlowClass) -> WindowLaw:
    """The law of a congestion control with its parameters.

    Raises:
        NotApplicableError: There is no closed law for this control.
    """
    if flows.congestion not in LAWS:
        raise NotApplicableError(
            f"no closed window law for {flows.congestion} (group {flows.group}); "
            f"there is one for {', '.join(LAWS)}"
        )
    return LAWS[flows.congestion](flows)
