"""Stationary queues against balance equations, the embedded chain, recursions and random runs."""

from itertools import pairwise
from math import ceil, exp, inf, log, log1p

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import poisson

from tailroom.models.numerics.queue_chains import (
    FEW_PLACES,
    Stationary,
    ThinnedChain,
    log_decay,
    md1k,
    mm1k,
)

Floats = NDArray[np.float64]
LOADS = (0.05, 0.3, 0.7, 0.95, 1 - 1e-6, 1.0, 1 + 1e-9, 1.02, 1.5, 4.0)


def balanced(rho: float, refusals: Floats) -> Floats:
    """Stationary distribution of births at rho (1 - p(n)) and deaths at 1, by linear algebra."""
    size = len(refusals) + 1
    generator = np.zeros((size, size))
    for n, p in enumerate(refusals):
        generator[n, n + 1] = rho * (1 - p)
        generator[n + 1, n] = 1.0
    generator -= np.diag(generator.sum(axis=1))
    with_sum = np.vstack((generator.T[:-1], np.ones(size)))
    shares: Floats = np.linalg.solve(with_sum, np.eye(size)[-1])
    return shares


def check(found: Stationary, shares: Floats, refusals: Floats, accuracy: float) -> None:
    """Compares means with a distribution of the number there, and with what Poisson arrivals see.

    An accepted arrival waits one service time for each whom it finds (exponential services).
    """
    states = np.arange(len(shares))
    everywhere = np.append(refusals, 1.0)
    accepted = shares * (1 - everywhere)
    assert found.loss == pytest.approx(shares @ everywhere, rel=accuracy, abs=1e-15)
    assert found.idle == pytest.approx(shares[0], rel=accuracy)
    assert found.utilization == pytest.approx(1 - shares[0], rel=accuracy)
    assert found.waiting == pytest.approx(shares[1:] @ (states[1:] - 1), rel=accuracy, abs=1e-15)
    assert found.wait == pytest.approx(accepted @ states / accepted.sum(), rel=accuracy, abs=1e-15)


@pytest.mark.parametrize("places", [1, 2, 3, 10, 40])
@pytest.mark.parametrize("rho", LOADS)
def test_m_m_1_k_solves_its_balance_equations(rho: float, places: int) -> None:
    none_early = np.zeros(places)
    check(mm1k(log(rho), places), balanced(rho, none_early), none_early, 1e-11)


@pytest.mark.parametrize("places", [1, 50, 12_500, 1_000_000])
@pytest.mark.parametrize("x", [-14.0, -0.3, -1e-3, -2e-6, 1e-6, 3e-5, 0.1, 14.0])
def test_m_m_1_k_agrees_with_its_formulas_in_high_precision(x: float, places: int) -> None:
    with mp.workdps(60):
        rho, k = mp.exp(mp.mpf(x)), places
        loss = rho**k * (1 - rho) / (1 - rho ** (k + 1))
        present = rho / (1 - rho) - (k + 1) * rho ** (k + 1) / (1 - rho ** (k + 1))
        # As printed in Barman et al. 2004; for K = 1 it is 0.
        seen = rho / (1 - rho) - k * rho**k / (1 - rho**k)
        idle = (1 - rho) / (1 - rho ** (k + 1))
        expected = [float(one) for one in (loss, idle, 1 - idle, present, seen)]
    found = mm1k(x, places)
    values = [
        found.loss,
        found.idle,
        found.utilization,
        found.waiting + found.utilization,
        found.wait,
    ]
    assert values == pytest.approx(expected, rel=1e-12, abs=1e-60)


def test_m_m_1_k_loses_half_at_load_1_with_one_place_and_is_uniform_with_more() -> None:
    assert mm1k(0.0, 1).loss == 0.5
    found = mm1k(0.0, 9)  # ten states of 1/10 each
    assert (found.loss, found.idle) == (0.1, 0.1)
    assert found.waiting + found.utilization == pytest.approx(4.5)
    assert found.wait == pytest.approx(4.0)  # who is accepted finds 0 to 8


@pytest.mark.parametrize("queue", [mm1k, md1k])
@pytest.mark.parametrize("rho", [1e-6, 0.5, 1.0, 3.0, 1e6])
def test_one_place_is_erlangs_loss_system_whatever_the_service_times(queue, rho: float) -> None:  # type: ignore[no-untyped-def]
    found = queue(log(rho), 1)
    assert found.loss == pytest.approx(rho / (1 + rho), rel=1e-12)
    assert found.idle == pytest.approx(1 / (1 + rho), rel=1e-12)
    assert found.waiting == found.wait == 0


