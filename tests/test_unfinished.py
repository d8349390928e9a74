"""Queries and flows that have not ended when a run does count with their age."""

import json
import shlex
import sys
from collections.abc import Sequence
from itertools import groupby
from math import ceil, inf
from pathlib import Path
from typing import Any

import pytest

import tailroom as tr
from tailroom.scenario.scenario import Scenario
from tailroom.simulation.lower_bounds import LEGEND, Values, values_of
from tailroom.simulation.metric_intervals import metric_interval
from tailroom.simulation.metrics import metrics_of
from tailroom.statistics.intervals import Interval
from tailroom.statistics.outcome import Outcome
from tailroom.studies.size_study.targets import Target, parse_target
from tests.conftest import Tailroom

HOSTS, DURATION_S = 16, 0.03
UNFINISHED = f"""
duration = "{1000 * DURATION_S:g} ms"
[switches.t]
hosts = {HOSTS}
rate = "25 Gbit/s"
delay = "1 us"
queue = {{ kind = "step_mark", limit = "8 MB", threshold = "65 packets" }}
pool = {{ size = "300 kB", policy = {{ kind = "dynamic_threshold", alpha = 1 }} }}
[flows.q]
from = "t"
to = "t.h0"
host = "data_center"
congestion = "dctcp"
ecn = "accurate"
[flows.q.source]
kind = "incast"
fan_in = {HOSTS - 1}
size = "32 kB"
arrivals_per_second = 1500
flow_log = 10000
"""
UNDEFINED = """
duration = "20 ms"
[switches.tor]
hosts = 8
rate = "25 Gbit/s"
delay = "1 us"
queue = { kind = "step_mark", limit="8 MB", threshold="65 packets" }
pool = { size="4 MB", policy={kind="dynamic_threshold", alpha=0.5}}
reserved = "18 kB"
[flows.x]
from="tor"
count=1
pairs="permutation"
host="data_center"
congestion="dctcp"
ecn="accurate"
start={uniform=["0 s","1 ms"]}
[flows.q]
from="tor"
to="tor.h0"
host="data_center"
congestion="dctcp"
ecn="accurate"
source={kind="incast", fan_in=7, size="64 kB", arrivals_per_second=500}
"""
P99 = "q.coflows.completion_time_s_p99"


@pytest.fixture(scope="module")
def starved() -> tr.Result:
    return tr.run(Scenario.from_toml(UNFINISHED))


def times_and_ages(result: tr.Result) -> tuple[list[float], list[float]]:
    """Completion times of the queries, and ages of the others, by the answers that have ended."""
    assert result.flow_log is not None
    columns = (result.flow_log[name].to_pylist() for name in ("start_s", "completion_time_s"))
    rows = zip(*columns, strict=True)
    by_query = [list(rows) for _, rows in groupby(sorted(rows), key=lambda row: row[0])]
    ended = [answers for answers in by_query if len(answers) == HOSTS - 1]
    left = [answers for answers in by_query if len(answers) < HOSTS - 1]
    return (
        [max(time for _, time in answers) for answers in ended],
        [DURATION_S - answers[0][0] for answers in left],
    )


def percentile(values: Sequence[float], quantile: float) -> float:
    return sorted(values)[ceil(quantile * len(values)) - 1]


def test_the_statistics_of_queries_are_those_of_their_times_and_ages(starved: tr.Result) -> None:
    times, ages = times_and_ages(starved)
    coflows = starved.groups["q"]["coflows"]
    assert coflows is not None
    assert (coflows["completed_coflows"], coflows["unfinished_coflows"]) == (len(times), len(ages))
    assert len(ages) > 0.1 * len(times)
    everything = [*times, *ages]
    for word, quantile in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
        name = f"completion_time_s_{word}"
        value = percentile(everything, quantile)
        assert coflows[name] == pytest.approx(value, rel=2e-3)  # type: ignore[literal-required]
        most = percentile([*times, *[inf] * len(ages)], quantile)
        found = coflows[f"{name}_at_most"]  # type: ignore[literal-required]
        assert found == (None if most == inf else pytest.approx(most, rel=2e-3))
        is_lower_bound = coflows[f"{name}_is_lower_bound"]  # type: ignore[literal-required]
        assert is_lower_bound == (found is None or found > coflows[name])  # type: ignore[literal-required]
    mean = sum(everything) / len(everything)
    assert coflows["completion_time_s_mean"] == pytest.approx(mean)
    assert coflows["completion_time_s_mean_is_lower_bound"]


