"""Values by name that answer a wrong name with the nearest one."""

import difflib
from collections.abc import Iterable
from typing import Any

MOST_NAMED = 12
"""Names that an error lists where none is near."""


class NamedValues(dict[str, Any]):
    """A dictionary whose `KeyError` says which key may have been meant."""

    def __missing__(self, key: object) -> Any:
        """Answers a key that is not there.

        Raises:
            KeyError: Always; the message names the nearest keys.
        """
        raise KeyError(f"{key}: there is no such key; {nearest(str(key), self)}")


def near(name: str, known: Iterable[str]) -> list[str]:
    """Up to three names that begin with `name`; else that resemble it; else that contain it."""
    known = list(known)
    begun = [
        candidate for candidate in known if name and candidate.lower().startswith(name.lower())
    ]
    alike = begun or difflib.get_close_matches(name, known, n=3)
    return (alike or [candidate for candidate in known if name.lower() in candidate.lower()])[:3]


def nearest(name: str, known: Iterable[str]) -> str:
    """What a user who wrote `name` may have meant: near names, else some of those there are."""
    known = list(known)
    meant = near(name, known)
    if meant:
        return f"did you mean {' or '.join(meant)}?"
    if not known:
        return "there is none at all"
    more = f" and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
    return f"choose one of {', '.join(known[:MOST_NAMED])}{more}"
