"""Dead ends of `size` name what decides instead, and what was tried."""

import json
import re
import shlex
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import tailroom as tr
from tailroom import models
from tailroom.cli.size_report import show
from tailroom.models import Bottleneck
from tailroom.scenario.scenario import Scenario
from tailroom.statistics.outcome import Outcome
from tailroom.studies.size_study.causes import causes
from tailroom.studies.size_study.doors import Door, best_first, nearest_miss, too_few_seeds
from tailroom.studies.size_study.known import FittedMean, Tried
from tailroom.studies.size_study.question import read_question, some_of
from tailroom.studies.size_study.varied_key import Varied
from tests.conftest import Tailroom

HOME = """
duration = "20 s"
measure_from = "5 s"
[defaults]
host = "linux"
[links.down]
rate = "30 Mbit/s"
delay = "2 ms"
queue = "fq_codel"
[links.up]
rate = "10 Mbit/s"
delay = "2 ms"
queue = { kind = "drop_tail", limit = "50 ms" }
[flows.download]
count = 4
congestion = "cubic"
path = ["down"]
reverse_path = ["up"]
rtt = { uniform = ["10 ms", "50 ms"] }
start = { uniform = ["0 s", "2 s"] }
[flows.upload]
count = 2
congestion = "cubic"
path = ["up"]
reverse_path = ["down"]
rtt = { uniform = ["10 ms", "50 ms"] }
start = { uniform = ["0 s", "2 s"] }
"""
"""A home line whose upload delays the ACKs of the download, at a tenth of the rate of fibre."""


@pytest.fixture(scope="module")
def home() -> tr.Size:
    """A question that no limit of the FQ-CoDel queue answers: the uplink delays the ACKs."""
    return tr.size(
        Scenario.from_toml(HOME), "utilization >= 99.9%", link="down", max_seeds=4, precision=0.3
    )


def test_a_limit_that_is_not_reached_names_the_target_delay(home: tr.Size) -> None:
    assert home.is_unmet
    [door] = [one for one in home.doors if one.kind == "limit_not_reached"]
    assert (door.argument, door.given) == ("vary", "links.down.queue.target")
    assert 'vary="links.down.queue.target"' in door.text
    free = [one for one in home.tried if one.limit > door.values["packets"]]
    assert free
    assert not any(
        row["links.down.drops_overflow_packets"] for one in free for row in one.point.finished
    )


def test_another_queue_is_named_with_its_number_and_a_change_that_was_tried(home: tr.Size) -> None:
    """The uplink holds 50 ms behind a full queue; a fair one there is what helps."""
    [door] = [one for one in home.doors if one.kind == "other_queue"]
    assert door.place == "links.up.queue"
    assert 0.010 < door.values["queue_delay_s_mean"] < 0.051
    assert (door.argument, door.given) == ("set", "links.up.queue=fq_codel")
    before, after = (
        tr.run(Scenario.from_toml(HOME), set=settings, seed=3).links["down"]["utilization"]
        for settings in ({}, {"links.up.queue": "fq_codel"})
    )
    assert after > before


