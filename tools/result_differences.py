"""What two recorded results differ in, apart from names that have changed on purpose."""

import json
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

MISSING = "(missing)"
"""In place of a value that only one side has."""

ANY_TEXT = "(reworded)"
"""In place of a text that may differ."""


@dataclass(frozen=True)
class Renamed:
    """New names by old ones."""

    keys: Mapping[str, str] = field(default_factory=dict)
    """Of keys at any depth: keys of the JSON, tables and their columns. A dotted path, such as
    `summary.links.*.capacity_bps`, means one place; `*` in it is any one key, and lists do not
    count."""
    values: Mapping[str, str] = field(default_factory=dict)
    """Of text values, such as the kind of a component."""
    scenarios: Mapping[str, str] = field(default_factory=dict)
    """Of recorded scenarios; every part of a name between slashes may be renamed too."""
    ignored: tuple[str, ...] = ()
    """Keys (new names), or dotted paths, that are not compared, such as `scenario_hash`."""
    reworded: tuple[str, ...] = ()
    """Keys (new names), or dotted paths, whose text may differ, such as `warnings`. That there is a
    text on both sides, and how many, is compared."""

    @classmethod
    def read(cls, path: Path) -> "Renamed":
        """Reads a map from TOML or JSON.

        Raises:
            ValueError: The file is no such map.
        """
        text = path.read_text(encoding="utf-8")
        document = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        unknown = set(document) - {"keys", "values", "scenarios", "ignored", "reworded"}
        if unknown:
            raise ValueError(
                f"{path}: unknown table {', '.join(sorted(unknown))}; "
                "a map has the tables keys, values, scenarios and the lists ignored, reworded"
            )
        return cls(
            document.get("keys", {}),
            document.get("values", {}),
            document.get("scenarios", {}),
            tuple(document.get("ignored", ())),
            tuple(document.get("reworded", ())),
        )

    def scenario(self, name: str) -> str:
        """The new name of a scenario."""
        if name in self.scenarios:
            return self.scenarios[name]
        return "/".join(self.scenarios.get(part, part) for part in name.split("/"))

    def apply(self, value: Any, path: tuple[str, ...] = ()) -> Any:
        """A value with old names, as it would be with new ones."""
        if isinstance(value, dict):
            return {
                self._key(path, key): self.apply(item, (*path, key)) for key, item in value.items()
            }
        if isinstance(value, list):
            return [self.apply(item, path) for item in value]
        return self.values.get(value, value) if isinstance(value, str) else value

    def compared(self, value: Any, path: tuple[str, ...] = ()) -> Any:
        """What is compared of a value with new names."""
        if isinstance(value, dict):
            return {
                key: self.compared(item, (*path, key))
                for key, item in value.items()
                if not _any_matches(self.ignored, (*path, key))
            }
        if isinstance(value, list):
            return [self.compared(item, path) for item in value]
        is_reworded = isinstance(value, str) and _any_matches(self.reworded, path)
        return ANY_TEXT if is_reworded else value

    def _key(self, path: tuple[str, ...], key: str) -> str:
        for pattern, new in self.keys.items():
            if _any_matches((pattern,), (*path, key)):
                return new
        return key


@dataclass(frozen=True)
class Difference:
    """A place where two results differ, with the value on each side as JSON."""

    place: str
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.place}: {self.old} -> {self.new}"


def first_differences(old: str, new: str, renamed: Renamed, most: int) -> list[Difference]:
    """The first places where two recorded results differ, at most `most` of them.

    Args:
        old: What `record_run` returned before the change.
        new: What it returned after the change.
        renamed: Names that have changed on purpose.
        most: Number of differences to return.
    """
    before = renamed.compared(renamed.apply(json.loads(old)))
    after = renamed.compared(json.loads(new))
    return list(islice(_differences("", before, after), most))


def _differences(place: str, old: Any, new: Any) -> Iterator[Difference]:
    if isinstance(old, dict) and isinstance(new, dict):
        keys = dict.fromkeys([*old, *new])
        for key in keys:
            inner = f"{place}.{key}" if place else key
            yield from _differences(inner, old.get(key, MISSING), new.get(key, MISSING))
        if list(old) != list(new) and old.keys() == new.keys():
            yield Difference(f"{place} (order of keys)", ", ".join(old), ", ".join(new))
    elif isinstance(old, list) and isinstance(new, list):
        for index in range(max(len(old), len(new))):
            sides = [side[index] if index < len(side) else MISSING for side in (old, new)]
            yield from _differences(f"{place}[{index}]", *sides)
    elif json.dumps(old) != json.dumps(new):
        yield Difference(place, _text(old), _text(new))


def _text(value: Any) -> str:
    """A value as JSON, shortened if it is long."""
    text = value if value is MISSING else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:197]}..."


def _any_matches(patterns: Iterable[str], path: tuple[str, ...]) -> bool:
    """Whether a pattern names the last key of `path`, by itself or as a dotted path."""
    return any(_matches(pattern.split("."), path) for pattern in patterns)


def _matches(parts: list[str], path: tuple[str, ...]) -> bool:
    """`parts` are one key, or as many as `path` has, with `*` for any key."""
    if len(parts) == 1:
        return path[-1:] == tuple(parts)
    return len(parts) == len(path) and all(
        part in ("*", key) for part, key in zip(parts, path, strict=True)
    )
