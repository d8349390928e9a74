"""What a model reads of a scenario."""

from collections.abc import Callable
from math import exp, gamma
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import special, stats

import tailroom as tr
from tailroom.models import Bottleneck, read_bottleneck
from tailroom.models.bottleneck import DynamicFlows
from tailroom.scenario.scenario import Scenario

MIXED = """\
duration = "10 s"

[defaults]
host = "plain"

[links.wide]
rate = "1 Gbit/s"
delay = "1 ms"
queue = { kind = "drop_tail", limit = "100 packets" }

[links.narrow]
rate = "100 Mbit/s"
delay = "10 ms"

[links.narrow.queue]
kind = "red"
limit = "50 ms"
min_threshold = "20 packets"
max_threshold = "60 packets"

[flows.long]
count = 4
path = ["wide", "narrow"]
rtt = { from = "40 ms", to = "100 ms" }
congestion = { kind = "aimd", increase = 2.0 }
packet_size = "1000 B"

[flows.same]
count = 1000
path = ["narrow"]
rtt = "50 ms"
congestion = { kind = "reno" }
access_rate = "10 Mbit/s"
packet_size = "1000 B"

[flows.background]
count = 5
path = ["narrow"]
rtt = "30 ms"
source = { kind = "poisson", rate = "2 Mbit/s" }
packet_size = "500 B"

[flows.short]
path = ["narrow"]
rtt = "60 ms"
congestion = { kind = "reno" }
source = { kind = "finite_flows", arrivals_per_second = 10, size = "98600 B" }
packet_size = "1500 B"
header_size = "40 B"
"""


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    path = tmp_path / "mixed.toml"
    path.write_text(MIXED, encoding="utf-8")
    return path


@pytest.fixture
def narrow(mixed: Path) -> Bottleneck:
    return read_bottleneck(Scenario.of(mixed, {}))


def test_the_slowest_link_is_looked_at_unless_another_is_named(mixed: Path) -> None:
    rule = ["rule_of_thumb"]
    assert tr.predict(mixed, models=rule).link.name == "narrow"
    wide = tr.predict(mixed, models=rule, link="wide").link
    assert (wide.name, wide.flow_count, wide.other_links) == ("wide", 4, ("narrow",))
    with pytest.raises(tr.ScenarioError, match="no link 'wid'; did you mean wide"):
        tr.predict(mixed, link="wid")


def test_flows_that_do_not_differ_are_one_class(narrow: Bottleneck) -> None:
    assert [(one.count, round(one.rtt_s, 3)) for one in narrow.classes] == [
        (1, 0.04),
        (1, 0.06),
        (1, 0.08),
        (1, 0.1),
        (1000, 0.05),
    ]
    assert narrow.classes[0].parameters["increase"] == 2.0
    assert narrow.classes[-1].access_rate_bps == 10e6
    assert narrow.flow_count == 1004


def test_amounts_are_packets_whatever_their_unit(narrow: Bottleneck) -> None:
    # 50 ms at 100 Mbit/s are 625,000 bytes; packets of the controlled flows have 1000 bytes.
    assert narrow.amounts_packets["limit"] == 625
    assert narrow.amounts_packets["min_threshold"] == 20
    assert narrow.system_packets == 626
    assert narrow.capacity_pps == 12_500
    assert narrow.with_limit(10).limit_packets == 10


def test_loads_count_every_flow_with_its_headers(narrow: Bottleneck) -> None:
    assert narrow.stream_load == pytest.approx(5 * 2e6 / 100e6)
    # 98,600 B are 67.5 packets of 1460 B payload, so 68 packets with a header of 40 B each.
    assert narrow.dynamic[0].wire_bytes_mean == pytest.approx(98_600 + 68 * 40)
    assert narrow.dynamic_load == pytest.approx(10 * 8 * (98_600 + 68 * 40) / 100e6)


def test_the_bdp_is_capacity_times_mean_round_trip(narrow: Bottleneck) -> None:
    mean_rtt_s = (0.04 + 0.06 + 0.08 + 0.1 + 1000 * 0.05) / 1004
    assert narrow.mean_rtt_s == pytest.approx(mean_rtt_s)
    assert narrow.bdp_packets == pytest.approx(12_500 * mean_rtt_s)


PASSING = """\
duration = "10 s"

[defaults]
host = "plain"

[links.only]
rate = "1 Gbit/s"
delay = "10 ms"
queue = { kind = "fair", limit = "1000 packets" }

[flows.short]
path = ["only"]
rtt = "20 ms"
congestion = { kind = "reno" }
source = { kind = "finite_flows", load = 0.9, size = %s }
packet_size = "1500 B"
header_size = "40 B"
"""
PAYLOAD, HEADER = 1460, 40

