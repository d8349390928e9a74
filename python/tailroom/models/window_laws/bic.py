"""BIC (Xu, Harfoush, Rhee 2004), as Linux has it: a search for the window of the last loss."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tailroom.models.bottleneck import FlowClass
from tailroom.models.window_laws import reno
from tailroom.models.window_laws.cycle import Curve, Response
from tailroom.models.window_laws.window_law import Epoch, Floats, Numbers, WindowLaw

CLOSE = 2.0
"""Steps of the search below it, in packets a round trip, are the slow ones, as in the simulator."""


@dataclass(frozen=True)
class Constants:
    """Parameters of the control by the names of the scenario."""

    low_window: float = 14.0
    max_increment: float = 16.0
    search_divisor: float = 4.0
    smooth_part: float = 20.0
    decrease: float = 205 / 1024

    def increment(self, window: float, goal: float) -> float:
        """Growth in packets a round trip, in search of the goal or beyond it."""
        if window <= self.low_window:
            return 1.0
        smooth = self.search_divisor / self.smooth_part
        if window >= goal:
            beyond = window - goal
            fast = min(beyond / (self.search_divisor - 1), self.max_increment)
            return smooth if beyond < self.search_divisor else fast
        step = (goal - window) / self.search_divisor
        return smooth if step < CLOSE else min(step, self.max_increment)


def law(flows: FlowClass) -> WindowLaw:
    """BIC with the scenario's parameters; losses come at equal windows, small ones are Reno's.

    With fast convergence every second epoch aims lower, as with CUBIC.
    """
    names = ("low_window", "max_increment", "search_divisor", "smooth_part", "decrease")
    constants = Constants(**{name: float(flows.parameters[name]) for name in names})
    return WindowLaw(
        source="Xu, Harfoush, Rhee 2004 sec. III, with the slow end of the search of Linux",
        window=lambda p, _rtt_s: mean_window(p, constants),
        decrease=lambda w: np.where(np.asarray(w) <= constants.low_window, 0.5, constants.decrease),
        goals=(1 - constants.decrease / 2, 1.0) if flows.parameters["fast_convergence"] else (1.0,),
        seconds_to=lambda epoch, w: seconds_to(epoch, w, constants),
    )


def seconds_to(epoch: Epoch, w: float, constants: Constants) -> float:
    """Time until the search reaches w."""
    growth = constants.increment((epoch.window + w) / 2, epoch.goal)
    return (w - epoch.window) / growth * epoch.rtt_s


def mean_window(p: Numbers, constants: Constants) -> Floats:
    """Mean window in packets at loss probability p in (0, 1]: that of the search or Reno's.

    The search has three parts, by the distance from the peak P: steps of `max_increment`; steps of
    one `search_divisor`-th of the distance; and the last packets at `search_divisor` /
    `smooth_part` a round trip.
    """
    return np.maximum(_response(constants).mean_window(p), reno.PERIODIC / np.sqrt(p))


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
    fall = constants.decrease * np.asarray(peak, dtype=float)
    close = np.minimum(fall, CLOSE * divisor)
    far = np.minimum(fall, np.maximum(constants.max_increment, CLOSE) * divisor)
    rounds = np.zeros_like(fall)
    packets = np.zeros_like(fall)
    parts = ((fall, far, constants.max_increment), (close, 0.0, divisor / constants.smooth_part))
    for begin, end, step in parts:
        rounds += (begin - end) / step
        packets += (begin - end) / step * (peak - (begin + end) / 2)
    # dD/dn = -D / divisor, so a packet of distance takes divisor / D round trips.
    logarithm = np.log(far / close)
    rounds += divisor * logarithm
    packets += divisor * (peak * logarithm - (far - close))
    return packets, rounds
