"""The sawtooth alongside other traffic, against the fluid of both and simulated flows."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

import tailroom as tr
from tailroom.errors import NotApplicableError
from tailroom.models import Requirement
from tailroom.models.sawtooth import residual_sawtooth as model
from tailroom.models.sawtooth import sawtooth
from tests.models.links import bottleneck, long_flows, scenario, uncontrolled

TARGET = Requirement()


def reno_next_to(load: float, limit: float) -> float:
    """Utilization of 6250 packets/s by one Reno flow and a smooth load, by Runge and Kutta.

    The queue itself is integrated: it grows by what arrives beyond the rate, and the flow's packets
    leave in proportion to their part of it, so w / RTT is what the flow sends.
    """
    capacity, rtt_s = 6250.0, 0.1

    def slope(_t: float, state: list[float]) -> list[float]:
        w = state[0]
        free = w / rtt_s + load * capacity
        # In order of arrival w = (1 - load) (C T + Q) packets of the flow are under way.
        queue = max(0.0, w / (1 - load) - capacity * rtt_s) if free > capacity else 0.0
        round_trip = rtt_s + queue / capacity
        return [1 / round_trip, w / round_trip + load * capacity]

    peak = (1 - load) * (capacity * rtt_s + limit)

    def full(_t: float, state: list[float]) -> float:
        return state[0] - peak

    full.terminal = True  # type: ignore[attr-defined]
    path = solve_ivp(slope, (0, 1e6), [peak / 2, 0], events=full, rtol=1e-9, max_step=1.0)
    return float(path.y[1, -1] / path.t[-1] / capacity)


@pytest.mark.parametrize("load", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("limit", [20, 200, 625])
def test_agrees_with_the_fluid_integrated_over_time(load: float, limit: float) -> None:
    link = bottleneck(scenario(limit, long_flows("reno"), uncontrolled(f"{50 * load} Mbit/s")))
    found = model.predict(link, TARGET).utilization
    assert found == pytest.approx(reno_next_to(load, limit), abs=1e-6)


@pytest.mark.parametrize(("limit", "flows"), [(100, 0.85), (312, 0.965), (625, 1.0)])
def test_a_simulated_flow_next_to_a_smooth_load(limit: int, flows: float, tmp_path: Path) -> None:
    """Half of 50 Mbit/s: with half a bandwidth-delay product the link is not full."""
    text = scenario(limit, long_flows("reno"), uncontrolled("25 Mbit/s"), duration="260 s")
    file = tmp_path / "scenario.toml"
    file.write_text(text, encoding="utf-8")
    simulated = tr.run(file).links["link"]
    predicted = model.predict(bottleneck(text), TARGET)
    assert predicted.details["flows_utilization_fraction"] == pytest.approx(flows, abs=2e-3)
    assert simulated["utilization"] == pytest.approx(predicted.utilization, abs=6e-3)
    assert simulated["queue_packets_mean"] == pytest.approx(
        predicted.queue_packets_mean, rel=0.1, abs=3
    )


def test_fair_queueing_needs_the_residual_product_only(tmp_path: Path) -> None:
    """312 packets fill the link when the other traffic does not stand in them."""
    text = scenario(
        320, long_flows("reno"), uncontrolled("25 Mbit/s"), kind="fair", duration="260 s"
    )
    predicted = model.predict(bottleneck(text), TARGET)
    assert predicted.utilization == 1
    file = tmp_path / "scenario.toml"
    file.write_text(text, encoding="utf-8")
    assert tr.run(file).links["link"]["utilization"] == pytest.approx(1, abs=3e-3)


def test_next_to_no_load_is_the_sawtooth() -> None:
    with_stream = bottleneck(scenario(100, long_flows("reno"), uncontrolled("1 kbit/s")))
    alone = bottleneck(scenario(100, long_flows("reno")))
    assert model.predict(with_stream, TARGET).utilization == pytest.approx(
        sawtooth.predict(alone, TARGET).utilization, abs=1e-4
    )


@settings(derandomize=True, deadline=None, max_examples=30)
@given(
    st.sampled_from(["reno", "scalable", "highspeed", "cubic"]),
    st.floats(0.01, 0.99),
    st.integers(1, 2000),
    st.integers(1, 500),
)
def test_predictions_are_in_range_and_rise_with_the_buffer(
    control: str, load: float, limit: int, more: int
) -> None:
    link = bottleneck(scenario(limit, long_flows(control), uncontrolled(f"{50 * load:.6f} Mbit/s")))
    less, larger = (model.predict(one, TARGET) for one in (link, link.with_limit(limit + more)))
    assert less.utilization is not None
    assert larger.utilization is not None
    assert load - 1e-6 <= less.utilization <= larger.utilization + 1e-3 <= 1 + 1e-3
    required = less.required_packets
    assert required is not None
    met = model.predict(link.with_limit(required), TARGET).utilization
    assert met is not None
    assert met >= 0.98


def test_what_does_not_apply_is_named() -> None:
    with pytest.raises(NotApplicableError, match="to themselves"):
        model.predict(bottleneck(scenario(10, long_flows("reno"))), TARGET)
    full = bottleneck(scenario(10, long_flows("reno"), uncontrolled("60 Mbit/s")))
    with pytest.raises(NotApplicableError, match=r"1\.2 of its rate"):
        model.predict(full, TARGET)


def test_a_load_that_is_not_smooth_is_found() -> None:
    link = bottleneck(scenario(50, long_flows("reno"), uncontrolled("25 Mbit/s", "poisson")))
    failed = {one.statement: one.found for one in model.assumptions(link) if not one.holds}
    assert failed == {"the other traffic is smooth": "stream is poisson"}


def test_assumes_the_order_of_the_queue_and_nothing_about_the_size_of_packets() -> None:
    """Other traffic counts by its rate alone; in a fair queue nothing needs to be DropTail."""
    flows, other = long_flows("reno"), uncontrolled("25 Mbit/s")
    fifo = {one.statement for one in model.assumptions(bottleneck(scenario(50, flows, other)))}
    fair = bottleneck(scenario(50, flows, other, kind="fair"))
    assert fifo - {one.statement for one in model.assumptions(fair)} == {"the buffer is DropTail"}
    assert "packets have one size" not in fifo
    red = bottleneck(scenario(50, flows, other, kind="red"))
    assert "the buffer is DropTail" in {
        one.statement for one in model.assumptions(red) if not one.holds
    }