Exceeds = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def dynamic_of(path: Path, size: str, seed: int) -> DynamicFlows:
    path.write_text(PASSING % size, encoding="utf-8")
    return read_bottleneck(Scenario.of(path, {}), seed=seed).dynamic[0]


def bounded_pareto(shape: float, least: float, most: float) -> Exceeds:
    """P(X > x), from least on."""
    floor = (least / most) ** shape
    return lambda x: np.clip(((least / np.maximum(x, least)) ** shape - floor) / (1 - floor), 0, 1)


LOGNORMAL_MEDIAN = 100e3 * exp(-(1.5**2) / 2)
WEIBULL_SCALE = 100e3 / gamma(1 + 1 / 0.5)
BRUTE_FORCE: dict[str, Exceeds] = {
    '{ kind = "uniform", from = "1 kB", to = "199 kB" }': stats.uniform(1e3, 198e3).sf,
    '{ kind = "exponential", mean = "100 kB" }': stats.expon(scale=100e3).sf,
    '{ kind = "lognormal", mean = "100 kB", sigma = 1.5 }': stats.lognorm(
        1.5, scale=LOGNORMAL_MEDIAN
    ).sf,
    '{ kind = "bounded_pareto", shape = 1.1, min = "1 kB", max = "1 GB" }': bounded_pareto(
        1.1, 1e3, 1e9
    ),
    '{ kind = "weibull", mean = "100 kB", shape = 0.5 }': stats.weibull_min(
        0.5, scale=WEIBULL_SCALE
    ).sf,
}


@pytest.mark.parametrize("size", BRUTE_FORCE)
def test_headers_are_those_of_the_mean_number_of_packets(tmp_path: Path, size: str) -> None:
    # The mean of a whole number is the sum of the probabilities to exceed 0, 1, 2, ...
    packets = BRUTE_FORCE[size](PAYLOAD * np.arange(3_000_000.0)).sum()
    found = dynamic_of(tmp_path / "scenario.toml", size, 1)
    headers = found.wire_bytes_mean - found.size_bytes_mean
    assert headers == pytest.approx(HEADER * packets, rel=1e-7)


@pytest.mark.parametrize("shape", [1.05, 1.2, 2.5])
def test_headers_of_a_pareto_distribution_are_a_zeta_function(tmp_path: Path, shape: float) -> None:
    # P(X > k p) = (least / p)^shape / k^shape, where the least is smaller than a packet.
    least = 2_000 * (shape - 1) / shape
    packets = 1 + (least / PAYLOAD) ** shape * special.zeta(shape)
    size = f'{{ kind = "pareto", mean = "2 kB", shape = {shape} }}'
    found = dynamic_of(tmp_path / "scenario.toml", size, 1)
    assert found.wire_bytes_mean == pytest.approx(2_000 + HEADER * packets, rel=1e-9)


def test_a_mix_and_a_fixed_size_are_counted_exactly(tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    mix = '{ kind = "mix", values = ["1 kB", "1461 B", "1 MB"], weights = [5, 3, 2] }'
    packets = (5 * 1 + 3 * 2 + 2 * 685) / 10
    expected = (5 * 1_000 + 3 * 1_461 + 2 * 1_000_000) / 10 + HEADER * packets
    assert dynamic_of(path, mix, 1).wire_bytes_mean == pytest.approx(expected, rel=1e-12)
    assert dynamic_of(path, '"1460 B"', 1).wire_bytes_mean == 1_500


@pytest.mark.parametrize(
    "size",
    [
        '{ kind = "pareto", mean = "100 kB", shape = 1.05 }',
        '{ kind = "pareto", mean = "100 kB", shape = 1.2 }',
        '{ kind = "lognormal", mean = "100 kB", sigma = 3.0 }',
        '{ kind = "weibull", mean = "100 kB", shape = 0.3 }',
    ],
)
def test_a_stated_load_is_the_load_of_every_seed(tmp_path: Path, size: str) -> None:
    # Processor sharing: load / (1 - load) flows, 9 of them at a load of 0.9.
    for seed in range(1, 6):
        path = tmp_path / "scenario.toml"
        assert dynamic_of(path, size, seed).rate_bps == pytest.approx(0.9e9, rel=1e-4)
        said = tr.predict(path, seed=seed)["processor_sharing"]
        assert said.details["present_flows_mean"] == pytest.approx(9, rel=1e-3)
