"""Writes the reference tables of the documentation from what the engine says about itself."""

import json
import re
from typing import Any

from markdown_table import markdown_table
from scenario_format import ROOT, Alias, Class, Key

INHERITED = "`{name}` of each group that does not give it."
"""What the engine says of a key that only passes a value on to the groups."""
DISTRIBUTION = "In Python, the class has the name of the quantity in it, such as {name}."


def scenario_page(items: list[Class | Alias], hosts: list[dict[str, Any]]) -> str:
    """Every key of the scenario file, and the profiles of hosts."""
    parts = [
        "# Scenario file\n",
        "TOML. Unknown keys are refused. `tailroom schema` prints the same as JSON Schema.\n",
    ]
    titles = _titles(items)
    shown: set[str] = set()
    for item in sorted(items, key=lambda item: item.name != ROOT):
        title = titles[item.name]
        if title in shown:
            continue
        shown.add(title)
        parts.append(f"## {title}\n")
        if isinstance(item, Alias):
            parts += [item.doc + "\n"] if item.doc else []
            parts.append(f"Type: {_type(item.type_name, titles)}\n")
            if item.name == "Host":
                parts += [part for host in hosts for part in _host(host)]
        else:
            parts += _table(item, titles)
    return "\n".join(parts)


def _table(item: Class, titles: dict[str, str]) -> list[str]:
    """The description of a table of the scenario file, and its keys."""
    kind = [key.type_name for key in item.keys if key.name == "kind"]
    words = [f"`kind = {_only_word(kind[0])}`."] if kind else []
    words += [item.doc] if item.doc else []
    if titles[item.name] != item.name:
        words.append(DISTRIBUTION.format(name=f"`{item.name}`"))
    parts = [" ".join(words) + "\n"] if words else []
    inherited = [key for key in item.keys if key.doc == INHERITED.format(name=key.name)]
    if inherited:
        names = ", ".join(f"`{key.name}`" for key in inherited)
        parts.append(
            f"Keys with the type and the range that they have in [Flows](#flows): {names}.\n"
        )
    rows = [
        [f"`{key.name}`", _value(key, titles, is_shared=titles[item.name] != item.name), key.doc]
        for key in item.keys
        if key.name != "kind" and key not in inherited
    ]
    if rows:
        parts.append(markdown_table(["key", "value", "meaning"], rows))
    return parts


def _only_word(type_name: str) -> str:
    """The word of a type that allows a single one, in quotation marks."""
    return type_name.removeprefix("Literal[").removesuffix("]")


def _value(key: Key, titles: dict[str, str], *, is_shared: bool) -> str:
    """The type of a key, its range, and whether it is required or has a default."""
    name = re.sub(QUANTITY, "the quantity", key.type_name) if is_shared else key.type_name
    words = [_type(name, titles), _range(key.schema)]
    words.append("required" if key.required else _default(key.schema))
    return ", ".join(filter(None, words))


def _default(schema: dict[str, Any]) -> str:
    value = schema.get("default")
    return "" if value is None else f"default {_code(value)}"


QUANTITY = r"\b(?:PositiveDuration|Duration|Size|Rate)\b"


def _titles(items: list[Class | Alias]) -> dict[str, str]:
    """The heading of each item: distributions that differ in their quantity alone share one."""
    titles = {}
    first: dict[str, object] = {}
    for item in items:
        title = re.sub(
            r"(?<=\w)(PositiveDuration|Duration|Size|Rate)(?=Distribution$)", "", item.name
        )
        content = _content(item)
        is_same = isinstance(item, Class) and first.setdefault(title, content) == content
        titles[item.name] = title if is_same else item.name
    return titles


def _content(item: Class | Alias) -> object:
    if isinstance(item, Alias):
        return item
    return item.doc, [
        (key.name, re.sub(QUANTITY, "", key.type_name), key.required, key.doc, _range(key.schema))
        for key in item.keys
    ]


def _host(host: dict[str, Any]) -> list[str]:
    """The profile of a host: what it sets, for which groups, and the source."""
    parts = [f'### `host = "{host["kind"]}"`\n', host["doc"] + "\n"]
    rows = [
        [f"`{setting['name']} = {setting['value']}`", setting["applies_to"], setting["doc"]]
        for setting in host["sets"]
    ]
    if rows:
        parts.append(markdown_table(["key", "set for", "source"], rows))
    return parts


def _code(value: object) -> str:
    if value is None:
        return ""
    return f"`{value}`" if isinstance(value, str) and value else f"`{json.dumps(value)}`"


def _type(type_name: str, titles: dict[str, str]) -> str:
    """The type with links to the tables and aliases that it names."""
    words = re.split(r"(\"[^\"]*\"|\w+)", type_name)
    return "".join(
        f"[{titles[word]}](#{titles[word].lower()})" if word in titles else word for word in words
    )


def _range(schema: dict[str, Any]) -> str:
    lower, above = schema.get("minimum"), schema.get("exclusiveMinimum")
    upper, below = schema.get("maximum"), schema.get("exclusiveMaximum")
    parts = [
        f"{sign} {bound}"
        for sign, bound in (("≥", lower), (">", above), ("≤", upper), ("<", below))
        if bound is not None
    ]
    return ", ".join(parts)
