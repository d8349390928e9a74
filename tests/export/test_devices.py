"""A buffer in the words of switches and routers, against their models and manuals."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tailroom.export.devices import (
    Device,
    of_same_switch,
    on_devices,
    other_ingresses,
    sharing,
)
from tailroom.export.other_tools import Equivalent
from tailroom.models.bottleneck import Bottleneck, read_bottleneck
from tailroom.scenario.scenario import Scenario
from tests.conftest import Tailroom
from tests.export.test_equivalents import QUEUES, link_with

LIMIT = 335
BYTES = 1500 * LIMIT
"""Packets of the small scenario have 1500 B."""
WRED = {"k_min": "150 kB", "k_max": "400 kB", "p_max": 0.029}
"""Thresholds that are no whole packets nor percent; 2 % is the largest whole percent."""
NO_LINES = "no exact equivalent: "
SWITCH_RED = {
    "gentle": False,
    "uniform": False,
    "min_threshold": "100 packets",
    "max_threshold": "200 packets",
    "weight": 1,
}


def texts(link: Bottleneck, limit: int = LIMIT) -> dict[Device, str]:
    lines = on_devices(link.with_limit(limit)).items()
    return {device: line.text for device, line in lines}


def wred(small: Path, **parameters: object) -> dict[Device, str]:
    return texts(link_with(small, "wred", **{"limit": "1 MB", **WRED, **parameters}))


def test_every_device_has_a_name_and_says_that_it_was_not_tried(small: Path) -> None:
    lines = on_devices(link_with(small, "step_mark").with_limit(LIMIT))
    assert list(lines) == list(Device)
    assert all(line.purpose.startswith("not tried on a device; ") for line in lines.values())


@pytest.mark.parametrize("kind", ["drop_tail", *QUEUES])
def test_only_tail_drop_and_wred_have_lines(small: Path, kind: str) -> None:
    lines = texts(link_with(small, kind))
    written = {device for device, text in lines.items() if not text.startswith(NO_LINES)}
    expected = {"drop_tail": {*Device} - {Device.EOS}, "step_mark": {*Device}, "wred": {*Device}}
    assert written == expected.get(kind, set())


# sonic-wred-profile.yang, sonic-buffer-queue.yang, sonic-queue.yang, sonic-buffer-profile.yang.
SONIC = {
    "WRED_PROFILE": {
        "ecn": r"ecn_(none|green|yellow|red|green_yellow|green_red|yellow_red|all)",
        "wred_green_enable": "true|false",
        "green_min_threshold": r"\d+",
        "green_max_threshold": r"\d+",
        "green_drop_probability": r"\d{1,2}|100",
    },
    "BUFFER_PROFILE": {"pool": "POOL", "size": "0", "static_th": r"\d+"},
    "BUFFER_QUEUE": {"profile": "tailroom"},
    "QUEUE": {"wred_profile": "tailroom"},
}


def test_sonic_has_the_leaves_of_its_models(small: Path) -> None:
    tables = json.loads(wred(small)[Device.SONIC])
    assert tables.keys() == SONIC.keys()
    for table, rows in tables.items():
        [(name, row)] = rows.items()
        assert name == ("PORT|QUEUE" if "QUEUE" in table else "tailroom")
        assert row.keys() == SONIC[table].keys()
        assert all(re.fullmatch(SONIC[table][leaf], value) for leaf, value in row.items())
    profile = tables["WRED_PROFILE"]["tailroom"]
    assert profile["green_min_threshold"] == "150000"
    assert profile["green_max_threshold"] == "400000"
    assert profile["green_drop_probability"] == "2"
    assert tables["BUFFER_PROFILE"]["tailroom"]["static_th"] == str(BYTES)


def test_sonic_drops_others_where_the_discipline_does(small: Path) -> None:
    for drops in (True, False):
        lines = texts(link_with(small, "step_mark", drop_others=drops))
        profile = json.loads(lines[Device.SONIC])["WRED_PROFILE"]["tailroom"]
        assert profile["wred_green_enable"] == str(drops).lower()
        assert profile["green_min_threshold"] == profile["green_max_threshold"] == "15000"
        assert ("random-detect drop" in lines[Device.EOS]) == drops


# openconfig-qos-mem-mgmt.yang 0.11.1; RFC 7951 sec. 6.1: 64-bit numbers are texts.
OPENCONFIG_QUEUE: dict[str, type] = {
    "name": str,
    "dedicated-buffer": str,
    "dedicated-buffer-temporal": str,
    "use-shared-buffer": bool,
}
OPENCONFIG_WRED: dict[str, type] = {
    "min-threshold": str,
    "max-threshold": str,
    "enable-ecn": bool,
    "drop": bool,
    "weight": int,
    "max-drop-probability-percent": int,
}


def openconfig(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The leaves of the queue's buffer, and of WRED."""
    qos = json.loads(text)["openconfig-qos:qos"]
    [profile] = qos["buffer-allocation-profiles"]["buffer-allocation-profile"]
    [queue] = profile["queues"]["queue"]
    assert profile["name"] == profile["config"]["name"]
    assert queue["name"] == queue["config"]["name"]
    [marking] = qos["queue-management-profiles"]["queue-management-profile"]
    assert marking["name"] == marking["config"]["name"]
    return queue["config"], marking["wred"]["uniform"]["config"]


