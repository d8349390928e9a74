import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tailroom.errors import NotApplicableError
from tailroom.models import MODELS, Bottleneck, Requirement
from tailroom.models.rules.burst_cliff import CONTROLS, MODEL, edge_packets, utilization
from tests.models.links import FIXED, failed, flows, link

HELD_OUT = Path(__file__).with_name("burst_cliff_held_out.csv")
WINDOW_CONTROLS = ("reno", "highspeed", "cubic")


def made(
    control: str = "reno", count: int = 10, limit: float = 100, bdp: float = 5000, **hosts: Any
) -> Bottleneck:
    """Flows of one control that do not differ."""
    return link(flows(count, congestion=control, **hosts), bdp=bdp, limit=limit)


def held_out() -> list[tuple[Bottleneck, float]]:
    """Simulations at settings that no constant was fitted to."""
    with HELD_OUT.open(encoding="utf-8") as lines:
        rows = list(csv.DictReader(lines))
    points = []
    for row in rows:
        size, rtt_s = int(row["packet_bytes"]), float(row["rtt_ms"]) / 1e3
        hosts = flows(
            int(row["flows"]),
            rtt_s,
            row["congestion"],
            pacing=row["pacing"] == "true",
            send_burst=int(row["send_burst"]),
        )
        at = link(hosts, limit=float(row["limit_packets"]))
        at = replace(at, packet_bytes=size, rate_bps=1e9 * float(row["rate_gbps"]))
        points.append((at, float(row["utilization"])))
    return points


def test_most_held_out_simulations_are_within_5_points() -> None:
    """Rates of 1 to 100 Gbit/s, 2 to 100 flows; the fit had 1 and 10 Gbit/s, up to 30 flows."""
    errors = [abs(utilization(at, at.limit_packets) - measured) for at, measured in held_out()]
    assert len(errors) > 300
    assert np.mean(np.array(errors) <= 0.05) > 0.85
    assert np.median(errors) < 0.02


@pytest.mark.parametrize(("pacing", "measured"), [(False, 0.198), (True, 0.844)])
def test_gives_the_utilization_of_barman_s_figure_3_at_1_percent(
    pacing: bool, measured: float
) -> None:
    """Ten HighSpeed flows, 1 Gbit/s, 120 ms, 125 packets; simulated in docs/papers."""
    at = made("highspeed", 10, limit=124, bdp=15_000, pacing=pacing)
    assert utilization(at, 124) == pytest.approx(measured, abs=0.05)


def test_windows_in_trains_follow_the_formula_by_hand() -> None:
    """B' = 20, W = (400 * 9000 / 9)^(1/3) + 2.5 = 76.2; y = 0.0846; the full pipe has
    1 - 0.33 / 10^0.18 exp(-40 / 1080) = 0.790 with bursts as long as the buffer."""
    at = made("reno", 10, limit=40, bdp=9000, send_burst=40)
    assert utilization(at, 40) == pytest.approx(0.790 * 0.0843, abs=5e-4)


def test_edge_follows_the_formula_by_hand() -> None:
    """0.127 * 10,240 / 1024^(1/5) + 2 * 10^(2/5) = 325.1 + 5.02 packets."""
    assert edge_packets(CONTROLS["reno"], 10_240, 10, 2) == pytest.approx(330.1, abs=0.1)


@pytest.mark.parametrize("control", WINDOW_CONTROLS)
def test_one_flow_is_a_sawtooth_once_the_burst_of_its_host_fits(control: str) -> None:
    target = Requirement()
    at = made(control, 1, limit=50, send_burst=44)
    assert utilization(at, 50) == MODELS["sawtooth"].predict(at, target).utilization
    assert utilization(at, 20) < 0.02


@pytest.mark.parametrize("control", CONTROLS)
def test_a_buffer_of_many_bdp_fills_the_link(control: str) -> None:
    assert utilization(made(control), 1e6) == pytest.approx(1, abs=1e-3)


@FIXED
@given(
    control=st.sampled_from([*CONTROLS]),
    count=st.integers(2, 100),
    bdp=st.floats(100, 1e6),
    hosts=st.fixed_dictionaries({"send_burst": st.integers(1, 64), "pacing": st.booleans()}),
    limits=st.lists(st.floats(1, 1e6), min_size=2, max_size=8),
)
def test_a_larger_buffer_never_lowers_the_utilization(
    control: str, count: int, bdp: float, hosts: dict[str, Any], limits: list[float]
) -> None:
    at = made(control, count, bdp=bdp, **hosts)
    found = [utilization(at, limit) for limit in sorted(limits)]
    assert all(0 <= one <= 1 for one in found)
    assert np.all(np.diff(found) >= -1e-9)


@FIXED
@given(
    control=st.sampled_from(WINDOW_CONTROLS),
    limit=st.floats(1, 1e4),
    bursts=st.tuples(*[st.integers(1, 64)] * 2),
)
def test_longer_bursts_never_raise_the_utilization(
    control: str, limit: float, bursts: tuple[int, int]
) -> None:
    short, long = (utilization(made(control, send_burst=burst), limit) for burst in sorted(bursts))
    assert long <= short + 1e-12


@pytest.mark.parametrize("control", CONTROLS)
def test_required_limit_is_the_smallest_with_the_target(control: str) -> None:
    at = made(control)
    need = MODEL.predict(at, Requirement(utilization=0.9)).required_packets
    assert need is not None
    assert utilization(at, need) >= 0.9 > utilization(at, need - 1)


def test_bbr_sends_at_the_rate_whose_millisecond_the_buffer_holds() -> None:
    """3 flows, 277.8 packets/ms together: 11 packets are 1 ms at 0.12 of the rate per flow."""
    hosts = flows(3, 0.01, "bbr3")
    at = replace(link(hosts, limit=11), rate_bps=1e9, packet_bytes=1500.0)
    assert utilization(at, 11) == pytest.approx(11 / (1e9 / 12_000 / 3 * 1e-3), abs=0.1)


def test_flows_of_several_controls_and_of_other_controls_are_refused() -> None:
    with pytest.raises(NotApplicableError, match="bbr3, reno"):
        MODEL.predict(link(flows(3), flows(3, congestion="bbr3")), Requirement())
    with pytest.raises(NotApplicableError, match="vegas"):
        MODEL.predict(link(flows(3, congestion="vegas")), Requirement())


def test_some_paced_flows_among_others_are_refused() -> None:
    with pytest.raises(NotApplicableError, match="some flows are paced"):
        MODEL.predict(link(flows(3), flows(3, pacing=True)), Requirement())


def test_names_the_assumptions_that_fail() -> None:
    at = link(flows(200, access_rate_bps=1e6), bdp=1000, limit=10)
    statements = " ".join(failed(MODEL.assumptions(at)))
    for words in ("round trips differ", "packets", "flows as in the fit", "access links"):
        assert words in statements
