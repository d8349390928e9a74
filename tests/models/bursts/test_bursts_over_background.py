"""Bursts over a background, against brute force: packets, slots and round trips one by one."""

from dataclasses import replace
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import poisson

import tailroom as tr
from tailroom.errors import NotApplicableError
from tailroom.models import Requirement
from tailroom.models.bursts import bursts_over_background as model
from tailroom.models.bursts.cycle import Cycle
from tailroom.models.bursts.growth import growth_of
from tailroom.models.bursts.queue import (
    Loop,
    decay,
    flow_variance,
    hit,
    packing,
    survival,
)
from tailroom.models.bursts.ring import ring
from tailroom.models.sawtooth import sawtooth
from tests.models.links import (
    bottleneck,
    flows,
    link,
    long_flows,
    scenario,
    stream,
    uncontrolled,
)

TARGET = Requirement()
Times = NDArray[np.float64]


def leave(
    flow: Times, load: float, slots: float, random: np.random.Generator
) -> tuple[Times, NDArray[np.int64]]:
    """One pass through a first come, first served link of a packet a slot, that begins empty.

    Returns the times at which the flow's packets have left, and for every packet how many waited.
    """
    others = random.uniform(0, slots, random.poisson(load * slots))
    times = np.concatenate([flow, others])
    order = np.argsort(times, kind="stable")
    arrivals, places = times[order], np.arange(len(times))
    ends = np.maximum.accumulate(arrivals - places) + places + 1
    waiting = places - np.searchsorted(ends - 1, arrivals, side="right")
    left = np.empty_like(ends)
    left[order] = ends
    return np.sort(left[: len(flow)]), waiting


def mixed_ring(density: float, load: float, passes: int, seed: int) -> list[Times]:
    """A flow's packets on a ring of 2000 slots, pass by pass, each with fresh Poisson packets."""
    random, slots = np.random.default_rng(seed), 2000.0
    flow = np.sort(random.uniform(0, slots, round(density * slots)))
    seen = []
    for number in range(passes):
        # Twice around: what begins empty forgets it in the first turn.
        twice, _ = leave(np.concatenate([flow, flow + slots]), load, 2 * slots, random)
        flow = np.sort(twice[len(flow) :] % slots)
        if number >= passes // 2:
            seen.append(flow)
    return seen


@pytest.mark.parametrize(("density", "load"), [(0.4, 0.5), (0.24, 0.7), (0.55, 0.3), (0.3, 0.6)])
def test_a_flow_is_as_variable_as_after_many_passes(density: float, load: float) -> None:
    """1000 passes; the standard deviation of the estimate is about 2 %, the law good to 7 %."""
    width = 50
    counts = [
        np.histogram(flow, np.arange(0, 2001, width))[0]
        for flow in mixed_ring(density, load, 1000, 1)[::5]
    ]
    # The ring holds a fixed number: counts in a part of it vary less in proportion.
    found = np.var(counts) / width / (1 - width / 2000)
    assert found == pytest.approx(flow_variance(density), rel=0.12)


@pytest.mark.parametrize("load", [0.3, 0.6, 0.9])
def test_without_a_flow_the_queue_falls_off_as_that_of_m_d_1(load: float) -> None:
    """Ratio of successive state probabilities of the embedded chain, by its recursion."""
    arrivals = poisson.pmf(np.arange(80), load)
    states = [1.0, (1 - arrivals[0]) / arrivals[0]]
    for n in range(1, 12):
        later = sum(states[k] * arrivals[n + 1 - k] for k in range(1, n + 1))
        states.append((states[n] - states[0] * arrivals[n] - later) / arrivals[0])
    assert states[12] / states[11] == pytest.approx(exp(-decay(load, 0.0)), rel=1e-3)


