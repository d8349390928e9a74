"""The fluid model: integration, queues, fixed points, margins, and one simulation."""

from collections.abc import Callable
from dataclasses import replace
from math import exp, factorial, isnan, log, pi, sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.special import lambertw

import tailroom as tr
from tailroom.errors import NotApplicableError
from tailroom.models import MODELS, Bottleneck, Requirement
from tailroom.models.bottleneck import FlowClass
from tailroom.models.fluid import fluid
from tailroom.models.fluid.equations import MOST_CLASSES, Equations, merged
from tailroom.models.fluid.integration import integrate
from tailroom.models.fluid.queues import DropTail, queue_of
from tailroom.models.fluid.stability import Complex, Linear, dominant_root, linearised, margins
from tailroom.models.window_laws import law_of
from tailroom.models.window_laws.window_law import Floats
from tests.models.links import bottleneck, long_flows, scenario, uncontrolled

# --- Integration -------------------------------------------------------------------------------


class OneDelay:
    """dx/dt = -x(t - delay)."""

    def __init__(self, delay_s: float) -> None:
        self.delay = np.array([delay_s])

    def signals(self, state: Floats) -> Floats:
        return state

    def delays(self, _state: Floats) -> Floats:
        return self.delay

    def slope(self, _state: Floats, heard: Floats) -> Floats:
        return -heard

    def bounded(self, state: Floats) -> Floats:
        return state


def by_steps(time: float) -> float:
    """The solution for delay 1 and x = 1 before, from one delay to the next: polynomials."""
    terms = range(1, int(time) + 2)
    return 1 + sum((-1.0) ** k * (time - (k - 1)) ** k / factorial(k) for k in terms)


def test_follows_the_exact_solution_with_an_error_of_second_order() -> None:
    ones = np.ones(1)
    errors = []
    for steps in (160, 320):
        path = integrate(OneDelay(1.0), ones, ones, 8 / steps, steps)
        exact = np.array([by_steps(time) for time in path.times_s[:-1]])
        errors.append(np.abs(path.states[:-1, 0] - exact).max())
    assert errors[0] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)


@pytest.mark.parametrize(("delay", "grows"), [(0.95 * pi / 2, False), (1.05 * pi / 2, True)])
def test_a_pure_delay_is_stable_up_to_a_quarter_turn(delay: float, grows: bool) -> None:
    ones = np.ones(1)
    path = integrate(OneDelay(delay), ones, ones, delay / 40, 8000)
    size = np.abs(path.states[:, 0])
    assert (size[4000:].max() > 10 * size[:4000].max()) == grows
    assert (size[4000:].max() < 0.1 * size[:4000].max()) != grows


@pytest.mark.parametrize("delay", [0.2, 1.0, 1.5, 1.7, 4.0])
def test_dominant_root_of_a_pure_delay_is_that_of_lambert(delay: float) -> None:
    """s = -e^(-s delay), so that s delay = W(-delay)."""
    one = np.ones((1, 1))
    linear = Linear(0 * one, -one, one, np.array([delay]), *(np.zeros(1) for _ in range(3)))
    expected = complex(lambertw(-delay)) / delay
    assert dominant_root(linear) == pytest.approx(expected, abs=1e-9)


# --- DropTail ----------------------------------------------------------------------------------


@pytest.mark.parametrize("places", [1, 7, 626])
@pytest.mark.parametrize("load", [0.2, 0.9, 1.0, 1.1, 5.0])
def test_drop_tail_at_rest_is_the_birth_death_chain(places: int, load: float) -> None:
    logs = np.arange(places + 1) * log(load)
    shares = np.exp(logs - logs.max())
    shares /= shares.sum()
    content = float(shares @ np.arange(places + 1))
    queue = DropTail(1000.0, places)
    assert queue.probability([content]) == pytest.approx(shares[-1], rel=5e-3, abs=1e-12)
    assert queue.busy(content) == pytest.approx(1 - shares[0], rel=2e-3)
    waiting = shares[1:] @ np.arange(places)
    assert queue.waiting(content) == pytest.approx(waiting, rel=5e-3, abs=2e-3)


