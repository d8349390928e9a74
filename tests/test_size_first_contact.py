"""What a new user meets in `size`: targets with units, the right link, and answers that explain."""

import json
import re
import subprocess
import sys
import time
from io import StringIO
from math import inf
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import tailroom as tr
from tailroom.cli import progress
from tailroom.cli.where_met import where_met
from tailroom.errors import TargetError
from tailroom.scenario.dumbbell import dumbbell, read_flows, read_rtts
from tailroom.studies.size_study.search import Feasible
from tailroom.studies.size_study.size_progress import SizeProgress
from tailroom.studies.size_study.targets import parse_target
from tailroom.studies.sweep_study.plan import parse_precision
from tests.conftest import Printed, Tailroom

pytestmark = pytest.mark.usefixtures("quick_models")

FULL = "utilization >= 90%"
QUESTION = ("size", "--rate", "10Mbps", "--rtt", "20ms", "--duration", "5s", "--max-seeds", 8)

TWO_LINKS = """\
duration = "4 s"
measure_from = "1 s"

[links.access]
rate = "100 Mbit/s"
delay = "1 ms"
queue = { kind = "drop_tail", limit = "100 packets" }

[links.core]
rate = "10 Mbit/s"
delay = "5 ms"
queue = { kind = "drop_tail", limit = "20 packets" }

[flows.reno]
count = 2
path = ["access", "core"]
congestion = "reno"
rtt = "20 ms"
start = { uniform = ["0 s", "1 s"] }
"""


