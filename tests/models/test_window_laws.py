"""Window laws against discrete recursions, published tables and other derivations of them."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import cbrt, exp, log, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq

from tailroom.errors import NotApplicableError
from tailroom.models.bottleneck import FlowClass
from tailroom.models.window_laws import (
    LAWS,
    cubic,
    dctcp,
    fhstcp,
    highspeed,
    law_of,
    pftk,
    scalable,
)

DEFAULTS: dict[str, dict[str, Any]] = {
    "reno": {},
    "aimd": {"increase": 1.0, "decrease": 0.5},
    "highspeed": {},
    "fhstcp": {"c": 10.0},
    "scalable": {
        "increase": 0.01,
        "decrease": 0.125,
        "legacy_window": 16.0,
        "variant": "kelly",
    },
    "cubic": {"c": 0.4, "beta": 0.7, "fast_convergence": True},
    "bic": {
        "low_window": 14.0,
        "max_increment": 16.0,
        "search_divisor": 4.0,
        "smooth_part": 20.0,
        "decrease": 205 / 1024,
        "fast_convergence": True,
    },
    "htcp": {"low_speed_period": "1 s", "rtt_scaling": True, "adaptive_backoff": True},
    "dctcp": {},
}


def flows(control: str, rtt_s: float = 0.1, **parameters: Any) -> FlowClass:
    """One flow with this control, its defaults and these parameters."""
    given_parameters = {**DEFAULTS.get(control, {}), **parameters}
    return FlowClass("flows", 1, rtt_s, control, given_parameters, 1000)


def window(control: str, p: float, rtt_s: float = 0.1, **parameters: Any) -> float:
    """The law's mean window."""
    return float(law_of(flows(control, rtt_s, **parameters)).window(p, rtt_s))


@dataclass(frozen=True)
class Recursion:
    """A flow, packet by packet, that loses every so-many-th one.

    Each packet takes RTT / w of the time. The growth within a round trip is thus spread evenly over
    it; a flow that steps once a round trip differs by about half a step, a / (2 w) of the window.
    """

    per_packet: Callable[[float, float, float], float]
    """Growth by a packet, at window w, so long after a loss at the window `peak`."""
    left: Callable[[float], float]
    """Window after a loss."""
    packets: int
    rtt_s: float = 0.1

    def mean_window(self) -> float:
        """Of a cycle that repeats itself to 1e-5."""
        w = peak = sqrt(self.packets)
        for _ in range(1000):
            seconds = 0.0
            for _ in range(self.packets):
                w += self.per_packet(w, peak, seconds)
                seconds += self.rtt_s / w
            last, peak, w = peak, w, self.left(w)
            if abs(peak - last) < 1e-5 * peak:
                return self.packets * self.rtt_s / seconds
        raise AssertionError("the cycle does not settle")


def rfc3649(w: float) -> tuple[float, float]:
    """a(w) and b(w), written down from the RFC's sec. 5."""
    if w <= 38:
        return 1.0, 0.5
    y = (log(w) - log(38)) / (log(83000) - log(38))
    b = (0.1 - 0.5) * y + 0.5
    p = exp(y * (log(1e-7) - log(1e-3)) + log(1e-3))
    return max(1.0, w * w * p * 2 * b / (2 - b)), b


def bic_growth(w: float, peak: float, _elapsed: float) -> float:
    """Per packet: a quarter of the way a round trip, 16 packets at most, slowly at the end."""
    if w <= 14:
        return 1 / w
    step = (peak - w) / 4
    if step < 2:
        return (4 / 20 if w - peak < 4 else (w - peak) / 3) / w
    return min(step, 16.0) / w


def htcp_growth(rtt_s: float) -> Callable[[float, float, float], float]:
    """Per packet: 2 (1 - beta) alpha with beta = 0.8, alpha scaled by RTT / 100 ms."""

    def growth(w: float, _peak: float, elapsed: float) -> float:
        excess = max(0.0, elapsed - 1)
        scale = min(max(rtt_s / 0.1, 0.1), 2.0)
        return 0.4 * max(1.0, scale * (1 + 10 * excess + excess**2 / 4)) / w

    return growth


