"""The second answer of a row: the smallest value that also keeps to a bound on the loss.

A small buffer may give utilization at the cost of heavy loss, so that a row has the answer with
this bound too. Data that were made without it have it from their curves, without the confidence of
a search of its own.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import exp, log
from typing import Any

MOST_LOSS = 0.01
"""Bound on the loss of an answer. Video calls tolerate 1 % (ITU-T G.1010, 2001, table I.1), and
Reno's mean window is then only 12 packets (sqrt(1.5 / p), Mathis et al. 1997)."""
SHOWN = ("loss_fraction", "queue_delay_s_mean", "queue_delay_s_p99")
"""Metrics of the second answer."""
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
        for name in SHOWN
    },
}
"""Columns of the second answer with their types and meanings."""

Row = Mapping[str, Any]


def low_loss_of(answer: Row, curve: Sequence[Row]) -> dict[str, Any]:
    """Returns the second answer of a row from the values that were simulated.

    Args:
        answer: The row.
        curve: Simulated values of its cell with their metrics, in ascending order of the value. A
            scaled cell has none; then the row's own metrics at its value and at twice of it serve.
    """
    if answer["value"] is None or answer["loss_fraction"] is None:
        return dict.fromkeys(LOW_LOSS_COLUMNS)
    points = [_point(answer, ""), *(row for row in curve if row["value"] > answer["value"])]
    if len(points) == 1 and answer["twice_loss_fraction"] is not None:
        points.append(_point(answer, "twice_", 2.0))
    value = _crossing(points)
    if value is None:
        return {**dict.fromkeys(LOW_LOSS_COLUMNS), "low_loss_status": "none"}
    is_answer = value == answer["value"]
    return low_loss_at(value, points, "found" if is_answer else "interpolated")


def low_loss_at(value: float, points: Sequence[Row], status: str) -> dict[str, Any]:
    """The columns of a second answer.

    Args:
        value: The value.
        points: Simulated values with their metrics, in ascending order of the value.
        status: How the value was obtained.
    """
    return {
        "low_loss_status": status,
        "low_loss_value": value,
        **{f"low_loss_{name}": _between(points, value, name) for name in SHOWN},
    }


def with_low_loss(answers: Iterable[Row], curves: Iterable[Row]) -> list[dict[str, Any]]:
    """Adds the second answer to rows that were written without it.

    Args:
        answers: The rows.
        curves: The simulated values of all cells.
    """
    by_cell: dict[str, list[Row]] = {}
    for row in curves:
        by_cell.setdefault(row["cell"], []).append(row)
    for rows in by_cell.values():
        rows.sort(key=lambda row: float(row["value"]))
    return [{**row, **low_loss_of(row, by_cell.get(row["cell"], []))} for row in answers]


def _point(answer: Row, prefix: str, factor: float = 1.0) -> Row:
    metrics = {name: answer[f"{prefix}{name}"] for name in SHOWN}
    return {"value": factor * answer["value"], **metrics}


def _crossing(points: Sequence[Row]) -> float | None:
    """The smallest value from the first on at which the mean loss reaches the bound."""
    if points[0]["loss_fraction"] <= MOST_LOSS:
        return float(points[0]["value"])
    for small, large in pairwise(points):
        if large["loss_fraction"] <= MOST_LOSS:
            part = (small["loss_fraction"] - MOST_LOSS) / (
                small["loss_fraction"] - large["loss_fraction"]
            )
            return exp(log(small["value"]) + part * log(large["value"] / small["value"]))
    return None


def _between(points: Sequence[Row], value: float, metric: str) -> float | None:
    """A metric at a value, by a straight line over the logarithm of the values."""
    known = [point for point in points if point[metric] is not None]
    for small, large in pairwise(known):
        if small["value"] <= value <= large["value"]:
            part = log(value / small["value"]) / log(large["value"] / small["value"])
            return float(small[metric] + part * (large[metric] - small[metric]))
    same = [point[metric] for point in known if point["value"] == value]
    return float(same[0]) if same else None
