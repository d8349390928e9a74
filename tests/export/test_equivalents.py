"""The same buffer in the words of other tools."""

import json
from pathlib import Path

import pytest

from tailroom import _engine
from tailroom.export.other_tools import Equivalent, equivalents
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
    "cake": {},
    "dual_pi2": {},
}
"""Disciplines other than DropTail, with the keys that have no default."""
TC = "tc qdisc replace dev DEV root"


def link_with(small: Path, kind: str, **parameters: object) -> Bottleneck:
    """The link of the small scenario with another queue discipline."""
    queue = {"kind": kind, **QUEUES.get(kind, {"limit": "1 bdp"}), **parameters}
    return read_bottleneck(Scenario.of(small, {"links.bottleneck.queue": queue}, None))


def lines_of(link: Bottleneck, limit: int | None = 17) -> dict[str, Equivalent]:
    """The configurations by tool."""
    return {one.tool: one for one in equivalents(link, limit)}


def texts(link: Bottleneck, limit: int | None = 17) -> dict[str, str]:
    """The lines by tool."""
    return {tool: one.text for tool, one in lines_of(link, limit).items()}


def test_ns3_is_told_to_remove_the_queue_before_that_of_the_device(small: Path) -> None:
    """Defect 20 of the first-contact review.

    The ns-3 manual, "Queue disciplines": Ipv4AddressHelper installs FqCoDel on a device, and
    TrafficControlHelper::Uninstall removes it.
    """
    *_, queue, last = texts(link_with(small, "drop_tail"))["ns-3"].splitlines()
    assert '"MaxSize", StringValue("17p")' in queue
    assert last == "TrafficControlHelper().Uninstall(devices);"


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
        for statement in line.splitlines():
            assert "DropTailQueue" not in statement or 'StringValue("1p")' in statement


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
            "fq_pie limit 17 flows 1024 target 15ms tupdate 15ms alpha 2 beta 20 ecn_prob 10 ecn",
        ),
        (
            "cake",
            {},
            "cake unlimited diffserv3 triple-isolate nonat nowash no-ack-filter split-gso"
            " rtt 100ms raw egress",
        ),
        (
            "cake",
            {
                **{"rate": "9 Mbit/s", "rtt": "30 ms", "diffserv": "besteffort"},
                **{"isolation": "flows", "framing": "pppoe-ptm", "ingress": True},
                **{"autorate_ingress": True, "memlimit": "8 MB"},
            },
            "cake bandwidth 9000000bit autorate-ingress besteffort flows nonat nowash no-ack-filter"
            " split-gso rtt 30ms pppoe-ptm ingress memlimit 8000000",
        ),
        (
            "cake",
            {"overhead": "10 B", "cells": "atm"},
            "cake unlimited diffserv3 triple-isolate nonat nowash no-ack-filter split-gso"
            " rtt 100ms atm overhead 10 mpu 0 egress",
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
    line = lines["ns-3"]
    assert '"MaxSize", StringValue("17p")' in line
    assert '"Flows", UintegerValue(64)' in line
    assert "SetQuantum(3000);" in line


SHAPED = """
title = "A shaper of 5 Mbit/s on a port of 100 Mbit/s"
duration = "60 s"
[links.down]
rate = "100 Mbit/s"
delay = "2 ms"
queue = { kind = "drop_tail", limit = "50 packets" }
shaper = { rate = "5 Mbit/s", burst = "6 kB" }
[flows.download]
count = 4
congestion = "cubic"
path = ["down"]
rtt = { uniform = ["10 ms", "50 ms"] }
"""


def shaped(**changes: object) -> Bottleneck:
    overrides = {f"links.down.{key.replace('__', '.')}": value for key, value in changes.items()}
    return read_bottleneck(Scenario.from_toml(SHAPED).with_(overrides))


@pytest.mark.parametrize(
    ("queue", "child"),
    [
        ({"kind": "drop_tail", "limit": "50 packets"}, "pfifo limit 50"),
        ({"kind": "drop_tail", "limit": "75 kB"}, "bfifo limit 75000"),
        (
            {"kind": "fq_codel"},
            "fq_codel limit 10240 target 5ms interval 100ms flows 1024 ecn",
        ),
    ],
)
def test_the_shaper_is_the_root_and_the_discipline_its_child(
    queue: dict[str, str], child: str
) -> None:
    """A newcomer's port of 100 Mbit/s, on which no packet waits without its shaper."""
    tc = lines_of(shaped(queue=queue), None)["tc"]
    root, leaf = tc.text.splitlines()
    # tc-tbf(8): rate in bit/s and burst in bytes, of the scenario.
    assert root.startswith("tc qdisc replace dev DEV root handle 1: tbf rate 5000000bit burst 6000")
    assert leaf == f"tc qdisc replace dev DEV parent 1:1 handle 10: {child}"
    assert "port of 100 Mbit/s" in tc.purpose
    # sch_tbf.c: the child takes the place of the bfifo that has the limit.
    assert "the limit of tbf has no effect" in " ".join(tc.notes)
    assert tc.left_out == ()


def test_what_a_shaper_has_and_tbf_has_not_is_left_out() -> None:
    shaper = {"rate": "5 Mbit/s", "burst": "6 kB", "granularity": "1 ms", "cells": "ptm"}
    tc = lines_of(shaped(shaper={**shaper, "overhead": "40 B"}), None)["tc"]
    assert " overhead 40" in tc.text
    assert {one.key for one in tc.left_out} == {"shaper.granularity", "shaper.cells"}


def test_a_policer_drops_before_the_queue() -> None:
    link = shaped(policer={"rate": "50 Mbit/s", "burst": "250 kB"})
    first, second, *_ = lines_of(link, None)["tc"].text.splitlines()
    assert first == "tc qdisc replace dev DEV clsact"
    assert "egress protocol all pref 1 matchall action police rate 50000000bit" in second
    assert second.endswith("burst 250000 conform-exceed drop")


def test_a_limit_keeps_its_unit(small: Path) -> None:
    in_bytes = texts(link_with(small, "drop_tail", limit="64 kB"), None)
    assert "bfifo limit 64000" in in_bytes["tc"]
    assert "pfifo" not in in_bytes["tc"]
    assert 'StringValue("64000B")' in in_bytes["ns-3"]
    assert "bytes=64000" in in_bytes["Mahimahi"]
    assert "tc netem" not in in_bytes
    in_packets = texts(link_with(small, "drop_tail", limit="28 packets"), None)
    assert "pfifo limit 28" in in_packets["tc"]
    assert "bfifo" not in in_packets["tc"]
    [left] = lines_of(link_with(small, "fq_codel", limit="64 kB"), None)["tc"].left_out
    assert (left.key, "counts packets" in left.reason) == ("queue.limit", True)


def test_ns3_puts_the_discipline_below_a_token_bucket() -> None:
    text = texts(shaped(queue={"kind": "codel"}), None)["ns-3"]
    assert 'DataRate", StringValue("100000000bps")' in text
    assert '"ns3::TbfQueueDisc", "Burst", UintegerValue(6000), "Rate"' in text
    assert 'AddChildQueueDisc(handle, classes[0], "ns3::CoDelQueueDisc"' in text


def test_netem_says_that_it_delays(small: Path) -> None:
    lines = lines_of(link_with(small, "drop_tail"))
    assert "adds a delay" in lines["tc netem"].purpose
    assert [one.key for one in lines["tc netem"].left_out] == ["delay"]
    assert lines["tc"].purpose.startswith("on the router's own port of ")


def options_of_sqm(link: Bottleneck) -> dict[str, str]:
    """What `/etc/config/sqm` has, by option."""
    lines = texts(link)["OpenWrt"].splitlines()
    assert lines[0] == "config queue"
    return {
        name: value.strip("'") for _, name, value in (line.split(None, 2) for line in lines[1:])
    }


def test_openwrt_gets_the_upload_of_a_shaper_with_fq_codel() -> None:
    """Options as run-openwrt.sh of sqm-scripts reads them."""
    options = options_of_sqm(shaped(queue={"kind": "fq_codel", "limit": "800 packets"}))
    assert options["script"] == "simplest_tbf.qos"
    assert (options["qdisc"], options["etarget"], options["elimit"]) == ("fq_codel", "5ms", "17")
    assert options["eqdisc_opts"] == "interval 100ms flows 1024"
    assert "OpenWrt" not in texts(shaped(queue={"kind": "codel"}))


@pytest.mark.parametrize(
    ("diffserv", "script"), [("besteffort", "piece_of_cake.qos"), ("diffserv4", "layer_cake.qos")]
)
def test_openwrt_gets_the_rate_of_cake(small: Path, diffserv: str, script: str) -> None:
    link = link_with(small, "cake", rate="4321 kbit/s", diffserv=diffserv, framing="docsis")
    options = options_of_sqm(link)
    assert (options["upload"], options["download"]) == ("4321", "0")
    assert (options["qdisc"], options["script"]) == ("cake", script)
    assert options["eqdisc_opts"].startswith(f"{diffserv} triple-isolate ")
    assert options["eqdisc_opts"].endswith(" docsis egress")
    assert "OpenWrt" not in texts(link_with(small, "cake"))
