"""Reads vectors and results from JSON, whoever wrote them."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

from tailroom.errors import VectorFileError
from tailroom.given_files import FileReader
from tailroom.quoting import quoted
from tailroom.vectors.judge import Results
from tailroom.vectors.scripts import Occurrence
from tailroom.vectors.vector import FORMAT, Band, Expectation

NOT_VECTORS = ("index.json", "schema.json")
"""Files of a directory of vectors that are none."""


MOST_BYTES = 200_000_000
"""Length of a file that is read; all results of tailroom have 10 MB."""
MOST_VALUES = 15_000_000
"""Values of such a file; those of tailroom have 600,000."""


@dataclass(frozen=True)
class WrittenVector:
    """What judging results needs of a vector's file."""

    id: str
    expect: tuple[Expectation, ...]


@dataclass(frozen=True)
class _Node:
    """A value of a file, and its place in messages."""

    value: Any
    place: str

    def fail(self, expected: str) -> VectorFileError:
        """The error that says what was expected here."""
        return VectorFileError(f"{self.place}: must be {expected}")

    def table(self, *needed: str, allowed: tuple[str, ...] | None = None) -> "dict[str, _Node]":
        """The members of an object.

        Args:
            needed: Keys that must be there.
            allowed: Keys that may be there too; any if not given.

        Raises:
            VectorFileError: A key is missing or not known.
        """
        if not isinstance(self.value, dict):
            raise self.fail("an object")
        for key in needed:
            if key not in self.value:
                raise VectorFileError(f"{self.place}: has no `{key}`; add it")
        for key in self.value:
            if allowed is not None and key not in (*needed, *allowed):
                names = ", ".join(f"`{name}`" for name in (*needed, *allowed))
                raise VectorFileError(
                    f"{self.place}: `{quoted(key)}` is not a key here; "
                    f"leave it out, or write {names}"
                )
        return {
            key: _Node(value, f"{self.place}, {quoted(key)}") for key, value in self.value.items()
        }

    def array(self, length: int | None = None) -> Iterator["_Node"]:
        """The members of an array, one at a time: there may be millions of samples."""
        if not isinstance(self.value, list) or length not in (None, len(self.value)):
            raise self.fail("an array" if length is None else f"an array of {length}")
        return (_Node(value, f"{self.place}[{i}]") for i, value in enumerate(self.value))

    def text(self) -> str:
        """A text that is not empty."""
        if not isinstance(self.value, str) or not self.value:
            raise self.fail("a text")
        return self.value

    def number(self) -> float:
        """A finite number."""
        if isinstance(self.value, int | float) and not isinstance(self.value, bool):
            try:
                if math.isfinite(number := float(self.value)):
                    return number
            except OverflowError:
                pass
        raise self.fail("a finite number")

    def band(self) -> Band:
        """The least and the largest value."""
        low, high = (bound.number() for bound in self.array(2))
        if low > high:
            raise self.fail("the least and the largest value, in this order")
        return low, high

    def times(self, times: list[float]) -> list[float]:
        """Checks that times do not decrease."""
        if any(later < earlier for earlier, later in pairwise(times)):
            raise self.fail("in the order of time")
        return times


def read_vectors(path: str | PathLike[str]) -> list[WrittenVector]:
    """Reads the vectors of a file, or of each file of a directory.

    Raises:
        VectorFileError: A file cannot be read or is no vector; the message names file and key.
    """
    place = Path(path)
    files = (
        sorted(file for file in place.glob("*.json") if file.name not in NOT_VECTORS)
        if place.is_dir()
        else [place]
    )
    if not files:
        raise VectorFileError(f"{path}: has no vectors; `tailroom vectors write` writes them")
    return [_vector(_read(file)) for file in files]


def read_results(path: str | PathLike[str]) -> dict[str, Results]:
    """Reads the results of an implementation, by the id of the vector.

    Raises:
        VectorFileError: The file cannot be read, or a key is wrong, which the message names.
    """
    table = _read(Path(path)).table("implementation", "results", allowed=())
    table["implementation"].text()
    return {name: _results(node) for name, node in table["results"].table().items()}


def _read(file: Path) -> _Node:
    reader = FileReader(
        error=lambda message: VectorFileError(f"{file}: {message}"),
        wanted="a JSON file",
        most_bytes=MOST_BYTES,
        shorter="leave out samples that repeat a value, or give fewer vectors at a time",
        most_values=MOST_VALUES,
    )
    return _Node(reader.json(reader.text(file)), str(file))


def _vector(node: _Node) -> WrittenVector:
    table = node.table("format", "id", "expect")
    if table["format"].number() != FORMAT:
        raise table["format"].fail(f"{FORMAT}, the format that this version of tailroom reads")
    expect = tuple(_expectation(member) for member in table["expect"].array())
    return WrittenVector(table["id"].text(), expect)


def _expectation(node: _Node) -> Expectation:
    table = node.table("value", "why", allowed=("quantity", "event", "at", "after"))
    if ("quantity" in table) == ("event" in table):
        raise VectorFileError(f"{node.place}: needs either `quantity` or `event`")
    for needed, by in (("at", "event"), ("at", "after")):
        if by in table and needed not in table:
            raise VectorFileError(f"{node.place}: has `{by}` but no `{needed}`; add it")
    return Expectation(
        value=table["value"].band(),
        why=table["why"].text(),
        quantity=table["quantity"].text() if "quantity" in table else None,
        event=table["event"].text() if "event" in table else None,
        at=table["at"].band() if "at" in table else None,
        after=_occurrence(table["after"]) if "after" in table else None,
    )


def _occurrence(node: _Node) -> Occurrence:
    table = node.table("event", "number", allowed=())
    number = table["number"].number()
    if number != int(number) or number < 1:
        raise table["number"].fail("a whole number from 1")
    return Occurrence(table["event"].text(), int(number))


def _results(node: _Node) -> Results:
    table = node.table(allowed=("samples", "events", "values"))
    return Results(
        samples={name: _samples(series) for name, series in _members(table, "samples")},
        events={
            name: times.times([time.number() for time in times.array()])
            for name, times in _members(table, "events")
        },
        values={name: value.number() for name, value in _members(table, "values")},
    )


def _members(table: dict[str, _Node], key: str) -> Iterator[tuple[str, _Node]]:
    return iter(table[key].table().items() if key in table else ())


def _samples(node: _Node) -> list[tuple[float, float]]:
    pairs = [tuple(part.number() for part in pair.array(2)) for pair in node.array()]
    node.times([time for time, _ in pairs])
    return [(time, value) for time, value in pairs]
