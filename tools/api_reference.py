"""The reference of the Python package, from its docstrings: a page that only the site has.

The sources are read, not imported: the site is built without the engine.
"""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import griffe

from markdown_table import markdown_table, one_line

SOURCES = Path(__file__).parents[1] / "python"
HEAD = """\
# Python reference

Generated from the docstrings of `import tailroom as tr`; `help(tr.run)` shows the same.
[Results](results.md) describes the tables and the numbers of a `Result`, and [the scenario
file](scenario.md) the keys of a `Scenario`.

"""
FURTHER = """\
The functions and classes above take or return these types. They are not names of `tailroom` itself:
import a type, for an annotation, from the module that its entry names.
"""
LINE_LENGTH = 100
"""Longest signature that stands on one line."""
ELSEWHERE = ("tailroom.scenario.types", "tailroom.simulation.result_types")
"""Modules that other pages describe."""
INTERNAL = (
    "Measure",
    "Metrics",
    "OwnControls",
    "RunIndex",
    "Scenario",
    "Signature",
    "Task",
    "Trust",
)
"""Types at which the search for further types ends: a caller makes no use of them."""
SHARED = "AnyResult"
"""The base class whose members its subclasses do not repeat."""
NAMED = (griffe.DocstringSectionKind.parameters, griffe.DocstringSectionKind.attributes)
FUNCTIONS, CLASSES, ERRORS = "Functions", "Classes", "Exceptions"
TYPES = "Further types"


def load() -> griffe.Module:
    """The package, as its sources say."""
    loaded = griffe.load(
        "tailroom", search_paths=[SOURCES], docstring_parser="google", allow_inspection=False
    )
    return cast(griffe.Module, loaded)


def public_names() -> dict[str, str]:
    """The public functions and classes, each with its dotted name below the package."""
    stub = SOURCES / "tailroom" / "__init__.pyi"
    imported = {
        name.name: f"{statement.module}.{name.name}".removeprefix("tailroom.")
        for statement in ast.parse(stub.read_bytes()).body
        if isinstance(statement, ast.ImportFrom)
        for name in statement.names
    }
    return dict(sorted(imported.items()))


def python_page() -> str:
    """The page, with functions first, then classes, further types, exceptions."""
    package = load()
    sections: dict[str, list[str]] = {FUNCTIONS: [], CLASSES: [], TYPES: [FURTHER], ERRORS: []}
    public = {name: definition(package, path) for name, path in public_names().items()}
    for name, item in public.items():
        sections[_section(item)].append("\n".join(_entry(name, item)))
    for item in further_types(package, list(public.values())):
        sections[TYPES].append("\n".join(_further_entry(item)))
    parts = [f"## {title}\n\n" + "\n".join(entries) for title, entries in sections.items()]
    return HEAD + "\n".join(parts).rstrip() + "\n"


def definition(package: griffe.Module, name: str) -> griffe.Object:
    """The function, class or other object of a dotted name, wherever it is defined."""
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
        if any(str(base) == SHARED for base in item.bases):
            yield f"It also has the members of [`{SHARED}`](#{SHARED.lower()})."
            yield ""
        yield from _members(item)


def further_types(package: griffe.Module, public: Sequence[griffe.Object]) -> list[griffe.Object]:
    """The types that annotations of public functions and classes name, by name."""
    found: dict[str, griffe.Object] = {item.canonical_path: item for item in public}
    waiting = list(public)
    while waiting:
        for annotation in _annotations(waiting.pop()):
            for path in _names(annotation):
                if path in found or not _is_further(path):
                    continue
                item = definition(package, path.removeprefix("tailroom."))
                if item.canonical_path not in found:
                    found[item.canonical_path] = item
                    waiting.append(item)
    further = list(found.values())[len(public) :]
    return sorted(further, key=lambda item: item.name)


def _is_further(path: str) -> bool:
    module, _, name = path.rpartition(".")
    is_ours = module.startswith("tailroom.") and module not in ELSEWHERE
    return is_ours and not name.startswith("_") and name not in INTERNAL


def _annotations(item: griffe.Object) -> Iterator[griffe.Expr | str | None]:
    """The annotations of a function, of the public members of a class, or of a type alias."""
    if isinstance(item, griffe.Function):
        yield from (parameter.annotation for parameter in item.parameters)
        yield item.returns
    elif isinstance(item, griffe.Attribute):
        yield item.annotation
        if item.parent and item.parent.is_module:
            yield item.value
    elif isinstance(item, griffe.Class):
        for member in _public_members(item):
            yield from _annotations(member)


def _names(annotation: griffe.Expr | str | None) -> Iterator[str]:
    if isinstance(annotation, griffe.Expr):
        for part in annotation.iterate(flat=True):
            if isinstance(part, griffe.ExprName):
                yield part.canonical_path


def _further_entry(item: griffe.Object) -> Iterator[str]:
    assert item.parent is not None
    heading, *rest = _entry(item.name, item)
    yield heading
    yield ""
    yield f"In `{item.parent.canonical_path}`."
    if isinstance(item, griffe.Attribute):
        yield ""
        yield from _code(f"{item.name} = {_double_quoted(item.value)}")
        rest = rest[1:]
    yield from rest


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
        parts.append(_parameter(parameter))
    returned = f" -> {function.returns}" if function.returns is not None else ""
    line = f"{name}({', '.join(parts)}){returned}"
    if len(line) > LINE_LENGTH:
        line = "\n".join([f"{name}(", *(f"    {part}," for part in parts), f"){returned}"])
    yield from _code(line)


def _parameter(parameter: griffe.Parameter) -> str:
    star = {
        griffe.ParameterKind.var_positional: "*",
        griffe.ParameterKind.var_keyword: "**",
    }.get(parameter.kind or griffe.ParameterKind.positional_or_keyword, "")
    annotation = "" if parameter.annotation is None else f": {parameter.annotation}"
    if parameter.default is None or star:
        return f"{star}{parameter.name}{annotation}"
    equals = " = " if annotation else "="
    return f"{parameter.name}{annotation}{equals}{_default(parameter.default)}"


def _default(default: griffe.Expr | str) -> str:
    """The value of a default; of a named constant its value."""
    while isinstance(default, griffe.ExprName):
        default = cast(griffe.Attribute, default.resolved).value or ""
    return _double_quoted(default)


def _double_quoted(expression: griffe.Expr | str | None) -> str:
    return str(expression).replace("'", '"')


def _code(text: str) -> Iterator[str]:
    yield "```python"
    yield text
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


def _public_members(item: griffe.Class) -> list[griffe.Object]:
    public = [member for name, member in item.members.items() if not name.startswith("_")]
    return [cast(griffe.Object, member) for member in public if not member.is_alias]


def _members(item: griffe.Class) -> Iterator[str]:
    """Attributes as a table, then the methods."""
    known = _public_members(item)
    attributes = [cast(griffe.Attribute, member) for member in known if member.is_attribute]
    rows = [
        [
            f"`{member.name}`",
            f"`{member.annotation}`" if member.annotation else "",
            member.docstring.value,
        ]
        for member in attributes
        if member.docstring is not None
    ]
    if rows:
        yield markdown_table(["attribute", "type", "meaning"], rows)
    for method in known:
        if isinstance(method, griffe.Function):
            yield f"#### `{item.name}.{method.name}`"
            yield ""
            yield from _signature(method.name, method)
            yield from _described(method)
