"""What an answer costs although every target is met: heavy loss, and groups that get little."""

from math import exp, lgamma, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tailroom as tr
from tailroom.reports.notebook import size_html
from tailroom.simulation.result_types import RunWarning
from tests.conftest import Tailroom

pytestmark = pytest.mark.usefixtures("quick_models")

UTILIZATION = "utilization >= 90%"
MIX = {"cubic": 4, "bbr1": 4}
"""BBRv1 ignores the loss that it causes in a shallow buffer, and CUBIC halves its windows."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs that the questions share."""
    return tmp_path_factory.mktemp("warnings") / "store"


def mixed(store: Path, *targets: str, **more: Any) -> tr.Size:
    """The smallest buffer for CUBIC alongside BBRv1."""
    return tr.size(
        None,
        [UTILIZATION, *targets],
        rate="20 Mbit/s",
        rtt="20ms to 40ms",
        flows=MIX,
        duration="4 s",
        max_seeds=4,
        precision=0.5,
        atlas=False,
        store=store,
        **more,
    )


def of_kind(answer: tr.Size, kind: str) -> list[RunWarning]:
    return [one for one in answer.warnings if one["kind"] == kind]


def test_loss_that_no_target_limits_is_named(store: Path) -> None:
    answer = mixed(store, most_loss=None)
    assert answer.chosen
    loss = answer.chosen.interval("links.bottleneck.loss_fraction").mean
    assert loss > 0.01
    [loses] = of_kind(answer, "heavy_loss")
    assert loses["values"] == {"loss_fraction": loss}
    assert f"{100 * loss:.0f} % of the packets are lost" in loses["text"]
    assert 'add target="loss_fraction <= 1%"' in loses["text"]
    assert answer.as_dict()["warnings"] == list(answer.warnings)
    assert "of the packets are lost" in size_html(answer)


def test_loss_that_a_target_limits_is_not_named(store: Path) -> None:
    answer = mixed(store, "loss_fraction <= 60%")
    assert answer.limit_packets
    assert not of_kind(answer, "heavy_loss")


def test_a_group_with_less_than_half_of_equal_shares_is_named(store: Path) -> None:
    answer = mixed(store, most_loss=None)
    assert answer.chosen
    cubic, bbr = (
        answer.chosen.interval(f"groups.{group}.goodput_bps").mean for group in ("cubic", "bbr1")
    )
    assert cubic < 0.25 * (cubic + bbr)
    [small] = of_kind(answer, "small_share")
    assert small["place"] == "flows.cubic"
    assert small["text"].startswith("flows.cubic: 4 of 8 flows get ")
    assert small["text"].endswith(" % of the goodput; equal shares would be 50 %")


def test_a_group_that_its_access_links_limit_is_not_named(store: Path) -> None:
    """4 of 8 flows have 100 kbit/s each of 20 Mbit/s, and get all that their access links allow."""
    answer = mixed(store, set={"flows.cubic.access_rate": "100 kbit/s"})
    assert answer.chosen
    assert answer.chosen.interval("groups.cubic.share").mean < 0.25
    assert not of_kind(answer, "small_share")


def test_an_answer_without_loss_names_none(tailroom: Tailroom) -> None:
    ended = tailroom(
        *("size", "--rate", "10Mbps", "--rtt", "20ms", "--duration", "5s", "--max-seeds", 4),
        *("--target", UTILIZATION),
    )
    assert ended.status == 0
    assert "packets are lost" not in ended.output


QUEUE = """
duration = "{duration}"
measure_from = "0.5 s"
[links.queue]
rate = "40 Mbit/s"
delay = "1 ms"
queue = {{ kind = "drop_tail", limit = "100 packets" }}
[flows.arrivals]
path = ["queue"]
packet_size = "5000 B"
source = {{ kind = "poisson", rate = "32 Mbit/s", sizes = "exponential" }}
"""


def percentile_of_a_queue(limit: int) -> float:
    """99th percentile of the waiting time at M/M/1 with a limit, in s, at a load of 0.8.

    A packet that finds n others waits for n services of 1 ms in the mean, and P(n) ~ 0.8^n.
    """
    others = np.arange(limit + 1)
    seen = 0.8**others / (0.8**others).sum()

    def above(waiting_ms: float) -> float:
        # P(Erlang(n) > t) is the Poisson probability of fewer than n in t.
        terms = np.cumsum([exp(n * log(waiting_ms) - waiting_ms - lgamma(n + 1)) for n in others])
        return float((seen[1:] * terms[:-1]).sum())

    low, high = 1e-3, 1e3
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if above(middle) > 0.01 else (low, middle)
    return low / 1000


@pytest.mark.parametrize(("duration", "is_short"), [("1.5 s", True), ("60.5 s", False)])
def test_runs_that_are_too_short_for_a_percentile_are_named(
    duration: str, *, is_short: bool
) -> None:
    """A second has 800 packets; the waiting time forgets its past in 0.09 s."""
    asked = ["loss_fraction <= 0.1%", "queue_delay_s_p99 <= 20 ms"]
    scenario = tr.Scenario.from_toml(f"seed = 1\n{QUEUE.format(duration=duration)}")
    answer = tr.size(scenario, asked, precision=0.1, max_seeds=16)
    short = of_kind(answer, "short_for_percentile")
    assert bool(short) is is_short
    if is_short:
        [one] = short
        assert answer.limit_packets
        exact = percentile_of_a_queue(answer.limit_packets)
        mean, together = one["values"]["mean"], one["values"]["together"]
        assert mean < together
        assert abs(together - exact) < abs(mean - exact)
        assert one["text"].startswith("queue_delay_s_p99 <= 20 ms: the percentile of a run")
        assert "lengthen duration" in one["text"]


def test_a_percentile_far_below_its_bound_decides_nothing() -> None:
    asked = ["loss_fraction <= 0.1%", "queue_delay_s_p99 <= 1 s"]
    scenario = tr.Scenario.from_toml(f"seed = 1\n{QUEUE.format(duration='1.5 s')}")
    answer = tr.size(scenario, asked, precision=0.1, max_seeds=16)
    assert not of_kind(answer, "short_for_percentile")
