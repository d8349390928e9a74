"""Packet captures in pcapng (draft-ietf-opsawg-pcapng), with times in nanoseconds."""

import struct
from collections.abc import Sequence

RAW_IP = 101
"""Link type of packets that begin with their IP header (LINKTYPE_RAW)."""

_NANOSECONDS = 9
_END, _COMMENT, _NAME, _FLAGS, _RESOLUTION = 0, 1, 2, 2, 9


def beginning(interfaces: Sequence[str]) -> bytes:
    """Returns the section header, and the description of each interface.

    Args:
        interfaces: Names of the interfaces.
    """
    # Byte order, version 1.0, and a section of unknown length.
    section = _block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    return section + b"".join(
        _block(
            1,
            struct.pack("<HHI", RAW_IP, 0, 0)
            + _options((_NAME, name.encode()), (_RESOLUTION, bytes([_NANOSECONDS]))),
        )
        for name in interfaces
    )


def packet(  # noqa: PLR0913 - the fields of the block
    interface: int,
    time_ns: int,
    captured: bytes,
    size: int,
    *,
    comment: str = "",
    direction: int = 0,
) -> bytes:
    """Returns an enhanced packet block.

    Args:
        interface: Index of the interface.
        time_ns: Time in nanoseconds, from 0 to 2^64 - 1.
        captured: The first bytes of the packet.
        size: Size of the whole packet in bytes.
        comment: Shown next to the packet; none if empty.
        direction: 1 if the interface received the packet, 2 if it sent the packet, 0 if neither.
    """
    head = struct.pack(
        "<IIIII", interface, time_ns >> 32, time_ns & 0xFFFFFFFF, len(captured), size
    )
    options = [(_COMMENT, comment.encode())] if comment else []
    if direction:
        options.append((_FLAGS, struct.pack("<I", direction)))
    return _block(6, head + _padded(captured) + (_options(*options) if options else b""))


def _block(kind: int, body: bytes) -> bytes:
    length = len(body) + 12
    return struct.pack("<II", kind, length) + body + struct.pack("<I", length)


def _options(*options: tuple[int, bytes]) -> bytes:
    written = [struct.pack("<HH", code, len(value)) + _padded(value) for code, value in options]
    return b"".join(written) + struct.pack("<HH", _END, 0)


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 4)
