"""The standard streams of a command: closed ones, and readers that leave before the end."""

import io
import os
import sys
from contextlib import suppress
from typing import Any, TextIO

from tailroom.errors import OutputError

STANDARD_INPUT, STANDARD_OUTPUT, STANDARD_ERROR = 0, 1, 2


def prepare() -> None:
    """Makes the standard streams safe to use, whatever the caller of this process did to them.

    A stream that is closed becomes the null device: otherwise the next file that is opened would
    take its number, and would receive what is meant for the terminal. If the reader of a pipe
    leaves, what is still printed is dropped, and the work goes on.
    """
    _open_closed()
    sys.stdin = sys.stdin or _null("r")
    sys.stdout = _kept_open(sys.stdout or _null("w"), STANDARD_OUTPUT)
    sys.stderr = _kept_open(sys.stderr or _null("w"), STANDARD_ERROR)


def _open_closed() -> None:
    """Opens the null device for each of the three descriptors that is closed."""
    with suppress(OSError):
        while (opened := os.open(os.devnull, os.O_RDWR)) <= STANDARD_ERROR:
            os.set_inheritable(opened, True)
        os.close(opened)


def _null(mode: str) -> Any:
    return open(os.devnull, mode, encoding="utf-8")


def _kept_open(stream: TextIO, descriptor: int) -> TextIO:
    """Returns a stream for the same file that a reader who leaves does not break.

    Paths may have bytes, and titles characters, that the encoding of the stream lacks: they are
    written as escapes.
    """
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    if stream.isatty():  # no pipe; a console of Windows is not written to like a file
        stream.reconfigure(errors="backslashreplace")
        return stream
    return io.TextIOWrapper(
        io.BufferedWriter(_Pipe(descriptor)),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


class _Pipe(io.FileIO):
    """The file behind a standard stream; it takes everything once writing to it has failed."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._is_lost = False

    def write(self, content: Any) -> int:
        """Writes, or drops what nobody reads.

        Raises:
            OutputError: Standard output cannot be written, for example on a full disk.
        """
        if not self._is_lost:
            try:
                return super().write(content)
            except BrokenPipeError:
                self._is_lost = True
            except OSError as error:
                self._is_lost = True
                if self.fileno() == STANDARD_OUTPUT:  # of standard error nobody could be told
                    raise OutputError(
                        f"standard output: {error.strerror}; the answer is incomplete"
                    ) from error
        return memoryview(content).nbytes
