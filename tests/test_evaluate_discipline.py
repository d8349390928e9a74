"""Report cards of queue disciplines: known disciplines get the verdicts that they earn."""

import functools
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import tailroom as tr
from tailroom.scenario.shipped_scenarios import shipped_scenarios
from tailroom.studies.report_card.card import LIMIT
from tailroom.studies.report_card.discipline_criteria import (
    ALSO_MEASURED,
    CARD,
    CRITERIA,
    EXPERIMENTS,
    LEVELS,
    RATE_BPS,
    REFERENCES,
)
from tailroom.studies.report_card.subject import put_into, read_subject
from tailroom.studies.report_card.verdict import Grade
from tests.conftest import Make, Tailroom

STEADY = next(one for one in EXPERIMENTS if one.name == "rfc-7928/steady")


class Tail:
    """Drop tail in Python."""

    def __init__(self, share: float = 1.0) -> None:
        self.share = share

    def on_arrival(self, packet: tr.QueuePacket, queue: tr.QueueState) -> str:
        return "accept"


class Control:
    """A control, to be told from a discipline."""

    def on_ack(self, event: tr.AckEvent) -> float:
        return event.cwnd_packets

    def on_congestion(self, event: tr.CongestionEvent) -> float:
        return event.cwnd_packets / 2


Card = Callable[[object], tr.Evaluation]


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> Card:
    """Quick cards that share the runs of the others."""
    store = tmp_path_factory.mktemp("cards") / "store"

    @functools.cache
    def call(discipline: object) -> tr.Evaluation:
        return tr.evaluate(discipline, quick=True, store=store)  # type: ignore[arg-type]

    return call


@pytest.mark.parametrize(
    ("subject", "rfc"),
    [
        ("codel", 7928),
        ("cubic", 9743),
        ("{ kind = 'pie', target = '20 ms' }", 7928),
        ({"kind": "aimd", "increase": 2.0}, 9743),
        ({"kind": "custom", "discipline": "pi:Pi"}, 7928),
        ({"kind": "custom", "control": "my:Mine"}, 9743),
        (Tail, 7928),
        (functools.partial(Tail, share=0.5), 7928),
        (Control, 9743),
    ],
)
def test_the_card_is_that_of_what_is_tested(subject: object, rfc: int) -> None:
    assert read_subject(subject)[0].rfc == rfc  # type: ignore[arg-type]


