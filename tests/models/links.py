"""Scenarios for the tests of models."""

from pathlib import Path

from tailroom.models import Bottleneck, read_bottleneck
from tailroom.scenario import ScenarioText

FLOWS = """
[flows.flows]
count = {count}
path = ["link"]
congestion = {{ kind = "{control}"{parameters} }}
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
[links.link]
rate = "{rate}"
delay = "5 ms"
queue = {{ kind = "{kind}", limit = "{limit:g} packets" }}
{"".join(flows)}
"""


def long_flows(control: str, count: int = 1, parameters: str = "", rtt: str = '"100 ms"') -> str:
    """A group of long flows."""
    given = f", {parameters}" if parameters else ""
    return FLOWS.format(count=count, control=control, parameters=given, rtt=rtt)


def stream(rate: str, kind: str = "cbr") -> str:
    """Traffic that nothing controls."""
    return f"""
[flows.stream]
path = ["link"]
packet_size = "1000 B"
source = {{ kind = "{kind}", rate = "{rate}" }}
"""


def bottleneck(text: str) -> Bottleneck:
    """The link of a scenario."""
    return read_bottleneck(ScenarioText(text, Path(), "scenario"))
