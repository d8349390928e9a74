"""Headers of packets as they would be on a wire: IPv4 or IPv6, with TCP or UDP."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

IP_BYTES = {4: 20, 6: 40}
"""Bytes of the header by version of IP."""
TCP_BYTES, UDP_BYTES, TIMESTAMP_BYTES = 20, 8, 12
RECEIVER = bytes([198, 18, 0, 1])
"""Address of all receivers, in the network for benchmarks (RFC 2544 appendix C.2.2)."""
_BENCHMARKS = bytes.fromhex("200100020000")
"""The network for benchmarks of IPv6, 2001:2::/48 (RFC 5180 sec. 8)."""
_PORT = 5001
_ECN = {"not_ect": 0, "ect1": 1, "ect0": 2, "ce": 3}
_SYN, _ACK, _ECE, _CWR, _AE = 0x02, 0x10, 0x40, 0x80, 0x100
_FIRST_COUNT = 5
"""The counter of marked packets of accurate ECN begins with this (RFC 9768 sec. 3.2.1)."""
_ACE_OF_HANDSHAKE = {"not_ect": 0b010, "ect1": 0b011, "ect0": 0b100, "ce": 0b110}
"""How a SYN-ACK and its answer tell the ECN field of what they answer (RFC 9768 table 2)."""
_TCP, _UDP = 6, 17
_OPTION_BYTES = 40
"""The most that the options of a TCP header take."""
_WINDOW_SHIFT = 14
"""The largest window (RFC 7323 sec. 2.3): the receiver of a run takes in everything."""


class Timestamps(NamedTuple):
    """The fields of the timestamps option (RFC 7323 sec. 3.2), in ms."""

    value: int
    echo: int


class Feedback(NamedTuple):
    """What a TCP header says of marks."""

    ece: bool = False
    """Whether an ACK echoes a mark (RFC 3168)."""
    cwr: bool = False
    """Whether data tell that the window has been reduced (RFC 3168)."""
    marked_packets: int = 0
    """Marked packets that have reached the receiver of the data (RFC 9768)."""


NO_FEEDBACK = Feedback()
"""That of a connection without marks."""


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
    ecn: str = "off"
    """The key `ecn` of the scenario."""
    ip: int = 4
    """Version of IP that is written."""

    @property
    def ip_bytes(self) -> int:
        """Bytes of the IP header."""
        return IP_BYTES[self.ip]

    @property
    def counts_marks(self) -> bool:
        """Whether ACKs count marked packets (accurate ECN)."""
        return self.ecn in ("accurate", "l4s")

    @property
    def written_bytes(self) -> int:
        """Bytes of the headers that are written, with timestamps if the scenario has room."""
        if not self.is_tcp:
            return self.ip_bytes + UDP_BYTES
        timestamps = TIMESTAMP_BYTES if self.has_timestamps else 0
        return self.ip_bytes + TCP_BYTES + timestamps

    @property
    def has_timestamps(self) -> bool:
        """Whether data packets carry timestamps."""
        # A scenario counts the bytes of IPv4.
        return self.is_tcp and self.header_bytes >= IP_BYTES[4] + TCP_BYTES + TIMESTAMP_BYTES

    def payload_bytes(self, packet_bytes: int) -> int:
        """Bytes of data in a data packet.

        Args:
            packet_bytes: Size of the packet on the wire.
        """
        return max(0, packet_bytes - max(self.header_bytes, self.written_bytes))


def sender_of(connection: int, ip: int = 4) -> bytes:
    """Address of the sender of a connection, in 10.0.0.0/8 or 2001:2:0:1::/64.

    Args:
        connection: Number of the connection, from 0.
        ip: Version of IP.
    """
    if ip == 6:
        return _BENCHMARKS + b"\0\1" + (connection + 1).to_bytes(8, "big")
    return bytes([10]) + ((connection + 1) % (1 << 24)).to_bytes(3, "big")


def receiver_of(ip: int = 4) -> bytes:
    """Address of all receivers.

    Args:
        ip: Version of IP.
    """
    return RECEIVER if ip == 4 else _BENCHMARKS + b"\0\2" + (1).to_bytes(8, "big")


def data(  # noqa: PLR0913 - the fields of the headers
    connection: int,
    group: Group,
    *,
    offset: int,
    payload: int,
    stamps: Timestamps,
    ecn: str,
    feedback: Feedback = NO_FEEDBACK,
) -> bytes:
    """Returns the headers of a data packet.

    Args:
        connection: Number of the connection.
        group: Its group.
        offset: Position of the first byte in the data of the flow.
        payload: Bytes of data; the first packet of a handshake has none, and is a SYN.
        stamps: Its timestamps.
        ecn: ECN field, as in the table `packets`.
        feedback: What it says of marks.
    """
    ends = sender_of(connection, group.ip), receiver_of(group.ip)
    if not group.is_tcp:
        udp = _udp(*ends, payload)
        return _ip(*ends, _UDP, UDP_BYTES + payload, ecn) + udp
    if payload:
        options = _timestamps(stamps) if group.has_timestamps else b""
        # Nothing marks ACKs: the sender of the data counts no mark.
        is_first = group.is_opened and not offset
        ace = _ACE_OF_HANDSHAKE["not_ect"] if is_first else _FIRST_COUNT
        flags = _ACK | (_ace(ace) if group.counts_marks else feedback.cwr * _CWR)
        tcp = _tcp(offset + 1, 1, options, flags)
        return _ip(*ends, _TCP, len(tcp) + payload, ecn) + tcp
    asks = {"off": 0, "classic": _ECE | _CWR}.get(group.ecn, _AE | _ECE | _CWR)
    syn = _tcp(0, 0, _opening_options(group, stamps), _SYN | asks)
    return _ip(*ends, _TCP, len(syn), ecn) + syn


def ack(  # noqa: PLR0913 - the fields of the headers
    connection: int,
    group: Group,
    *,
    offset: int,
    stamps: Timestamps,
    blocks: Sequence[tuple[int, int]] = (),
    feedback: Feedback = NO_FEEDBACK,
    opening_ecn: str = "not_ect",
) -> bytes:
    """Returns the headers of an ACK; that of the first packet of a handshake is a SYN-ACK.

    Args:
        connection: Number of the connection.
        group: Its group.
        offset: Position of the byte that is expected next, in the data of the flow.
        stamps: Its timestamps.
        blocks: SACK blocks as positions in the data; those for which the options have room are
            written.
        feedback: What it says of marks.
        opening_ecn: ECN field of the SYN, which the SYN-ACK of accurate ECN tells.
    """
    # Without a packet behind a gap, only the answer to a SYN asks for the first byte.
    if group.is_opened and group.has_sack and not (offset or blocks):
        answer = _ace(_ACE_OF_HANDSHAKE[opening_ecn]) if group.counts_marks else _ECE
        flags = _SYN | _ACK | (answer if group.ecn != "off" else 0)
        tcp = _tcp(0, 1, _opening_options(group, stamps), flags)
    else:
        options = _timestamps(stamps) if group.has_timestamps else b""
        options += _sack(blocks, _OPTION_BYTES - len(options))
        count = _ace(_FIRST_COUNT + feedback.marked_packets)
        flags = _ACK | (count if group.counts_marks else feedback.ece * _ECE)
        tcp = _tcp(1, offset + 1, options, flags)
    ends = receiver_of(group.ip), sender_of(connection, group.ip)
    return _ip(*ends, _TCP, len(tcp), "not_ect") + tcp


def _ace(count: int) -> int:
    """The last three bits of a count as the flags AE, CWR and ECE (RFC 9768 sec. 3.1)."""
    return count % 8 * _ECE


def _ip(source: bytes, destination: bytes, protocol: int, length: int, ecn: str) -> bytes:
    """The header of a packet that carries that many bytes, in the version of the addresses."""
    ends = source + destination
    if len(source) == 16:
        first = 6 << 28 | _ECN[ecn] << 20
        return struct.pack("!IHBB", first, length, protocol, 64) + ends
    total = IP_BYTES[4] + length
    head = struct.pack("!BBHHHBB", 0x45, _ECN[ecn], total, 0, 0x4000, 64, protocol)
    return head + struct.pack("!H", _checksum(head + ends)) + ends


def _udp(source: bytes, destination: bytes, payload: int) -> bytes:
    """The header; over IPv6 with its checksum, for data of zeros, as it needs one (RFC 8200)."""
    length = UDP_BYTES + payload
    head = struct.pack("!HHH", _PORT, _PORT, length)
    if len(source) == 4:
        return head + b"\0\0"
    pseudo = source + destination + struct.pack("!II", length, _UDP)
    return head + struct.pack("!H", _checksum(pseudo + head) or 0xFFFF)


def _checksum(words: bytes) -> int:
    """The checksum of RFC 1071."""
    total: int = sum(struct.unpack(f"!{len(words) // 2}H", words))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


def _tcp(sequence: int, acknowledgment: int, options: bytes, flags: int = _ACK) -> bytes:
    """The header without a checksum, which would need the data."""
    numbers = sequence % (1 << 32), acknowledgment % (1 << 32)
    words = (TCP_BYTES + len(options)) // 4 << 12 | flags
    return struct.pack("!HHIIHHHH", _PORT, _PORT, *numbers, words, 65535, 0, 0) + options


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
    mss = struct.pack("!BBH", 2, 4, max(0, group.packet_bytes - group.ip_bytes - TCP_BYTES))
    sack = b"\4\2" if group.has_sack else b"\1\1"
    # Timestamps have padding of their own, in place of which SACK permitted may stand.
    timestamps = _timestamps(stamps)[2:] if group.has_timestamps else b"\1\1"
    return mss + sack + timestamps + struct.pack("!BBBB", 1, 3, 3, _WINDOW_SHIFT)