def test_openconfig_has_the_leaves_and_types_of_its_model(small: Path) -> None:
    queue, marking = openconfig(wred(small, weight=2**-9)[Device.OPENCONFIG])
    assert marking.keys() == OPENCONFIG_WRED.keys()
    for leaves, types in ((queue, OPENCONFIG_QUEUE), (marking, OPENCONFIG_WRED)):
        assert all(type(value) is types[leaf] for leaf, value in leaves.items())
    assert (marking["min-threshold"], marking["max-threshold"]) == ("150000", "400000")
    assert marking["weight"] == 9
    assert marking["max-drop-probability-percent"] == 2


def at(small: Path, rate: str) -> tuple[Bottleneck, dict[Device, Equivalent]]:
    source = Scenario.of(small, {"links.bottleneck.rate": rate}, None)
    link = read_bottleneck(source)
    return link, on_devices(link.with_limit(LIMIT))


@pytest.mark.parametrize("rate", ["10 Mbps", "1 Gbps", "7 Gbps"])
def test_times_are_rounded_down_to_microseconds(small: Path, rate: str) -> None:
    link, lines = at(small, rate)
    exact = 8e6 * BYTES / link.rate_bps
    qos = json.loads(lines[Device.OPENCONFIG].text)["openconfig-qos:qos"]
    [profile] = qos["buffer-allocation-profiles"]["buffer-allocation-profile"]
    told = int(profile["queues"]["queue"][0]["config"]["dedicated-buffer-temporal"])
    assert exact - 1 < told <= exact
    junos = "set class-of-service schedulers tailroom buffer-size temporal "
    assert lines[Device.JUNOS].text == f"{junos}{told}"


def test_where_microseconds_are_coarse_openconfig_has_bytes(small: Path) -> None:
    _, lines = at(small, "100 Gbps")  # 40.2 us
    assert f'"dedicated-buffer": "{BYTES}"' in lines[Device.OPENCONFIG].text
    assert lines[Device.JUNOS].text.startswith(NO_LINES)


def test_ios_xr_follows_its_command_reference(small: Path) -> None:
    # queue-limit value [unit]; random-detect min-threshold [units] max-threshold [units].
    assert wred(small)[Device.IOSXR].splitlines() == [
        "policy-map tailroom",
        " class class-default",
        f"  queue-limit {BYTES} bytes",
        "  random-detect 150000 bytes 400000 bytes",
    ]


def test_junos_follows_its_statements(small: Path) -> None:
    drop_profile = "set class-of-service drop-profiles tailroom "
    # 150,000 and 400,000 of 502,500 bytes are 29.9 and 79.6 %.
    ramp = "interpolate fill-level 29 fill-level 79 drop-probability 0 drop-probability 2"
    scheduler = "set class-of-service schedulers tailroom "
    assert wred(small)[Device.JUNOS].splitlines()[1:] == [
        drop_profile + ramp,
        scheduler + "drop-profile-map loss-priority any protocol any drop-profile tailroom",
        scheduler + "explicit-congestion-notification",
    ]
    step = texts(link_with(small, "step_mark", limit="1 MB", threshold="101 packets"))[Device.JUNOS]
    assert drop_profile + "fill-level 30 drop-probability 100" in step.splitlines()


def test_eos_follows_the_lines_of_its_collection(small: Path) -> None:
    # As `random-detect ecn minimum-threshold 320 kbytes maximum-threshold 320 kbytes
    # max-mark-probability 90` of arista.avd.
    assert wred(small)[Device.EOS].splitlines() == [
        "interface PORT",
        "   tx-queue QUEUE",
        "      random-detect ecn minimum-threshold 150000 bytes maximum-threshold 400000 bytes "
        "max-mark-probability 2 weight 0",
        "      random-detect drop minimum-threshold 150000 bytes maximum-threshold 400000 bytes "
        "drop-probability 2 weight 0",
    ]


