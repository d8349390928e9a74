"""The keys that a scenario can have, from the schema: what a shell offers after `--set`."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from tailroom import _engine

Schema = Mapping[str, Any]

NOT_OFFERED = ("defaults", "sweep")
"""Tables that set nothing by themselves in a single run."""


@lru_cache(maxsize=1)
def _document() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(_engine.schema())
    return document


@dataclass(frozen=True)
class Node:
    """A key with all that its value may be, and its value in a scenario."""

    schema: Schema
    value: object
    """As the scenario gives it; `None` if the scenario does not give the key."""

    @cached_property
    def alternatives(self) -> list[Schema]:
        """What the value may be, each without references and choices."""
        return list(_alternatives(self.schema))

    @cached_property
    def children(self) -> dict[str, "Node"]:
        """The keys of the table that stands here, in the order of the schema.

        A table with a `kind` has the keys of the kind that the scenario gives, and `kind`.
        """
        tables = [schema for schema in self.alternatives if schema.get("type") == "object"]
        given = self.value if isinstance(self.value, Mapping) else {}
        kind = given.get("kind", self.value if isinstance(self.value, str) else None)
        children: dict[str, Node] = {}
        for table in tables:
            properties = dict(table.get("properties", {}))
            if "kind" in properties:
                children["kind"] = Node({"anyOf": [_kind(choice) for choice in tables]}, kind)
                if properties["kind"].get("const") != kind:
                    continue
                del properties["kind"]
            for name, schema in properties.items():
                default = schema.get("default")
                children.setdefault(name, Node(schema, given.get(name, default)))
            if isinstance(table.get("additionalProperties"), Mapping):
                schema = table["additionalProperties"]
                children |= {str(name): Node(schema, value) for name, value in given.items()}
        return children

    @property
    def is_value(self) -> bool:
        """Whether the value may be something else than a table."""
        return any(schema.get("type") != "object" for schema in self.alternatives)

    @cached_property
    def words(self) -> list[str]:
        """The values that are words: names of a choice, `true` and `false`."""
        schemas = self.alternatives
        words = [schema["const"] for schema in schemas if isinstance(schema.get("const"), str)]
        if any(schema.get("type") == "boolean" for schema in schemas):
            words += ["true", "false"]
        if any(set(text) - {"description"} == {"type"} for text in schemas if _is_text(text)):
            words += self.children["kind"].words if "kind" in self.children else []
        return list(dict.fromkeys(words))


def key_tree(scenario: Mapping[str, Any]) -> Node:
    """Returns the root of all keys of a scenario, with the names of its links and flow groups."""
    root = Node(_document(), scenario)
    for name in NOT_OFFERED:
        root.children.pop(name, None)
    return root


def _alternatives(schema: Schema) -> Iterator[Schema]:
    if "$ref" in schema:
        yield from _alternatives(_document()["$defs"][schema["$ref"].rpartition("/")[2]])
    choices = [*schema.get("anyOf", ()), *schema.get("oneOf", ())]
    for choice in choices:
        yield from _alternatives(choice)
    if not choices and "$ref" not in schema:
        yield schema


def _kind(table: Schema) -> Schema:
    kind: Schema = table.get("properties", {}).get("kind", {})
    return kind


def _is_text(schema: Schema) -> bool:
    return schema.get("type") == "string" and "const" not in schema