@pytest.mark.parametrize(
    ("control", "parameters", "flow", "error"),
    [
        ("reno", {}, Recursion(lambda w, _p, _t: 1 / w, lambda w: w / 2, 10_000), 1e-3),
        (
            "aimd",
            {"increase": 2.0, "decrease": 0.3},
            Recursion(lambda w, _p, _t: 2 / w, lambda w: 0.7 * w, 10_000),
            2e-3,
        ),
        ("scalable", {}, Recursion(lambda _w, _p, _t: 0.01, lambda w: 0.875 * w, 5_000), 1e-3),
        (
            "scalable",
            {"increase": 0.02, "decrease": 0.25},
            Recursion(lambda _w, _p, _t: 0.02, lambda w: 0.75 * w, 5_000),
            1e-3,
        ),
        (
            "scalable",
            {"increase": 0.001},  # far slower than Reno, which it is up to 16 packets
            Recursion(lambda w, _p, _t: 1 / w if w <= 16 else 1e-3, lambda w: 0.875 * w, 8_000),
            2e-3,
        ),
        ("bic", {}, Recursion(bic_growth, lambda w: w * 819 / 1024, 1_000), 2e-3),
        ("bic", {}, Recursion(bic_growth, lambda w: w * 819 / 1024, 10_000), 2e-3),
        ("htcp", {}, Recursion(htcp_growth(0.1), lambda w: 0.8 * w, 8_000), 2e-3),
        ("htcp", {}, Recursion(htcp_growth(0.03), lambda w: 0.8 * w, 8_000, 0.03), 2e-3),
        ("htcp", {}, Recursion(htcp_growth(0.3), lambda w: 0.8 * w, 8_000, 0.3), 5e-3),
    ],
)
def test_agrees_with_a_flow_simulated_packet_by_packet(
    control: str, parameters: dict[str, Any], flow: Recursion, error: float
) -> None:
    """The growth of one packet, 1 / packets of the cycle, is the discretisation's error."""
    found = window(control, 1 / flow.packets, flow.rtt_s, **parameters)
    assert found == pytest.approx(flow.mean_window(), rel=error)


@pytest.mark.parametrize("rtt_s", [0.02, 0.1])
def test_cubic_agrees_with_a_flow_simulated_packet_by_packet(rtt_s: float) -> None:
    """From 0.7 of 2000 packets along RFC 9438's W_cubic until the next 2000: one cycle.

    A flow that loses every so-many-th packet hardly finds back to this cycle, as it is flat there.
    """
    peak, w, seconds, packets = 2000.0, 1400.0, 0.0, 0
    plateau = cbrt(0.3 * peak / 0.4)
    while seconds < plateau:
        seconds += rtt_s / w
        packets += 1
        w = 0.4 * (seconds - plateau) ** 3 + peak
    assert window("cubic", 1 / packets, rtt_s) == pytest.approx(packets * rtt_s / seconds, rel=1e-4)


@pytest.mark.parametrize("packets", [2_000, 20_000])
def test_the_fluid_of_highspeed_agrees_with_a_flow_simulated_packet_by_packet(
    packets: int,
) -> None:
    flow = Recursion(
        lambda w, _p, _t: rfc3649(w)[0] / w, lambda w: (1 - rfc3649(w)[1]) * w, packets
    )
    expected = flow.mean_window()
    found = float(highspeed.mean_window(1 / packets, form="fluid"))
    assert found == pytest.approx(expected, rel=2e-3)
    # RFC 3649 sec. 5 derives a(w) from the mean of a linear sawtooth: 3 % from the truth.
    assert float(highspeed.mean_window(1 / packets)) == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize(("c", "rtt_s"), [(10.0, 0.05), (20.0, 0.1)])
def test_fhstcp_agrees_with_a_flow_simulated_packet_by_packet(c: float, rtt_s: float) -> None:
    flow = Recursion(
        lambda w, _p, _t: c * rtt_s * rfc3649(w)[0] / w,
        lambda w: (1 - rfc3649(w)[1]) * w,
        8_000,
        rtt_s,
    )
    law = fhstcp.law(flows("fhstcp", c=c), "fluid")
    found = float(law.window(1 / 8_000, rtt_s))
    assert found == pytest.approx(flow.mean_window(), rel=2e-3)


