"""The smallest buffer: answers that are known, targets that conflict, and questions gone wrong."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import tailroom as tr
from tailroom.cli.size_report import show
from tailroom.cli.where_met import where_met
from tailroom.models.bottleneck import Bottleneck
from tailroom.scenario import types
from tailroom.scenario.scenario import Scenario
from tailroom.statistics.intervals import Interval
from tailroom.statistics.outcome import Outcome
from tailroom.studies.size_study.known import Tried
from tailroom.studies.size_study.search import feasible_limits
from tailroom.studies.size_study.targets import Target, parse_target
from tailroom.studies.size_study.varied_key import SOME_LIMIT, Varied
from tests.conftest import Printed, Tailroom
from tests.killed_sweeps import RANDOM_START

pytestmark = pytest.mark.usefixtures("quick_models")

FULL = "utilization >= 0.98"


def alone(
    rate: str, rtt_ms: float, duration: str, measure_from: str, **flow: Any
) -> types.Scenario:
    """One flow on a link that is otherwise empty."""
    return {
        "duration": duration,
        "measure_from": measure_from,
        "defaults": {"host": "plain"},
        "links": {
            "bottleneck": {
                "rate": rate,
                "delay": f"{rtt_ms / 4} ms",
                "queue": {"kind": "drop_tail", "limit": "20 packets"},
            }
        },
        "flows": {
            "one": {
                "path": ["bottleneck"],
                "packet_size": "1500 B",
                "rtt": f"{rtt_ms} ms",
                **flow,  # type: ignore[typeddict-item]
            }
        },
    }


def sawtooth_buffer(after: float) -> float:
    """Where a sawtooth from `after` (1 + b) to 1 + b, in BDP, has a mean utilization of 98 %.

    Reno grows by a packet an RTT, Scalable by a share of the window, and RTTs last as long as the
    window beyond 1: see below. Solved by halving.
    """
    low, high = 0.0, 1.0 / after - 1
    for _ in range(60):
        middle = (low + high) / 2
        used = reno_use(middle) if after == 0.5 else scalable_use(middle)
        low, high = (middle, high) if used < 0.98 else (low, middle)
    return low


def reno_use(b: float) -> float:
    """W rises by 1 in RTTs of max(1, W): sent is the integral of W, time that of max(1, W)."""
    top, bottom = 1 + b, (1 + b) / 2
    return (top**2 - bottom**2) / 2 / (1 - bottom + (top**2 - 1) / 2)


def scalable_use(b: float) -> float:
    """W rises by a share of W in RTTs of max(1, W): by W below 1, by 1 a base RTT above.

    By the midpoint rule, so that it does not rest on the closed form.
    """
    top, bottom = 1 + b, 0.875 * (1 + b)
    steps = 2000
    sent = time = 0.0
    for step in range(steps):
        window = bottom + (step + 0.5) * (top - bottom) / steps
        span = max(1.0, window) / window
        time, sent = time + span, sent + span * min(1.0, window)
    return sent / time


def test_the_sawtooths_give_the_published_buffers() -> None:
    assert sawtooth_buffer(0.5) == pytest.approx(0.603, abs=5e-4)
    assert sawtooth_buffer(0.875) == pytest.approx(0.061, abs=5e-4)


def test_reno_alone_needs_six_tenths_of_a_bdp() -> None:
    """A cycle takes about 160 RTTs of up to 32 ms, so some 14 are measured."""
    found = tr.size(alone("120 Mbit/s", 20, "75 s", "15 s", congestion="reno"), [FULL])
    assert found.link.bdp_packets == 200
    assert found.limit_packets == pytest.approx(0.603 * 200, rel=0.05)
    # From the smallest that suffices on, all that were tried do.
    assert [one.verdict for one in found.tried] == [
        Outcome(one.limit >= (found.limit_packets or 0)) for one in found.tried
    ]
    assert found.feasible[0].high == float("inf")
    assert found.conflicts == []


@pytest.mark.slow
def test_scalable_alone_needs_six_hundredths_of_a_bdp() -> None:
    """With a tenth of Kelly's increase, on which the sawtooth's answer does not depend.

    At 0.01 a cycle takes 13 RTTs. Two more go by between the first drop and the end of recovery, in
    which the window stays: then 0.069 BDP are needed.
    """
    control = {"kind": "scalable", "increase": 0.001}
    # Into the sawtooth without the losses of slow start: it would take seconds to grow back.
    start = {"slow_start": {"kind": "limited", "max_ssthresh": 50}, "initial_ssthresh": 930}
    scenario = alone("1200 Mbit/s", 10, "11 s", "3 s", congestion=control, **start)
    found = tr.size(scenario, [FULL], precision=0.01)
    assert found.link.bdp_packets == 1000
    assert found.limit_packets == pytest.approx(0.061 * 1000, rel=0.05)


def loss_of_a_queue(places: int, rho: float) -> float:
    """M/M/1/K, by the recursion of Erlang's kind: B_K = rho B_(K-1) / (1 + rho B_(K-1))."""
    blocked = 1.0
    for _ in range(places):
        blocked = rho * blocked / (1 + rho * blocked)
    return blocked


