"""HighSpeed TCP (RFC 3649), with the derivation of Barman, Smaragdakis and Matta 2004 corrected.

In their symbols A = ln(w_h / w_l) and c = ln(p_h / p_l). The printed Eq. 3 is negative and takes
the mean window at p for the peak; docs/models/window-laws.md lists what is corrected.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import exp, log
from typing import Literal

import numpy as np

from tailroom.errors import NotApplicableError
from tailroom.models.bottleneck import FlowClass
from tailroom.models.window_laws import reno
from tailroom.models.window_laws.cycle import Response, fluid_curve
from tailroom.models.window_laws.window_law import Floats, Numbers, WindowLaw

Form = Literal["response", "corrected", "fluid"]
"""`response`: the response function of RFC 3649, Barman's last form of Eq. 3. `corrected`: their
first form. `fluid`: dw/dt = a(w)/R between the decrease and the peak, without their bound."""

LEAST_DECREASE = 0.01
"""Where the line b(w) would cross zero, far above `high_window`; as in the simulator."""


@dataclass(frozen=True)
class Constants:
    """Parameters of RFC 3649 sec. 5."""

    low_window: float = 38.0
    high_window: float = 83_000.0
    low_p: float = 1e-3
    high_p: float = 1e-7
    high_decrease: float = 0.1

    @property
    def exponent(self) -> float:
        """-c/A: p falls with the window to this power."""
        return log(self.low_p / self.high_p) / log(self.high_window / self.low_window)

    def position(self, w: Numbers) -> Floats:
        """y: 0 at `low_window` and below, 1 at `high_window`."""
        span = log(self.high_window / self.low_window)
        return np.maximum(0.0, np.log(np.asarray(w, dtype=float) / self.low_window) / span)

    def decrease(self, w: Numbers) -> Floats:
        """b(w), the part of the window that a loss takes (RFC 3649 sec. 5)."""
        line = 0.5 + (self.high_decrease - 0.5) * self.position(w)
        return np.maximum(LEAST_DECREASE, line)

    def loss_probability(self, w: Numbers) -> Floats:
        """p(w) = exp(c y + k), the loss probability with mean window w (RFC 3649 sec. 5)."""
        relative = np.asarray(w, dtype=float) / self.low_window
        return self.low_p * relative**-self.exponent

    def increase(self, w: Numbers) -> Floats:
        """a(w), packets per round trip (RFC 3649 sec. 5); 1 up to `low_window`, never below 1."""
        w = np.asarray(w, dtype=float)
        b = self.decrease(w)
        growth = w**2 * self.loss_probability(w) * 2 * b / (2 - b)
        return np.where(w <= self.low_window, 1.0, np.maximum(1.0, growth))

    def response(self, p: Numbers) -> Floats:
        """w_l (p / p_l)^(A/c), the window at loss probability p (RFC 3649 sec. 5)."""
        return self.low_window * (np.asarray(p, dtype=float) / self.low_p) ** (-1 / self.exponent)


DEFAULTS = Constants()


def law(flows: FlowClass, form: Form = "response") -> WindowLaw:
    """HighSpeed TCP; below `low_window` Reno.

    The published tables of a(w) and b(w) are taken for the formulas that they round.

    Raises:
        NotApplicableError: `fluid` with parameters for which p does not determine the cycle.
    """
    constants = constants_of(flows)
    if form == "fluid":
        _check_fluid(constants, flows)
    return _law(constants, form)


@lru_cache(maxsize=64)
def _law(constants: Constants, form: Form) -> WindowLaw:
    return WindowLaw(
        source={
            "response": "RFC 3649 sec. 5; Barman et al. 2004, last form of Eq. 3",
            "corrected": "Barman et al. 2004, first form of Eq. 3, corrected",
            "fluid": "Barman et al. 2004, Eq. 2 by quadrature",
        }[form],
        window=lambda p, _rtt_s: mean_window(p, constants, form),
        increase=lambda w, _rtt_s: constants.increase(w),
        decrease=constants.decrease,
        kinks=kinks_of(constants),
    )


def constants_of(flows: FlowClass) -> Constants:
    """Returns the scenario's parameters; a published table has parameters of its own."""
    given = flows.parameters
    if given.get("increase", "continuous") != "continuous":
        return DEFAULTS
    names = ("low_window", "high_window", "low_p", "high_p", "high_decrease")
    return Constants(**{name: float(given[name]) for name in names if name in given})


