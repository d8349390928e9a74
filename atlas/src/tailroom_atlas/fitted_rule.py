"""One formula for the buffer of a link, fitted to the atlas, and its error on kinds left out.

    B / (C T) = a n^b W^c

with n long flows whose fair windows are W = C T / n packets. The square-root rule is b = -1/2 and
c = 0. The logarithms are fitted by least squares. For the error, each kind of link is predicted by
a formula that was fitted to the other kinds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FEWEST_CELLS = 8
"""Fewest cells to which the formula is fitted."""
MOST_WITHOUT = 0.2
"""Largest part of the cells that may have no answer: the others would be a choice of easy links."""

Row = Mapping[str, Any]


@dataclass(frozen=True)
class FittedRule:
    """The formula with its error."""

    factor: float
    """a, the buffer in bdp of one flow with a window of one packet."""
    flows_exponent: float
    """b, the power of the number of flows."""
    window_exponent: float
    """c, the power of the fair window."""
    cells: int
    """Number of cells to which it is fitted."""
    median_error: float
    """Factor by which a prediction of a kind left out is off, in the median."""
    error_90: float
    """The same factor, which nine of ten predictions stay below."""


def fitted_rule(rows: Sequence[Row], target_utilization: float, control: str) -> FittedRule | None:
    """Fits the formula to the computed DropTail cells.

    Args:
        rows: Answers of the atlas.
        target_utilization: The utilization that is asked for.
        control: Congestion control of the cells, whose flows are long.

    Returns:
        The formula; `None` if there are too few cells, only one kind of link, or too many cells
        without an answer.
    """
    asked = [
        row
        for row in rows
        if (row["queue"], row["traffic"]) == ("drop_tail", "long")
        and (row["how"] != "scaled" and not row["is_rung"])
        and (row["target_utilization"], row["control"]) == (target_utilization, control)
    ]
    cells = [row for row in asked if row["status"] == "found"]
    kinds = sorted({row["kind"] for row in cells})
    is_chosen = len(asked) - len(cells) > MOST_WITHOUT * len(asked)
    if len(cells) < FEWEST_CELLS or len(kinds) < 2 or is_chosen:
        return None
    errors: list[float] = []
    for kind in kinds:
        others = [row for row in cells if row["kind"] != kind]
        left_out = [row for row in cells if row["kind"] == kind]
        if len(others) < FEWEST_CELLS:
            return None
        log_errors = _features(left_out) @ _fit(others) - _logs(left_out)
        errors += [float(error) for error in np.exp(np.abs(log_errors))]
    log_factor, flows_exponent, window_exponent = _fit(cells)
    return FittedRule(
        float(np.exp(log_factor)),
        float(flows_exponent),
        float(window_exponent),
        len(cells),
        float(np.median(errors)),
        float(np.quantile(errors, 0.9)),
    )


def _features(rows: Sequence[Row]) -> NDArray[np.float64]:
    flows = np.array([row["flows"] for row in rows], dtype=float)
    windows = np.array([row["bdp_packets"] for row in rows]) / flows
    return np.column_stack([np.ones(len(rows)), np.log(flows), np.log(windows)])


def _logs(rows: Sequence[Row]) -> NDArray[np.float64]:
    return np.log([row["buffer_bdp"] for row in rows])


def _fit(rows: Sequence[Row]) -> NDArray[np.float64]:
    found = np.linalg.lstsq(_features(rows), _logs(rows), rcond=None)[0]
    return np.asarray(found, dtype=np.float64)
