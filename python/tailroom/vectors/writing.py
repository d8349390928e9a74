"""Writes vectors and results as JSON."""

import gzip
import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tailroom.vectors.judge import Results
from tailroom.vectors.runs import results_of
from tailroom.vectors.scripts import SenderScript
from tailroom.vectors.vector import FORMAT, Vector

SCHEMA = Path(__file__).with_name("vectors.schema.json")


def write_vectors(
    vectors: Iterable[Vector], directory: Path, *, version: str, has_traces: bool = False
) -> int:
    """Writes a file per vector, an index with the hash of each, and the schema.

    Args:
        vectors: The vectors.
        directory: An empty directory.
        version: Version of tailroom, which the index names.
        has_traces: Whether tailroom's run of each sender is written too, as compressed qlog.

    Returns:
        The number of traces.
    """
    entries = []
    for vector in vectors:
        content = _text(vector.as_dict())
        (directory / f"{vector.id}.json").write_text(content, encoding="utf-8", newline="\n")
        entry = {"id": vector.id, "sha256": hashlib.sha256(content.encode()).hexdigest()}
        if has_traces and isinstance(vector.script, SenderScript):
            entry["qlog"] = f"{vector.id}.sqlog.gz"
            entry["qlog_sha256"] = _write_trace(vector, directory / entry["qlog"])
        entries.append(entry)
    index = {"format": FORMAT, "tailroom": version, "vectors": entries}
    (directory / "index.json").write_text(_text(index), encoding="utf-8", newline="\n")
    schema = SCHEMA.read_text(encoding="utf-8")
    (directory / "schema.json").write_text(schema, encoding="utf-8", newline="\n")
    return sum("qlog" in entry for entry in entries)


def _write_trace(vector: Vector, file: Path) -> str:
    """Writes the trace of a run, and returns its hash, which no compressor changes."""
    plain = file.with_suffix("")
    results_of(vector, qlog=plain)
    content = plain.read_bytes()
    file.write_bytes(gzip.compress(content, mtime=0))
    plain.unlink()
    return hashlib.sha256(content).hexdigest()


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
