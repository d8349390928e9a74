"""Strategies for whole scenarios, from the schema that `tailroom schema` prints.

A schema does not say which keys contradict one another. `usual_scenarios` therefore mends what it
draws, so that most of its scenarios run; `hostile_scenarios` changes such scenarios afterwards,
into what nobody would write.
"""

import copy
import json
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from hypothesis import strategies as st

from tailroom import _engine
from tests.hostile.from_schema import EXTREME, Draw, Values

Scenario = dict[str, Any]
Path = tuple[str | int, ...]

LINKS = ("a", "b", "c")
GROUPS = ("f", "g", "h")
DURATIONS = ("20 ms", "1 ms", "5 ms", "50 ms", "100 ms")
DELAYS = ("1 ms", "0 s", "5 ms")
WINDOW_LAWS = (
    "reno", "cubic", "aimd", "highspeed", "fhstcp", "scalable", "bic", "htcp", "vegas", "fast",
    "illinois", "compound", "yeah", "ledbat", "hybla", "westwood",
)  # fmt: skip
NEED_MARKS = ("dctcp", "dcqcn", "prague")
CONTROLS = (*WINDOW_LAWS, "bbr1", "bbr3", "timely", "swift", "packet_pair", "stepped", *NEED_MARKS)
TRACE, FLOW_LIST, SIZES = "up.trace", "flows.csv", "sizes.csv"
OWN = "own_of_attack"
"""Module with a discipline, a scheduler, sources and a control of the caller's."""
OWN_CODE = """\
import tailroom as tr


class Rule:
    def begin(self, link):
        self.random = link.random

    def on_arrival(self, packet, queue):
        if self.random() >= 0.02:
            return "accept"
        return "mark" if packet.is_ecn_capable else "drop"


class Scheduler:
    def on_arrival(self, packet, queue):
        return packet.flow % 2

    def next_packet(self, queue):
        return min(queue.lists)


class Packets:
    def begin(self, flow):
        self.bytes, self.time_s = flow.packet_bytes, 0.0

    def next_packet(self):
        self.time_s += 0.0003
        return self.time_s, self.bytes


class Flows:
    def begin(self, group):
        self.random, self.time_s = group.random, 0.0

    def next_flow(self):
        self.time_s += 0.002
        return tr.FlowRequest(self.time_s, 1 + int(20_000 * self.random()))


class Control:
    def on_ack(self, event):
        return event.cwnd_packets + event.acked_packets / event.cwnd_packets

    def on_congestion(self, event):
        return event.cwnd_packets / 2
"""
FILES = {
    f"{OWN}.py": OWN_CODE,
    TRACE: "1\n2\n2\n5\n9\n",
    FLOW_LIST: "start_s,bytes\n0.001,1000\n0.002,30000\n0.01,1\n",
    SIZES: "100,0.5\n1000,0.9\n20000,1\n",
}
"""Files that lie next to a generated scenario, by name."""
UNCONTROLLED = ("poisson", "cbr", "on_off", "streaming", "custom_packets")
ARRIVALS = ("load", "arrivals_per_second", "period", "arrivals")
"""Keys of which a source of flows has one."""
DYNAMIC = ("finite_flows", "trace", "streaming", "web", "incast", "collective", "custom_flows")
SWITCH: Scenario = {
    "hosts": 5,
    "uplinks": 2,
    "rate": "100 Mbit/s",
    "delay": "1 ms",
    "queue": {"kind": "drop_tail", "limit": "20 packets"},
}
"""A switch for the groups between hosts."""
PAUSE = {"xoff": "2 kB", "xon": "1 kB", "headroom": "300 kB"}
POOL: Scenario = {"size": "1 MB", "policy": "dynamic_threshold"}
MEMORIES: tuple[Scenario, ...] = (
    {},
    {"pause": PAUSE},
    {"pause": PAUSE, "pause_frames_wait": True},
    {"pause": PAUSE, "ingress": {"pool": {"size": "1 MB"}, "alpha": 0.125}},
    {"pool": POOL, "reserved": "2 kB"},
    {"pool": POOL, "ports_per_pool": 2},
)
"""What a switch or a fabric may do with its memory."""
HOSTS = {
    "s": ("s", "s.h0", "s.outside", ["s.h1", "s.h2"]),
    "d": ("d", "d.h0", "d.leaf1", ["d.h1", "d.h5"]),
}
"""What a group may send to, by the switch or fabric that it sends from."""
FABRIC: Scenario = {
    "leaves": 2,
    "spines": 2,
    "hosts": 3,
    **{key: SWITCH[key] for key in ("rate", "delay", "queue")},
}
"""A fabric for the groups between hosts."""
NOT_UNDER_CONTROL = (
    "path",
    "from",
    "to",
    "pairs",
    "source",
    "start",
    "stop",
    "count",
    "packet_size",
    "rtt",
    "access_rate",
)
"""Keys of a group that has no congestion control."""
NAMES_WITHOUT_LIMIT = (
    "drop_tail",
    "red",
    "adaptive_red",
    "drop_head",
    "random_drop",
    "fair",
)
"""Disciplines that need a limit and no other key."""
MANY = 20
"""Usual numbers of flows, windows and bursts are at most this."""

