"""The fixed point of window laws and DropTail against high precision, limits and simulation."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import exp, inf, log, sqrt
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tailroom as tr
from tailroom.errors import NotApplicableError
from tailroom.models import MODELS, Bottleneck, Requirement, read_bottleneck
from tailroom.models.bottleneck import DynamicFlows, FlowClass, Stream
from tailroom.models.fixed_point.drop_tail_fixed_point import MODEL, solve
from tailroom.models.fixed_point.solution import Demand
from tailroom.models.numerics.queue_chains import Stationary, md1k, mm1k
from tailroom.models.window_laws import highspeed
from tailroom.scenario.scenario import Scenario

SCENARIOS = Path(__file__).parents[3] / "scenarios"
PACKET_BYTES = 1000


def flows(
    rtts_s: list[float], congestion: str = "reno", count: int = 1, **rest: object
) -> tuple[FlowClass, ...]:
    return tuple(
        FlowClass("flows", count, rtt_s, congestion, {}, PACKET_BYTES, **rest)  # type: ignore[arg-type]
        for rtt_s in rtts_s
    )


def link(classes: tuple[FlowClass, ...], places: int, capacity_pps: float = 125_000) -> Bottleneck:
    """A link whose buffer holds `places` packets, the one in transmission included."""
    return Bottleneck(
        name="bottleneck",
        rate_bps=8 * PACKET_BYTES * capacity_pps,
        discipline="drop_tail",
        parameters={},
        amounts_packets={"limit": places - 1},
        packet_bytes=PACKET_BYTES,
        classes=classes,
        packet_sizes_bytes=frozenset([PACKET_BYTES]),
    )


def poisson(load: float, at: Bottleneck) -> Stream:
    return Stream("stream", "poisson", 1, load * at.rate_bps, PACKET_BYTES, fixed_size=True)


BARMAN_RTTS_S = [0.1155 + 0.001 * i for i in range(10)]
BARMAN = link(flows(BARMAN_RTTS_S, "highspeed"), 1250)
"""Figure 3 of the paper at a buffer of 10 %."""


def test_barmans_first_setting_fills_the_link_to_99_5_percent() -> None:
    """The literal model, evaluated independently: rho = 0.995229, p = 1.21214e-5, 99.5217 %.

    That is above the "more than 90 %" of the paper's text.
    """
    found = solve(BARMAN)
    assert found.load == pytest.approx(0.995229, abs=5e-7)
    assert found.queue.loss == pytest.approx(1.21214e-5, abs=5e-11)
    assert found.queue.utilization == pytest.approx(0.995217, abs=5e-7)


Law = Callable[[mp.mpf], mp.mpf]


def reno_window(p: mp.mpf) -> mp.mpf:
    return mp.sqrt(mp.mpf(3) / (2 * p))


def highspeed_window(p: mp.mpf) -> mp.mpf:
    """RFC 3649's response function with Low_P = 10^-3."""
    exponent = mp.log(mp.mpf(83_000) / 38) / mp.log(mp.mpf(10) ** 4)
    return max(38 * (mp.mpf(10) ** -3 / p) ** exponent, reno_window(p))


def mm1k_exactly(rho: mp.mpf, k: int) -> tuple[mp.mpf, mp.mpf]:
    """Loss, and the wait in services, as printed in Barman et al. 2004 sec. III."""
    loss = rho**k * (1 - rho) / (1 - rho ** (k + 1))
    return loss, rho / (1 - rho) - k * rho**k / (1 - rho**k)


def md1k_exactly(rho: mp.mpf, k: int) -> tuple[mp.mpf, mp.mpf]:
    """The same of M/D/1/K, from the recursion of its embedded chain and Little's law."""
    arrivals = [mp.exp(-rho)]
    for n in range(1, k + 1):
        arrivals.append(arrivals[-1] * rho / n)
    q = [mp.mpf(1)]
    for j in range(k - 1):
        inflow = q[0] * arrivals[j] + mp.fdot(q[1 : j + 1], arrivals[j:0:-1])
        q.append((q[j] - inflow) / arrivals[0])
    every = 1 + rho * mp.fsum(q)
    loss = 1 - mp.fsum(q) / every
    waiting = mp.fsum((n - 1) * one for n, one in enumerate(q[1:], 1)) / every + (k - 1) * loss
    return loss, waiting / (rho * (1 - loss))


