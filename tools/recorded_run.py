"""One run of `compare_results.py`: a scenario's results as JSON."""

import hashlib
import json
import os
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import tomli_w

import tailroom as tr
from small_scenario import Document

if TYPE_CHECKING:
    import pyarrow as pa

LEFT_OUT = ("engine_version",)
"""Keys of a summary that differ between versions of the engine."""
NOT_TABLES = ("summary", "scenario", "timing")
"""Fields of a result that are not tables."""

ALLOWED = {"TAILROOM_ALLOW_CODE": "1", "TAILROOM_ALLOW_FILES": "1"}
"""Environment of a run: its scenario is one of this repository."""

MOST_LISTED = 20
"""Of a column with more different texts, such as the names of many flows, a SHA-256 is kept."""


def record_run(name: str, scenario: Document) -> str:
    """Runs a scenario, and returns what is kept of it.

    The scenario is written to the current directory, for whoever wants to look at a difference, and
    read from there, so that no message holds the path of that directory.

    Returns:
        JSON: the summary, and of each table the number of rows and the SHA-256 of each column. Of
        a run that failed, the error instead.
    """
    path = Path(f"{file_stem(name)}.toml")
    path.write_text(tomli_w.dumps(scenario), encoding="utf-8")
    try:
        with patch.dict(os.environ, ALLOWED):
            kept = _kept(tr.run(path))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of the engine is no Exception
        kept = {"error": type(error).__name__, "message": str(error)}
    return json.dumps(kept, indent=1, ensure_ascii=False) + "\n"


def file_stem(name: str) -> str:
    """The name of a scenario's files, without their endings."""
    return name.replace("/", ".")


def scenario_name(stem: str) -> str:
    """The name of the scenario whose files are named `stem`."""
    return stem.replace(".", "/")


def _kept(result: tr.Result) -> dict[str, Any]:
    summary = {key: value for key, value in result.summary.items() if key not in LEFT_OUT}
    tables = {
        name: _table(table)
        for name in sorted(field.name for field in fields(result))
        if name not in NOT_TABLES and (table := getattr(result, name)) is not None
    }
    return {"summary": summary, "tables": tables}


def _table(table: "pa.Table") -> dict[str, Any]:
    columns = {name: _column(table.column(name)) for name in table.column_names}
    return {"rows": table.num_rows, "columns": columns}


def _column(column: "pa.ChunkedArray") -> object:
    """The SHA-256 of a column's type and values.

    Of text, however it is encoded, the different values in the order in which they first occur, as
    they may have other names after a change, and the SHA-256 of which of them stands where.
    """
    import pyarrow as pa  # noqa: PLC0415 - only tables need it

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        encoded = column.combine_chunks().dictionary_encode()
        values = encoded.dictionary.to_pylist()
        if len(values) > MOST_LISTED:
            values = _sha256(json.dumps(values).encode())
        return {"values": values, "places": _numbers(encoded.indices)}
    return _numbers(column)


def _numbers(column: "pa.Array | pa.ChunkedArray") -> str:
    values = column.to_numpy(zero_copy_only=False)
    if values.dtype.hasobject:
        raise TypeError(f"a column of type {column.type} is not recorded yet; add it here")
    return _sha256(str(column.type).encode() + b"\0" + values.tobytes())


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
