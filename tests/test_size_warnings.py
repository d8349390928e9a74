"""What an answer costs although every target is met: heavy loss, and groups that get little."""

from pathlib import Path
from typing import Any

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
    assert 'add targets="loss_fraction <= 1%"' in loses["text"]
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
