"""Reads files that somebody else made: bounded in bytes, numbers, digits and depth."""

import bz2
import errno
import gzip
import json
import zlib
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from threading import Thread
from typing import Any, BinaryIO, TypeVar

Answer = TypeVar("Answer")

MOST_VALUES = 2_000_000
"""Values in a file of JSON; a value of one digit takes 100 bytes once it is read."""
PART_BYTES = 1 << 20
"""Bytes that are read at a time: a buffer for a limit may be larger than the file."""
MOST_DIGITS = 1_000
"""Digits of a whole number; no finite double has more than 309."""


def read_bytes(path: str | PathLike[str], most_bytes: int, *, may_be_packed: bool = False) -> bytes:
    """Returns the content of a file, and reads no more of it than allowed: a device has no end.

    Args:
        path: The file.
        most_bytes: Largest content, in bytes, once it is decompressed.
        may_be_packed: Whether a file of gzip or bzip2 is decompressed.

    Raises:
        OSError: The file cannot be read, or is larger (`errno.EFBIG`).
    """
    with Path(path).open("rb") as file:
        opened = _unpacked(file) if may_be_packed else file
        content = bytearray()
        while part := opened.read(PART_BYTES):
            content += part
            if len(content) > most_bytes:
                raise OSError(errno.EFBIG, f"has more than {most_bytes // 10**6} MB", str(path))
    return bytes(content)


def answer_of(path: str | PathLike[str], read: Callable[[], Answer]) -> Answer:
    """Returns what the engine reads from a file; Ctrl-C ends the wait for a pipe or a terminal.

    The engine hears no signal while it waits for bytes, so a thread waits for those of others.

    Args:
        path: The file.
        read: Reads it.
    """
    if Path(path).is_file():
        return read()
    answer = Future[Answer]()

    def give() -> None:
        try:
            answer.set_result(read())
        except BaseException as error:
            answer.set_exception(error)

    Thread(target=give, daemon=True).start()
    return answer.result()


@dataclass(frozen=True)
class FileReader:
    """How a kind of file is read, and what its messages say.

    Attributes:
        error: Makes the exception that is raised of its message.
        wanted: What to give instead of a file that is none of this kind.
        most_bytes: Largest text, in bytes, once it is decompressed.
        shorter: How to make a file shorter.
        most_values: Most values of JSON.
    """

    error: Callable[[str], Exception]
    wanted: str
    most_bytes: int
    shorter: str
    most_values: int = MOST_VALUES

    def text(self, path: str | PathLike[str], *, may_be_packed: bool = False) -> str:
        """Returns the text of a file, without a mark of byte order.

        Args:
            path: The file.
            may_be_packed: Whether a file of gzip or bzip2 is decompressed.

        Raises:
            Exception: `error` of what is wrong: the file cannot be read, is damaged, too large,
                empty or not text.
        """
        try:
            content = read_bytes(path, self.most_bytes, may_be_packed=may_be_packed)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise self.error(
                f"the compressed file is damaged or truncated: {error}; copy it again"
            ) from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            if getattr(error, "errno", None) == errno.EFBIG:
                raise self.error(f"{reason} of text; {self.shorter}") from None
            raise self.error(f"cannot be read: {reason}; check the path") from None
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise self.error(f"byte {error.start:,}: is not text; give {self.wanted}") from None
        if not text.strip():
            raise self.error(f"is empty; give {self.wanted}")
        return text

    def json(self, text: str) -> Any:
        """Returns what a text of JSON holds.

        Raises:
            Exception: `error` of what is wrong: it is no JSON, nested too deeply, or has too many
                values or too long numbers.
        """
        if values_of_json(text) > self.most_values:
            raise self.error(f"has more than {self.most_values:,} values; {self.shorter}")
        try:
            return json.loads(text, parse_int=_whole)
        except json.JSONDecodeError as error:
            reason = f"line {error.lineno}: is not JSON: {error.msg}"
        except RecursionError:
            reason = "is nested too deeply for JSON"
        except ValueError as error:
            reason = f"is not JSON of this kind: {error}"
        raise self.error(f"{reason}; give {self.wanted}") from None


def values_of_json(text: str) -> int:
    """Returns about how many values a text of JSON has: one after a comma, or first in its list.

    Args:
        text: The text, which need not be JSON.
    """
    return sum(map(text.count, ",[{"))


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"a number has {len(digits):,} digits")
    return int(digits)


def _unpacked(file: BinaryIO) -> BinaryIO | gzip.GzipFile | bz2.BZ2File:
    """The file, or what decompresses it; its first bytes tell, as the name may not."""
    start = file.read(2)
    file.seek(0)
    if start == b"\x1f\x8b":
        return gzip.open(file)
    return bz2.open(file) if start == b"BZ" else file
