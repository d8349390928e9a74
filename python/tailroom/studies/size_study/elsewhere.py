"""A limit in the words of other tools: only lines that count what the limit counts."""

from dataclasses import replace

from tailroom.export.devices import Device, on_devices
from tailroom.export.other_tools import Equivalent, equivalents
from tailroom.models import Bottleneck
from tailroom.studies.size_study.amounts import amounts
from tailroom.studies.size_study.varied_key import Varied

_COUNT_BYTES = ("tc bfifo", "tc tbf")
"""Tools whose limit is a number of bytes; that of the others is a number of packets."""


def equivalents_of(varied: Varied, link: Bottleneck, steps: int) -> tuple[Equivalent, ...]:
    """Returns the configuration of a limit in other tools.

    Where packets differ in size, a limit in packets is no limit in bytes, so that the lines of
    tools that count the other are left out.

    Args:
        varied: The limit, with the unit in which it is counted.
        link: Its link.
        steps: The limit in steps.
    """
    lines = equivalents(*_in_packets(varied, link, steps))
    if not link.packets_differ:
        return lines
    counts_bytes = not varied.counts_packets
    kept = tuple(
        line
        for line in lines
        if line.text.startswith("no exact") or line.tool.startswith(_COUNT_BYTES) == counts_bytes
    )
    counted, other = ("bytes", "packets") if counts_bytes else ("packets", "bytes")
    why = f"no exact equivalent: their limit is in {other}, this one in {counted}, and sizes differ"
    return (*kept, Equivalent("other tools", "", why))


def devices_of(varied: Varied, link: Bottleneck, steps: int) -> dict[Device, Equivalent]:
    """Returns the configuration of a limit on switches and routers.

    Args:
        varied: The limit, with the unit in which it is counted.
        link: Its link.
        steps: The limit in steps.
    """
    return on_devices(*_in_packets(varied, link, steps))


def _in_packets(varied: Varied, link: Bottleneck, steps: int) -> tuple[Bottleneck, int]:
    """A link and a whole number of its packets that have the bytes of the limit."""
    if varied.counts_packets:
        return link, steps
    size = amounts(varied, link, steps)["bytes"] or 0.0
    packets = max(1, int(size / link.packet_bytes))
    return replace(link, packet_bytes=size / packets), packets
