"""Headers of packets as they would be on a wire: IPv4 with TCP or UDP."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

IP_BYTES, TCP_BYTES, UDP_BYTES, TIMESTAMP_BYTES = 20, 20, 8, 12
RECEIVER = bytes([198, 18, 0, 1])
"""Address of all receivers, in the network for benchmarks (RFC 2544 appendix C.2.2)."""
_PORT = 5001
_ECN = {"not_ect": 0, "ect1": 1, "ect0": 2, "ce": 3}
_SYN, _ACK = 0x02, 0x10
_TCP, _UDP = 6, 17
_OPTION_BYTES = 40
"""The most that the options of a TCP header take."""
_WINDOW_SHIFT = 14
"""The largest window (RFC 7323 sec. 2.3): the receiver of a run takes in everything."""


class Timestamps(NamedTuple):
    """The fields of the timestamps option (RFC 7323 sec. 3.2), in ms."""

    value: int
    echo: int


@dataclass(frozen=True)
class Group:
    """What the packets of a group of flows have in common."""

    is_tcp: bool
    header_bytes: int
    """Bytes of all headers of a data packet, as the scenario counts them."""
    packet_bytes: int
    """Size of a data packet on the wire."""
    has_sack: bool = False
    """Whether ACKs carry SACK blocks."""
    is_opened: bool = False
    """Whether connections begin with a handshake."""

    @property
    def written_bytes(self) -> int:
        """Bytes of the headers that are written, with timestamps if the scenario has room."""
        if not self.is_tcp:
            return IP_BYTES + UDP_BYTES
        has_timestamps = self.header_bytes >= IP_BYTES + TCP_BYTES + TIMESTAMP_BYTES
        return IP_BYTES + TCP_BYTES + (TIMESTAMP_BYTES if has_timestamps else 0)

    @property
    def has_timestamps(self) -> bool:
        """Whether data packets carry timestamps."""
        return self.written_bytes > IP_BYTES + TCP_BYTES

    def payload_bytes(self, packet_bytes: int) -> int:
        """Bytes of data in a data packet.

        Args:
            packet_bytes: Size of the packet on the wire.
        """
        return max(0, packet_bytes - max(self.header_bytes, self.written_bytes))


def sender_of(connection: int) -> bytes:
    """Address of the sender of a connection, in 10.0.0.0/8.

    Args:
        connection: Number of the connection, from 0.
    """
    return bytes([10]) + ((connection + 1) % (1 << 24)).to_bytes(3, "big")


def data(  # noqa: PLR0913 - the fields of the headers
    connection: int, group: Group, *, offset: int, payload: int, stamps: Timestamps, ecn: str
) -> bytes:
    """Returns the headers of a data packet.

    Args:
        connection: Number of the connection.
        group: Its group.
        offset: Position of the first byte in the data of the flow.
        payload: Bytes of data; the first packet of a handshake has none, and is a SYN.
        stamps: Its timestamps.
        ecn: ECN field, as in the table `arrival_log`.
    """
    ends = sender_of(connection), RECEIVER
    length = group.written_bytes + payload
    if not group.is_tcp:
        udp = struct.pack("!HHHH", _PORT, _PORT, UDP_BYTES + payload, 0)
        return _ip(*ends, _UDP, length, ecn) + udp
    if payload:
        options = _timestamps(stamps) if group.has_timestamps else b""
        return _ip(*ends, _TCP, length, ecn) + _tcp(offset + 1, 1, options)
    syn = _tcp(0, 0, _opening_options(group, stamps), _SYN)
    return _ip(*ends, _TCP, IP_BYTES + len(syn), ecn) + syn


def ack(
    connection: int,
    group: Group,
    *,
    offset: int,
    stamps: Timestamps,
    blocks: Sequence[tuple[int, int]] = (),
) -> bytes:
    """Returns the headers of an ACK; that of the first packet of a handshake is a SYN-ACK.

    Args:
        connection: Number of the connection.
        group: Its group.
        offset: Position of the byte that is expected next, in the data of the flow.
        stamps: Its timestamps.
        blocks: SACK blocks as positions in the data; those for which the options have room are
            written.
    """
    # Without a packet behind a gap, only the answer to a SYN asks for the first byte.
    if group.is_opened and group.has_sack and not (offset or blocks):
        tcp = _tcp(0, 1, _opening_options(group, stamps), _SYN | _ACK)
    else:
        options = _timestamps(stamps) if group.has_timestamps else b""
        tcp = _tcp(1, offset + 1, options + _sack(blocks, _OPTION_BYTES - len(options)))
    ends = RECEIVER, sender_of(connection)
    return _ip(*ends, _TCP, IP_BYTES + len(tcp), "not_ect") + tcp


def _ip(source: bytes, destination: bytes, protocol: int, length: int, ecn: str) -> bytes:
    head = struct.pack("!BBHHHBB", 0x45, _ECN[ecn], length, 0, 0x4000, 64, protocol)
    ends = source + destination
    total = sum(struct.unpack("!9H", head + ends))
    total = (total & 0xFFFF) + (total >> 16)
    checksum = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    return head + struct.pack("!H", checksum) + ends


def _tcp(sequence: int, acknowledgment: int, options: bytes, flags: int = _ACK) -> bytes:
    """The header without a checksum, which would need the data."""
    numbers = sequence % (1 << 32), acknowledgment % (1 << 32)
    offset = (TCP_BYTES + len(options)) // 4 << 4
    return struct.pack("!HHIIBBHHH", _PORT, _PORT, *numbers, offset, flags, 65535, 0, 0) + options


def _timestamps(stamps: Timestamps) -> bytes:
    """Two bytes of padding and the option of RFC 7323."""
    return b"\1\1" + struct.pack("!BBII", 8, 10, *stamps)


def _sack(blocks: Sequence[tuple[int, int]], room: int) -> bytes:
    """Two bytes of padding and the option of RFC 2018 with the first blocks."""
    fitting = blocks[: (room - 4) // 8]
    if not fitting:
        return b""
    edges = [(1 + edge) % (1 << 32) for block in fitting for edge in block]
    return b"\1\1" + struct.pack(f"!BB{len(edges)}I", 5, 2 + 4 * len(edges), *edges)


def _opening_options(group: Group, stamps: Timestamps) -> bytes:
    """The options of a SYN as Linux orders them: MSS, SACK permitted, timestamps, window scale."""
    mss = struct.pack("!BBH", 2, 4, max(0, group.packet_bytes - IP_BYTES - TCP_BYTES))
    sack = b"\4\2" if group.has_sack else b"\1\1"
    # Timestamps have padding of their own, in place of which SACK permitted may stand.
    timestamps = _timestamps(stamps)[2:] if group.has_timestamps else b"\1\1"
    return mss + sack + timestamps + struct.pack("!BBBB", 1, 3, 3, _WINDOW_SHIFT)
