"""The smallest sufficient value over another key, against a closed form; its forms and refusals."""

import json
from pathlib import Path

import pytest

import tailroom as tr
from tailroom.scenario.scenario import Scenario
from tests.conftest import Tailroom
from tests.test_size_vary import PACKETS, POLICED

pytestmark = pytest.mark.usefixtures("quick_models")

RATES_MBIT = (12, 24)
RATES = [f"{rate} Mbit/s" for rate in RATES_MBIT]


def needed(rate_mbit: int) -> int:
    """Before the last packet, the others have been taken, and their time's tokens have arrived."""
    return round(1500 * (1 + (1 - rate_mbit / 120) * (PACKETS - 1)))


def test_a_faster_policer_needs_a_smaller_burst() -> None:
    found = tr.frontier(
        Scenario.from_toml(POLICED),
        "loss_fraction <= 0",
        over={"policer.rate": RATES},
        vary="policer.burst",
        precision=0.0003,
    )
    for rate, one in zip(RATES_MBIT, found.sizes, strict=True):
        assert one.smallest is not None
        assert needed(rate) <= one.smallest <= 1.0001 * needed(rate)
    table = found.table().to_pydict()
    assert table["links.b.policer.rate"] == RATES
    assert table["value"] == [one.value for one in found.sizes]
    assert table["interval_low"] == [None, None]
    assert table["links.b.loss_fraction"] == [0, 0]
    assert not found.is_unmet
    assert len(found.plot().axes) == 2
    assert "24 Mbit/s" in found._repr_html_()


def test_the_command_prints_and_draws_an_answer_per_value(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    file, picture = tmp_path / "policed.toml", tmp_path / "frontier.png"
    file.write_text(POLICED, encoding="utf-8")
    over = ("--vary", "policer.burst", "--vary", f"policer.rate={','.join(RATES)}")
    asked = ("size", file, *over, "--target", "loss_fraction <= 20%", "--precision", 0.1)
    done = tailroom(*asked, "--out", picture)
    assert done.status == 0
    assert "Smallest links.b.policer.burst for loss_fraction <= 20%" in done.output
    assert all(rate in done.output for rate in RATES)
    assert picture.stat().st_size > 10_000
    answer = json.loads(tailroom(*asked, "--json").output)
    assert answer["over"] == "links.b.policer.rate"
    first, second = answer["points"]
    assert [first["setting"], second["setting"]] == RATES
    assert int(first["value"].split()[0]) > int(second["value"].split()[0])


def test_a_value_without_an_answer_is_none(tailroom: Tailroom, tmp_path: Path) -> None:
    """No burst makes the link faster than its rate."""
    file = tmp_path / "policed.toml"
    file.write_text(POLICED.replace("1000 packets", "10 packets"), encoding="utf-8")
    asked = ("--vary", "policer.burst", "--vary", "links.b.rate=10 Mbit/s,1 Gbit/s")
    target = ("--target", "b.loss_fraction <= 30%", "--precision", 0.1, "--json")
    done = tailroom("size", file, *asked, *target)
    assert done.status == 0
    slow, fast = json.loads(done.output)["points"]
    assert slow["value"] is None
    assert fast["value"]


def test_several_keys_with_values_are_refused() -> None:
    with pytest.raises(tr.ArgumentError, match="has 2 keys; give one"):
        tr.frontier("first", over={"a": [1], "b": [2]})