def test_drop_tail_fills_about_as_fast_as_the_chain() -> None:
    """Mean of M/M/1/K after the load rises from 0.5 to 1.2, from the chain's own equations."""
    rate, places = 100.0, 20
    grid = np.arange(places + 1)

    def chain(_time: float, shares: Floats) -> Floats:
        flow = 1.2 * rate * shares[:-1] - rate * shares[1:]
        return np.concatenate([-flow[:1], flow[:-1] - flow[1:], flow[-1:]])

    start = 0.5**grid / (0.5**grid).sum()
    times = np.linspace(0, 3, 301)
    exact = solve_ivp(chain, (0, 3), start, t_eval=times, rtol=1e-8, atol=1e-10).y.T @ grid
    queue = DropTail(rate, places)
    content = [float(start @ grid)]
    for _ in times[1:]:
        entering = 1.2 * rate * (1 - queue.probability([content[-1]]))
        content.append(content[-1] + 0.01 * queue.slope([content[-1]], entering, 0.0)[0])
    # Wang, Tipper and Banerjee show errors of this size for such a step.
    assert np.abs(np.array(content) - exact).max() < 0.1 * exact[-1]
    assert content[-1] == pytest.approx(exact[-1], rel=0.02)


def mean_gap(chance: Callable[[int], float]) -> float:
    """Mean number of the packet that is dropped, from the chance of each after the last drop."""
    mean, left = 0.0, 1.0
    for number in range(1, 100_000):
        mean += left
        left *= 1 - min(1.0, chance(number))
        if left < 1e-12:
            break
    return mean


def test_drops_are_as_frequent_as_the_gaps_of_red_and_pie_make_them() -> None:
    """Floyd and Jacobson 1993: p / (1 - count p), with `wait` 2 for 1 from a count of 1/p on; RFC
    8033 sec. 5.4: none before the probabilities sum to 0.85, then each with p, at 8.5 for sure."""
    p = 0.01
    flows = long_flows("reno", 40)
    given = 'min_threshold = "100 packets", max_threshold = "200 packets"'
    text = scenario(625, flows, kind="red").replace('"red"', f'"red", {given}')
    waiting = text.replace('"red"', '"red", wait = true')
    gaps = mean_gap(lambda number: p / (1 - number * p) if number * p < 1 else 1)
    longer = mean_gap(lambda n: 0 if n * p < 1 else p / (2 - n * p) if n * p < 2 else 1)
    for one, gap in ((text, gaps), (waiting, longer)):
        # p is 0.1 (average - 100) / 100
        found = queue_of(bottleneck(one)).probability([0.0, 110.0])
        assert found == pytest.approx(1 / gap, rel=0.03)
    pie = queue_of(bottleneck(scenario(625, flows, kind="pie")))
    certain = mean_gap(lambda n: 0 if n * p < 0.85 else p if n * p < 8.5 else 1)
    assert pie.probability([0.0, p]) == pytest.approx(1 / certain, rel=0.02)


# --- Fixed points ------------------------------------------------------------------------------

CAPACITY = 3750.0
"""Of Hollot et al.: 15 Mbit/s and packets of 500 bytes."""
SLOPE = 1.86e-4
"""Their L_RED; K is 0.005 below."""


def red(
    count: int = 60,
    slope: float = SLOPE,
    averaging_per_s: float = 0.005,
    rtt: str = '"200 ms"',
    more: str = 'ecn = "classic"',
) -> str:
    """Hollot et al.: Reno flows over RED that marks from 127 packets on, independently.

    Where the threshold lies, the mean queue of 60 flows makes their RTT 246 ms.
    """
    weight = 1 - exp(-averaging_per_s / CAPACITY)
    flows = long_flows("reno", count, rtt=rtt).replace("1000 B", "500 B")
    text = scenario(800, flows + more + "\n", rate="15 Mbit/s", kind="red", duration="120 s")
    given = f'min_threshold = "127 packets", max_threshold = "665 packets", max_p = {slope * 538!r}'
    return text.replace(
        'kind = "red"', f'kind = "red", {given}, weight = {weight!r}, uniform = false'
    )


