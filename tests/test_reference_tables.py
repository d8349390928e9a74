"""The reference of the scenario file: short, and with every key."""

import json

import pytest

import reference_tables
from scenario_format import Class, Key, Reader
from tailroom import _engine


def test_every_key_of_the_schema_is_described_with_its_type() -> None:
    items = Reader(json.loads(_engine.schema())).read()
    hosts = json.loads(_engine.components())["host"]
    page = reference_tables.scenario_page(items, hosts)
    number = 0
    for item in items:
        assert item.doc in page
        for key in item.keys if isinstance(item, Class) else ():
            inherited = reference_tables.INHERITED.format(name=key.name) == key.doc
            is_kind = key.name == "kind"
            words = f"`kind = {key.type_name[8:-1]}`" if is_kind else f"`{key.name}`"
            assert words in page
            assert inherited or " ".join(key.doc.split()).replace("|", "\\|") in page
            number += 1
    assert number > 400
    for host in hosts:
        assert f'### `host = "{host["kind"]}"`' in page


def distribution(quantity: str, doc: str = "Mean.") -> Class:
    key = Key("mean", quantity, required=True, doc=doc, schema={})
    return Class(f"Even{quantity}Distribution", "Even.", [key])


@pytest.mark.parametrize(
    ("doc", "titles"),
    [
        ("Mean.", ["EvenDistribution"]),
        ("Mean rate.", ["EvenDistribution", "EvenRateDistribution"]),
    ],
)
def test_distributions_that_differ_in_their_quantity_alone_share_a_table(
    doc: str, titles: list[str]
) -> None:
    page = reference_tables.scenario_page([distribution("Size"), distribution("Rate", doc)], [])
    assert [line[3:] for line in page.splitlines() if line.startswith("## ")] == titles
