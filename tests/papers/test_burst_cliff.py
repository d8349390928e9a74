"""The study of the burst cliff: its settings, and what follows from errors of the law."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from tailroom.statistics.intervals import Interval
from tailroom_papers import framework
from tailroom_papers.burst_cliff import PAPER
from tailroom_papers.burst_cliff.law_against_simulation import (
    FITTED_LINKS,
    HELD_OUT_LINKS,
    STUDY,
    judge,
    share_close,
)
from tailroom_papers.burst_cliff.setting import (
    BURST,
    CONTROL,
    CONTROLS,
    LIMIT,
    PACING,
    Link,
    hosts_of,
    rows,
)
from tailroom_papers.framework import Form, PartResults, PointResults, StudyResults
from tailroom_papers.framework.plan import plan_parts


@dataclass(frozen=True)
class Run:
    """A run with a utilization, and the law's prediction of it."""

    utilization: float
    predicted: float
    read: dict[str, float] = field(default_factory=dict)

    def value(self, metric: Any) -> float:
        return self.utilization if metric == "utilization" else self.predicted


def results(errors: Sequence[float], control: str = "reno") -> PartResults:
    """Settings at which the law is off by so much."""
    settings = {
        CONTROL: control,
        PACING: False,
        BURST: 1,
        LIMIT: "0.01 bdp",
        "links.bottleneck.rate": "1 Gbit/s",
        "flows.hosts.count": 10,
    }
    points = [
        PointResults(settings, cast(Any, (Run(0.5, 0.5 + error), Run(0.5, 0.5 + error))))
        for error in errors
    ]
    return PartResults(Form.SMOKE, {STUDY: StudyResults(tuple(points))})


def test_share_counts_errors_of_5_points_to_either_side() -> None:
    assert share_close(results([0.0, 0.04, -0.04, 0.06, -0.2])) == pytest.approx(0.6)


@pytest.mark.parametrize(("far", "holds"), [(0, True), (1, True), (2, False)])
def test_claim_fails_if_two_of_ten_settings_are_far_off(far: int, holds: bool) -> None:
    (check,) = judge("", results([0.2] * far + [0.01] * (10 - far))).checks
    assert check.holds.value is holds


def test_explanation_names_the_setting_with_the_largest_error() -> None:
    text = judge("reno", results([0.01] * 9 + [-0.3])).explanation
    assert "Reno, 1 Gbit/s, 10 flows, bursts of 1, 0.01 bdp: -30 points" in text


def test_no_held_out_link_was_fitted() -> None:
    fitted = {(link.gbps, link.rtt_ms, link.flows) for link in FITTED_LINKS}
    held_out = {(link.gbps, link.rtt_ms, link.flows) for link in HELD_OUT_LINKS}
    assert not fitted & held_out
    assert max(link.gbps for link in HELD_OUT_LINKS) == 100


def test_a_row_per_link_host_and_buffer() -> None:
    hosts = list(hosts_of(CONTROLS, (1, 16)))
    assert len(hosts) == 10
    table = rows([Link(1, 10, 3)], hosts, (0.01, 0.1))
    assert {len(values) for values in table.values()} == {20}
    assert table["flows.hosts.rtt.from"][0] == "9 ms"


def test_a_reno_flow_is_measured_for_five_cycles() -> None:
    """A cycle takes w / 2 round trips: 333 packets, 40 ms, 6.7 s."""
    _, measured_s = Link(1, 40, 10).seconds("reno")
    assert measured_s / (333 / 2 * 0.04) == pytest.approx(5, abs=0.1)


@pytest.mark.parametrize(
    "form", [Form.SMOKE, Form.QUICK, pytest.param(Form.FULL, marks=pytest.mark.slow)]
)
def test_every_scenario_is_valid(form: Form) -> None:
    planned = plan_parts(PAPER, PAPER.parts, form)
    assert sum(len(study.points) for study in planned) > 10


def test_abstract_is_short_and_gives_the_share() -> None:
    assert PAPER.abstract is not None
    text = PAPER.abstract({"held-out": results([0.0, 0.2])})
    assert "50 % of the held-out settings" in text
    assert len(text.split()) <= 150


@pytest.mark.slow
def test_the_smoke_form_has_pictures_verdicts_and_data(tmp_path: Path) -> None:
    done = framework.reproduce(PAPER, tmp_path / "out", form=Form.SMOKE)
    assert len(list(done.directory.glob("*.png"))) == len(done.parts)
    assert framework.recheck(PAPER, done.directory).differences == ()
    (curves,) = [part for part in done.parts if part.part.name == "curves"]
    sides = {check.what: check for _, judgement in curves.judged for check in judgement.checks}
    for control in ("Reno", "HighSpeed", "CUBIC"):
        trains = sides[f"{control}, unpaced, 0.01 BDP"]
        assert isinstance(trains.measured, Interval)
        assert trains.measured.mean < 0.5
