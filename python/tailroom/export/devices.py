"""Configuration of a buffer, of shared memory, and of WRED with ECN, on switches and routers.

`crates/tailroom-rules/src/devices` has the lines and their sources.
"""

import json
from enum import StrEnum

from tailroom import _engine
from tailroom.export.other_tools import Equivalent
from tailroom.models import Bottleneck
from tailroom.models.bottleneck import read_bottlenecks
from tailroom.scenario.scenario import Scenario


class Device(StrEnum):
    """Systems of switches and routers."""

    SONIC = "sonic"
    OPENCONFIG = "openconfig"
    IOSXR = "iosxr"
    JUNOS = "junos"
    EOS = "eos"
    SROS = "sros"


def on_devices(*links: Bottleneck) -> dict[Device, Equivalent]:
    """Returns the configuration of a port, or of ports that share memory, on switches and routers.

    `PORT`, `QUEUE`, `PG`, `POOL` and `POLICY` stand for names of the device, `tailroom` for new
    profiles. Amounts are rounded down to the step of the device. A system that cannot express a
    port has a sentence instead of lines. No line was tried on a device.

    Args:
        links: The link, or all links that share its memory.
    """
    written = json.loads(_engine.device_equivalents(list(links)))
    return {Device(key): Equivalent.of(line) for key, line in written}


def sharing(source: Scenario, link: str) -> list[Bottleneck]:
    """Returns a link and all links that share its pool, or the pool of its ingress.

    Args:
        source: The scenario.
        link: Name of the link.

    Raises:
        ScenarioError: The scenario is wrong, or has no such link.
    """
    every = {one.name: one for one in read_bottlenecks(source)}
    of = every[link].port
    shared = [(key, of[key]) for key in ("pool", "ingress.pool") if key in of]
    return [
        one
        for one in every.values()
        if one.name == link or any(one.port.get(key) == value for key, value in shared)
    ]
