"""Summaries and warnings of stored runs, which another version of tailroom may have written."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tailroom.errors import StoreError
from tailroom.scenario.json_text import read_json
from tailroom.simulation.run_warnings import once, warning
from tailroom.storage.run import Row, RunsInMemory

if TYPE_CHECKING:
    from tailroom.simulation.result_types import RunWarning
    from tailroom.storage.store import Store

_TYPES: dict[str, Any] = {
    "measured_from_s": (int, float),
    "measured_to_s": (int, float),
    "warnings": list,
}
"""Types of what studies read in the summary of a stored run."""


def summary_of(row: Row) -> dict[str, Any] | None:
    """Returns the summary of a stored run; `None` if a version with other keys wrote it.

    Args:
        row: The row of the run.
    """
    try:
        summary = read_json(row["summary"])
    except ValueError:
        return None
    is_known = isinstance(summary, dict) and all(
        isinstance(summary.get(key), kind) for key, kind in _TYPES.items()
    )
    return summary if is_known and all(map(_is_warning, summary["warnings"])) else None


def known_summary_of(row: Row) -> dict[str, Any]:
    """Returns the summary of a stored run.

    Args:
        row: The row of the run.

    Raises:
        StoreError: A version with other keys wrote the summary.
    """
    summary = summary_of(row)
    if summary is None:
        raise StoreError(
            f"{_another_version(row)} stored the run {row['key']}, and this one cannot read its "
            "summary; give another store, or remove the file of the run"
        )
    return summary


def warnings_of(store: "Store | RunsInMemory", keys: Iterable[str]) -> tuple["RunWarning", ...]:
    """The warnings of stored runs, each kind and place once.

    Args:
        store: The store.
        keys: Keys of runs; those that the store lacks are passed over.
    """
    rows = (store.texts(key) for key in keys)
    return once(one for row in rows if row is not None for one in _warnings(row))


def _warnings(row: Row) -> list["RunWarning"]:
    summary = summary_of(row)
    if summary is None:
        text = (
            f"{_another_version(row)} stored the runs, and this one cannot read what it warned "
            "of. Give the command of the study again, which repeats them."
        )
        return [warning("stored_by_another_version", "", text)]
    found: list[RunWarning] = summary["warnings"]
    return found


def _another_version(row: Row) -> str:
    return f"Another version of tailroom ({row['engine_build']})"


def _is_warning(one: object) -> bool:
    return isinstance(one, dict) and {"kind", "place", "values", "text"} <= one.keys()
