"""The fixed point of window laws and RED against balance equations, DropTail and simulation."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import exp, expm1, inf, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import bisect

import tailroom as tr
from tailroom.errors import NotApplicableError
from tailroom.models import Bottleneck, Requirement, read_bottleneck
from tailroom.models.fixed_point import drop_tail_fixed_point as drop_tail
from tailroom.models.fixed_point.red_fixed_point import MODEL, Red, chain, parameters, solve
from tailroom.models.fixed_point.solution import Demand
from tailroom.scenario.scenario import Scenario
from tests.models.fixed_point.test_drop_tail_fixed_point import (
    BARMAN,
    RANDOM,
    SCENARIOS,
    flows,
    link,
    poisson,
)
from tests.models.numerics.test_queue_chains import balanced

DEFAULTS: dict[str, object] = {"max_p": 0.1, "gentle": True, "uniform": True, "wait": False}
ADAPTIVE: dict[str, object] = {**DEFAULTS, "lowest_max_p": 0.01, "highest_max_p": 0.5}


def under_red(
    at: Bottleneck, thresholds: tuple[float, float] | None = None, **given: object
) -> Bottleneck:
    adaptive = "lowest_max_p" in given
    amounts = dict(at.amounts_packets)
    if thresholds:
        amounts |= zip(("min_threshold", "max_threshold"), thresholds, strict=True)
    return replace(
        at,
        discipline="adaptive_red" if adaptive else "red",
        parameters={**DEFAULTS, **given},
        amounts_packets=amounts,
    )


def test_drops_grow_from_threshold_to_threshold_and_gently_on_to_1() -> None:
    waiting = np.array([0.0, 10.0, 15.0, 19.0, 20.0, 25.0, 30.0, 39.0, 40.0, 99.0])
    independent = Red(10, 20, 0.1, uniform=False)
    gentle = [0, 0, 0.05, 0.09, 0.1, 0.1 + 0.9 * 0.25, 0.1 + 0.9 * 0.5, 0.1 + 0.9 * 0.95, 1, 1]
    assert independent.drop_probability(waiting, 0.1) == pytest.approx(gentle, rel=1e-14)
    hard = replace(independent, gentle=False)
    assert hard.drop_probability(waiting, 0.1) == pytest.approx(
        [0, 0, 0.05, 0.09, 1, 1, 1, 1, 1, 1]
    )
    # Nothing is dropped early while fewer than two packets wait.
    low = replace(independent, min_threshold=0.5, max_threshold=1.5, gentle=False)
    assert list(low.drop_probability(np.array([0.0, 1.0, 2.0]), 0.1)) == [0, 0, 1]


@pytest.mark.parametrize("p", [0.01, 0.1, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("wait", [False, True])
def test_spread_drops_are_as_frequent_as_the_rule_for_one_packet_makes_them(
    p: float, wait: bool
) -> None:
    """Floyd and Jacobson 1993: packet number k after a drop goes with p / (1 - k p).

    With `wait_` of ns-2 none goes while k p < 1, then p / (2 - k p).
    """
    reached, gap = 1.0, 0.0
    for k in range(1, 1000):
        gap += k * reached * (drop := dropped(k, p, wait))
        reached *= 1 - drop
        if reached < 1e-12:
            break
    # p_b = p at 10,000 p of the 10,000 packets between the thresholds.
    red = Red(0, 10_000, uniform=True, wait=wait)
    found = red.drop_probability(np.array([10_000 * p]), 1.0)
    assert found == pytest.approx([1 / gap], rel=1e-9)


def dropped(k: int, p: float, wait: bool) -> float:
    counted = k * p
    if wait and counted < 1 - 1e-12:
        return 0.0
    rest = (2 if wait else 1) - counted
    return min(1.0, p / rest) if rest > 1e-12 else 1.0


@pytest.mark.parametrize("limit", [8, 14, 60])
@pytest.mark.parametrize("gentle", [True, False])
def test_the_fixed_point_solves_the_balance_equations(limit: int, gentle: bool) -> None:
    """Generator and p(n) written out here; who finds n packets finds n - 1 waiting."""
    at = under_red(
        link(flows([0.05, 0.09], count=3), limit + 1, 2000), (4, 12), gentle=gentle, uniform=False
    )
    refusals = np.zeros(limit + 1)
    for n in range(limit + 1):
        waiting = max(0, n - 1)
        if waiting >= (24 if gentle else 12):
            refusals[n] = 1
        elif waiting >= 12:
            refusals[n] = 0.1 + 0.9 * (waiting - 12) / 12
        elif waiting > 4:
            refusals[n] = 0.1 * (waiting - 4) / 8

    def at_load(rho: float) -> tuple[float, float, float]:
        shares = balanced(rho, refusals)
        loss = float(shares[:-1] @ refusals + shares[-1])
        waiting = float(shares[1:] @ np.arange(limit + 1))
        return loss, 1 - float(shares[0]), waiting

    def excess(rho: float) -> float:
        loss, utilization, waiting = at_load(rho)
        wait_s = waiting / utilization / 2000
        sent = 3 * sqrt(1.5 / loss) * (1 / (0.05 + wait_s) + 1 / (0.09 + wait_s))
        return sent / 2000 - rho

    rho = float(bisect(excess, 0.05, 5, xtol=1e-14))
    found, max_p = solve(at)
    assert found.load == pytest.approx(rho, rel=1e-9)
    assert max_p == 0.1
    means = [found.queue.loss, found.queue.utilization, found.queue.waiting]
    assert means == pytest.approx(at_load(rho), rel=1e-9)
    # What is not lost is sent.
    assert found.load * (1 - found.queue.loss) == pytest.approx(found.queue.utilization, rel=1e-11)


def test_thresholds_beyond_the_limit_make_it_drop_tail() -> None:
    at = under_red(BARMAN, (1250, 3000))
    expected = drop_tail.solve(BARMAN)
    found, _ = solve(at)
    assert found.load == pytest.approx(expected.load, rel=1e-11)
    assert found.queue.loss == pytest.approx(expected.queue.loss, rel=1e-9)


def test_automatic_thresholds_are_those_of_floyd_gummadi_and_shenker() -> None:
    """At 1 Gbit/s and 1000 B 2.5 ms are 312.5 packets; at 8 Mbit/s the least, 5, counts."""
    fast = parameters(under_red(BARMAN))
    assert (fast.min_threshold, fast.max_threshold) == pytest.approx((312.5, 937.5))
    slow = parameters(under_red(link(flows([0.1]), 100, 1000)))
    assert (slow.min_threshold, slow.max_threshold) == (5, 15)


def adaptive(count: int, **given: object) -> Bottleneck:
    """Thresholds of 20 and 120: the target is 60 to 80 packets."""
    at = link(flows([0.1], count=count), 1001, 10_000)
    return under_red(at, (20, 120), **{**ADAPTIVE, **given})


def test_adaptive_red_moves_max_p_until_the_mean_queue_is_in_its_target() -> None:
    rests = [solve(adaptive(count)) for count in (10, 150, 300, 400, 3000)]
    queues = [found.queue.waiting for found, _ in rests]
    levels = [max_p for _, max_p in rests]
    assert queues[0] < 60
    assert levels[0] == 0.01
    assert levels == sorted(levels)
    assert 0.01 < levels[1] < 0.1
    assert queues[1] == pytest.approx(60, rel=1e-6)
    inside = [queue for queue, max_p in zip(queues, levels, strict=True) if max_p == 0.1]
    assert inside
    assert all(60 < queue < 80 for queue in inside)
    above = [queue for queue, max_p in zip(queues, levels, strict=True) if 0.1 < max_p < 0.5]
    assert above == pytest.approx([80] * len(above), rel=1e-6)
    assert above
    assert levels[-1] == 0.5
    assert queues[-1] > 80


def test_at_rest_adaptive_red_is_red_with_that_max_p() -> None:
    at = adaptive(40)
    found, max_p = solve(at)
    plain, _ = solve(under_red(at, max_p=max_p))
    assert found.load == pytest.approx(plain.load, rel=1e-12)
    prediction = MODEL.predict(at, Requirement())
    assert prediction.details["max_p_fraction"] == max_p
    assert prediction.required_packets is None


REDS = st.builds(
    lambda count, rtts_s, limit, low, ratio, max_p, gentle, uniform, stream: under_red(
        replace(
            (at := link(flows(rtts_s, count=count), limit + 1, 20_000)),
            streams=(poisson(stream, at),) if stream else (),
        ),
        (low, ratio * low),
        max_p=max_p,
        gentle=gentle,
        uniform=uniform,
    ),
    count=st.integers(1, 5000),
    rtts_s=st.lists(st.floats(2e-3, 0.5), min_size=1, max_size=3),
    limit=st.integers(1, 3000),
    low=st.floats(1, 500),
    ratio=st.floats(1.1, 4),
    max_p=st.floats(1e-4, 1),
    gentle=st.booleans(),
    uniform=st.booleans(),
    stream=st.sampled_from([0.0, 0.4, 1.3]),
)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(at=REDS, more=st.integers(1, 500))
def test_there_is_one_fixed_point_in_range_and_a_larger_limit_does_no_harm(
    at: Bottleneck, more: int
) -> None:
    found, max_p = solve(at)
    larger, _ = solve(at.with_limit(at.limit_packets + more))
    assert 0 < found.queue.utilization <= 1 + 1e-12
    assert 0 <= found.queue.loss < 1
    assert 0 <= found.queue.waiting <= at.limit_packets
    # As with DropTail, an overloaded link may be a little less full with a longer queue.
    harm = 2e-3 if found.load > 1 else 1e-11
    assert larger.queue.utilization >= found.queue.utilization - harm
    assert larger.queue.loss <= found.queue.loss * (1 + 1e-9)
    queue, demand = chain(parameters(at), max_p, at.system_packets), Demand(at)
    for x in np.linspace(-8, 8, 33):
        excess = demand.load(queue.at(float(x))) - exp(x)
        assert (excess > 0) == (x < found.log_load)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(at=REDS, utilization=st.floats(0.3, 0.9999))
def test_the_required_limit_is_the_smallest_whose_prediction_meets_the_target(
    at: Bottleneck, utilization: float
) -> None:
    required = MODEL.predict(at, Requirement(utilization)).required_packets
    assert required is not None

    def with_limit(packets: float) -> float:
        return solve(at.with_limit(packets))[0].queue.utilization

    if required < inf:
        assert with_limit(required) >= utilization - 1e-9
    else:
        assert with_limit(1e6) < utilization + 1e-9
    if 1 < required < inf:
        assert with_limit(required - 1) < utilization + 1e-9


def test_a_higher_max_p_means_a_shorter_queue() -> None:
    base = adaptive(100)
    queues = [
        solve(under_red(base, max_p=max_p))[0].queue.waiting for max_p in (0.01, 0.05, 0.2, 0.8)
    ]
    assert all(high > low for high, low in pairwise(queues))


def test_a_million_states_are_no_harm() -> None:
    at = under_red(link(flows([0.1], "highspeed", 10), 10**6), (4e5, 1e6), uniform=False)
    found, _ = solve(at)
    assert 0.99999 < found.queue.utilization < 1
    assert found.load * (1 - found.queue.loss) == pytest.approx(found.queue.utilization, rel=1e-12)


def test_it_says_what_does_not_hold() -> None:
    at = replace(
        under_red(BARMAN),
        classes=tuple(replace(one, ecn=True) for one in BARMAN.classes),
    )
    failed = {one.statement: one.found for one in MODEL.assumptions(at) if not one.holds}
    assert failed == {
        "RED looks at the queue itself (w_q = 1)": f"w_q = {-expm1(-1 / 125_000):.3g}",
        "drops are independent": "gaps between them are 1 to 1/p",
        "RED drops and does not mark": "packets of flows are marked",
        "packet sizes are exponential": "they are 1000 B",
        RANDOM: "group flows is not paced; 10 flows for 1.562 million packets",
    }


def test_it_does_not_apply_to_other_buffers_nor_to_endless_ones() -> None:
    with pytest.raises(NotApplicableError, match="bottleneck: its buffer is drop_tail, not RED"):
        solve(BARMAN)
    endless = under_red(BARMAN.with_limit(1e8), (1e7, 5e7))
    with pytest.raises(NotApplicableError, match="100 million packets fit"):
        MODEL.predict(endless, Requirement())
    assert MODEL.predict(endless.with_limit(1000.0), Requirement()).utilization is not None


def test_it_reads_the_shipped_scenario_of_the_paper() -> None:
    at = read_bottleneck(Scenario.of(SCENARIOS / "barman-2004" / "figure-7.toml", {}))
    prediction = MODEL.predict(at, Requirement())
    # Far from its target of 562 packets the mean queue leaves max_p at its lowest.
    assert prediction.details["max_p_fraction"] == 8e-5
    assert prediction.utilization == pytest.approx(0.993, abs=1e-3)


SIMULATED = """
title = "Poisson packets at RED"
duration = "41 s"
measure_from = "1 s"