# Defaults of the high, low and exceed slope (Quality of Service Guide).
SLOPES = {"high-slope": (70, 90), "low-slope": (50, 75), "exceed-slope": (30, 55)}


@pytest.mark.parametrize(("k_min", "k_max"), [("10 kB", "20 kB"), ("480 kB", "500 kB")])
def test_slopes_of_sr_os_begin_at_no_time_behind_their_end(
    small: Path, k_min: str, k_max: str
) -> None:
    lines = wred(small, k_min=k_min, k_max=k_max, weight=2**-4)[Device.SROS].splitlines()
    words = [line.split() for line in lines]
    slopes = dict(SLOPES)
    current = ""
    for first, *rest in words:
        if first in slopes:
            current = first
        start, end = slopes.get(current, (0, 0))
        if first == "start-avg":
            start = int(rest[0])
        if first == "max-avg":
            end = int(rest[0])
        assert start <= end
        if current:
            slopes[current] = (start, end)
    exact = [100 * 1000 * float(size.split()[0]) / BYTES for size in (k_min, k_max)]
    assert set(slopes.values()) == {(int(exact[0]), int(exact[1]))}
    assert ["time-average-factor", "4"] in words
    assert ["max-prob", "2"] in words
    # config>qos>sap-egress>queue: mbs size [bytes | kilobytes], cbs size-in-kbytes.
    assert words[-2:] == [["mbs", f"{BYTES}", "bytes"], ["cbs", f"{BYTES // 1000}"]]


def test_red_has_lines_where_it_is_wred(small: Path) -> None:
    as_wred = {"k_min": "100 packets", "k_max": "200 packets", "p_max": 0.1}
    assert texts(link_with(small, "red", limit="1 MB", **SWITCH_RED)) == wred(small, **as_wred)


@pytest.mark.parametrize(
    "change",
    [
        {"gentle": True},
        {"uniform": True},
        {"above_max": "drop"},
        {"weight": 0.002},
        {"max_p": 0.005},
    ],
)
def test_red_that_is_not_wred_gets_a_sentence(small: Path, change: dict[str, object]) -> None:
    lines = texts(link_with(small, "red", limit="1 MB", **{**SWITCH_RED, **change}))
    assert all(text.startswith(NO_LINES) for text in lines.values())


@pytest.mark.parametrize(
    ("change", "without"),
    [
        ({"weight": 0.5}, {Device.SONIC, Device.EOS}),
        ({"k_max": "1 MB"}, {Device.JUNOS, Device.SROS}),
        ({"k_min": "400 kB", "k_max": "401 kB"}, {Device.JUNOS, Device.SROS}),
        (
            {"limit": "1 GB", "k_min": "300 kB", "k_max": "300 MB"},
            {Device.JUNOS, Device.SROS, Device.EOS},
        ),
    ],
)
def test_what_a_device_cannot_express_gets_a_sentence(
    small: Path, change: dict[str, object], without: set[Device]
) -> None:
    lines = wred(small, **change)
    assert {device for device, text in lines.items() if text.startswith(NO_LINES)} == without


TWO_PORTS = """
duration = "20 ms"
[pools.asic]
size = "16 MB"
policy = { kind = "dynamic_threshold", alpha = 1 }
[links.a]
rate = "25 Gbit/s"
delay = "1 us"
queue = { kind = "wred", limit = "8 MB", k_min = "100 kB", k_max = "400 kB", p_max = 0.2 }
pool = "asic"
reserved = "18 kB"
alpha = 0.25
[links.b]
rate = "25 Gbit/s"
delay = "1 us"
queue = "drop_tail"
pool = "asic"
[defaults]
host = "data_center"
rtt = "20 us"
access_rate = "25 Gbit/s"
[flows.x]
count = 4
path = ["a"]
congestion = "dctcp"
ecn = "accurate"
[flows.y]
count = 4
path = ["b"]
congestion = "cubic"
"""


def two_ports(**changes: object) -> dict[Device, Equivalent]:
    """The lines for two ports of a pool, of which one has an alpha, a reserve and marks."""
    overrides = {key.replace("__", "."): value for key, value in changes.items()}
    source = Scenario.from_toml(TWO_PORTS).with_(overrides)
    return on_devices(*sharing(source, "b"))