def test_dctcp_agrees_with_a_flow_simulated_round_trip_by_round_trip() -> None:
    """All packets of the round trip above 10,000 packets are marked; alpha settles by itself.

    A cycle has 71 round trips, of which the marked one does not let the window grow, unlike Eq. 6;
    that is 1.4 % of alpha and twice that of the window. A small gain keeps alpha near its mean.
    """
    w, alpha, sent, marked, rounds = 9_900.0, 0.014, 0.0, 0.0, 0
    for number in range(100_000):
        is_above = w > 10_000
        alpha += ((1.0 if is_above else 0.0) - alpha) / 2048
        if number > 20_000:
            sent, marked, rounds = sent + w, marked + w * is_above, rounds + 1
        w = w * (1 - alpha / 2) if is_above else w + 1
    share = marked / sent
    # Eq. 6 to first order: alpha = sqrt(2 / W).
    assert share == pytest.approx(sqrt(2 / 10_000), rel=0.02)
    assert float(dctcp.mean_window(share)) == pytest.approx(sent / rounds, rel=0.04)


def test_dctcp_solves_equation_6() -> None:
    for share in (0.01, 0.1, 0.5, 1.0):
        peak = float(dctcp.mean_window(share)) / (1 - share / 4)
        threshold = peak - 1
        assert (2 * threshold + 1) / peak**2 == pytest.approx(share**2 * (1 - share / 4))


@pytest.mark.parametrize(
    ("p", "printed"),
    [(1e-2, 12), (1e-3, 38), (1e-4, 263), (1e-5, 1795), (1e-6, 12279), (1e-7, 83981)],
)
def test_highspeed_is_the_table_of_rfc_3649(p: float, printed: float) -> None:
    """Sec. 5's table is of the rounded 0.12 / p^0.835, up to 1.5 % above the formula."""
    assert window("highspeed", p) == pytest.approx(printed, rel=0.021)
    if p < 1e-3:
        assert 0.12 / p**0.835 == pytest.approx(printed, abs=0.6)


@pytest.mark.parametrize(
    ("w", "a", "b"),
    [
        (118, 2.0945, 0.44105),
        (1058, 8.3137, 0.32695),
        (10661, 30.938, 0.20676),
        (83000, 72.516, 0.1),
    ],
)
def test_highspeed_increases_and_decreases_as_ns2(w: float, a: float, b: float) -> None:
    """ns-2's formulas, which compute low_p as 1.5 / 38^2."""
    constants = highspeed.Constants(low_p=1.5 / 38**2)
    assert float(constants.increase(w)) == pytest.approx(a, rel=1e-4)
    assert float(constants.decrease(w)) == pytest.approx(b, abs=1e-5)


@pytest.mark.parametrize(("b", "factor"), [(0.5, 0.727), (0.33, 0.826), (0.2, 0.897), (0.1, 0.949)])
def test_the_factor_that_barmans_last_form_drops(b: float, factor: float) -> None:
    assert float(highspeed.mean_over_peak(b, highspeed.DEFAULTS)) == pytest.approx(factor, abs=5e-4)


@pytest.mark.parametrize("high_p", [1e-4, 1e-6, 1e-12])
def test_mean_over_peak_is_packets_over_round_trips_of_a_cycle(high_p: float) -> None:
    """dw / dt is as w^(2 - q) / R: packets are the integral of w^(q - 1), round trips of w^(q - 2).

    The exponent q is 0.3, 0.9 and 2.7 here.
    """
    constants = highspeed.Constants(high_p=high_p)
    q = log(1e-3 / high_p) / log(83_000 / 38)
    packets, rounds = (quad(lambda w, n=n: w ** (q - n), 0.6, 1.0)[0] for n in (1, 2))
    found = float(highspeed.mean_over_peak(0.4, constants))
    assert found == pytest.approx(packets / rounds, rel=1e-9)


def test_highspeed_that_never_grows_faster_than_reno_has_one_kink_less() -> None:
    """a(w) rises as w^2 p(w) (RFC 3649 sec. 5), which falls when p falls faster than 1 / w^2."""
    constants = highspeed.Constants(high_window=1000.0)
    assert float(constants.increase(np.geomspace(38, 1e6, 100)).max()) == 1.0
    at, leaves_one, *_ = highspeed.kinks_of(constants)
    assert at == leaves_one == 38.0


