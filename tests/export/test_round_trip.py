"""No key of a port is lost on the way to another tool: it is in the lines, or left out by name."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

import tailroom as tr
from tailroom.export.devices import Device, on_devices
from tailroom.export.other_tools import Equivalent, equivalents
from tailroom.models.bottleneck import Bottleneck, read_bottleneck
from tailroom.scenario.scenario import Scenario
from tests.export.ports import QUEUES, ports

SCHEMA = Path(__file__).parents[2] / "schema" / "scenario.schema.json"
OBSERVES = {"packet_log", "arrival_dispersion", "arrival_log"}
"""Keys of a link that change no result."""
VARIATION = {"rate": {"kind": "uniform", "from": "50 Mbit/s", "to": "90 Mbit/s"}, "every": "1 s"}
NAMES = {"pool", "ingress.pool", "line.name"}
"""Keys that say which table or line is meant."""
GROUP = {"congestion": "reno", "rtt": "19 ms"}
OVER = {"f": {**GROUP, "path": ["port", "out"]}}
PLAIN = {"duration": "10 s", "flows": OVER}


def read(scenario: Any) -> Bottleneck:
    """The link, if the scenario is valid."""
    try:
        return read_bottleneck(Scenario.of(scenario), "port")
    except tr.ScenarioError:
        assume(False)
        raise


def writers(link: Bottleneck) -> dict[str, Equivalent]:
    """Every writer's lines by tool."""
    tools = {one.tool: one for one in equivalents(link)}
    return tools | {str(device): one for device, one in on_devices(link).items()}


def said(one: Equivalent) -> tuple[object, ...]:
    return (one.purpose, one.text, one.notes)