def test_the_command_line_prints_the_command_of_a_door(
    tailroom: Tailroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "home.toml"
    path.write_text(HOME)
    given = ["size", str(path), "--link", "down", "--target", "utilization >= 99.9%"]
    given += ["--max-seeds", "4", "--precision", "0.3"]
    monkeypatch.setattr(sys, "argv", ["tailroom", *given])
    done = tailroom(*given)
    assert done.status == 4
    lines = [shlex.split(line) for line in done.output.splitlines() if "tailroom size" in line]
    assert [line[1:-2] for line in lines] == [given, given]
    assert [line[-2:] for line in lines] == [
        ["--set", "links.up.queue=fq_codel"],
        ["--vary", "links.down.queue.target"],
    ]


def test_the_door_that_a_run_showed_to_help_comes_first(home: tr.Size) -> None:
    """What was not tried may lead nowhere; short lines have room for one door."""
    kinds = [one.kind for one in home.doors]
    assert kinds.index("other_queue") < kinds.index("limit_not_reached")
    long = replace(home, assumed=tuple(f"assumption {number}" for number in range(30)))
    file = StringIO()
    show(long, Console(file=file, width=80))
    [shown] = [line for line in file.getvalue().splitlines() if line.startswith("next:")]
    assert shown.startswith("next: links.up.queue (drop_tail at up)")


def test_doors_are_in_the_order_of_what_is_known_of_them() -> None:
    """Without an end no run decides; of tried doors, the one that meets most is the best."""
    untried = Door("other_link", "links.a", "slower", "link", "a")
    nearer = Door("other_queue", "links.b.queue", "b", "set", "b", nearness=(1, -0.1))
    meeting = Door("other_queue", "links.c.queue", "c", "set", "c", nearness=(2, 0.01))
    needed = Door("not_ended", "flows.f.stop", "end", "set", "d")
    doors = best_first([untried, nearer, meeting, needed])
    assert doors == (needed, meeting, nearer, untried)


def test_an_answer_with_four_doors_shows_those_with_commands_and_counts_the_rest(
    home: tr.Size,
) -> None:
    """The others are in --explain."""
    led = [Door("other_link", "links.x", "slower", "link", name) for name in ("x", "y", "z")]
    doors = (Door("other_queue", "links.x.queue", "it waits"), *led)
    found = replace(home, doors=doors, assumed=("one assumption", "another one"))

    def printed(answer: tr.Size, *, explain: bool = False) -> list[str]:
        file = StringIO()
        show(answer, Console(file=file, width=80), explain=explain)
        return file.getvalue().splitlines()

    lines = printed(found)
    assert len(lines) <= 27, "\n".join(lines)
    shown = [line for line in lines if line.startswith("next:")]
    assert shown[-1] == "next: slower"
    assert len(shown) < 4
    assert f"--explain ({4 - len(shown)} more way" in lines[-1]
    assert sum(line.startswith("next:") for line in printed(found, explain=True)) == 4
    # A dead end names its door, however long the answer is.
    long = replace(found, assumed=tuple(f"assumption {number}" for number in range(30)))
    assert [line for line in printed(long) if line.startswith("next:")] == ["next: slower"]


def test_flows_behind_access_links_that_cannot_fill_a_link_say_so() -> None:
    """Ten flows of 5 Mbit/s are half of 100 Mbit/s."""
    found = tr.size(
        rate="100 Mbit/s",
        rtt="20 ms",
        flows=10,
        access_rate="5 Mbit/s",
        target="utilization >= 90%",
        duration="5 s",
        max_seeds=4,
    )
    [door] = [one for one in found.doors if one.kind == "too_little_traffic"]
    assert door.values == {"share": pytest.approx(0.5)}


def test_the_slower_link_on_the_way_is_named() -> None:
    text = """
    duration = "10 s"
    measure_from = "2 s"
    [links.fast]
    rate = "20 Mbit/s"
    delay = "1 ms"
    queue = { kind = "drop_tail", limit = "50 packets" }
    [links.slow]
    rate = "10 Mbit/s"
    delay = "1 ms"
    queue = { kind = "drop_tail", limit = "50 packets" }
    [flows.long]
    count = 2
    congestion = "cubic"
    path = ["fast", "slow"]
    rtt = { uniform = ["20 ms", "30 ms"] }
    """
    found = tr.size(Scenario.from_toml(text), "fast.utilization >= 90%", max_seeds=4)
    [door] = [one for one in found.doors if one.kind == "other_link"]
    assert (door.argument, door.given) == ("link", "slow")


ONE_FLOW = """
duration = "10 s"
measure_from = "3 s"
[links.l]
rate = "20 Mbit/s"
delay = "1 ms"
{link}
[flows.f]
path = ["l"]
congestion = "cubic"
rtt = "20 ms"
{flow}
"""
FIFO = 'queue = {{ kind = "drop_tail", limit = "{}" }}'.format
POOL = """pool = "asic"
[pools.asic]
size = "30 kB"
policy = { kind = "dynamic_threshold", alpha = 4.0 }"""
POOL_OF_SWITCH = {"size": "4 MB", "policy": {"kind": "dynamic_threshold", "alpha": 1.0}}
POLICER = 'policer = { rate = "10 Mbit/s", burst = "15 kB" }'
SIZES = '{ kind = "exponential", mean = "200 kB" }'
DYNAMIC = f'source = {{ kind = "finite_flows", load = 1.2, size = {SIZES} }}'


def _unmet(link: str, flow: str = "", **given: Any) -> tr.Size:
    """A question without an answer: one flow cannot fill the link."""
    scenario = Scenario.from_toml(ONE_FLOW.format(link=link, flow=flow))
    return tr.size(scenario, "utilization >= 99.8%", max_seeds=4, atlas=False, **given)


@pytest.mark.parametrize(
    ("link", "key", "words"),
    [
        (f"{FIFO('100 packets')}\n{POLICER}", "links.l.policer.burst", "the policer decides"),
        (f'queue = "fq_codel"\n{POLICER}', "links.l.policer.burst", "the policer decides"),
        (f"{FIFO('300 kB')}\n{POOL}", "pools.asic.policy.alpha", "alpha decides"),
    ],
)
def test_behind_a_limit_that_is_not_reached_the_key_that_acts_is_named(
    link: str, key: str, words: str
) -> None:
    """A discipline that neither drops nor marks is not named: its keys change nothing."""
    found = _unmet(link, vary="links.l.queue.limit")
    [door] = [one for one in found.doors if one.kind == "limit_not_reached"]
    assert (door.argument, door.given) == ("vary", key)
    assert words in door.text
    scenario = Scenario.from_toml(ONE_FLOW.format(link=link, flow=""))
    assert Varied.of(scenario, key)[1] >= 1


def test_the_burst_of_a_policer_answers_what_the_limit_does_not() -> None:
    link = f"{FIFO('100 packets')}\n{POLICER}"
    scenario = Scenario.from_toml(ONE_FLOW.format(link=link, flow=""))
    asked: dict[str, Any] = {"target": "utilization >= 95%", "max_seeds": 4, "precision": 0.3}
    asked["most_loss"] = None
    [door] = tr.size(scenario, **asked).doors
    found = tr.size(scenario, **asked, vary=door.given)
    assert found.answer
    assert found.answer > 15_000


POLICED = (
    *("size", "--rate", "50Mbit/s", "--rtt", "40ms", "--flows", "3 cubic"),
    *("--set", 'links.bottleneck.policer={ rate = "12 Mbit/s", burst = "20 kB" }'),
    *("--vary", "policer.burst", "--target", "utilization >= 90%"),
    *("--duration", "10s", "--max-seeds", "6", "--precision", "0.3"),
)
"""A policer at which no burst keeps to a loss of 1 %."""


def test_a_loss_above_the_added_bound_leads_to_the_bound_that_is_kept(
    tailroom: Tailroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["tailroom", *POLICED])
    done = tailroom(*POLICED)
    assert done.status == 4
    assert "next: links.bottleneck.policer: a shaper in its place lets packets wait" in done.output
    [line] = [shlex.split(line) for line in done.output.splitlines() if "tailroom size" in line]
    assert line[1:-1] == [*POLICED, "--most-loss"]
    accepted = tailroom(*line[1:])
    assert accepted.status == 0
    assert "Smallest links.bottleneck.policer.burst:" in accepted.output


def test_without_an_answer_the_scenarios_own_value_has_its_costs(tailroom: Tailroom) -> None:
    choices = json.loads(tailroom(*POLICED, "--json").output)["choices"]
    assert len(choices) == 2
    assert "20000 B" in choices


POLICED_BYTES = (
    *("size", "--rate", "50Mbit/s", "--rtt", "40ms", "--flows", "3 cubic"),
    *("--set", 'links.bottleneck.policer={ rate = "30 Mbit/s", burst = "12 kB" }'),
    *("--set", 'links.bottleneck.queue={ kind = "drop_tail", limit = "64 kB" }'),
    *("--target", "utilization >= 95%"),
    *("--duration", "10s", "--max-seeds", "6", "--precision", "0.3"),
)
"""A policer at which no limit gives the utilization, and each loses more than 1 %."""


def test_the_nearest_value_is_the_nearest_by_the_means_that_are_shown(tailroom: Tailroom) -> None:
    """Not by the bound on the loss that is added only where the other targets are met."""
    said = json.loads(tailroom(*POLICED_BYTES, "--json").output)
    means = {one["value"]: one["utilization"]["mean"] for one in said["tried"]}
    losses = {one["value"]: one["links.bottleneck.loss_fraction"]["mean"] for one in said["tried"]}
    best = max(means, key=lambda value: means[value])
    assert best != min(losses, key=lambda value: losses[value])
    assert {best, "64000 B"} <= {*said["choices"]}
    printed = tailroom(*POLICED_BYTES).output
    assert f"nearest: {int(best.removesuffix(' B')):,} B" in printed
    assert "64,000 B" in printed


def test_the_nearest_value_is_judged_by_the_mean_of_the_fit(home: tr.Size) -> None:
    """The fit, where it decides, is what the table shows."""
    [target] = home.targets
    first, last = (
        Tried(one.limit, one.point, {target: Outcome.NO})
        for one in (min(home.tried, key=_mean), max(home.tried, key=_mean))
    )
    assert nearest_miss([first, last], [target]) is last
    first.fitted[target] = FittedMean.of(0.998, 0.99, 0.999, 4)
    assert nearest_miss([first, last], [target]) is first


def _mean(one: Tried) -> float:
    return one.interval("links.down.utilization").mean


def test_the_limit_that_numbers_resolve_to_is_nobodys_own(tailroom: Tailroom) -> None:
    asked = [one for one in POLICED_BYTES if one not in ("--set", POLICED_BYTES[10])]
    asked = [*asked[:7], "--set", *asked[7:]]
    assert "64 kB" not in " ".join(asked)
    said = json.loads(tailroom(*asked, "--json").output)
    assert 103 not in [one["limit_packets"] for one in said["tried"]]


def test_the_rate_of_a_policed_link_is_that_of_its_line(tailroom: Tailroom) -> None:
    """The policer's is named for what it is."""
    head = "Link bottleneck: 50.00 Mbit/s behind a policer of 12.00 Mbit/s, bdp 4"
    assert head in " ".join(tailroom(*POLICED).output.replace("│", "").split())


def test_a_shaper_in_place_of_the_policer_keeps_to_the_bound() -> None:
    """As the door of the policer says."""
    found = tr.size(
        rate="50 Mbit/s",
        rtt="40 ms",
        flows="3 cubic",
        set={"links.bottleneck.shaper": {"rate": "12 Mbit/s", "burst": "20 kB"}},
        target="utilization >= 90%",
        duration="10s",
        max_seeds=6,
        precision=0.3,
    )
    assert found.answer is not None


@pytest.mark.parametrize(
    ("link", "flow", "words"),
    [
        (
            'loss = { kind = "bernoulli", probability = 0.003 }',
            "",
            "% of the packets at random, which no buffer changes",
        ),
        ('admission = { min_fair_rate = "15 Mbit/s" }', DYNAMIC, "admission control refuses"),
        ("", "max_window = 10", "nothing else at this link drops, marks or stops packets"),
    ],
)
def test_what_no_key_changes_is_said_in_words(link: str, flow: str, words: str) -> None:
    found = _unmet(f"{FIFO('100 packets')}\n{link}", flow)
    [door] = [one for one in found.doors if one.kind == "limit_not_reached"]
    assert words in door.text
    assert not door.argument


def test_a_larger_burst_of_a_shaper_is_tried() -> None:
    """What a full bucket loses while the queue is empty, no count of a run shows."""
    scenario = Scenario.from_toml(
        ONE_FLOW.format(
            link='queue = "fq_codel"\nshaper = { rate = "5 Mbit/s", burst = "60 kB" }', flow=""
        )
    )
    asked: dict[str, Any] = {"set": {"flows.f.rtt": "100 ms"}, "max_seeds": 4, "most_loss": None}
    found = tr.size(scenario, "utilization >= 99.5%", **asked)
    [door] = [one for one in found.doors if one.kind == "shaper_binds"]
    assert (door.argument, door.given) == ("vary", "links.l.shaper.burst")
    assert "one run with a burst of 3,840,000 B has" in door.text
    assert tr.size(scenario, "utilization >= 99.5%", **asked, vary=door.given).answer


def test_a_burst_that_does_not_help_is_named_with_the_shaper() -> None:
    """The flow's window, not the shaper, holds it back."""
    link = f'{FIFO("100 packets")}\nshaper = {{ rate = "15 Mbit/s", burst = "3 kB" }}'
    found = _unmet(link, "max_window = 10")
    [reached] = [one for one in found.doors if one.kind == "limit_not_reached"]
    assert "else at this link but its shaper (15 Mbit/s in bursts of 3,000 B) drops" in reached.text
    [door] = [one for one in found.doors if one.kind == "shaper_binds"]
    assert "a burst of 192,000 B, the largest that is tried, does not help" in door.text
    assert not door.argument


def test_memory_that_every_alpha_finds_short_leads_to_its_size() -> None:
    short = {"pools.asic.size": "9 kB"}
    found = _unmet(f"{FIFO('300 kB')}\n{POOL}", vary="pools.asic.policy.alpha", set=short)
    [door] = [one for one in found.doors if one.kind == "short_memory"]
    assert (door.argument, door.given) == ("vary", "pools.asic.size")
    assert "at every alpha the shared memory of 9,000 B refuses packets, at least" in door.text
    assert door.values["refused_fraction"] > 0


def test_where_the_nearest_value_is_open_more_seeds_may_decide() -> None:
    found = _unmet(FIFO("100 packets"), "max_window = 10")
    assert list(too_few_seeds(found.tried[0], found.targets, 4)) == []
    open_ = replace(found.tried[0], verdicts=dict.fromkeys(found.targets, Outcome.OPEN))
    [door] = too_few_seeds(open_, found.targets, 4)
    assert (door.argument, door.given) == ("max_seeds", "16")


def test_without_an_answer_the_nearest_value_is_shown_between_its_neighbours(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    path = tmp_path / "one.toml"
    path.write_text(ONE_FLOW.format(link=FIFO("100 packets"), flow="max_window = 10"))
    asked = ("size", path, "--target", "utilization >= 99.8%", "--max-seeds", 4)
    said = json.loads(tailroom(*asked, "--json").output)
    limits = [one["limit_packets"] for one in said["tried"]]
    [nearest, *_] = re.findall(r"nearest: ([\d,]+) packets?", tailroom(*asked).output)
    place = limits.index(int(nearest.replace(",", "")))
    assert said["choices"] == [*limits[max(0, place - 1) : place + 2], 100]
    means = [one["utilization"]["mean"] for one in said["tried"]]
    assert means[place] == max(means)


@pytest.mark.parametrize(
    ("asked", "words", "keys"),
    [
        ({}, "the ports of switches.tor have one limit", ["switches.tor.queue.limit"]),
        (
            {"set": {"switches.tor.pool": POOL_OF_SWITCH}},
            "or the memory that they share with",
            [
                "switches.tor.queue.limit",
                "switches.tor.pool.size",
                "switches.tor.pool.policy.alpha",
            ],
        ),
        (
            {"link": "tor-h0-switch"},
            "the hosts of switches.tor have one for all their interfaces",
            ["switches.tor.nic_queue.limit"],
        ),
    ],
)
def test_a_switch_without_a_key_names_keys_that_can_be_varied(
    asked: dict[str, Any], words: str, keys: list[str]
) -> None:
    target = "out.all_sizes.slowdown_p99 <= 10"
    with pytest.raises(tr.TargetError, match=words) as refused:
        tr.size("leaf", target, **asked)
    assert re.findall(r'vary="([^"]+)"', str(refused.value)) == keys
    source = Scenario.of("leaf", asked.get("set"))
    for key in keys:
        question = read_question(source, target, asked.get("link"), None, key)
        value = question.varied.setting(question.value or 1)
        question.source.replacing({key: value}).check()


def test_of_many_links_few_are_named() -> None:
    """A key of a switch is about all its ports, so that none of them is to be chosen."""
    chosen = read_question(
        Scenario.of("leaf"), "jain_index >= 0.5", None, None, "switches.tor.queue.limit"
    )
    assert "choose another link" not in chosen.link_chosen
    assert some_of(["a", "b", "c"]) == "a, b, c"
    assert some_of([*"abcdef"]) == "6 others, as a, b"
    with pytest.raises(tr.MetricError) as refused:
        read_question(Scenario.of("leaf"), "utilization >= 90%", None, None)
    assert len(str(refused.value)) < 300


def test_a_pause_from_the_far_end_is_said_in_words() -> None:
    text = f"""
    duration = "2 s"
    measure_from = "0.5 s"
    [links.up]
    rate = "100 Mbit/s"
    delay = "100 us"
    {FIFO("200 packets")}
    pause = {{ xoff = "20 kB", xon = "10 kB", headroom = "50 kB" }}
    [links.down]
    rate = "50 Mbit/s"
    delay = "100 us"
    {FIFO("200 packets")}
    [flows.f]
    count = 2
    path = ["up", "down"]
    congestion = "cubic"
    rtt = {{ uniform = ["4 ms", "8 ms"] }}
    """
    found = tr.size(Scenario.from_toml(text), "up.utilization >= 99%", max_seeds=4)
    [door] = [one for one in found.doors if one.kind == "limit_not_reached"]
    assert "the switch at the far end pauses it for 50" in door.text
    assert (door.argument, door.given) == ("vary", "links.up.pause.xoff")


@pytest.mark.parametrize(
    ("link", "key"),
    [
        (f'queue = "fq_codel"\n{POLICER}', "links.l.policer.burst"),
        ('queue = { kind = "codel", limit = "10 packets" }', "links.l.queue.limit"),
    ],
)
def test_a_target_delay_that_is_not_reached_names_what_drops_instead(link: str, key: str) -> None:
    found = _unmet(link, vary="queue.target")
    [door] = [one for one in found.doors if one.kind == "acts_no_more"]
    assert (door.argument, door.given) == ("vary", key)


BINDING = {
    "drop_tail": [],
    "drop_head": [],
    "codel": ["target"],
    "fq_codel": ["target"],
    "pie": ["target"],
    "fq_pie": ["target"],
    "dual_pi2": ["target"],
    "step_mark": ["threshold"],
    "wred": ["k_min"],
    "red": ["min_threshold"],
    "adaptive_red": ["min_threshold"],
}
"""What decides on the queue of each discipline, by its specification."""
NEEDED: dict[str, dict[str, Any]] = {
    "step_mark": {"threshold": "20 packets"},
    "wred": {"k_min": "20 packets", "k_max": "40 packets", "p_max": 0.1},
    "red": {"min_threshold": "20 packets", "max_threshold": "60 packets"},
    "adaptive_red": {"min_threshold": "20 packets", "max_threshold": "60 packets"},
}


def _link_behind(kind: str) -> tuple[Scenario, Bottleneck]:
    queue = {"kind": kind, "limit": "100 packets", **NEEDED.get(kind, {})}
    scenario = Scenario.of("first", {"links.bottleneck.queue": queue})
    return scenario, models.read_bottleneck(scenario)


def _keys_apart_from_limits(scenario: Scenario, link: Bottleneck) -> list[str]:
    keys = [key for cause in causes(scenario, link) for key in cause.keys]
    return [key for key in keys if not key.endswith(".limit")]


@pytest.mark.parametrize("kind", BINDING)
def test_what_binds_is_a_key_that_can_be_varied(kind: str) -> None:
    scenario, link = _link_behind(kind)
    keys = _keys_apart_from_limits(scenario, link)
    assert keys == [f"links.{link.name}.queue.{name}" for name in BINDING[kind]]
    for key in keys:
        assert Varied.of(scenario, key)[1] >= 1


def test_in_a_pool_alpha_decides_first() -> None:
    text = """
    duration = "1 s"
    [pools.asic]
    size = "200 kB"
    policy = { kind = "dynamic_threshold", alpha = 1.0 }
    [links.port]
    rate = "1 Gbit/s"
    delay = "5 us"
    pool = "asic"
    queue = { kind = "step_mark", limit = "100 kB", threshold = "20 packets" }
    [flows.long]
    path = ["port"]
    congestion = "dctcp"
    ecn = "accurate"
    rtt = "50 us"
    """
    scenario = Scenario.from_toml(text)
    keys = _keys_apart_from_limits(scenario, models.read_bottleneck(scenario))
    assert keys == ["pools.asic.policy.alpha", "links.port.queue.threshold"]


def test_a_hosts_own_queue_is_named_where_flows_wait_there() -> None:
    """Long flows of a web search cluster hold short ones up in the FIFO of their host."""
    fifo = {"kind": "drop_tail", "limit": "10000 packets"}
    short = {"duration": "0.06 s", "measure_from": "0.02 s", "switches.tor.hosts": 8}
    found = tr.size(
        "leaf",
        "out.all_sizes.slowdown_p99 <= 10",
        vary="switches.tor.queue.limit",
        set={**short, "switches.tor.nic_queue": fifo},
        max_seeds=4,
        precision=0.5,
    )
    [door] = [one for one in found.doors if one.kind == "other_queue"]
    assert door.place == "switches.tor.nic_queue"
    assert door.given == "switches.tor.nic_queue=fq_codel"
    assert "a host's own queue" in door.text
    assert door.values["queue_delay_s_mean"] > 0.001


def test_a_hosts_own_queue_that_is_fair_already_says_that_there_is_nothing_to_set() -> None:
    """The senders offer their interfaces more than these carry."""
    short = {"duration": "0.06 s", "measure_from": "0.02 s", "switches.tor.hosts": 8}
    found = tr.size(
        "leaf",
        "out.all_sizes.slowdown_p99 <= 1.01",
        vary="switches.tor.queue.limit",
        set={**short, "switches.tor.nic_queue": "fq_codel"},
        max_seeds=4,
        precision=0.5,
    )
    [door] = [one for one in found.doors if one.kind == "other_queue"]
    assert door.place == "switches.tor.nic_queue"
    assert not door.argument
    assert "there is nothing to set: fq_codel serves flows apart already" in door.text
    assert "wait for its own share of the rate" in door.text


SHORT_PIE = """
duration = "5 s"
measure_from = "1 s"
[links.b]
rate = "100 Mbit/s"
delay = "1 ms"
queue = { kind = "pie", limit = "50 packets" }
[flows.f]
count = 4
congestion = "reno"
path = ["b"]
rtt = { uniform = ["4 ms", "8 ms"] }
start = { uniform = ["0 s", "1 s"] }
"""
"""50 packets take 6 ms, less than half of PIE's target of 15 ms: RFC 8033 4.1 lets all pass."""


def test_a_discipline_that_never_acts_before_its_limit_is_called_drop_tail() -> None:
    scenario = Scenario.from_toml(SHORT_PIE)
    found = tr.size(scenario, "utilization >= 60%", max_seeds=4, precision=0.3)
    [door] = [one for one in found.doors if one.kind == "never_acts"]
    assert "pie never drops or marks a packet before the queue is full" in door.text
    assert "the same as drop_tail" in door.text


def test_choices_with_the_same_packets_are_named(tailroom: Tailroom, tmp_path: Path) -> None:
    scenario = Scenario.from_toml(SHORT_PIE)
    compared = tr.choices(scenario, {"links.b.queue": ["pie", "codel", "drop_tail"]}, seeds=2)
    assert compared.identical == [("pie", "drop_tail")]
    file = tmp_path / "short.toml"
    file.write_text(SHORT_PIE)
    printed = tailroom("run", file, "--vary", "queue=pie,codel,drop_tail").output
    assert "pie and drop_tail: the same in every metric" in printed


NEVER_FULL = (
    *("size", "--rate", "50Mbit/s", "--rtt", "20ms", "--flows", "4 cubic"),
    *("--target", "utilization >= 90%", "--duration", "10s"),
    *("--max-seeds", "8", "--precision", "0.3"),
)


@pytest.mark.parametrize(("queue", "limit"), [("fq_codel", 10_240), ("pie", 1000)])
def test_a_limit_that_is_never_reached_is_left_as_the_scenario_has_it(
    tailroom: Tailroom, queue: str, limit: int
) -> None:
    """The discipline keeps the queue short: the smallest limit is a number, not a setting."""
    asked = (*NEVER_FULL, "--set", f"links.bottleneck.queue={queue}")
    done = tailroom(*asked)
    assert done.status == 0
    said = " ".join(done.output.replace("│", "").split())
    assert f"Leave the scenario's limit, {limit:,} packets: no packet finds the queue full" in said
    assert "Smallest queue limit:" in said
    assert f"root {queue} limit {limit} " in said
    found = json.loads(tailroom(*asked, "--json").output)
    assert found["kept_limit"]["packets"] == found["choices"][-1] == limit
    assert found["limit"]["packets"] < limit
    assert f"limit {limit} " in found["equivalents"]["tc"]["text"]


def test_a_limit_that_the_targets_need_is_not_left(tailroom: Tailroom) -> None:
    """CoDel with a slow target lets the queue of its own limit grow beyond the delay asked for."""
    queue = '{ kind = "codel", limit = "1000 packets", target = "30 ms" }'
    asked = (*NEVER_FULL, "--set", f"links.bottleneck.queue={queue}", "--most-loss", "0.2")
    found = json.loads(tailroom(*asked, "--target", "queue_delay_s_p99 <= 15 ms", "--json").output)
    assert found["limit"]["packets"] < 1000
    assert found["kept_limit"] is None
    assert f"limit {found['limit']['packets']} " in found["equivalents"]["tc"]["text"]


def test_the_limit_of_a_tail_drop_is_the_answer(tailroom: Tailroom) -> None:
    queue = '{ kind = "drop_tail", limit = "1000 packets" }'
    found = json.loads(
        tailroom(*NEVER_FULL, "--set", f"links.bottleneck.queue={queue}", "--json").output
    )
    assert found["kept_limit"] is None
    assert 1000 not in [one["limit_packets"] for one in found["tried"]]
    assert f"limit {found['limit']['packets']}" in found["equivalents"]["tc"]["text"]


def test_a_limit_that_is_never_reached_in_a_pool_is_left_too(tailroom: Tailroom) -> None:
    """The memory is what switches set; the limit of the queue is no line of theirs."""
    queue = '{ kind = "wred", limit = "400 packets", k_min = "20 packets", k_max = "60 packets" }'
    asked = [*NEVER_FULL, "--set", f"links.bottleneck.queue={queue}", "--config", "sonic"]
    asked += ["--set", 'pools.asic={size="2 MB", policy={kind="dynamic_threshold", alpha=1}}']
    asked += ["--set", "links.bottleneck.pool=asic"]
    found = json.loads(tailroom(*asked, "--json").output)
    assert found["kept_limit"]["packets"] == 400
    lines = found["devices"]["sonic"]
    assert '"dynamic_th": "0"' in lines["text"]
    assert "queue.limit" in [one["key"] for one in lines["left_out"]]
