"""The scenarios whose results `compare_results.py` records: short, and together of every kind.

Controls, disciplines and slow starts come from what the engine says about itself, so a new one is
among them without a line here. Every shipped scenario and every example in Python is there too, in
less time (`shortened_scenarios.py`).
"""

import json
from collections.abc import Iterator
from copy import deepcopy

from recorded_sources import source_scenarios
from recorded_transport import transport_scenarios
from shortened_scenarios import example_scenarios, shipped_scenarios_in_less_time
from small_scenario import (
    LINK,
    MIX,
    REQUIRED,
    Document,
    Parameter,
    another_value,
    dumbbell,
)
from tailroom import _engine

TAIL: Document = {"kind": "drop_tail"}
SOME_RTTS: Document = {"from": "20 ms", "to": "60 ms"}
FAST_RTTS: Document = {"from": "80 ms", "to": "120 ms"}

CONTROL_NEEDS: dict[str, Document] = {
    "dctcp": {"ecn": "accurate"},
    "dcqcn": {"ecn": "accurate"},
    "prague": {"ecn": "l4s"},
}
"""Keys of the group that a control is refused without."""

CONTROL_ALSO: dict[tuple[str, str], Document] = {
    ("dcqcn", "notification_interval"): {"alpha_timer": "100 us"},
}
"""Parameters of a control that another value of one needs."""

QUEUE_VARIANTS: dict[str, list[Document]] = {
    "fair": [
        {"scheduler": "deficit_round_robin", "quantum": "3000 B"},
        {"scheduler": "deficit_round_robin", "buckets": 4, "drop_from": "tail"},
        {"scheduler": "priority_fair", "weights": {"reno": 2.0, "call": 4.0}},
    ],
    "cake": [
        {"rate": "9 Mbit/s", "isolation": "flows", "ingress": True, "memlimit": "200 kB"},
        {"rate": "5 Mbit/s", "overhead": "10 B", "mpu": "64 B", "cells": "atm"},
        {"isolation": "flowblind", "autorate_ingress": True, "rate": "8 Mbit/s"},
    ],
    "fq_codel": [{"limit": "300 packets"}],
    "fq_pie": [{"limit": "300 packets"}],
    "red": [{"wait": True, "mode": "bytes"}, {"max_threshold": "40 packets", "gentle": False}],
}
"""Parameters that act together or need one another."""

NEED_ANOTHER = {
    ("fair", "quantum"),
    *(("cake", key) for key in ("isolation", "mpu", "memlimit")),
}
"""Parameters of a discipline that are refused alone or at random, and are in `QUEUE_VARIANTS`."""

LOSSES: dict[str, Document] = {
    "none": {},
    "bernoulli": {"probability": 0.002},
    "periodic": {"every": 500},
    "gilbert_elliott": {
        "good_to_bad": 0.001,
        "bad_to_good": 0.3,
        "loss_good": 0.0001,
        "loss_bad": 0.9,
    },
}
"""Parameters of each kind of random loss."""

POLICIES: dict[str, Document] = {
    "complete_sharing": {},
    "complete_partitioning": {},
    "static_threshold": {"threshold": "30 kB"},
    "dynamic_threshold": {"alpha": 0.5},
    "abm": {"interval": "20 ms"},
    "fab": {"window": "50 ms"},
    "occamy": {"memory_rate": "100 Mbit/s"},
    "longest_queue_drop": {},
}
"""Parameters of each policy of shared memory."""

LOADS: dict[str, Document] = {
    "finite_flows": {"size": "50 kB"},
    "incast": {"fan_in": 5, "size": "20 kB"},
    "streaming": {"rate": "1 Mbit/s", "duration": "2 s"},
    "web": {"model": "ns3", "pages": 3},
}
"""Sources that offer a load to a link that is not the slowest on their path."""


def recorded_scenarios() -> dict[str, Document]:
    """Every scenario by its name, such as `control/cubic/beta` or `shipped/first`."""
    components = json.loads(_engine.components())
    scenarios: dict[str, Document] = {}
    for part in (
        shipped_scenarios_in_less_time(),
        example_scenarios(),
        _controls(components["congestion"]),
        _queues(components["queue"]),
        _losses(components["loss"]),
        _reordering(),
        _token_buckets(),
        _pools(),
        _pauses(),
        _lines(),
        source_scenarios(components["source"]),
        transport_scenarios(components["slow_start"], components["host"]),
        _networks(),
        _recordings(),
    ):
        for name, document in part:
            if name in scenarios:
                raise ValueError(f"two scenarios are named {name}")
            scenarios[name] = document
    return scenarios


