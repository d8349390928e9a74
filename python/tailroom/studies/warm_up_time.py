"""Where the warm-up of a run ends, by MSER-5 (White 1997; White, Cobb, Spratt 2000)."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike

from tailroom.simulation.result import Result

BATCH = 5
"""Values to a mean: the 5 of MSER-5."""
METRIC = "queue_packets"
"""What is looked at: the queue settles last."""


def warm_up(
    series: Result | pa.Table | Sequence[pa.Table],
    *,
    link: str | None = None,
    metric: str = METRIC,
) -> float | None:
    """The time at which the warm-up of a link ends, in seconds; a good value for `measure_from`.

    The start of the series is left out up to where the mean of the rest has the smallest marginal
    standard error, by the rule MSER-5. A sawtooth of few cycles misleads it: let the run last long.

    Args:
        series: A result with time series, the `link_series` of one, or those of several runs of the
            same scenario, of which the mean is taken: it settles more clearly.
        link: The only one if left out.
        metric: A column of the series.

    Returns:
        `None` if it does not end in the first half of the run: let the run last longer.

    Raises:
        ValueError: There are no series, no such link or column, or too few samples.
    """
    given = series.link_series if isinstance(series, Result) else series
    tables = [given] if isinstance(given, pa.Table) else list(given or ())
    if not tables:
        raise ValueError("there are no time series; give the scenario a [series]")
    columns = [_column(table, link, metric) for table in tables]
    length = min(len(values) for _, values in columns)
    time_s = columns[0][0]
    batches = truncation(np.mean([values[:length] for _, values in columns], axis=0))
    if batches is None:
        return None
    return float(time_s[BATCH * batches - 1]) if batches else 0.0


def last_warm_up(series: Sequence[pa.Table]) -> float | None:
    """The `warm_up` of the link that settles last; `None` if one does not in the first half."""
    last_s = 0.0
    for link in pc.unique(series[0]["link"]).to_pylist():
        ends_s = warm_up(series, link=link)
        if ends_s is None:
            return None
        last_s = max(last_s, ends_s)
    return last_s


def truncation(values: ArrayLike) -> int | None:
    """How many batches of 5 values MSER-5 leaves out; `None` if the first half does not suffice.

    With batch means Z_1 to Z_n it is the d that minimises the sum over j > d of
    (Z_j - mean of those)^2 / (n - d)^2. Beyond n / 2 the few that are left are alike by chance, so
    a minimum there or at the border of it says that the run is too short.

    Raises:
        ValueError: There are fewer than 4 batches of values.
    """
    array = np.asarray(values, dtype=float)
    count = array.size // BATCH
    if count < 4:
        raise ValueError(f"{array.size} samples are too few to see a warm-up; give at least 20")
    means = array[: BATCH * count].reshape(count, BATCH).mean(axis=1)
    errors = [
        float(np.sum((rest - rest.mean()) ** 2)) / len(rest) ** 2
        for rest in (means[left_out:] for left_out in range(count // 2 + 1))
    ]
    best = int(np.argmin(errors))
    return None if best == count // 2 else best


def _column(table: pa.Table, link: str | None, metric: str) -> tuple[np.ndarray, np.ndarray]:
    links = pc.unique(table["link"]).to_pylist()
    chosen = link if link is not None else links[0]
    if chosen not in links or (link is None and len(links) > 1):
        raise ValueError(f"link: choose one of {', '.join(links)}")
    if metric not in table.column_names:
        raise ValueError(f"{metric}: there is no such column; the series have {table.column_names}")
    rows = table.filter(pc.equal(table["link"], chosen))
    return rows["time_s"].to_numpy(), rows[metric].to_numpy()
