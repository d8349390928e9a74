"""Random ports: every key of a link that shapes packets, each given or not."""

from typing import Any

from hypothesis import strategies as st

LIMITS = st.sampled_from(["40 packets", "64 kB", "335 packets", "20 ms", "0.5 bdp"])
OWN = {"kind": "drop_tail", "limit": "1 MB"}
QUEUES: dict[str, dict[str, st.SearchStrategy[Any]]] = {
    "drop_tail": {},
    "drop_head": {},
    "codel": {"target": st.sampled_from(["5 ms", "1.5 ms"])},
    "fq_codel": {"quantum": st.sampled_from(["1514 B", "3 kB"]), "flows": st.just(64)},
    "pie": {"target": st.sampled_from(["15 ms", "5 ms"])},
    "fq_pie": {"target": st.sampled_from(["15 ms", "5 ms"])},
    "cake": {
        "rate": st.just("4 Mbit/s"),
        "isolation": st.sampled_from(["flows", "flowblind"]),
        "overhead": st.just("18 B"),
        "cells": st.just("ptm"),
    },
    "step_mark": {"threshold": st.just("20 packets"), "drop_others": st.booleans()},
    "wred": {"k_min": st.just("10 packets"), "k_max": st.just("30 packets"), "p_max": st.just(0.2)},
}
PARTS: dict[str, st.SearchStrategy[Any]] = {
    "shaper": st.sampled_from(
        [
            {"rate": "5 Mbit/s", "burst": "6 kB"},
            {"rate": "5 Mbit/s", "burst": "6 kB", "peak_rate": "10 Mbit/s"},
            {"rate": "5 Mbit/s", "burst": "6 kB", "granularity": "1 ms", "overhead": "40 B"},
            {"rate": "5 Mbit/s", "burst": "6 kB", "cells": "atm"},
            {"rate": "5 Mbit/s", "burst": "6 kB", "cells": "ptm"},
        ]
    ),
    "policer": st.just({"rate": "50 Mbit/s", "burst": "250 kB"}),
    "loss": st.sampled_from(
        [{"kind": "bernoulli", "probability": 0.01}, {"kind": "periodic", "every": 500}]
    ),
    "changes": st.sampled_from(
        [[{"at": "1 s", "rate": "50 Mbit/s"}], [{"at": "1 s", "delay": "9 ms"}]]
    ),
    "jitter": st.just({"extra_delay": {"kind": "uniform", "from": "0 ms", "to": "8 ms"}}),
    "reorder": st.just({"kind": "periodic", "every": 100, "extra_delay": "5 ms"}),
    "line": st.just({"name": "up", "priority": 3, "weight": 2}),
    "pause": st.sampled_from(
        [
            {"xoff": "60 kB", "xon": "50 kB", "headroom": "30 kB"},
            {"xoff": "60 kB", "xon": "0 B", "headroom": "40 kB", "response_time": "1 us"},
        ]
    ),
    "admission": st.just({"min_fair_rate": "1 Mbit/s"}),
}
"""Tables of a link; `changes` and `shaper` exclude some of the others."""
POLICIES = st.sampled_from(
    [
        {"kind": "dynamic_threshold", "alpha": 2},
        {"kind": "dynamic_threshold", "alpha": 0.125, "port_alpha": 4},
        {"kind": "static_threshold", "threshold": "200 kB"},
        {"kind": "complete_sharing"},
    ]
)
INGRESS = st.sampled_from(
    [
        {"alpha": 0.125, "memory": {"size": "8 MB"}},
        {"alpha": 0.5, "memory": {"size": "8 MB", "headroom": "1 MB"}},
        {"alpha": 0.5, "memory": {"size": "8 MB", "includes_headroom": True}},
    ]
)


@st.composite
def ports(draw: st.DrawFn, kinds: tuple[str, ...] = tuple(QUEUES)) -> dict[str, Any]:
    """A scenario with a link `port` as a dictionary."""
    kind = draw(st.sampled_from(kinds))
    queue = {"kind": kind, "limit": draw(LIMITS)}
    queue |= {key: draw(values) for key, values in QUEUES[kind].items()}
    link: dict[str, Any] = {"rate": "100 Mbit/s", "delay": "2 ms", "queue": queue}
    for name in sorted(draw(st.sets(st.sampled_from(sorted(PARTS)), max_size=3))):
        link[name] = draw(PARTS[name])
    if {"line", "shaper"} & link.keys():
        # The changes of a line are those of all its links, and a shaper needs a constant rate.
        link.pop("changes", None)
    scenario: dict[str, Any] = {"duration": "10 s", "links": {"port": link}}
    if "line" in link:
        same = {key: link[key] for key in ("rate", "delay", "line")}
        scenario["links"]["next_to"] = {**same, "queue": OWN}
    if draw(st.booleans()):
        pool: dict[str, Any] = {"size": "2 MB", "policy": draw(POLICIES)}
        pool |= draw(st.sampled_from([{}, {"mark_above": "1 MB"}, {"cell": "208 B"}]))
        scenario["pools"] = {"asic": pool}
        link["pool"] = "asic"
        link |= draw(st.sampled_from([{}, {"reserved": "18 kB"}]))
        if pool["policy"]["kind"] == "dynamic_threshold":
            link |= draw(st.sampled_from([{}, {"alpha": 0.25}]))
    if draw(st.booleans()):
        ingress = dict(draw(INGRESS))
        if "pause" in link:
            ingress |= draw(st.sampled_from([{}, {"xon_offset": "2 kB"}]))
        else:
            ingress["memory"] = {"size": "8 MB"}
        scenario["ingress_pools"] = {"tor": ingress.pop("memory")}
        link["ingress"] = {"pool": "tor", **ingress}
    # What a pause or an ingress counts waits at the next link.
    scenario["links"]["out"] = {"rate": "90 Mbit/s", "delay": "0 s", "queue": OWN}
    group = {"count": 4, "congestion": "cubic", "path": ["port", "out"], "rtt": "40 ms"}
    some = {"kind": "finite_flows", "load": 0.1, "size": "20 kB"}
    scenario["flows"] = {"f": group, "g": {**group, "source": some}}
    del scenario["flows"]["g"]["count"]
    return scenario