@pytest.mark.parametrize(
    ("load", "density", "limit", "slots"),
    [(0.5, 0.42, 20, 300), (0.5, 0.48, 20, 150), (0.7, 0.26, 30, 600), (0.3, 0.65, 12, 400)],
)
def test_a_burst_overflows_as_often_as_thrown_ones(
    load: float, density: float, limit: int, slots: int
) -> None:
    """p(W, B, rho) with W = density times slots; 400 bursts, standard deviation at most 0.025.

    The model's queue is a diffusion: 0.07 is allowed in all for it.
    """
    random = np.random.default_rng(7)
    rings = mixed_ring(density, load, 300, 3)
    over = 0
    for number in range(400):
        turned = np.sort((rings[number % len(rings)] + random.uniform(0, 2000)) % 2000)
        burst = turned[turned < slots] + 200  # 200 slots of background alone come first
        _, waiting = leave(burst, load, slots + 200, random)
        over += waiting.max() > limit
    loop = Loop(load, limit, 2000)
    found = 1 - survival(loop, density, np.array([float(slots)]))[0]
    assert found == pytest.approx(over / 400, abs=0.07)


@pytest.mark.parametrize(("load", "growth"), [(0.5, 1.0), (0.3, 4.0), (0.8, 0.5)])
def test_a_burst_is_as_dense_as_a_queue_that_delays_it_makes_it(load: float, growth: float) -> None:
    """40 parts of a burst: each grows by as much in a round trip, and is delayed as it is dense.

    A part between two packets is stretched by the difference of their delays: (load + V) / 2 over
    what is left, with load + V = 2 load / (1 + load).
    """
    parts, first, rounds = 40, 2000, 12_000
    mass = np.full(parts, growth / parts * first)
    length = mass / (0.5 * (1 - load))
    for _ in range(rounds):
        delay = load / (1 + load) / (1 - load - mass / length)
        length = length + np.diff(delay, prepend=load / (1 + load) / (1 - load))
        mass = mass + growth / parts
    end = float(brentq(lambda x: packing(load, x) - growth, 0, (1 - load) * (1 - 1e-6)))
    assert mass[-1] / length[-1] == pytest.approx(end, rel=0.02)
    area, _ = quad(lambda x: x * load / (1 + load) / (1 - load - x) ** 2, 0, end)
    assert area == pytest.approx(growth, rel=1e-6)


@pytest.mark.parametrize("phase", [None, 0.0, 0.05, 0.5])
def test_of_refused_packets_the_flow_has_the_share_that_slots_give_it(phase: float | None) -> None:
    """A full buffer frees one place a slot: 400,000 slots with packets in random order."""
    load, density, doubled, slots = 0.6, 0.35, 0.02, 400_000
    random = np.random.default_rng(5)
    others = random.poisson(load, slots)
    has_flow = random.random(slots) < density
    at = random.random(slots) if phase is None else np.full(slots, phase)
    before = random.binomial(others, at)
    second = has_flow & (random.random(slots) < doubled)
    # Whoever is first takes the place.
    flow_lost = (has_flow & (before > 0)).sum() + second.sum()
    all_lost = (others + has_flow - ((others + has_flow) > 0)).sum()
    assert hit(load, density, phase, doubled) == pytest.approx(flow_lost / all_lost, rel=0.03)


@pytest.mark.parametrize(("load", "window"), [(0.5, 450.0), (0.7, 280.0), (0.3, 600.0)])
def test_a_queue_that_never_empties_is_that_of_successive_round_trips(
    load: float, window: float
) -> None:
    """Q' = W - L + N(L + Q), N Poisson: 60,000 round trips of L slots."""
    slots, random = 625.0, np.random.default_rng(2)
    queue, seen = 0.0, []
    for _ in range(60_000):
        queue = max(0.0, window - slots + random.poisson(load * (slots + queue)))
        seen.append(queue)
    loop = Loop(load, 1000, slots)
    table = ring(loop, np.array([window, window + 1]), np.ones(2), 200)
    law = np.full((1, 201), 1 / 201)
    for _ in range(60):
        one = table.step(law, np.array([window]))
        law, kept = one.law, one.kept
    lengths = table.line.lengths
    mean = float(law[0] @ lengths)
    assert kept[0] == pytest.approx(1.0, abs=1e-6)
    assert mean == pytest.approx(np.mean(seen), rel=0.02)
    assert law[0] @ lengths**2 - mean**2 == pytest.approx(np.var(seen), rel=0.1)