@pytest.mark.parametrize("p", [1e-4, 1e-5, 1e-7])
def test_the_corrected_form_is_packets_over_time_of_barmans_equation(p: float) -> None:
    """lambda = N_d / T_d, with w_p read as the mean window, as Eq. 3 does.

    From a loss to the next one, dw/dt = 2 b_h w^2 p(w) / (R (2 - b_h)) from (1 - b(P)) P to P, by
    Runge and Kutta.
    """
    rtt = 0.12
    peak: float = 38 * (p / 1e-3) ** (log(83000 / 38) / log(1e-4))

    def slope(_t: float, state: list[float]) -> list[float]:
        w = state[0]
        at_w = 1e-3 * (w / 38) ** (log(1e-4) / log(83000 / 38))
        return [2 * 0.1 * w**2 * at_w / (rtt * 1.9), w / rtt]

    def at_peak(_t: float, state: list[float]) -> float:
        return state[0] - peak

    at_peak.terminal = True  # type: ignore[attr-defined]
    start = [(1 - rfc3649(peak)[1]) * peak, 0.0]
    path = solve_ivp(slope, (0, 1e7), start, events=at_peak, rtol=1e-11, atol=1e-9)
    rate = path.y_events[0][0][1] / path.t_events[0][0]
    found = float(highspeed.rate_pps(p, rtt, form="corrected"))
    assert found == pytest.approx(rate, rel=1e-7)


@pytest.mark.parametrize("p", [0.3, 1e-3, 9e-4, 1e-4, 1e-5, 1e-7])
def test_the_fluid_of_highspeed_by_another_quadrature(p: float) -> None:
    """Peak by Brent's method, integrals by QUADPACK, to 1e-9."""

    def growth(w: float) -> float:
        return rfc3649(w)[0]

    def left(peak: float) -> float:
        return (1 - rfc3649(peak)[1]) * peak

    def integral(power: int, peak: float) -> float:
        edges = sorted({left(peak), peak, *(x for x in (38.0, 40.244038855765) if x < peak)})
        edges = [x for x in edges if x >= left(peak)]
        return float(
            sum(
                quad(lambda w: w**power / growth(w), a, b, epsrel=1e-12, epsabs=0)[0]
                for a, b in pairwise(edges)
            )
        )

    peak = brentq(lambda w: integral(1, w) * p - 1, 1.0, 2e5, xtol=1e-11, rtol=1e-13)
    expected = integral(1, peak) / integral(0, peak)
    found = float(highspeed.mean_window(p, form="fluid"))
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("c", "rtt_s", "printed"),
    [
        (0.04, 0.1, {1e-6: 3332, 1e-7: 18740, 1e-8: 105383}),
        (0.4, 0.1, {1e-4: 187, 1e-5: 1054, 1e-6: 5926, 1e-7: 33325, 1e-8: 187400}),
        (0.4, 0.01, {1e-7: 5926, 1e-8: 33325}),
        (4.0, 0.01, {1e-6: 1874, 1e-7: 10538, 1e-8: 59261}),
    ],
)
def test_cubic_is_the_tables_of_rfc_8312(
    c: float, rtt_s: float, printed: dict[float, float]
) -> None:
    """Tables 1 and 2, where the cubic is above standard TCP."""
    for p, packets in printed.items():
        assert float(cubic.mean_window(p, rtt_s, c, 0.7)) == pytest.approx(packets, abs=0.6)


@pytest.mark.parametrize("form", ["response", "corrected", "fluid"])
@pytest.mark.parametrize("low_p", [1e-3, 1.5 / 38**2, 2e-3])
def test_highspeed_is_continuous_at_low_window(form: highspeed.Form, low_p: float) -> None:
    constants = highspeed.Constants(low_p=low_p)
    p = np.geomspace(3e-4, 3e-3, 4_001)
    logarithm = np.log(highspeed.mean_window(p, constants, form))
    assert np.all(np.diff(logarithm) < 0)
    # The step of the grid is 5.8e-4; where a(w) leaps, the window falls with the 4.3rd power.
    assert np.max(-np.diff(logarithm)) < 2.6e-3
    # Far from low_window Reno.
    reno_window = highspeed.mean_window(0.1, constants, form)
    assert float(reno_window) == pytest.approx(sqrt(15), rel=1e-9)


CONTROLS = st.sampled_from(sorted(LAWS))
LOSS = st.floats(1e-9, 0.9)
PROFILE = settings(derandomize=True, deadline=None, max_examples=80)


