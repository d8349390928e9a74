"""Where a noisy mean crosses a bound: against straight lines and parabolas whose root is known."""

from math import exp, log, sqrt

import numpy as np
import pytest

from tailroom.statistics.inverse_regression import Fit, fit_mean

ROOT = 276.0
BOUND = 0.02
SETTINGS = [190.0, 230.0, 276.0, 330.0, 400.0]
RUNS = 8


def mean(setting: float, slope: float = -1.5, bend: float = 0.0) -> float:
    x = log(setting / ROOT)
    return BOUND * exp(slope * x + bend * x * x)


def scattered(seed: int, bend: float = 0.0, spread: float = 0.2) -> tuple[list[float], list[float]]:
    """Gamma values with a constant coefficient of variation around the means."""
    random = np.random.default_rng(seed)
    settings = [one for one in SETTINGS for _ in range(RUNS)]
    shape = 1 / spread**2
    return settings, [random.gamma(shape, mean(one, bend=bend) / shape) for one in settings]


def fitted(settings: list[float], values: list[float]) -> Fit:
    fit = fit_mean(settings, values)
    assert fit is not None
    return fit


def test_a_parabola_without_much_noise_is_found() -> None:
    settings, values = scattered(1, bend=-0.8, spread=1e-6)
    crossing = fitted(settings, values).crossing(BOUND, 190, 400, 0.95)
    assert crossing is not None
    assert crossing.estimate == pytest.approx(ROOT, rel=1e-5)
    assert crossing.low < ROOT * (1 + 1e-6)
    assert crossing.high < ROOT * (1 + 1e-5)


@pytest.mark.parametrize("bend", [-0.8, 0.0, 0.8])
def test_the_interval_holds_the_root_as_often_as_it_says(bend: float) -> None:
    """In 95 of 100 samples but for three standard errors of 400 samples."""
    crossings = [
        crossing
        for seed in range(400)
        if (fit := fit_mean(*scattered(seed, bend)))
        and (crossing := fit.crossing(BOUND, 190, 400, 0.95))
    ]
    assert len(crossings) > 380
    held = np.mean([one.low <= ROOT <= one.high for one in crossings])
    assert held >= 0.95 - 3 * sqrt(0.95 * 0.05 / 400)
    # An interval that holds the root always would be too wide.
    assert held <= 0.985


def test_zeros_are_values_like_others() -> None:
    """A tenth of the runs loses nothing; the mean of all is on the line."""
    settings, values = scattered(3, spread=0.05)
    thinned = [0.0 if at % 10 == 5 else value / 0.9 for at, value in enumerate(values)]
    crossing = fitted(settings, thinned).crossing(BOUND, 190, 400, 0.95)
    assert crossing is not None
    assert crossing.low < ROOT < crossing.high


def test_a_step_is_no_parabola() -> None:
    random = np.random.default_rng(1)
    settings = [one for one in SETTINGS for _ in range(RUNS)]
    values = [(0.05 if one < ROOT else 0.01) * random.gamma(100, 0.01) for one in settings]
    assert fit_mean(settings, values) is None


@pytest.mark.parametrize(
    ("settings", "values"),
    [
        ([190.0, 230.0, 276.0] * 8, [0.04, 0.03, 0.02] * 8),  # three settings
        ([190.0, 230.0, 276.0, 330.0], [0.04, 0.03, 0.02, 0.01]),  # no repetition
        ([190.0, 230.0, 276.0, 330.0] * 3, [0.0] * 12),  # no mean
        ([190.0, 230.0, 276.0, 330.0] * 3, [0.02] * 12),  # no scatter
    ],
)
def test_what_cannot_be_fitted(settings: list[float], values: list[float]) -> None:
    assert fit_mean(settings, values) is None


def test_a_crossing_near_the_end_of_the_range_is_none() -> None:
    fit = fitted(*scattered(1))
    assert fit.crossing(mean(398), 190, 400, 0.95) is None
    assert fit.crossing(mean(150), 190, 400, 0.95) is None