def embedded(rho: float, places: int) -> list[float]:
    """M/D/1/K from the recursion of the textbooks, in so many digits that nothing is lost.

    Numbers that departures leave behind: q_(j+1) a_0 = q_j - q_0 a_j - sum of q_i a_(j+1-i); over
    time P_n = q_n / (q_0 + rho sum q). Loss, idle, mean number waiting.
    """
    with mp.workdps(60 + int(places * max(1.5, rho))):
        load = mp.exp(mp.mpf(log(rho)))
        arrivals = [mp.exp(-load)]
        for n in range(1, places + 1):
            arrivals.append(arrivals[-1] * load / n)
        q = [mp.mpf(1)]
        for j in range(places - 1):
            inflow = q[0] * arrivals[j] + mp.fdot(q[1 : j + 1], arrivals[j:0:-1])
            q.append((q[j] - inflow) / arrivals[0])
        every = 1 + load * mp.fsum(q)
        loss = 1 - mp.fsum(q) / every
        waiting = mp.fsum((n - 1) * one for n, one in enumerate(q[1:], 1)) / every
        return [float(loss), float(1 / every), float(waiting + (places - 1) * loss)]


@pytest.mark.parametrize("places", [2, 7, FEW_PLACES, FEW_PLACES + 1, 60, 150])
@pytest.mark.parametrize("rho", LOADS)
def test_m_d_1_k_agrees_with_its_embedded_chain_in_high_precision(rho: float, places: int) -> None:
    found = md1k(log(rho), places)
    values = [found.loss, found.idle, found.waiting]
    # At a load of 0.05 the loss is below 1e-80, and exact to fewer digits.
    assert values == pytest.approx(embedded(rho, places), rel=1e-11, abs=1e-60)
    assert found.utilization == pytest.approx(1 - found.idle, rel=1e-12)


@pytest.mark.parametrize("places", [2, 5, 12])
@pytest.mark.parametrize("rho", [0.4, 1.0, 2.5])
def test_m_d_1_k_is_the_stationary_chain_of_departures(rho: float, places: int) -> None:
    moves = np.zeros((places, places))
    for n in range(places):
        begins_with = max(n, 1)
        for arrivals in range(200):
            left = min(begins_with + arrivals, places) - 1
            moves[n, left] += poisson.pmf(arrivals, rho)
    equations = np.vstack(((moves.T - np.eye(places))[:-1], np.ones(places)))
    departures = np.linalg.solve(equations, np.eye(places)[-1])
    # A cycle lasts a service, and 1 / rho before it if nobody is there.
    utilization = 1 / (1 + departures[0] / rho)
    assert md1k(log(rho), places).utilization == pytest.approx(utilization, rel=1e-12)


def by_cuts(rho: float, places: int) -> tuple[float, float]:
    """Loss and idle share of M/D/1/K from the cut equations, term by term in double precision."""
    more = poisson.sf(np.arange(60), rho)
    q = np.zeros(places + 60)
    q[0] = 1.0
    for n in range(places - 1):
        up = more[n] if n < 60 else 0.0
        low = max(1, n - 58)
        q[n + 1] = (up + q[low : n + 1] @ more[n + 1 - low : 0 : -1]) / exp(-rho)
    total = q[:places].sum()
    beyond = np.cumsum(more[::-1])[::-1]
    lost = (q[places - 59 : places] @ beyond[59:0:-1]) / total
    return lost / (1 + lost), 1 / (1 + rho * total)


@pytest.mark.parametrize("x", [-3e-3, -1e-5, 0.0, 2e-6, 4e-4])
def test_m_d_1_k_agrees_with_a_recursion_over_20_000_states(x: float) -> None:
    found = md1k(x, 20_000)
    assert (found.loss, found.idle) == pytest.approx(by_cuts(exp(x), 20_000), rel=1e-8)


def test_m_d_1_waits_as_pollaczek_and_khinchine_say_where_the_bound_does_not_matter() -> None:
    for rho in (1e-3, 0.3, 0.9, 0.999):
        wait = rho / (2 * (1 - rho))
        assert md1k(log(rho), 1_000_000).wait == pytest.approx(wait, rel=1e-9)
        assert mm1k(log(rho), 1_000_000).wait == pytest.approx(2 * wait, rel=1e-12)


def test_the_decay_solves_its_equation() -> None:
    for x in (-200.0, -2.0, -0.11, -1e-3, -1e-9, 0.0, 1e-7, 0.2, 3.0, 200.0):
        u = log_decay(x)
        with mp.workdps(120):
            rho = mp.mpf(u) / mp.expm1(u) if u else mp.mpf(1)
            assert float(mp.log(rho)) == pytest.approx(x, rel=1e-13)


def test_m_d_1_k_is_what_a_random_run_of_it_gives() -> None:
    """Unfinished work V in services: ceil(V) are there. Thirty runs, four standard errors."""
    random = np.random.default_rng(7)
    places, rho, arrivals = 6, 1.1, 4000
    losses, waits = [], []
    for _ in range(30):
        work, lost, waited = 0.0, 0, 0.0
        for gap in random.exponential(1 / rho, arrivals):
            work = max(0.0, work - gap)
            if ceil(work) >= places:
                lost += 1
            else:
                waited += work
                work += 1
        losses.append(lost / arrivals)
        waits.append(waited / (arrivals - lost))
    found = md1k(log(rho), places)
    for runs, value in ((losses, found.loss), (waits, found.wait)):
        error = np.std(runs, ddof=1) / 30**0.5
        assert error < 0.02 * np.mean(runs)
        assert abs(np.mean(runs) - value) < 4 * error


