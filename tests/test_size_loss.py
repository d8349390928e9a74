"""An answer of `size` loses little, or says what it loses."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import tailroom as tr
from tailroom.buffer_atlas.data import MOST_LOSS
from tailroom.scenario.scenario import Scenario
from tailroom.statistics.outcome import Outcome
from tailroom.studies.size_study.answer import Size
from tailroom.studies.size_study.question import read_question
from tests.conftest import Tailroom

pytestmark = pytest.mark.usefixtures("quick_models")

FULL = "utilization >= 95%"
FEW = {"rate": "10Mbit/s", "rtt": "40ms", "flows": 5, "duration": "12s"}
"""Few flows: a larger buffer loses less than 1 %."""
MANY = {"rate": "10Mbit/s", "rtt": "10ms", "flows": 60, "duration": "6s"}
"""So many flows that each has less than a packet in flight on average, at any buffer tried."""


def asked(numbers: dict[str, object], **options: object) -> Size:
    return tr.size(target=FULL, max_seeds=4, precision=0.2, **numbers, **options)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def few() -> Size:
    return asked(FEW)


@pytest.fixture(scope="module")
def many() -> Size:
    return asked(MANY, store=None)


def test_the_answer_keeps_to_the_loss_that_is_added(few: Size) -> None:
    assert few.limit_packets is not None
    assert few.without_loss_target is not None
    assert few.without_loss_target < few.limit_packets
    loss, lost_before = (
        few.loss_of(packets) for packets in (few.limit_packets, few.without_loss_target)
    )
    assert loss is not None
    assert lost_before is not None
    assert loss <= 0.01 < lost_before
    assert not few.misses_loss_target
    assert [str(target) for target in few.targets] == [FULL, "loss_fraction <= 1%"]
    assert f"without loss_fraction <= 1%, {few.without_loss_target} packets" in few.sentence
    assert few.without_loss_target in [tried.limit for tried in few.choices]


def test_where_no_buffer_keeps_to_it_there_is_no_answer_but_what_the_targets_alone_lose(
    many: Size,
) -> None:
    assert many.misses_loss_target
    assert many.is_unmet
    assert many.answer is many.limit_packets is many.value is many.chosen is None
    without = next(one for one in many.tried if one.limit == many.without_loss_target)
    assert without.verdicts[many.targets[0]] is Outcome.YES
    assert without in many.choices
    lost = many.loss_of(without.limit)
    assert lost is not None
    assert lost > 0.01
    assert "no tested limit keeps to loss_fraction <= 1% as well" in many.sentence
    said = many.as_dict()
    assert said["equivalents"] is said["devices"] is said["limit"] is None
    assert said["without_loss_target"]["packets"] == without.limit
    assert f"{100 * lost:.0f} % of the packets are lost" in many.price


def test_an_answer_that_the_loss_decides_has_an_interval(few: Size) -> None:
    """Although the few packets that the utilization needs allow no fit of it."""
    alone = asked(FEW, most_loss=None)
    assert alone.interval is None
    assert alone.why_no_regression
    assert few.interval is not None
    assert not few.why_no_regression
    assert few.limit_packets == few.interval.high


def test_without_the_added_bound_the_answer_is_that_of_the_target(few: Size) -> None:
    """Which is not searched where the bound is added: the smallest tested buffer stands for it."""
    alone = asked(FEW, most_loss=None)
    assert alone.limit_packets is not None
    assert few.without_loss_target is not None
    assert alone.limit_packets == alone.without_loss_target
    assert alone.limit_packets <= few.without_loss_target
    assert not [
        tried
        for tried in few.tried
        if alone.limit_packets < tried.limit < few.without_loss_target
        and tried.verdict_on(alone.targets) is Outcome.YES
    ]
    assert len(alone.targets) == 1
    assert "of the packets are lost" in alone.warnings[0]["text"]


def test_a_loss_that_a_target_limits_has_no_further_bound(small: Path) -> None:
    answer = tr.size(small, [FULL, "loss_fraction <= 20%"], max_seeds=4, precision=0.5)
    assert len(answer.targets) == 2
    assert answer.loss_target is None


def test_a_wrong_bound_on_the_loss_is_refused(small: Path) -> None:
    with pytest.raises(tr.TargetError, match="most_loss"):
        tr.size(small, FULL, most_loss=2.0)


def test_a_buffer_that_keeps_to_no_bound_on_the_loss_is_no_line_to_paste(
    tailroom: Tailroom,
) -> None:
    numbers = [part for name, value in MANY.items() for part in (f"--{name}", value)]
    ended = tailroom("size", *numbers, "--target", FULL, "--max-seeds", 4, "--precision", 0.2)
    assert ended.status == 4
    assert "No tested buffer meets every target." in ended.output
    assert "(--most-loss)" in ended.output
    assert "tc " not in ended.output


def test_the_command_prints_both_answers(tailroom: Tailroom, tmp_path: Path) -> None:
    numbers = [part for name, value in FEW.items() for part in (f"--{name}", value)]
    search = ["size", *numbers, "--target", FULL, "--max-seeds", 4, "--precision", 0.2]
    search += ["--store", tmp_path / "store"]
    shown = tailroom(*search)
    assert shown.status == 0, shown.errors
    shown_more = tailroom(*search, "--explain").output
    assert "loss_fraction <= 1% (added; --most-loss): met from" in shown_more
    assert "without loss_fraction <= 1%," in shown.output
    said = json.loads(tailroom(*search, "--json").output)
    assert said["meets_loss_target"] is True
    assert said["loss_target"] == "loss_fraction <= 1%"
    assert said["without_loss_target"]["packets"] < said["limit"]["packets"]
    assert said["without_loss_target"]["loss_fraction"] > 0.01


def test_the_picture_shows_loss_milliseconds_and_the_answer_as_a_tick(few: Size) -> None:
    figure = few.plot()
    panels = figure.axes
    assert "loss (%)" in [panel.get_ylabel() for panel in panels]
    assert "% of the packets are lost" in figure.get_suptitle().replace("\n", " ")
    # The panels share the axis of buffers, which is labelled once.
    (labelled,) = (panel for panel in panels if panel.get_xlabel() == "buffer (packets)")
    labels = [label for label in labelled.get_xticklabels() if label.get_text()]
    assert str(few.limit_packets) in [label.get_text() for label in labels]
    boxes = [label.get_window_extent() for label in labels]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    (above,) = panels[0].child_axes
    assert above.get_xlabel() == "buffer (ms)"
    times = [label.get_text() for label in above.get_xticklabels()]
    assert f"{1e3 * (few.limit_packets or 0) / few.link.capacity_pps:.3g}" in times


def test_the_answer_in_the_picture_is_not_where_a_target_is_missed() -> None:
    """The means are those that the verdicts rest on."""
    found = tr.size(rate="20 Mbit/s", rtt="40 ms", flows=4, target=FULL, duration="10 s")
    assert found.chosen is not None
    assert found.interval is not None
    panel = found.plot().axes[0]
    (curve,) = [line for line in panel.lines if line.get_marker() == "o"]
    at = dict(np.asarray(curve.get_xydata()).tolist())
    assert at[float(found.answer or 0)] >= 95


def test_the_picture_shows_the_shares_of_several_groups() -> None:
    mixed = {**FEW, "flows": "4 cubic, 2 reno", "duration": "6s"}
    figure = asked(mixed, most_loss=None).plot()
    shares = next(panel for panel in figure.axes if "equal share" in panel.get_ylabel())
    labels = shares.get_legend_handles_labels()[1]
    assert {"4 of cubic", "2 of reno"} <= set(labels)
    named = {text.get_text() for text in figure.legends[0].get_texts()}
    assert {"4 of cubic", "2 of reno", "misses a target"} <= named
    assert any(one.startswith("simulation, 95 %") for one in named)
    assert "loss (%)" in [panel.get_ylabel() for panel in figure.axes]


@pytest.mark.parametrize(
    ("link", "most_loss", "bound"),
    [
        ("storage-switch-h0", MOST_LOSS, 0.0),
        ("tcp-switch-h0", MOST_LOSS, MOST_LOSS),
        ("storage-switch-h0", 0.001, 0.001),
    ],
)
def test_a_class_with_pause_frames_may_lose_nothing_unless_it_is_asked_for(
    link: str, most_loss: float, bound: float
) -> None:
    target = "storage.goodput_bps >= 9 Gbit/s"
    vary = f"switches.{link.partition('-')[0]}.queue.limit"
    question = read_question(Scenario.read("lossless"), target, link, most_loss, vary)
    assert question.loss
    assert question.loss.bound == bound
