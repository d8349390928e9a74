"""What ruff cannot see of the public docstrings: names that are exported, and fields of classes."""

import ast
import inspect
from collections.abc import Iterator
from dataclasses import is_dataclass
from importlib import import_module
from pkgutil import iter_modules
from textwrap import dedent
from types import ModuleType

import pytest

PACKAGES = ("", ".models", ".models.fluid", ".plots", ".reproduction")


def packages() -> list[ModuleType]:
    return [import_module(f"tailroom{name}") for name in PACKAGES]


def exported() -> dict[str, object]:
    """The public functions and classes, by full name."""
    return {
        f"{package.__name__}.{name}": value
        for package in packages()
        for name in getattr(package, "__all__", ())
        if callable(value := getattr(package, name)) and hasattr(value, "__module__")
    }


def members(kind: type) -> Iterator[tuple[str, object]]:
    """The public methods and properties that a class of tailroom defines."""
    for owner in inspect.getmro(kind):
        if owner.__module__.startswith("tailroom"):
            yield from ((n, member) for n, member in vars(owner).items() if not n.startswith("_"))


@pytest.mark.parametrize("name", exported())
def test_every_public_name_has_a_docstring(name: str) -> None:
    value = exported()[name]
    assert inspect.getdoc(value), name
    if isinstance(value, type):
        documented = (property, classmethod, staticmethod)
        for member, thing in members(value):
            if inspect.isroutine(thing) or isinstance(thing, documented):
                assert inspect.getdoc(thing), f"{name}.{member}"


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
    assert not bare, f"{name}: {', '.join(bare)}"


@pytest.mark.parametrize("package", packages(), ids=lambda package: package.__name__)
def test_no_module_has_the_name_of_an_exported_function(package: ModuleType) -> None:
    modules = {module.name for module in iter_modules(package.__path__)}
    assert not modules & set(getattr(package, "__all__", ()))