@pytest.mark.parametrize(("load", "places"), [(0.8, 9), (1.1, 4)])
def test_a_target_of_loss_at_a_queue_is_met_to_a_packet(load: float, places: int) -> None:
    # Sizes are rounded up by half a byte in 5,000.
    just, short = (loss_of_a_queue(one, 1.0001 * load) for one in (places, places - 1))
    scenario = alone(
        "40 Mbit/s",
        1,
        "41 s",
        "1 s",
        source={"kind": "poisson", "rate": f"{40 * load} Mbit/s", "sizes": "exponential"},
        packet_size="5000 B",
    )
    # Nothing reacts to the RTT, so there is no bdp.
    scenario["links"]["bottleneck"]["queue"] = {"kind": "drop_tail", "limit": "100 packets"}
    found = tr.size(scenario, [f"loss_fraction <= {(just + short) / 2}"])
    # The limit leaves out the packet in service.
    assert found.limit_packets == places - 1
    assert found.chosen is not None
    assert (
        found.chosen.interval("loss_fraction").low
        < just
        < found.chosen.interval("loss_fraction").high
    )


FEW = {"count": 4, "rtt": {"uniform": ["15 ms", "25 ms"]}, "start": {"uniform": ["0 s", "1 s"]}}
QUICK = "queue_delay_s_p99 <= 0.002 s"
SLOW = "queue_delay_s_mean >= 0.006 s"


@pytest.fixture
def few() -> types.Scenario:
    """Four Reno flows; 2 ms are 3 packets, 6 ms 10 packets."""
    return alone("20 Mbit/s", 20, "20 s", "5 s", congestion="reno", **FEW)


def names(conflicts: list[tuple[Target, Target]]) -> list[tuple[str, str]]:
    return [(str(one), str(other)) for one, other in conflicts]


def test_two_targets_that_no_buffer_meets_conflict(few: types.Scenario) -> None:
    found = tr.size(few, [FULL, QUICK], max_seeds=8)
    assert found.limit_packets is None
    assert found.chosen is None
    assert names(found.conflicts) == [(FULL, QUICK)]
    full, quick = found.feasible
    assert (full.high, quick.low) == (float("inf"), 0)
    # A packet takes 0.6 ms: 2 ms are 3.3.
    assert quick.high in (2, 3)
    assert quick.high < full.low < 30


def test_targets_do_not_conflict_where_the_runs_leave_both_open(few: types.Scenario) -> None:
    found = tr.size(few, [FULL, QUICK], max_seeds=8)
    kept = {Outcome.YES: Outcome.YES, Outcome.NO: Outcome.OPEN, Outcome.OPEN: Outcome.OPEN}
    tried = tuple(
        replace(one, verdicts={target: kept[met] for target, met in one.verdicts.items()})
        for one in found.tried
    )
    undecided = replace(found, tried=tried)
    assert undecided.conflicts == []
    assert "no buffer of link bottleneck that was tried is shown to meet" in undecided.sentence
    assert undecided.answer_text == "open"