@PROFILE
@given(CONTROLS, LOSS, st.floats(1.001, 3.0), st.floats(1e-3, 0.5))
def test_windows_fall_with_loss(control: str, p: float, factor: float, rtt_s: float) -> None:
    law = law_of(flows(control, rtt_s))
    less, more = law.window(np.array([p, min(1.0, factor * p)]), rtt_s)
    assert less > more or less == more == 1
    assert more >= 1


@PROFILE
@given(CONTROLS, LOSS, st.floats(1e-3, 0.5))
def test_windows_are_continuous_in_loss(control: str, p: float, rtt_s: float) -> None:
    law = law_of(flows(control, rtt_s))
    here, there = law.window(np.array([p, p * (1 + 1e-7)]), rtt_s)
    # DCTCP, the steepest, falls with 1 / p^2.
    assert abs(log(here / there)) < 3e-7


@PROFILE
@given(
    st.floats(0.05, 0.5),
    st.floats(1e-4, 2e-3),
    st.sampled_from(["response", "corrected", "fluid"]),
    LOSS,
)
def test_highspeed_falls_with_loss_for_other_parameters(
    decrease: float, low_p: float, form: highspeed.Form, p: float
) -> None:
    constants = highspeed.Constants(low_p=low_p, high_decrease=decrease)
    less, more = highspeed.mean_window(np.array([p, 1.01 * p]), constants, form)
    assert less > more


def test_arrays_and_numbers_give_the_same() -> None:
    p = np.array([[1e-2, 1e-4], [1e-5, 1e-6]])
    for control in LAWS:
        law = law_of(flows(control))
        found = law.window(p, 0.1)
        assert found.shape == p.shape
        for index in np.ndindex(p.shape):
            assert float(law.window(float(p[index]), 0.1)) == pytest.approx(found[index], rel=1e-12)


def test_the_scenario_sets_a_laws_parameters() -> None:
    """By closed forms written down anew."""
    assert window("cubic", 1e-6, beta=0.8) == pytest.approx(
        (0.4 * 3.8 / 0.8) ** 0.25 * (0.1 / 1e-6) ** 0.75
    )
    assert window("aimd", 1e-4, increase=0.5, decrease=0.2) == pytest.approx(
        sqrt(0.5 * 1.8 / 0.4 / 1e-4)
    )
    assert window("scalable", 1e-5, decrease=0.25) == pytest.approx(1000 / log(4 / 3))
    assert window("highspeed", 1e-5, high_window=10_000.0, high_p=1e-5) == pytest.approx(10_000)
    table = window("highspeed", 1e-5, high_window=10_000.0, high_p=1e-5, increase="table")
    assert table == pytest.approx(window("highspeed", 1e-5))
    assert window("htcp", 1e-6, adaptive_backoff=False) != window("htcp", 1e-6)
    assert window("htcp", 1e-5, low_speed_period="500 ms") > window("htcp", 1e-5)
    assert window("bic", 1e-6, max_increment=32.0) > window("bic", 1e-6)


def test_small_windows_are_renos() -> None:
    for control in ("highspeed", "cubic", "scalable", "bic"):
        assert window(control, 0.05) == pytest.approx(sqrt(1.5 / 0.05), rel=1e-9)
    # The variant decreases small windows by an eighth as well: AIMD(1, 1/8).
    assert window("scalable", 0.05, variant="linux") == pytest.approx(sqrt(7.5 / 0.05))
    assert float(scalable.steep_window(1e-5)) == pytest.approx(1000 / log(8 / 7))


@pytest.mark.parametrize(
    "control",
    [
        "bbr1",
        "bbr3",
        "dcqcn",
        "fast",
        "fixed_window",
        "ledbat",
        "packet_pair",
        "stepped",
        "swift",
        "timely",
        "vegas",
        "westwood",
    ],
)
def test_a_control_without_a_law_is_named(control: str) -> None:
    with pytest.raises(NotApplicableError, match=f"{control}.*group flows"):
        law_of(flows(control))


def test_highspeed_without_a_fluid_is_refused() -> None:
    """With p nearly the same at all windows, larger windows do not have longer cycles."""
    steep = flows("highspeed", low_p=1e-3, high_p=9.9e-4)
    with pytest.raises(NotApplicableError, match=r"high_p = 0\.00099"):
        highspeed.law(steep, "fluid")
    assert float(highspeed.law(flows("highspeed"), "fluid").window(1e-5, 0.1)) > 1500