def test_fixed_point_is_that_of_hollot_et_al() -> None:
    """They print W0 = 15, p0 = 0.008 and R0 = 0.246 s for N = 60."""
    equations = Equations(bottleneck(red()))
    rest = equations.rest()
    window, rtt = rest.state[0], equations.delays(rest.state)[0]
    assert rtt == pytest.approx(0.246, abs=5e-4)
    assert window == pytest.approx(0.246 * CAPACITY / 60, rel=3e-3)  # 15.375
    assert rest.probability == pytest.approx(2 / (0.246 * CAPACITY / 60) ** 2, rel=5e-3)


def test_trajectory_ends_where_algebra_says() -> None:
    """Reno: w = sqrt(2 / p), whatever the RTT; two RTTs share 625 packets a 100 ms."""
    near, far = long_flows("reno", 20, rtt='"60 ms"'), long_flows("reno", 30, rtt='"120 ms"')
    text = scenario(625, near, far.replace("flows.flows", "flows.far"), kind="red")
    text = text.replace(
        'kind = "red"',
        'kind = "red", min_threshold = "50 packets", max_threshold = "550 packets", '
        "uniform = false, max_p = 0.05, weight = 1e-5",
    )

    def excess(queue: float) -> float:
        p = 0.05 * (queue - 50) / 500
        rates = sum(n / (rtt + queue / 6250) for n, rtt in ((20, 0.06), (30, 0.12)))
        return rates * sqrt(2 / p) * (1 - p) - 6250

    queue = float(brentq(excess, 50.01, 625))
    path = fluid.trajectory(bottleneck(text), 60.0, windows=10.0)
    assert path.queue_packets[-1] == pytest.approx(queue, rel=1e-4)
    window = sqrt(2 / (0.05 * (queue - 50) / 500))
    assert path.windows[-1] == pytest.approx([window, window], rel=1e-4)
    said = MODELS["fluid"].predict(bottleneck(text), Requirement())
    assert said.queue_packets_mean == pytest.approx(queue, rel=1e-3)
    assert said.loss_fraction == pytest.approx(0.05 * (queue - 50) / 500, rel=1e-3)
    assert said.utilization == pytest.approx(1.0, abs=1e-6)
    assert said.queue_delay_s_mean == pytest.approx(queue / 6250, rel=1e-3)
    assert said.details["fixed_point_queue_packets"] == pytest.approx(queue, rel=1e-3)
    assert said.details["fixed_point_signal_fraction"] == pytest.approx(
        0.05 * (queue - 50) / 500, rel=1e-3
    )
    # The fixed point is smooth, so that its stability is known, and the trajectory ends at it.
    assert said.details["dominant_root_per_s"] < 0


def test_pie_rests_at_its_target() -> None:
    """15 ms of 6250 packets a second, and p = 2 / w^2 with the RTT that makes."""
    link = bottleneck(scenario(625, long_flows("reno", 80), kind="pie"))
    path = fluid.trajectory(link, 60.0)
    assert path.queue_packets[-1] == pytest.approx(93.75, rel=1e-3)
    lost = brentq(lambda p: 80 * sqrt(2 / p) / 0.115 * (1 - p) - 6250, 1e-4, 0.5)
    assert path.lost_pps[-1] / path.arriving_pps[-1] == pytest.approx(lost, rel=1e-3)
    rest = Equations(link).rest()
    assert rest.state[1] == pytest.approx(93.75, rel=1e-6)
    assert rest.probability == pytest.approx(lost, rel=1e-3)


@pytest.mark.parametrize("control", ["cubic", "bic", "htcp"])
def test_growth_by_time_is_averaged_to_the_response_function(control: str) -> None:
    link = bottleneck(scenario(2000, long_flows(control, 8), rate="200 Mbit/s"))
    equations = Equations(link)
    rest = equations.rest()
    rtt = equations.delays(rest.state)[0]
    expected = law_of(link.classes[0]).window(rest.probability, rtt)
    assert rest.state[0] == pytest.approx(float(expected), rel=2e-3)