def _controls(components: list[Document]) -> Iterator[tuple[str, Document]]:
    """Each control under loss, under marks and paced, and each of its parameters changed."""
    for component in components:
        kind = component["kind"]
        if kind == "custom":
            continue  # the examples are such controls
        needs = CONTROL_NEEDS.get(kind, {})
        marks = {"kind": "step_mark", "limit": "200 packets", "threshold": "30 packets"}
        yield f"control/{kind}", _under_control({"kind": kind}, needs)
        marked = {"ecn": "accurate", **needs}
        yield f"control/{kind}/marked", _under_control({"kind": kind}, marked, queue=marks)
        host = {"host": "linux", **needs}
        yield f"control/{kind}/linux", _under_control({"kind": kind}, host, queue="fq_codel")
        yield f"control/{kind}/extreme", _at_extremes({"kind": kind}, needs)
        for name, values in _changed_parameters(component["parameters"]):
            for label, value in values:
                queue = marks if needs or name == "abe" else None
                keys = {"ecn": "classic"} if name == "abe" else needs
                control = {"kind": kind, name: value, **CONTROL_ALSO.get((kind, name), {})}
                document = _under_control(control, keys, queue=queue)
                yield f"control/{kind}/{label}", document


def _under_control(
    control: Document, keys: Document, queue: Document | str | None = None
) -> Document:
    """Flows under `control` on each of three links, so that windows are small, middling and large.

    The first link loses packets at random and an unresponsive flow crosses it, and flows that
    arrive and leave; the second is slow and has a deep buffer; the third is fast and long.
    """
    group = {"count": 2, "congestion": control, **keys}
    loss = {"kind": "bernoulli", "probability": 0.0003}
    lossy = {"loss": loss, **({"queue": queue} if queue else {})}
    document = dumbbell({"lossy": {**group, "rtt": SOME_RTTS}, "call": MIX["call"]}, lossy)
    others = {
        "deep": {"rate": "5 Mbit/s", "delay": "10 ms", "queue": {**TAIL, "limit": "100 ms"}},
        "fast": {"rate": "400 Mbit/s", "delay": "20 ms", "queue": {**TAIL, "limit": "40 ms"}},
    }
    document["links"].update(others)
    document["flows"]["deep"] = {**group, "count": 4, "path": ["deep"], "rtt": "40 ms"}
    document["flows"]["fast"] = {**group, "path": ["fast"], "rtt": FAST_RTTS}
    source = {"kind": "finite_flows", "size": "100 kB", "load": 0.1, "flow_log": 100}
    finite = {"path": ["bottleneck"], "rtt": "30 ms", "source": source}
    document["flows"]["finite"] = {"congestion": control, **keys, **finite}
    return document


def _at_extremes(control: Document, keys: Document) -> Document:
    """Flows under `control` with tiny windows, over a satellite, and on a path that changes.

    Half a minute is enough for controls that look at the path every ten seconds.
    """
    group = {"congestion": control, **keys}
    tiny_packets = {"packet_size": "300 B", "count": 5, "rtt": "8 ms"}
    tiny, shallow = ({**TAIL, "limit": limit} for limit in ("5 packets", "0.2 bdp"))
    changes = [
        {"at": "8 s", "rate": "5 Mbit/s"},
        {"at": "16 s", "delay": "40 ms"},
        {"at": "22 s", "rate": "40 Mbit/s", "delay": "5 ms"},
    ]
    return {
        "duration": "30 s",
        "measure_from": "1 s",
        "series": {"interval": "500 ms"},
        "defaults": {"host": "plain"},
        "links": {
            "thin": {"rate": "2 Mbit/s", "delay": "1 ms", "queue": tiny},
            "satellite": {"rate": "20 Mbit/s", "delay": "300 ms", "queue": shallow},
            "changing": {**LINK, "rate": "20 Mbit/s", "changes": changes},
        },
        "flows": {
            "thin": {**group, "path": ["thin"], **tiny_packets},
            "satellite": {**group, "path": ["satellite"], "rtt": "620 ms"},
            "changing": {**group, "path": ["changing"], "rtt": "30 ms"},
            "later": {**group, "path": ["changing"], "rtt": "50 ms", "start": "4 s"},
        },
    }