def rate_pps(
    p: Numbers, rtt_s: Numbers, constants: Constants = DEFAULTS, form: Form = "response"
) -> Floats:
    """lambda(p, R): mean packets per second at loss probability p in (0, 1] and RTT R."""
    rate: Floats = mean_window(p, constants, form) / np.asarray(rtt_s, dtype=float)
    return rate


def mean_window(p: Numbers, constants: Constants = DEFAULTS, form: Form = "response") -> Floats:
    """Mean window in packets at loss probability p in (0, 1]; continuous, strictly falling."""
    if form == "fluid":
        return _fluid(constants).mean_window(p)
    window = constants.response(p)
    if form == "corrected":
        window = window * mean_over_peak(constants.decrease(window), constants)
    # The two meet exactly at low_window only if low_p is 1.5 / low_window^2.
    return np.maximum(window, reno.PERIODIC / np.sqrt(p))


def mean_over_peak(b: Numbers, constants: Constants = DEFAULTS) -> Floats:
    """The factor of Eq. 3, corrected: mean over peak of a cycle that loses the part b.

    (1 + A/c) [(1 - b)^(-c/A) - 1] / [(1 - b)^(-(1 + c/A)) - 1].
    """
    left = 1 - np.asarray(b, dtype=float)
    q = constants.exponent
    return power_integral(left, 1.0, q) / power_integral(left, 1.0, q - 1)


_SMALLEST_POWER = 1e-9


def power_integral(low: Numbers, high: Numbers, power: float) -> Floats:
    """Integral of x^(power - 1) from low to high, both positive."""
    logarithm = np.log(np.asarray(high, dtype=float) / low)
    if abs(power) < _SMALLEST_POWER:
        return logarithm
    return np.asarray(low, dtype=float) ** power * np.expm1(power * logarithm) / power


@lru_cache(maxsize=64)
def _fluid(constants: Constants) -> Response:
    return Response(fluid_curve(constants.increase, constants.decrease, kinks_of(constants)))


@lru_cache(maxsize=64)
def kinks_of(constants: Constants) -> tuple[float, ...]:
    """Windows at which a(w) or its derivative jumps."""
    slope = (0.5 - constants.high_decrease) / log(constants.high_window / constants.low_window)
    kinks = [constants.low_window, _leaves_one(constants)]
    if slope > 0:
        position = (0.5 - LEAST_DECREASE) / slope
        kinks += [constants.low_window * exp(position)] if position < 100 else []
    return tuple(kinks)


def _leaves_one(constants: Constants) -> float:
    """The window at which the formula for a(w) has grown to 1; `low_window` if it is above."""
    windows = constants.low_window * np.exp(np.linspace(1e-12, 40.0, 4001))
    above = np.flatnonzero(constants.increase(windows) > 1)
    if len(above) == 0 or above[0] == 0:
        return constants.low_window
    low, high = windows[above[0] - 1], windows[above[0]]
    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if constants.increase(middle) > 1 else (middle, high)
    return float(high)


def _check_fluid(constants: Constants, flows: FlowClass) -> None:
    try:
        _fluid(constants)
    except ValueError as error:
        raise NotApplicableError(
            f"highspeed of group {flows.group} has no fluid law with low_p = {constants.low_p:g} "
            f"and high_p = {constants.high_p:g}: {error}"
        ) from error
