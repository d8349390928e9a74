"""A buffer has one size: every output converts it by the same packet and the same bdp."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tailroom as tr
from tailroom.models import read_bottleneck
from tailroom.scenario.scenario import Scenario
from tests.conftest import Tailroom

pytestmark = pytest.mark.usefixtures("quick_models")

LINK = "bottleneck"
SOURCES: dict[str, dict[str, Any]] = {
    "long": {"congestion": "reno"},
    "finite": {"congestion": "reno", "source": {"kind": "finite_flows", "load": 0.1}},
    "stream": {"source": {"kind": "poisson", "rate": "1 Mbit/s"}},
}


@dataclass(frozen=True)
class Group:
    """Flows of one packet size and one RTT."""

    kind: str
    count: int
    rtt_ms: int
    packet_bytes: int

    def as_table(self) -> dict[str, Any]:
        table: dict[str, Any] = {
            **SOURCES[self.kind],
            "path": [LINK],
            "rtt": f"{self.rtt_ms} ms",
            "packet_size": f"{self.packet_bytes} B",
        }
        if self.kind == "finite":
            # Whole packets, so that the load in packets follows from the load in bytes.
            payload = 20 * (self.packet_bytes - 40)
            table["source"] = {**table["source"], "size": f"{payload} B"}
            return {**table, "header_size": "40 B"}
        return {**table, "count": self.count}


groups = st.lists(
    st.builds(
        Group,
        st.sampled_from(sorted(SOURCES)),
        st.integers(1, 4),
        st.integers(10, 90),
        st.sampled_from([200, 576, 1000, 1500]),
    ),
    min_size=1,
    max_size=4,
)
limits = st.one_of(
    st.builds("{} packets".format, st.integers(1, 500)),
    st.builds("{} B".format, st.integers(1500, 500_000)),
    st.builds("{} ms".format, st.integers(3, 90)),
    st.builds("{} bdp".format, st.sampled_from([0.5, 1, 2.5])),
)


def scenario_of(present: list[Group], limit: str, mbps: int) -> Any:
    return {
        "duration": "20 ms",
        "defaults": {"host": "plain"},
        "links": {
            LINK: {
                "rate": f"{mbps} Mbit/s",
                "delay": "1 ms",
                "queue": {"kind": "drop_tail", "limit": limit},
            }
        },
        "flows": {f"group{at}": group.as_table() for at, group in enumerate(present)},
    }


def mean_of(values: list[tuple[float, float]]) -> float:
    """The mean of (weight, value)."""
    return sum(weight * value for weight, value in values) / sum(weight for weight, _ in values)


def packet_bytes_of(present: list[Group], mbps: int) -> float:
    long = [(float(one.count), float(one.packet_bytes)) for one in present if one.kind == "long"]
    others = [
        ((0.1 * mbps if one.kind == "finite" else one.count) / size, size)
        for one in present
        for size in [float(one.packet_bytes)]
        if one.kind != "long"
    ]
    return mean_of(long or others)


def bdp_bytes_of(present: list[Group], mbps: int) -> float | None:
    long = [(float(one.count), one.rtt_ms / 1e3) for one in present if one.kind == "long"]
    short = [(1.0, one.rtt_ms / 1e3) for one in present if one.kind == "finite"]
    return mbps * 1e6 / 8 * mean_of(long or short) if long or short else None


@settings(max_examples=40, deadline=None)
@given(groups, limits, st.integers(5, 50))
def test_every_output_has_the_same_buffer(present: list[Group], limit: str, mbps: int) -> None:
    bdp_bytes, packet_bytes = bdp_bytes_of(present, mbps), packet_bytes_of(present, mbps)
    number, unit = limit.split()
    bytes_ = {
        "packets": float(number) * packet_bytes,
        "B": float(number),
        "ms": float(number) * mbps * 1e3 / 8,
        "bdp": float(number) * (bdp_bytes or 0.0),
    }[unit]
    scenario = scenario_of(present, limit, mbps)
    if unit != "packets" and bytes_ < max(one.packet_bytes for one in present):
        with pytest.raises(tr.ScenarioError):
            tr.run(scenario)
        return

    # An amount in time or bdp is rounded down to bytes.
    summary: Any = tr.run(scenario).links[LINK]
    assert summary["limit_bytes"] == pytest.approx(bytes_, rel=1e-9, abs=1.0)
    assert summary["limit_packets"] == pytest.approx(summary["limit_bytes"] / packet_bytes)
    assert summary["limit_ms"] == pytest.approx(summary["limit_bytes"] / (mbps * 1e3 / 8))
    if bdp_bytes is None:
        assert summary["limit_bdp"] is None
    else:
        assert summary["limit_bdp"] == pytest.approx(summary["limit_bytes"] / bdp_bytes)
    if unit == "packets":
        assert summary["limit_packets"] == int(number)

    link = read_bottleneck(Scenario.of(scenario, {}))
    assert link.limit_packets == pytest.approx(summary["limit_packets"])
    assert link.limit_packets * link.packet_bytes == pytest.approx(summary["limit_bytes"])
    assert 1e3 * link.limit_packets / link.capacity_pps == pytest.approx(summary["limit_ms"])
    assert link.bdp_packets * link.packet_bytes == pytest.approx(bdp_bytes or 0.0)


def test_commands_show_250_kb_as_one_buffer(tailroom: Tailroom) -> None:
    """The shipped home router: 100 ms at 20 Mbit/s, two downloads, web pages and voice."""
    [link] = json.loads(tailroom("run", "home-router", "--json").output)["links"].values()
    assert link["limit_bytes"] == 250_000
    assert link["limit_packets"] == pytest.approx(250_000 / 1500)
    shown = f"166.7 packets = {link['limit_bdp']:.3f} bdp"
    assert f"limit {shown}" in tailroom("model", "home-router").output
    # Packets of voice are smaller: in packets, it is another buffer.
    printed = tailroom("run", "home-router", "--set", "duration=11 s").output
    assert "100 ms" in printed
    assert "166.7 packets" not in printed


def test_the_answer_of_size_is_the_buffer_that_a_run_shows() -> None:
    mixed = [Group("long", 1, 10, 1500), Group("long", 2, 40, 576), Group("finite", 1, 90, 200)]
    scenario = scenario_of(mixed, "20 packets", 10) | {"duration": "4 s"}
    answer = tr.size(scenario, "utilization >= 60%", most_loss=None, max_seeds=4, workers=2)
    chosen, said = answer.limit_packets, answer.as_dict()
    shown: Any = tr.run(
        scenario, set={f"links.{LINK}.queue.limit": f"{chosen} packets", "duration": "20 ms"}
    ).links[LINK]
    assert shown["limit_packets"] == chosen == said["limit"]["packets"]
    assert shown["limit_bytes"] == pytest.approx(said["limit"]["bytes"])
    assert shown["limit_ms"] == pytest.approx(1e3 * said["limit"]["s"])
    assert shown["limit_bdp"] == pytest.approx(said["limit"]["bdp"])
    assert f"pfifo limit {chosen}" in said["equivalents"]["tc"]["text"]


def test_a_link_that_only_acks_cross_is_counted_in_acks() -> None:
    scenario = scenario_of([Group("long", 2, 20, 1500)], "20 packets", 10)
    scenario["links"]["back"] = {**scenario["links"][LINK], "rate": "1 Mbit/s"}
    scenario["flows"]["group0"] |= {"reverse_path": ["back"], "ack_size": "40 B"}
    summary: Any = tr.run(scenario).links["back"]
    assert (summary["limit_bytes"], summary["limit_ms"]) == (800, 6.4)