EXTREMES: tuple[Any, ...] = (
    0, -1, 1, 2, 2**31, 2**32, 2**53 + 1, 2**63 - 1, -(2**63), 0.1, 1e308, -1e308, 5e-324,
    float("nan"), float("inf"), float("-inf"), True, False, "", "0 s", "-1 s", "1e400 s", "NaN",
    "1 packet", "1e18 packets", "5MS", "  5   ms ", "../../../../etc/passwd", "os:system",
    "\x1b[31mred", "\x9b31mred", "\0", "$x^$", "<script>", "\u202e", "reno", "bbr3", "codel",
    "a" * 10_001, [], {}, [[[[]]]], {"a": {"b": {"c": 1}}}, {"kind": "custom"}, {"kind": 5},
    {"uniform": ["1 ms", "2 ms"]}, {"uniform": ["2 ms", "1 ms"]}, [1, "two", True],
)  # fmt: skip
"""Values of any type that have broken something, or nearly."""
UNKNOWN_KEYS = ("x", "kind", "rate", "limit", "", "a.b", "é", "RATE", "\u202e", "links", "\x1b[0m")


@lru_cache
def schema() -> dict[str, Any]:
    """The schema of the scenario format, as the engine prints it."""
    document: dict[str, Any] = json.loads(_engine.schema())
    return document


@st.composite
def usual_scenarios(draw: Draw, extremes: int = 1) -> Scenario:
    """Scenarios of which most run, for a short time.

    Args:
        draw: Draws from a strategy.
        extremes: Percentage of values that are as extreme as the schema allows.
    """
    links = LINKS[: draw(st.integers(1, len(LINKS)))]
    texts = {
        "path": links, "reverse_path": links, "load_of": links, "trace": (TRACE,),
        "file": (SIZES,), "congestion": CONTROLS, "control": (f"{OWN}:Control",),
        "queue": ("codel",), "nic_queue": ("codel",),
        "discipline": (f"{OWN}:Rule", f"{OWN}:Scheduler"),
        "title": ("generated", "é漢字", "$x^$", "[bold]"), "metric": ("utilization",),
    }  # fmt: skip
    values = Values(draw, schema()["$defs"], texts, extremes)
    definitions = schema()["$defs"]
    scenario = {"duration": draw(st.sampled_from(DURATIONS)), "seed": draw(st.integers(0, 2**31))}
    for key in ("title", "ties", "phase_shift", "series"):
        if draw(st.booleans()):
            scenario[key] = values.of(schema()["properties"][key], key)
    scenario["links"] = {
        name: _link(values, values.of(definitions["LinkConfig"])) for name in links
    }
    _mend_pools(values, scenario)
    for kind, name, nodes in (("switches", "s", SWITCH), ("fabrics", "d", FABRIC)):
        memory = draw(st.sampled_from(MEMORIES))
        scenario[kind] = {name: copy.deepcopy({**nodes, **memory})}
    groups = GROUPS[: draw(st.integers(1, len(GROUPS)))]
    scenario["flows"] = {
        name: _group(values, values.of(definitions["FlowsConfig"]), links) for name in groups
    }
    _mend_admission(values, scenario)
    _mend_loss_priorities(values, scenario)
    _mend_pauses(values, scenario)
    return scenario


