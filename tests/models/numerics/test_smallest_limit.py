"""The search for the smallest limit, on curves whose answer is known."""

from collections.abc import Callable
from math import ceil, exp, inf, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailroom.models.numerics.smallest_limit import (
    LARGEST_LIMIT,
    smallest_limit,
    smallest_limit_near,
)
from tests.models.links import FIXED

Curve = Callable[[float], float]


def smooth(root: float, power: float) -> Curve:
    return lambda limit: log(limit / root) * (limit / root) ** power


def saturating(root: float, power: float) -> Curve:
    return lambda limit: exp(-power) - exp(-power * limit / root)


def jump(root: float, power: float) -> Curve:
    return lambda limit: 1.0 if limit >= root else -(10**-power)


CURVES = st.sampled_from([smooth, saturating, jump])


@FIXED
@given(CURVES, st.floats(1, 9e8), st.floats(0.1, 3), st.floats(0.01, 1e10))
def test_finds_the_smallest_limit_from_any_guess(
    curve: Callable[[float, float], Curve], root: float, power: float, guess: float
) -> None:
    excess = curve(root, power)
    found = smallest_limit_near(excess, guess)
    assert found == smallest_limit(lambda limit: excess(limit) >= 0)
    assert found == pytest.approx(ceil(root), abs=1)


def test_what_the_least_limit_meets_and_what_none_does() -> None:
    assert smallest_limit_near(lambda _: 1.0, 5000) == 1
    assert smallest_limit_near(lambda limit: limit - LARGEST_LIMIT, 5000) == LARGEST_LIMIT
    assert smallest_limit_near(lambda _: -1.0, 5000) == inf


@pytest.mark.parametrize(("root", "guess"), [(52.0, 60), (722_000.0, 875_000), (3004.0, 125_000)])
def test_a_smooth_curve_takes_a_third_of_the_calls_of_halving(root: float, guess: float) -> None:
    asked: list[float] = []

    def excess(limit: float) -> float:
        asked.append(limit)
        return smooth(root, 0.5)(limit)

    smallest_limit_near(excess, guess)
    assert len(asked) <= 12
