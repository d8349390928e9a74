"""Configuration of a buffer, of shared memory, and of WRED with ECN, on switches and routers.

`crates/tailroom-rules/src/devices` has the lines and their sources.
"""

import json
from dataclasses import replace
from enum import StrEnum

from tailroom import _engine
from tailroom.arguments import usage
from tailroom.export.other_tools import Equivalent, LeftOut
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


def on_devices(*links: Bottleneck, left_out: tuple[LeftOut, ...] = ()) -> dict[Device, Equivalent]:
    """Returns the configuration of a port, or of ports that share memory, on switches and routers.

    `PORT`, `QUEUE`, `PG`, `POOL` and `POLICY` stand for names of the device, `tailroom` for new
    profiles. Amounts are rounded down to the step of the device. A system that cannot express a
    port has a sentence instead of lines. No line was tried on a device.

    Args:
        links: The link, or all links that share its memory.
        left_out: What no lines have, next to what those of each system leave out.
    """
    written = json.loads(_engine.device_equivalents(list(links)))
    of = {Device(key): Equivalent.of(line) for key, line in written}
    return {
        key: replace(one, left_out=(*one.left_out, *left_out)) if one.has_lines else one
        for key, one in of.items()
    }


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


def other_ingresses(source: Scenario, links: list[Bottleneck]) -> tuple[LeftOut, ...]:
    """Returns what lines for these links leave out of the memory of ingresses with pause frames.

    Empty if the lines have it, and if no link on the way of their flows has such memory.

    Args:
        source: The scenario.
        links: The links whose lines are written.
    """
    way = {name for link in links for name in (link.name, *link.other_links)}
    every = read_bottlenecks(source)
    of = [one.name for one in every if one.name in way and "ingress.pool" in one.port]
    if not of or any(one.name in of for one in links):
        return ()
    reason = (
        f"the memory of {len(of)} ingresses ({of[0]} and others) was simulated, and is not in "
        f"these lines (BUFFER_PG, xoff, the ingress pool); {usage('link', of[0])} has theirs"
    )
    return (LeftOut("ingress", reason),)