def _queues(components: list[Document]) -> Iterator[tuple[str, Document]]:
    """Each discipline by itself, and each of its parameters changed."""
    for component in components:
        kind, parameters = component["kind"], component["parameters"]
        if kind == "custom":
            continue  # an example is such a discipline
        plain = {"kind": kind, **{p["name"]: REQUIRED[p["name"]] for p in parameters if _needed(p)}}
        yield f"queue/{kind}", _over_queue(plain)
        changes = [
            (label, {name: value})
            for name, values in _changed_parameters(parameters)
            for label, value in values
            if (kind, name) not in NEED_ANOTHER
        ]
        variants = QUEUE_VARIANTS.get(kind, [])
        changes += [(f"variant_{number}", keys) for number, keys in enumerate(variants, 1)]
        for label, keys in changes:
            yield f"queue/{kind}/{label}", _over_queue({**plain, **keys})


def _needed(parameter: Parameter) -> bool:
    return "default" not in parameter and parameter["name"] in REQUIRED


def _over_queue(queue: Document) -> Document:
    """CUBIC with ECN, Reno, Prague and a call over one queue, and a flood for two seconds."""
    source = {"kind": "cbr", "rate": "48 Mbit/s"}
    flood = {"packet_size": "300 B", "source": source, "start": "6 s", "stop": "8 s"}
    return dumbbell({**MIX, "flood": flood}, {"queue": queue})


def _changed_parameters(
    parameters: list[Parameter],
) -> Iterator[tuple[str, list[tuple[str, object]]]]:
    """Other values than the default of each parameter, each with a label."""
    for parameter in parameters:
        name = parameter["name"]
        if choices := parameter.get("choices"):
            others = [one for one in choices if one != parameter.get("default")]
            yield name, [(f"{name}_{one}", one) for one in others]
        elif (value := another_value(parameter)) is not None:
            yield name, [(name, value)]


def _losses(components: list[Document]) -> Iterator[tuple[str, Document]]:
    for component in components:
        kind = component["kind"]
        loss = {"kind": kind, **LOSSES.get(kind, {})}
        yield f"loss/{kind}", dumbbell(MIX, {"loss": loss})


def _reordering() -> Iterator[tuple[str, Document]]:
    for kind, chosen in (("bernoulli", {"probability": 0.02}), ("periodic", {"every": 70})):
        reorder = {"kind": kind, **chosen, "extra_delay": "6 ms"}
        yield f"reorder/{kind}", dumbbell(MIX, {"reorder": reorder})


def _token_buckets() -> Iterator[tuple[str, Document]]:
    bucket: Document = {"rate": "30 Mbit/s", "burst": "30 kB"}
    line: Document = {"peak_rate": "40 Mbit/s", "overhead": "40 B", "cells": "atm"}
    for name, link in {
        "policer": {"policer": bucket},
        "shaper": {"shaper": bucket},
        "shaper_of_a_line": {"shaper": {**bucket, **line}},
        "shaper_with_a_timer": {"shaper": {**bucket, "granularity": "10 ms"}, "policer": bucket},
    }.items():
        yield f"token_bucket/{name}", dumbbell(MIX, link)


def _pools() -> Iterator[tuple[str, Document]]:
    """Two links of one pool, under each policy; an unresponsive flow fills the second."""
    for kind, keys in POLICIES.items():
        memory = {"size": "120 kB", "policy": {"kind": kind, **keys}}
        for label, pool in {"": {}, "/cells": {"cell": "208 B", "frees": "at start"}}.items():
            document = dumbbell(MIX, {"queue": "drop_tail", "pool": "memory", "reserved": "9 kB"})
            full = {**LINK, "rate": "20 Mbit/s", "queue": "drop_tail", "pool": "memory"}
            document["links"]["full"] = full
            source = {"kind": "poisson", "rate": "21 Mbit/s"}
            document["flows"]["flood"] = {"path": ["full"], "source": source}
            document["pools"] = {"memory": {**memory, **pool}}
            yield f"pool/{kind}{label}", {**document, "series": {"interval": "500 ms"}}
            if kind == "abm":
                other_priority = deepcopy(document)
                other_priority["links"]["full"] |= {"priority": 1, "alpha": 4.0}
                yield f"pool/{kind}{label}/priority", other_priority
            if kind == "dynamic_threshold":
                lower = deepcopy(document)
                lower["pools"]["memory"]["policy"]["lower_alphas"] = [0.1]
                lower["flows"]["flood"]["loss_priority"] = 1
                yield f"pool/{kind}{label}/loss_priority", lower
                own_alpha = deepcopy(document)
                own_alpha["links"]["full"]["alpha"] = 4.0
                yield f"pool/{kind}{label}/own_alpha", own_alpha
                of_one_port = deepcopy(own_alpha)
                of_one_port["pools"]["memory"]["policy"]["port_alpha"] = 2.0
                for link in of_one_port["links"].values():
                    link["port"] = "both"
                yield f"pool/{kind}{label}/port_alpha", of_one_port


