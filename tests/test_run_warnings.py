"""Studies of many runs pass on what the runs warn of."""

import json
from pathlib import Path

import pytest

import tailroom as tr
from tailroom.scenario.dumbbell import dumbbell
from tailroom.scenario.periods import PROBE_RTT_INTERVALS_S, cubic_cycle_s, period_s
from tailroom.simulation.run_warnings import once, warning, with_names
from tests.conftest import Tailroom

pytestmark = pytest.mark.usefixtures("quick_models")

FEW = "with fewer than 10 its figures are not a steady state"
SHORT = ("--set", 'duration="25 s"')
"""Makes `first` end before its flow loses a packet in the measured window."""
LIMIT = "links.bottleneck.queue.limit"


def words(text: str) -> str:
    return " ".join(text.split())


def test_a_warning_is_data_and_python_shows_it() -> None:
    with pytest.warns(tr.TailroomWarning, match=FEW):
        result = tr.run("first", set={"duration": "25 s"})
    (found,) = result.summary["warnings"]
    assert (found["kind"], found["place"]) == ("few_reductions", "flows.reno")
    assert found["values"] == {"reductions_per_flow": 0.0}
    assert FEW in found["text"]
    assert "warnings: few_reductions at flows.reno" in repr(result)


def test_a_warning_about_many_groups_names_the_first(small: Path) -> None:
    group = '[flows.g{}]\npath = ["bottleneck"]\ncongestion = "reno"\nsend_jitter = "none"\n'
    head, _, _ = small.read_text(encoding="utf-8").partition("[flows.reno]")
    for count, end in ((10, "flows.g9.send_jitter"), (13, "flows.g9.send_jitter and 3 more")):
        groups = "".join(group.format(at) for at in range(count))
        small.write_text(head + groups, encoding="utf-8")
        found = {one["kind"]: one for one in tr.run(small).summary["warnings"]}["phase_effects"]
        assert found["place"].endswith(f", {end}")
        assert found["text"].startswith(f"{found['place']}: ")


TWO_SITES = """\
duration = "12 s"
measure_from = "3 s"

[links.l]
rate = "50 Mbit/s"
delay = "10 ms"
queue = { kind = "drop_tail", limit = "60 packets" }

[flows.site1]
count = 2
path = ["l"]
congestion = "reno"
rtt = "120 ms"

[flows.site2]
count = 2
path = ["l"]
congestion = "cubic"
rtt = "800 ms"
"""


@pytest.mark.parametrize("names", [("site1", "site2"), ("near", "far")])
def test_groups_whose_names_differ_in_a_number_each_keep_their_warning(
    tailroom: Tailroom, tmp_path: Path, names: tuple[str, str]
) -> None:
    path = tmp_path / "two.toml"
    text = TWO_SITES.replace("site1", names[0]).replace("site2", names[1])
    path.write_text(text, encoding="utf-8")
    printed = words(tailroom("run", path, "--seeds", 2).output)
    assert [f"warning: flows.{name}: " in printed for name in names] == [True, True]


def test_compare_warns_as_run_does(tailroom: Tailroom) -> None:
    assert FEW in words(tailroom("compare", "first", *SHORT).output)
    assert FEW in words(tailroom("compare", "first", *SHORT, "--seeds", 2).output)
    (found,) = json.loads(tailroom("compare", "first", *SHORT, "--json").output)["warnings"]
    assert FEW in found["text"]
    assert "warning" not in tailroom("compare", "first").output


