"""Text that is broken between words, but never between a number and its unit."""

import re
from typing import Any, Self

from rich.console import Console, ConsoleOptions
from rich.containers import Lines
from rich.measure import Measurement
from rich.text import Text

_GLUE = "\ue000"
"""Stands for a blank that is no place to break: a character of a blank's width that no text has. A
no-break space would not do, since rich breaks there too."""
_UNITS = (
    r"(?:[kMGT]?bit/s|[kMGT]?B|[munp]?s|bdp|packets?|bytes|runs?|seeds?|points?|flows?"
    r"|million|billion|trillion)(?!\w)|%"
)
_BLANK = re.compile(rf"(?:(?<=\d)|(?<=[a-z]illion)) (?={_UNITS})")


class UnbrokenText(Text):
    """Text whose blanks between a number and its unit are no places to break."""

    @classmethod
    def of(cls, markup: str) -> Self:
        """Reads markup of rich."""
        text = cls()
        text.append_text(Text.from_markup(markup))
        return text

    def wrap(self, console: Console, width: int, **options: Any) -> Lines:
        """Breaks the text into lines of at most `width` characters, unless a word is longer."""
        lines = self._glued().wrap(console, width, **options)
        for line in lines:
            line.plain = line.plain.replace(_GLUE, " ")
        return lines

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Returns the widths of the longest part that is not broken and of the longest line."""
        return self._glued().__rich_measure__(console, options)

    def _glued(self) -> Text:
        text = Text()
        text.append_text(self)
        text.plain = _BLANK.sub(_GLUE, text.plain)
        return text
