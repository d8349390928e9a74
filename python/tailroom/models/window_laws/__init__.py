"""Window laws of the congestion controls.

A new law is a file with a function `law(flows) -> WindowLaw`, and a line in `LAWS`.
"""

from collections.abc import Callable

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

NO_LAW: dict[str, str] = {
    "fast": "its window answers queueing delay: it keeps alpha packets queued",
    "vegas": "its window answers queueing delay, not loss",
    "ledbat": "its window answers queueing delay, not loss",
    "bbr1": "it sends at the rate that the path delivers, whatever is lost",
    "bbr3": "it sends at the rate that the path delivers, up to 2 % loss",
    "packet_pair": "it sends at the rate that the path delivers, whatever is lost",
    "fixed_window": "its window never changes",
}
"""Controls without a window law, with the reason."""


def law_of(flows: FlowClass) -> WindowLaw:
    """The law of a congestion control with its parameters.

    Raises:
        NotApplicableError: There is no closed law for this control.
    """
    if flows.congestion not in LAWS:
        why = NO_LAW.get(flows.congestion, f"there is one for {', '.join(LAWS)}")
        raise NotApplicableError(
            f"no closed window law for {flows.congestion} (group {flows.group}): {why}"
        )
    return LAWS[flows.congestion](flows)