def test_highspeed_balances_its_own_increase_and_decrease() -> None:
    """RFC 3649: a(w) = 2 w^2 b p / (2 - b), so that a / (b w^2) at rest is 2 p(w) / (2 - b)."""
    link = bottleneck(scenario(2000, long_flows("highspeed", 5), rate="400 Mbit/s"))
    rest = Equations(link).rest()
    window = rest.state[0]
    y = log(window / 38) / log(83000 / 38)
    p, b = 1e-3 * 1e-4**y, 0.5 - 0.4 * y
    assert rest.probability == pytest.approx(2 * p / (2 - b), rel=2e-3)


@pytest.mark.parametrize("kind", ["red", "pie"])
def test_too_many_flows_fill_the_buffer(kind: str) -> None:
    """Windows that are halved every round trip hold 2 packets, more than there is room for."""
    said = MODELS["fluid"].predict(
        bottleneck(scenario(20, long_flows("reno", 5000), kind=kind)), Requirement()
    )
    assert said.utilization == pytest.approx(1.0, abs=1e-3)
    assert said.loss_fraction is not None
    assert said.queue_packets_mean is not None
    # Round trips of 100 ms and of a full buffer, 20 packets, at 6250 packets a second.
    kept = 6250 * 0.1032 / (5000 * 2)
    assert said.details["fixed_point_signal_fraction"] == pytest.approx(1 - kept, rel=2e-3)
    assert said.loss_fraction == pytest.approx(1 - kept, rel=2e-3)
    assert said.queue_packets_mean <= 20


# --- Stability ---------------------------------------------------------------------------------


def near_rest(text: str) -> tuple[Equations, Linear]:
    equations = Equations(bottleneck(text))
    return equations, linearised(equations, equations.rest())


def published_loop(frequencies: Floats, count: int, rtt: float, pole: float) -> Complex:
    """L(s) of Hollot et al. 2001, with the RTT at rest."""
    s = 1j * frequencies
    dc = SLOPE * (rtt * CAPACITY) ** 3 / (2 * count) ** 2
    lags = (1 + s / pole) * (1 + s * rtt**2 * CAPACITY / (2 * count)) * (1 + s * rtt)
    loop: Complex = dc * np.exp(-s * rtt) / lags
    return loop


@pytest.mark.parametrize("pole", [0.005, 0.375, 3.75])
@pytest.mark.parametrize("count", [30, 60, 100])
def test_loop_is_that_of_hollot_et_al(count: int, pole: float) -> None:
    """Exact for slow changes; theirs takes w(t - R) for w(t), which matters little elsewhere."""
    _, linear = near_rest(red(count, averaging_per_s=pole))
    rtt = float(linear.delays_s[0])
    grid = np.geomspace(1e-3, 30, 20_000)
    theirs, ours = published_loop(grid, count, rtt, pole), linear.loop_gain(grid)
    slow = grid < 0.053  # their w_g, 0.1 min(2 N / (R^2 C), 1 / R)
    assert np.abs(ours[slow] / theirs[slow] - 1).max() < 1e-3
    turn = np.argmax(-np.unwrap(np.angle(theirs)) > pi)
    assert margins(linear, dominant_root(linear).real < 0).gain == pytest.approx(
        1 / abs(theirs[turn]), rel=0.06
    )


@pytest.mark.parametrize("gain", [0.5, 1.0, 2.0])
def test_margins_of_an_integrator_with_a_delay_are_those_of_textbooks(gain: float) -> None:
    """K e^(-s T) / s crosses 1 at w = K, where its phase is -90 degrees - K T."""
    one, none = np.ones((1, 1)), np.zeros((1, 1))
    linear = Linear(none, -gain * one, one, one[0], one[0], none[0], one[0])
    stable = dominant_root(linear).real < 0
    assert stable == (gain < pi / 2)
    found = margins(linear, stable)
    assert found.phase_degrees == pytest.approx(90 - gain * 180 / pi, abs=0.1)
    assert found.gain == pytest.approx(pi / 2 / gain, rel=1e-3)


