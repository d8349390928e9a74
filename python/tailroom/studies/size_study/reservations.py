"""What the runs of an answer warn of."""

from typing import TYPE_CHECKING

from tailroom.simulation.warned import warning
from tailroom.storage.run import RunsInMemory
from tailroom.studies.size_study.search import Tried
from tailroom.studies.stored_warnings import warnings_of

if TYPE_CHECKING:
    from tailroom.simulation.result_types import RunWarning
    from tailroom.storage.store import Store

FEWEST_REDUCTIONS = 3.0
"""Window reductions per flow and run below which the start of a run may decide an answer.

Figures of a single run need ten. The intervals of an answer come from the spread of many runs, so
that it only has to be free of the start: the atlas, whose short runs last three periods of the
congestion control, had the same utilization after three times the warm-up."""


def reservations(answer: Tried, store: "Store | RunsInMemory") -> tuple["RunWarning", ...]:
    """The warnings of the answer's runs, each once.

    Args:
        answer: The buffer of the answer.
        store: The store with its runs.
    """
    found = warnings_of(store, answer.point.keys)
    kept = (_of_answer(one, answer) if one["kind"] == "few_reductions" else one for one in found)
    return tuple(one for one in kept if one is not None)


def _of_answer(few: "RunWarning", answer: Tried) -> "RunWarning | None":
    """The warning of few reductions in the mean of the runs; `None` if there are enough."""
    place = few["place"]
    reductions = _reductions_per_flow(answer, place.removeprefix("flows."))
    if reductions >= FEWEST_REDUCTIONS:
        return None
    text = (
        f"{place}: {reductions:.1f} window reductions per flow in the measured window, in the "
        f"mean of the answer's runs; with fewer than {FEWEST_REDUCTIONS:g} the start of a run may "
        "decide the answer: lengthen duration"
    )
    return warning(few["kind"], place, text, reductions_per_flow=reductions)


def _reductions_per_flow(answer: Tried, group: str) -> float:
    """Mean over the runs of the window reductions of a flow of the group."""
    runs = answer.point.finished
    events, flows = (
        sum(row[f"groups.{group}.{name}"] for row in runs)
        for name in ("congestion_events", "flows")
    )
    return float(events / flows)
