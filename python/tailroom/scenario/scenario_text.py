"""The text of a scenario file, which may come from anywhere: bounded, and UTF-8."""

import errno
from functools import lru_cache
from pathlib import Path
from typing import TextIO

from tailroom.arguments import check_unicode
from tailroom.errors import ScenarioError
from tailroom.given_files import read_bytes
from tailroom.scenario.shipped_scenarios import did_you_mean

LARGEST_BYTES = 4 << 20
"""Largest size of a scenario file."""
TOO_LARGE = (
    "the scenario is larger than 4 MiB; "
    "move long schedules into a separate file and name that file in the scenario"
)


def of_file(path: Path) -> str:
    """Returns the text of a file, without a mark of byte order.

    Args:
        path: The file.

    Raises:
        ScenarioError: The file cannot be read, is too large, or is not UTF-8.
    """
    return _decoded(_content(path), str(path))


def _content(path: Path) -> bytes:
    try:
        return read_bytes(path, LARGEST_BYTES)
    except UnicodeEncodeError:
        check_unicode(str(path), str(path))
        raise
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise ScenarioError(f"{path}: {TOO_LARGE}") from None
        reason = error.strerror or str(error)
        meant = did_you_mean(str(path), files=True) if isinstance(error, FileNotFoundError) else ""
        raise ScenarioError(
            f"{path}: cannot read the scenario: {reason}; give the path of a scenario file (TOML), "
            f"or a name that `tailroom list scenarios` shows{meant}"
        ) from None


@lru_cache(maxsize=1)
def of_standard_input(stream: TextIO) -> str:
    """Returns the text of standard input, read once: a command may need it several times.

    Args:
        stream: Standard input.

    Raises:
        ScenarioError: It is too large, or is not UTF-8.
    """
    content = stream.buffer.read(LARGEST_BYTES + 1)
    if len(content) > LARGEST_BYTES:
        raise ScenarioError(f"stdin: {TOO_LARGE}")
    return _decoded(content, "stdin")


def _decoded(content: bytes, place: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ScenarioError(
            f"{place}: line {line}: byte {error.start + 1} is not UTF-8; save the file as UTF-8"
        ) from None