def test_a_run_says_so_in_its_warnings_table_and_json(
    starved: tr.Result, tailroom: Tailroom, tmp_path: Path
) -> None:
    times, ages = times_and_ages(starved)
    [text] = [one["text"] for one in starved.warnings if one["kind"] == "unfinished"]
    assert f"flows.q: {len(ages)} of {len(times) + len(ages)} queries had not completed" in text
    file = tmp_path / "starved.toml"
    file.write_text(UNFINISHED)
    printed = tailroom("run", file)
    assert LEGEND in printed.output
    coflows = json.loads(tailroom("run", file, "--json").output)["groups"]["q"]["coflows"]
    shown = f"≥ {1000 * coflows['completion_time_s_p99']:.3g}"
    assert shown in printed.output
    assert coflows["completion_time_s_p99_is_lower_bound"] is True


def test_the_row_of_a_run_has_the_bounds_as_numbers(starved: tr.Result) -> None:
    row = metrics_of(starved.summary)
    assert row[f"groups.{P99}_is_lower_bound"] == 1.0
    assert row[f"groups.{P99}_at_most"] is None
    [value] = values_of(f"groups.{P99}", [row])
    assert value == row[f"groups.{P99}"]


def test_a_pool_that_leaves_queries_unanswered_does_not_meet_their_target() -> None:
    target = f"{P99} <= 12 ms"
    answer = tr.size(
        Scenario.from_toml(UNFINISHED),
        target,
        vary="switches.t.pool.size",
        most_loss=None,
        max_seeds=8,
    )
    judged = [one for one in answer.tried if one.verdict is Outcome.YES]
    for one in judged:
        rows = one.point.finished
        begun = [
            row["groups.q.coflows.completed_coflows"] + row["groups.q.coflows.unfinished_coflows"]
            for row in rows
        ]
        left = [row["groups.q.coflows.unfinished_coflows"] for row in rows]
        assert all(few <= 0.01 * all_ for few, all_ in zip(left, begun, strict=True))
    small = [one for one in answer.tried if one.limit < 400_000]
    assert small
    assert all(one.verdict is not Outcome.YES for one in small)
    [found] = [one for one in answer.warnings if one["kind"] == "only_lower_bound"]
    assert found["text"].startswith(f"{target} is not shown to be met at ")
    assert 'set="flows.q.stop=18 ms"' in found["text"]


def test_with_the_stop_that_the_warning_names_every_size_is_judged() -> None:
    """No query begins in the last 12 ms, so that an unanswered one has missed the target."""
    answer = tr.size(
        Scenario.from_toml(UNFINISHED),
        f"{P99} <= 12 ms",
        vary="switches.t.pool.size",
        set={"flows.q.stop": "18 ms"},
        most_loss=None,
        max_seeds=8,
    )
    assert answer.smallest is not None
    assert not [one for one in answer.warnings if one["kind"] == "only_lower_bound"]
    left = [row["groups.q.coflows.unfinished_coflows"] for row in answer.tried[-1].point.finished]
    assert sum(left) == 0


STARVED = ("--vary", "switches.t.queue.limit", "--target", f"{P99} <= 12 ms", "--max-seeds", "4")
"""A question that no limit answers: the memory is what loses the queries."""