def _pauses() -> Iterator[tuple[str, Document]]:
    """A link that a switch pauses for a slower link behind it."""
    pause = {"xoff": "40 kB", "xon": "20 kB", "headroom": "20 kB", "response_time": "1 ms"}
    queues: Document = {"drop_tail": {"kind": "drop_tail", "limit": "90 kB"}, "codel": "codel"}
    for name, queue in queues.items():
        document = dumbbell(MIX, {"queue": queue, "pause": pause})
        slow = {**LINK, "rate": "20 Mbit/s", "queue": queue}
        document["links"]["slow"] = slow
        for group in document["flows"].values():
            group["path"] = [*group["path"], "slow"]
        yield f"pause/{name}", document
        waiting = deepcopy(document)
        first, *_ = waiting["links"].values()
        first["pause_frames_over"] = "back"
        waiting["links"]["back"] = slow
        source = {"kind": "cbr", "rate": "15 Mbit/s"}
        waiting["flows"]["back"] = {"path": ["back"], "source": source}
        yield f"pause/{name}/frames_over_link", waiting
        document = deepcopy(document)
        first, *_ = document["links"].values()
        first["ingress"] = {"pool": "memory", "alpha": 0.5, "xon_offset": "2 kB"}
        memory: Document = {"size": "30 kB", "headroom": "20 kB"}
        document["ingress_pools"] = {"memory": memory}
        yield f"pause/{name}/moving", document
        lossy = deepcopy(document)
        first, *_ = lossy["links"].values()
        del first["pause"], first["ingress"]["xon_offset"]
        yield f"pause/{name}/lossy_ingress", lossy
        document = deepcopy(document)
        document["ingress_pools"]["memory"]["includes_headroom"] = True
        yield f"pause/{name}/headroom_in_memory", document


def _lines() -> Iterator[tuple[str, Document]]:
    """Two classes of a port, by weight and by priority, with every second group in the second."""
    places: dict[str, Document] = {"weight": {"weight": 3.0}, "priority": {"priority": 1}}
    for name, place in places.items():
        document = dumbbell(MIX, {"line": {"name": "port"}})
        (first, link), *_ = document["links"].items()
        document["links"]["second"] = {**link, "line": {"name": "port", **place}}
        for index, group in enumerate(document["flows"].values()):
            group["path"] = ["second" if index % 2 else first]
        yield f"line/{name}", document


