"""Alizadeh et al. 2010: its set-up, measures of queries, and what the runs show."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pyarrow as pa
import pytest

import tailroom as tr
from tailroom_papers import framework
from tailroom_papers.dctcp_2010 import PAPER, figure_13, figure_18, queries
from tailroom_papers.dctcp_2010.setup import (
    INCAST,
    LINK,
    POOL,
    QUEUE,
    RESPONSE_BYTES,
    SOURCE,
    Incast,
    hosts,
    port,
)
from tailroom_papers.framework import Form, StoredRun
from tailroom_papers.framework.plan import plan_parts


@dataclass(frozen=True)
class Run:
    """Answers as a flow log has them: start and completion time, in milliseconds."""

    answers: list[tuple[float, float]]
    timeouts: int = 0
    read: dict[str, float] = field(default_factory=dict)

    @property
    def summary(self) -> dict[str, Any]:
        settings = {"settings": {"min_rto": "10 ms"}, "timeouts": self.timeouts}
        return {"groups": {"queries": settings}}

    def table(self, name: str) -> pa.Table:
        assert name == "flow_log"
        starts, times = zip(*self.answers, strict=True)
        seconds = [[1e-3 * value for value in column] for column in (starts, times)]
        return pa.table(dict(zip(("start_s", "completion_time_s"), seconds, strict=True)))


def run(*answers: tuple[float, float], timeouts: int = 0) -> StoredRun:
    return cast(StoredRun, Run(list(answers), timeouts))


def test_a_query_takes_as_long_as_its_last_answer() -> None:
    measured = queries.durations_s(run((0, 8), (0, 8.5), (9, 8), (9, 20)))
    assert measured == pytest.approx([0.0085, 0.020])


def test_a_query_without_all_answers_is_left_out() -> None:
    assert queries.durations_s(run((0, 8), (0, 9), (9, 20))) == pytest.approx([0.009])


def test_a_query_of_10_ms_counts_as_one_with_a_timeout() -> None:
    one = run((0, 8), (0, 10), (11, 8), (11, 8.5), timeouts=1)
    assert queries.with_timeout(one) == pytest.approx(0.5)
    assert queries.mean_s(one) == pytest.approx(0.00925)


@pytest.mark.parametrize(("timeouts", "unexplained"), [(0, 2), (1, 1), (2, 0), (5, 0)])
def test_late_queries_need_timeouts(timeouts: int, unexplained: int) -> None:
    assert queries.unexplained(run((0, 12), (13, 30), (44, 8), timeouts=timeouts)) == unexplained


def test_the_answers_to_a_query_are_1_mb() -> None:
    for case in figure_18.cases(figure_18.SERVERS, ["10 ms"]):
        row = case.row(Form.FULL, figure_18.STATIC)
        size = int(str(row[f"{SOURCE}.size"]).removesuffix(" B"))
        assert size * case.servers == pytest.approx(RESPONSE_BYTES, rel=1e-4)


def test_a_single_busy_port_gets_700_kb() -> None:
    """Equation T = alpha (B - T) of a dynamic threshold, with the paper's numbers."""
    policy = cast(dict[str, Any], POOL["policy"])
    assert policy["alpha"] * (4e6 - 700e3) == pytest.approx(700e3, rel=1e-3)
    row = hosts("reno") | {QUEUE: port("reno"), "switches.tor.pool": POOL}
    flows = {"long": {"from": ["tor.h1", "tor.h2"], "to": "tor.h0"}}
    result = tr.run(INCAST, set={**row, "duration": "0.2 s", "flows": flows})
    assert result.summary["pools"]["tor-switch"]["memory_bytes_max"] == pytest.approx(
        700e3, rel=0.01
    )
    assert result.summary["links"][LINK]["drops_threshold_packets"] > 0


@pytest.mark.parametrize(
    "form", [Form.SMOKE, Form.QUICK, pytest.param(Form.FULL, marks=pytest.mark.slow)]
)
def test_every_scenario_is_valid(form: Form) -> None:
    planned = plan_parts(PAPER, PAPER.parts, form)
    assert sum(len(study.points) for study in planned) > 30


def test_variations_repeat_the_points_that_their_claims_use() -> None:
    (own,) = figure_18.studies(Form.FULL)
    every = set(zip(*(map(str, own.together[key]) for key in Incast("reno", 1).key), strict=True))
    for variation in figure_18.variations(Form.FULL):
        (study,) = variation.studies
        keys = (map(str, study.together[key]) for key in Incast("reno", 1).key)
        assert set(zip(*keys, strict=True)) < every


@pytest.mark.slow
def test_the_smoke_form_has_pictures_verdicts_and_data(tmp_path: Path) -> None:
    done = framework.reproduce(PAPER, tmp_path / "out", form=Form.SMOKE)
    assert len(list(done.directory.glob("*.png"))) == len(done.parts)
    assert framework.recheck(PAPER, done.directory).differences == ()
    results = {part.part.name: part.results for part in done.parts}
    assert PAPER.abstract is not None
    assert 50 < len(PAPER.abstract(results).split()) <= 150
    assert PAPER.abstract({"13": results["13"]}) == ""
    medians = [figure_13.at(results["13"], control, 2) for control in ("dctcp", "reno")]
    dctcp, tcp = (point.mean(figure_13.median_packets) for point in medians)
    assert tcp > 5 * dctcp
