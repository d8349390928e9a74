"""The smallest sufficient value over another key, against a closed form; its forms and refusals."""

import itertools
import json
from pathlib import Path

import pytest

import tailroom as tr
from tailroom.scenario.scenario import Scenario
from tests.conftest import Tailroom
from tests.test_size_vary import CROWDED, PACKETS, POLICED

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


STOPS = {50: "4.95 ms", 100: "9.95 ms"}
"""Ends of bursts by their packets, of which one comes per 0.1 ms."""


def test_two_keys_give_an_answer_per_pair_of_values() -> None:
    found = tr.frontier(
        Scenario.from_toml(POLICED),
        "loss_fraction <= 0",
        over={"policer.rate": RATES, "burst.stop": [*STOPS.values()]},
        vary="policer.burst",
        precision=0.0003,
    )
    pairs = list(itertools.product(RATES_MBIT, STOPS))
    for (rate, packets), one in zip(pairs, found.sizes, strict=True):
        needs = round(1500 * (1 + (1 - rate / 120) * (packets - 1)))
        assert one.smallest is not None
        assert needs <= one.smallest <= 1.0001 * needs
    table = found.table().to_pydict()
    assert table["links.b.policer.rate"] == [f"{rate} Mbit/s" for rate, _ in pairs]
    assert table["flows.burst.stop"] == [STOPS[packets] for _, packets in pairs]
    written = found.as_dict()
    assert written["over"] == ["links.b.policer.rate", "flows.burst.stop"]
    assert [point["setting"] for point in written["points"]] == list(map(list, found.settings))
    cells = [text.get_text() for text in found.plot().axes[0].texts]
    assert cells == [one.varied.text(one.smallest or 0) for one in found.sizes]
    assert "12 Mbit/s, 4.95 ms" in found._repr_html_()


def test_a_map_of_the_best_alpha_tells_which_alphas_meet_the_targets(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    """Next to a full queue, a burst of w of the memory needs alpha / (1 + alpha)^2 >= w.

    58.8 kB of 300 kB: 1/2 to 2; of 1 MB: 1/8 to 8. The other key changes nothing.
    """
    file, picture = tmp_path / "crowded.toml", tmp_path / "map.png"
    file.write_text(CROWDED)
    targets = ("l0.queue_delay_s_p99 <= 10 s", "l1.loss_fraction <= 0")
    over = {"pools.p.size": ["300 kB", "1 MB"], "links.l1.delay": ["0 ms", "1 ms"]}
    found = tr.frontier(Scenario.from_toml(CROWDED), targets, over=over, vary="policy.alpha")
    cells = [text.get_text() for text in found.plot().axes[0].texts]
    assert cells == 2 * ["1/2\n(1/2 to 2)"] + 2 * ["1/8\n(1/8 to 8)"]
    keys = (f"{key}={','.join(values)}" for key, values in over.items())
    varied = (word for key in keys for word in ("--vary", key))
    asked = (word for target in targets for word in ("--target", target))
    done = tailroom("size", file, "--vary", "policy.alpha", *varied, *asked, "--out", picture)
    assert done.status == 0
    meeting = [[step / 128 for step in one.alphas] for one in found.sizes]
    assert meeting == 2 * [[0.5, 1, 2]] + 2 * [[0.125, 0.25, 0.5, 1, 2, 4, 8]]
    assert " ".join(done.output.split()).count("1/2, 1,") == len(meeting)
    assert picture.stat().st_size > 10_000


@pytest.mark.parametrize("over", [{}, {"a": [1], "b": [2], "c": [3]}])
def test_other_numbers_of_keys_with_values_are_refused(over: dict[str, list[int]]) -> None:
    with pytest.raises(tr.ArgumentError, match=f"has {len(over)} keys; give one or two"):
        tr.frontier("first", over=over)


def test_a_key_that_has_values_twice_is_refused() -> None:
    over = {"policer.rate": RATES, "links.b.policer.rate": RATES}
    with pytest.raises(tr.ArgumentError, match=r"links\.b\.policer\.rate has values twice"):
        tr.frontier(Scenario.from_toml(POLICED), "loss_fraction <= 0", over=over)