def _networks() -> Iterator[tuple[str, Document]]:
    """Several hops, shared reverse paths, two-way traffic, and links that change."""
    cubic = {"congestion": "cubic", "count": 2}
    link = {"rate": "40 Mbit/s", "delay": "3 ms", "queue": {"kind": "drop_tail", "limit": "40 ms"}}
    chain: Document = {"west": link, "middle": {**link, "queue": "fq_codel"}, "east": link}
    through = {"through": {**cubic, "path": list(chain)}}
    local = {f"at_{name}": {**cubic, "path": [name], "rtt": "30 ms"} for name in chain}
    yield "network/parking_lot", _network(chain, {**through, **local})
    cake = {"kind": "cake", "rate": "30 Mbit/s", "isolation": "dual-srchost"}
    home: Document = {
        "far": {**cubic, "path": ["up"], "reverse_path": ["down"], "hosts": {"sources": 2}},
        "near": {**cubic, "path": ["down"], "hosts": {"sources": ["a"]}, "dscp": "CS1"},
    }
    shaped = {**link, "queue": cake}
    yield "network/hosts", _network({"up": shaped, "down": shaped}, home)
    for kind, keys in LOADS.items():
        source = {"kind": kind, "load": 0.5, "load_of": "east", **keys}
        finite: Document = {"path": list(chain), "source": source}
        if kind != "streaming":
            finite["congestion"] = "cubic"
        narrow = {**chain, "west": {**link, "rate": "30 Mbit/s"}}
        yield f"network/load_of_{kind}", _network(narrow, {"finite": finite})
    ways: Document = {"down": link, "up": {**link, "rate": "4 Mbit/s"}}
    down = {**cubic, "path": ["down"], "reverse_path": ["up"], "rtt": "40 ms"}
    up = {**cubic, "path": ["up"], "reverse_path": ["down"], "rtt": "40 ms"}
    yield "network/reverse_path", _network(ways, {"down": {**down, "ack_size": "60 B"}})
    aggregated = {**down, "delayed_ack": True, "ack_aggregation": "4 ms", "sender_side": 1.0}
    yield "network/two_way", _network(ways, {"down": aggregated, "up": up})
    log = {"arrival_log": {"from": "3 s", "to": "5 s"}}
    logged: Document = {name: {**one, **log} for name, one in ways.items()}
    yield (
        "network/two_way_logged",
        _network(logged, {"down": {**down, "recovery": "rack"}, "up": up}),
    )
    ends = {"endpoint_log": {"from": "3 s", "to": "5 s", "most_packets": 100_000}}
    yield "network/two_way_ends", _network(ways, {"down": {**down, **ends}, "up": up})
    fair: Document = {name: {**one, "queue": "codel"} for name, one in ways.items()}
    yield (
        "network/two_way_codel",
        _network(fair, {"down": {**down, "congestion": "bbr3"}, "up": up}),
    )
    changes = [
        {"at": "3 s", "rate": "10 Mbit/s"},
        {"at": "6 s", "delay": "20 ms"},
        {"at": "7 s", "rate": "0 bit/s"},
        {"at": "7500 ms", "rate": "50 Mbit/s", "delay": "1 ms"},
    ]
    for queue in ("drop_tail", "fq_codel", "pie", "dual_pi2"):
        rule: object = {"kind": queue, "limit": "60 ms"} if queue == "drop_tail" else queue
        yield f"network/changes_{queue}", dumbbell(MIX, {"changes": changes, "queue": rule})
        opportunities: Document = {"trace": "opportunities.txt", "rate": None, "queue": rule}
        yield f"network/trace_{queue}", dumbbell(MIX, opportunities)
    for shift in (1, 7):
        alone = dumbbell({"reno": {**MIX["reno"], "send_jitter": "none"}}, {})
        yield f"network/phase_shift_{shift}", {**alone, "phase_shift": shift}
    limited = {"title": "A limit of memory", "memory_limit": "100 MB"}
    yield "network/memory_limit", {**dumbbell(MIX, {}), **limited}
    yield "network/seed_7", {**dumbbell(MIX, {"queue": "codel"}), "seed": 7}


def _network(links: Document, flows: Document) -> Document:
    return {
        "duration": "10 s",
        "measure_from": "2 s",
        "defaults": {"host": "plain"},
        "links": links,
        "flows": flows,
    }


def _recordings() -> Iterator[tuple[str, Document]]:
    """Tables of results: logs, series and the index of dispersion."""
    logs: Document = {
        "packet_log": 5000,
        "arrival_dispersion": "1 ms",
        "arrival_log": {"from": "3 s", "to": "5 s"},
    }
    for name in ("drop_tail", "red", "fq_codel", "dual_pi2"):
        queue = {"kind": name, "limit": "50 packets"}
        document = dumbbell(MIX, {**logs, "queue": queue})
        yield f"recording/{name}", {**document, "series": {"interval": "20 ms"}}
    finite = {
        "path": ["bottleneck"],
        "congestion": "cubic",
        "rtt": {"uniform": ["20 ms", "80 ms"]},
        "source": {"kind": "finite_flows", "size": "60 kB", "load": 0.9, "flow_log": 5000},
    }
    flows = {**MIX, "short": finite}
    for queue_kind in ("drop_tail", "fair"):
        link = {**logs, "queue": {"kind": queue_kind, "limit": "50 packets"}}
        yield f"recording/finite_flows_{queue_kind}", dumbbell(flows, link)
    admissions = {
        "min_fair_rate": {"min_fair_rate": "2 Mbit/s"},
        "max_priority_load": {"max_priority_load": 0.6, "interval": "200 ms"},
    }
    for name, admission in admissions.items():
        queue = {"kind": "fair", "scheduler": "priority_fair", "limit": "100 packets"}
        yield f"admission/{name}", dumbbell(flows, {"queue": queue, "admission": admission})
