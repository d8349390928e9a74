"""What the pages of a Parquet file take once they are decompressed, by their own headers.

The footer of a file states sizes too, which nobody holds to: a reader decompresses what the header
of a page states, and fails if the page is larger. Headers are structs in Thrift's compact protocol
(https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md), whose fields
`parquet.thrift` of the format numbers.
"""

from collections.abc import Collection
from typing import IO, Any

LONGEST_HEADER = 65_536
"""Bytes of the header of a page; statistics of long texts take some thousand."""
DEEPEST = 8
"""Depth of structs and lists in a header; those of the format have three."""
MOST_BITS = 63
"""Bits of a number, in steps of seven."""
WIDTHS = {3: 1, 7: 8, 13: 16}
"""Bytes of values that have a fixed size (a byte, a floating-point number, a UUID), by type."""
INTEGERS, BINARY, LISTS, MAP, STRUCT = (4, 5, 6), 8, (9, 10), 11, 12
"""Other types of values."""
UNCOMPRESSED, BYTE_ARRAY = 0, 6
"""A codec, and a type of values."""
DECOMPRESSED, COMPRESSED = 2, 3
"""Fields of a header: the sizes of its page."""
DATA_PAGES = (5, 8)
"""Fields of a header: what a data page of version 1 or 2 holds, first its number of values."""


def decompressed_bytes(content: IO[bytes], names: Collection[str]) -> int:
    """Adds the sizes of the pages that a reader of some columns decompresses.

    Args:
        content: The content of a file; the position changes.
        names: The columns, which hold no lists.

    Raises:
        OSError: The footer and the headers of pages contradict each other, or one is damaged.
    """
    size = content.seek(0, 2)
    content.seek(max(size - 8, 0))
    length = int.from_bytes(content.read(4), "little")
    content.seek(max(size - 8 - length, 0))
    footer, _ = _header(content.read(length))
    # Not Arrow's own metadata: it ends the process if the statistics of a column are damaged.
    try:
        groups = footer[4]
        chunks = [(group, chunk[3]) for group in groups for chunk in group[1]]
        chunks = [(group, one) for group, one in chunks if one[3][0].decode() in names]
        _check(sum(group[3] for group in groups) == footer[3])
        _check(all(chunk[5] == group[3] >= 0 for group, chunk in chunks))
        _check(all(chunk[7] >= 0 for _, chunk in chunks))
        _check(sum(chunk[7] for _, chunk in chunks) <= size)
        return sum(_chunk_bytes(chunk, content) for _, chunk in chunks)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        raise OSError("its footer is damaged") from None


def _chunk_bytes(chunk: dict[int, Any], content: IO[bytes]) -> int:
    """The pages of a column in a group of rows, by the fields of its ColumnMetaData."""
    kind, codec, rows, length = (int(chunk[field]) for field in (1, 4, 5, 7))
    if codec == UNCOMPRESSED and kind != BYTE_ARRAY:
        return length  # no page is larger than it is in the file
    starts = [one for one in (chunk[9], chunk.get(11, 0)) if one > 0]
    place, values, total = min(starts), 0, 0
    end = place + length
    while values < rows and place < end:
        content.seek(place)
        header, taken = _header(content.read(LONGEST_HEADER))
        sizes = header.get(DECOMPRESSED, -1), header.get(COMPRESSED, -1)
        held = [one.get(1, -1) for one in map(header.get, DATA_PAGES) if isinstance(one, dict)]
        _check(all(isinstance(one, int) and one >= 0 for one in (*sizes, *held)))
        place += taken + sizes[1]
        total += taken + sizes[0]
        values += sum(held)
    _check(values == rows and place <= end)
    return total


def _check(holds: bool) -> None:
    if not holds:
        raise OSError("its footer and its pages contradict each other")


def _header(data: bytes) -> tuple[dict[int, Any], int]:
    """The fields of the struct with which `data` begins by number, and its length.

    Raises:
        OSError: It is none.
    """
    try:
        return _struct(data, 0, 0)
    except (IndexError, ValueError):
        raise OSError("the header of a page is damaged") from None


def _struct(data: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    fields: dict[int, Any] = {}
    number = 0
    while first := data[at]:
        at += 1
        number += first >> 4
        if not first >> 4:
            number, at = _signed(data, at)
        fields_before, kind = len(fields), first & 15
        # A field of truth has its value in its type.
        fields[number], at = (None, at) if kind <= 2 else _value(data, at, kind, depth)
        if len(fields) == fields_before:
            raise ValueError  # a field twice: readers differ in which one they take
    return fields, at + 1


def _value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    first = data[at]  # every value takes a byte
    if kind in INTEGERS:
        return _signed(data, at)
    if kind == BINARY:
        length, at = _number(data, at)
        return data[at : at + length], at + length
    if depth == DEEPEST:
        raise ValueError
    if kind == STRUCT:
        return _struct(data, at, depth + 1)
    if kind in LISTS:
        count, at = (first >> 4, at + 1) if first < 240 else _number(data, at + 1)
        kinds = [first & 15]
    elif kind == MAP:
        count, at = _number(data, at)
        kinds = [data[at] >> 4, data[at] & 15]
        at += count > 0
    else:
        return None, at + WIDTHS.get(kind, 1)
    values = []
    for _ in range(count):
        for one in kinds:
            value, at = _value(data, at, one, depth + 1)
            values.append(value)
    return values, at


def _signed(data: bytes, at: int) -> tuple[int, int]:
    number, at = _number(data, at)
    return (number >> 1) ^ -(number & 1), at


def _number(data: bytes, at: int) -> tuple[int, int]:
    number = 0
    for bits in range(0, MOST_BITS + 1, 7):
        number |= (data[at] & 127) << bits
        at += 1
        if data[at - 1] < 128:
            return number, at
    raise ValueError