def test_a_large_low_window_keeps_scalable_and_refuses_bic() -> None:
    """Scalable at 300 packets is three times as fast as Reno, so it takes over at once."""
    assert window("scalable", 1e-4, legacy_window=300.0) == pytest.approx(100 / log(8 / 7))
    assert window("scalable", 1e-2, legacy_window=300.0) == pytest.approx(sqrt(150))
    assert window("scalable", 1e-4, legacy_window=0.0) == pytest.approx(100 / log(8 / 7))
    with pytest.raises(NotApplicableError, match="low_window = 1000"):
        law_of(flows("bic", low_window=1000.0))


def test_timeouts_of_padhye_by_summing_their_cases() -> None:
    """Q sums over the packets before the loss; fewer than three duplicate ACKs time out."""
    for p, w in ((0.01, 20), (0.05, 8), (0.2, 5)):
        keeps = 1 - p
        total = 0.0
        for before in range(w):
            chance = keeps**before * p / (1 - keeps**w)
            few = sum(keeps**m * p for m in range(3)) if before >= 3 else 1.0
            total += chance * few
        assert float(pftk.timeout_probability(p, w)) == pytest.approx(total, rel=1e-12)
    assert float(pftk.timeout_probability(0.3, 2)) == 1


def padhye_by_chance(p: float, rtt_s: float, rto_s: float, per_ack: int) -> float:
    """Their process itself: rounds, trains of losses, timeouts in a row; no slow start."""
    random = np.random.default_rng(7)
    w, packets, seconds = 10.0, 0.0, 0.0
    for _ in range(20_000):
        before = int(random.geometric(p)) - 1
        sent = 0
        while sent + int(w) <= before:
            sent += max(1, int(w))
            w += 1 / per_ack
            seconds += rtt_s
        kept = before - sent
        # The rest of the round is lost; the packets that the kept ones release go out in one more.
        packets += sent + max(1, int(w)) + kept
        seconds += 2 * rtt_s
        duplicates = int(random.geometric(p)) - 1
        if kept < 3 or duplicates < 3:
            timeouts = int(random.geometric(1 - p))
            packets += timeouts
            seconds += rto_s * (2 ** min(timeouts, 6) - 1 + 64 * max(0, timeouts - 6))
        w = max(1.0, w / 2)
    return packets / seconds


@pytest.mark.parametrize(("p", "error"), [(0.002, 0.04), (0.005, 0.03), (0.02, 0.12)])
@pytest.mark.parametrize("per_ack", [1, 2])
def test_padhye_agrees_with_their_process_drawn_at_random(
    p: float, error: float, per_ack: int
) -> None:
    """20,000 losses: the standard error is below 1 %.

    The formula takes the timeouts of the mean window for the mean of the timeouts, and so lies the
    higher the more there are.
    """
    expected = padhye_by_chance(p, 0.1, 0.5, per_ack)
    assert float(pftk.rate_pps(p, 0.1, 0.5, per_ack)) == pytest.approx(expected, rel=error)


def test_padhyes_trains_of_timeouts_by_summing_them() -> None:
    """At W_max of 1 every loss times out, and only the train's length is left: f(p) / (1 - p)."""
    p, rto = 0.1, 2.0
    length = sum(
        p ** (k - 1) * (1 - p) * rto * (2 ** min(k, 6) - 1 + 64 * max(0, k - 6))
        for k in range(1, 200)
    )
    packets = (1 - p) / p + 1 + 1 / (1 - p)
    # A round trip of next to nothing leaves the timeouts.
    assert float(pftk.rate_pps(p, 1e-9, rto, max_window=1)) == pytest.approx(
        packets / length, rel=1e-6
    )


def test_padhye_without_timeouts_is_the_square_root() -> None:
    for per_ack in (1, 2):
        expected = sqrt(1.5 / (per_ack * 1e-8)) / 0.1
        assert float(pftk.rate_pps(1e-8, 0.1, 0.2, per_ack)) == pytest.approx(expected, rel=1e-3)


def test_padhyes_bounded_window_fills_every_round_trip() -> None:
    assert float(pftk.rate_pps(1e-9, 0.1, 0.5, max_window=20)) == pytest.approx(200, rel=1e-3)
    law = pftk.law(0.5, max_window=20)
    assert float(law.window(1e-9, 0.1)) == pytest.approx(20, rel=1e-3)
