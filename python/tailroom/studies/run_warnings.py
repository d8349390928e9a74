"""Warnings of several runs, each once: runs with other seeds say the same with other numbers."""

import json
import re
from collections.abc import Iterable

from tailroom.storage.store import Store

_NUMBER = re.compile(r"\d[\d.,]*")
_FEW_REDUCTIONS = re.compile(r"flows\.(.+): [\d.]+ window reductions per flow")


def warnings_of(store: Store, keys: Iterable[str]) -> tuple[str, ...]:
    """The warnings of stored runs; of those that differ only in numbers, the first.

    Args:
        store: The store.
        keys: Keys of runs; those that the store lacks are passed over.
    """
    by_kind: dict[str, str] = {}
    for key in keys:
        row = store.read(key)
        summary = json.loads(row["summary"][0].as_py()) if row is not None else {"warnings": []}
        for text in summary["warnings"]:
            by_kind.setdefault(without_numbers(text), text)
    return tuple(by_kind.values())


def with_names(named: Iterable[tuple[str, Iterable[str]]]) -> list[tuple[str, tuple[str, ...]]]:
    """Each warning with the names of those whom it concerns.

    Of warnings that differ only in numbers, the text is that of the first name.

    Args:
        named: Names, each with its warnings.
    """
    texts: dict[str, str] = {}
    names: dict[str, list[str]] = {}
    for name, warnings in named:
        for text in warnings:
            kind = without_numbers(text)
            texts.setdefault(kind, text)
            names.setdefault(kind, []).append(name)
    return [(texts[kind], tuple(of_kind)) for kind, of_kind in names.items()]


def group_with_few_reductions(text: str) -> str | None:
    """The group of the engine's warning about few window reductions; `None` of any other warning.

    Args:
        text: The warning.
    """
    match = _FEW_REDUCTIONS.match(text)
    return match[1] if match else None


def without_numbers(text: str) -> str:
    """The text with every number replaced, so that texts that differ only in numbers are equal.

    Args:
        text: The text.
    """
    return _NUMBER.sub("#", text)
