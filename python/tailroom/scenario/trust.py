"""What a scenario file may name outside itself.

A scenario file may come from somebody else. Reading it is harmless unless it names Python code or
other files. By default it names neither: code in Python (controls, disciplines, sources) is not
loaded, and files have to be below the scenario's directory. What the caller writes (`--set`,
`--vary`, an argument in Python) is the caller's own, and so is a scenario built in Python.
"""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from tailroom.arguments import named, usage
from tailroom.errors import ScenarioError
from tailroom.quoting import quoted

ALLOW_CODE = "TAILROOM_ALLOW_CODE"
ALLOW_FILES = "TAILROOM_ALLOW_FILES"
"""Environment variables: scenario files may name code, or files anywhere, if the value is 1."""
_QUOTED = re.compile(r'"([^"]*)"|\'([^\']*)\'')


@dataclass(frozen=True)
class Trust:
    """What a scenario may name."""

    code: bool = False
    """Whether it may name code in Python."""
    files: bool = False
    """Whether it may name files outside its directory."""
    named: frozenset[str] = frozenset()
    """Texts that the caller wrote; what they name is the caller's own."""

    def joined(self, other: "Trust") -> "Trust":
        """Returns what this or the other trust allows."""
        return Trust(self.code or other.code, self.files or other.files, self.named | other.named)

    def naming(self, values: object) -> "Trust":
        """Returns a copy that also allows the names in `values`.

        Args:
            values: Values of keys, as text, numbers, lists or tables.
        """
        return replace(self, named=self.named | frozenset(_texts_in(values)))

    def check_control(self, name: str) -> None:
        """Checks that a control may be loaded.

        Args:
            name: The control, such as "module:Class".

        Raises:
            ScenarioError: It may not; two arguments, the problem and the remedy.
        """
        if not self.code and name not in self.named:
            raise ScenarioError(
                f'"{quoted(name)}" is Python code that the scenario file names, and a scenario '
                "file may come from somebody else",
                f"if you trust the file and this code, allow it: {usage('allow_code')}, or "
                f"{ALLOW_CODE}=1",
            )

    @property
    def outside(self) -> tuple[tuple[str, ...], str] | None:
        """Paths that may be outside the directory, and what to do about others; any if `None`."""
        if self.files:
            return None
        remedy = (
            f"move it there, name it with {named('set')}, or allow it: {usage('allow_files')}, or "
            f"{ALLOW_FILES}=1"
        )
        return tuple(sorted(self.named)), remedy


EVERYTHING = Trust(code=True, files=True)
"""For a scenario that the caller built."""

_NOTHING = Trust()
_allowed: ContextVar[Trust] = ContextVar("allowed")


@contextmanager
def allowing(*, code: bool = False, files: bool = False) -> Iterator[None]:
    """Lets the scenario files that are read in the block name code or files.

    Args:
        code: Whether they may name code in Python.
        files: Whether they may name files outside their directories.
    """
    before = _allowed.get(_NOTHING)
    token = _allowed.set(before.joined(Trust(code, files)))
    try:
        yield
    finally:
        _allowed.reset(token)


def trust_in_files() -> Trust:
    """Returns what scenario files may name here: nothing, unless the caller allowed it."""
    code, files = (os.environ.get(name) == "1" for name in (ALLOW_CODE, ALLOW_FILES))
    return _allowed.get(_NOTHING).joined(Trust(code, files))


def _texts_in(value: object) -> Iterator[str]:
    """Yields the texts of a value; the text of an inline table also by its parts."""
    if isinstance(value, str):
        yield value
        for match in _QUOTED.finditer(value):
            yield match[1] or match[2] or ""
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts_in(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts_in(item)
