"""Addanki et al. 2022: the memory of its leaves, its two policies, and what decides who loses."""

import pytest

import tailroom as tr
from tailroom_papers.abm_2022.setup import (
    ABM,
    DYNAMIC_THRESHOLD,
    MEMORY_BYTES,
    POLICY,
    REQUEST,
    SCENARIO,
    UPLINKS,
    answer_bytes,
)

GBPS_OF_PORTS = (32 + UPLINKS) * 10
"""Of a leaf."""


def test_a_leaf_has_the_memory_that_the_scripts_give_each_port_and_gbps() -> None:
    assert MEMORY_BYTES == 9.6 * 1024 * GBPS_OF_PORTS


@pytest.mark.parametrize(
    ("policy", "share", "loses"),
    [
        # A queue alone may take alpha / (1 + alpha) = 1/3 of the memory.
        (DYNAMIC_THRESHOLD, 0.25, False),
        (DYNAMIC_THRESHOLD, 0.5, True),
        ({**ABM, "first_window_alpha": 0.5}, 0.5, True),
        (ABM, 0.5, False),
    ],
)
def test_answers_are_lost_beyond_the_threshold_of_their_first_windows(
    policy: dict[str, object], share: float, loses: bool
) -> None:
    values = {
        POLICY: policy,
        REQUEST: answer_bytes(share),
        "flows.queries.source.arrivals_per_second": 100,
        "duration": "100 ms",
        "measure_from": "5 ms",
    }
    run = tr.run(SCENARIO, set=values)
    lost = run.summary["groups"]["queries"]["loss_fraction"]
    assert lost is not None
    assert (lost > 0) is loses
