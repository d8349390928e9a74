"""The rows of the atlas's data: of a searched cell, and of a cell that is scaled from others."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import exp, log
from typing import Any

import numpy as np

from tailroom import _engine
from tailroom.buffer_atlas.data import (
    COLUMNS,
    FRACTIONS,
    LOW_LOSS_COLUMNS,
    LOW_LOSS_METRICS,
    METRICS,
    MOST_LOSS,
    UTILIZATIONS,
)
from tailroom.buffer_atlas.terms import PACKET_BYTES
from tailroom_atlas.cell_search import Found, SearchedCell, Tested
from tailroom_atlas.cells import Cell
from tailroom_atlas.cost import How
from tailroom_atlas.scaling import PowerLaw, is_believed, power_law
from tailroom_atlas.scenarios import sought

Row = dict[str, Any]


def cell_columns(cell: Cell, how: How, *, is_rung: bool = False) -> Row:
    """What says which cell a row is about.

    Args:
        cell: The cell.
        how: How it is obtained.
        is_rung: Whether it is there only because another one is scaled from it.
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
        "is_rung": is_rung,
        "unit": sought(cell).unit,
        "engine": _engine.build(),
    }


def answer_rows(searched: SearchedCell) -> list[Row]:
    """The rows of a computed cell, one per target.

    Args:
        searched: What its runs say.
    """
    return [_answer(searched, found) for found in _consistent(searched.found)]


def _consistent(found: Sequence[Found]) -> list[Found]:
    """Returns the answers of a cell, in which less utilization never needs a larger value.

    The search for each utilization ends on its own; a value that is shown to give 98 % gives 95 %.
    """
    answers: list[Found] = []
    least: int | None = None
    for one in reversed(found):
        if least is not None and (one.value is None or one.value > least):
            known = one.too_small if one.too_small < least else 0
            answers.append(replace(one, value=least, too_small=known))
        else:
            answers.append(one)
        least = answers[-1].value
    return answers[::-1]


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
    scaled: list[Row] = []
    for index, target in enumerate(UTILIZATIONS):
        row = _scaled(cell, target, [rows[index] for rows in rungs])
        # Each target has a power of its own, and more utilization does not need less.
        least = max((one["value"] for one in scaled if one["value"]), default=0)
        if row["value"] and row["value"] < least:
            row |= {"value": least, **_as_time(cell, least)}
        scaled.append(row)
    return scaled


def check_scaling(rows: Sequence[Row], rungs: Sequence[Sequence[Row]]) -> None:
    """Adds to the rows of a computed cell what scaling would have said.

    Args:
        rows: The rows of the cell, one per target.
        rungs: The rows of its rungs, from the largest.
    """
    for at, row in enumerate(rows):
        law = _law(rungs[0][at], rungs[1][at])
        if law is None or row["crossing"] is None:
            continue
        row["scaled_from"] = ", ".join(rung[at]["cell"] for rung in rungs[:2])
        row["scaling_exponent"] = law.exponent
        row["scaling_check"] = law.at(row["flows"]) / row["crossing"]


def _law(upper: Row, lower: Row) -> PowerLaw | None:
    """The power law through the crossings of two rungs; `None` if one of them has none.

    Values would not do: that of a rung with fewer seeds is further above its crossing.
    """
    if upper["crossing"] is None or lower["crossing"] is None:
        return None
    return power_law((lower["flows"], lower["crossing"]), (upper["flows"], upper["crossing"]))


