"""Values by name, with suggestions for misspelled names."""

import difflib
from collections.abc import Iterable
from typing import Any, NoReturn

MOST_NAMED = 12
"""Largest number of names that an error lists."""


class NamedValues(dict[str, Any]):
    """A dictionary whose errors suggest how to write a key.

    Keys are no attributes: a link may have the name of a method, such as `items`.
    """

    def __missing__(self, key: object) -> Any:
        """Refuses a missing key.

        Raises:
            KeyError: Always; the message names the nearest keys.
        """
        raise KeyError(f"{key}: there is no such key; {nearest(str(key), self)}")

    def __getattr__(self, name: str) -> NoReturn:
        """Refuses an attribute.

        Raises:
            AttributeError: Always; the message says how to write the key.
        """
        if name.startswith("__"):  # a protocol asks, no person
            raise AttributeError(name)
        remedy = f'write ["{name}"]' if name in self else nearest(name, self)
        raise AttributeError(f"{name}: there is no such attribute; {remedy}")


def near(name: str, known: Iterable[str]) -> list[str]:
    """Returns up to three names that begin with, else resemble, else contain `name`."""
    known = list(known)
    begun = [
        candidate for candidate in known if name and candidate.lower().startswith(name.lower())
    ]
    alike = begun or difflib.get_close_matches(name, known, n=3)
    return (alike or [candidate for candidate in known if name.lower() in candidate.lower()])[:3]


def nearest(name: str, known: Iterable[str]) -> str:
    """Returns a suggestion for a misspelled `name`: similar names, else known names."""
    known = list(known)
    meant = near(name, known)
    if meant:
        return f"did you mean {' or '.join(meant)}?"
    if not known:
        return "there is none at all"
    more = f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
    return f"choose one of {', '.join(known[:MOST_NAMED])}{more}"
