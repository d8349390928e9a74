"""The end of the warm-up of a run, by MSER-5 (White 1997; White, Cobb, Spratt 2000)."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike

from tailroom.errors import ArgumentError
from tailroom.scenario.named_values import nearest
from tailroom.simulation.result import Result

BATCH = 5
"""Number of values per batch mean: the 5 of MSER-5."""
METRIC = "queue_packets"
"""The series to examine by default, as the queue settles last."""


def warm_up(
    series: Result | pa.Table | Sequence[pa.Table],
    *,
    link: str | None = None,
    metric: str = METRIC,
) -> float | None:
    """The time at which the warm-up of a link ends, in seconds; a good value for `measure_from`.

    MSER-5 truncates the start of the series where the mean of the rest has the smallest marginal
    standard error. A sawtooth of few cycles misleads the rule; use a longer duration then.

    Args:
        series: A result with time series, its `link_series`, or the `link_series` of several runs
            of the same scenario; their mean settles more clearly than a single run.
        link: Name of the link; may be left out if there is only one.
        metric: Name of a column of the series.

    Returns:
        The time in seconds, or `None` if the warm-up does not end in the first half of the run; use
        a longer duration then.

    Raises:
        ArgumentError: There are no series, no such link or column, or fewer than 20 samples.
    """
    given = series.link_series if isinstance(series, Result) else series
    tables = [given] if isinstance(given, pa.Table) else list(given or ())
    if not tables:
        raise ArgumentError("there are no time series; add [series] to the scenario")
    columns = [_column(table, link, metric) for table in tables]
    length = min(len(values) for _, values in columns)
    time_s = columns[0][0]
    batches = truncation(np.mean([values[:length] for _, values in columns], axis=0))
    if batches is None:
        return None
    return float(time_s[BATCH * batches - 1]) if batches else 0.0


def last_warm_up(series: Sequence[pa.Table]) -> float | None:
    """The `warm_up` of the link that settles last, in seconds.

    `None` if a link does not settle in the first half of the run.

    Args:
        series: The `link_series` of one or more runs of the same scenario.
    """
    last_s = 0.0
    for link in pc.unique(series[0]["link"]).to_pylist():
        ends_s = warm_up(series, link=link)
        if ends_s is None:
            return None
        last_s = max(last_s, ends_s)
    return last_s


def truncation(values: ArrayLike) -> int | None:
    """The number of batches of 5 values that MSER-5 truncates; `None` if the run is too short.

    With batch means Z_1 to Z_n, this is the d that minimises the sum over j > d of
    (Z_j - M)^2 / (n - d)^2, where M is the mean of Z_(d+1) to Z_n. Only d up to n / 2 are
    considered, because few batches may agree by chance; a minimum at n / 2 shows that the run is
    too short.

    Raises:
        ArgumentError: There are fewer than 4 batches of values.
    """
    array = np.asarray(values, dtype=float)
    count = array.size // BATCH
    if count < 4:
        raise ArgumentError(f"{array.size} samples are too few to see a warm-up; give at least 20")
    means = array[: BATCH * count].reshape(count, BATCH).mean(axis=1)
    best = int(np.argmin(_errors(means.tolist())[: count // 2 + 1]))
    return None if best == count // 2 else best


def _errors(means: list[float]) -> list[float]:
    """The quantity that MSER-5 minimises for each d, from the last batch backwards (Welford)."""
    errors = []
    mean = squares = 0.0
    for count, value in enumerate(reversed(means), 1):
        from_mean = value - mean
        mean += from_mean / count
        squares += from_mean * (value - mean)
        errors.append(squares / count**2)
    return errors[::-1]


def _column(table: pa.Table, link: str | None, metric: str) -> tuple[np.ndarray, np.ndarray]:
    links = pc.unique(table["link"]).to_pylist()
    chosen = link if link is not None else links[0]
    if chosen not in links:
        raise ArgumentError(f"link: there is no link {chosen!r}; {nearest(chosen, links)}")
    if link is None and len(links) > 1:
        raise ArgumentError(f"link: choose one of {', '.join(links)}")
    if metric not in table.column_names:
        raise ArgumentError(
            f"{metric}: there is no such column; {nearest(metric, table.column_names)}"
        )
    rows = table.filter(pc.equal(table["link"], chosen))
    return rows["time_s"].to_numpy(), rows[metric].to_numpy()
