"""What `size` knows grows, verdicts and numbers agree, and no end of a range is an answer."""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from math import ceil
from pathlib import Path

import numpy as np
import pytest

import tailroom as tr
from tailroom.cli.metric_cells import cell
from tailroom.execution.point import Point
from tailroom.execution.runner import Runner
from tailroom.scenario.scenario import Scenario
from tailroom.statistics.outcome import Outcome
from tailroom.studies.size_study.accepted_limits import SmallestLimit
from tailroom.studies.size_study.decision import decide
from tailroom.studies.size_study.known import Evidence, FittedMean, Tried
from tailroom.studies.size_study.question import read_question
from tailroom.studies.size_study.question_search import QuestionSearch
from tailroom.studies.size_study.regression import Crossing
from tailroom.studies.size_study.search import Search
from tailroom.studies.size_study.size_progress import SizeProgress
from tailroom.studies.size_study.targets import parse_target
from tailroom.studies.size_study.varied_key import Varied
from tests.conftest import SMALL, Tailroom

pytestmark = pytest.mark.usefixtures("quick_models")


def random_question(seed: int) -> dict[str, object]:
    """A question that takes seconds: few packets fit, so that the regression often refuses it."""
    random = np.random.default_rng(seed)
    targets = [f"utilization >= {random.integers(80, 99)}%"]
    if random.random() < 0.5:
        targets.append(f"queue_delay_s_p99 <= {random.integers(10, 60)} ms")
    return {
        "rate": f"{random.integers(5, 30)} Mbit/s",
        "rtt": f"{random.integers(10, 60)} ms",
        "flows": int(random.integers(1, 8)),
        "duration": "6 s",
        "max_seeds": 8,
        "target": targets,
    }


@pytest.mark.parametrize("seed", range(12))
def test_what_is_known_never_shrinks(seed: int) -> None:
    told: list[SizeProgress] = []
    found = tr.size(**random_question(seed), progress=told.append)  # type: ignore[arg-type]
    for before, after in pairwise(told):
        assert set(before.met) <= set(after.met)
        assert set(before.missed) <= set(after.missed)
        assert after.high <= before.high
    verdicts = {one.limit: one.verdict for one in found.tried}
    assert all(verdicts[limit] is Outcome.YES for limit in told[-1].met)
    assert all(verdicts[limit] is Outcome.NO for limit in told[-1].missed)
    if found.smallest is not None:
        assert told[-1].high == found.smallest


@pytest.mark.parametrize("seed", range(12))
def test_the_answer_lies_in_its_interval_and_meets_by_the_numbers_next_to_it(seed: int) -> None:
    found = tr.size(**random_question(seed))  # type: ignore[arg-type]
    if found.interval:
        assert found.answer is not None
        assert found.interval.low <= found.interval.estimate <= found.interval.high
        assert found.interval.low <= found.answer <= found.interval.high
    for one in found.tried:
        for target, mean in one.fitted.items():
            assert target.outcome(mean) is one.verdicts[target]


@pytest.fixture
def work() -> Iterator[QuestionSearch]:
    """A search without runs; 40 packets and more give every target with little scatter."""
    question = read_question(Scenario.from_toml(SMALL), ["utilization >= 50%"], None, 0.05, None)
    with Runner.open(None, in_processes=False) as runner:
        yield QuestionSearch(question, runner, 8, 0.06, None)


@pytest.mark.parametrize(
    ("evidence", "verdict"),
    [
        (Evidence.FIRST_RUNS, Outcome.YES),
        (Evidence.RUNS, Outcome.YES),
        (Evidence.FIT, Outcome.OPEN),
    ],
)
def test_what_was_left_open_is_judged_by_all_later_runs(
    work: QuestionSearch, evidence: Evidence, verdict: Outcome
) -> None:
    """What a fit leaves open, the runs of the value alone do not make sufficient."""
    for target in work.all_targets:
        work.known[40].learn(target, Outcome.OPEN, evidence)
    work.simulate({40: 6})
    (tried,) = work.tried
    assert tried.verdict is verdict
    assert work.known.met == ((40,) if verdict is Outcome.YES else ())