def _answer(searched: SearchedCell, found: Found) -> Row:
    planned = searched.planned
    cell = planned.cell
    best = max(tested.means["utilization"] for tested in searched.tested)
    row: Row = {
        **dict.fromkeys(COLUMNS),
        **cell_columns(cell, planned.how, is_rung=planned.is_rung),
        "target_utilization": found.utilization,
        "status": "none" if best < found.utilization else "open",
        "best_utilization": best,
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
        "crossing": _crossing(searched.tested, found),
        "larger_that_misses": found.larger_that_misses,
        **_as_time(cell, found.value),
        **chosen.means,
        "utilization_half_width": chosen.utilization_half_width,
        "runs": chosen.runs,
        **_low_loss(searched, found.value, chosen),
        **{
            f"{word}_{name}": value
            for word, factor in FRACTIONS.items()
            for name, value in _effect(searched.tested, factor * found.value).items()
        },
    }


def _low_loss(searched: SearchedCell, value: int, chosen: Tested) -> Row:
    """The second answer, which also keeps to the bound on the loss."""
    loses_much = chosen.means["loss_fraction"] > MOST_LOSS
    if loses_much and searched.low_loss is None:
        return {**dict.fromkeys(LOW_LOSS_COLUMNS), "low_loss_status": "none"}
    low_loss = max(value, searched.low_loss) if loses_much and searched.low_loss else value
    effect = _effect(searched.tested, low_loss)
    return {
        "low_loss_status": "found",
        "low_loss_value": low_loss,
        **{f"low_loss_{name}": effect[name] for name in LOW_LOSS_METRICS},
    }


def _crossing(tested: Sequence[Tested], found: Found) -> float | None:
    """Where the mean utilization reaches the target below the answer, or at it."""
    upto = [one for one in tested if one.value <= (found.value or 0)]
    missing = [at for at, one in enumerate(upto) if one.means["utilization"] < found.utilization]
    if not missing:
        return None
    below, above = upto[missing[-1]], upto[missing[-1] + 1]
    ends = [one.means["utilization"] for one in (below, above)]
    logs = [log(one.value) for one in (below, above)]
    return exp(float(np.interp(found.utilization, ends, logs)))


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
        "status": "none" if rungs[0]["status"] == "none" else "open",
        "best_utilization": rungs[0]["best_utilization"],
        "scaled_from": ", ".join(rung["cell"] for rung in rungs),
    }
    upper, lower = rungs[0], rungs[1]
    law, check = _law(upper, lower), _check(rungs)
    if law is None:
        return row
    row |= {"scaling_exponent": law.exponent, "scaling_check": check}
    if not is_believed(law.exponent, cell.site.flows / upper["flows"], check):
        return row
    factor = law.at(cell.site.flows) / upper["crossing"]
    value = factor * upper["value"]
    smallest = sought(cell).smallest
    row |= {
        "status": "smallest" if value <= smallest else "found",
        "value": max(value, smallest),
        "crossing": factor * upper["crossing"],
        **_as_time(cell, max(value, smallest)),
        "utilization": upper["utilization"],
        "loss_fraction": upper["loss_fraction"],
        "runs": upper["runs"],
    }
    for word in FRACTIONS:
        for name in ("utilization", "loss_fraction"):
            row[f"{word}_{name}"] = upper[f"{word}_{name}"]
    row |= {name: upper[name] for name in LOW_LOSS_COLUMNS}
    if upper["low_loss_value"] is not None:
        row["low_loss_value"] = max(factor * upper["low_loss_value"], smallest)
    # The queue holds the same part of the buffer, which is another time.
    longer = row["buffer_s"] / upper["buffer_s"]
    for word in ("", "low_loss_", *(f"{word}_" for word in FRACTIONS)):
        for name in ("queue_delay_s_mean", "queue_delay_s_p99"):
            delay = upper[f"{word}{name}"]
            row[f"{word}{name}"] = None if delay is None else delay * longer
    return row


def _check(rungs: Sequence[Row]) -> float | None:
    """The upper rung as scaled from the two below it, over what its own runs say."""
    if len(rungs) < 3 or rungs[0]["crossing"] is None:
        return None
    law = _law(rungs[1], rungs[2])
    return law.at(rungs[0]["flows"]) / float(rungs[0]["crossing"]) if law else None