def test_each_alpha_reserve_and_marks_of_a_pool_has_a_profile() -> None:
    sonic = two_ports()[Device.SONIC]
    tables = json.loads(sonic.text)
    assert tables["BUFFER_POOL"] == {
        "egress_pool": {"type": "egress", "mode": "dynamic", "size": "16000000"}
    }
    of_pool = {"pool": "egress_pool"}
    assert tables["BUFFER_PROFILE"] == {
        "tailroom_a": {**of_pool, "size": "18000", "dynamic_th": "-2"},
        "tailroom_b": {**of_pool, "size": "0", "dynamic_th": "0"},
    }
    assert tables["BUFFER_QUEUE"]["PORT_a|QUEUE"] == {"profile": "tailroom_a"}
    assert tables["QUEUE"] == {"PORT_a|QUEUE": {"wred_profile": "tailroom_a"}}
    assert tables["WRED_PROFILE"]["tailroom_a"]["green_max_threshold"] == "400000"
    assert "tailroom_a is for link a; tailroom_b is for link b" in sonic.notes
    # Half of the pool is a limit of its own, which a queue of SONiC cannot have with dynamic_th.
    assert [one.key for one in sonic.left_out] == ["links.a.queue.limit"]


def test_ports_that_are_alike_have_one_profile() -> None:
    alike = {"links__a__queue": "drop_tail", "links__a__alpha": 1, "links__b__reserved": "18 kB"}
    tables = json.loads(two_ports(**alike)[Device.SONIC].text)
    assert [*tables["BUFFER_PROFILE"]] == ["tailroom"]


def test_alpha_8_is_3_as_in_the_manuals() -> None:
    """`Configuration.md` of SONiC, and the example of OpenConfig's model: 80 MB of 10 MB free."""
    lines = two_ports(links__b__alpha=8)
    assert json.loads(lines[Device.SONIC].text)["BUFFER_PROFILE"]["tailroom_b"]["dynamic_th"] == "3"
    assert '"dynamic-limit-scaling-factor": 3' in lines[Device.OPENCONFIG].text


def test_pools_of_other_systems_follow_their_sources() -> None:
    lines = {device: one.text for device, one in two_ports().items()}
    assert '"dynamic-limit-scaling-factor": -2' in lines[Device.OPENCONFIG]
    assert '"dedicated-buffer": "18000"' in lines[Device.OPENCONFIG]
    # The tech post on the buffers of QFX5K: 5 is alpha 1/4, 7 is 1.
    assert lines[Device.JUNOS].splitlines() == [
        "set class-of-service schedulers tailroom_a buffer-dynamic-threshold 5",
        "set class-of-service schedulers tailroom_b buffer-dynamic-threshold 7",
    ]
    # arista.avd, eos_cli_config_gen, platform.trident.mmu.queue_profiles.
    assert lines[Device.EOS].splitlines()[:6] == [
        "platform trident mmu queue profile tailroom",
        "   egress unicast queue QUEUE_a reserved bytes 18000",
        "   egress unicast queue QUEUE_a threshold 1/4",
        "   egress unicast queue QUEUE_b reserved bytes 0",
        "   egress unicast queue QUEUE_b threshold 1",
        "platform trident mmu queue profile tailroom apply",
    ]
    for device in (Device.IOSXR, Device.SROS):
        assert lines[device].startswith(NO_LINES)


@pytest.mark.parametrize(("alpha", "has_lines"), [(2.0**7, True), (2.0**8, False), (3.0, False)])
def test_sonic_refuses_an_alpha_that_its_model_has_not(alpha: float, has_lines: bool) -> None:
    """sonic-buffer-profile.yang: dynamic_th is -8..7."""
    one = two_ports(links__b__alpha=alpha)[Device.SONIC]
    assert one.has_lines == has_lines
    if has_lines:
        assert any("Dell's module takes -6 to 3" in note for note in one.notes)
    else:
        assert "alpha" in one.text


OWN = {"kind": "drop_tail", "limit": "1 MB"}
PAUSE = {"xoff": "20 kB", "xon": "18 kB", "headroom": "90 kB"}


