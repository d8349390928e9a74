"""The points of a study at which claims are judged."""

from collections.abc import Sequence
from typing import Any

from tailroom_papers.framework import *
from tailroom_papers.today.network import LIMIT


def at_limits(study: Study, limits: Sequence[str], seeds: int, **fields: Any) -> Study:
    """Returns a study at some of its queue limits alone.

    Args:
        study: A study that varies the limit in its grid, or together with other keys.
        limits: The limits.
        seeds: Number of runs per point.
        **fields: Other fields of the study that differ.
    """
    rows = [place for place, limit in enumerate(study.together.get(LIMIT, ())) if limit in limits]
    if rows:
        few = {key: [values[row] for row in rows] for key, values in study.together.items()}
        fields = {"together": few, **fields}
    else:
        fields = {"grid": {**study.grid, LIMIT: limits}, **fields}
    return study.varied({}, seeds=seeds, until=None, **fields)
