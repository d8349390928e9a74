"""The descriptions of a dataclass's fields in its docstring, where `help` shows them.

The description of a field stands below the field, where editors and the reference look for it.
Python does not keep it, so it is read from the source when somebody asks for the docstring.
"""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from itertools import pairwise
from typing import TypeVar, cast

_LINE_LENGTH = 96
_Class = TypeVar("_Class", bound=type)


class _Docstring:
    """The docstring of a class, with a section Attributes that is written at the first use."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.whole: str | None = None

    def __get__(self, _instance: object, owner: type) -> str:
        if self.whole is None:
            fields = dict(_fields(owner))
            entries = (_entry(name, text) for name, text in fields.items())
            section = "\n".join(["\n\nAttributes:", *entries]) if fields else ""
            self.whole = inspect.cleandoc(self.text) + section
        return self.whole


def with_field_docs(kind: _Class) -> _Class:
    """Decorates a dataclass: its docstring describes the fields.

    Args:
        kind: The class, whose fields are followed by their descriptions.
    """
    kind.__doc__ = cast("str", _Docstring(kind.__doc__ or ""))
    return kind


def _fields(kind: type) -> Iterator[tuple[str, str]]:
    """Yields names and descriptions of the public fields, those of base classes first."""
    for owner in reversed(kind.__mro__):
        if not owner.__module__.startswith("tailroom"):
            continue
        try:
            source = inspect.getsource(owner)
        except (OSError, TypeError):  # without its source, the class has only its own docstring
            continue
        body = cast("ast.ClassDef", ast.parse(textwrap.dedent(source)).body[0]).body
        for statement, after in pairwise(body):
            if (
                isinstance(statement, ast.AnnAssign)
                and isinstance(statement.target, ast.Name)
                and not statement.target.id.startswith("_")
                and isinstance(after, ast.Expr)
                and isinstance(after.value, ast.Constant)
            ):
                yield statement.target.id, " ".join(str(after.value.value).split())


def _entry(name: str, text: str) -> str:
    return textwrap.fill(
        f"{name}: {text}",
        _LINE_LENGTH,
        initial_indent="    ",
        subsequent_indent="        ",
        break_long_words=False,
        break_on_hyphens=False,
    )
