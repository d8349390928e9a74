"""What a model reads of a scenario."""

from pathlib import Path

import pytest

import tailroom as tr
from tailroom.models import Bottleneck, read_bottleneck
from tailroom.scenario import ScenarioText

MIXED = """\
duration = "10 s"

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
    return read_bottleneck(ScenarioText.of(mixed, {}))


def test_the_slowest_link_is_looked_at_unless_another_is_named(mixed: Path) -> None:
    assert tr.predict(mixed).link.name == "narrow"
    wide = tr.predict(mixed, link="wide").link
    assert (wide.name, wide.flow_count, wide.other_links) == ("wide", 4, ("narrow",))
    with pytest.raises(tr.ScenarioError, match="no link 'wid'; choose one of wide, narrow"):
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
    assert narrow.passing[0].wire_bytes_mean == pytest.approx(98_600 + 68 * 40)
    assert narrow.passing_load == pytest.approx(10 * 8 * (98_600 + 68 * 40) / 100e6)


def test_the_bdp_is_capacity_times_mean_round_trip(narrow: Bottleneck) -> None:
    mean_rtt_s = (0.04 + 0.06 + 0.08 + 0.1 + 1000 * 0.05) / 1004
    assert narrow.mean_rtt_s == pytest.approx(mean_rtt_s)
    assert narrow.bdp_packets == pytest.approx(12_500 * mean_rtt_s)