def _link(values: Values, link: Scenario) -> Scenario:
    """Removes from a link what contradicts something else, most of the time."""
    if values.is_extreme():
        return link
    if "trace" in link and values.draw(st.booleans()):
        for key in ("rate", "changes"):
            link.pop(key, None)
    else:
        link.pop("trace", None)
        link.setdefault("rate", values.of({"$ref": "#/$defs/rate"}))
    _mend_changes(link)
    _mend_token_buckets(values, link)
    if "arrival_log" in link:
        link["arrival_log"] = {"from": "0 ms", "to": "1 ms", "most_packets": 1_000}
    if "packet_log" in link:
        link["packet_log"] = 1_000
    link["delay"] = values.draw(st.sampled_from(DELAYS))
    if "admission" in link:
        link["admission"] = {"max_priority_load": 0.9}
        if not values.rarely(4):
            del link["admission"]
    if isinstance(link.get("queue"), dict) and link["queue"].get("kind") == "custom":
        link["queue"].pop("parameters", None)  # the code takes none
    if isinstance(link.get("queue"), dict):
        _mend_queue(values, link["queue"])
    return link


def _mend_pools(values: Values, scenario: Scenario) -> None:
    """Lets the links that have a pool share one, whose policy most of their keys suit."""
    if values.is_extreme():
        return
    members = [link for link in scenario["links"].values() if "pool" in link]
    for link in scenario["links"].values():
        if "pool" not in link:
            link.pop("reserved", None)
        for key in ("alpha", "port", "priority"):
            if link not in members or values.draw(st.booleans()):
                link.pop(key, None)
    if members:
        pool = values.of(schema()["$defs"]["PoolConfig"])
        policy = _policy(values, members)
        scenario["pools"] = {"memory": {**pool, "size": "1 MB", "cell": "208 B", "policy": policy}}
    for link in members:
        link["pool"] = "memory"
        if "reserved" in link:
            link["reserved"] = "80 kB"
    for link in scenario["links"].values():
        if "pool" not in link:
            link["queue"] = _limited(link["queue"])


def _policy(values: Values, members: list[Scenario]) -> object:
    """A policy that the keys of links suit."""
    if any("priority" in link for link in members):
        for link in members:
            link.pop("alpha", None)  # equal for all links of a priority
        return {"kind": "abm", "interval": "1 ms"}
    if any("port" in link for link in members):
        return {"kind": "dynamic_threshold", "port_alpha": 2.0}
    policies = ["dynamic_threshold", "fab"]
    decide_at_arrival = all(_decides_at_arrival(link["queue"]) for link in members)
    if decide_at_arrival:
        policies.append("occamy")
    if not any("alpha" in link for link in members):
        policies.append("complete_sharing")
        if decide_at_arrival:
            policies.append("longest_queue_drop")
    policy: str = values.draw(st.sampled_from(policies))
    return policy


def _limited(queue: Any) -> Any:
    """The queue with a limit, which only a queue of a pool may leave out."""
    if queue in NAMES_WITHOUT_LIMIT:
        queue = {"kind": queue}
    return {"limit": "20 packets", **queue} if isinstance(queue, dict) else queue


def _mend_admission(values: Values, scenario: Scenario) -> None:
    """Removes the admission of flows where none arrive."""
    groups = [group for group in scenario["flows"].values() if _kind(group) in DYNAMIC]
    for name, link in scenario["links"].items():
        if not any(name in group.get("path", ()) for group in groups) and not values.is_extreme():
            link.pop("admission", None)


def _kind(group: Scenario) -> str:
    source = group.get("source", "bulk")
    return str(source.get("kind", "bulk") if isinstance(source, dict) else source)