[links.bottleneck]
rate = "100 Mbit/s"
delay = "1 ms"

[links.bottleneck.queue]
kind = "red"
limit = "14 packets"
min_threshold = "3 packets"
max_threshold = "9 packets"
weight = 1.0
uniform = false

[flows.stream]
path = ["bottleneck"]
packet_size = "1250 B"
rtt = "2 ms"
source = { kind = "poisson", rate = "105 Mbit/s", sizes = "exponential" }
"""


def test_the_simulator_agrees_where_every_assumption_holds(tmp_path: Path) -> None:
    """Three runs of 420,000 packets; their means deviate by about 0.7 % (loss) and 0.3 %."""
    file = tmp_path / "red.toml"
    file.write_text(SIMULATED)
    at = read_bottleneck(Scenario.of(file, {}))
    assert all(one.holds for one in MODEL.assumptions(at))
    expected = MODEL.predict(at, Requirement())
    runs: Sequence[Mapping[str, Any]] = [
        tr.run(file, seed=seed).links["bottleneck"] for seed in (1, 2, 3)
    ]

    def mean(key: str) -> float:
        return float(np.mean([one[key] for one in runs]))

    assert mean("loss_fraction") == pytest.approx(expected.loss_fraction, rel=0.02)
    assert mean("utilization") == pytest.approx(expected.utilization, rel=0.005)
    assert mean("queue_packets_mean") == pytest.approx(expected.queue_packets_mean, rel=0.015)
    assert mean("queue_delay_s_mean") == pytest.approx(expected.queue_delay_s_mean, rel=0.015)