def solved_exactly(
    at: Bottleneck,
    law: Law,
    queue: Callable[[mp.mpf, int], tuple[mp.mpf, mp.mpf]],
    digits: int,
) -> tuple[float, float]:
    """rho and p by bisection in so many digits, over rho from 1e-3 to 1e3."""
    with mp.workdps(digits):
        capacity = mp.mpf(at.capacity_pps)

        def excess(rho: mp.mpf) -> mp.mpf:
            p, wait = queue(rho, round(at.system_packets))
            sent = mp.fsum(
                one.count * law(p) / (mp.mpf(one.rtt_s) + wait / capacity) for one in at.classes
            )
            return sent - rho * capacity

        low, high = mp.mpf("0.001234"), mp.mpf(1000)
        while high / low - 1 > mp.mpf(10) ** -16:
            middle = mp.sqrt(low * high)
            low, high = (middle, high) if excess(middle) > 0 else (low, middle)
        return float(low), float(queue(low, round(at.system_packets))[0])


@pytest.mark.parametrize("places", [2, 10, 125, 1250, 12_500])
@pytest.mark.parametrize(
    ("control", "law"), [("highspeed", highspeed_window), ("reno", reno_window)]
)
def test_the_fixed_point_agrees_with_a_bisection_in_60_digits(
    control: str, law: Law, places: int
) -> None:
    at = link(flows(BARMAN_RTTS_S, control), places)
    rho, p = solved_exactly(at, law, mm1k_exactly, 60)
    found = solve(at)
    assert found.load == pytest.approx(rho, rel=1e-10)
    assert found.queue.loss == pytest.approx(p, rel=1e-10)
    assert found.queue.utilization == pytest.approx(rho * (1 - p), rel=1e-10)


@pytest.mark.parametrize("count", [30, 3000, 100_000])
def test_so_it_does_for_many_flows_at_loads_above_1(count: int) -> None:
    at = link(flows([0.02, 0.07], "reno", count), 200, 20_000)
    rho, p = solved_exactly(at, reno_window, mm1k_exactly, 60)
    found = solve(at)
    assert (found.load, found.queue.loss) == pytest.approx((rho, p), rel=1e-10)
    assert found.load > 1 or count == 30


@pytest.mark.parametrize("places", [8, 50])
def test_the_fixed_point_with_m_d_1_k_agrees_with_a_bisection_in_many_digits(places: int) -> None:
    at = link(flows([0.03, 0.05], "reno", 20), places, 10_000)
    rho, p = solved_exactly(at, reno_window, md1k_exactly, 60 + places)
    found = solve(at, chain="md1k")
    assert (found.load, found.queue.loss) == pytest.approx((rho, p), rel=1e-10)


def test_another_law_takes_the_place_of_the_usual_one() -> None:
    fluid = solve(BARMAN, laws={"highspeed": partial(highspeed.law, form="fluid")})
    expected = sum(
        float(highspeed.mean_window(fluid.queue.loss, form="fluid"))
        / (rtt_s + fluid.queue.wait / 125_000)
        for rtt_s in BARMAN_RTTS_S
    )
    assert fluid.load * 125_000 == pytest.approx(expected, rel=1e-9)
    assert fluid.load != solve(BARMAN).load
    model = MODELS["drop_tail_fixed_point_fluid"]
    assert model.predict(BARMAN, Requirement()).utilization == fluid.queue.utilization
    with pytest.raises(NotApplicableError, match=r"no permanent HighSpeed flow.*reno"):
        model.predict(link(flows([0.1]), 100), Requirement())


PARAMETERS: dict[str, dict[str, object]] = {
    "reno": {},
    "highspeed": {},
    "cubic": {"c": 0.4, "beta": 0.7, "fast_convergence": True},
}
MIXES = st.builds(
    lambda classes, streams, places, capacity: replace(
        link(
            tuple(
                FlowClass(
                    "flows", count, rtt_s, control, PARAMETERS[control], size, max_window=largest
                )
                for count, rtt_s, control, size, largest in classes
            ),
            places,
            capacity,
        ),
        streams=tuple(
            Stream("stream", "poisson", 1, load * capacity * 8000, 1000, True) for load in streams
        ),
    ),
    classes=st.lists(
        st.tuples(
            st.integers(1, 100_000),
            st.floats(1e-3, 0.6),
            st.sampled_from(["reno", "highspeed", "cubic"]),
            st.sampled_from([250, 1000, 1500]),
            st.sampled_from([inf, 20.0]),
        ),
        min_size=1,
        max_size=5,
    ),
    streams=st.lists(st.floats(0.01, 1.5), max_size=2),
    places=st.integers(1, 1_000_000) | st.integers(1, 100),
    capacity=st.floats(1e4, 1e8),
)
"""At least ten packets of bandwidth-delay product."""


