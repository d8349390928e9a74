"""Names of a user's own classes as figures show them: of `backoff:SlowBackoff`, "Slow Backoff"."""

import re
from collections.abc import Sequence

_CLASS = re.compile(
    r"(?<![\w.:/])[A-Za-z_][\w.]*:((?:[A-Za-z_]\w*\.|<locals>\.)*)([A-Za-z_]\w*)(-\d+)?"
)
"""A class by its name: module, enclosing names, the class, and a number for one of several."""
_BETWEEN_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z]{2})|_+")
"""The places between two words of a name; an acronym such as BBR is a word."""


def readable(names: Sequence[str]) -> list[str]:
    """Returns names with the words of a class's name in place of `module:Class`.

    Names that would be alike stay as they are, and so do all others.

    Args:
        names: All names of a legend or an axis.
    """
    shown = [_CLASS.sub(_words, name) for name in names]
    return [
        name if shown.count(words) > 1 else words for name, words in zip(names, shown, strict=True)
    ]


def _words(found: re.Match[str]) -> str:
    """The words of a class's name, and its number."""
    words = _BETWEEN_WORDS.sub(" ", found[2]).strip()
    return f"{words}{(found[3] or '').replace('-', ' ')}"