def test_what_is_open_on_the_loss_is_looked_at_again(
    work: QuestionSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has as many runs as the other targets needed."""
    begun: list[set[int]] = []
    monkeypatch.setattr(Search, "run_further", lambda self, *_: begun.append({*self.tried}))
    work.search.tried = {one.limit: one for one in work.look([20, 40])}
    (own,), loss = work.question.targets, work.question.loss
    assert loss
    work.known[20].verdicts = {own: Outcome.YES, loss: Outcome.OPEN}
    work.known[20].evidence[loss] = Evidence.FIT
    work.limit_loss()
    assert begun == [{40}]


def test_an_interval_of_whole_steps_holds_the_smallest_whole_value() -> None:
    """A mean that crosses its bound anywhere in (145, 160.3] makes 146 to 161 the smallest."""
    whole = Crossing(150.2, 145.2, 160.3).in_whole_steps(161)
    assert whole == Crossing(151, 146, 161)
    for crossing in np.linspace(145.2, 160.3, 50):
        assert whole.low <= ceil(crossing) <= whole.high


def test_progress_of_a_refused_regression_is_not_taken_back() -> None:
    """It said that 10 packets suffice, then that nothing does, then 23; the answer is 11."""
    told: list[SizeProgress] = []
    question = {"rate": "20 Mbit/s", "rtt": "40 ms", "flows": 4, "target": "utilization >= 95%"}
    found = tr.size(**question, progress=told.append)  # type: ignore[arg-type]
    highs = [one.high for one in told]
    assert highs == sorted(highs, reverse=True)
    assert highs[-1] == found.answer
    assert told[-1].low < found.answer


BEHIND_A_SHAPER = """
duration = "12 s"
measure_from = "3 s"
[defaults]
host = "linux"
[links.down]
rate = "100 Mbit/s"
delay = "2 ms"
queue = { kind = "fq_codel" }
shaper = { rate = "28 Mbit/s", burst = "6 kB" }
[flows.download]
count = 4
congestion = "cubic"
path = ["down"]
rtt = { uniform = ["10 ms", "50 ms"] }
start = { uniform = ["0 s", "1 s"] }
"""


def test_where_all_values_meet_the_answer_is_that_of_the_scenario(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    file = tmp_path / "home.toml"
    file.write_text(BEHIND_A_SHAPER)
    asked: tuple[object, ...] = (
        "size",
        file,
        "--vary",
        "queue.target",
        "--target",
        "utilization >= 20%",
    )
    asked += ("--most-loss", "none")
    asked += ("--max-seeds", 4, "--store", tmp_path / "store")
    said = json.loads(tailroom(*asked, "--json").output)
    assert said["value"] == "5000 us"
    assert said["is_smallest"] is False
    assert said["all_meet"]["scenario_value"] == "5000 us"
    assert "5000 us" in said["choices"]
    # Where nothing is to be found, the first runs of each value and those of the own one suffice.
    runs = [one["runs"] for one in said["tried"] if one["value"] != "5000 us"]
    assert set(runs) == {3}
    ended = tailroom(*asked)
    assert ended.status == 0
    words = re.sub(r"[│\s]+", " ", ended.output)
    assert "meet every target" in words
    assert "leave the scenario's value, 5 ms" in words
    assert "Smallest" not in ended.output
    assert "target 5ms" in ended.output


def test_what_is_printed_is_what_json_says(tailroom: Tailroom, tmp_path: Path) -> None:
    """Every number of the table of choices, the answer and its interval."""
    asked: tuple[object, ...] = ("size", "--rate", "20Mbps", "--rtt", "40ms", "--flows", 4)
    asked += ("--duration", "10s")
    asked += ("--target", "utilization >= 95%", "--max-seeds", 8, "--store", tmp_path / "store")
    said = json.loads(tailroom(*asked, "--json").output)
    printed = tailroom(*asked).output
    assert f"Smallest queue limit: {said['limit']['packets']} packets" in printed
    if interval := said["limit_interval"]:
        low, high = (round(interval[f"{end}_packets"]) for end in ("low", "high"))
        assert f"95 % interval {low} to {high} packets" in printed or low == high
        assert low <= said["limit"]["packets"] <= high
    for tried in said["tried"]:
        if tried["limit_packets"] not in said["choices"]:
            continue
        for name, value in tried.items():
            if name.startswith(("links.", "flows.")):
                by = FittedMean.of(value["mean"], value["low"], value["high"], 0)
                assert cell(name, by).split("\n")[0] in printed


SHARED = """
duration = "0.5 s"
measure_from = "0.1 s"
[pools.asic]
size = "100 kB"
policy = { kind = "dynamic_threshold", alpha = 1.0 }
[links.port]
rate = "1 Gbit/s"
delay = "5 us"
pool = "asic"
queue = { kind = "drop_tail", limit = "1 MB" }
[flows.long]
count = 8
path = ["port"]
congestion = "cubic"
rtt = { uniform = ["1 ms", "2 ms"] }
"""
TWO_FLOWS = ("--rate", "10Mbps", "--rtt", "20ms", "--flows", 2)
README = ("--rate", "20Mbps", "--rtt", "40ms", "--flows", 10, "--duration", "20s")
CODEL = ("first", "--set", "links.bottleneck.queue=codel", "--vary", "queue.target")


@pytest.mark.parametrize(
    "asked",
    [
        (*README, "utilization >= 98%", "queue_delay_s_p99 <= 60ms", "--most-loss", "none"),
        (*TWO_FLOWS, "utilization >= 90%"),
        (*TWO_FLOWS, "utilization >= 95%"),
        (*TWO_FLOWS, "utilization >= 99%"),
        (*CODEL, "utilization >= 95%"),
        ("shared.toml", "--vary", "pools.asic.size", "port.utilization >= 90%"),
        ("shared.toml", "--vary", "pools.asic.policy.alpha", "port.utilization >= 90%"),
    ],
    ids=["readme", "90", "95", "99", "target delay", "pool", "alpha"],
)
def test_usual_questions_have_about_25_lines_that_fit_80_columns(
    tailroom: Tailroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: tuple[object, ...]
) -> None:
    """The first is a smaller question of the form of the README's."""
    monkeypatch.chdir(tmp_path)
    Path("shared.toml").write_text(SHARED, encoding="utf-8")
    words = [word for one in asked for word in (["--target", one] if " " in str(one) else [one])]
    lines = tailroom("size", *words, "--max-seeds", 8).output.splitlines()
    # Sentences of a file or a pipe are one line, which can be searched.
    sentences = ("warning:", "next:", "  tailroom", "tc", "    tc ")
    table = [line for line in lines if not line.startswith(sentences)]
    assert len(lines) <= 26 + 1, "\n".join(lines)  # a warning
    assert all(len(line) <= 80 for line in table), "\n".join(table)
    assert sum(line.startswith("What each choice costs") for line in lines) == 1


TWO_PORTS = """
duration = "20 ms"
[pools.asic]
size = "16 MB"
policy = { kind = "dynamic_threshold", alpha = 1 }
[links.a]
rate = "25 Gbit/s"
delay = "1 us"
queue = { kind = "wred", limit = "8 MB", k_min = "100 kB", k_max = "400 kB", p_max = 0.2 }
pool = "asic"
[links.b]
rate = "25 Gbit/s"
delay = "1 us"
queue = "drop_tail"
pool = "asic"
[defaults]
host = "data_center"
[flows.x]
count = 4
path = ["a"]
congestion = "dctcp"
ecn = "accurate"
rtt = "20 us"
access_rate = "25 Gbit/s"
start = { uniform = ["0 s", "1 ms"] }
[flows.y]
count = 4
path = ["b"]
congestion = "cubic"
rtt = "20 us"
access_rate = "25 Gbit/s"
start = { uniform = ["0 s", "1 ms"] }
"""


def test_an_answer_without_an_interval_says_on_which_side_the_means_are() -> None:
    """Means of all limits are above the bound, and those of the smaller ones scatter."""
    scenario = tr.Scenario.from_toml(TWO_PORTS)
    found = tr.size(scenario, "utilization >= 98%", link="a", max_seeds=6)
    assert found.answer
    assert found.too_small == 0
    assert found.why_no_regression == "every value tested for it meets all targets in the mean"


def test_choices_for_which_a_table_has_no_room_are_explained(tailroom: Tailroom) -> None:
    short = ("--duration", "5 s", "--max-seeds", 8)
    asked = ("size", *TWO_FLOWS, "--target", "utilization >= 90%", *short)
    said = json.loads(tailroom(*asked, "--json").output)
    assert len(said["choices"]) == 4
    half = f"{said['choices'][1]} packets"
    assert half not in tailroom(*asked).output
    assert half in tailroom(*asked, "--explain").output


@pytest.mark.parametrize(
    ("verdicts", "own", "answer"),
    [
        # One value between, of which the runs do not decide, is no reason to leave the own value.
        ("YES OPEN YES YES", 40, 40),
        ("YES YES OPEN YES", 30, 20),
        ("YES OPEN YES NO", 40, 30),
    ],
)
def test_a_value_that_is_open_does_not_hide_the_own_value(
    verdicts: str, own: int, answer: int
) -> None:
    target = parse_target("utilization >= 90%")
    source = tr.Scenario.read("first")
    tried = [
        Tried(10 * at, Point.of(source, {}), {target: Outcome[verdict]})
        for at, verdict in enumerate(verdicts.split(), 1)
    ]
    varied = Varied("links.bottleneck.queue.target", is_limit=False)
    question = replace(read_question(source, [target], None, None, None), varied=varied, value=own)
    found = decide(question, tried, SmallestLimit(10, "10 ns"))
    assert found.everything
    assert found.answer == answer


def test_the_smallest_value_that_is_accepted_is_no_reason_to_leave_the_own_value() -> None:
    target = parse_target("utilization >= 90%")
    source = tr.Scenario.read("first")
    tried = [
        Tried(limit, Point.of(source, {}), {target: Outcome.YES}) for limit in (1500, 6000, 24_000)
    ]
    key = "links.bottleneck.shaper.burst"
    question = replace(
        read_question(source, [target], None, None, None),
        varied=Varied(key, "size", is_limit=False),
        value=6000,
    )
    found = decide(question, tried, SmallestLimit(1500, "1,500 B", "a packet must pass"))
    assert found.everything
    assert found.answer == 6000


def test_a_port_without_packets_in_a_run_does_not_end_the_search(tmp_path: Path) -> None:
    """It has no delay to show; what decides is another link."""
    scenario = tmp_path / "idle.toml"
    scenario.write_text(
        'duration = "3 s"\nmeasure_from = "1 s"\n'
        '[links.busy]\nrate = "5 Mbit/s"\ndelay = "5 ms"\n'
        'queue = { kind = "drop_tail", limit = "20 packets" }\n'
        '[links.idle]\nrate = "5 Mbit/s"\ndelay = "5 ms"\n'
        'queue = "codel"\n'
        '[flows.long]\ncount = 2\npath = ["busy"]\ncongestion = "reno"\n'
        '[flows.early]\npath = ["idle"]\nsource = { kind = "cbr", rate = "1 Mbit/s" }\n'
        'stop = "0.5 s"\n',
        encoding="utf-8",
    )
    key = "links.idle.queue.target"
    found = tr.size(scenario, "busy.utilization >= 50%", link="idle", vary=key, max_seeds=4)
    assert found.answer is not None
    assert not [name for name in found.shown_metrics if name.startswith("links.idle.queue_delay")]
    assert found.as_dict()["metrics"]["links.idle.loss_fraction"]["mean"] == 0
