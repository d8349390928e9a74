"""What a scenario file may name outside itself.

A scenario file may come from somebody else. Reading it is harmless unless it names Python code or
other files. By default it names neither: controls in Python are not loaded, and files have to be
below the scenario's directory. What the caller writes (`--set`, `--vary`, an argument in Python) is
the caller's own, and so is a scenario built in Python.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from tailroom.arguments import given, named
from tailroom.errors import ScenarioError

ALLOW_CODE = "TAILROOM_ALLOW_CODE"
ALLOW_FILES = "TAILROOM_ALLOW_FILES"
"""Environment variables: scenario files may name code, or files anywhere, if the value is 1."""
FILE_KEYS = ("trace", "file")
"""Keys of a scenario whose values are paths of files."""
_QUOTED = re.compile(r'"([^"]*)"|\'([^\']*)\'')


@dataclass(frozen=True)
class Trust:
    """What a scenario may name."""

    code: bool = False
    """Whether it may name controls in Python."""
    files: bool = False
    """Whether it may name files outside its directory."""
    named: frozenset[str] = frozenset()
    """Texts that the caller wrote; what they name is the caller's own."""

    def naming(self, values: object) -> "Trust":
        """Returns the same trust, extended to what the caller names in some values.

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
                f'"{name}" is Python code that the scenario file names, and a scenario file may '
                "come from somebody else",
                f"if you trust the file and this code, allow it: {given('allow_code')}, or "
                f"{ALLOW_CODE}=1",
            )

    def check_files(self, text: str, directory: Path, replaced: frozenset[str]) -> None:
        """Checks the files that the text of a scenario names.

        Args:
            text: The scenario as TOML.
            directory: Directory of the scenario file.
            replaced: Keys whose values in the text are replaced.

        Raises:
            ScenarioError: A file is not below the directory.
        """
        for key, path in () if self.files else _outside(text, directory):
            if path not in self.named and key not in replaced:
                raise ScenarioError(
                    f'{key}: "{path}" is not below the directory of the scenario file; move it '
                    f"there, name it with {named('set')}, or allow it: {given('allow_files')}, or "
                    f"{ALLOW_FILES}=1"
                )

    def permitted_files(self, text: str, directory: Path) -> tuple[str, ...] | None:
        """Returns the paths that a scenario may name, as it writes them; any if `None`.

        Args:
            text: The scenario as TOML.
            directory: Directory of the scenario file.
        """
        return None if self.files else (*self.named, *_below(text, directory))


EVERYTHING = Trust(code=True, files=True)
"""For a scenario that the caller built."""

_NOTHING = Trust()
_allowed: ContextVar[Trust] = ContextVar("allowed")


@contextmanager
def allowing(*, code: bool = False, files: bool = False) -> Iterator[None]:
    """Lets the scenario files that are read in the block name code or files.

    Args:
        code: Whether they may name controls in Python.
        files: Whether they may name files outside their directories.
    """
    before = _allowed.get(_NOTHING)
    token = _allowed.set(Trust(before.code or code, before.files or files))
    try:
        yield
    finally:
        _allowed.reset(token)


def trust_in_files() -> Trust:
    """Returns what scenario files may name here: nothing, unless the caller allowed it."""
    allowed = _allowed.get(_NOTHING)
    return Trust(
        allowed.code or os.environ.get(ALLOW_CODE) == "1",
        allowed.files or os.environ.get(ALLOW_FILES) == "1",
    )


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


def _named_files(value: object, place: str = "") -> Iterator[tuple[str, str]]:
    """Yields the key and the path of each file in a table of a scenario."""
    if isinstance(value, list):
        for item in value:
            yield from _named_files(item, place)
    if not isinstance(value, dict):
        return
    for key, item in value.items():
        inner = f"{place}.{key}" if place else key
        # A key of [sweep] has a list of values.
        paths = item if isinstance(item, list) else [item]
        if key.rpartition(".")[2] in FILE_KEYS:
            yield from ((inner, path) for path in paths if isinstance(path, str))
        yield from _named_files(item, inner)


@lru_cache(maxsize=64)
def _files(text: str, directory: Path) -> tuple[tuple[str, str, bool], ...]:
    """Key, path and whether it is below the directory, of each file that a text names."""
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return ()  # the engine says what is wrong
    return tuple((key, path, _is_below(path, directory)) for key, path in _named_files(document))


def _outside(text: str, directory: Path) -> list[tuple[str, str]]:
    return [(key, path) for key, path, is_below in _files(text, directory) if not is_below]


def _below(text: str, directory: Path) -> list[str]:
    return [path for _, path, is_below in _files(text, directory) if is_below]


def _is_below(path: str, directory: Path) -> bool:
    """Whether a path stays below a directory, with its symbolic links followed."""
    try:
        return (directory / path).resolve().is_relative_to(directory.resolve())
    except (OSError, RuntimeError, ValueError):
        return False
