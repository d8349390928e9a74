"""The testbed of Section 4: machines at a switch with ports of 1 Gbit/s, under TCP and DCTCP."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from tailroom.scenario.types import DropTailQueue, Pool, Scenario, StepMarkQueue, Switch
from tailroom_papers.framework import *

BOUNDS = Bounds.of(__package__)
FIRST_SEED = 9001

MACHINES = 41
K = 20
"""Packets at which the switch marks at 1 Gbit/s."""
LINK = "tor-switch-h0"
"""The port to the receiver, or to the client of the queries."""
CONTROL, ECN, MIN_RTO = "defaults.congestion", "defaults.ecn", "defaults.min_rto"
QUEUE = "switches.tor.queue"
LABELS = {"reno": "TCP", "dctcp": "DCTCP"}
RTOS = ("300 ms", "10 ms")
"""The default timeout of the authors' stack, and the tick of its timer."""

POOL: Pool = {"size": "4 MB", "policy": {"kind": "dynamic_threshold", "alpha": 0.2121}}
"""The memory of a Triumph. A dynamic threshold with alpha = 7/33 gives a single busy port 700 kB,
alpha / (1 + alpha) of the memory; the paper does not state the policy."""
SWITCH: Switch = {
    "hosts": MACHINES,
    "rate": "1 Gbit/s",
    "delay": "25 us",
    "queue": {"kind": "drop_tail", "limit": "100 kB"},
    "nic_queue": {"kind": "drop_tail", "limit": "10000 packets"},
}
"""Machines have one FIFO, also in the variation with hosts of today. Four links make the round trip
of 100 us that Section 2.3.3 states for a rack."""
SENDERS: Mapping[str, Any] = {
    "host": "plain",
    "congestion": "reno",
    "recovery": "sack",
    "delayed_ack": {"packets": 2, "timeout": "4 ms"},
    "handshake": "done",
    "initial_window": 2,
    "min_rto": "10 ms",
    "rto_granularity": "10 ms",
    "send_jitter": "auto",
}
"""NewReno with SACK, an ACK for two packets, connections that are open, and the delays of real
machines."""
SENDERS_WORDS = (
    "Senders are NewReno with SACK or DCTCP (g = 1/16), receivers acknowledge every second packet, "
    "packets have 1500 B, and the round trip without queues is 100 us. "
)


def scenario(title: str, flows: Mapping[str, Any], **fields: object) -> Scenario:
    """Returns a scenario with the paper's senders.

    Args:
        title: Title of the runs.
        flows: The groups of flows; what all have is among the defaults.
        **fields: Other tables and keys of the scenario.
    """
    tables = {"defaults": SENDERS, "flows": flows}
    return cast(Scenario, {"title": title, "duration": "20 s", **tables, **fields})


def port(
    control: str, limit: str | None = None, threshold: int = K
) -> DropTailQueue | StepMarkQueue:
    """Returns the queue of a port: drop tail for TCP, marks from K packets on for DCTCP.

    Args:
        control: The control of the senders.
        limit: Memory of the port itself; `None` where all ports share the memory.
        threshold: Packets at which the port marks.
    """
    own = {"limit": limit} if limit else {}
    if control == "reno":
        return cast(DropTailQueue, {"kind": "drop_tail", **own})
    return cast(StepMarkQueue, {"kind": "step_mark", "threshold": f"{threshold} packets", **own})


def hosts(control: str) -> dict[str, object]:
    """Returns the settings of senders under a control, by dotted key."""
    return {CONTROL: control, ECN: "off" if control == "reno" else "accurate"}


def together(rows: Iterable[Mapping[str, object]]) -> dict[str, list[object]]:
    """Returns rows of settings as values that vary together, by dotted key."""
    every = list(rows)
    return {key: [row[key] for row in every] for key in every[0]}


@dataclass(frozen=True)
class Incast:
    """Queries of 1 MB that a number of servers answer together."""

    control: str
    servers: int
    min_rto: str = "10 ms"

    @property
    def label(self) -> str:
        """Control and timeout, for legends."""
        return f"{LABELS[self.control]}, timeout {self.min_rto}"

    @property
    def key(self) -> dict[str, object]:
        """What distinguishes its point in a study."""
        return {
            ECN: hosts(self.control)[ECN],
            FAN_IN: self.servers,
            MIN_RTO: self.min_rto,
        }

    def row(self, form: Form, limit: str | None) -> dict[str, object]:
        """Returns its settings by dotted key.

        Args:
            form: Extent of the reproduction.
            limit: Memory of the client's port; `None` where all ports share the memory.
        """
        seconds = form.of(1, 2, 4)
        return {
            **hosts(self.control),
            **self.key,
            QUEUE: port(self.control, limit),
            f"{SOURCE}.size": f"{round(RESPONSE_BYTES / self.servers)} B",
            f"{SOURCE}.flow_log": MOST_QUERIES * self.servers,
            "duration": f"{seconds if self.min_rto == '10 ms' else 2 * seconds} s",
        }


MOST_QUERIES = 2000
"""Queries that a run records."""
RESPONSE_BYTES = 1_000_000
"""The answers to a query together."""
SOURCE = "flows.queries.source"
FAN_IN = f"{SOURCE}.fan_in"
QUERY: Mapping[str, Any] = {
    "from": "tor",
    "to": "tor.h0",
    "source": {"kind": "incast", "fan_in": 40, "size": "25 kB", "think_time": "0 s"},
}
"""A client that asks again when it has all answers."""
INCAST = scenario("DCTCP 2010: incast", {"queries": QUERY}, switches={"tor": SWITCH})


def spread(form: Form) -> int:
    """Returns the number of seeds of a point."""
    return form.of(2, 2, 4)


def incast(
    name: str,
    cases: Sequence[Incast],
    form: Form,
    limit: str | None = None,
) -> Study:
    """Returns a study of queries.

    Args:
        name: Name of the study.
        cases: Its points.
        form: Extent of the reproduction.
        limit: Memory of the client's port; `None` for memory that all ports share.
    """
    rows = together(case.row(form, limit) for case in cases)
    shared = {} if limit else {"switches.tor.pool": POOL}
    return Study(name, INCAST, together=rows, set=shared, seeds=spread(form), keep=("flow_log",))
