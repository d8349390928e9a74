"""Student's t, F and Poisson distributions against SciPy's."""

from math import isnan, nan

import pytest
from scipy import special

from tailroom.statistics.distributions import (
    f_quantile,
    poisson_beyond,
    poisson_up_to,
    student_quantile,
    student_tail,
)


@pytest.mark.parametrize("degrees", [1, 2, 3, 4.37, 15, 99, 9999])
def test_students_t_is_that_of_scipy(degrees: float) -> None:
    for probability in (0.75, 0.975, 0.995, 0.9999):
        known = special.stdtrit(degrees, probability)
        assert student_quantile(degrees, probability) == pytest.approx(known, rel=1e-10)
    assert isnan(student_tail(degrees, nan))
    for t in (0.0, 0.01, 1.0, 5.0, 100.0):
        known = special.stdtr(degrees, -t)
        assert student_tail(degrees, t) == pytest.approx(known, rel=1e-10)


@pytest.mark.parametrize("numerator", [1, 7, 40])
@pytest.mark.parametrize("denominator", [1, 8, 200])
def test_quantiles_of_f_are_those_of_scipy(numerator: int, denominator: int) -> None:
    for probability in (0.5, 0.9875):
        known = special.fdtri(numerator, denominator, probability)
        assert f_quantile(numerator, denominator, probability) == pytest.approx(known, rel=1e-10)


@pytest.mark.parametrize("mean", [0.0, 1e-9, 1.0, 37.5, 1e5])
@pytest.mark.parametrize("events", [0, 1, 30, 45, 99_000, 101_000])
def test_poissons_tails_are_those_of_scipy(events: int, mean: float) -> None:
    """The smaller of the two to many digits; the larger is one less it."""
    for found, known in (
        (poisson_up_to(events, mean), special.pdtr(events, mean)),
        (poisson_beyond(events, mean), special.pdtrc(events, mean)),
    ):
        assert found == pytest.approx(known, rel=1e-9, abs=1e-300)
