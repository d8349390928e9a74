"""Directions of the flows of a capture: a link carries one direction, a capture has both."""

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from tailroom.arguments import named
from tailroom.errors import ArgumentError
from tailroom.field_docs import with_field_docs

Network = IPv4Network | IPv6Network
MOST_NAMED = 3
"""Maximum number of addresses that are listed; a larger side is named by a prefix if possible."""


def parse_prefixes(texts: str | Iterable[str], name: str) -> tuple[Network, ...]:
    """Reads prefixes (CIDR) or addresses, IPv4 or IPv6; bits after the prefix are ignored.

    Args:
        texts: One prefix or several.
        name: Name of the argument, with which error messages begin.

    Raises:
        ArgumentError: A text is not a prefix or address.
    """
    prefixes = []
    for text in [texts] if isinstance(texts, str) else texts:
        try:
            prefixes.append(ip_network(text.strip(), strict=False))
        except ValueError:
            raise ArgumentError(
                f"{named(name)} {text}: is not an address or prefix; write for example 192.0.2.7, "
                "192.0.2.0/24 or 2001:db8::/32"
            ) from None
    return tuple(prefixes)


def within(addresses: Sequence[str], prefixes: Sequence[Network]) -> list[bool]:
    """Returns whether each address is in one of the prefixes; all True without prefixes."""
    if not prefixes:
        return [True] * len(addresses)
    inside = {
        address: any(_address(address) in prefix for prefix in prefixes)
        for address in dict.fromkeys(addresses)
    }
    return [inside[address] for address in addresses]


@with_field_docs
@dataclass(frozen=True)
class Directions:
    """Number and bytes of the flows to one side of the capture, and of those from that side."""

    side: tuple[str, ...]
    """The addresses of that side, or a prefix that contains them and no address of the other
    side."""
    to_flows: int
    """Number of flows to that side."""
    from_flows: int
    """Number of flows from that side."""
    to_bytes: int
    """Bytes of the flows to that side."""
    from_bytes: int
    """Bytes of the flows from that side."""
    other_flows: int
    """Number of flows between other addresses, or within that side."""


def find_directions(
    senders: Sequence[str], receivers: Sequence[str], sizes: Sequence[int]
) -> Directions | None:
    """Finds the two sides of a capture from the addresses of its flows.

    The first side begins with the address that has the most flows. Every address that exchanges
    data with an address of one side belongs to the other side. If that puts an address on both
    sides, the first side is the busiest address alone.

    Args:
        senders: Address of the sender, per flow.
        receivers: Address of the receiver, per flow.
        sizes: Bytes, per flow.

    Returns:
        The flows per direction; `None` if all flows go in one direction, or there is no flow.
    """
    counts = Counter(
        address for pair in zip(senders, receivers, strict=True) for address in set(pair)
    )
    neighbours: dict[str, set[str]] = {}
    for sender, receiver in set(zip(senders, receivers, strict=True)):
        if sender != receiver:
            neighbours.setdefault(sender, set()).add(receiver)
            neighbours.setdefault(receiver, set()).add(sender)
    if not neighbours:
        return None
    busiest = max(neighbours, key=lambda address: counts[address])  # the first of several
    side, other = _sides(busiest, neighbours)
    to_flows = from_flows = to_bytes = from_bytes = 0
    for sender, receiver, size in zip(senders, receivers, sizes, strict=True):
        if receiver in side and sender not in side:
            to_flows, to_bytes = to_flows + 1, to_bytes + size
        elif sender in side and receiver not in side:
            from_flows, from_bytes = from_flows + 1, from_bytes + size
    if not (to_flows and from_flows):
        return None
    rest = len(senders) - to_flows - from_flows
    return Directions(_named(side, other), to_flows, from_flows, to_bytes, from_bytes, rest)


def _sides(start: str, neighbours: dict[str, set[str]]) -> tuple[set[str], set[str]]:
    """Returns the addresses at even and at odd distance from the first address.

    If two addresses of one side exchange data, returns the first address and its neighbours.
    """
    sides: tuple[set[str], set[str]] = ({start}, set())
    waiting = deque([(start, 0)])
    while waiting:
        address, parity = waiting.popleft()
        for neighbour in neighbours[address]:
            if neighbour in sides[parity]:
                return {start}, neighbours[start]
            if neighbour not in sides[1 - parity]:
                sides[1 - parity].add(neighbour)
                waiting.append((neighbour, 1 - parity))
    return sides


def _named(side: set[str], other: set[str]) -> tuple[str, ...]:
    addresses = sorted(map(_address, side), key=lambda address: (address.version, int(address)))
    first = addresses[0]
    if len(addresses) > MOST_NAMED and first.version == addresses[-1].version:
        different = int(first) ^ int(addresses[-1])
        prefix = ip_network((first, first.max_prefixlen - different.bit_length()), strict=False)
        if not any(_address(address) in prefix for address in other):
            return (str(prefix),)
    return tuple(map(str, addresses))


def _address(text: str) -> IPv4Address | IPv6Address:
    return ip_address(text)
