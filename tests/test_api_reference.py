"""The reference of the Python package: `tools/api_reference.py`."""

from dataclasses import fields, is_dataclass
from importlib import import_module

import griffe
import pytest

import api_reference
import tailroom


@pytest.fixture(scope="module")
def package() -> griffe.Module:
    return api_reference.load()


@pytest.fixture(scope="module")
def page() -> str:
    return api_reference.python_page()


def further(package: griffe.Module) -> list[griffe.Object]:
    names = api_reference.public_names().values()
    public = [api_reference.definition(package, name) for name in names]
    return api_reference.further_types(package, public)


def test_every_public_name_has_an_entry(page: str) -> None:
    for name in tailroom.__all__:
        assert name == "__version__" or f"\n### `{name}`\n" in page


@pytest.mark.parametrize(
    "line",
    [
        "    seeds: int = 8,",
        "    window_s: float = 0.1,",
        "    precision: float = 0.06,",
        "    max_runs: int = 10000,",
        '    metric: str = "queue_packets",',
    ],
)
def test_a_signature_shows_the_value_of_a_named_constant(page: str, line: str) -> None:
    assert line in page.splitlines()


def test_a_signature_ends_with_what_is_returned(page: str) -> None:
    assert "\natlas() -> Atlas\n" in page
    assert "\n) -> SweepResult\n" in page
    assert "\nvalue(name: str, quantity: str) -> float | None\n" in page


def test_a_result_leads_to_the_members_that_all_results_share(page: str) -> None:
    entry = page.partition("### `Choices`\n")[2].partition("\n### ")[0]
    assert "\nIt also has the members of [`AnyResult`](#anyresult).\n" in entry
    assert "#### `AnyResult.to_pandas`" in page


def test_types_that_public_names_lead_to_have_entries(package: griffe.Module, page: str) -> None:
    paths = [item.canonical_path for item in further(package)]
    names = {path.rpartition(".")[2] for path in paths}
    assert {"Tried", "SizeProgress", "Prediction", "SweepRecord", "Finding", "Control"} <= names
    for path in paths:
        module, _, name = path.rpartition(".")
        assert f"### `{name}`\n\nIn `{module}`.\n" in page


def test_fields_of_these_types_are_described(package: griffe.Module) -> None:
    bare = []
    for item in further(package):
        module, _, name = item.canonical_path.rpartition(".")
        kind = getattr(import_module(module), name)
        if is_dataclass(kind):
            text = kind.__doc__ or ""
            bare += [
                f"{name}.{field.name}"
                for field in fields(kind)
                if not field.name.startswith("_") and f"\n    {field.name}: " not in text
            ]
        else:
            assert item.docstring, name
    assert not bare