def test_a_sweep_warns_with_the_points_that_are_concerned(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    """Behind 5 packets the flow loses packets often enough within 60 s, behind 400 it does not."""
    limits = f"{LIMIT}=5 packets, 400 packets"
    command = ("sweep", "first", "--store", tmp_path / "store", "--seeds", 1, "--grid", limits)
    some = words(tailroom(*command, "--set", 'duration="80 s"').output)
    assert "warning: at 1 of 2 points, with the numbers of the first: flows.reno: " in some
    _, _, concerned = some.partition(FEW)
    assert f"{LIMIT} = 400 packets" in concerned
    assert "= 5 packets" not in concerned
    again = words(tailroom("results", tmp_path / "store", "--sweep", "first").output)
    assert again.partition("warning: at 1 of 2")[2] == some.partition("warning: at 1 of 2")[2]
    every = words(tailroom(*command, *SHORT).output)
    assert "warning: flows.reno: " in every


def test_a_size_from_runs_that_are_too_short_warns(tailroom: Tailroom) -> None:
    question = ("size", "first", "--target", "utilization >= 80%", "--max-seeds", 4)
    short = tailroom(*question, "--set", 'duration="30 s"')
    assert short.status == 0
    assert "with fewer than 3 the start of a run may decide the answer" in words(short.output)
    answer = json.loads(tailroom(*question, "--set", 'duration="30 s"', "--json").output)
    assert len(answer["warnings"]) == 1
    assert "warning: flows" not in words(tailroom(*question).output)


def test_an_answer_needs_fewer_reductions_than_a_run() -> None:
    """Between 3 and 10 reductions a run warns, and an answer from several runs does not."""
    size = tr.size("first", ["utilization >= 0.8"], set={"duration": "60 s"}, max_seeds=4)
    assert size.chosen
    runs = size.chosen.point.finished
    reductions = [row["groups.reno.congestion_events"] for row in runs]
    assert all(3 <= count < 10 for count in reductions)
    assert size.warnings == ()


@pytest.mark.parametrize("numbers", [("1 Gbit/s", "100 ms", 1), ("1 Gbit/s", "40 ms", 10)])
def test_runs_of_a_simple_question_are_long_enough(numbers: tuple[str, str, int]) -> None:
    scenario = dumbbell(*numbers)
    times = scenario.resolved
    measured_s = _seconds(times["duration"]) - _seconds(times["measure_from"])
    rtt_s = _seconds(numbers[1]) / 1e3
    window = 1e9 * rtt_s / 12_000 / numbers[2]
    assert measured_s == pytest.approx(4 * cubic_cycle_s(window, rtt_s), rel=1e-4)
    assert tr.run(scenario).links["bottleneck"]["drops_packets"]


def test_short_cycles_leave_the_duration_of_a_simple_question() -> None:
    assert dumbbell("100 Mbit/s", "20 ms to 60 ms", 10).resolved["duration"] == "30 s"
    # Of a data centre, 30 s are 300,000 RTTs, and the answer was the same with 1/15 of them.
    assert dumbbell("10 Gbit/s", "100 us", 2, "dctcp").resolved["duration"] == "2 s"
    assert dumbbell("1 Gbit/s", "2 ms", 100).resolved["duration"] == "6 s"


def test_the_cycle_of_cubic_is_that_of_rfc_9438() -> None:
    """Section 4.2: K = cbrt(W_max (1 - beta) / C); section 4.3: 0.53 packets a round trip."""
    assert cubic_cycle_s(10_000, 0.1) == pytest.approx((10_000 * 0.3 / 0.4) ** (1 / 3))
    assert cubic_cycle_s(100, 0.01) == pytest.approx(30 / (9 / 17) * 0.01)


@pytest.mark.parametrize(("control", "interval_s"), PROBE_RTT_INTERVALS_S.items())
def test_a_run_that_is_shorter_than_the_intervals_of_bbr_warns(
    control: str, interval_s: float
) -> None:
    def warnings(duration_s: float, from_s: float, **more: object) -> list[str]:
        window = {"duration": f"{duration_s} s", "measure_from": f"{from_s} s"}
        settings: dict[str, object] = {
            **window,
            "links.bottleneck.rate": "1 Mbit/s",
            "flows.reno.congestion": control,
            "flows.reno.start": "1 s",
            **more,
        }
        found = tr.run("first", set=settings).summary["warnings"]
        return [one["text"] for one in found if one["kind"] == "short_window"]

    (short,) = warnings(1 + 2.9 * interval_s, 1 + interval_s)
    assert f"the measured window has {1.9 * interval_s:g} s" in short
    assert f"every {interval_s:g} s" in short
    (early,) = warnings(1 + 3 * interval_s, 1 + 0.4 * interval_s)
    assert f"the statistics begin {0.4 * interval_s:g} s after the first flow" in early
    assert f"set measure_from to {1 + interval_s / 2:g} s or later" in early
    (too_early,) = warnings(1 + 3 * interval_s, 0.5)
    assert "the statistics begin before the first flow" in too_early
    assert warnings(1 + 3 * interval_s, 1 + interval_s / 2) == []
    transfer = {"flows.reno.source": {"kind": "bulk", "bytes": "1 MB"}}
    assert warnings(1 + interval_s, 1, **transfer) == []


def test_sweeps_and_sizes_warn_of_short_runs_too(small: Path, tmp_path: Path) -> None:
    bbr = {"flows.reno.congestion": "bbr1"}
    grid = {"links.bottleneck.queue.limit": ["20 packets"]}
    swept = tr.sweep(small, store=tmp_path / "store", grid=grid, set=bbr)
    assert any("every 10 s" in one["text"] for one in swept.warnings)
    answer = tr.size(small, "utilization >= 10%", set=bbr, max_seeds=4, most_loss=None)
    assert any("every 10 s" in one["text"] for one in answer.warnings)


@pytest.mark.parametrize(("control", "interval_s"), [("bbr1", 10), ("bbr3", 5)])
def test_simple_questions_about_bbr_hold_its_intervals(control: str, interval_s: float) -> None:
    scenario = dumbbell("100 Mbit/s", "40 ms", {"cubic": 2, control: 2}).resolved
    from_s = _seconds(scenario["measure_from"])
    assert from_s >= interval_s
    assert _seconds(scenario["duration"]) - from_s >= 2 * interval_s - 1e-3


def test_every_control_has_a_period() -> None:
    # Half of 100 packets in round trips of 50 ms; eight RTTs of 2 s exceed BBR's interval.
    assert period_s("reno", 100, 0.05) == pytest.approx(2.5)
    assert period_s("bbr1", 100, 0.05) == 10
    assert period_s("bbr1", 100, 2.0) == 16
    assert period_s("prague", 100, 0.005) == pytest.approx(0.75)
    assert period_s("unknown", 100, 0.01) == cubic_cycle_s(100, 0.01)


def test_a_warning_of_one_kind_and_place_is_one() -> None:
    first, again = (warning("kind", "flows.a1", text) for text in ("2 of 3", "4 of 5"))
    other = warning("kind", "flows.a2", "2 of 3")
    assert once([first, again, other]) == (first, other)
    named = with_names([("x", [first]), ("y", [again, other])])
    assert named == [(first, ("x", "y")), (other, ("y",))]


def _seconds(text: str) -> float:
    """The number of a text such as `30 s`."""
    return float(text.split(maxsplit=1)[0])


@pytest.mark.parametrize(
    ("queue", "policy", "remedy"),
    [
        ('{ kind = "drop_tail", limit = "20 packets" }', None, "a larger limit of the queue"),
        ("drop_tail", '"complete_sharing"', "more memory in the pool"),
        (
            "drop_tail",
            '{ kind = "static_threshold", threshold = "30 kB" }',
            "a larger alpha or threshold of the pool",
        ),
    ],
)
def test_a_warning_of_timeouts_names_the_ports_that_drop_and_what_helps_there(
    queue: str, policy: str | None, remedy: str
) -> None:
    """Of the 80 links on the way of the queries, the port of the client alone drops packets."""
    memory = {} if policy is None else {"pool": f'{{ size = "50 kB", policy = {policy} }}'}
    changed = {"fan_in": 40, "duration": "1 s", "queue": queue, **memory}
    keys = {"fan_in": "flows.queries.source.fan_in", "duration": "duration"}
    result = tr.run(
        "incast", set={keys.get(key, f"switches.tor.{key}"): one for key, one in changed.items()}
    )
    (found,) = [one for one in result.summary["warnings"] if one["kind"] == "timeouts"]
    dropping = [name for name, link in result.links.items() if link["drops_packets"]]
    assert dropping == ["tor-switch-h0"]
    # The flows of DCTCP have ECN already.
    assert f"Lose fewer packets at tor-switch-h0 ({remedy}, fewer flows at a time)" in found["text"]
