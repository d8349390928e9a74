"""Arrow tables as bytes: the buffers of the columns, one after the other, and nothing else.

In Arrow's own format a column may be compressed, or have the same bytes as another one, so a small
file can hold a table of any size. Here the first line (JSON) has the rows of each table, the names
of its columns, and which of them have a bitmap of missing values. Everything else follows from
these, or from the texts' ends. What is read is a part of the content; no byte is read twice, and
none is copied.
"""

import json
from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa

from tailroom.scenario.json_text import read_json

NUMBER_BYTES = 8
END_BYTES = 4
"""Size of the number that says where a text ends."""
ALIGNED_BYTES = 8
"""Buffers begin at multiples of this number, as Arrow wants them."""


def to_bytes(tables: Iterable[pa.Table]) -> bytes:
    """Returns the content that `from_bytes` reads.

    Args:
        tables: Tables with rows, of texts and of numbers of 8 bytes.
    """
    head: list[object] = []
    body: list[pa.Buffer | bytes] = []
    for table in tables:
        for batch in table.combine_chunks().to_batches():
            # Arrow's writer cuts the buffers to what these rows need.
            cut = pa.ipc.read_record_batch(batch.serialize(), batch.schema)
            has_bitmap = [column.buffers()[0] is not None for column in cut.columns]
            head.append([cut.num_rows, cut.schema.names, has_bitmap])
            for buffer in (one for column in cut.columns for one in _buffers(column)):
                body += (buffer, bytes(-buffer.size % ALIGNED_BYTES))
    line = json.dumps(head).encode()
    return b"".join((line, b" " * (-(len(line) + 1) % ALIGNED_BYTES), b"\n", *body))


def _buffers(column: pa.Array) -> Iterator[pa.Buffer]:
    bitmap, *buffers = column.buffers()
    if bitmap is not None:
        yield bitmap.slice(0, _bitmap_bytes(len(column)))
    if column.type != pa.string():
        yield buffers[0].slice(0, NUMBER_BYTES * len(column))
        return
    ends = buffers[0].slice(0, END_BYTES * (len(column) + 1))
    yield ends
    yield (buffers[1] or pa.py_buffer(b"")).slice(0, _last_end(ends))


def from_bytes(content: bytes, type_of: Callable[[str], pa.DataType]) -> list[pa.Table]:
    """Reads tables, whose buffers are parts of the content.

    Args:
        content: What `to_bytes` returned, or something else.
        type_of: The type of a column by its name: a text, or a number of 8 bytes.

    Raises:
        TypeError, ValueError: It is something else.
    """
    head = content[: content.find(b"\n") + 1]
    parts = _Parts(content, len(head))
    return [_table(parts, type_of, *table) for table in read_json(head.decode())]


def _table(
    parts: "_Parts",
    type_of: Callable[[str], pa.DataType],
    rows: int,
    names: list[str],
    has_bitmap: list[bool],
) -> pa.Table:
    if rows < 1:
        raise ValueError(f"{rows} rows")
    columns = {
        name: _column(type_of(name), rows, parts.take(_bitmap_bytes(rows)) if has else None, parts)
        for name, has in zip(names, has_bitmap, strict=True)
    }
    table = pa.table(columns)
    table.validate(full=True)  # no text ends before it begins
    return table


def _column(kind: pa.DataType, rows: int, bitmap: pa.Buffer | None, parts: "_Parts") -> pa.Array:
    if kind != pa.string():
        return pa.Array.from_buffers(kind, rows, [bitmap, parts.take(NUMBER_BYTES * rows)])
    ends = parts.take(END_BYTES * (rows + 1))
    return pa.Array.from_buffers(kind, rows, [bitmap, ends, parts.take(_last_end(ends))])


def _bitmap_bytes(rows: int) -> int:
    return -(-rows // 8)


def _last_end(ends: pa.Buffer) -> int:
    return int.from_bytes(ends[-END_BYTES:], "little", signed=True)


class _Parts:
    """A content that is read from its beginning to its end."""

    def __init__(self, content: bytes, start: int) -> None:
        self._content = memoryview(content)
        self._place = start

    def take(self, size: int) -> pa.Buffer:
        """The next bytes.

        Raises:
            ValueError: There are fewer.
        """
        part = self._content[self._place : self._place + size]
        if len(part) != size:
            raise ValueError(f"ends before {size} bytes")
        self._place += size + -size % ALIGNED_BYTES
        return pa.py_buffer(part)
