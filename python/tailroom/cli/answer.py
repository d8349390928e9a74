"""The answer of a command: first written, then printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from tailroom.errors import OutputError

if TYPE_CHECKING:
    from tailroom.storage.output import Fill, Output


def write_and_print(
    output: Output | None,
    fill: Fill,
    show: Callable[[], object],
    before: Iterable[Callable[[], object]] = (),
) -> None:
    """Writes an answer and prints it; it is printed even if it cannot be written.

    Printing comes second: whoever reads it may leave, or stop reading, before its end.

    Args:
        output: The place of `--out`; `None` if the answer is only printed.
        fill: Writes the answer.
        show: Prints the answer.
        before: Each writes another file of the answer, also if another file cannot be written.

    Raises:
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
    finally:
        show()