@settings(derandomize=True, deadline=None, max_examples=40)
@given(at=MIXES, is_md1k=st.booleans())
def test_there_is_one_fixed_point(at: Bottleneck, is_md1k: bool) -> None:
    """Scanned over loads from e^-20 to e^20, and closely around 1 and around the solution."""
    queue = md1k if is_md1k else mm1k
    places = round(at.system_packets)
    found = solve(at, chain="md1k" if is_md1k else "mm1k")
    demand = Demand(at)
    grid = np.concatenate([scale * np.linspace(-20, 20, 41) for scale in (1, 1 / places)])
    near = found.log_load + np.geomspace(1e-9, 1, 10)[:, None] * [-1, 1]
    loads = np.unique(np.concatenate((grid, near.ravel())))
    excess = [demand.load(queue(float(x), places)) - exp(x) for x in loads]
    for x, value in zip(loads, excess, strict=True):
        assert (value > 0) == (x < found.log_load)


@settings(derandomize=True, deadline=None, max_examples=60)
@given(at=MIXES, more=st.integers(1, 1000), chain=st.sampled_from(["mm1k", "md1k"]))
def test_predictions_are_in_range_and_a_larger_buffer_does_no_harm(
    at: Bottleneck, more: int, chain: str
) -> None:
    small = solve(at, chain=chain).prediction()
    large = solve(at.with_limit(at.limit_packets + more), chain=chain).prediction()
    means = [
        (one.utilization or 0.0, one.loss_fraction or 0.0, one.queue_packets_mean or 0.0)
        for one in (small, large)
    ]
    for utilization, loss, waiting in means:
        assert 0 < utilization <= 1
        assert 0 <= loss < 1
        assert 0 <= waiting <= at.limit_packets + more
    assert small.details["load_fraction"] > 0
    assert all(np.isfinite(value) for value in small.details.values())
    assert means[1][1] <= means[0][1] * (1 + 1e-9)
    # On an overloaded link a larger buffer also lengthens round trips; see the test below.
    harm = 2e-3 if small.details["load_fraction"] > 1 else 1e-12
    assert means[1][0] >= means[0][0] - harm


@settings(derandomize=True, deadline=None, max_examples=30)
@given(
    at=MIXES,
    utilization=st.floats(0.05, 0.999),
    loss=st.floats(1e-6, 0.9),
    chain=st.sampled_from(["mm1k", "md1k"]),
)
def test_the_required_limit_is_the_smallest_whose_prediction_meets_the_target(
    at: Bottleneck, utilization: float, loss: float, chain: str
) -> None:
    model = MODELS["drop_tail_fixed_point" + ("_md1k" if chain == "md1k" else "")]
    found = model.predict(at, Requirement(utilization, loss))
    required, for_loss = found.required_packets, found.details["required_for_loss_packets"]
    assert required is not None

    def with_limit(packets: float) -> Stationary:
        return solve(at.with_limit(packets), chain=chain).queue

    if required < inf:
        assert with_limit(required).utilization >= utilization - 1e-9
    if required > 1:
        assert with_limit(min(required, 1e9) - 1).utilization < utilization + 1e-9
    if for_loss < inf:
        assert with_limit(for_loss).loss <= loss * (1 + 1e-6)
    if for_loss > 1:
        assert with_limit(min(for_loss, 1e9) - 1).loss > loss * (1 - 1e-6)


def test_utilization_dips_by_less_than_2e_3_where_the_link_is_overloaded() -> None:
    """Eq. 5 is not monotone in K there: ten flows on a path that holds one packet."""
    limits = np.unique(np.geomspace(1, 10_000, 40).astype(int))
    found = [solve(link(flows([1e-4], count=10), int(places), 10_000)) for places in limits]
    utilizations = np.array([one.queue.utilization for one in found])
    dips = np.maximum.accumulate(utilizations) - utilizations
    assert 1e-3 < dips.max() < 2e-3
    assert all(one.load > 1 for one, dip in zip(found, dips, strict=True) if dip == dips.max())
    assert utilizations[dips > 1e-12].min() > 0.997
    assert utilizations[-1] > utilizations[dips.argmax()]


