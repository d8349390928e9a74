"""The rows of the atlas's data: of a searched cell, and of a cell that is scaled from others."""

from collections.abc import Mapping, Sequence
from math import log
from typing import Any

import numpy as np

from tailroom.buffer_atlas.cells import PACKET_BYTES, Cell
from tailroom.buffer_atlas.cost import How
from tailroom.buffer_atlas.data import COLUMNS, FRACTIONS, METRICS, UTILIZATIONS
from tailroom.buffer_atlas.scaling import power_law
from tailroom.buffer_atlas.scenarios import sought
from tailroom.studies.atlas_study.cell_search import Found, SearchedCell, Tested

Row = dict[str, Any]


def cell_columns(cell: Cell, how: How) -> Row:
    """What says which cell a row is about.

    Args:
        cell: The cell.
        how: How it is obtained.
    """
    site = cell.site
    return {
        "cell": cell.name,
        "kind": cell.kind,
        "rate_bps": site.rate_bps,
        "shortest_rtt_s": site.shortest_rtt_ms / 1e3,
        "longest_rtt_s": site.longest_rtt_ms / 1e3,
        "flows": site.flows,
        "traffic": cell.traffic,
        "control": cell.control,
        "queue": cell.queue,
        "bdp_packets": cell.bdp_packets,
        "how": how,
        "unit": sought(cell).unit,
    }


def answer_rows(searched: SearchedCell) -> list[Row]:
    """The rows of a computed cell, one per target.

    Args:
        searched: What its runs say.
    """
    return [_answer(searched, found) for found in searched.found]


def curve_rows(searched: SearchedCell) -> list[Row]:
    """The rows of a computed cell, one per simulated value.

    Args:
        searched: What its runs say.
    """
    return [
        {
            "cell": searched.planned.cell.name,
            "unit": searched.sought.unit,
            "value": tested.value,
            "runs": tested.runs,
            **tested.means,
            "utilization_half_width": tested.utilization_half_width,
        }
        for tested in searched.tested
    ]


def scaled_rows(cell: Cell, rungs: Sequence[Sequence[Row]]) -> list[Row]:
    """The rows of a scaled cell, one per target.

    Args:
        cell: The cell.
        rungs: The rows of its rungs, from the largest.
    """
    return [
        _scaled(cell, target, [rows[index] for rows in rungs])
        for index, target in enumerate(UTILIZATIONS)
    ]


def check_scaling(rows: Sequence[Row], rungs: Sequence[Sequence[Row]]) -> None:
    """Adds to the rows of a computed cell what scaling would have said.

    Args:
        rows: The rows of the cell, one per target.
        rungs: The rows of its rungs, from the largest.
    """
    for at, row in enumerate(rows):
        upper, lower = rungs[0][at], rungs[1][at]
        if "none" in (row["status"], upper["status"], lower["status"]):
            continue
        law = power_law((lower["flows"], lower["value"]), (upper["flows"], upper["value"]))
        row["scaled_from"] = ", ".join(rung[at]["cell"] for rung in rungs[:2])
        row["scaling_exponent"] = law.exponent
        row["scaling_check"] = law.at(row["flows"]) / row["value"]


def _answer(searched: SearchedCell, found: Found) -> Row:
    cell = searched.planned.cell
    row: Row = {
        **dict.fromkeys(COLUMNS),
        **cell_columns(cell, searched.planned.how),
        "target_utilization": found.utilization,
        "status": "none",
        "best_utilization": max(tested.means["utilization"] for tested in searched.tested),
    }
    if found.value is None:
        return row
    chosen = next(tested for tested in searched.tested if tested.value == found.value)
    is_smallest = found.value <= searched.sought.smallest
    return {
        **row,
        "status": "smallest" if is_smallest else "found",
        "value": found.value,
        "too_small": found.too_small,
        **_as_time(cell, found.value),
        **chosen.means,
        "utilization_half_width": chosen.utilization_half_width,
        "runs": chosen.runs,
        **{
            f"{word}_{name}": value
            for word, factor in FRACTIONS.items()
            for name, value in _effect(searched.tested, factor * found.value).items()
        },
    }


def _as_time(cell: Cell, value: float) -> Row:
    seconds = value / 1e6
    if cell.queue == "drop_tail":
        seconds = value * 8 * PACKET_BYTES / cell.site.rate_bps
    return {"buffer_s": seconds, "buffer_bdp": seconds / cell.site.mean_rtt_s}


def _effect(tested: Sequence[Tested], value: float) -> Mapping[str, float | None]:
    """The metrics at a value, from straight lines over the logarithm of simulated values."""
    if not tested[0].value <= value <= tested[-1].value:
        return dict.fromkeys(METRICS)
    logs = [log(one.value) for one in tested]
    return {
        name: float(np.interp(log(value), logs, [one.means[name] for one in tested]))
        for name in METRICS
    }


def _scaled(cell: Cell, target: float, rungs: Sequence[Row]) -> Row:
    row: Row = {
        **dict.fromkeys(COLUMNS),
        **cell_columns(cell, "scaled"),
        "target_utilization": target,
        "status": "none",
        "best_utilization": rungs[0]["best_utilization"],
        "scaled_from": ", ".join(rung["cell"] for rung in rungs),
    }
    upper, lower = rungs[0], rungs[1]
    if upper["status"] == "none" or lower["status"] == "none":
        return row
    law = power_law((lower["flows"], lower["value"]), (upper["flows"], upper["value"]))
    value = law.at(cell.site.flows)
    smallest = sought(cell).smallest
    row |= {
        "status": "smallest" if value <= smallest else "found",
        "value": max(value, smallest),
        "scaling_exponent": law.exponent,
        **_as_time(cell, max(value, smallest)),
        "utilization": upper["utilization"],
        "loss_fraction": upper["loss_fraction"],
        "runs": upper["runs"],
    }
    for word in FRACTIONS:
        for name in ("utilization", "loss_fraction"):
            row[f"{word}_{name}"] = upper[f"{word}_{name}"]
    # The queue holds the same part of the buffer, which is another time.
    longer = row["buffer_s"] / upper["buffer_s"]
    for word in ("", *(f"{word}_" for word in FRACTIONS)):
        for name in ("queue_delay_s_mean", "queue_delay_s_p99"):
            delay = upper[f"{word}{name}"]
            row[f"{word}{name}"] = None if delay is None else delay * longer
    row["scaling_check"] = _check(rungs)
    return row


def _check(rungs: Sequence[Row]) -> float | None:
    """The upper rung as scaled from the two below it, over what its own runs say."""
    if len(rungs) < 3 or any(rung["status"] == "none" for rung in rungs):
        return None
    upper, middle, lowest = rungs[:3]
    law = power_law((lowest["flows"], lowest["value"]), (middle["flows"], middle["value"]))
    return float(law.at(upper["flows"]) / upper["value"])
