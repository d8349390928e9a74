"""`tailroom run` of several choices: one table with a row per choice, and one picture."""

import csv
import io
import json
import statistics
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import tailroom as tr
from tailroom.cli import choices as shown
from tailroom.execution import task
from tailroom.scenario.scenario import Scenario
from tailroom.simulation.engine_run import simulate
from tests.conftest import SMALL, Printed, Tailroom

QUEUE = "links.bottleneck.queue"
HOME = """\
title = "Home router"
duration = "20 s"
measure_from = "5 s"

[defaults]
host = "plain"

[links.down]
rate = "20 Mbit/s"
delay = "5 ms"
queue = { kind = "drop_tail", limit = "100 ms" }

[flows.download]
path = ["down"]
congestion = { kind = "cubic" }
rtt = "40 ms"

[flows.web]
path = ["down"]
congestion = { kind = "cubic" }
rtt = { uniform = ["20 ms", "80 ms"] }

[flows.web.source]
kind = "finite_flows"
size = { kind = "bounded_pareto", shape = 1.2, min = "10 kB", max = "5 MB" }
load = 0.2

[flows.voice]
path = ["down"]
packet_size = "200 B"
rtt = "40 ms"
source = { kind = "cbr", rate = "64 kbit/s" }
"""
CALL = """
[flows.call]
path = ["bottleneck"]
packet_size = "200 B"
source = { kind = "poisson", rate = "100 kbit/s" }
"""


@pytest.fixture
def random(tmp_path: Path) -> Path:
    """A scenario in which seeds make a difference."""
    path = tmp_path / "random.toml"
    path.write_text(SMALL + CALL, encoding="utf-8")
    return path


def queue_of(choice: tr.Choice) -> dict[str, object]:
    queue: dict[str, object] = tomllib.loads(choice.scenario)["links"]["bottleneck"]["queue"]
    return queue


def test_each_choice_is_what_a_run_with_its_value_gives(small: Path) -> None:
    found = tr.choices(small, {QUEUE: ["codel", "drop_tail"]})
    assert [one.name for one in found.choices] == ["codel", "drop_tail"]
    for one in found.choices:
        queue = {"kind": one.name, "limit": "20 packets"}
        alone = tr.run(small, set={QUEUE: queue}).links["bottleneck"]
        for metric in ("utilization", "loss_fraction", "queue_delay_s_mean", "queue_delay_s_p99"):
            assert one.metrics[f"links.bottleneck.{metric}"].mean == alone[metric]


def test_the_home_router_question_takes_one_command(tailroom: Tailroom, tmp_path: Path) -> None:
    path = tmp_path / "home.toml"
    path.write_text(HOME, encoding="utf-8")
    delay = "voice.links.down.queue_delay_s_p99"
    vary = "links.down.queue=codel,pie,fq_codel,drop_tail"
    ended = tailroom("run", path, "--vary", vary, "--metric", delay, "--metric", "utilization")
    assert ended.status == 0, ended.errors
    rows = [line.split() for line in ended.output.splitlines()]
    of_choices = [row for row in rows if len(row) == 4 and row[2] == "ms"]
    waits_ms = {row[0]: float(row[1]) for row in of_choices}
    assert list(waits_ms) == ["codel", "pie", "fq_codel", "drop_tail"]
    # RFC 8290 sec. 1: flows that build no queue are served first. DropTail's queue is 100 ms long.
    assert min(waits_ms, key=lambda name: waits_ms[name]) == "fq_codel"
    assert waits_ms["fq_codel"] < 5
    assert 80 < waits_ms["drop_tail"] <= 100
    full = {row[0]: float(row[3].rstrip("%")) for row in of_choices}
    assert max(full, key=lambda name: full[name]) == "drop_tail"


def test_people_see_a_row_per_choice_and_more_on_request(printed: Printed, tmp_path: Path) -> None:
    (tmp_path / "home.toml").write_text(HOME, encoding="utf-8")
    (tmp_path / "other.toml").write_text(SMALL.replace("Two", "More"), encoding="utf-8")
    printed("choices")


def test_a_word_for_a_queue_keeps_the_limit_of_the_scenario(small: Path) -> None:
    for settings in (
        {},
        {f"{QUEUE}.limit": "7 packets"},
        {QUEUE: {"kind": "pie", "limit": "7 packets"}},
    ):
        limit = 7 if settings else 20
        found = tr.choices(small, {QUEUE: ["fq_codel", "drop_tail"]}, set=settings)
        for one in found.choices:
            assert one.metrics["links.bottleneck.limit_packets"].mean == limit


def test_a_word_for_a_queue_drops_the_other_parameters(small: Path) -> None:
    red = {"kind": "red", "limit": "30 packets", "max_p": 0.5}
    found = tr.choices(small, {QUEUE: ["red", "drop_tail"]}, set={QUEUE: red})
    assert queue_of(found.choices[0])["max_p"] == 0.1  # the default of `red`
    assert queue_of(found.choices[1]) == {"kind": "drop_tail", "limit": "30 packets"}


