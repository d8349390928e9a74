"""The data of the atlas: a table of answers and a table of curves, in one Parquet file each."""

import csv
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tailroom.errors import StoreError
from tailroom.field_docs import with_field_docs
from tailroom.libraries import need
from tailroom.quoting import quoted

if TYPE_CHECKING:
    import pyarrow as pa

UTILIZATIONS = (0.95, 0.98, 0.995)
"""The utilizations that the atlas asks for."""
METRICS = ("utilization", "loss_fraction", "queue_delay_s_mean", "queue_delay_s_p99")
"""What is measured at the link, as in `tailroom run --json`."""
MOST_LOSS = 0.01
"""Bound on the loss of an answer. Video calls tolerate 1 % (ITU-T G.1010, 2001, table I.1), and
Reno's mean window is then only 12 packets (sqrt(1.5 / p), Mathis et al. 1997)."""
LOW_LOSS_METRICS = ("loss_fraction", "queue_delay_s_mean", "queue_delay_s_p99")
"""Metrics of the second answer."""
FRACTIONS = {"tenth": 0.1, "half": 0.5, "twice": 2.0}
"""Fractions of an answer whose effect is shown."""
ANSWERS, CURVES = "answers.parquet", "curves.parquet"
"""Names of the files."""
LOOKUP = "lookup.csv"
"""Name of the file with the columns of the answers that `size` reads, without Arrow."""
SHIPPED = Path(__file__).parent / "shipped"
"""Directory of the data that come with the package."""


@dataclass(frozen=True)
class Age:
    """How old answers differ from what would be computed now."""

    engines: frozenset[str]
    """Builds of the engine whose answers differ."""
    text: str
    """What a reader is told about these answers."""
    traffic: str | None = None
    """Only answers with this traffic differ; `None` if all do."""

    def concerns(self, row: Mapping[str, Any]) -> bool:
        """Whether the answer in this row differs.

        Args:
            row: An answer with its `engine` and `traffic`.
        """
        return row["engine"] in self.engines and self.traffic in (None, row["traffic"])


_BEFORE_RACK = frozenset({"0.1.0+e33866422efb97b07e90bac5ac281105"})
_BEFORE_HYSTART = _BEFORE_RACK | {
    "0.1.0+ad99f7f4c8a6621f8192b506b3a46b29",
    "0.1.0+9bb292528a9ae366f6baf4d0982d7516",
    "0.1.0+826032d28231a896b5767b7c204aa5ea",
}
AGES = (
    Age(
        _BEFORE_RACK,
        "The rows of 25 November 2026 are of Linux hosts with bursts of 16 packets and without "
        "RACK. Today's answers differ, some by more than a factor of two: 11 instead of 29 packets "
        "for 98 % of one CUBIC flow at 10 Mbit/s (RTT 20 to 60 ms).",
    ),
    Age(
        _BEFORE_HYSTART,
        "Six cells with short flows at 10 Gbit/s are of Linux hosts without the kernel's slow "
        "start (HyStart). The 96 others were made again, and need 0.39 to 2.3 times as much for "
        "98 %, half of them at most 0.94: 3,025 instead of 7,572 packets for four users of a home "
        "of 1 Gbit/s, 1,050 instead of 844 for 1,000 at a peering port of 10 Gbit/s.",
        traffic="long_and_short",
    ),
)
"""What the pages, `atlas near` and the site say of old answers."""

LOW_LOSS_COLUMNS: dict[str, tuple[str, str]] = {
    "low_loss_status": (
        "string",
        f"Whether a value gives the utilization with a loss of at most {MOST_LOSS:.0%}: `found`, "
        "with 95 % confidence; `interpolated`, from the simulated values, without it; `none` if "
        "no simulated value does; null without `value`.",
    ),
    "low_loss_value": ("double", "The smallest such value, in the unit of `value`."),
    **{
        f"low_loss_{name}": ("double", f"Mean `{name}` at this value, from straight lines.")
        for name in LOW_LOSS_METRICS
    },
}
"""Columns of the second answer with their types and meanings."""

