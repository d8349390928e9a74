"""The scenario format as classes and aliases, read from the engine's JSON Schema.

The Python classes and the reference tables are both written from this.
"""

from dataclasses import dataclass, field
from typing import Any

Schema = dict[str, Any]

ROOT = "Scenario"


@dataclass(frozen=True)
class Key:
    """One key of a table of the scenario file."""

    name: str
    type_name: str
    """A Python type: built in, or the name of another item."""
    required: bool
    doc: str
    schema: Schema
    """Default and range, as the schema gives them."""


@dataclass(frozen=True)
class Class:
    """A table of the scenario file."""

    name: str
    doc: str
    keys: list[Key]


@dataclass(frozen=True)
class Alias:
    """A name for text with a unit, for a choice of words or for a choice of tables."""

    name: str
    doc: str
    type_name: str


@dataclass
class Reader:
    """Turns a schema into items, each after those that it names."""

    schema: Schema
    items: dict[str, Class | Alias] = field(default_factory=dict)

    def read(self) -> list[Class | Alias]:
        """Reads the whole schema; the scenario itself comes last."""
        self._class(ROOT, self.schema)
        return list(self.items.values())

    def _definition(self, reference: str) -> str:
        """Reads a definition unless it is known, and gives its name."""
        original = reference.rsplit("/", 1)[-1]
        name = class_name(original.removesuffix("File").removesuffix("Config"))
        if name not in self.items:
            definition = self.schema["$defs"][original]
            type_name = self._type(definition, name)
            if name not in self.items:
                self.items[name] = Alias(name, _doc(definition), type_name)
        return name

    def _type(self, node: Schema, owner: str) -> str:
        """The Python type of a schema; tables without a name of their own get one from `owner`."""
        if "$ref" in node:
            return self._definition(node["$ref"])
        if "anyOf" in node or "oneOf" in node:
            return self._choice(node.get("anyOf") or node["oneOf"], owner)
        match node.get("type"):
            case "object" if "properties" in node:
                return self._class(owner, node)
            case "object" if node.get("additionalProperties") is True:
                return "dict[str, object]"
            case "object":
                return f"dict[str, {self._type(node['additionalProperties'], owner)}]"
            case "array":
                return f"list[{self._type(node['items'], owner)}]"
            case [single, "null"]:
                return self._type({**node, "type": single}, owner)
            case simple if simple in SIMPLE_TYPES:
                return f'Literal["{node["const"]}"]' if "const" in node else SIMPLE_TYPES[simple]
        raise ValueError(f"{owner}: the generator does not know the schema {node}")

    def _choice(self, options: list[Schema], owner: str) -> str:
        options = [option for option in options if option.get("type") != "null"]
        words = [option.get("const") for option in options]
        if all(isinstance(word, str) for word in words):
            quoted = ", ".join(f'"{word}"' for word in words)
            return f"Literal[{quoted}]"
        return " | ".join(self._type(option, _option_name(option, owner)) for option in options)

    def _class(self, name: str, node: Schema) -> str:
        required = node.get("required", [])
        keys = [
            Key(key, self._type(value, name + class_name(key)), key in required, _doc(value), value)
            for key, value in node["properties"].items()
        ]
        self.items[name] = Class(name, _doc(node), keys)
        return name


SIMPLE_TYPES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}


def class_name(words: str) -> str:
    """`drop_tail` as `DropTail`; a name that is written so already stays."""
    return "".join(word[:1].upper() + word[1:] for word in words.split("_"))


def _option_name(option: Schema, owner: str) -> str:
    """`DropTailQueue` for the kind drop_tail of Queue; else the owner with the option's keys."""
    properties = option.get("properties", {})
    if "const" in properties.get("kind", {}):
        return class_name(properties["kind"]["const"]) + owner
    return owner + "".join(class_name(key) for key in properties)


def _doc(node: Schema) -> str:
    return " ".join(node.get("description", "").split())