def lossless(pause: dict[str, str], **memory: object) -> Equivalent:
    text = TWO_PORTS.replace('pool = "asic"', "").replace("pools.asic", "ingress_pools.tor")
    source = Scenario.from_toml(text).with_(
        {
            "ingress_pools.tor": {"size": "8 MB", **memory},
            "links.a": {
                "rate": "25 Gbit/s",
                "delay": "1 us",
                "queue": {"kind": "drop_tail", "limit": "5 MB"},
                "pause": pause,
                "ingress": {"pool": "tor", "alpha": 0.125},
            },
            "links.b": {
                "rate": "25 Gbit/s",
                "delay": "1 us",
                "queue": OWN,
                "ingress": {"pool": "tor", "alpha": 2},
            },
            # What arrives over a and b waits at the next link.
            "links.out": {"rate": "10 Gbit/s", "delay": "1 us", "queue": OWN},
            "flows.x.path": ["a", "out"],
            "flows.y.path": ["b", "out"],
        }
    )
    return on_devices(*sharing(source, "a"))[Device.SONIC]


@pytest.mark.parametrize(
    ("memory", "size", "pool"),
    [
        # What the port has to itself is 20 kB; private headroom is part of the profile's size.
        ({}, "110000", {"size": "8110000"}),
        ({"headroom": "1 MB"}, "20000", {"size": "9020000", "xoff": "1000000"}),
        ({"includes_headroom": True}, "110000", {"size": "8020000"}),
    ],
)
def test_a_lossless_class_has_its_group_pool_and_egress(
    memory: dict[str, Any], size: str, pool: dict[str, str]
) -> None:
    tables = json.loads(lossless(PAUSE, **memory).text)
    profiles = tables["BUFFER_PROFILE"]
    assert profiles["pg_lossless_a"] == {
        "pool": "ingress_lossless_pool",
        "size": size,
        "xon": "18000",
        "xoff": "90000",
        "dynamic_th": "-3",
    }
    assert profiles["ingress_lossy_b"]["dynamic_th"] == "1"
    assert profiles["egress_lossless_a"] == {
        "pool": "egress_lossless_pool",
        "size": "0",
        "static_th": "5000000",
    }
    assert tables["BUFFER_PG"]["PORT_a|PG"] == {"profile": "pg_lossless_a"}
    ingress = {"type": "ingress", "mode": "dynamic", **pool}
    assert tables["BUFFER_POOL"]["ingress_lossless_pool"] == ingress
    assert tables["BUFFER_POOL"]["egress_lossless_pool"]["size"] == "5000000"


def test_an_xon_of_0_says_why() -> None:
    zero = lossless({**PAUSE, "xon": "0 B"})
    assert any(note.startswith("xon is 0 as in the scenario") for note in zero.notes)
    assert not any(note.startswith("xon") for note in lossless(PAUSE).notes)


def test_a_threshold_above_the_limit_is_remarked(small: Path) -> None:
    """As `size` answered 175,500 B and printed thresholds of 400,000 B."""
    link = link_with(small, "wred", limit="1 MB", **WRED).with_limit(117)
    for device, one in on_devices(link).items():
        remarks = [
            note for note in one.notes if "400000 bytes is above the limit of 175500" in note
        ]
        assert len(remarks) == one.has_lines, device


def test_openconfig_has_the_queues_that_its_profiles_name(small: Path) -> None:
    """`queues/queue` is what `dedicated-buffer` and the rest refer to (a leafref)."""
    for one in (two_ports(), on_devices(link_with(small, "drop_tail"))):
        qos = json.loads(one[Device.OPENCONFIG].text)["openconfig-qos:qos"]
        named = {queue["name"] for queue in qos["queues"]["queue"]}
        profiles = qos["buffer-allocation-profiles"]["buffer-allocation-profile"]
        used = {queue["name"] for profile in profiles for queue in profile["queues"]["queue"]}
        assert used == named


@pytest.mark.parametrize(
    ("policy", "printed"),
    [
        ('{ kind = "dynamic_threshold", alpha = 2 }', '"dynamic_th": "1"'),
        ('"complete_sharing"', '"static_th": "'),
        ('"longest_queue_drop"', "not longest_queue_drop"),
    ],
)
def test_the_size_of_a_pool_is_printed_as_configuration(
    tailroom: Tailroom, small: Path, policy: str, printed: str
) -> None:
    asked = ["--target", "utilization >= 50%", "--max-seeds", "4", "--config", "sonic"]
    pool = f'pools.asic={{ size = "60 kB", policy = {policy} }}'
    asked += ["--set", pool, "--set", "links.bottleneck.pool=asic"]
    ended = tailroom("size", small, "--vary", "pools.asic.size", *asked)
    assert ended.status == 0, ended.errors
    assert printed in ended.output


