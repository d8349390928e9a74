"""The sawtooth against the fluid integrated over time, published numbers and simulated flows."""

from collections.abc import Callable
from dataclasses import dataclass
from math import cbrt, exp, inf, log
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

import tailroom as tr
from tailroom.errors import NotApplicableError
from tailroom.models import Requirement
from tailroom.models.sawtooth import sawtooth as model
from tailroom.models.sawtooth.cycle import Flows, cycle
from tests.models.links import bottleneck, long_flows, scenario, uncontrolled

TARGET = Requirement()


def flows_of(control: str, parameters: str = "", count: int = 1, bdp: float = 625) -> Flows:
    """Flows with an RTT of 100 ms over a link of this bandwidth-delay product."""
    link = bottleneck(scenario(10, long_flows(control, count, parameters)))
    return Flows(link.classes[0], count, 0.1, bdp / 0.1)


@pytest.mark.parametrize(
    ("buffer", "mean"), [(0, 0.75), (0.05, 0.7856), (0.1, 0.8176), (0.2, 0.871), (0.43, 0.950)]
)
def test_the_mean_utilization_of_reno(buffer: float, mean: float) -> None:
    """0.75 without a buffer is Auge and Roberts', the others (1 + b)^2 3/8 over the times' sum."""
    assert model.aimd_utilization(buffer, 0.5) == pytest.approx(mean, abs=6e-4)


def cubic_utilization(buffer_bdp: float, beta: float) -> float:
    """Mean utilization of CUBIC on its cubic, where Reno is nowhere faster.

    The window is P (1 - (1 - beta) z^3) from z = 1 at the loss to z = 0 at the next, in equal
    steps of time.
    """
    peak = 1 + buffer_bdp
    if beta * peak >= 1:
        return 1.0
    full = cbrt((1 - 1 / peak) / (1 - beta))
    return full + peak * (1 - full - (1 - beta) * (1 - full**4) / 4)


@pytest.mark.parametrize(
    ("buffer", "aimd", "true"),
    [(0, 0.85, 0.925), (0.05, 0.889, 0.951), (0.1, 0.921, 0.967), (0.2, 0.966, 0.987)],
)
def test_the_mean_utilization_of_cubic(buffer: float, aimd: float, true: float) -> None:
    assert model.aimd_utilization(buffer, 0.3) == pytest.approx(aimd, abs=6e-4)
    assert cubic_utilization(buffer, 0.7) == pytest.approx(true, abs=6e-4)


@pytest.mark.parametrize(
    ("decrease", "full"), [(0.5, 1.0), (1 - 717 / 1024, 0.428), (0.125, 0.143)]
)
def test_the_buffer_that_keeps_the_link_full(decrease: float, full: float) -> None:
    """(1 - beta) / beta (Spang, Arslan, McKeown 2021)."""
    assert model.minimum_utilization(full + 1e-3, decrease) == 1
    assert model.minimum_utilization(full - 1e-3, decrease) < 1
    for inverse in (model.aimd_buffer, model.mimd_buffer):
        assert inverse(1.0, decrease) == pytest.approx(full, abs=6e-4)


def test_the_buffer_for_98_percent() -> None:
    assert model.aimd_buffer(0.98, 0.5) == pytest.approx(0.603, abs=5e-4)
    assert model.mimd_buffer(0.98, 0.125) == pytest.approx(0.061, abs=5e-4)


PROFILE = settings(derandomize=True, deadline=None, max_examples=60)


@PROFILE
@given(st.floats(0.01, 0.9), st.floats(0.05, 0.999))
def test_the_buffer_is_the_inverse_of_utilization(decrease: float, utilization: float) -> None:
    pairs = (
        (model.aimd_buffer, model.aimd_utilization),
        (model.mimd_buffer, model.mimd_utilization),
    )
    for inverse, forward in pairs:
        buffer = inverse(utilization, decrease)
        if buffer == 0:
            assert forward(0, decrease) >= utilization - 1e-12
        else:
            assert forward(buffer, decrease) == pytest.approx(utilization, abs=1e-6)