class Terminal(StringIO):
    """A stream that passes for a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def two_links(tmp_path: Path) -> Path:
    """Only the second link ever has a queue."""
    path = tmp_path / "two.toml"
    path.write_text(TWO_LINKS, encoding="utf-8")
    return path


def test_a_store_of_size_says_that_it_has_no_sweep(tailroom: Tailroom, tmp_path: Path) -> None:
    store = tmp_path / "store"
    assert tailroom(*QUESTION, "--target", FULL, "--store", store).status == 0
    shown = tailroom("results", store)
    assert shown.status == 0
    assert re.match(r"No sweep, \d+ runs of other commands; --out writes them\.", shown.output)
    drawn = tailroom("plot", store)
    assert drawn.status == 2
    assert "there is no sweep; `tailroom sweep` makes one" in drawn.errors


def test_one_flow_has_the_rtt_that_was_asked_for() -> None:
    assert dumbbell("10 Mbit/s", "40ms").resolved["flows"]["flows"]["rtt"] == "40 ms"
    several = dumbbell("10 Mbit/s", "40ms", 2).resolved["flows"]["flows"]["rtt"]
    assert several == {"uniform": ["36 ms", "44 ms"]}


@pytest.mark.parametrize(
    "text",
    ["12 ms to 70 ms", "12 to 70ms", "12-70 ms", "12ms - 70ms", "12ms..70ms", "0.012 s-70 ms"],
)
def test_a_range_of_rtts_may_be_written_as_people_write_it(text: str) -> None:
    assert read_rtts(text) == (0.012, 0.07)


@pytest.mark.parametrize(
    "text",
    [
        "queue_delay_s_p99 <= 5ms",
        "reno.goodput_bps >= 2 Mbit/s",
        "utilization >= 0.9",
        "queue_packets_mean <= 20",
    ],
)
def test_a_target_is_shown_as_it_was_written(text: str) -> None:
    target = parse_target(text)
    assert str(target) == text
    assert parse_target(str(target)) == target


@pytest.mark.parametrize(
    ("text", "example"),
    [
        ("queue_delay_s_p99 <= 5", "5 ms"),
        ("core.queue_delay_s_mean <= 0", "0 ms"),
        ("web.completion_time_s_p99 <= 1.5", "1.5 ms"),
        ("reno.goodput_bps >= 2", "2 Mbit/s"),
        ("memory_bytes_p99 <= 64", "64 kB"),
    ],
)
def test_a_time_a_rate_or_a_size_needs_its_unit(text: str, example: str) -> None:
    """As everywhere: who types 5 means 5 ms, and 5 s is met by every buffer."""
    with pytest.raises(TargetError) as refused:
        parse_target(text)
    assert "has no unit" in str(refused.value)
    assert f'as in "{example}"' in str(refused.value)
    assert parse_target(f"{text.rpartition(' ')[0]} {example}").written == example


def test_a_stopping_rule_needs_the_unit_of_its_width_too() -> None:
    assert parse_precision("queue_delay_s_mean<0.1 ms").half_width == pytest.approx(1e-4)
    assert parse_precision("utilization<0.5%").half_width == pytest.approx(0.005)
    with pytest.raises(tr.ScenarioError, match=r'"0\.1" has no unit; .* "0\.1 ms"'):
        parse_precision("queue_delay_s_mean<0.1")


def test_an_exponent_is_not_a_range() -> None:
    assert read_rtts("1e-3 s") == (0.001, 0.001)


def test_a_mix_of_controls_and_a_range_of_rtts_make_a_group_each() -> None:
    scenario = dumbbell("10 Gbit/s", "5ms to 200ms", read_flows("500 cubic, 100 bbr3"))
    groups = scenario.resolved["flows"]
    assert {name: one["count"] for name, one in groups.items()} == {"cubic": 500, "bbr3": 100}
    assert groups["bbr3"]["rtt"] == {"uniform": ["5 ms", "200 ms"]}
    assert scenario.resolved["title"] == "500 cubic and 100 bbr3 flows, 10 Gbit/s, RTT 5ms to 200ms"
    tr.run(
        scenario,
        set={
            "duration": "10 ms",
            "measure_from": "0 s",
            "flows.cubic.start": "0 s",
            "flows.bbr3.start": "0 s",
        },
    )


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("utilization >= 98%", 0.98),
        ("utilization >= 98 %", 0.98),
        ("queue_delay_s_p99 <= 5ms", 0.005),
        ("core.queue_delay_s_mean <= 250 us", 250e-6),
        ("web.completion_time_s_p99 <= 1.5 s", 1.5),
        ("reno.goodput_bps >= 2 Mbit/s", 2e6),
        ("queue_packets_mean <= 20 packets", 20),
        ("queue_packets_mean <= 20", 20),
    ],
)
def test_targets_carry_units(text: str, bound: float) -> None:
    assert parse_target(text).bound == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("utilization >= 98", ["a fraction from 0 to 1", "98% or 0.98"]),
        ("jain_index >= 2", ["jain_index is a fraction from 0 to 1", "for example 0.9"]),
        ("loss_fraction <= 101%", ["a fraction from 0 to 1"]),
        ("queue_delay_s_p99 <= -1", ["no metric is negative"]),
        ("queue_delay_s_p99 <= -1 ms", ["no metric is negative"]),
        ("queue_delay_s_p99 <= 5 apples", ["apples", "one of ps, ns, us, ms, s, min, h"]),
        ("utilization >= 98 ms", ['"ms" is not the unit of a fraction', "98%"]),
        ("queue_packets_mean <= 20 ms", ['"ms" is not a unit of this metric', "20 packets"]),
    ],
)
def test_impossible_targets_are_refused_with_the_range(text: str, named: list[str]) -> None:
    with pytest.raises(TargetError) as refused:
        parse_target(text)
    for part in named:
        assert part in str(refused.value)


def test_no_buffer_meets_the_targets_has_a_status_of_its_own(tailroom: Tailroom) -> None:
    targets = ("--target", "utilization >= 99%", "--target", "queue_delay_s_p99 <= 2.5ms")
    ended = tailroom(*QUESTION, *targets)
    assert ended.status == 4
    assert "No tested buffer meets every target." in ended.output
    assert "4 no buffer" in " ".join(tailroom("--help").output.split())


def test_the_targets_name_the_link(two_links: Path) -> None:
    found = tr.size(two_links, ["core.utilization >= 80%"], max_seeds=4, most_loss=None)
    assert found.link.name == "core"
    assert found.link_chosen == ""
    assert (found.limit_packets or 0) >= 1


def test_a_target_without_a_link_says_which_was_chosen(two_links: Path, tailroom: Tailroom) -> None:
    asked = ("--target", "jain_index >= 0.5", "--max-seeds", 4, "--most-loss", "none")
    ended = tailroom("size", two_links, *asked)
    assert ended.status == 0
    assert "│ Link core: " in ended.output
    assert "choose another link (access) with --link NAME" in ended.output
    assert "Smallest queue limit: 1 packet = " in ended.output


@pytest.mark.usefixtures("two_links")
def test_targets_belong_to_one_link_whose_queue_matters(refused: Printed) -> None:
    refused("size_of_two_links")


def test_the_named_link_gives_a_bare_target_its_meaning(two_links: Path) -> None:
    found = tr.size(two_links, ["utilization >= 80%"], link="core", max_seeds=4)
    metrics = [target.metric for target in found.targets]
    assert metrics == ["core.utilization", "core.loss_fraction"]


def test_a_scenario_without_randomness_has_no_confidence(small: Path, tailroom: Tailroom) -> None:
    # Of several flows, seeds decide whose packet is first where they meet.
    locked = ("--set", "flows.reno.send_jitter=none", "--set", "flows.reno.count=1")
    ended = tailroom("size", small, "--target", "utilization >= 0.8", *locked)
    assert "warning: runs with different seeds are the same" in ended.output
    assert "±" not in ended.output
    drawn = tailroom("size", small, "--target", "utilization >= 0.8", "--max-seeds", 4)
    assert "runs with different seeds are the same" not in drawn.output


def test_the_answer_shows_its_price_and_that_of_its_neighbours(
    tailroom: Tailroom, printed: Printed
) -> None:
    printed("size")
    asked: tuple[object, ...] = ("--flows", 3, "--congestion", "reno")
    asked += ("--target", "queue_delay_s_p99 <= 30 ms")
    asked += ("--most-loss", "none")
    answer = json.loads(tailroom(*QUESTION, *asked, "--target", FULL, "--json").output)
    packets = answer["limit"]["packets"]
    choices = answer["choices"]
    assert packets in choices
    assert any(0.4 * packets <= one <= 0.7 * packets for one in choices)
    assert any(1.5 * packets <= one <= 2.5 * packets for one in choices)
    of_the_answer = answer["metrics"]["links.bottleneck.queue_delay_s_p99"]
    assert of_the_answer["half_width"] > 0


def test_a_control_that_needs_marks_is_asked_without_a_file_too() -> None:
    """The link alone marks nothing; the replaced queue does."""
    queue = {"kind": "step_mark", "limit": "200 packets", "threshold": "20 packets"}
    marks = {"links.bottleneck.queue": queue, "flows.flows.ecn": "accurate"}
    asked: dict[str, Any] = {"rate": "100 Mbit/s", "rtt": "5 ms", "duration": "2 s", "set": marks}
    asked |= {"target": "utilization >= 90%", "congestion": "dctcp", "max_seeds": 4}
    assert tr.size(**asked).answer is not None
    assert tr.size(**asked, vary="queue.threshold").answer is not None
    with pytest.raises(tr.ScenarioError, match="ecn"):
        tr.size(**{**asked, "set": {"links.bottleneck.queue": queue}})


def test_the_numbers_work_from_python() -> None:
    found = tr.size(
        target=["utilization >= 90%"],
        rate="10 Mbit/s",
        rtt="20 ms",
        flows={"reno": 2, "cubic": 1},
        duration="5 s",
        max_seeds=4,
    )
    assert found.link.flow_count == 3
    assert found.limit_packets
    with pytest.raises(tr.ScenarioError, match="give a scenario, or rate and rtt"):
        tr.size(target=[FULL], rate="10 Mbit/s")
    with pytest.raises(tr.ScenarioError, match="replace a scenario"):
        tr.size("scenarios/first.toml", [FULL], rate="10 Mbit/s")


def runs_in(store: Path) -> int:
    return sum(pq.read_metadata(file).num_rows for file in store.rglob("*.parquet"))


def test_ctrl_c_shows_what_is_known_and_how_to_go_on(tmp_path: Path) -> None:
    store = tmp_path / "store"
    command = [
        sys.executable,
        "-m",
        "tailroom",
        "size",
        "--rate",
        "20Mbps",
        "--rtt",
        "20ms",
        "--flows",
        "4",
        "--target",
        "utilization >= 97%",
        "--precision",
        "0.0001",
        "--max-seeds",
        "4000",
        "--store",
        str(store),
    ]
    running = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while runs_in(store) < 40 and time.monotonic() < deadline:
        time.sleep(0.1)
    running.send_signal(2)
    _, errors = running.communicate(timeout=30)
    assert running.returncode == 130
    assert "Tested buffers" in errors
    assert "Smallest queue limit so far: " in errors
    assert f"--store {store}" in errors.replace("\n", "")


@pytest.fixture(scope="module")
def answer() -> tr.Size:
    return tr.size(target=[FULL], rate="10 Mbps", rtt="20 ms", duration="5 s", max_seeds=4)


def test_where_a_target_is_met_reads_as_a_sentence(answer: tr.Size) -> None:
    target = parse_target(FULL)
    found = {
        (low, high): where_met(Feasible(target, low, high, is_one_interval=True), answer)
        for low, high in ((0, inf), (1, inf), (5, inf), (0, 45), (5, 45), (0, 1))
    }
    assert found == {
        (0, inf): "met from the smallest tested limit upwards",
        (1, inf): "met from 1 packet upwards",
        (5, inf): "met from 5 packets upwards",
        (0, 45): "met from the smallest tested limit to 45 packets",
        (5, 45): "met from 5 to 45 packets",
        (0, 1): "met from the smallest tested limit to 1 packet",
    }


def test_an_answer_repr_fits_a_screen(answer: tr.Size) -> None:
    assert len(repr(answer.chosen)) < 2000
    assert len(repr(answer)) < 20_000


@pytest.mark.parametrize("name", ["rate", "rtt", "duration"])
def test_what_is_no_quantity_is_refused_from_python(name: str) -> None:
    given: dict[str, Any] = {"rate": "10 Mbps", "rtt": "20 ms", "duration": "5 s", name: True}
    with pytest.raises(tr.ScenarioError, match=f"{name}: True is not a quantity; write text"):
        tr.size(target=[FULL], **given)


def test_progress_at_80_columns_shows_the_remaining_time_in_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(progress, "SHOW_AFTER_S", -1.0)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress.size_bar() as report:
        report(SizeProgress(60, 148, 1125, 1231))
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.getvalue())
    assert "1,231 packets suffice" in shown
    assert "--:-- left" in shown
