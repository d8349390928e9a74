"""The same buffer in the words of other tools."""

import json
from pathlib import Path

import pytest

from tailroom import _engine
from tailroom.export.other_tools import as_texts, equivalents
from tailroom.models.bottleneck import Bottleneck, read_bottleneck
from tailroom.scenario.scenario import Scenario

QUEUES = {
    "drop_head": {"limit": "1 bdp"},
    "random_drop": {"limit": "1 bdp"},
    "red": {"limit": "1 bdp"},
    "adaptive_red": {"limit": "1 bdp"},
    "step_mark": {"limit": "1 bdp", "threshold": "10 packets"},
    "wred": {"limit": "1 bdp", "k_min": "10 packets", "k_max": "20 packets"},
    "fair": {"limit": "1 bdp"},
    "codel": {},
    "fq_codel": {},
    "pie": {},
    "fq_pie": {},
    "dual_pi2": {},
}
"""Disciplines other than DropTail, with the keys that have no default."""
TC = "tc qdisc replace dev DEV root"


def link_with(small: Path, kind: str, **parameters: object) -> Bottleneck:
    """The link of the small scenario with another queue discipline."""
    queue = {"kind": kind, **QUEUES.get(kind, {"limit": "1 bdp"}), **parameters}
    return read_bottleneck(Scenario.of(small, {"links.bottleneck.queue": queue}, None))


def texts(link: Bottleneck, limit: int = 17) -> dict[str, str]:
    """The lines by tool."""
    return as_texts(equivalents(link, limit))


def test_ns3_is_told_to_remove_the_queue_before_that_of_the_device(small: Path) -> None:
    """Defect 20 of the first-contact review.

    The ns-3 manual, "Queue disciplines": Ipv4AddressHelper installs FqCoDel on a device, and
    TrafficControlHelper::Uninstall removes it.
    """
    lines = texts(link_with(small, "drop_tail"))
    ns3 = [line for name, line in lines.items() if name.startswith("ns-3")]
    assert '"MaxSize", StringValue("17p")' in ns3[0]
    assert ns3[1] == "TrafficControlHelper().Uninstall(devices);"


def test_every_discipline_is_tried() -> None:
    kinds = {entry["kind"] for entry in json.loads(_engine.components())["queue"]}
    assert {"drop_tail", *QUEUES} == kinds - {"custom"}


@pytest.mark.parametrize("kind", QUEUES)
def test_no_line_puts_a_drop_tail_queue_in_place_of_another_discipline(
    small: Path, kind: str
) -> None:
    for line in texts(link_with(small, kind)).values():
        assert not {"pfifo", "bfifo", "tbf", "netem"} & set(line.split())
        assert "queue=droptail" not in line
        # Behind a queue disc of ns-3, the device holds the one packet that it must.
        assert "DropTailQueue" not in line or 'StringValue("1p")' in line


@pytest.mark.parametrize(
    ("kind", "parameters", "expected"),
    [
        ("drop_head", {}, "pfifo_head_drop limit 17"),
        ("codel", {}, "codel limit 17 target 5ms interval 100ms ecn"),
        (
            "codel",
            {"target": "1.5 ms", "interval": "30 ms"},
            "codel limit 17 target 1500us interval 30ms ecn",
        ),
        (
            "fq_codel",
            {"flows": 64, "quantum": "3 kB"},
            "fq_codel limit 17 target 5ms interval 100ms flows 64 quantum 3000 ecn",
        ),
        # alpha 0.125 and beta 1.25 of RFC 8033 are Linux's defaults, which tc shows as 2 and 20.
        ("pie", {}, "pie limit 17 target 15ms tupdate 15ms alpha 2 beta 20 ecn"),
        (
            "fq_pie",
            {},
            "fq_pie limit 17 flows 1024 target 15ms tupdate 15ms alpha 2 beta 20 quantum 1514 "
            "ecn_prob 10 ecn",
        ),
    ],
)
def test_tc_gets_the_parameters_of_the_discipline(
    small: Path, kind: str, parameters: dict[str, object], expected: str
) -> None:
    assert f"{TC} {expected}" in texts(link_with(small, kind, **parameters)).values()


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        ("codel", {"target": "1500 ns"}),
        ("pie", {"alpha": 0.1}),
        ("pie", {"beta": 2.5}),
        ("pie", {"max_burst": "100 ms"}),
        ("pie", {"mark_up_to": 0.2}),
        ("pie", {"derandomize": False}),
        ("fq_pie", {"mark_up_to": 0.125}),
        ("dual_pi2", {}),
        ("fair", {}),
        ("step_mark", {}),
        ("wred", {}),
    ],
)
def test_what_tc_cannot_express_gets_a_sentence(
    small: Path, kind: str, parameters: dict[str, object]
) -> None:
    lines = texts(link_with(small, kind, **parameters))
    [line] = [text for tool, text in lines.items() if "tc" in tool.replace(",", " ").split()]
    assert line.startswith("no exact equivalent: ")


def test_mahimahi_takes_the_times_of_codel_in_whole_milliseconds(small: Path) -> None:
    whole = texts(link_with(small, "codel"))["Mahimahi"]
    assert whole.endswith('--uplink-queue-args="packets=17, target=5, interval=100"')
    parts = texts(link_with(small, "codel", target="1.5 ms"))["Mahimahi"]
    assert parts.startswith("no exact equivalent: ")


def test_ns3_gets_the_attributes_of_its_queue_disc(small: Path) -> None:
    lines = texts(link_with(small, "fq_codel", flows=64, quantum="3 kB"))
    [line] = [text for text in lines.values() if "ns3::FqCoDelQueueDisc" in text]
    assert '"MaxSize", StringValue("17p")' in line
    assert '"Flows", UintegerValue(64)' in line
    assert "SetQuantum(3000);" in line


def test_a_burst_of_tbf_above_the_buffer_is_named(small: Path) -> None:
    """The reviewer's link: 500 Mbit/s and 24 packets of 1500 B."""
    source = Scenario.of(small, {"links.bottleneck.rate": "500 Mbit/s"}, None)
    lines = {line.tool: line for line in equivalents(read_bottleneck(source), 24)}
    shaper = lines["tc tbf (rate and buffer)"]
    # 500 Mbit/s / 8 / 250 Hz; 250,000 / 36,000 = 6.9.
    assert shaper.text.endswith("burst 250000 limit 36000")
    assert "6.9 times this buffer" in shaper.purpose
    assert "adds a delay" in lines["tc netem (rate, delay, buffer)"].purpose
    assert lines["tc pfifo (packets)"].purpose == "on the router's own port"