@dataclass(frozen=True)
class Fluid:
    """Means over a cycle, integrated over time."""

    utilization: float
    queue: float
    delay_s: float
    packets: float


def fluid(
    growth: Callable[[float, float, float], float], trough: float, peak: float, bdp: float
) -> Fluid:
    """dw/dt = growth(w, t, RTT) / RTT of one flow from trough to peak, by Runge and Kutta."""
    rtt_s = 0.1
    capacity = bdp / rtt_s

    def slope(t: float, state: list[float]) -> list[float]:
        w = state[0]
        rtt = max(rtt_s, w / capacity)
        queue = max(0.0, w - bdp)
        rate = w / rtt
        return [growth(w, t, rtt) / rtt, rate, queue, queue / capacity * rate]

    def full(_t: float, state: list[float]) -> float:
        return state[0] - peak * (1 - 1e-9)

    full.terminal = True  # type: ignore[attr-defined]
    path = solve_ivp(
        slope, (0, 1e6), [trough, 0, 0, 0], events=full, rtol=1e-9, atol=1e-9, max_step=0.5
    )
    seconds, (_, sent, queue, delay) = path.t[-1], path.y[:, -1]
    return Fluid(sent / seconds / capacity, queue / seconds, delay / sent, sent)


def htcp(w: float, t: float, rtt: float) -> float:
    """2 (1 - beta) alpha at beta = 0.8 and 100 ms; the time counts."""
    del w, rtt
    late = max(0.0, t - 1)
    return 0.4 * (1 + 10 * late + late**2 / 4)


def highspeed(w: float, _t: float, _rtt: float) -> float:
    """RFC 3649 sec. 5."""
    b, p = highspeed_decrease(w), exp(log(w / 38) / log(83000 / 38) * log(1e-4) + log(1e-3))
    return max(1.0, w * w * p * 2 * b / (2 - b))


def highspeed_decrease(w: float) -> float:
    """RFC 3649 sec. 5."""
    return 0.5 - 0.4 * log(w / 38) / log(83000 / 38)


def cubic_slope(peak: float) -> Callable[[float, float, float], float]:
    """RFC 9438 sec. 4.2: dW/dt R."""
    plateau = cbrt(0.3 * peak / 0.4)
    return lambda _w, t, rtt: (1.2 * (t - plateau) ** 2 + 1e-9) * rtt


@pytest.mark.parametrize("limit", [5, 60, 200, 900])
@pytest.mark.parametrize(
    ("control", "parameters", "error"),
    [
        ("reno", "", 1e-6),
        ("aimd", "increase = 3, decrease = 0.2", 1e-6),
        ("scalable", "", 1e-6),
        ("highspeed", "", 1e-5),
        ("cubic", "fast_convergence = false", 2e-3),
        ("htcp", "adaptive_backoff = false", 2e-3),
    ],
)
def test_agrees_with_the_fluid_integrated_over_time(
    control: str, parameters: str, error: float, limit: float
) -> None:
    """Laws that count time are stepped, 200 times a cycle."""
    peak = 625.0 + limit
    growth: Callable[[float, float, float], float]
    growth, decrease = {
        "reno": (lambda _w, _t, _r: 1.0, 0.5),
        "aimd": (lambda _w, _t, _r: 3.0, 0.2),
        "scalable": (lambda w, _t, _r: 0.01 * w, 0.125),
        "highspeed": (highspeed, highspeed_decrease(peak)),
        "cubic": (cubic_slope(peak), 0.3),
        # 2 (1 - 0.5) alpha where the backoff is 0.5.
        "htcp": (lambda w, t, r: 2.5 * htcp(w, t, r), 0.5),
    }[control]
    expected = fluid(growth, (1 - decrease) * peak, peak, 625)
    found = cycle(flows_of(control, parameters), limit)
    assert found.utilization == pytest.approx(expected.utilization, rel=error)
    assert found.utilization_min == pytest.approx(min(1, (1 - decrease) * peak / 625))
    assert found.queue_packets_mean == pytest.approx(expected.queue, rel=20 * error, abs=1e-4)
    assert found.queue_delay_s_mean == pytest.approx(expected.delay_s, rel=20 * error, abs=1e-6)
    assert found.packets == pytest.approx(expected.packets, rel=5 * error)


