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


def on_devices(
    *links: Bottleneck,
    same_switch: tuple[Bottleneck, ...] = (),
    left_out: tuple[LeftOut, ...] = (),
) -> dict[Device, Equivalent]:
    """Returns the configuration of a port, or of ports that share memory, on switches and routers.

    `PORT`, `QUEUE`, `PG`, `POOL` and `POLICY` stand for names of the device, `tailroom` for new
    profiles. Amounts are rounded down to the step of the device. A system that cannot express a
    port has a sentence instead of lines. No line was tried on a device.

    Args:
        links: The link, or all links that share its memory.
        same_switch: What else the switch has to be set to (`of_same_switch`): SONiC's lines
            have it too, where they can.
        left_out: What the lines do not have of it, next to what those of each system leave out.
    """
    of = _written(links)
    for key, one in of.items():
        if one.has_lines:
            of[key] = replace(one, left_out=(*one.left_out, *left_out))
    if same_switch:
        whole = _written((*links, *same_switch))[Device.SONIC]
        of[Device.SONIC] = whole if whole.has_lines else of[Device.SONIC]
    return of


def _written(links: tuple[Bottleneck, ...]) -> dict[Device, Equivalent]:
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


def of_same_switch(source: Scenario, links: list[Bottleneck]) -> tuple[Bottleneck, ...]:
    """Returns what else the switch of some links is set to, where no pool says so.

    The other classes of their ports, which share a line with them, and the memory of the ingresses
    through which the flows of all these come, with that of all ingresses of its pool: of such a
    link, only the keys of the far end of its line.

    Args:
        source: The scenario.
        links: The links whose lines are written.
    """
    names = {link.name for link in links}
    every = [one for one in read_bottlenecks(source) if one.name not in names]
    lines = {one.port.get("line.name") for one in links} - {None}
    classes = [one for one in every if one.port.get("line.name") in lines]
    met = _ingresses_on_the_way(every, [*links, *classes])
    pools = {one.port["ingress.pool"] for one in met}
    senders = [one for one in every if one.port.get("ingress.pool") in pools]
    return (*classes, *map(_far_end, senders))


def _far_end(link: Bottleneck) -> Bottleneck:
    """A link without its own queue, which belongs to whoever sends."""
    kept = ("rate", "delay", "pause.", "ingress.")
    return replace(
        link, port={key: value for key, value in link.port.items() if key.startswith(kept)}
    )


def _ingresses_on_the_way(every: list[Bottleneck], links: list[Bottleneck]) -> list[Bottleneck]:
    """The links with memory of an ingress through which flows come; none if `links` have it."""
    if any("ingress.pool" in link.port for link in links):
        return []
    way = {name for link in links for name in link.other_links}
    return [one for one in every if one.name in way and "ingress.pool" in one.port]


def other_ingresses(source: Scenario, links: list[Bottleneck]) -> tuple[LeftOut, ...]:
    """Returns what lines for these links leave out of the memory of ingresses with pause frames.

    Empty if the lines have it, and if no link on the way of their flows has such memory.

    Args:
        source: The scenario.
        links: The links whose lines are written.
    """
    of = [one.name for one in _ingresses_on_the_way(read_bottlenecks(source), links)]
    if not of:
        return ()
    reason = (
        f"the memory of {len(of)} ingresses ({of[0]} and others) was simulated, and is not in "
        f"these lines (BUFFER_PG, xoff, the ingress pool); {usage('link', of[0])} has theirs"
    )
    return (LeftOut("ingress", reason),)
