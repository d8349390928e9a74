"""The fabric of the paper's simulations, its traffic, and both policies."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from tailroom.scenario.types import Scenario
from tailroom_papers.framework import *

FIRST_SEED = 11001

MEMORY_BYTES = 3_932_160
"""Of each leaf: 9.6 KiB for each port and Gbit/s."""
UPLINKS = 8
"""Of a leaf: two spines with four links each, as eight spines with one."""
HOSTS = 32
LOADS = (0.2, 0.4, 0.6, 0.8)
LOAD, BACK_LOAD = "flows.right.source.load", "flows.left.source.load"
REQUEST = "flows.queries.source.size"
POLICY = "fabrics.dc.pool.policy"
NIC_QUEUE, NIC_LIMIT = "fabrics.dc.nic_queue", "100000 packets"
MARKS = {"kind": "step_mark", "threshold": "65 packets"}
DYNAMIC_THRESHOLD = {"kind": "dynamic_threshold", "alpha": 0.5}
ABM = {"kind": "abm", "alpha": 0.5, "interval": "80 us", "first_window_alpha": 1024}
"""Alphas of the paper's scripts, and its round-trip time."""
POLICIES = {"dynamic_threshold": DYNAMIC_THRESHOLD, "abm": ABM}
LABELS = {"dynamic_threshold": "dynamic thresholds", "abm": "ABM"}
WORDS = (
    "Two leaves with 32 hosts each, eight spines, all links at 10 Gbit/s and 10 us long; leaves "
    "have 3.9 MB for all ports. Flows of the web search workload under DCTCP cross the spines; "
    "hosts' interfaces mark as ports do, without which answers wait there behind long flows. Of "
    "queries, 64 begin in a second, which 32 hosts of one leaf answer at once to a host of the "
    "other; the windows of new flows hold 55 packets, a whole answer."
)


def _flows(sender: int, receiver: int) -> dict[str, Any]:
    size = {"kind": "published", "name": "web_search"}
    source = {"kind": "finite_flows", "load": 0.1, "size": size}
    return {"from": f"dc.leaf{sender}", "to": f"dc.leaf{receiver}", "source": source}


SCENARIO = cast(
    Scenario,
    {
        "title": "ABM 2022: web search and queries between two leaves",
        "duration": "1 s",
        "measure_from": "50 ms",
        "fabrics": {
            "dc": {
                "leaves": 2,
                "spines": UPLINKS,
                "hosts": HOSTS,
                "rate": "10 Gbit/s",
                "delay": "10 us",
                "queue": MARKS,
                "nic_queue": {**MARKS, "limit": NIC_LIMIT},
                "pool": {"size": f"{MEMORY_BYTES} B", "policy": DYNAMIC_THRESHOLD},
            }
        },
        "defaults": {
            "host": "data_center",
            "congestion": "dctcp",
            "ecn": "accurate",
            "min_rto": "10 ms",
            "initial_window": 55,
        },
        "flows": {
            "right": _flows(0, 1),
            "left": _flows(1, 0),
            "queries": {
                "from": "dc.leaf0",
                "to": "dc.leaf1",
                "source": {
                    "kind": "incast",
                    "fan_in": HOSTS,
                    "size": "61440 B",
                    "arrivals_per_second": 64,
                },
            },
        },
    },
)


def answer_bytes(share: float) -> str:
    """The size of an answer to a query that asks for a share of a leaf's memory."""
    return f"{round(share * MEMORY_BYTES / HOSTS)} B"


def studies(form: Form, rows: Mapping[str, list[object]]) -> list[Study]:
    """A study of each policy, with settings that vary together, by dotted key."""
    duration = {"duration": f"{form.of(0.1, 0.3, 0.5)} s"}
    return [
        Study(
            name, SCENARIO, together=rows, set={POLICY: policy, **duration}, seeds=form.of(2, 3, 8)
        )
        for name, policy in POLICIES.items()
    ]


def of_links(loads: Sequence[float]) -> dict[str, list[object]]:
    """Loads of the links between leaves and spines, as those of the hosts' links, by dotted key."""
    of_hosts: list[object] = [load * UPLINKS / HOSTS for load in loads]
    return {LOAD: of_hosts, BACK_LOAD: of_hosts}