def test_cubic_remembers_less_than_its_window_only_with_fast_convergence() -> None:
    """RFC 9438 sec. 4.7: W_max is cwnd (1 + beta) / 2 when the window is below the last W_max."""
    given = {"beta": 0.7, "c": 0.4}
    fast = growth_of(flows(1, congestion="cubic", parameters=given))
    slow = growth_of(flows(1, congestion="cubic", parameters={**given, "fast_convergence": False}))
    assert fast.goals == pytest.approx((1.0, 0.85))
    assert slow.goals == (1.0,)


def predicted(control: str, load: float, limit: float) -> Cycle:
    """A link of 625 packets a round trip."""
    link = bottleneck(
        scenario(limit, long_flows(control), uncontrolled(f"{50 * load} Mbit/s", "poisson"))
    )
    return model.at_limit(link, limit, model.SEARCH)


@pytest.mark.parametrize("limit", [100, 300, 625])
def test_next_to_no_background_leaves_the_sawtooth(limit: int) -> None:
    alone = sawtooth.predict(bottleneck(scenario(limit, long_flows("reno"))), TARGET).utilization
    assert predicted("reno", 0.005, limit).utilization == pytest.approx(alone, abs=0.012)


@pytest.mark.parametrize(
    ("control", "load"),
    [
        ("reno", 0.3),
        ("highspeed", 0.9),
        ("cubic", 0.3),
        ("scalable", 0.9),
        pytest.param("reno", 0.9, marks=pytest.mark.slow),
        pytest.param("highspeed", 0.3, marks=pytest.mark.slow),
        pytest.param("cubic", 0.9, marks=pytest.mark.slow),
        pytest.param("scalable", 0.3, marks=pytest.mark.slow),
    ],
)
def test_utilization_rises_with_the_buffer_up_to_all(control: str, load: float) -> None:
    limits = (1, 10, 15, 20, 30, 100, 300, 5000)
    found = [predicted(control, load, limit).utilization for limit in limits]
    assert load <= found[0] + 1e-9
    assert np.diff(found).min() > -2e-3
    assert found[-1] > 0.999


def test_auge_and_roberts_reno_gets_about_40_percent_with_20_packets() -> None:
    """Their Figure 3 and its text; 100 packets are "a reasonable compromise"; Figure 6."""
    assert 0.3 < predicted("reno", 0.5, 19).flow_density / 0.5 < 0.5
    assert 0.8 < predicted("reno", 0.5, 99).flow_density / 0.5 < 0.9
    assert predicted("reno", 0.5, 624).utilization > 0.995
    fast = predicted("highspeed", 0.5, 99).utilization
    assert fast > predicted("reno", 0.5, 99).utilization + 0.02


@settings(derandomize=True, deadline=None, max_examples=12)
@given(
    control=st.sampled_from(["reno", "highspeed", "cubic", "scalable", "aimd"]),
    load=st.floats(0.02, 0.98),
    limit=st.integers(1, 3000),
    rate=st.sampled_from([5, 50, 700, 10_000]),
)
def test_predictions_are_in_range(control: str, load: float, limit: int, rate: int) -> None:
    text = scenario(
        limit,
        long_flows(control),
        uncontrolled(f"{rate * load:.6g} Mbit/s", "poisson"),
        rate=f"{rate} Mbit/s",
    )
    found = model.at_limit(bottleneck(text), limit, model.SEARCH)
    assert 0 <= found.utilization <= 1 + 1e-12
    assert 0 <= found.flow_density <= found.utilization
    assert 0 <= found.refused_density < 1
    assert 0 <= found.queue_packets <= limit + 1
    assert found.seconds > 0


