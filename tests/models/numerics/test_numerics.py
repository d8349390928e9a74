"""What the models compute without SciPy, against SciPy."""

from math import cos, exp, log

import numpy as np
import pytest
from scipy import interpolate, optimize, special, stats

from tailroom.models.numerics import poisson
from tailroom.models.numerics.root import root_between
from tailroom.models.window_laws.monotone import MonotoneCubic

FUNCTIONS = [
    (lambda x: cos(x) - x, 0.0, 1.0),
    (lambda x: exp(x) - 1e6, 0.0, 300.0),
    (log, 1e-9, 7.0),
    (lambda x: (x - 1) ** 3 + 1e-3, -3.0, 5.5),
    (lambda x: -1.0 if x < 0.3 else 2.0, 0.0, 1.0),
]


@pytest.mark.parametrize(("function", "low", "high"), FUNCTIONS)
@pytest.mark.parametrize("absolute", [1e-300, 2e-12, 1e-3])
def test_a_root_is_that_of_brentq_to_the_last_digit(
    function: object, low: float, high: float, absolute: float
) -> None:
    assert callable(function)
    found = root_between(function, low, high, absolute=absolute)
    assert found == optimize.brentq(function, low, high, xtol=absolute)


def test_one_sign_at_both_ends_is_refused() -> None:
    with pytest.raises(ValueError, match="one sign"):
        root_between(lambda x: x * x + 1, -1.0, 1.0)


@pytest.mark.parametrize("mean", [1e-6, 0.3, 1.0, 7.0, 60.0, 499.0, 501.0, 1e6])
def test_poisson_tails_are_exact(mean: float) -> None:
    expected = special.pdtrc(np.arange(92), mean)
    # Far out, where scipy's own tail is no better than this.
    assert poisson.tails(92, mean) == pytest.approx(expected, rel=1e-12, abs=1e-290)


@pytest.mark.parametrize("mean", [0.1, 3.0, 250.0])
@pytest.mark.parametrize("count", [-1, 0, 2, 300])
def test_poisson_probabilities_are_those_of_scipy(count: int, mean: float) -> None:
    known = stats.poisson(mean)
    assert poisson.up_to(count, mean) == pytest.approx(known.cdf(count), rel=1e-13)
    assert poisson.beyond(count, mean) == pytest.approx(known.sf(count), rel=1e-13)
    if count >= 0:
        assert poisson.probability(count, mean) == pytest.approx(known.pmf(count), rel=1e-12)


@pytest.mark.parametrize("points", [3, 10, 400])
def test_monotone_interpolation_is_that_of_scipy(points: int) -> None:
    random = np.random.default_rng(1)
    x = np.cumsum(random.exponential(size=points))
    y = np.cumsum(random.exponential(size=points) ** 3)
    places = np.concatenate([x, np.linspace(x[0] - 1, x[-1] + 1, 1001)])
    expected = interpolate.PchipInterpolator(x, y)(places)
    assert MonotoneCubic(x, y)(places) == pytest.approx(expected, rel=1e-12, abs=1e-12)