_CELL_COLUMNS = {
    "cell": ("string", "Name of the cell."),
    "kind": ("string", "Kind of link."),
    "rate_bps": ("double", "Rate of the link."),
    "shortest_rtt_s": ("double", "Shortest two-way propagation delay of a flow."),
    "longest_rtt_s": ("double", "Longest two-way propagation delay of a flow."),
    "flows": ("int64", "Number of long flows."),
    "traffic": ("string", "`long`, or `long_and_short`: short flows offer 30 % of the link."),
    "control": ("string", "Congestion control of the long flows."),
    "queue": ("string", "Queue discipline."),
    "bdp_packets": ("double", "Rate times mean RTT, in packets of 1500 bytes."),
    "how": (
        "string",
        "`full` or `short` (fewer seeds, shorter runs) for computed cells, `scaled` for those that "
        "follow from smaller links of the same share per flow.",
    ),
    "is_rung": ("bool", "Whether the cell is there only because another one is scaled from it."),
    "unit": (
        "string",
        "Unit of `value`: `packets` of the limit (drop_tail), or `us` of the target or, where all "
        "flows are under Prague, of the L4S threshold.",
    ),
    "engine": ("string", "Build of the engine that made the row."),
}
_COLUMNS: dict[str, tuple[str, str]] = {
    **_CELL_COLUMNS,
    "target_utilization": ("double", "The utilization that is asked for."),
    "status": (
        "string",
        "`found`; `smallest` if even the smallest value suffices; `none` if no tried value does; "
        "`open` if that is not decided: a mean reaches the utilization, but not with confidence, "
        "or scaling does not hold: the smaller links do not say how their answers grow, or the "
        "power, its check or the ratio is beyond what `is_believed` in `scaling.py` allows.",
    ),
    "value": ("double", "Smallest value that gives the utilization with 95 % confidence."),
    "too_small": ("double", "Largest value below it that misses with 95 % confidence; 0 if none."),
    "crossing": (
        "double",
        "Where the mean utilization reaches the target, by a straight line over the logarithm of "
        "the simulated values: an estimate without the confidence of `value`; null if the smallest "
        "simulated value reaches it.",
    ),
    "larger_that_misses": (
        "double",
        "Largest simulated value above it that misses with 95 % confidence; null if there is none.",
    ),
    "buffer_s": ("double", "The value as a time: a limit at the link's rate, or the target."),
    "buffer_bdp": ("double", "`buffer_s` over the mean RTT: for a limit, its part of the BDP."),
    **{name: ("double", f"Mean `{name}` of the link at the value.") for name in METRICS},
    "utilization_half_width": ("double", "Half-width of its 95 % confidence interval."),
    "runs": ("int64", "Number of runs at the value; of the upper rung for scaled cells."),
    **{
        f"{word}_{name}": (
            "double",
            f"`{name}` at {factor:g} times the value, from straight lines over the logarithm of "
            "the simulated values; null beyond them.",
        )
        for word, factor in FRACTIONS.items()
        for name in METRICS
    },
    "best_utilization": ("double", "Largest mean utilization of any tried value."),
    "scaled_from": (
        "string",
        "Scaled cells, and those that check the scaling: the smaller links, from the largest.",
    ),
    "scaling_exponent": (
        "double",
        "Power of the number of flows with which `crossing` grows from link to link.",
    ),
    "scaling_check": (
        "double",
        "Scaled over computed `crossing`: of the cell itself if it is computed, of the largest of "
        "the smaller links if it is scaled; null if there are only two.",
    ),
    **LOW_LOSS_COLUMNS,
}
_CURVE_COLUMNS: dict[str, tuple[str, str]] = {
    "cell": _CELL_COLUMNS["cell"],
    "unit": _CELL_COLUMNS["unit"],
    "value": ("double", "The simulated limit, target or threshold."),
    "runs": ("int64", "Number of runs, with seeds 1, 2, ..."),
    **{name: ("double", f"Mean `{name}` of the link.") for name in METRICS},
    "utilization_half_width": ("double", "Half-width of its 95 % confidence interval."),
}
COLUMNS = {name: meaning for name, (_, meaning) in _COLUMNS.items()}
"""Columns of the answers with their meanings."""
CURVE_COLUMNS = {name: meaning for name, (_, meaning) in _CURVE_COLUMNS.items()}
"""Columns of the curves with their meanings."""


REMEDY = "install tailroom again, or in a clone run `make atlas`"
"""What helps if the data of the package are missing or damaged."""
ABOVE_ZERO = ("rate_bps", "shortest_rtt_s", "longest_rtt_s", "flows", "bdp_packets")
"""Columns of quantities that each link has."""


@with_field_docs
@dataclass(frozen=True)
class Atlas:
    """The data of the atlas.

    The unit of a column is the last word of its name; `COLUMNS` and `CURVE_COLUMNS` of
    `tailroom.buffer_atlas.data` say what a column means, as do the fields of the files.
    """

    answers: "pa.Table"
    """A row per cell and target: the smallest buffer and what it brings."""
    curves: "pa.Table"
    """A row per cell and simulated value."""

    def __repr__(self) -> str:
        """What there is."""
        cells = len(self.answers["cell"].unique())
        return f"<Atlas: {cells} cells, {self.curves.num_rows} simulated buffers>"


def read(directory: str | PathLike[str]) -> Atlas:
    """Reads the two files of an atlas.

    Args:
        directory: Directory with both files.

    Raises:
        MissingLibraryError: pyarrow is not installed (`pip install 'tailroom[tables]'`).
        StoreError: A file is missing, or is not a table of an atlas.
    """
    need("pyarrow")
    import pyarrow as pa  # noqa: PLC0415 - loaded where it is used

    from tailroom.parquet_files import read_table  # noqa: PLC0415 - it loads Arrow too

    tables = []
    for name, columns in ((ANSWERS, _COLUMNS), (CURVES, _CURVE_COLUMNS)):
        path = Path(directory) / name
        if not path.is_file():
            raise StoreError(f"{path}: the atlas is missing; {REMEDY}")
        try:
            table = read_table(path)
            _check(table, columns)
        except (OSError, ValueError, pa.ArrowException) as error:
            raise StoreError(f"{path}: the atlas is damaged: {error}; {REMEDY}") from None
        tables.append(table)
    try:
        checked = ["cell", "target_utilization", "value", *ABOVE_ZERO]
        _check_answers(tables[0].select(checked).to_pylist())
    except ValueError as error:
        raise StoreError(f"{directory}: the atlas is damaged: {error}; {REMEDY}") from None
    return Atlas(*tables)