def mutations(value: object) -> Iterator[object]:
    """Other values of the same kind."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, (int, float)):
        yield from (value / 2, value * 2)
    elif isinstance(value, str) and (found := re.fullmatch(r"([\d.]+) (\D+)", value)):
        number, unit = found.groups()
        unit = "packets" if unit == "packet" else unit
        yield from (f"{int(10 * float(number) or 1) * by} {unit}" for by in (2, 5))
    else:
        yield f"{value} and more"


def notices(after: Equivalent | None, before: Equivalent, key: str) -> bool:
    """Whether another value of a key changes what is said, or the key is then left out."""
    if after is None or said(after) != said(before):
        return True
    return key in {left.key for left in after.left_out}


def with_key(link: Bottleneck, key: str, value: Any) -> Bottleneck:
    """The link with another value of a key."""
    kind = value if key == "queue.kind" else link.discipline
    return replace(link, discipline=kind, port={**link.port, key: value})


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(ports())
def test_a_change_of_any_key_is_in_the_lines_or_left_out_by_name(scenario: dict[str, Any]) -> None:
    link = read(scenario)
    before = writers(link)
    # A limit above the memory of the pool binds nothing.
    idle = {"queue.limit"} if "pool" in link.port else set()
    for key, value in link.port.items():
        if key in NAMES | idle:
            continue
        changed = [writers(with_key(link, key, new)) for new in mutations(value)]
        for tool, one in before.items():
            if not one.has_lines or key in {left.key for left in one.left_out}:
                continue
            noticed = any(notices(after.get(tool), one, key) for after in changed)
            assert noticed, f"{tool} loses {key} = {value}:\n{one.text}"


def test_each_key_of_a_link_is_one_of_its_port() -> None:
    """A new key of the schema is noticed here until it is one of the port."""
    properties = json.loads(SCHEMA.read_text(encoding="utf-8"))["$defs"]["LinkConfig"]["properties"]
    plain = {"rate": "100 Mbit/s", "delay": "2 ms", "queue": {"kind": "drop_tail", "limit": "9 ms"}}
    pool = {"size": "9 MB", "policy": {"kind": "dynamic_threshold", "alpha": 2, "port_alpha": 8}}
    abm = {"size": "9 MB", "policy": {"kind": "abm", "interval": "80 us"}}
    pause = {"xoff": "60 kB", "xon": "50 kB", "headroom": "30 kB"}
    # What a key needs, and its value.
    given: dict[str, tuple[dict[str, Any], Any]] = {
        "rate": ({}, "50 Mbit/s"),
        "delay": ({}, "3 ms"),
        "queue": ({}, {"kind": "drop_tail", "limit": "8 ms"}),
        "pool": ({"pools": {"asic": pool}}, "asic"),
        "reserved": ({"pools": {"asic": pool}, "pool": "asic"}, "18 kB"),
        "alpha": ({"pools": {"asic": pool}, "pool": "asic"}, 0.5),
        "port": ({"pools": {"asic": pool}, "pool": "asic"}, "one"),
        "priority": ({"pools": {"asic": abm}, "pool": "asic"}, 1),
        "loss": ({}, {"kind": "bernoulli", "probability": 0.01}),
        "changes": ({}, [{"at": "1 s", "rate": "50 Mbit/s"}]),
        "shaper": ({}, {"rate": "5 Mbit/s", "burst": "6 kB"}),
        "policer": ({}, {"rate": "5 Mbit/s", "burst": "6 kB"}),
        "line": ({"next_to": {"line": {"name": "up"}}}, {"name": "up", "priority": 3}),
        "pause": ({}, pause),
        "pause_frames_over": ({"pause": pause}, "back"),
        "ingress": ({"ingress_pools": {"tor": {"size": "8 MB"}}}, {"pool": "tor", "alpha": 0.5}),
        "rate_variation": ({}, VARIATION),
        "jitter": ({}, {"extra_delay": {"kind": "uniform", "from": "0 ms", "to": "8 ms"}}),
        "reorder": ({}, {"kind": "periodic", "every": 100, "extra_delay": "5 ms"}),
        "admission": ({}, {"min_fair_rate": "1 Mbit/s"}),
    }
    assert properties.keys() == given.keys() | OBSERVES | {"trace"}
    some = {"kind": "finite_flows", "load": 0.1, "size": "20 kB"}
    flows: dict[str, Any] = {**OVER, "g": {**GROUP, "path": ["back", "out"]}}
    flows["h"] = {**GROUP, "path": ["port"], "source": some}
    for key, (needs, value) in given.items():
        tables = {name: needs[name] for name in ("pools", "ingress_pools") if name in needs}
        own = {name: one for name, one in needs.items() if name not in {*tables, "next_to"}}
        link = {**plain, **own}
        # Each table is in use without the key.
        neighbour = {**plain, **needs.get("next_to", {})}
        back = {**neighbour, **({"pool": "asic"} if "pools" in tables else {})}
        if "ingress_pools" in tables:
            back["ingress"] = {"pool": "tor", "alpha": 1}
        links = {"port": link, "out": plain, "back": back, "next_to": neighbour}
        scenario: Any = {**PLAIN, **tables, "flows": flows}
        scenario["links"] = links
        before = read_bottleneck(Scenario.of(scenario), "port").port
        scenario["links"] = {**links, "port": {**link, key: value}}
        after = read_bottleneck(Scenario.of(scenario), "port").port
        assert after != before, f"{key} is lost"


TC = {
    "queue.limit": r"(?:[pb]fifo|codel|pie|pfifo_head_drop) limit (\d+)",
    "queue.target": r"target (\w+)",
    "queue.interval": r"interval (\w+)",
    "queue.update_interval": r"tupdate (\w+)",
    "queue.flows": r"flows (\d+)",
    "queue.quantum": r"quantum (\d+)",
    "shaper.rate": r"tbf rate (\d+)bit",
    "shaper.burst": r"tbf rate \d+bit burst (\d+)",
    "shaper.peak_rate": r"peakrate (\d+)bit",
    "shaper.overhead": r"overhead (\d+)",
    "policer.rate": r"police rate (\d+)bit",
    "policer.burst": r"police rate \d+bit burst (\d+)",
}
"""Where tc has a key."""
BASE = {"us": 1, "ms": 1000, "s": 10**6, "B": 1, "kB": 1000, "MB": 10**6, "Mbit/s": 10**6}


def base_units(value: object) -> int:
    """A quantity in us, bytes or bit/s; a count as it is."""
    number, _, unit = str(value).partition(" ")
    return round(float(number) * BASE.get(unit, 1))


def of_tc(text: str) -> int:
    number, unit = re.fullmatch(r"(\d+)(us|ms)?", text).groups()  # type: ignore[union-attr]
    return int(number) * BASE.get(unit or "", 1)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(ports(kinds=("drop_tail", "drop_head", "codel", "fq_codel", "pie", "fq_pie")))
def test_what_is_read_back_from_tc_is_what_was_simulated(scenario: dict[str, Any]) -> None:
    link = read(scenario)
    one = equivalents(link)[0]
    assume(one.has_lines)
    left = {key.key for key in one.left_out}
    for key, pattern in TC.items():
        found = re.findall(pattern, one.text)
        if key in link.port and key not in left:
            assert list(map(of_tc, found)) == [base_units(link.port[key])], key
        elif key != "queue.target":  # pie's quantum, target and others share words
            assert not found or key not in link.port or key in left
    counts_bytes = not link.port["queue.limit"].endswith(("packet", "packets"))
    assert ("bfifo" in one.text) == (counts_bytes and link.discipline == "drop_tail")
    assert ("tbf" in one.text) == ("shaper.rate" in link.port)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(ports(kinds=("drop_tail", "step_mark", "wred")))
def test_what_is_read_back_from_sonic_is_what_was_simulated(scenario: dict[str, Any]) -> None:
    port = (link := read(scenario)).port
    one = on_devices(link)[Device.SONIC]
    assume(one.has_lines)
    tables = json.loads(one.text)
    profiles, pools = tables["BUFFER_PROFILE"], tables.get("BUFFER_POOL", {})
    queue = profiles[tables["BUFFER_QUEUE"]["PORT|QUEUE"]["profile"]]
    if "pool" in port:
        assert int(queue["size"]) == base_units(port.get("reserved", "0 B"))
        assert int(pools[queue["pool"]]["size"]) == base_units(port["pool.size"])
    if "alpha" in port:
        assert 2.0 ** int(queue["dynamic_th"]) == port["alpha"]
    assert ("BUFFER_PG" in tables) == ("pause.xoff" in port or "ingress.pool" in port)
    if "BUFFER_PG" in tables:
        group = profiles[tables["BUFFER_PG"]["PORT|PG"]["profile"]]
        if "ingress.alpha" in port:
            assert 2.0 ** int(group["dynamic_th"]) == port["ingress.alpha"]
        for key in ("headroom", "xon"):
            if f"pause.{key}" in port:
                of_sonic = {"headroom": "xoff", "xon": "xon"}[key]
                assert int(group[of_sonic]) == base_units(port[f"pause.{key}"])
        if "ingress.pool.headroom" in port:
            pool = pools["ingress_lossless_pool"]
            assert int(pool["xoff"]) == base_units(port["ingress.pool.headroom"])
    assert ("WRED_PROFILE" in tables) == (link.discipline != "drop_tail")


@pytest.mark.parametrize("kind", sorted(QUEUES))
def test_a_tool_without_lines_leaves_nothing_out(kind: str) -> None:
    needs = {
        "step_mark": {"threshold": "9 packets"},
        "wred": {"k_min": "9 packets", "k_max": "19 packets"},
    }
    queue = {"kind": kind, "limit": "40 packets", **needs.get(kind, {})}
    port = {"rate": "100 Mbit/s", "delay": "2 ms", "queue": queue}
    scenario: Any = {**PLAIN, "links": {"port": port, "out": port}}
    link = read_bottleneck(Scenario.of(scenario), "port")
    for one in writers(link).values():
        assert one.has_lines or not one.left_out