def test_without_a_bound_the_link_is_full_or_carries_what_windows_allow() -> None:
    assert MODEL.predict(link(flows([0.1]), 10**9), Requirement()).utilization == pytest.approx(
        1, abs=1e-6
    )
    bounded = link(flows([0.1], max_window=500.0), 10**9, 10_000)
    found = solve(bounded)
    # 500 packets in 0.1 s are half of the capacity; rho of M/M/1 solves rho (R + W) = 500 / C.
    assert found.queue.loss == 0
    rtt_s = 0.1 + found.load / (1 - found.load) / 10_000
    assert found.load == pytest.approx(500 / rtt_s / 10_000, rel=1e-12)
    assert found.load == pytest.approx(0.4995, abs=1e-3)


def test_an_access_link_bounds_a_flow() -> None:
    at = link(flows([0.1], access_rate_bps=8e6), 10**6, 10_000)
    assert solve(at).load == pytest.approx(0.1, rel=1e-12)


def test_with_ever_more_flows_everything_is_lost_and_the_link_is_full() -> None:
    losses = [
        solve(link(flows([0.1], count=count), 50, 1000)).queue.loss
        for count in (1, 100, 10_000, 1_000_000)
    ]
    assert losses == sorted(losses)
    # A window of sqrt(3/2) packets a flow at p = 1, in 0.1 s and 49 packets' wait: 8.2e6 a second.
    rate = 1e6 * sqrt(1.5) / 0.149
    assert 1 - losses[-1] == pytest.approx(1000 / rate, rel=1e-2)
    assert solve(link(flows([0.1], count=10**6), 50, 1000)).queue.utilization == pytest.approx(1)


@pytest.mark.parametrize("chain", ["mm1k", "md1k"])
def test_one_place_is_erlangs_loss_system(chain: str) -> None:
    found = solve(link(flows([0.1, 0.2], count=7), 1, 1000), chain=chain)
    p = found.queue.loss
    assert p == pytest.approx(found.load / (1 + found.load), rel=1e-12)
    assert found.queue.wait == 0
    rate = 7 * sqrt(1.5 / p) * (1 / 0.1 + 1 / 0.2)
    assert found.load == pytest.approx(rate / 1000, rel=1e-12)


def test_streams_alone_are_the_queue_itself() -> None:
    empty = link((), 20)
    found = solve(replace(empty, streams=(poisson(0.9, empty),)))
    assert found.load == pytest.approx(0.9, rel=1e-14)
    assert found.queue.loss == pytest.approx(mm1k(log(0.9), 20).loss, rel=1e-12)


def test_streams_and_passing_flows_add_what_they_send() -> None:
    alone = link(flows([0.05], count=5), 100, 10_000)
    dynamic = DynamicFlows(
        "dynamic", "finite_flows", "reno", {}, 25.0, True, 1e4, 1e4, (), 0.05, inf, 1000, 0, 10, inf
    )  # 2 Mbit/s, a fortieth of the link
    at = replace(alone, streams=(poisson(0.6, alone),), dynamic=(dynamic,))
    found = solve(at)
    p, rtt_s = found.queue.loss, 0.05 + found.queue.wait / 10_000
    expected = 0.6 + 0.025 + 5 * sqrt(1.5 / p) / rtt_s / 10_000
    assert found.load == pytest.approx(expected, rel=1e-12)
    assert found.queue.loss > solve(alone).queue.loss
    assert failed(at)["no dynamic flows cross the link"].startswith(
        "dynamic offer 2.5 % of the rate"
    )


def test_identical_flows_are_one_class_and_their_order_does_not_matter() -> None:
    apart = link(flows([0.1] * 6 + [0.2] * 4), 300, 10_000)
    together = link(flows([0.2], count=4) + flows([0.1], count=6), 300, 10_000)
    assert solve(apart).load == pytest.approx(solve(together).load, rel=1e-14)


def test_shares_are_in_proportion_to_window_over_round_trip() -> None:
    near = replace(flows([0.1])[0], group="near")
    far = replace(flows([0.3], count=2)[0], group="far")
    found = MODEL.predict(link((near, far), 300, 10_000), Requirement())
    wait_s = found.queue_delay_s_mean
    assert wait_s is not None
    weights = [1 / (0.1 + wait_s), 2 / (0.3 + wait_s)]
    assert found.details["near_share_fraction"] == pytest.approx(
        weights[0] / sum(weights), rel=1e-12
    )
    assert found.details["far_share_fraction"] == pytest.approx(
        weights[1] / sum(weights), rel=1e-12
    )
    window = sqrt(1.5 / (found.loss_fraction or inf))
    assert found.details["far_window_packets"] == pytest.approx(window, rel=1e-12)


