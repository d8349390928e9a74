"""What the runs of an answer warn of."""

from tailroom.storage.store import Store
from tailroom.studies.run_warnings import group_with_few_reductions, warnings_of
from tailroom.studies.size_study.search import Tried

FEWEST_REDUCTIONS = 3.0
"""Window reductions per flow and run below which the start of a run may decide an answer.

Figures of a single run need ten. The intervals of an answer come from the spread of many runs, so
that it only has to be free of the start: the atlas, whose short runs last three periods of the
congestion control, had the same utilization after three times the warm-up."""


def reservations(answer: Tried, store: Store) -> tuple[str, ...]:
    """The warnings of the answer's runs, each once.

    Args:
        answer: The buffer of the answer.
        store: The store with its runs.
    """
    texts = []
    for text in warnings_of(store, answer.point.keys):
        group = group_with_few_reductions(text)
        if group is None:
            texts.append(text)
        elif (reductions := _reductions_per_flow(answer, group)) < FEWEST_REDUCTIONS:
            texts.append(
                f"flows.{group}: {reductions:.1f} window reductions per flow in the measured "
                f"window, in the mean of the answer's runs; with fewer than "
                f"{FEWEST_REDUCTIONS:g} the start of a run may decide the answer: lengthen duration"
            )
    return tuple(texts)


def _reductions_per_flow(answer: Tried, group: str) -> float:
    """Mean over the runs of the window reductions of a flow of the group."""
    runs = answer.point.finished
    events, flows = (
        sum(row[f"groups.{group}.{name}"][0].as_py() for row in runs)
        for name in ("congestion_events", "flows")
    )
    return float(events / flows)
