"""Packets and capture files made byte by byte, from the formats' own documents."""

import ipaddress
import struct
from collections.abc import Iterable
from dataclasses import dataclass, replace

FIN, SYN, RST, ACK = 0x01, 0x02, 0x04, 0x10

ETHERNET, RAW_IP, NULL, LOOP, COOKED, COOKED_2 = 1, 101, 0, 108, 113, 276


@dataclass(frozen=True)
class Segment:
    """A TCP segment without options (RFC 9293 sec. 3.1) from `source` to `destination`."""

    source: tuple[str, int] = ("10.0.0.1", 1000)
    destination: tuple[str, int] = ("10.0.0.2", 80)
    sequence: int = 0
    acknowledgment: int = 0
    flags: int = ACK
    payload: bytes = b""

    def reply(self, **changes: object) -> "Segment":
        """A segment in the other direction."""
        turned = replace(self, source=self.destination, destination=self.source)
        return replace(turned, **changes)  # type: ignore[arg-type]

    def tcp(self) -> bytes:
        """Header and payload; nobody reads the checksum."""
        ports = self.source[1], self.destination[1]
        sequence = self.sequence % 2**32
        header = struct.pack(
            "!HHIIBBHHH",
            *ports,
            sequence,
            self.acknowledgment % 2**32,
            5 << 4,
            self.flags,
            999,
            0,
            0,
        )
        return header + self.payload

    def ip(self, extension: bytes = b"", total_length: int | None = None) -> bytes:
        """An IPv4 (RFC 791) or IPv6 packet (RFC 8200); `extension` is an IPv6 extension header."""
        source, destination = (
            ipaddress.ip_address(address).packed for address, _ in (self.source, self.destination)
        )
        tcp = self.tcp()
        if len(source) == 4:
            length = 20 + len(tcp) if total_length is None else total_length
            header = struct.pack("!BBHHHBBH", 0x45, 0, length, 1, 0, 64, 6, 0)
            return header + source + destination + tcp
        payload = extension + tcp
        next_header = 0 if extension else 6  # 0: hop-by-hop options
        header = struct.pack("!IHBB", 6 << 28, len(payload), next_header, 64)
        return header + source + destination + payload

    def ethernet(self, *tags: int, **how: object) -> bytes:
        """A frame of Ethernet with VLAN tags of these types (IEEE 802.1Q)."""
        packet = self.ip(**how)  # type: ignore[arg-type]
        kind = 0x0800 if packet[0] >> 4 == 4 else 0x86DD
        types = b"".join(struct.pack("!HH", tag, 42) for tag in tags)
        return bytes(12) + types + struct.pack("!H", kind) + packet


def pcap(
    packets: Iterable[tuple[float, bytes]],
    *,
    order: str = "<",
    nanoseconds: bool = False,
    link_type: int = ETHERNET,
    snaplen: int = 262_144,
) -> bytes:
    """A pcap file (draft-ietf-opsawg-pcap) of packets with their times."""
    magic, unit = (0xA1B23C4D, 1e9) if nanoseconds else (0xA1B2C3D4, 1e6)
    file = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snaplen, link_type)]
    for time_s, packet in packets:
        whole, fraction = divmod(round(time_s * unit), int(unit))
        kept = packet[:snaplen]
        file += [struct.pack(order + "IIII", whole, fraction, len(kept), len(packet)), kept]
    return b"".join(file)


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    """A pcapng block (draft-ietf-opsawg-pcapng sec. 3.1)."""
    body += bytes(-len(body) % 4)
    length = struct.pack(order + "I", 12 + len(body))
    return struct.pack(order + "I", kind) + length + body + length


def section(order: str = "<") -> bytes:
    """A section header block (sec. 4.1)."""
    return block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def interface(
    link_type: int = ETHERNET,
    *,
    resolution: int | None = None,
    offset_s: int | None = None,
    order: str = "<",
) -> bytes:
    """An interface description block (sec. 4.2)."""
    body = struct.pack(order + "HHI", link_type, 0, 0)
    if resolution is not None:
        body += struct.pack(order + "HHBxxx", 9, 1, resolution)
    if offset_s is not None:
        body += struct.pack(order + "HHq", 14, 8, offset_s)
    return block(1, body + bytes(4), order)


def enhanced(ticks: int, packet: bytes, *, of: int = 0, order: str = "<") -> bytes:
    """An enhanced packet block (sec. 4.3)."""
    lengths = len(packet), len(packet)
    header = struct.pack(order + "IIIII", of, ticks >> 32, ticks & 0xFFFFFFFF, *lengths)
    return block(6, header + packet + bytes(-len(packet) % 4), order)
