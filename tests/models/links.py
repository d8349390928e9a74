"""Links for the tests of models: made by hand, or read from the text of a scenario."""

import json
from collections.abc import Mapping
from functools import cache
from math import inf
from typing import Any

from hypothesis import settings

from tailroom import _engine
from tailroom.models import Bottleneck, read_bottleneck
from tailroom.models.bottleneck import DynamicFlows, FlowClass, Stream
from tailroom.scenario.scenario import Scenario

FIXED = settings(derandomize=True, deadline=None, max_examples=60, database=None)
"""Random examples that are the same in every run."""

PACKET = 1000
"""Bytes."""


@cache
def defaults(congestion: str) -> Mapping[str, Any]:
    """A control's parameters, as a scenario that names none of them has them."""
    kinds = json.loads(_engine.components())["congestion"]
    chosen = next(one for one in kinds if one["kind"] == congestion)
    return {one["name"]: one["default"] for one in chosen["parameters"] if "default" in one}


def flows(
    count: int = 1,
    rtt_s: float = 0.1,
    congestion: str = "reno",
    parameters: Mapping[str, Any] | None = None,
    **others: Any,
) -> FlowClass:
    """Permanent flows that do not differ."""
    return FlowClass(
        group=congestion,
        count=count,
        rtt_s=rtt_s,
        congestion=congestion,
        parameters={**defaults(congestion), **(parameters or {})},
        packet_bytes=PACKET,
        **others,
    )


def link(
    *classes: FlowClass,
    bdp: float = 1000,
    limit: float = 1000,
    rtt_s: float = 0.1,
    discipline: str = "drop_tail",
    amounts: Mapping[str, float] | None = None,
    **others: Any,
) -> Bottleneck:
    """A link whose bandwidth-delay product is `bdp` packets at an RTT of `rtt_s`."""
    return Bottleneck(
        name="link",
        rate_bps=8 * PACKET * bdp / rtt_s,
        discipline=discipline,
        parameters={},
        amounts_packets={"limit": limit, **(amounts or {})},
        packet_bytes=PACKET,
        classes=classes,
        packet_sizes_bytes=frozenset({PACKET}),
        **others,
    )


def stream(rate_bps: float, process: str = "poisson") -> Stream:
    """A stream without control."""
    return Stream(
        group="stream",
        process=process,
        count=1,
        rate_bps=rate_bps,
        packet_bytes=PACKET,
        fixed_size=True,
    )


def dynamic(rate_bps: float, peak_rate_bps: float = inf, **others: Any) -> DynamicFlows:
    """Flows of 10 packets, without headers, that offer a rate."""
    size = 10.0 * PACKET
    given: dict[str, Any] = {
        "group": "dynamic",
        "process": "finite_flows",
        "congestion": "reno",
        "parameters": {},
        "arrivals_per_s": rate_bps / (8 * size),
        "poisson": True,
        "size_bytes_mean": size,
        "wire_bytes_mean": size,
        "sizes_bytes": (size,),
        "rtt_s": 0.01,
        "peak_rate_bps": peak_rate_bps,
        "packet_bytes": PACKET,
        "header_bytes": 0,
        "initial_window": 2,
        "max_window": inf,
    }
    return DynamicFlows(**{**given, **others})


def failed(assumptions: Any) -> dict[str, str]:
    """What was found, by statement, where an assumption does not hold."""
    return {one.statement: one.found for one in assumptions if not one.holds}


FLOWS = """
[flows.flows]
count = {count}
path = ["link"]
congestion = {{ kind = "{control}"{parameters} }}
send_jitter = "none"
packet_size = "1000 B"
rtt = {rtt}
"""


def scenario(
    limit: float,
    *flows: str,
    rate: str = "50 Mbit/s",
    kind: str = "drop_tail",
    duration: str = "200 s",
) -> str:
    """A link with a queue limit in packets, by default of 625 packets a 100 ms, and flows."""
    return f"""
duration = "{duration}"
measure_from = "60 s"
[defaults]
host = "plain"
[links.link]
rate = "{rate}"
delay = "5 ms"
queue = {{ kind = "{kind}", limit = "{limit:g} packets" }}
{"".join(flows)}
"""


def long_flows(control: str, count: int = 1, parameters: str = "", rtt: str = '"100 ms"') -> str:
    """The text of a group of long flows."""
    given = f", {parameters}" if parameters else ""
    return FLOWS.format(count=count, control=control, parameters=given, rtt=rtt)


def uncontrolled(rate: str, kind: str = "cbr") -> str:
    """The text of a stream that nothing controls."""
    return f"""
[flows.stream]
path = ["link"]
packet_size = "1000 B"
source = {{ kind = "{kind}", rate = "{rate}" }}
"""


def bottleneck(text: str) -> Bottleneck:
    """The link of a scenario."""
    return read_bottleneck(Scenario.from_toml(text))