def test_a_table_for_a_queue_is_taken_as_it_is_written(tailroom: Tailroom, small: Path) -> None:
    tables = '[{ kind = "red", limit = "9 packets" }, { kind = "fq_codel" }, "codel"]'
    ended = tailroom("run", small, "--vary", f"{QUEUE}={tables}", "--json")
    assert ended.status == 0, ended.errors
    limits = {
        one["name"]: one["metrics"]["links.bottleneck.limit_packets"]["mean"]
        for one in json.loads(ended.output)["choices"]
    }
    # 10,240 packets is the default of fq_codel in Linux.
    assert limits == {"red": 9, "fq_codel": 10240, "codel": 20}


def test_a_limit_that_varies_is_not_kept(small: Path) -> None:
    vary = {f"{QUEUE}.limit": ["5 packets", "40 packets"], QUEUE: ["codel", "drop_tail"]}
    found = tr.choices(small, vary)
    assert found.headings == ("limit", "queue")
    limits = {one.name: one.metrics["links.bottleneck.limit_packets"].mean for one in found.choices}
    assert limits == {
        "5 packets, codel": 5,
        "5 packets, drop_tail": 5,
        "40 packets, codel": 40,
        "40 packets, drop_tail": 40,
    }
    assert found.notes == ()


def test_without_a_limit_to_keep_disciplines_have_their_own(small: Path) -> None:
    found = tr.choices(small, {QUEUE: ["codel", "fq_codel"]}, set={QUEUE: {"kind": "codel"}})
    limits = [one.metrics["links.bottleneck.limit_packets"].mean for one in found.choices]
    assert limits == [1000, 10240]  # as in Linux
    assert "each discipline has its default" in found.notes[0]
    with pytest.raises(tr.ScenarioError, match=r"queue\.limit: is missing"):
        tr.choices(small, {QUEUE: ["codel", "drop_tail"]}, set={QUEUE: {"kind": "codel"}})