def _mend_loss_priorities(values: Values, scenario: Scenario) -> None:
    """Gives the pool alphas of all loss priorities; a group that crosses it may have one."""
    if values.is_extreme():
        return
    memory = scenario.get("pools", {}).get("memory", {})
    policy = memory.get("policy")
    policy = {"kind": policy} if isinstance(policy, str) else policy
    has_priorities = policy is not None and policy["kind"] == "dynamic_threshold"
    if has_priorities:
        memory["policy"] = {**policy, "lower_alphas": [0.5] * 7}
    members = {name for name, link in scenario["links"].items() if "pool" in link}
    for group in scenario["flows"].values():
        path = group.get("path", [])
        if not (has_priorities and isinstance(path, list) and members & set(path)):
            group.pop("loss_priority", None)


def _mend_pauses(values: Values, scenario: Scenario) -> None:
    """Thresholds that hold for any packet and pool; a path has to lead on behind the link."""
    if values.is_extreme():
        return
    paths = [group.get("path", []) for group in scenario["flows"].values()]
    leading_on = {link for path in paths if isinstance(path, list) for link in path[:-1]}
    for name, link in scenario["links"].items():
        if name not in leading_on:
            link.pop("pause", None)
            link.pop("ingress", None)
        others = [other for other in scenario["links"] if other != name]
        if link.pop("pause_frames_over", None) and "pause" in link and others:
            link["pause_frames_over"] = others[0]
        if "ingress" in link:
            link["ingress"]["pool"] = "memory"
            if "pause" not in link:
                link["ingress"].pop("xon_offset", None)
            includes = values.draw(st.booleans())
            memory = {"size": "100 kB", "includes_headroom": includes}
            scenario["ingress_pools"] = {"memory": memory}
        if "pause" in link:
            link["pause"] |= {"xoff": "200 kB", "xon": "100 kB", "headroom": "300 kB"}
    _mend_lines(scenario)


def _mend_lines(scenario: Scenario) -> None:
    """Lets the links that have a line share one, with what they must have in common."""
    members = [link for link in scenario["links"].values() if "line" in link]
    for link in members:
        link["line"]["name"] = "port"
        link["delay"] = members[0]["delay"]
        for key in ("changes", "trace", "rate_variation"):
            link.pop(key, None)
        link["rate"] = members[0].get("rate", "10 Mbit/s")
    if len(members) == 1:
        del members[0]["line"]


def _decides_at_arrival(queue: Any) -> bool:
    kind = queue["kind"] if isinstance(queue, dict) else queue
    return kind in {"drop_tail", "red", "adaptive_red", "step_mark", "wred"}


def _mend_changes(link: Scenario) -> None:
    changes = [change for change in link.pop("changes", []) if len(change) > 1]
    for number, change in enumerate(changes):
        change["at"] = f"{number + 1} ms"
    if changes:
        link["changes"] = changes
    if "trace" in link or changes:
        link.pop("rate_variation", None)
    for key in {"rate_variation", "jitter"} & link.keys():
        link[key].pop("on_average_every", None)
        link[key]["every"] = "10 ms"


def _mend_token_buckets(values: Values, link: Scenario) -> None:
    """A shaper needs a constant rate and a packet's tokens, which few drawn ones have."""
    if not {"trace", "changes", "rate_variation"}.isdisjoint(link) or not values.rarely(4):
        link.pop("shaper", None)
    for key in {"shaper", "policer"} & link.keys():
        link[key]["burst"] = values.draw(st.sampled_from(("140 kB", "1 MB")))
    if "shaper" in link:
        link["shaper"]["rate"] = link["rate"]
        for key in ("peak_rate", "overhead"):
            link["shaper"].pop(key, None)