@settings(PROFILE, max_examples=25)
@given(st.floats(0, 5), st.floats(0.05, 0.6))
def test_agrees_with_the_closed_forms(buffer: float, decrease: float) -> None:
    aimd = cycle(flows_of("aimd", f"decrease = {decrease}", bdp=1e4), 1e4 * buffer)
    assert aimd.utilization == pytest.approx(model.aimd_utilization(buffer, decrease), abs=1e-9)
    mimd = cycle(flows_of("scalable", f"decrease = {decrease}", bdp=1e4), 1e4 * buffer)
    assert mimd.utilization == pytest.approx(model.mimd_utilization(buffer, decrease), abs=1e-9)
    cubic = cycle(
        flows_of("cubic", f"beta = {1 - decrease}, fast_convergence = false", bdp=1e6),
        1e6 * buffer,
    )
    closed = cubic_utilization(buffer, 1 - decrease)
    assert cubic.utilization == pytest.approx(closed, abs=1e-4)


@pytest.mark.parametrize(("limit", "mean"), [(1250, 0.916), (2500, 0.962)])
def test_ten_highspeed_flows_at_a_gigabit(limit: float, mean: float) -> None:
    """Barman's first setting, 12,500 packets of 1 KB: b(1600) is 0.31.

    The mean is that of a straight sawtooth with this b; growth is faster near the peak, and at 1600
    packets b is a little less than at 1375 and more than at 1500.
    """
    flows = flows_of("highspeed", count=10, bdp=12_500)
    assert model.aimd_utilization(limit / 12_500, 0.31) == pytest.approx(mean, abs=1e-3)
    assert cycle(flows, limit).utilization == pytest.approx(mean, abs=0.015)


CONTROLS = st.sampled_from(
    ["reno", "aimd", "scalable", "highspeed", "cubic", "bic", "htcp", "fhstcp"]
)


@PROFILE
@given(CONTROLS, st.integers(1, 40), st.floats(0, 5000), st.floats(1, 1.5), st.floats(5, 2e4))
def test_predictions_are_in_range_and_rise_with_the_buffer(
    control: str, count: int, limit: float, factor: float, bdp: float
) -> None:
    flows = flows_of(control, count=count, bdp=bdp)
    less, more = cycle(flows, limit), cycle(flows, factor * limit + 1)
    for found in (less, more):
        assert 0 < found.utilization <= 1
        assert 0 < found.utilization_min <= found.utilization + 1e-9
        assert found.lost_packets > 0
        assert found.packets > 0
    assert 0 <= less.queue_packets_mean <= limit
    # Stepped laws are that close to their own curve.
    assert more.utilization >= less.utilization - 2e-3
    assert more.queue_packets_mean >= less.queue_packets_mean - 1e-3 * (limit + 1)


@pytest.mark.parametrize("control", ["reno", "scalable", "highspeed", "cubic", "bic", "htcp"])
def test_the_required_limit_is_the_inverse_of_the_prediction(control: str) -> None:
    link = bottleneck(scenario(100, long_flows(control)))
    required = model.predict(link, TARGET).required_packets
    assert required is not None
    at, below = (
        model.predict(link.with_limit(limit), TARGET).utilization
        for limit in (required, required - 1)
    )
    assert at is not None
    assert below is not None
    assert at >= 0.98 - 1e-9 > below
    details = model.predict(link, TARGET).details
    full = details["limit_for_full_utilization_packets"]
    assert model.predict(link.with_limit(full), TARGET).details["minimum_utilization_fraction"] == 1
    assert (
        model.predict(link.with_limit(full - 1), TARGET).details["minimum_utilization_fraction"] < 1
    )