def test_several_files_are_rows_of_one_table(
    tailroom: Tailroom, small: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.toml"
    other.write_text(SMALL.replace("Two Reno", "More Reno"), encoding="utf-8")
    ended = tailroom("run", small, other, "--set", "flows.reno.count=3", "--json")
    assert ended.status == 0, ended.errors
    found = json.loads(ended.output)["choices"]
    assert [one["name"] for one in found] == ["small", "other"]
    assert [one["title"] for one in found] == ["Two Reno flows", "More Reno flows"]
    assert {one["metrics"]["groups.reno.flows"]["mean"] for one in found} == {3}


def test_files_of_the_same_name_are_told_apart(small: Path, tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    other = tmp_path / "b" / "small.toml"
    other.write_text(SMALL, encoding="utf-8")
    names = [one.name for one in tr.choices([small, other]).choices]
    assert names == [str(small), str(other)]


def test_seeds_give_means_with_intervals(random: Path) -> None:
    metric = "links.bottleneck.queue_delay_s_mean"
    links: list[Any] = [tr.run(random, seed=seed).links["bottleneck"] for seed in (4, 5, 6)]
    values = [link["queue_delay_s_mean"] for link in links]
    one = tr.choices(random, {QUEUE: ["drop_tail"]}, seeds=3, seed=4).choices[0]
    assert one.metrics[metric].mean == pytest.approx(statistics.mean(values))
    # Student's t with 2 degrees of freedom: 4.303 at 97.5 %.
    error = statistics.stdev(values) / 3**0.5
    assert one.metrics[metric].half_width == pytest.approx(4.303 * error, rel=1e-3)


def test_one_seed_has_no_interval(tailroom: Tailroom, small: Path, tmp_path: Path) -> None:
    command = ("run", small, "--vary", f"{QUEUE}=codel,pie")
    assert "±" not in tailroom(*command).output
    ended = tailroom(*command, "--json", "--out", tmp_path / "out")
    assert "Infinity" not in ended.output
    widths = [
        metric["half_width"]
        for one in json.loads(ended.output)["choices"]
        for metric in one["metrics"].values()
    ]
    assert set(widths) == {None}
    with (tmp_path / "out" / "choices.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["queue"] for row in rows] == ["codel", "pie"]
    assert not [name for name in rows[0] if "half_width" in name]


def test_out_holds_table_scenarios_and_picture(
    tailroom: Tailroom, small: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    ended = tailroom("run", small, "--vary", f"{QUEUE}=codel,drop_tail", "--out", out)
    assert ended.status == 0, ended.errors
    assert sorted(str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()) == [
        "choices.csv",
        "choices.json",
        "choices.png",
        "scenarios/codel/scenario.toml",
        "scenarios/drop_tail/scenario.toml",
    ]
    again = tailroom("run", out / "scenarios" / "codel" / "scenario.toml", "--json")
    alone = json.loads(again.output)["links"]["bottleneck"]["utilization"]
    found = json.loads((out / "choices.json").read_text(encoding="utf-8"))["choices"][0]
    assert found["metrics"]["links.bottleneck.utilization"]["mean"] == alone


def test_a_small_difference_of_utilization_fills_no_panel(small: Path) -> None:
    found = tr.choices(small, {f"{QUEUE}.limit": ["200 packets", "201 packets"]})
    panel = found.plot().axes[0]
    low, high = panel.get_ylim()
    assert high - low >= 1.9
    # Room for a marker above 100 %, but no tick.
    assert max(panel.get_yticks()) <= 100 <= high < 100 + 0.04 * (100 - low)
    for one in found.choices:
        assert low < 100 * one.metrics["links.bottleneck.utilization"].mean <= high


def test_delays_over_decades_have_plain_labels(small: Path) -> None:
    """Matplotlib labels the ticks between powers of ten with formulas if few powers are in view."""
    found = tr.choices(small, {f"{QUEUE}.limit": ["2 packets", "40 packets"]})
    figure = found.plot()
    figure.draw_without_rendering()
    panel = figure.axes[0]
    assert panel.get_xscale() == "log"
    low, high = panel.get_xlim()
    assert high / low < 300
    shown = [one for one in panel.xaxis.get_major_ticks() if low <= one.get_loc() <= high]
    assert len(shown) >= 2
    assert all(float(one.label1.get_text().replace(",", "")) for one in shown)
    assert not any(one.label1.get_text() for one in panel.xaxis.get_minor_ticks())


def test_chosen_metrics_are_shown_and_no_others(tailroom: Tailroom, small: Path) -> None:
    ended = tailroom("run", small, "--metric", "reno.timeouts", "--json")
    assert ended.status == 0, ended.errors
    (only,) = json.loads(ended.output)["choices"]
    timeouts = tr.run(small).groups["reno"]["timeouts"]
    undefined = dict.fromkeys(("half_width", "low", "high"))
    assert only["metrics"] == {"groups.reno.timeouts": {"mean": timeouts, **undefined}}


def test_wrong_choices_are_refused(refused: Printed) -> None:
    refused("choices")


def test_a_store_keeps_the_runs_of_choices(tailroom: Tailroom, small: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    command = ("run", small, "--vary", f"{QUEUE}=codel,pie", "--store", store)
    first = tailroom(*command)
    assert tr.Store(store).runs().num_rows == 2
    assert tailroom(*command).output == first.output
    assert tr.Store(store).runs().num_rows == 2


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ([("codel",), ("pie",)], "codel, pie"),
        # Three pairs, which read as six names if all are separated alike.
        (
            [("drop_tail", "drop_tail"), ("drop_tail", "fq_codel"), ("fq_codel", "drop_tail")],
            "drop_tail with drop_tail or fq_codel; fq_codel with drop_tail",
        ),
        (
            [("a", "x", "1"), ("a", "x", "2"), ("a", "y", "1")],
            "a with x with 1 or 2; a with y with 1",
        ),
        ([("first.toml", ""), ("second.toml", "codel")], "first.toml; second.toml with codel"),
    ],
)
def test_a_warning_names_the_choices_that_it_concerns_in_groups(
    names: list[tuple[str, ...]], words: str
) -> None:
    assert shown.grouped(names) == words


@pytest.mark.parametrize("width", [60, 80, 120])
def test_tables_are_split_where_the_terminal_is_narrow(tmp_path: Path, width: int) -> None:
    path = tmp_path / "home.toml"
    path.write_text(HOME, encoding="utf-8")
    names = ["all_sizes.slowdown_mean", "all_sizes.slowdown_p99", "throughput_bps", "share"]
    names += ["loss_fraction", "retransmissions", "rtt_s_mean", "marked_fraction"]
    found = tr.choices(
        path,
        {"links.down.queue": ["codel", "drop_tail"]},
        metrics=[f"web.{name}" for name in names],
    )
    text = io.StringIO()
    shown.show(found, Console(file=text, width=width), by_owner=True)
    lines = [line for line in text.getvalue().splitlines() if "warning" not in line]
    assert max(map(len, lines)) <= width
    assert "…" not in text.getvalue()
    tables = text.getvalue().count("Group web")
    assert tables == {60: 2, 80: 2, 120: 1}[width]
    assert text.getvalue().count("\ncodel ") == tables


def test_standard_input_is_a_scenario_too(
    tailroom: Tailroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.TextIOWrapper(io.BytesIO(SMALL.encode()))
    monkeypatch.setattr(sys, "stdin", stream)
    ended = tailroom("run", "-", "--vary", f"{QUEUE}=codel,pie")
    assert ended.status == 0, ended.errors
    assert "Two Reno flows" in ended.output


def test_a_run_that_fails_is_named(
    tailroom: Tailroom, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(source: Scenario, **options: Any) -> tr.Result:
        if "codel" in str(source.overrides):
            raise tr.RunError("the account of packets does not balance")
        return simulate(source, **options)

    monkeypatch.setattr(task, "simulate", failing)
    command = ("run", small, "--vary", f"{QUEUE}=pie,codel", "--out", tmp_path / "out")
    ended = tailroom(*command)
    assert ended.status == 1
    assert ended.output == ""
    assert f"failed: {QUEUE} = codel, seed 1: the account" in ended.errors
    assert not (tmp_path / "out").exists()
