"""The answer of a command: first written, then printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from tailroom.cli.failures import Stopped, this_command
from tailroom.errors import OutputError
from tailroom.storage.output import StoppedDrawing

if TYPE_CHECKING:
    from pathlib import Path

    from tailroom.storage.output import Fill, Output


def without_pictures(what: str, directory: Path | None) -> str:
    """Says that a directory has everything but pictures, which need the work once more.

    Args:
        what: What it has.
        directory: The directory.
    """
    return (
        f"{what} are complete in {directory}, without pictures; to draw these, remove it and give "
        f"the same command again: {this_command()}"
    )


def write_and_print(  # noqa: PLR0913 - keyword arguments
    output: Output | None,
    fill: Fill,
    show: Callable[[], object],
    before: Iterable[Callable[[], object]] = (),
    *,
    in_place: Callable[[], str] | None = None,
    again: Callable[[], str] | None = None,
) -> None:
    """Writes an answer and prints it; it is printed even if it cannot be written.

    Printing comes second: whoever reads it may leave, or stop reading, before its end.

    Args:
        output: The place of `--out`; `None` if the answer is only printed.
        fill: Writes the answer.
        show: Prints the answer.
        before: Each writes another file of the answer, also if another file cannot be written.
        in_place: After Ctrl-C in the pictures of a directory, returns what is complete there, and
            how to draw them.
        again: After another Ctrl-C, returns how to write the answer; if left out, by the same
            command.

    Raises:
        Stopped: Ctrl-C; the answer is printed.
        OutputError: Files could not be written; a line per file names where it is.
    """
    own: list[Callable[[], object]] = [partial(output.write, fill)] if output else []
    problems: list[OutputError] = []
    try:
        for write in (*before, *own):
            try:
                write()
            except OutputError as error:
                problems.append(error)
        if problems:
            raise OutputError("\n".join(map(str, problems))) from problems[0]
    except KeyboardInterrupt as stopped:
        if isinstance(stopped, StoppedDrawing) and in_place:
            raise Stopped(in_place()) from None
        rest = again() if again else f"to write it, give the same command again: {this_command()}"
        raise Stopped(f"the answer is complete, but not all of it is written; {rest}") from None
    finally:
        show()
