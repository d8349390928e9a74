"""Auge and Roberts 2006 beyond Figures 3 to 7: what holds in the smoke form, and its metrics."""

import numpy as np
import pytest

from tailroom_papers import framework
from tailroom_papers.auge_2006 import (
    announced_model,
    figure_1,
    instability,
    number_of_flows,
    other_controls,
    transparent,
)
from tailroom_papers.auge_2006.further import FURTHER_PARTS
from tailroom_papers.framework import Form, Judgement


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Judgement]:
    paper = framework.load("auge-2006")
    out = tmp_path_factory.mktemp("papers") / "auge-further"
    done = framework.reproduce(paper, out, parts=FURTHER_PARTS, form=Form.SMOKE)
    return {claim.name: found for part in done.parts for claim, found in part.judged}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claim", "side", "holds"),
    [
        ("three-regimes", "transparent: loss", True),
        ("three-regimes", "elastic: p99 delay, ms", True),
        ("geometric", "largest distance (total variation) from the law, by load", True),
        ("mixture", "distance (total variation) from the law", True),
        ("overload", "part of them that is bottlenecked, 30 to 40 s", True),
        (
            "satisfactory-loads",
            "load 80 %, fair queueing: rate of flows limited elsewhere over their own",
            True,
        ),
        ("geometric-loss", "load 0.71, 20 packets: loss", True),
        (
            "poisson-for-tcp",
            "utilization, 4 NewReno, 20 packets less 1 NewReno, 20 packets",
            True,
        ),
        ("poisson-for-tcp", "NewReno's goodput over HighSpeed's, 625 packets", True),
        (
            "priority",
            "mean delay of the background with priority less that without, ms "
            "(4 HighSpeed, 625 packets)",
            True,
        ),
        (
            "priority",
            "p99 delay of the background with priority less that without, ms "
            "(1 HighSpeed, 1 NewReno, 625 packets)",
            False,
        ),
        (
            "one-or-two-hundred",
            "HighSpeed, 200 Mbit/s, 200 packets: share of the residual",
            True,
        ),
        (
            "twenty-at-any-size",
            "HighSpeed, 200 Mbit/s, 20 packets: share of the residual",
            True,
        ),
        (
            "only-hundreds",
            "streams, load 90 %, 1,004 flows in progress: most active flows at an instant",
            True,
        ),
        ("unstable-buffers", "BDP / sqrt(n), w = 30: range of the queue over the buffer", True),
        ("unstable-buffers", "BDP, w = 30: utilization", False),
        (
            "twenty-for-many",
            "w = 10: utilization with 20 packets less that with BDP / sqrt(n)",
            False,
        ),
        (
            "smaller-buffers",
            "Scalable: buffer for reasonable throughput over NewReno's",
            True,
        ),
        ("packet-pair", "packet pair, 625 packets: share of the residual", True),
        (
            "scheduling-needed",
            "p99 delay of the background under fair queueing over that of the best managed queue",
            True,
        ),
        ("scheduling-needed", "loss of the background under fair queueing", True),
    ],
)
def test_sides_of_claims(
    judged: dict[str, Judgement],
    claim: str,
    side: str,
    holds: bool,
) -> None:
    (check,) = [one for one in judged[claim].checks if one.what == side]
    assert check.holds_alone.value is holds


def test_flows_in_progress_between_starts_and_ends() -> None:
    starts, ends = np.array([0.0, 1.0, 2.0]), np.array([4.0, 1.5, 3.0])
    found = figure_1.in_progress(starts, ends, np.array([0.5, 1.2, 1.7, 2.5, 3.5, 5.0]))
    assert found.tolist() == [1, 2, 1, 2, 1, 0]


def test_a_geometric_law_is_no_distance_from_itself() -> None:
    law = {number: 0.5 * 0.5**number for number in range(40)}
    assert number_of_flows.variation(law, 0.5) == pytest.approx(0, abs=1e-9)
    # A link that is always empty: half of the law's mass is elsewhere.
    assert number_of_flows.variation({0: 1.0}, 0.5) == pytest.approx(0.5)


def test_windows_in_step_have_the_variance_of_their_number() -> None:
    wave = np.sin(np.linspace(0, 20, 400))
    assert instability.togetherness(np.array([wave, wave, wave])) == pytest.approx(3)
    # Two that compensate each other do not vary together.
    assert instability.togetherness(np.array([wave, -wave])) == pytest.approx(0, abs=1e-9)


def test_independent_windows_have_the_variance_of_one_another() -> None:
    flows = np.random.default_rng(1).normal(size=(50, 4000))
    assert instability.togetherness(flows) == pytest.approx(1, abs=0.1)


def test_loss_of_a_queue_of_one_place_is_its_load_over_one_more() -> None:
    # Erlang's formula with one server.
    assert transparent.exact(0.5, 1) == pytest.approx(0.5 / 1.5)


def test_a_share_is_passed_between_two_buffers() -> None:
    found = announced_model.crossing([10, 100, 1000], [0.5, 0.7, 0.8])
    assert found is not None
    assert (found.low, found.high) == (100, 1000)
    assert found.between == pytest.approx(100 * 10**0.5)
    assert announced_model.crossing([10, 100], [0.5, 0.7]) is None


def test_the_buffer_for_a_share_is_the_last_that_it_passes() -> None:
    assert other_controls.buffer_for(0.75, [10, 1000], [0.7, 0.8]) == pytest.approx(100)
    # A share that falls below the level again needs more buffer.
    found = other_controls.buffer_for(0.5, [10, 20, 40, 80], [0.6, 0.4, 0.45, 0.55])
    assert found == pytest.approx(40 * 2**0.5)
    assert other_controls.buffer_for(0.9, [10, 20], [0.5, 0.8]) is None
    assert other_controls.buffer_for(0.3, [10, 20], [0.5, 0.8]) == 10