@dataclass(frozen=True)
class Simulated:
    """A flow over a link, 100 ms long, and how far it may be from the model."""

    control: str
    limit: int
    utilization: float = 0.006
    queue: float = 0.1
    """Relative, and 4 packets: bursts, in which the growth of a round trip comes at once."""
    loss: float = 0.2
    rate: str = "50 Mbit/s"


@pytest.mark.parametrize(
    "case",
    [
        # 140 s are eight to ten cycles over 250 packets of BDP, of 3 or 4 losses fewer or more.
        Simulated("reno", 25, utilization=0.01, loss=inf, rate="20 Mbit/s"),
        Simulated("reno", 120, utilization=0.01, loss=inf, rate="20 Mbit/s"),
        Simulated("scalable", 20),
        Simulated("scalable", 62),
        Simulated("highspeed", 62),
        Simulated("highspeed", 156),
        Simulated("cubic", 62),
        Simulated("cubic", 156),
        Simulated("bic", 156),
    ],
    ids=lambda case: f"{case.control}-{case.limit}",
)
def test_a_simulated_flow_does_what_the_model_says(case: Simulated, tmp_path: Path) -> None:
    text = scenario(case.limit, long_flows(case.control), rate=case.rate)
    file = tmp_path / "scenario.toml"
    file.write_text(text, encoding="utf-8")
    simulated = tr.run(file).links["link"]
    predicted = model.predict(bottleneck(text), TARGET)
    assert simulated["utilization"] == pytest.approx(predicted.utilization, abs=case.utilization)
    assert simulated["queue_packets_mean"] == pytest.approx(
        predicted.queue_packets_mean, rel=case.queue, abs=4
    )
    if case.loss < inf:
        assert simulated["loss_fraction"] == pytest.approx(predicted.loss_fraction, rel=case.loss)


def test_more_flows_than_packets_keep_the_queue_within_its_limit() -> None:
    found = cycle(flows_of("reno", count=1_000_000), 20)
    assert found.utilization == 1
    assert found.queue_packets_mean == pytest.approx(20)
    assert found.queue_delay_s_mean == pytest.approx(20 / 6250)


def test_what_does_not_apply_is_named() -> None:
    nobody = bottleneck(scenario(10, uncontrolled("1 Mbit/s")))
    with pytest.raises(NotApplicableError, match="no permanent flow"):
        model.predict(nobody, TARGET)
    other = long_flows("cubic").replace("flows.flows", "flows.others")
    mixed = bottleneck(scenario(10, long_flows("reno"), other))
    with pytest.raises(NotApplicableError, match="cubic, reno"):
        model.predict(mixed, TARGET)
    other = long_flows("cubic", parameters="beta = 0.8").replace("flows.flows", "flows.others")
    with pytest.raises(NotApplicableError, match="different parameters"):
        model.predict(bottleneck(scenario(10, long_flows("cubic"), other)), TARGET)
    with pytest.raises(NotApplicableError, match="fast"):
        model.predict(bottleneck(scenario(10, long_flows("fast"))), TARGET)


def test_assumptions_that_fail_say_what_there_is() -> None:
    spread = long_flows("reno", 2, rtt='{ from = "50 ms", to = "150 ms" }')
    link = bottleneck(scenario(10, spread, uncontrolled("5 Mbit/s"), rate="1 Mbit/s"))
    failed = {one.statement: one.found for one in model.assumptions(link) if not one.holds}
    assert failed["one flow, or all reduce together"] == "2 flows"
    assert failed["flows have one RTT"] == "50 to 150 ms; their mean is taken"
    assert "stream" in failed["nothing else crosses the link"]
    alone = bottleneck(scenario(100, long_flows("reno")))
    assert all(one.holds for one in model.assumptions(alone))
