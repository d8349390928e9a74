"""`tailroom model` and `tailroom compare`: what they print, and what they refuse."""

import json
from pathlib import Path

import pytest

import tailroom as tr
from tailroom.models import MODELS
from tests.conftest import Printed, Tailroom

LIMIT = "links.bottleneck.queue.limit"

pytestmark = pytest.mark.usefixtures("quick_models")


def test_the_rule_of_thumb_is_one_bandwidth_delay_product(tailroom: Tailroom, small: Path) -> None:
    answer = json.loads(tailroom("model", small, "--model", "rule_of_thumb", "--json").output)
    said = answer["models"]["rule_of_thumb"]
    # 10 Mbit/s times 20 ms.
    assert said["required_bytes"] == pytest.approx(25_000)
    assert said["required_s"] == pytest.approx(0.02)
    assert said["required_bdp"] == pytest.approx(1)


def test_tables_have_whole_names_and_each_failing_assumption_once(printed: Printed) -> None:
    printed("model")


def test_curves_have_a_row_a_value_and_a_picture(
    tailroom: Tailroom, small: Path, tmp_path: Path
) -> None:
    over = f"{LIMIT}=10 packets,20 packets,40 packets"
    picture = tmp_path / "curves.png"
    shown = tailroom("model", small, "--over", over, "--out", picture)
    assert shown.status == 0
    assert picture.stat().st_size > 1000
    answer = json.loads(tailroom("model", small, "--over", over, "--json").output)
    assert answer["key"] == LIMIT
    assert [one["value"] for one in answer["points"]] == ["10 packets", "20 packets", "40 packets"]


def test_needed_limits_are_whole_packets_that_suffice(tailroom: Tailroom, small: Path) -> None:
    """10 Mbit/s times 20 ms are 16.7 packets of 1500 B; with 100 kbit/s, not one."""
    for rate, packets in (("10 Mbit/s", "17"), ("100 kbit/s", "1")):
        given = ("--model", "rule_of_thumb", "--set", f"links.bottleneck.rate={rate}")
        row = next(
            line
            for line in tailroom("model", small, *given).output.splitlines()
            if line.startswith("rule_of_thumb")
        )
        assert row.split()[4] == packets


def test_counts_of_failing_assumptions_have_no_exponent(tailroom: Tailroom) -> None:
    shown = tailroom("model", "lossless", "--model", "stability").output
    assert "here 30,500 packets" in shown
    assert "e+04" not in shown


def test_python_gives_what_the_command_prints(tailroom: Tailroom, small: Path) -> None:
    answer = json.loads(tailroom("model", small, "--json").output)
    assert json.loads(json.dumps(tr.predict(small).as_dict())) == answer


def test_comparing_puts_the_simulation_next_to_the_models(tailroom: Tailroom, small: Path) -> None:
    answer = json.loads(tailroom("compare", small, "--json").output)
    measured = tr.run(small).links["bottleneck"]
    assert answer["simulation"]["utilization"] == measured["utilization"]
    assert list(answer["models"]) == list(MODELS)


def test_wrong_questions_are_refused(refused: Printed) -> None:
    refused("model")


def test_a_curve_has_every_chosen_model_at_every_value() -> None:
    """Also if the names come from an iterator, which can be read only once."""
    axis = tr.Axis("links.bottleneck.queue.limit", ("10 packets", "100 packets"))
    curves = tr.predict_over("first", axis, models=iter(["rule_of_thumb", "sawtooth"]))
    names = [[answer.model.name for answer in point.answers] for point in curves.points]
    assert names == [["rule_of_thumb", "sawtooth"]] * 2