def test_two_classes_of_equal_flows_have_the_stability_of_one() -> None:
    """Their RTTs differ by a billionth, which keeps the classes apart."""
    link = bottleneck(red(40, averaging_per_s=0.4))
    flows = link.classes[0]
    halves = [replace(flows, count=20, rtt_s=flows.rtt_s * factor) for factor in (1, 1 + 1e-9)]
    found = []
    for classes in ((flows,), tuple(halves)):
        equations = Equations(replace(link, classes=classes))
        linear = linearised(equations, equations.rest())
        root = dominant_root(linear)
        margin = margins(linear, root.real < 0)
        found.append([root.real, root.imag, margin.gain, margin.phase_degrees])
    assert found[1] == pytest.approx(found[0], rel=1e-4)


def test_their_design_meets_their_condition_and_is_stable() -> None:
    """L (R C)^3 / (2 N)^2 <= sqrt((w_g / K)^2 + 1), for N of 60 and more, R of 0.246 s and less."""
    corner = 0.1 * min(2 * 60 / (0.246**2 * CAPACITY), 1 / 0.246)
    gain = SLOPE * (0.246 * CAPACITY) ** 3 / 120**2
    assert gain <= sqrt((corner / 0.005) ** 2 + 1)
    for count, rtt in ((60, '"200 ms"'), (80, '"150 ms"'), (100, '"100 ms"')):
        assert dominant_root(near_rest(red(count, rtt=rtt))[1]).real < 0


def deviation(text: str, part: float) -> Floats:
    """Peaks of the queue's distance from rest, after a small push."""
    equations = Equations(bottleneck(text))
    rest = equations.rest()
    start, size = rest.state.copy(), len(equations.counts)
    start[:size] *= part
    equations.step_s = equations.delays(rest.state)[0] / 16
    before = equations.signals(rest.state)[:size]
    path = integrate(equations, start, before, equations.step_s, 4000)
    return np.column_stack([path.times_s, path.states[:, size] - rest.state[size]])


@pytest.mark.parametrize(("factor", "grows"), [(0.8, False), (1.25, True)])
def test_trajectory_grows_or_dies_at_the_rate_of_the_dominant_root(
    factor: float, grows: bool
) -> None:
    def rate(slope: float) -> float:
        return dominant_root(near_rest(red(40, slope, 0.4))[1]).real

    border = float(brentq(rate, 0.3 * SLOPE, 3 * SLOPE, xtol=1e-8))
    text = red(40, factor * border, 0.4)
    root = dominant_root(near_rest(text)[1])
    assert (root.real > 0) == grows
    times, off = deviation(text, 0.9999).T
    peaks = np.flatnonzero((off[1:-1] > off[:-2]) & (off[1:-1] > off[2:]) & (off[1:-1] > 1e-7)) + 1
    late = peaks[(times[peaks] > 8) & (times[peaks] < 40)]
    found = np.polyfit(times[late], np.log(off[late]), 1)[0]
    assert found == pytest.approx(root.real, rel=0.05)
    assert 1 / np.diff(times[late]).mean() == pytest.approx(root.imag / (2 * pi), rel=0.02)


@pytest.mark.parametrize("text", [red(40, averaging_per_s=0.4), red(60, averaging_per_s=4.0)])
def test_gain_margin_is_where_the_dominant_root_changes_sides(text: str) -> None:
    linear = near_rest(text)[1]
    margin = margins(linear, dominant_root(linear).real < 0).gain

    def amplified(factor: float) -> Linear:
        more = (factor - 1) * linear.probability
        return replace(
            linear,
            now=linear.now + np.outer(linear.by_probability, more),
            sent=linear.sent + np.outer(linear.sent_by_probability, more),
        )

    assert dominant_root(amplified(0.99 * margin)).real < 0
    assert dominant_root(amplified(1.01 * margin)).real > 0