def _mend_queue(values: Values, queue: Scenario) -> None:
    if queue.get("uniform") is False:
        queue.pop("wait", None)
    if queue.get("scheduler") != "deficit_round_robin":
        queue.pop("quantum", None)
    if "weights" in queue:
        queue["weights"] = dict.fromkeys(GROUPS[:1], 2.0)
    if "threshold" in queue:
        queue["threshold"] = "2 packets"
    for key in ("max_p", "target", "interval"):
        if not values.rarely(4):
            queue.pop(key, None)


def _group(values: Values, group: Scenario, links: tuple[str, ...]) -> Scenario:
    """Removes from a group of flows what contradicts something else, most of the time."""
    first = values.draw(st.integers(0, len(links) - 1))
    group["path"] = list(links[first : values.draw(st.integers(first, len(links) - 1)) + 1])
    if values.is_extreme():
        return group
    if not values.rarely(4):
        group.pop("host", None)
    group["reverse_path"] = sorted(set(group.get("reverse_path", ())))
    _shorten(values, group)
    if _kind(group).startswith("custom_"):
        group["source"].pop("parameters", None)  # the code takes none
    source = group.get("source", {})
    source = source if isinstance(source, dict) else {}
    kind = _kind(group)
    _mend_source(values, source, kind, group["path"])
    _mend_hosts(values, group, source, kind)
    if kind in DYNAMIC:
        group.pop("count", None)
    if kind in UNCONTROLLED:
        for key in [key for key in group if key not in NOT_UNDER_CONTROL]:
            del group[key]
        if kind != "cbr":
            group.pop("access_rate", None)
    else:
        _mend_control(values, group)
    return group


def _mend_hosts(values: Values, group: Scenario, source: Scenario, kind: str) -> None:
    """Puts a group on its path or between hosts of the switch."""
    for key in ("from", "to", "pairs"):
        group.pop(key, None)
    if kind != "collective" and not values.rarely(3):
        return
    group["from"] = values.draw(st.sampled_from(("s", "d")))
    for key in ("path", "reverse_path", "rtt"):
        group.pop(key, None)
    source.pop("load_of", None)
    if kind != "collective":
        group["to"] = values.draw(st.sampled_from(HOSTS[group["from"]]))


def _shorten(values: Values, group: Scenario) -> None:
    """Makes numbers so small that a run is short, and sizes and times such that they fit."""
    for key in ("count", "initial_window", "send_burst"):
        if isinstance(group.get(key), int):
            group[key] = 1 + group[key] % MANY
    # An ACK is no smaller than the headers of its host, 52 B with timestamps.
    for key, size in (("header_size", "40 B"), ("ack_size", "52 B")):
        if key in group:
            group[key] = size
    if "endpoint_log" in group:
        group["endpoint_log"] = {"from": "0 ms", "to": "1 ms", "most_packets": 1_000}
    if "packet_size" in group:
        group["packet_size"] = values.draw(st.sampled_from(("1000 B", "576 B", "100 B")))
    if "stop" in group:
        group["start"], group["stop"] = "0 ms", "10 ms"
    if "start" in group and not values.rarely(6):
        group["start"] = "0.3 ms"
    if not values.rarely(20):
        group["rtt"] = values.draw(st.sampled_from(("100 ms", "200 ms", "70 ms")))


def _mend_source(values: Values, source: Scenario, kind: str, path: list[str]) -> None:
    if kind == "trace":
        source["file"] = FLOW_LIST
    if kind == "collective":
        source["size"] = "100 kB"
    if kind.startswith("custom_"):
        source["source"] = f"{OWN}:{'Flows' if kind == 'custom_flows' else 'Packets'}"
    if kind not in ("finite_flows", "web", "streaming", "incast", "objects"):
        return
    if kind == "web":
        source["model"] = "ieee80216m"
    if kind == "incast":
        source["fan_in"] = values.draw(st.integers(1, 4))
        source.pop("think_time", None)
    of_kind = ("arrivals_per_second", "arrivals") if kind == "objects" else ARRIVALS
    chosen = values.draw(st.sampled_from(of_kind))
    usual = {
        "load": 0.5,
        "arrivals_per_second": 200.0,
        "period": "2 ms",
        "arrivals": ["1 ms", "2 ms"],
    }
    for key in ARRIVALS:
        source.pop(key, None)
    source[chosen] = usual[chosen]
    if chosen != "load":
        source.pop("load_of", None)
    elif "load_of" in source:
        source["load_of"] = path[0]