def test_classes_are_told_apart_by_their_methods(module: Make, tmp_path: Path) -> None:
    name = module(
        "class Rule:\n    def on_arrival(self, packet, queue):\n        return 'accept'\n"
        "class Law:\n    def on_ack(self, event):\n        return 1.0\n"
        "    def on_congestion(self, event):\n        return 1.0\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        assert read_subject(f"{name}:Rule")[0].rfc == 7928
        assert read_subject(f"{name}:Law")[0].rfc == 9743


def test_a_discipline_gets_the_buffer_of_the_experiment() -> None:
    for given in ("codel", {"kind": "codel", "limit": "3 packets"}, "random_drop", Tail):
        source = put_into(CARD, STEADY, given, {})  # type: ignore[arg-type]
        assert source.resolved["links"]["bottleneck"]["queue"]["limit"] == "1 bdp"


def test_flows_cause_the_losses_of_the_levels_of_the_rfc() -> None:
    """Sec. 8.2.1: drop tail loses 0.1, 0.5 and 1 %; here within a third, over 4 seeds."""
    counts = STEADY.axes["flows.tested.count"]
    assert len(counts) == len(LEVELS)
    for count, level in zip(counts, LEVELS, strict=True):
        swept = tr.sweep(
            STEADY.scenario,  # type: ignore[arg-type]
            grid={"flows.tested.count": [count]},
            seeds=4,
        )
        loss = swept.means("loss_fraction")["mean"].to_pylist()[0]
        assert loss == pytest.approx(level, rel=1 / 3)


def test_criteria_name_sections_of_the_rfc_and_experiments() -> None:
    # Sec. 3.2, 4.5, 5.2, 5.3, 6.2, 7.2 and 8.2.2 to 8.2.6; sec. 2.3 is the loss.
    known = r"2\.3|3\.2|4\.5|5\.[23]|6\.2|7\.2|8\.2\.[2-6](-4)?"
    sections = [part for one in CRITERIA for part in one.section.split(", ")]
    assert all(re.fullmatch(known, section) for section in sections)
    assert {one.experiment for one in CRITERIA} == {one.name for one in EXPERIMENTS}
    assert len({one.name for one in CRITERIA}) == len(CRITERIA)
    files = [name for name in shipped_scenarios() if name.startswith("rfc-7928/")]
    assert files == sorted(one.name for one in EXPERIMENTS)
    for experiment in EXPERIMENTS:
        assert set(experiment.quick) <= set(experiment.axes)
        for key, values in experiment.quick.items():
            assert all(value in experiment.axes[key] for value in values)
        if experiment.name != "rfc-7928/varying_capacity":
            rate = experiment.scenario["links"]["bottleneck"]["rate"]
            assert rate == f"{RATE_BPS / 1e6:g} Mbit/s"


@pytest.mark.slow
def test_drop_tail_fails_on_delay_and_codel_passes_compared_with_itself(card: Card) -> None:
    tail, codel = card("drop_tail"), card("codel")
    # RFC 7567 sec. 1: without active management, full buffers add their delay to every path.
    assert tail["buffer_delay"].verdict is Grade.FAIL
    # RFC 8289 sec. 3: the queue of CoDel does not depend on the size of the buffer.
    assert codel["buffer_delay"].verdict is Grade.PASS
    # Drop tail marks nothing, so flows with ECN lose packets.
    assert tail["ecn_loss"].verdict in {Grade.FAIL, Grade.UNDECIDED}
    assert codel["ecn_loss"].decisive.values["codel"].mean == 0  # type: ignore[union-attr]
    assert tail["buffer_utilization"].verdict is Grade.PASS
    assert codel.compared == ("codel", "pie", "red", "dual_pi2", "drop_tail")


@pytest.mark.slow
def test_a_rule_in_python_has_the_values_of_the_same_rule_built_in(card: Card) -> None:
    own = card(Tail)
    assert own.tested == "Tail"
    assert own.compared == ("Tail", *REFERENCES, *ALSO_MEASURED)
    for found in own.findings:
        for point in found.points:
            assert point.values["Tail"] == point.values["drop_tail"]


@pytest.mark.slow
def test_the_report_names_the_rfc_and_all_that_are_measured(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    out = tmp_path / "card"
    ended = tailroom("evaluate", "random_drop", "--quick", "--seeds", "2", "--out", out, "--json")
    assert (ended.status, ended.errors) == (0, "")
    printed = json.loads(ended.output)
    assert (printed["discipline"], printed["rfc"]) == ("random_drop", 7928)
    values = printed["criteria"][0]["points"][0]["values"]
    assert list(values) == ["random_drop", *REFERENCES, *ALSO_MEASURED]
    report = (out / "report.md").read_text(encoding="utf-8")
    assert "random_drop on the criteria of RFC 7928" in report
    assert all(name in report for name in ALSO_MEASURED)
    assert "9743" not in report
    assert (
        (out / "criteria.csv")
        .read_text()
        .startswith("criterion,section,quantity,point,discipline,")
    )


def test_limits_that_vary_replace_that_of_the_experiment() -> None:
    buffers = next(one for one in EXPERIMENTS if one.name == "rfc-7928/buffers")
    assert list(buffers.axes) == [LIMIT]
    source = put_into(CARD, buffers, "pie", {}).replacing({LIMIT: "4 bdp"})
    assert source.resolved["links"]["bottleneck"]["queue"]["limit"] == "4 bdp"