@settings(derandomize=True, deadline=None, max_examples=200)
@given(
    x=st.floats(-200, 200) | st.floats(-14, 14) | st.floats(-1e-3, 1e-3) | st.floats(-1e-6, 1e-6),
    places=st.integers(1, 1_000_000) | st.integers(1, 80),
    is_md1k=st.booleans(),
)
def test_every_load_and_bound_gives_a_queue(x: float, places: int, is_md1k: bool) -> None:
    queue = md1k if is_md1k else mm1k
    found, larger = queue(x, places), queue(x, places + 1)
    assert 0 <= found.loss <= 1
    assert 0 < found.utilization <= 1
    assert found.utilization + found.idle == pytest.approx(1, abs=1e-12)
    accepted = exp(-x) * found.utilization  # what is not lost is served
    assert 1 - found.loss == pytest.approx(accepted, abs=1e-12)
    assert 0 <= found.waiting <= places - 1
    assert found.wait <= (places - 1) * (1 + 1e-12)
    slack = 1 + 1e-9
    assert larger.loss <= found.loss * slack
    assert larger.utilization * slack >= found.utilization
    assert larger.wait * slack + 1e-15 >= found.wait
    if not is_md1k:
        assert found.loss == queue(-x, places).idle


@pytest.mark.parametrize("places", [5, FEW_PLACES, FEW_PLACES + 1, 1000, 100_000])
@pytest.mark.parametrize("queue", [mm1k, md1k])
def test_nothing_jumps_where_the_way_of_computing_changes(queue, places: int) -> None:  # type: ignore[no-untyped-def]
    """Loads around 1, and where |K ln(rho)| passes 0.025 to 1; linear between close neighbours."""
    for middle in (0.0, *(part / places for part in (0.025, -0.025, 0.5, -0.5, 1, -1))):
        loads = middle + np.linspace(-1e-4, 1e-4, 41) / places
        for name in ("loss", "utilization", "wait"):
            values = np.array([getattr(queue(float(x), places), name) for x in loads])
            bends = values[2:] - 2 * values[1:-1] + values[:-2]
            assert np.all(np.diff(values) > 0)
            assert np.abs(bends).max() < 1e-9 * values.max()


@pytest.mark.parametrize("rho", LOADS)
def test_a_thinned_chain_solves_its_balance_equations(rho: float) -> None:
    refusals = np.concatenate((np.zeros(5), np.linspace(0.01, 0.6, 9), [0.9, 0.9]))
    check(ThinnedChain(refusals).at(log(rho)), balanced(rho, refusals), refusals, 1e-11)


def test_a_thinned_chain_that_refuses_nobody_is_m_m_1_k() -> None:
    for x in (-0.5, -1e-4, 0.0, 1e-5, 2.0):
        found, expected = ThinnedChain(np.zeros(10_000)).at(x), mm1k(x, 10_000)
        assert found.loss == pytest.approx(expected.loss, rel=1e-9, abs=1e-60)
        assert found.utilization == pytest.approx(expected.utilization, rel=1e-11)
        assert found.waiting == pytest.approx(expected.waiting, rel=1e-9)


def test_a_thinned_chain_ends_where_nobody_is_accepted() -> None:
    cut = ThinnedChain(np.array([0.0, 0.2, 1.0, 1.0, 1.0]))
    assert cut.places == 2
    assert cut.at(0.3) == ThinnedChain(np.array([0.0, 0.2])).at(0.3)
    never = ThinnedChain(np.array([0.0, 0.2, 0.4, 0.5]))
    for places in (1, 2, 3):
        shorter = ThinnedChain(np.array([0.0, 0.2, 0.4, 0.5])[:places]).at(0.7)
        limited = never.limited(places).at(0.7)
        assert limited.loss == pytest.approx(shorter.loss, rel=1e-14)
        assert limited.waiting == pytest.approx(shorter.waiting, rel=1e-14)


def test_states_left_out_of_a_long_chain_do_not_matter() -> None:
    """The sum over all states in logarithms, where the likely ones are a small part."""
    refusals = np.clip((np.arange(200_000) - 50_000) / 1e6, 0, 1)
    x = -log1p(-0.05)  # arrivals and departures balance where p = 0.05, at 100,000
    logs = np.arange(200_001) * x
    logs[1:] += np.cumsum(np.log1p(-refusals))
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()
    found = ThinnedChain(refusals).at(x)
    first, end = ThinnedChain(refusals)._likely(x)
    assert end - first < 60_000
    assert found.loss == pytest.approx(shares @ np.append(refusals, 1.0), rel=1e-12)
    assert found.waiting == pytest.approx(shares @ np.maximum(np.arange(200_001) - 1, 0), rel=1e-12)
    assert found.loss == pytest.approx(0.05, rel=1e-4)


def test_more_load_means_more_loss_utilization_and_wait_in_a_thinned_chain() -> None:
    chain = ThinnedChain(np.linspace(0, 0.3, 500))
    means = [chain.at(float(x)) for x in np.linspace(-3, 3, 61)]
    for low, high in pairwise(means):
        assert low.loss < high.loss < inf
        assert low.utilization <= high.utilization
        assert low.wait < high.wait
