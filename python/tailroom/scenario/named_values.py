"""Values by name, with suggestions for misspelled names."""

from collections.abc import Iterable
from typing import Any, NoReturn

from tailroom import _engine

MOST_NEAR = 3
"""Maximum number of names that a name may have meant."""


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
    """Returns up to three names that a person who wrote `name` may have meant, the likeliest first.

    They are those that `name` is another word for, else those that begin with it, resemble it or
    contain it, or have two letters in another order; case and hyphens do not matter.
    """
    return _engine.meant(name, list(known))[:MOST_NEAR]


def nearest(name: str, known: Iterable[str]) -> str:
    """Returns a suggestion for a misspelled `name`: similar names, else a few of those known."""
    known = list(known)
    meant = near(name, known)
    if meant:
        remark = _engine.remark(name, meant[0])
        return f"did you mean {' or '.join(meant)}?{f' {remark}' if remark else ''}"
    return f"choose one of {few(name, known)}" if known else "there is none at all"


def few(name: str, known: Iterable[str]) -> str:
    """Returns the names that resemble `name` most, and how many others there are."""
    listed, others = _engine.few(name, list(known))
    return f"{', '.join(listed)}{f' and {others} more' if others else ''}"