def test_small_buffer_is_stable_up_to_the_border_of_raina_and_wischik() -> None:
    """A queue that is always at rest loses p(x) = M/M/1/K at load x, with elasticity e = x p' / p.

    Around w = sqrt(2 / p): dw' = -(dw + (1 + e) dw(t - R)) / (w R). A root s = i v / R needs
    cos v = -1 / (1 + e) and w v = (1 + e) sin v; for large e that is e / w = pi / 2.
    """
    places, rtt, count = 25, 0.1, 400

    def loss(load: float) -> float:
        return float(load**places * (1 - load) / (1 - load ** (places + 1)))

    def elasticity(load: float) -> float:
        return 1e4 * (log(loss(load * 1.00005)) - log(loss(load * 0.99995)))

    def beyond_border(load: float) -> float:
        more = 1 + elasticity(load)
        turn = np.arccos(-1 / more)
        return float(more * np.sin(turn) / turn) - sqrt(2 / loss(load))

    load = float(brentq(beyond_border, 0.5, 0.99))
    window = sqrt(2 / loss(load))
    assert elasticity(load) / window == pytest.approx(pi / 2, rel=0.1)

    def root(factor: float) -> float:
        bits = 8000 * count * factor * window / rtt / load
        flows = long_flows("reno", count, rtt=f'"{rtt * 1e3:g} ms"')
        return dominant_root(
            near_rest(scenario(places - 1, flows, rate=f"{bits:.0f} bit/s"))[1]
        ).real

    # Larger windows at a faster link are stable, smaller ones are not.
    assert root(1.05) < 0 < root(0.95)


def test_halving_the_step_quarters_the_error() -> None:
    """Of a smooth stretch: windows that grow towards rest from half of it."""
    link = bottleneck(red(60, averaging_per_s=0.4))
    ends = []
    for parts in (4, 8, 16, 64):
        path = fluid.trajectory(link, 20.0, windows=14.0, step_s=0.2 / parts)
        ends.append(np.array([path.windows[-1, 0], path.queue_packets[-1]]))
    errors = [np.abs(end - ends[-1]) for end in ends[:-1]]
    assert np.all(errors[2] < 2e-3 * ends[-1])
    assert np.all(errors[0] / errors[1] > 2.5)
    assert np.all(errors[1] / errors[2] > 2.5)


# --- The model ---------------------------------------------------------------------------------


def test_mean_queue_of_sixty_flows_over_red_is_that_of_the_simulation(tmp_path: Path) -> None:
    """RTTs of 180 to 220 ms. Five seeds give 162 to 165 packets, the model 173: w = 1.31 / sqrt(p)
    under independent losses is less than the fluid's 1.41 / sqrt(p).
    """
    text = red(60, averaging_per_s=0.375, rtt='{ from = "180 ms", to = "220 ms" }')
    said = MODELS["fluid"].predict(bottleneck(text), Requirement())
    path = tmp_path / "red.toml"
    path.write_text(text)
    found = tr.run(path).links["link"]
    assert said.queue_packets_mean == pytest.approx(found["queue_packets_mean"], rel=0.1)
    assert said.utilization == pytest.approx(found["utilization"], abs=0.01)


def test_classes_are_merged_by_near_rtts_and_never_across_controls() -> None:
    one = bottleneck(scenario(100, long_flows("reno"))).classes[0]
    many = [replace(one, rtt_s=0.01 * 1.02**number, count=2) for number in range(100)]
    other = [replace(one, congestion="cubic", rtt_s=0.01)]
    found = merged((*many, *other))
    assert len(found) == MOST_CLASSES
    assert [one.count for one in found if one.congestion == "cubic"] == [1]
    assert sum(one.count for one in found) == 201
    total = sum(one.count * one.rtt_s for one in found if one.congestion == "reno")
    assert total == pytest.approx(sum(2 * one.rtt_s for one in many))
    assert len(merged((one, one))) == 1