@pytest.mark.parametrize(
    ("control", "load", "rate"),
    [
        ("cubic", 0.5, 50),
        ("highspeed", 0.3, 1000),
        pytest.param("reno", 0.3, 50, marks=pytest.mark.slow),
        pytest.param("reno", 0.9, 100_000, marks=pytest.mark.slow),
    ],
)
def test_the_required_limit_is_the_first_that_suffices(
    control: str, load: float, rate: float
) -> None:
    """However large it is: here from 50 to 90,000 packets."""
    stream = uncontrolled(f"{load * rate:g} Mbit/s", "poisson")
    link = bottleneck(scenario(50, long_flows(control), stream, rate=f"{rate} Mbit/s"))
    need = model.required(link, 0.95)
    assert model.at_limit(link, need, model.SEARCH).utilization >= 0.95
    assert model.at_limit(link, need - 1, model.SEARCH).utilization < 0.95


def test_a_prediction_asks_for_the_limit_of_its_own_target(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model, "required", lambda _link, utilization: 1000 * utilization)
    stream = uncontrolled("15 Mbit/s", "poisson")
    link = bottleneck(scenario(30, long_flows("reno"), stream))
    found = model.predict(link, Requirement(utilization=0.9))
    assert found.required_packets == pytest.approx(900)


@pytest.mark.parametrize("access", ["", 'access_rate = "100 Mbit/s"\n'])
def test_a_simulated_flow(access: str, tmp_path: object) -> None:
    """Reno with 100 packets; behind 100 Mbit/s its packets arrive in the middle of a slot.

    A packet in the middle of a slot is lost more often than one at its beginning: 4 % of the
    residual capacity. A dozen cycles.
    """
    text = scenario(
        99, long_flows("reno") + access, uncontrolled("25 Mbit/s", "poisson"), duration="260 s"
    )
    file = tmp_path / "scenario.toml"  # type: ignore[operator]
    file.write_text(text, encoding="utf-8")
    result = tr.run(file)
    link = bottleneck(text)
    found = model.at_limit(link, link.limit_packets)
    assert found.utilization == pytest.approx(result.links["link"]["utilization"], abs=0.01)
    assert model.phase_of(link, link.classes[0]) == pytest.approx(0.5 if access else 0.0, abs=1e-6)
    assert all(one.holds for one in model.assumptions(link))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            scenario(20, long_flows("reno", 2), uncontrolled("1 Mbit/s", "poisson")),
            "2 permanent flows",
        ),
        (scenario(20, long_flows("reno")), "background is 0"),
        (scenario(20, long_flows("reno"), uncontrolled("60 Mbit/s", "poisson")), "1.2 of its rate"),
        (
            scenario(20, long_flows("htcp"), uncontrolled("1 Mbit/s", "poisson")),
            "htcp does not grow",
        ),
        (
            scenario(20, long_flows("reno"), uncontrolled("1 Mbit/s", "poisson"), kind="fair"),
            "fair",
        ),
    ],
)
def test_what_does_not_apply_is_named(text: str, why: str) -> None:
    with pytest.raises(NotApplicableError, match=why):
        model.predict(bottleneck(text), TARGET)


def test_what_is_not_as_assumed_is_found() -> None:
    link = bottleneck(scenario(5, long_flows("reno"), uncontrolled("45 Mbit/s")))
    failing = {one.statement: one.found for one in model.assumptions(link) if not one.holds}
    assert failing["the background is Poisson"] == "stream is cbr"
    assert "the window is large enough to repair losses without timeouts" in failing


@pytest.mark.parametrize(("bdp", "load"), [(0.05, 0.5), (1000, 1e-5), (1000, 1 - 1e-5)])
def test_predicts_for_round_trips_shorter_than_a_packet_and_loads_near_0_and_1(
    bdp: float, load: float
) -> None:
    """The link is never fuller than full, nor emptier than its background leaves it."""
    made = link(flows(), bdp=bdp, limit=20)
    found = model.predict(replace(made, streams=(stream(load * made.rate_bps),)), Requirement())
    assert found.utilization is not None
    assert 0.99 * load < found.utilization <= 1