def test_what_has_not_ended_leaves_a_target_open_and_every_command_ends_the_arrivals(
    tailroom: Tailroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "starved.toml"
    path.write_text(UNFINISHED)
    asked = ["size", str(path), *STARVED]
    monkeypatch.setattr(sys, "argv", ["tailroom", *asked])
    done = tailroom(*asked)
    assert done.status == 4
    box = " ".join(done.output.replace("│", "").split())
    assert "No tested value is shown to meet every target." in box
    assert "shown to be met by no value" in box
    assert ", since coflows had not ended" in box
    commands = [shlex.split(line) for line in done.output.splitlines() if "tailroom size" in line]
    assert commands[0] == ["tailroom", *asked, "--set", "flows.q.stop=18 ms"]
    assert all("flows.q.stop=18 ms" in command for command in commands)
    # With it, a further command is not needed.
    ended = tailroom(*commands[0][1:])
    assert ended.status in (0, 4)
    assert "had not ended" not in ended.output


def test_an_end_of_the_arrivals_that_is_early_enough_is_not_made_later() -> None:
    asked: dict[str, Any] = {"vary": "switches.t.queue.limit", "max_seeds": 4}
    later, earlier = (
        tr.size(
            Scenario.from_toml(UNFINISHED), f"{P99} <= 12 ms", set={"flows.q.stop": stop}, **asked
        )
        for stop in ("25 ms", "17 ms")
    )
    [door] = [one for one in later.doors if one.kind == "not_ended"]
    assert "end at 18 ms in place of 25 ms" in door.text
    assert not [one for one in earlier.doors if one.kind == "not_ended"]


def test_a_size_with_which_no_query_is_answered_is_a_miss_and_no_failure() -> None:
    answer = tr.size(
        Scenario.from_toml(UNDEFINED),
        f"{P99} <= 1 ms",
        vary="switches.tor.pool.size",
        max_seeds=4,
    )
    empty = [
        one
        for one in answer.tried
        if not any(row["groups.q.coflows.completed_coflows"] for row in one.point.finished)
    ]
    assert all(one.verdict is Outcome.NO for one in empty)


def test_with_time_to_end_the_numbers_are_exact_and_a_size_is_found() -> None:
    """The same queries, of which the last begins 15 ms before the end of the run."""
    long = UNFINISHED.replace('to = "t.h0"', 'to = "t.h0"\nstop = "15 ms"')
    result = tr.run(Scenario.from_toml(long), set={"switches.t.pool.size": "8 MB"})
    coflows = result.groups["q"]["coflows"]
    assert coflows is not None
    assert coflows["unfinished_coflows"] == 0
    assert not coflows["completion_time_s_p99_is_lower_bound"]
    assert coflows["completion_time_s_p99_at_most"] == coflows["completion_time_s_p99"]
    assert not [one for one in result.warnings if one["kind"] == "unfinished"]


def interval(values: Sequence[float], at_most: Sequence[float]) -> Interval:
    return metric_interval(P99, Values(values, at_most))


@pytest.mark.parametrize(
    ("value", "at_most", "below", "above"),
    [
        # Values that end above the bound of 10: it is missed, however large they become.
        (11.0, inf, Outcome.NO, Outcome.YES),
        (11.0, 12.0, Outcome.NO, Outcome.YES),
        # Below it, what they are at most decides.
        (9.0, inf, Outcome.OPEN, Outcome.OPEN),
        (9.0, 12.0, Outcome.OPEN, Outcome.OPEN),
        (9.0, 9.5, Outcome.YES, Outcome.NO),
        (9.0, 9.0, Outcome.YES, Outcome.NO),
    ],
)
def test_a_lower_bound_shows_a_miss_and_shows_nothing_else(
    value: float, at_most: float, below: Outcome, above: Outcome
) -> None:
    values = [value, value + 0.01, value - 0.01, value]
    found = interval(values, [at_most + one - value for one in values])
    assert Target(P99, at_least=False, bound=10.0).outcome(found) is below
    assert Target(P99, at_least=True, bound=10.0).outcome(found) is above


def test_a_mean_with_few_unfinished_counts_their_ages_and_no_more() -> None:
    target = parse_target("web.all_sizes.completion_time_s_mean <= 200 ms")
    metric = "groups.web.all_sizes.completion_time_s_mean"
    row = {
        metric: 0.15,
        f"{metric}_is_lower_bound": 1.0,
        "groups.web.all_sizes.completed_flows": 990.0,
        "groups.web.all_sizes.unfinished_flows": 10.0,
    }
    few, many = row, row | {"groups.web.all_sizes.unfinished_flows": 11.0}
    assert target.outcome(metric_interval(metric, values_of(metric, [few] * 4))) is Outcome.YES
    found = metric_interval(metric, values_of(metric, [few, few, few, many]))
    assert target.outcome(found) is Outcome.OPEN
    assert target.needs_an_end(found)