def test_more_controls_than_classes_remain_a_class_each() -> None:
    one = bottleneck(scenario(100, long_flows("aimd"))).classes[0]
    kinds = [
        replace(one, parameters={"increase": 1.0 + number, "decrease": 0.5})
        for number in range(MOST_CLASSES + 5)
    ]
    found = merged((*kinds, replace(kinds[0], rtt_s=2 * one.rtt_s)))
    assert len(found) == MOST_CLASSES + 5
    assert [flow_class.count for flow_class in found] == [2] + [1] * (MOST_CLASSES + 4)
    assert found[0].rtt_s == pytest.approx(1.5 * one.rtt_s)


def test_other_traffic_takes_its_share() -> None:
    link = bottleneck(scenario(625, long_flows("reno", 40), uncontrolled("20 Mbit/s"), kind="red"))
    rest = Equations(link).rest()
    p = rest.probability
    rate = 40 * rest.state[0] / (0.1 + rest.state[1] / 6250)
    assert (rate + 2500) * (1 - p) == pytest.approx(6250, rel=1e-6)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (scenario(625, long_flows("reno", 5), kind="codel"), "codel"),
        (scenario(625, long_flows("vegas", 5)), "vegas"),
        (scenario(625, uncontrolled("20 Mbit/s")), "no permanent flow"),
        (scenario(625, long_flows("reno", 5), uncontrolled("60 Mbit/s")), "1.2 of its rate"),
        (
            scenario(625, long_flows("dctcp", 5) + 'ecn = "accurate"\n', kind="red"),
            "the share of marks",
        ),
    ],
)
def test_says_why_it_does_not_apply(text: str, why: str) -> None:
    with pytest.raises(NotApplicableError, match=why):
        MODELS["fluid"].predict(bottleneck(text), Requirement())


def test_assumptions_name_what_is_averaged_and_how_few_flows_there_are() -> None:
    link = bottleneck(scenario(625, long_flows("cubic", 3)))
    failing = {
        one.statement: one.found for one in MODELS["fluid"].assumptions(link) if not one.holds
    }
    assert failing["there are many flows"] == "3 flows"
    assert failing["growth depends on the window alone"].startswith("cubic")
    reno = bottleneck(scenario(625, long_flows("reno", 40)))
    assert all(one.holds for one in MODELS["fluid"].assumptions(reno))


BASE = bottleneck(scenario(625, long_flows("reno", 1)))
RED = bottleneck(scenario(625, long_flows("reno", 1), kind="red"))
PIE = bottleneck(scenario(625, long_flows("reno", 1), kind="pie"))
CONTROLS = [
    bottleneck(scenario(625, long_flows(name))).classes[0] for name in ("reno", "cubic", "scalable")
]


@settings(derandomize=True, deadline=None, max_examples=30)
@given(
    link=st.sampled_from([BASE, RED, PIE]),
    limit=st.one_of(st.just(0.0), st.floats(1, 1e5)),
    flows=st.lists(
        st.tuples(st.sampled_from(CONTROLS), st.integers(1, 10_000), st.floats(1e-4, 1.0)),
        min_size=1,
        max_size=4,
    ),
)
def test_predictions_are_in_range(
    link: Bottleneck, limit: float, flows: list[tuple[FlowClass, int, float]]
) -> None:
    classes = tuple(replace(one, count=count, rtt_s=rtt) for one, count, rtt in flows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fluid, "STEPS", 100)
        said = fluid.predict(replace(link.with_limit(limit), classes=classes), Requirement())
    most = limit + 1e-5
    ranges = (
        (said.utilization, 1.0),
        (said.loss_fraction, 1.0),
        (said.queue_packets_mean, most),
        (said.queue_delay_s_mean, most / link.capacity_pps),
    )
    for value, largest in ranges:
        assert value is not None
        assert 0 <= value <= largest
    assert not any(isnan(value) for value in said.details.values())
    margin = said.details.get("gain_margin_ratio", 1.0)
    if abs(margin - 1) > 0.02:
        assert (margin > 1) == (said.details["dominant_root_per_s"] < 0)
