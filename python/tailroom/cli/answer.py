"""The answer of a command: first written, then printed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tailroom.storage.output import Fill, Output


def write_and_print(output: Output | None, fill: Fill, show: Callable[[], object]) -> None:
    """Writes an answer and prints it; it is printed even if it cannot be written.

    Printing comes second: whoever reads it may leave, or stop reading, before its end.

    Args:
        output: The place of `--out`; `None` if the answer is only printed.
        fill: Writes the answer.
        show: Prints the answer.

    Raises:
        OutputError: The answer could not be written; the message names where it is.
    """
    try:
        if output:
            output.write(fill)
    finally:
        show()
