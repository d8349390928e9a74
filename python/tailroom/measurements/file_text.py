"""The text of a measurement's file, also of a compressed file, in bounded memory."""

import bz2
import gzip
import zlib
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from tailroom.errors import MeasurementError

MOST_BYTES = 64 << 20
"""Largest text that is read, in bytes; a test of a minute takes 4 MB at most."""


def read_text(path: str | PathLike[str]) -> str:
    """Returns the text of a file, decompressed if it is compressed (gzip or bzip2).

    Args:
        path: The file.

    Raises:
        MeasurementError: The file cannot be read, is damaged, not text, empty or too large.
    """
    try:
        with Path(path).open("rb") as file:
            content = _opened(file).read(MOST_BYTES + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise MeasurementError(
            f"the compressed file is damaged or truncated: {error}; copy it again"
        ) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise MeasurementError(f"cannot be read: {reason}; give a file that you may read") from None
    if len(content) > MOST_BYTES:
        raise MeasurementError(
            f"has more than {MOST_BYTES >> 20} MB of text; measure for a shorter time, or with "
            "longer intervals"
        )
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise MeasurementError(
            f"byte {error.start:,}: is not text; give a file of flent, iperf3 -J, ss -tin or "
            "Waveform's test"
        ) from None
    if not text.strip():
        raise MeasurementError("is empty; measure again")
    return text


def _opened(file: BinaryIO) -> BinaryIO | gzip.GzipFile | bz2.BZ2File:
    """The file, or what decompresses it; its first bytes tell, as the name may not."""
    start = file.read(2)
    file.seek(0)
    if start == b"\x1f\x8b":
        return gzip.open(file)
    return bz2.open(file) if start == b"BZ" else file