def _check(table: "pa.Table", columns: Mapping[str, tuple[str, str]]) -> None:
    """Checks the columns of a table, and that its texts can be read.

    Raises:
        ValueError: A column is missing or of another type, or a text is not UTF-8.
    """
    import pyarrow as pa  # noqa: PLC0415 - loaded where it is used

    if missing := set(columns) - set(table.column_names):
        raise ValueError(f"it lacks the column {min(missing)}")
    for name, (kind, _) in columns.items():
        if table.schema.field(name).type != pa.type_for_alias(kind):
            raise ValueError(f"its column {name} has another type than {kind}")
    table.validate(full=True)


def _check_answers(answers: Iterable[Mapping[str, Any]]) -> None:
    """Checks that each cell has a row per target, with quantities above zero.

    Raises:
        ValueError: It does not.
    """
    targets: dict[str, list[float]] = {}
    for row in answers:
        targets.setdefault(row["cell"], []).append(row["target_utilization"])
        for name in ABOVE_ZERO:
            if row[name] is None or not 0 < row[name] < float("inf"):
                raise ValueError(f"{quoted(row['cell'])}: {name} is {row[name]}")
        if row["value"] is not None and not 0 < row["value"] < float("inf"):
            raise ValueError(f"{quoted(row['cell'])}: value is {row['value']}")
    for cell, found in targets.items():
        if sorted(found) != sorted(UTILIZATIONS):
            raise ValueError(f"{quoted(cell)}: has no row for each target")


_LOOKUP_COLUMNS = (
    *("cell", "rate_bps", "shortest_rtt_s", "longest_rtt_s", "flows", "traffic", "control"),
    *("queue", "bdp_packets", "is_rung", "unit", "target_utilization", "status", "value"),
)


def read_lookup(directory: str | PathLike[str]) -> list[dict[str, Any]]:
    """Reads the columns of the answers in which links are looked up.

    Args:
        directory: Directory of the atlas.

    Raises:
        StoreError: The file is missing, or is not of an atlas.
    """
    path = Path(directory) / LOOKUP
    read: dict[str, Callable[[str], Any]] = {
        "double": float,
        "int64": int,
        "bool": "True".__eq__,
        "string": str,
    }
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = [
                {
                    name: read[_COLUMNS[name][0]](row[name]) if row[name] else None
                    for name in _LOOKUP_COLUMNS
                }
                for row in csv.DictReader(file)
            ]
        _check_answers(rows)
    except (OSError, KeyError, ValueError) as error:
        raise StoreError(
            f"{path}: the atlas is missing or damaged: {quoted(error)}; {REMEDY}"
        ) from None
    return rows


def write(
    directory: str | PathLike[str],
    answers: Iterable[Mapping[str, Any]],
    curves: Iterable[Mapping[str, Any]],
) -> None:
    """Writes the files of an atlas into an existing directory.

    Args:
        directory: The directory.
        answers: A row per cell and target.
        curves: A row per cell and simulated value.
    """
    from tailroom.parquet_files import write_table  # noqa: PLC0415 - it loads Arrow

    answers = list(answers)
    with (Path(directory) / LOOKUP).open("x", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, _LOOKUP_COLUMNS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(answers)
    for name, rows, columns in (
        (ANSWERS, answers, _COLUMNS),
        (CURVES, curves, _CURVE_COLUMNS),
    ):
        write_table(_table(rows, columns), Path(directory) / name)


def _table(rows: Iterable[Mapping[str, Any]], columns: Mapping[str, tuple[str, str]]) -> "pa.Table":
    import pyarrow as pa  # noqa: PLC0415 - loaded where it is used

    schema = pa.schema(
        [
            pa.field(name, pa.type_for_alias(kind), metadata={"meaning": meaning})
            for name, (kind, meaning) in columns.items()
        ]
    )
    return pa.Table.from_pylist([dict(row) for row in rows], schema=schema)


def ages(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Says how old answers differ from what would be computed now.

    Args:
        rows: Some answers.
    """
    known = list(rows)
    return [age.text for age in AGES if any(map(age.concerns, known))]


def is_old(row: Mapping[str, Any]) -> bool:
    """Whether an answer differs from what would be computed now."""
    return any(age.concerns(row) for age in AGES)


def atlas() -> Atlas:
    """The data of the atlas that come with the package.

    Raises:
        MissingLibraryError: pyarrow is not installed (`pip install 'tailroom[tables]'`).
        StoreError: They are missing, or damaged.
    """
    return read(SHIPPED)
