"""A limit in other units: what is the same buffer, and what only is for packets of one size."""

from math import floor, isclose

from tailroom import written_numbers
from tailroom.models import Bottleneck
from tailroom.studies.size_study.varied_key import Varied

_OF_BYTES = ("bytes", "s", "bdp")
"""Amounts that follow from a number of bytes."""


def amounts(varied: Varied, link: Bottleneck, steps: int) -> dict[str, float | None]:
    """Returns a limit in packets, bytes, seconds and bandwidth-delay products.

    Args:
        varied: The limit, with the unit in which it is counted.
        link: Its link.
        steps: The limit in steps.

    Returns:
        The amounts, of which `approximate` names those that are for packets of the mean size.
    """
    packets = varied.packets_of(steps)
    return {
        "packets": steps if varied.counts_packets else packets,
        "bytes": steps if varied.quantity == "size" else packets * link.packet_bytes,
        "s": packets / link.capacity_pps,
        "bdp": packets / link.bdp_packets if link.bdp_packets else None,
    }


def approximate(varied: Varied, link: Bottleneck) -> list[str]:
    """Returns which of the `amounts` are the same buffer only if all packets have the mean size.

    Args:
        varied: The limit, with the unit in which it is counted.
        link: Its link.
    """
    if not link.packets_differ:
        return []
    return list(_OF_BYTES) if varied.counts_packets else ["packets"]


def amounts_words(varied: Varied, link: Bottleneck, steps: int) -> tuple[str, str]:
    """Returns a limit in the other units in words: the same buffers, and what is only about them.

    Args:
        varied: The limit, with the unit in which it is counted.
        link: Its link.
        steps: The limit in steps.
    """
    about = approximate(varied, link)
    same: list[str] = []
    other: list[str] = []
    for name, value in amounts(varied, link, steps).items():
        words = _words(name, value)
        if words and words != varied.text(steps):
            (other if name in about else same).append(words)
    if other:
        other.append(f"if all packets had {link.packet_bytes:,.0f} B")
    elif same and not varied.counts_packets and same[0].startswith("room for "):
        # Less than a whole packet is left: no other amount is the same buffer.
        return " = ".join(same[1:]), same[0]
    return " = ".join(same), " ".join([", ".join(other[:-1]), *other[-1:]])


def _words(name: str, value: float | None) -> str:
    """An amount with its unit; empty without a value."""
    if value is None:
        return ""
    if name == "packets":
        # A packet waits whole; a limit of whole packets may be a rounding error below them.
        whole = floor(value * (1 + 1e-12))
        count = f"{whole:,} packet{'' if whole == 1 else 's'}"
        return count if isclose(whole, value, rel_tol=1e-9) else f"room for {count}"
    if name == "bytes":
        return f"{value:,.0f} B"
    written = written_numbers.number(1e3 * value if name == "s" else value)
    return f"{written} {'ms' if name == 's' else 'bdp'}"
