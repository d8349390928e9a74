"""Writes vectors and results as JSON."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tailroom.vectors.judge import Results
from tailroom.vectors.vector import FORMAT, Vector

SCHEMA = Path(__file__).with_name("vectors.schema.json")


def write_vectors(vectors: Iterable[Vector], directory: Path) -> None:
    """Writes a file per vector, an index with the hash of each, and the schema.

    Args:
        vectors: The vectors.
        directory: An empty directory.
    """
    entries = []
    for vector in vectors:
        content = _text(vector.as_dict())
        (directory / f"{vector.id}.json").write_text(content, encoding="utf-8", newline="\n")
        digest = hashlib.sha256(content.encode()).hexdigest()
        entries.append({"id": vector.id, "sha256": digest})
    index = {"format": FORMAT, "vectors": entries}
    (directory / "index.json").write_text(_text(index), encoding="utf-8", newline="\n")
    schema = SCHEMA.read_text(encoding="utf-8")
    (directory / "schema.json").write_text(schema, encoding="utf-8", newline="\n")


def results_text(implementation: str, results: dict[str, Results]) -> str:
    """The results of an implementation as JSON; samples only where the value changes."""
    shown = {
        name: {
            key: value
            for key, value in (
                ("samples", {q: _changes(series) for q, series in result.samples.items()}),
                ("events", result.events),
                ("values", result.values),
            )
            if value
        }
        for name, result in results.items()
    }
    return json.dumps({"implementation": implementation, "results": shown})


def _changes(series: list[tuple[float, float]]) -> list[tuple[float, float]]:
    return [
        sample
        for before, sample in zip([(0.0, None), *series], series, strict=False)
        if sample[1] != before[1]
    ]


def _text(table: dict[str, Any]) -> str:
    return json.dumps(table, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
