"""BIC (Xu, Harfoush, Rhee 2004), as Linux has it: a search for the window of the last loss."""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from tailroom.errors import NotApplicableError
from tailroom.models.bottleneck import FlowClass
from tailroom.models.window_laws import reno
from tailroom.models.window_laws.cycle import Curve, Response
from tailroom.models.window_laws.window_law import Floats, Numbers, WindowLaw

CLOSE = 2.0
"""In packets per round trip; smaller steps are the slow last part, as in the simulator."""


@dataclass(frozen=True)
class Constants:
    """Parameters of the control by the names of the scenario."""

    low_window: float = 14.0
    max_increment: float = 16.0
    search_divisor: float = 4.0
    smooth_part: float = 20.0
    decrease: float = 205 / 1024


def law(flows: FlowClass) -> WindowLaw:
    """BIC with the scenario's parameters; losses come at equal windows, small ones are Reno's.

    Raises:
        NotApplicableError: `low_window` is so large that p does not determine the cycle.
    """
    names = ("low_window", "max_increment", "search_divisor", "smooth_part", "decrease")
    constants = Constants(**{name: float(flows.parameters[name]) for name in names})
    try:
        _response(constants)
    except ValueError as error:
        raise NotApplicableError(
            f"bic of group {flows.group} has no window law with low_window = "
            f"{constants.low_window:g}: {error}"
        ) from error
    return WindowLaw(
        source="Xu, Harfoush, Rhee 2004 sec. III, with the slow end of the search of Linux",
        window=lambda p, _rtt_s: mean_window(p, constants),
        decrease=lambda w: np.where(np.asarray(w) <= constants.low_window, 0.5, constants.decrease),
    )


def mean_window(p: Numbers, constants: Constants) -> Floats:
    """Mean window in packets at loss probability p in (0, 1].

    The search has three parts, by the distance from the peak: steps of `max_increment`; steps of
    one `search_divisor`-th of the distance; and the last packets at `search_divisor` /
    `smooth_part` a round trip, which may well be slower than Reno. Up to `low_window` the window is
    Reno's.
    """
    search = _response(replace(constants, low_window=0.0)).mean_window(p)
    # The decrease is never a half; small windows grow as Reno's.
    mild = _response(constants).mean_window(p)
    return np.minimum(mild, np.maximum(search, reno.PERIODIC / np.sqrt(p)))


@lru_cache(maxsize=64)
def _response(constants: Constants) -> Response:
    return Response(
        Curve(
            packets=lambda peak: _cycle(peak, constants)[0],
            rounds=lambda peak: _cycle(peak, constants)[1],
        )
    )


def _cycle(peak: Floats, constants: Constants) -> tuple[Floats, Floats]:
    """Packets and round trips from (1 - decrease) P to P."""
    divisor = constants.search_divisor
    peak = np.asarray(peak, dtype=float)
    fall = constants.decrease * peak
    # Distances from the peak at which the parts begin; the first is that of Reno.
    search = np.minimum(fall, np.maximum(0.0, peak - constants.low_window))
    close = np.minimum(search, CLOSE * divisor)
    far = np.minimum(search, np.maximum(constants.max_increment, CLOSE) * divisor)
    rounds = np.zeros_like(fall)
    packets = np.zeros_like(fall)
    parts = (
        (fall, search, 1.0),
        (search, far, constants.max_increment),
        (close, 0.0, divisor / constants.smooth_part),
    )
    for begin, end, step in parts:
        rounds += (begin - end) / step
        packets += (begin - end) / step * (peak - (begin + end) / 2)
    # dD/dn = -D / divisor, so a packet of distance takes divisor / D round trips.
    logarithm = np.log(
        far / np.where(close > 0, close, 1.0), where=close > 0, out=np.zeros_like(far)
    )
    rounds += divisor * logarithm
    packets += divisor * (peak * logarithm - (far - close))
    return packets, rounds