def _mend_control(values: Values, group: Scenario) -> None:
    # One flow in ten is acted on.
    control = "stepped" if values.rarely(10) else group.get("congestion", "reno")
    kind = control.get("kind") if isinstance(control, dict) else control
    if kind == "custom":
        control, kind = {"kind": "custom", "control": f"{OWN}:Control"}, "reno"
    if isinstance(control, dict) and kind == "fixed_window" and "window" in control:
        control["window"] = 1 + control["window"] % MANY
    if isinstance(control, dict):
        for key in [key for key in control if key not in ("kind", "window", "control")]:
            if values.draw(st.booleans()):
                del control[key]
    group["congestion"] = control
    if kind in NEED_MARKS:
        group["ecn"] = "l4s" if kind == "prague" else "accurate"
    elif group.get("ecn") in ("accurate", "l4s"):
        group["ecn"] = "classic"
    for key in ("prr", "recovery", "count_lost_in_pipe", "forget_sack_at_timeout"):
        if kind not in WINDOW_LAWS or values.draw(st.booleans()):
            group.pop(key, None)
    _mend_recovery(group)


def _mend_recovery(group: Scenario) -> None:
    """Removes what the kind of recovery does not go with."""
    if "initial_rto" in group:
        group["initial_rto"] = group.get("min_rto", "1 s")
    if group.get("recovery") != "rack":
        group.pop("rack_timer_margin", None)
    if group.get("recovery") == "newreno":
        for key in ("prr", "sack_compression", "frto"):
            group.pop(key, None)
    if group.get("recovery") == "rack":
        for key in ("count_lost_in_pipe", "forget_sack_at_timeout"):
            group.pop(key, None)
    if group.get("forget_sack_at_timeout"):
        group.pop("frto", None)
    if group.get("frto") or group.get("rtt_samples") == "karn":
        group["undo"] = bool(group.get("frto"))


@st.composite
def hostile_scenarios(draw: Draw) -> Scenario:
    """Scenarios with values of wrong types, extreme numbers, unknown keys and lost parts."""
    scenario: Scenario = copy.deepcopy(draw(usual_scenarios(extremes=3)))
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(scenario))
        if places:
            _change(draw, scenario, draw(st.sampled_from(places)), places)
    return scenario


def _places(value: Any, path: Path = ()) -> Iterator[Path]:
    """Yields the way to each part of a scenario."""
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, item in items:
        yield (*path, key)
        yield from _places(item, (*path, key))


def _part(scenario: Scenario, path: Path) -> Any:
    part: Any = scenario
    for key in path:
        part = part[key]
    return part


def _change(draw: Draw, scenario: Scenario, path: Path, places: list[Path]) -> None:
    """Changes one part of a scenario.

    Args:
        draw: Draws from a strategy.
        scenario: The scenario.
        path: The way to the part.
        places: The ways to all parts.
    """
    parent, key = _part(scenario, path[:-1]), path[-1]
    kind = draw(st.sampled_from(("value", "quantity", "copy", "delete", "rename", "repeat")))
    if kind == "value":
        parent[key] = copy.deepcopy(draw(st.sampled_from(EXTREMES)))
    elif kind == "quantity":
        texts = [text for texts in EXTREME.values() for text in texts]
        parent[key] = draw(st.sampled_from(texts))
    elif kind == "copy":
        parent[key] = copy.deepcopy(_part(scenario, draw(st.sampled_from(places))))
    elif kind == "delete":
        del parent[key]
    elif kind == "rename" and isinstance(parent, dict):
        parent[draw(st.sampled_from(UNKNOWN_KEYS))] = parent.pop(key)
    elif kind == "repeat" and isinstance(parent, dict):
        for number in range(draw(st.integers(1, 30))):
            parent[f"{key}{number}"] = copy.deepcopy(parent[key])
