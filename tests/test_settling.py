"""When the statistics of a question without a scenario begin, its flows have settled."""

import tomllib
from typing import Any

import numpy as np
import pytest

import tailroom as tr
from tailroom.scenario.dumbbell import dumbbell
from tailroom.scenario.types import DropTailQueue

SEEDS = 30
MOST_STANDARD_ERRORS = 3.0
"""Of the mean of differences within a run; written before the runs."""
CASES = (
    ("1 Gbit/s", "40 ms", 10, "cubic", 260),
    ("1 Gbit/s", "100 ms", 10, "cubic", 500),
    ("200 Mbit/s", "40 ms", 5, "reno", 100),
    ("200 Mbit/s", "40 ms", 5, "highspeed", 60),
)


@pytest.mark.slow  # 45 s: noise hides a difference of a few runs.
@pytest.mark.parametrize(("rate", "rtt", "flows", "control", "limit"), CASES)
def test_what_is_missing_to_a_full_link_is_the_same_in_a_later_window(
    rate: str, rtt: str, flows: int, control: str, limit: int
) -> None:
    queue: DropTailQueue = {"kind": "drop_tail", "limit": f"{limit} packets"}
    usual: Any = tomllib.loads(dumbbell(rate, rtt, flows, control, queue=queue).to_toml())
    begin_s, end_s = (float(usual[key].split()[0]) for key in ("measure_from", "duration"))
    span_s = end_s - begin_s
    later = {"duration": f"{end_s + span_s} s", "series": {"interval": f"{span_s / 50} s"}}
    differences = []
    for seed in range(1, SEEDS + 1):
        series = tr.run(usual | later, seed=seed).link_series
        assert series
        time_s, used = (np.asarray(series[column]) for column in ("time_s", "utilization"))
        first, last = (time_s > begin_s) & (time_s <= end_s), time_s > end_s
        differences.append(used[last].mean() - used[first].mean())
    standard_error = np.std(differences, ddof=1) / np.sqrt(SEEDS)
    assert abs(np.mean(differences)) <= MOST_STANDARD_ERRORS * standard_error
