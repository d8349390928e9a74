"""The public docstrings, where ruff's rules D and DOC501 do not reach.

Ruff checks that a docstring stands, that a section Args names every parameter, and that Raises
names what a function raises. It does not know which names are public.
"""

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from pkgutil import iter_modules
from textwrap import dedent
from types import ModuleType

import pytest

PACKAGES = (
    "tailroom",
    "tailroom.models",
    "tailroom.models.fluid",
    "tailroom.plots",
    "tailroom_papers.framework",
)


def packages() -> list[ModuleType]:
    return [import_module(name) for name in PACKAGES]


def exported() -> dict[str, object]:
    """The public functions and classes, by full name."""
    return {
        f"{package.__name__}.{name}": value
        for package in packages()
        for name in package.__all__
        if inspect.isroutine(value := getattr(package, name)) or isinstance(value, type)
    }


def members(kind: type) -> Iterator[tuple[str, object]]:
    """The public methods and properties that a class of tailroom, or its base, defines."""
    for owner in inspect.getmro(kind):
        if owner.__module__.startswith("tailroom"):
            for name, member in vars(owner).items():
                kinds = (property, classmethod, staticmethod)
                if not name.startswith("_") and (
                    inspect.isroutine(member) or isinstance(member, kinds)
                ):
                    yield name, member


def documented() -> dict[str, object]:
    """The public functions, classes, methods and properties, by full name."""
    found = exported()
    for name, value in exported().items():
        if isinstance(value, type):
            found |= {f"{name}.{member}": thing for member, thing in members(value)}
    return found


def functions() -> dict[str, Callable[..., object]]:
    """The public functions and methods that are written in Python, by full name."""
    plain = {name: getattr(value, "__func__", value) for name, value in documented().items()}
    return {name: value for name, value in plain.items() if inspect.isfunction(value)}


@pytest.mark.parametrize("name", documented())
def test_every_public_name_has_a_docstring(name: str) -> None:
    assert inspect.getdoc(documented()[name])


@pytest.mark.parametrize("name", functions())
def test_every_parameter_of_a_public_function_is_described(name: str) -> None:
    function = functions()[name]
    stars: dict[object, str] = {
        inspect.Parameter.VAR_POSITIONAL: "*",
        inspect.Parameter.VAR_KEYWORD: "**",
    }
    text = inspect.getdoc(function) or ""
    missing = [
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.name not in ("self", "cls") and not parameter.name.startswith("_")
        if f"\n    {stars.get(parameter.kind, '')}{parameter.name}: " not in text
    ]
    assert not missing


@pytest.mark.parametrize(
    "name", [name for name, value in exported().items() if is_dataclass(value)]
)
def test_every_field_of_a_public_class_is_described(name: str) -> None:
    kind = exported()[name]
    assert isinstance(kind, type)
    tree = ast.parse(dedent(inspect.getsource(kind))).body[0]
    assert isinstance(tree, ast.ClassDef)
    bare = [
        statement.target.id
        for statement, after in zip(tree.body, [*tree.body[1:], None], strict=True)
        if isinstance(statement, ast.AnnAssign)
        and isinstance(statement.target, ast.Name)
        and not statement.target.id.startswith("_")
        and not (isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant))
    ]
    assert not bare


@pytest.mark.parametrize(
    "name", [name for name, value in exported().items() if is_dataclass(value)]
)
def test_help_describes_every_field_of_a_public_class(name: str) -> None:
    kind = exported()[name]
    assert is_dataclass(kind)
    text = inspect.getdoc(kind) or ""
    missing = [field.name for field in fields(kind) if f"\n    {field.name}: " not in text]
    assert not [name for name in missing if not name.startswith("_")]


@pytest.mark.parametrize("package", packages(), ids=lambda package: package.__name__)
def test_no_module_has_the_name_of_an_exported_function(package: ModuleType) -> None:
    modules = {module.name for module in iter_modules(package.__path__)}
    assert not modules & set(package.__all__)