def test_an_answer_below_which_nothing_is_known_is_not_called_the_smallest(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The largest limit is the same queue as the one before it; which of them meets is chance."""
    window = alone("20 Mbit/s", 20, "5 s", "1 s", congestion="cubic", max_window=40)
    found = tr.size(window, [FULL], max_seeds=4)
    assert found.smallest == found.answer
    limits = [one.limit for one in found.tried]
    chance = replace(found, answer=limits[-1], too_small=0, interval=None)
    assert chance.smallest is None
    assert chance.as_dict()["is_smallest"] is False
    assert "no value is known to be too small" in chance.sentence
    assert chance.answer_text == f"≤ {limits[-1]} packets"
    show(chance, Console(highlight=False, width=80))
    printed = " ".join(capsys.readouterr().out.replace("│", "").split())
    assert f"A queue limit that meets every target: {limits[-1]} packets" in printed
    assert "No value is known to be too small: " in printed
    assert f"to {limits[-1]} packets are the same queue, which no packet finds full" in printed


def test_three_targets_conflict_in_pairs(few: types.Scenario) -> None:
    found = tr.size(few, [FULL, QUICK, SLOW], max_seeds=8)
    assert names(found.conflicts) == [(FULL, QUICK), (QUICK, SLOW)]
    assert found.limit_packets is None


def test_a_target_that_is_met_nowhere_conflicts_with_none(few: types.Scenario) -> None:
    impossible = "queue_delay_s_mean >= 100 s"
    found = tr.size(few, [impossible, QUICK], max_seeds=4)
    assert found.limit_packets is None
    assert found.conflicts == []
    nowhere, quick = found.feasible
    assert nowhere.low == float("inf")
    assert quick.low == 0


def test_targets_that_some_buffers_meet_together(few: types.Scenario) -> None:
    """From below by the utilization, from above by the delay."""
    targets = ["utilization >= 0.9", "queue_delay_s_p99 <= 12 ms"]
    found = tr.size(few, targets, max_seeds=8, most_loss=None)
    assert found.limit_packets is not None
    used, delay = found.feasible
    assert used.low <= found.limit_packets <= delay.high < 30
    smaller = [one for one in found.tried if one.limit < found.limit_packets]
    assert all(one.verdict is not Outcome.YES for one in smaller)
    assert max(one.limit for one in smaller) == found.limit_packets - 1


LINK = Bottleneck("b", 10e6, "drop_tail", {}, {"limit": 4.0}, 1500)
"""A packet takes 1.2 ms."""


def fabricated(verdicts: list[bool | None]) -> tuple[Target, tuple[Tried, ...]]:
    """Buffers of 1, 2, ... packets with these verdicts on one target."""
    return of_target(parse_target(FULL), verdicts)


def of_target(target: Target, verdicts: list[bool | None]) -> tuple[Target, tuple[Tried, ...]]:
    """The same for any target."""
    point: Any = None
    return target, tuple(
        Tried(place, point, {target: Outcome(met)}) for place, met in enumerate(verdicts, start=1)
    )


@pytest.mark.parametrize(
    ("verdicts", "low", "high", "is_one"),
    [
        ([False, True, True], 2, float("inf"), True),
        ([True, True, False], 0, 2, True),
        ([False, True, False], 2, 2, True),
        ([False, True, None, True, False], 2, 4, True),
        ([False, True, False, True, False], 2, 4, False),
        ([False, None, False], float("inf"), float("inf"), True),
    ],
)
def test_where_a_target_is_met(
    verdicts: list[bool | None], low: float, high: float, is_one: bool
) -> None:
    target, tried = fabricated(verdicts)
    found = feasible_limits(target, tried, LINK)
    assert (found.low, found.high, found.is_one_interval) == (low, high, is_one)


@pytest.mark.parametrize(
    ("target", "discipline", "high"),
    [
        # 12 ms are ten packets, although only limits up to 3 were tested.
        ("queue_delay_s_p99 <= 12 ms", "drop_tail", 10),
        ("b.queue_delay_s_mean <= 12 ms", "drop_tail", 10),
        # The mean stays below the bound at a limit beyond.
        ("queue_delay_s_mean <= 1.2 ms", "drop_tail", 2),
        # Under a scheduler, a packet may wait for packets that came later.
        ("queue_delay_s_p99 <= 12 ms", "fair", 2),
        ("other.queue_delay_s_p99 <= 12 ms", "drop_tail", 2),
        ("groups.b.queue_delay_s_p99 <= 12 ms", "drop_tail", 2),
    ],
)
def test_a_delay_behind_tail_drop_is_met_up_to_the_limit_over_the_rate(
    target: str, discipline: str, high: float
) -> None:
    parsed, tried = of_target(parse_target(target), [True, True, None])
    found = feasible_limits(parsed, tried, replace(LINK, discipline=discipline))
    assert (found.low, found.high) == (0, high)


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        ([False, False], "met by no limit from 1 to 2 packets"),
        ([False, True, False], "met at 2 packets alone"),
        ([None, True, None], "met at 2 packets alone; open at 2 of 3"),
        ([None, True, True], "met from 2 packets upwards; open at 1 of 3"),
        ([False, None, True], "met from 3 packets upwards"),
        ([True, True, None], "met from the smallest tested limit to 2 packets; open at 1 of 3"),
    ],
)
def test_what_no_value_misses_is_not_called_missed(verdicts: list[bool | None], words: str) -> None:
    target, tried = fabricated(verdicts)
    answer: Any = type("Answer", (), {"tried": tried, "varied": SOME_LIMIT})
    assert where_met(feasible_limits(target, tried, LINK), answer) == words


def test_alphas_that_meet_a_target_are_named_one_by_one() -> None:
    target, tried = fabricated([False, True, None, True])
    answer: Any = type("Answer", (), {"tried": tried, "varied": Varied("alpha", is_alpha=True)})
    assert where_met(feasible_limits(target, tried, LINK), answer) == "met by 1/64, 1/32"


def test_what_is_not_monotone_is_said() -> None:
    target, tried = fabricated([False, True, False, True, False])
    answer: Any = type("Answer", (), {"tried": tried, "varied": SOME_LIMIT})
    text = where_met(feasible_limits(target, tried, LINK), answer)
    assert text == "met from 2 to 4 packets, but not at every limit between (not monotone)"


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.98, 1.0, True), (0.97, 0.99, None), (0.9, 0.98, None), (0.9, 0.97, False)],
)
def test_a_verdict_needs_the_whole_interval(low: float, high: float, verdict: bool | None) -> None:
    interval = Interval((low + high) / 2, (high - low) / 2, 10)
    # Exact ends: 0.99 +- 0.01 is 0.98 but for rounding.
    assert parse_target("utilization >= 0.9799999999").outcome(interval) is Outcome(verdict)
    mirrored = Interval(-interval.mean, interval.half_width, 10)
    below = Target("utilization", at_least=False, bound=-0.9799999999)
    assert below.outcome(mirrored) is Outcome(verdict)


def test_models_that_require_no_buffer_and_take_a_second_are_not_asked(tmp_path: Path) -> None:
    """With every model in the registry, of which this file leaves out two."""
    text = (
        "import sys, tailroom as tr; "
        "found = tr.size(rate='10M', rtt='20ms', congestion='reno', duration='3s', max_seeds=4, "
        "target='utilization >= 50%'); print(*found.as_dict()['models'])"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", text],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    asked = done.stdout.split()
    assert "fluid" not in asked
    assert {"partial_synchronization", "burst_cliff", "rule_of_thumb"} <= set(asked)


def test_asking_again_runs_nothing(few: types.Scenario, tmp_path: Path) -> None:
    told: list[int] = []
    options: dict[str, Any] = {
        "store": tmp_path / "store",
        "max_seeds": 4,
        "progress": lambda state: told.append(state.done),
    }
    first = tr.size(few, ["utilization >= 0.95"], **options)
    assert told[-1] == len(tr.Store(tmp_path / "store").runs())
    told.clear()
    second = tr.size(few, ["utilization >= 0.95"], **options)
    assert set(told) == {0}
    assert second.limit_packets == first.limit_packets
    assert [one.limit for one in second.tried] == [one.limit for one in first.tried]
    # It is told whatever the number of workers.
    alone_ = tr.size(few, ["utilization >= 0.95"], max_seeds=4, workers=1)
    assert alone_.limit_packets == first.limit_packets


def test_the_answer_holds_in_runs_with_other_seeds(few: types.Scenario) -> None:
    found = tr.size(few, ["utilization >= 0.95"], max_seeds=16)
    key = "links.bottleneck.queue.limit"
    used = [
        tr.run(few, seed=seed, set={key: f"{found.limit_packets} packets"}).links["bottleneck"]
        for seed in range(101, 121)
    ]
    mean = sum(link["utilization"] for link in used) / len(used)
    assert mean >= 0.945


QUESTION = ("size", "--rate", "10Mbps", "--rtt", "20ms", "--duration", "5s")


def test_the_question_without_a_file(tailroom: Tailroom, tmp_path: Path) -> None:
    numbers = ("--flows", 3, "--congestion", "reno", "--max-seeds", 8)
    asked = (*QUESTION, *numbers, "--target", "utilization >= 0.9", "--most-loss", "none")
    picture = tmp_path / "size.png"
    ended = tailroom(*asked, "--json", "--out", picture, "--store", tmp_path / "store")
    assert ended.status == 0
    answer = json.loads(ended.output)
    packets = answer["limit"]["packets"]
    assert 1 <= packets <= 10
    assert answer["limit"]["bytes"] == 1500 * packets
    # 1,500 bytes at 10 Mbit/s.
    assert answer["limit"]["s"] == pytest.approx(1.2e-3 * packets)
    assert answer["metrics"]["utilization"]["mean"] >= 0.9
    assert answer["targets"] == ["utilization >= 0.9"]
    assert answer["feasible"][0]["target"] == "utilization >= 0.9"
    assert answer["feasible"][0]["from_packets"] == packets
    assert f"pfifo limit {packets}" in answer["equivalents"]["tc"]["text"]
    assert picture.read_bytes().startswith(b"\x89PNG")
    shown = tailroom(*asked, "--store", tmp_path / "store")
    # The answer is the first thing on the screen, in a box.
    assert shown.output.startswith("╭")
    assert f"│ Smallest queue limit: {packets} packets = " in shown.output
    assert f"tc qdisc replace dev DEV root pfifo limit {packets}\n" in shown.output
    assert "--explain" in shown.output
    for detail in ("Tested buffers", "mm-link", "met from", "Phase check:"):
        assert detail not in shown.output
    before, _, box = tailroom(*asked, "--store", tmp_path / "store", "--explain").output.partition(
        "╭"
    )
    assert "Tested buffers" in before
    assert "Phase check:" in before
    assert "\n│ utilization >= 0.9: met from " in box
    assert "mm-link" in box
    assert "--config sonic" in box
    told = tailroom(*asked, "--store", tmp_path / "store", "--config", "iosxr").output
    device = answer["devices"]["iosxr"]
    assert "not tried on a device" in device["purpose"]
    assert f"{device['purpose']}:\n    " + device["text"].replace("\n", "\n    ") + "\n" in told


def test_the_interval_is_in_the_json(tailroom: Tailroom, tmp_path: Path) -> None:
    """M/M/1/K at a load of 0.8: 9 places, one of them in transmission, lose less than 3.4 %."""
    source = {"kind": "poisson", "rate": "32 Mbit/s", "sizes": "exponential"}
    scenario = alone("40 Mbit/s", 1, "27 s", "1 s", source=source, packet_size="5000 B")
    scenario["links"]["bottleneck"]["queue"] = {"kind": "drop_tail", "limit": "100 packets"}
    path = tmp_path / "queue.toml"
    path.write_text(Scenario.of(scenario).to_toml())
    target = "loss_fraction <= 3.4%"
    answer = json.loads(tailroom("size", path, "--target", target, "--json").output)
    assert loss_of_a_queue(9, 0.8) < 0.034 < loss_of_a_queue(8, 0.8)
    assert answer["limit"]["packets"] == 8
    interval = answer["limit_interval"]
    assert answer["why_no_regression"] is None
    low, middle, high = (interval[f"{name}_packets"] for name in ("low", "estimate", "high"))
    # The answer is the upper end of the interval, of whole packets.
    assert 0 < low <= middle <= high == 8


def test_a_search_that_the_regression_refuses_has_no_interval_but_a_reason(
    tailroom: Tailroom,
) -> None:
    """Every run of a single flow without jitter is the same."""
    asked = ("--flows", 1, "--max-seeds", 4, "--target", FULL, "--most-loss", "none")
    answer = json.loads(tailroom(*QUESTION, *asked, "--json").output)
    assert answer["limit_interval"] is None
    assert answer["limit"]["packets"] > 0
    assert answer["why_no_regression"]


def test_a_conflict_is_shown(tailroom: Tailroom) -> None:
    targets = ("--target", "utilization >= 0.99", "--target", "queue_delay_s_p99 <= 2.5 ms")
    ended = tailroom(*QUESTION, "--congestion", "reno", "--max-seeds", 4, *targets)
    assert ended.status == 4
    assert "No tested buffer meets every target." in ended.output
    assert "utilization >= 0.99 and queue_delay_s_p99 <= 2.5 ms conflict" in ended.output


def test_what_stays_open_is_explained(tailroom: Tailroom) -> None:
    flows = ("--flows", 3, "--congestion", "reno", "--max-seeds", 4)
    for target, is_open in (("utilization >= 0.8", True), ("queue_delay_s_p99 <= 1 s", False)):
        asked = ("--target", target, "--most-loss", "none", "--explain")
        ended = tailroom(*QUESTION, *flows, *asked)
        assert ended.status == 0, ended.errors
        assert ("raise --max-seeds" in ended.output) is is_open


@pytest.mark.slow
def test_a_loss_that_the_runs_are_too_short_for_is_said(tailroom: Tailroom) -> None:
    # 4 runs of 3.5 s at 833 packets a second: 1 in 3,900 could go unseen.
    for bound, is_certain in ((1e-3, True), (1e-5, False)):
        asked = ("--target", f"loss_fraction <= {bound}", "--set", "flows.flows.max_window=10")
        ended = tailroom(*QUESTION, "--congestion", "reno", *asked)
        assert ended.status == 0, ended.errors
        assert ("is not certain: the runs have only" in ended.output) is not is_certain


def test_wrong_questions_touch_nothing(refused: Printed) -> None:
    refused("size")


def test_the_link_is_chosen_where_there_are_several(small: Path, tailroom: Tailroom) -> None:
    second = (
        '\n[links.access]\nrate = "100 Mbit/s"\ndelay = "0 s"\n'
        'queue = { kind = "drop_tail", limit = "100 packets" }\n'
    )
    text = small.read_text(encoding="utf-8") + RANDOM_START + second
    text = text.replace('path = ["bottleneck"]', 'path = ["access", "bottleneck"]')
    small.write_text(text, encoding="utf-8")
    ended = tailroom("size", small, "--target", "utilization >= 0.9")
    assert ended.status == 2
    assert "utilization: several metrics have this name; choose one of " in ended.errors
    ended = tailroom("size", small, "--target", "bottleneck.utilization >= 0.9", "--max-seeds", 4)
    assert ended.status == 0
    assert "│ Link bottleneck: " in ended.output


@pytest.mark.parametrize(
    "targets",
    [
        ["utilization >= 0.85"],
        # They conflict: no buffer meets both.
        ["utilization >= 0.99", "queue_delay_s_p99 <= 2.5 ms"],
    ],
)
def test_assumptions_of_models_are_checked_at_the_limit_of_the_answer(
    small: Path, targets: list[str]
) -> None:
    """The scenario's own limit, 2,000 packets, has nothing to do with the answer."""
    large = {"links.bottleneck.queue.limit": "2000 packets"}
    answer = tr.size(small, targets, set=large, max_seeds=4, precision=0.5)
    limit = answer.limit_packets or answer.tried[-1].limit
    assert answer.predictions.link.limit_packets == limit
    [stability] = [each for each in answer.predictions.answers if each.model.name == "stability"]
    [is_small] = [each for each in stability.assumptions if "at most 100" in each.statement]
    assert is_small.holds == (limit <= 100)
    assert "2000" not in is_small.found


def test_buffers_share_no_seeds(small: Path) -> None:
    """Runs with common seeds are not independent, as the regression takes them to be."""
    text = small.read_text(encoding="utf-8") + RANDOM_START
    found = tr.size(Scenario.from_toml(text), "utilization >= 90%", max_seeds=4)
    seeds = [row["seed"] for tried in found.tried for row in tried.point.finished]
    assert len(found.tried) > 2
    assert len(set(seeds)) == len(seeds)