def test_the_memory_of_a_switch_is_printed_as_that_of_a_pool(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    scenario = tmp_path / "switch.toml"
    scenario.write_text(
        'duration = "20 ms"\n[switches.tor]\nhosts = 3\nrate = "1 Gbit/s"\ndelay = "5 us"\n'
        'queue = "drop_tail"\npool = { size = "60 kB", policy = "dynamic_threshold" }\n'
        '[flows.f]\nfrom = ["tor.h1", "tor.h2"]\nto = "tor.h0"\ncongestion = "reno"\n',
        encoding="utf-8",
    )
    asked = [
        "--target",
        "tor-switch-h0.utilization >= 50%",
        "--max-seeds",
        "4",
        "--config",
        "sonic",
    ]
    ended = tailroom("size", scenario, "--vary", "switches.tor.pool.size", *asked)
    assert ended.status == 0, ended.errors
    assert '"dynamic_th": "0"' in ended.output


@pytest.mark.parametrize(
    ("queue", "vary", "printed"),
    [
        (
            '{ kind = "step_mark", limit = "100 packets", threshold = "20 packets" }',
            "threshold",
            '"green_max_threshold": "',
        ),
        ('{ kind = "drop_tail", limit = "60 packets" }', "queue.limit", '"static_th": "'),
    ],
)
def test_a_threshold_that_is_found_is_printed_as_configuration(
    tailroom: Tailroom, small: Path, queue: str, vary: str, printed: str
) -> None:
    asked = ["--target", "utilization >= 50%", "--max-seeds", "4", "--config", "sonic"]
    ended = tailroom(
        "size", small, "--set", f"links.bottleneck.queue={queue}", "--vary", vary, *asked
    )
    assert ended.status == 0, ended.errors
    assert printed in ended.output


def test_lines_of_a_port_say_that_ingresses_with_pause_are_not_in_them() -> None:
    source = Scenario.read("lossless")
    for name, is_told in (
        ("storage-switch-h0", True),
        ("tcp-switch-h0", False),  # another switch
        ("storage-h0-switch", False),  # the ingress itself, whose lines have it
    ):
        links = sharing(source, name)
        told = other_ingresses(source, links)
        assert bool(told) is is_told, name
        lines = on_devices(*links, left_out=told)[Device.SONIC]
        assert ("BUFFER_PG" in lines.text) is (name == "storage-h0-switch")
        assert ("ingress" in [one.key for one in lines.left_out]) is (is_told and lines.has_lines)


def test_sonics_lines_have_both_classes_of_a_port_and_the_memory_of_their_ingresses() -> None:
    source = Scenario.read("lossless")
    links = sharing(source, "storage-switch-h0")
    asked = source, links
    of = on_devices(*links, same_switch=of_same_switch(*asked), left_out=other_ingresses(*asked))
    sonic = of[Device.SONIC]
    tables = json.loads(sonic.text)
    assert [*tables["BUFFER_QUEUE"]] == [
        "PORT_h0|QUEUE_storage-switch-h0",
        "PORT_h0|QUEUE_tcp-switch-h0",
    ]
    weights = {name: row["weight"] for name, row in tables["SCHEDULER"].items()}
    assert weights == {"scheduler_storage-switch-h0": "15", "scheduler_tcp-switch-h0": "14"}
    assert {row["scheduler"] for row in tables["QUEUE"].values()} == {*weights}
    # Senders of two rates have one setting; their own queues are no setting of this switch.
    ((place, group),) = tables["BUFFER_PG"].items()
    assert place == "PORT_h0|PG"
    ingress = tables["BUFFER_PROFILE"][group["profile"]]
    assert (ingress["xoff"], ingress["xon_offset"], ingress["dynamic_th"]) == (
        "96928",
        "2496",
        "-3",
    )
    assert "ingress" not in [one.key for one in sonic.left_out]
    assert not [one.key for one in sonic.left_out if "uplink0" in one.key]
    (told,) = [one for one in of[Device.OPENCONFIG].left_out if one.key == "ingress"]
    assert "BUFFER_PG" in told.reason


def test_a_port_alone_keeps_its_lines() -> None:
    source = Scenario.read("lossless")
    assert of_same_switch(source, sharing(source, "storage-uplink0-switch"))
    links = sharing(Scenario.read("leaf"), "tor-switch-h0")
    assert of_same_switch(Scenario.read("leaf"), links) == ()
