"""Headers of packets as they would be on a wire: IPv4 with TCP or UDP."""

import struct
from dataclasses import dataclass

IP_BYTES, TCP_BYTES, UDP_BYTES, TIMESTAMP_BYTES = 20, 20, 8, 12
RECEIVER = bytes([198, 18, 0, 1])
"""Address of all receivers, in the network for benchmarks (RFC 2544 appendix C.2.2)."""
_PORT = 5001
_ECN = {"not_ect": 0, "ect1": 1, "ect0": 2, "ce": 3}
_SYN, _ACK = 0x02, 0x10
_TCP, _UDP = 6, 17


@dataclass(frozen=True)
class Group:
    """What the packets of a group of flows have in common."""

    is_tcp: bool
    header_bytes: int
    """Bytes of all headers of a data packet, as the scenario counts them."""
    packet_bytes: int
    """Size of a data packet on the wire."""

    @property
    def written_bytes(self) -> int:
        """Bytes of the headers that are written, with timestamps if the scenario has room."""
        if not self.is_tcp:
            return IP_BYTES + UDP_BYTES
        has_timestamps = self.header_bytes >= IP_BYTES + TCP_BYTES + TIMESTAMP_BYTES
        return IP_BYTES + TCP_BYTES + (TIMESTAMP_BYTES if has_timestamps else 0)

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
    connection: int, group: Group, *, offset: int, payload: int, sent_ms: int, ecn: str
) -> bytes:
    """Returns the headers of a data packet.

    Args:
        connection: Number of the connection.
        group: Its group.
        offset: Position of the first byte in the data of the flow.
        payload: Bytes of data; the first packet of a handshake has none, and is a SYN.
        sent_ms: Time at which it was sent, in milliseconds: its timestamp.
        ecn: ECN field, as in the table `arrival_log`.
    """
    ends = sender_of(connection), RECEIVER
    length = group.written_bytes + payload
    if not group.is_tcp:
        udp = struct.pack("!HHHH", _PORT, _PORT, UDP_BYTES + payload, 0)
        return _ip(*ends, _UDP, length, ecn) + udp
    has_timestamp = group.written_bytes > IP_BYTES + TCP_BYTES
    options = _timestamp(sent_ms) if has_timestamp else b""
    return _ip(*ends, _TCP, length, ecn) + (
        _tcp(offset + 1, 1, options) if payload else _tcp(0, 0, options, _SYN)
    )


def ack(connection: int, group: Group, *, offset: int, size: int, sent_ms: int) -> bytes:
    """Returns the headers of an ACK.

    Args:
        connection: Number of the connection.
        group: Its group.
        offset: Position of the byte that is expected next, in the data of the flow.
        size: Size of the ACK on the wire.
        sent_ms: Time at which it was sent, in milliseconds.
    """
    has_timestamp = min(size, group.written_bytes) >= IP_BYTES + TCP_BYTES + TIMESTAMP_BYTES
    options = _timestamp(sent_ms) if has_timestamp else b""
    length = IP_BYTES + TCP_BYTES + len(options)
    ip = _ip(RECEIVER, sender_of(connection), _TCP, length, "not_ect")
    return ip + _tcp(1, offset + 1, options)


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


def _timestamp(sent_ms: int) -> bytes:
    """Two bytes of padding and the option of RFC 7323, whose echo is unknown at a link."""
    return struct.pack("!BBBBII", 1, 1, 8, 10, sent_ms % (1 << 32), 0)