def test_large_packets_weigh_by_their_bytes() -> None:
    classes = (
        replace(flows([0.1])[0], packet_bytes=500),
        replace(flows([0.1])[0], packet_bytes=1500),
    )
    found = solve(link(classes, 200, 1000))
    assert found.demand.loads(found.queue)[1] == pytest.approx(
        3 * found.demand.loads(found.queue)[0]
    )


def test_only_whole_packets_fit() -> None:
    assert solve(BARMAN.with_limit(1249.9)).log_load == solve(BARMAN).log_load
    assert solve(BARMAN.with_limit(1250.0)).log_load != solve(BARMAN).log_load


RANDOM = "arrivals are random over the K^2 packets that a queue remembers"


def failed(at: Bottleneck, model: str = MODEL.name) -> dict[str, str]:
    return {one.statement: one.found for one in MODELS[model].assumptions(at) if not one.holds}


def test_it_says_what_does_not_hold() -> None:
    bursts = "group flows is not paced; 10 flows for 1.562 million packets"
    assert failed(BARMAN) == {"packet sizes are exponential": "they are 1000 B", RANDOM: bursts}
    assert failed(BARMAN, "drop_tail_fixed_point_md1k") == {RANDOM: bursts}
    crowd = link(flows([0.1], count=1000, pacing=True), 30, 1000)
    assert "windows are large enough to do without timeouts" in failed(crowd)
    assert RANDOM not in failed(crowd)
    assert failed(crowd.with_limit(39))[RANDOM] == "1000 flows for 1,600 packets"
    empty = link((), 20)
    stream = poisson(0.9, empty)
    assert failed(replace(empty, streams=(replace(stream, fixed_size=False),))) == {}
    on_off = replace(empty, streams=(replace(stream, process="on_off"),))
    assert failed(on_off)[RANDOM] == "stream is on_off"


def test_it_does_not_apply_without_a_law_or_without_traffic() -> None:
    with pytest.raises(NotApplicableError, match="bottleneck: nothing crosses it"):
        solve(link((), 100))
    with pytest.raises(NotApplicableError, match="no closed window law for packet_pair"):
        solve(link(flows([0.1], "packet_pair"), 100))


def test_it_reads_the_shipped_scenario_of_the_paper() -> None:
    at = read_bottleneck(Scenario.of(SCENARIOS / "barman-2004" / "figure-3.toml", {}))
    assert solve(at).load == pytest.approx(solve(BARMAN).load, rel=1e-9)


SIMULATED = """
title = "Poisson packets at a small buffer"
duration = "21 s"
measure_from = "1 s"

[links.bottleneck]
rate = "100 Mbit/s"
delay = "1 ms"
queue = { kind = "drop_tail", limit = "9 packets" }

[flows.stream]
path = ["bottleneck"]
packet_size = "1250 B"
rtt = "2 ms"
source = { kind = "poisson", rate = "95 Mbit/s", sizes = "SIZES" }
"""


@pytest.mark.parametrize(
    ("sizes", "model"),
    [("fixed", "drop_tail_fixed_point_md1k"), ("exponential", "drop_tail_fixed_point")],
)
def test_the_simulator_agrees_where_every_assumption_holds(
    sizes: str, model: str, tmp_path: Path
) -> None:
    """Four runs of 190,000 packets; their means deviate by about 2 % (loss) and 0.5 %."""
    file = tmp_path / "poisson.toml"
    file.write_text(SIMULATED.replace("SIZES", sizes))
    at = read_bottleneck(Scenario.of(file, {}))
    assert all(one.holds for one in MODELS[model].assumptions(at))
    expected = MODELS[model].predict(at, Requirement())
    runs: Sequence[Mapping[str, Any]] = [
        tr.run(file, seed=seed).links["bottleneck"] for seed in (1, 2, 3, 4)
    ]

    def mean(key: str) -> float:
        return float(np.mean([one[key] for one in runs]))

    assert mean("loss_fraction") == pytest.approx(expected.loss_fraction, rel=0.04)
    assert mean("utilization") == pytest.approx(expected.utilization, rel=0.005)
    assert mean("queue_packets_mean") == pytest.approx(expected.queue_packets_mean, rel=0.02)
    assert mean("queue_delay_s_mean") == pytest.approx(expected.queue_delay_s_mean, rel=0.02)
