"""Finished runs, as rows of named values, and where those of a study without a store stay."""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tailroom.errors import RunError
from tailroom.field_docs import with_field_docs
from tailroom.simulation.metrics import metrics_of
from tailroom.simulation.result import Result
from tailroom.storage.sweep_record import SweepRecord

if TYPE_CHECKING:
    import pyarrow as pa

Row = Mapping[str, Any]
"""A run: its identity (`IDENTITY`), scenario and summary (`TEXTS`), and every metric by name."""
TEXTS = ("scenario", "summary")
"""Columns of a whole scenario (TOML) and a whole summary (JSON)."""
IDENTITY = ("key", "scenario_hash", "engine_build", "seed", "title", "wall_s")


@with_field_docs
@dataclass(frozen=True)
class Run:
    """A finished run as the store keeps it."""

    key: str
    """Hash of everything that the run depends on; see `run_key`."""
    row: Row
    """Scenario, seed, engine, every metric, the whole summary."""
    tables: "Mapping[str, pa.Table]" = field(default_factory=dict)
    """The tables of the result that the store keeps, by name."""


def run_key(scenario_hash: str, engine_build: str, seed: int, controls: str = "") -> str:
    """Hashes everything that the result of a run depends on.

    Args:
        scenario_hash: Hash of the scenario and of the contents of its files.
        engine_build: Version of the engine and hash of its sources.
        seed: Seed of the run.
        controls: Fingerprint of the controls written in Python; empty if there are none.
    """
    parts = json.dumps([scenario_hash, engine_build, seed, controls])
    return hashlib.sha256(parts.encode()).hexdigest()


def as_run(key: str, engine_build: str, result: Result, *, keep: Collection[str]) -> Run:
    """Makes the row of a result, and selects the tables that the store keeps.

    Args:
        key: Key of the run.
        engine_build: Version of the engine and hash of its sources.
        result: The result of the run.
        keep: Names of the tables that the store keeps.

    Raises:
        RunError: The scenario does not record one of the tables.
    """
    summary = result.summary
    metrics = metrics_of(summary)
    row = {
        "key": key,
        "scenario_hash": summary["scenario_hash"],
        "engine_build": engine_build,
        "seed": summary["seed"],
        "title": summary["title"],
        "wall_s": result.timing["wall_s"] if result.timing else None,
        "scenario": result.scenario,
        "summary": json.dumps(summary),
        **{name: None if value is None else float(value) for name, value in metrics.items()},
    }
    return Run(key, row, {name: _recorded(result, name) for name in keep})


def _recorded(result: Result, name: str) -> "pa.Table":
    table: pa.Table | None = getattr(result, name)
    if table is None:
        raise RunError(f"{result.summary['title']}: the scenario does not record {name}")
    return table


def metric_names(row: Row) -> list[str]:
    """Returns the names of the metrics of a run."""
    return [name for name in row if name not in IDENTITY and name not in TEXTS]


def without_texts(row: Row) -> Row:
    """Returns the row of a run without the columns in `TEXTS`."""
    return {name: value for name, value in row.items() if name not in TEXTS}


class RunsInMemory:
    """The runs of a study that has no store."""

    def __init__(self) -> None:
        """Begins without runs."""
        self.runs: dict[str, Run] = {}
        """The runs by key."""

    def check_writable(self) -> None:
        """Needs no directory."""

    def add(self, runs: Iterable[Run]) -> None:
        """Keeps finished runs."""
        self.runs |= {run.key: run for run in runs}

    def find(self, key: str, *, keep: Collection[str] = ()) -> Row | None:
        """Returns a run without its texts; `None` if it lacks, or one of these tables of it."""
        run = self.runs.get(key)
        return without_texts(run.row) if run and set(keep) <= run.tables.keys() else None

    def texts(self, key: str) -> Row | None:
        """Returns a run with its scenario and summary; `None` if it lacks."""
        run = self.runs.get(key)
        return run.row if run else None

    def remove_repeated(self) -> None:
        """Has no damaged files to remove."""

    def record(self, sweep: SweepRecord) -> None:
        """Keeps no record of sweeps: nobody asks for it."""
