"""Writes the reference of the Python package from its docstrings: docs/reference/python.md."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

import griffe

import tailroom
from markdown_table import markdown_table, one_line

SOURCES = Path(__file__).parents[1] / "python"
HEAD = """\
# Python reference

Generated from the docstrings of `import tailroom as tr`; `help(tr.run)` shows the same.
[Results](results.md) describes the tables and the numbers of a `Result`, and [the scenario
file](scenario.md) the keys of a `Scenario`.

"""
NAMED = (griffe.DocstringSectionKind.parameters, griffe.DocstringSectionKind.attributes)
FUNCTIONS, CLASSES, ERRORS = "Functions", "Classes", "Exceptions"


def python_page() -> str:
    """The page, with functions first, then classes, then exceptions."""
    package = cast(
        griffe.Module,
        griffe.load("tailroom", search_paths=[SOURCES], docstring_parser="google"),
    )
    sections: dict[str, list[str]] = {FUNCTIONS: [], CLASSES: [], ERRORS: []}
    for name in tailroom.__all__:
        if name == "__version__":
            continue
        item = _definition(package, name)
        sections[_section(item)].append("\n".join(_entry(name, item)))
    parts = [f"## {title}\n\n" + "\n".join(entries) for title, entries in sections.items()]
    return HEAD + "\n".join(parts).rstrip() + "\n"


def _definition(package: griffe.Module, name: str) -> griffe.Object:
    item = package[name]
    return cast(griffe.Object, item.final_target if item.is_alias else item)


def _section(item: griffe.Object) -> str:
    if item.is_function:
        return FUNCTIONS
    return ERRORS if str(item.canonical_path).startswith("tailroom.errors.") else CLASSES


def _entry(name: str, item: griffe.Object) -> Iterator[str]:
    yield f"### `{name}`"
    yield ""
    if isinstance(item, griffe.Function):
        yield from _signature(name, item)
    yield from _described(item)
    if isinstance(item, griffe.Class):
        yield from _members(item)


def _signature(name: str, function: griffe.Function) -> Iterator[str]:
    parts = []
    was_keyword_only = False
    for parameter in function.parameters:
        if parameter.name in ("self", "cls"):
            continue
        is_keyword_only = parameter.kind is griffe.ParameterKind.keyword_only
        if is_keyword_only and not was_keyword_only:
            parts.append("*")
        was_keyword_only = is_keyword_only
        default = "" if parameter.default is None else f"={parameter.default}"
        parts.append(f"{parameter.name}{default}")
    yield "```python"
    yield f"{name}({', '.join(parts)})"
    yield "```"
    yield ""


def _described(item: griffe.Object) -> Iterator[str]:
    if item.docstring is None:
        return
    # Returned is one value, whose description may have several lines and colons.
    options = {"returns_multiple_items": False, "returns_named_value": False}
    for section in item.docstring.parse("google", **options):
        if section.kind is griffe.DocstringSectionKind.text:
            yield str(section.value)
        elif section.kind in NAMED:
            for named in section.value:
                yield f"* `{named.name}`: {one_line(named.description)}"
        elif section.kind is griffe.DocstringSectionKind.raises:
            for raised in section.value:
                yield f"* raises `{raised.annotation}`: {one_line(raised.description)}"
        elif section.kind is griffe.DocstringSectionKind.returns:
            for returned in section.value:
                yield f"* returns {one_line(returned.description)}"
        yield ""


def _members(item: griffe.Class) -> Iterator[str]:
    """Attributes as a table, then the methods."""
    public = [member for name, member in item.members.items() if not name.startswith("_")]
    known = [cast(griffe.Object, member) for member in public if not member.is_alias]
    attributes = [member for member in known if member.is_attribute and member.docstring]
    if attributes:
        rows = [
            [f"`{member.name}`", member.docstring.value]
            for member in attributes
            if member.docstring is not None
        ]
        yield markdown_table(["attribute", "meaning"], rows)
    for member in known:
        if isinstance(member, griffe.Function):
            yield f"#### `{item.name}.{member.name}`"
            yield ""
            yield from _signature(member.name, member)
            yield from _described(member)
