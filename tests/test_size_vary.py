"""`size` over another key than the limit: closed forms, the answer's form, and wrong keys."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tailroom as tr
from tailroom.scenario.scenario import Scenario
from tailroom.simulation.metrics import metrics_of
from tailroom.statistics.outcome import Outcome
from tailroom.studies.size_study.alphas import ALPHAS
from tailroom.studies.size_study.question import read_question
from tailroom.studies.size_study.varied_key import Varied
from tests.conftest import Tailroom

pytestmark = pytest.mark.usefixtures("quick_models")

PACKETS = 100
POLICED = f"""
duration = "1 s"
[links.b]
rate = "1 Gbit/s"
delay = "1 ms"
queue = {{ kind = "drop_tail", limit = "1000 packets" }}
policer = {{ rate = "12 Mbit/s", burst = "60 kB" }}
[flows.burst]
path = ["b"]
packet_size = "1500 B"
stop = "{0.1 * (PACKETS - 1) + 0.05} ms"
source = {{ kind = "cbr", rate = "120 Mbit/s", phase = "0 s" }}
"""
"""100 packets, one per 0.1 ms, while the bucket gets the tokens of one per 1 ms."""


def test_a_burst_passes_a_policer_whose_bucket_holds_it() -> None:
    """Before the last packet, 99 have been taken and the tokens of 9.9 have arrived."""
    needed = round(1500 * (1 + 0.9 * (PACKETS - 1)))
    scenario = Scenario.from_toml(POLICED)
    answer = tr.size(scenario, ["loss_fraction <= 0"], vary="policer.burst", precision=0.0003)
    assert answer.varied == Varied("links.b.policer.burst", "size", is_limit=False)
    assert answer.smallest is not None
    assert needed <= answer.smallest <= 1.0001 * needed
    assert answer.value == f"{answer.smallest} B"
    assert answer.limit_packets is None
    assert (
        tr.run(scenario, set={"links.b.policer.burst": answer.value}).links["b"]["loss_fraction"]
        == 0
    )


def test_a_burst_waits_for_a_shaper_whose_bucket_lacks_its_tokens() -> None:
    """The last packet lacks the tokens of 20 packets, which take 20 ms at 12 Mbit/s."""
    needed = round(1500 * (1 + 0.9 * (PACKETS - 1) - 20))
    shaped = Scenario.from_toml(POLICED.replace("policer", "shaper"))
    target = "queue_delay_s_max <= 20 ms"
    answer = tr.size(shaped, target, vary="links.b.shaper.burst", precision=0.0003)
    assert answer.varied == Varied("links.b.shaper.burst", "size", is_limit=False)
    assert answer.smallest is not None
    assert needed <= answer.smallest <= 1.0001 * needed


def pooled(size: str, policy: str) -> Scenario:
    """The same burst into the memory of a pool, without a policer at a tenth of the rate.

    Before the last packet, 99 have arrived and 9 have left. Memory is free when a packet has left.
    """
    flow = POLICED[POLICED.index("[flows.burst]") :]
    return Scenario.from_toml(f"""
duration = "1 s"
[pools.asic]
size = "{size}"
policy = {policy}
[links.b]
rate = "12 Mbit/s"
delay = "1 ms"
queue = "drop_tail"
pool = "asic"
{flow}""")


HELD = 1500 * (PACKETS - 1 - 9)
"""Bytes that the last packet of the burst finds in the pool."""


def test_the_smallest_pool_holds_a_burst_less_what_leaves_meanwhile() -> None:
    scenario = pooled("200 kB", '"complete_sharing"')
    answer = tr.size(scenario, ["loss_fraction <= 0"], vary="pools.asic.size", precision=0.0003)
    assert answer.varied == Varied("pools.asic.size", "size", is_limit=False)
    assert answer.smallest is not None
    assert HELD + 1500 <= answer.smallest <= 1.0001 * (HELD + 1500)
    assert answer.value == f"{answer.smallest} B"


def test_the_alphas_that_let_a_queue_have_what_the_burst_needs() -> None:
    """The last packet finds the queue below alpha (B - Q), where 3 (B - Q) is the queue.

    Of equally good powers of two, the smallest is the best.
    """
    scenario = pooled(f"{HELD * 4 // 3} B", '{ kind = "dynamic_threshold", alpha = 1 }')
    answer = tr.size(scenario, ["loss_fraction <= 0"], vary="asic.policy.alpha")
    assert [answer.varied.text(steps) for steps in answer.alphas] == ["4", "8", "16", "32", "64"]
    assert answer.value == 4.0
    assert answer.as_good == answer.alphas[1:]
    assert [answer.varied.text(one.limit) for one in answer.tried][:2] == ["1/128", "1/64"]


CODEL = """
duration = "10 s"
measure_from = "3 s"
[links.b]
rate = "20 Mbit/s"
delay = "5 ms"
queue = { kind = "codel", target = "5 ms", limit = "1000 packets" }
[flows.f]
count = 4
path = ["b"]
congestion = "cubic"
rtt = { uniform = ["30 ms", "50 ms"] }
start = { uniform = ["0 s", "1 s"] }
"""


def test_the_target_of_codel_has_an_answer_that_other_seeds_confirm() -> None:
    # Targets below 1.25 ms all give 98.98 % (60 seeds), which 16 runs do not tell from 99 %.
    scenario = Scenario.from_toml(CODEL)
    answer = tr.size(scenario, "utilization >= 99.5%", vary="queue.target", max_seeds=16)
    assert answer.smallest is not None
    assert "links.b.queue.target = " in answer.sentence
    # `tc` takes whole microseconds.
    assert 5000 in {one.limit for one in answer.tried}
    assert str(answer.value).endswith(" us")
    changed = {"links.b.queue.target": answer.value}
    used = [tr.run(scenario, seed=seed, set=changed) for seed in range(100, 116)]
    assert sum(run.links["b"]["utilization"] for run in used) / 16 >= 0.994


def test_the_command_prints_the_value_with_its_unit(tailroom: Tailroom, tmp_path: Path) -> None:
    file, picture = tmp_path / "policed.toml", tmp_path / "burst.png"
    file.write_text(POLICED)
    asked = ("size", file, "--vary", "policer.burst", "--target", "loss_fraction <= 20%")
    done = tailroom(*asked, "--out", picture)
    assert done.status == 0
    assert "Smallest links.b.policer.burst: " in done.output
    assert "Tested values" in tailroom(*asked, "--explain").output
    assert "queue limit" not in done.output
    assert picture.stat().st_size > 10_000
    answer: dict[str, Any] = json.loads(tailroom(*asked, "--json").output)
    assert answer["key"] == "links.b.policer.burst"
    assert answer["value"].endswith(" B")
    assert answer["limit"] is None
    assert all(tried["value"].endswith(" B") for tried in answer["tried"])


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("links.b.queue.kind", "is 'drop_tail'; to vary it, give it a positive number"),
        ("links.b.shaper.burst", "no links.b.shaper.burst; give it a value to begin with"),
        ("links.c.rate", "no link"),
        ("policers.burst", "policers.burst: no key ends so; did you mean links.b.policer.burst"),
        ("path", "several keys|is .'b'.; to vary it"),
    ],
)
def test_a_key_that_has_no_number_is_refused(key: str, problem: str) -> None:
    with pytest.raises(tr.ScenarioError, match=problem):
        tr.size(Scenario.from_toml(POLICED), "loss_fraction <= 1%", vary=key)


def test_the_limit_may_be_named_too() -> None:
    answer = tr.size(
        Scenario.from_toml(CODEL), "utilization >= 60%", vary="queue.limit", max_seeds=4
    )
    assert answer.limit_packets is not None


@pytest.mark.parametrize(
    ("quantity", "steps", "text", "setting"),
    [
        ("duration", 1_240_000, "1.24 ms", "1240000 ns"),
        ("duration", 999, "999 ns", "999 ns"),
        ("size", 45_000, "45,000 B", "45000 B"),
        ("rate", 1_500, "1.5 Mbit/s", "1500 kbit/s"),
        ("packets", 7, "7 packets", "7 packets"),
        ("number", 250_000, "0.25", 0.25),
    ],
)
def test_how_values_are_written(quantity: Any, steps: int, text: str, setting: object) -> None:
    varied = Varied("key", quantity, is_limit=False)
    assert varied.text(steps) == text
    assert varied.setting(steps) == setting


@pytest.mark.parametrize(
    ("link", "key"),
    [
        ("tor-switch-h0", "switches.tor.queue.limit"),
        ("tor-h3-switch", "switches.tor.nic_queue.limit"),
        (None, "switches.tor.queue.limit"),
    ],
)
def test_a_port_of_a_switch_is_refused_with_the_key_of_its_limit(
    link: str | None, key: str
) -> None:
    with pytest.raises(tr.TargetError) as refusal:
        tr.size("incast", ["queries.completed_flows >= 1"], link=link)
    assert key in str(refusal.value)


@pytest.mark.parametrize(
    ("first", "best", "by"),
    [
        ("l0.queue_delay_s_p99 <= 1 s", "1/2", "the lowest l0.queue_delay_s_p99"),
        ("l0.queue_packets_mean >= 1", "2", "the highest l0.queue_packets_mean"),
    ],
)
def test_a_burst_next_to_a_full_queue_passes_at_alphas_around_one(
    first: str, best: str, by: str
) -> None:
    """The full queue leaves B / (1 + alpha), of which a burst gets alpha B / (1 + alpha)^2.

    Of a fifth of the memory that is enough from 0.38 to 2.62. The loss of the full queue is beyond
    the bound that `size` adds at every alpha.
    """
    answer = tr.size(
        Scenario.from_toml(CROWDED), [first, "l1.loss_fraction <= 0"], vary="policy.alpha"
    )
    assert [answer.varied.text(steps) for steps in answer.alphas] == ["1/2", "1", "2"]
    assert answer.smallest is not None
    assert answer.varied.text(answer.smallest) == best
    assert answer.best_by == by
    written = answer.as_dict()["alphas"]
    assert written["meeting"] == [0.5, 1.0, 2.0]
    assert f"= {best} is the best of 1/2, 1, 2, which meet" in answer.sentence


def test_the_picture_of_alphas_has_their_values() -> None:
    targets = ["l0.queue_delay_s_p99 <= 1 s", "l1.loss_fraction <= 0"]
    answer = tr.size(Scenario.from_toml(CROWDED), targets, vary="policy.alpha")
    [panel, *_] = answer.plot().axes
    assert np.asarray(panel.lines[0].get_xdata()).tolist() == [2.0**n for n in range(-7, 7)]
    assert panel.get_xscale() == "log"


def test_loss_of_a_pool_that_no_target_limits_is_named() -> None:
    """The full queue loses 19 of 20 packets, whatever the alpha; the burst nothing."""
    targets = ["l0.queue_delay_s_p99 <= 1 s", "l1.queue_packets_max <= 400"]
    answer = tr.size(
        Scenario.from_toml(CROWDED), targets, vary="policy.alpha", most_loss=None, max_seeds=4
    )
    assert answer.chosen
    loss = answer.chosen.interval("pools.p.loss_fraction").mean
    assert loss > 0.9
    [found] = [one for one in answer.warnings if one["kind"] == "heavy_loss"]
    assert (found["place"], found["values"]) == ("pools.p", {"loss_fraction": loss})
    assert f"{100 * loss:.0f} % of the packets of pool p (2 links) are lost" in found["text"]
    assert 'add target="p.loss_fraction <= 1%"' in found["text"]


def test_alphas_with_which_no_query_is_answered_miss_the_target() -> None:
    """With an alpha of 1/128, a port of 9 kB takes one packet of 1500 B at a time.

    A query of ten answers of four packets does not end then within the 12 ms of a run.
    """
    short = {
        "switches.tor.pool": {"size": "1 MB", "policy": {"kind": "dynamic_threshold", "alpha": 1}},
        "duration": "12 ms",
        "queries.source.period": "10 ms",
    }
    metric = "queries.coflows.completion_time_s_p90"
    answer = tr.size(
        Scenario.from_toml(INCAST),
        f"{metric} <= 5 ms",
        vary="pool.policy.alpha",
        set=short,
        max_seeds=4,
    )
    assert {one.limit for one in answer.tried} == {*ALPHAS}
    smallest = answer.tried[0]
    assert smallest.verdict is Outcome.NO
    # In some runs neither of the two queries is answered, so that no time is known.
    assert 2.0 in {row[f"groups.{LEFT}"] for row in smallest.point.finished}
    assert smallest.interval(metric).is_lower_bound


LEFT = "queries.coflows.unfinished_coflows"


def test_no_alpha_is_an_answer_if_none_meets_the_targets() -> None:
    answer = tr.size(
        Scenario.from_toml(CROWDED), "l0.loss_fraction <= 1%", vary="policy.alpha", max_seeds=4
    )
    assert answer.is_unmet
    assert answer.alphas == []


def test_the_command_names_all_alphas_and_the_best(tailroom: Tailroom, tmp_path: Path) -> None:
    file = tmp_path / "crowded.toml"
    file.write_text(CROWDED)
    targets = ("--target", "l0.queue_delay_s_p99 <= 1 s", "--target", "l1.loss_fraction <= 0")
    done = tailroom("size", file, "--vary", "policy.alpha", *targets)
    assert done.status == 0
    assert "Best pools.p.policy.alpha: 1/2" in done.output
    assert "all that meet the targets: 1/2, 1, 2" in done.output
    assert "pools.p is pool p (2 links)" in done.output


CROWDED = """
duration = "300 ms"
measure_from = "50 ms"
[pools.p]
size = "300 kB"
policy = { kind = "dynamic_threshold", alpha = 1 }
[links.l0]
rate = "10 Mbit/s"
delay = "0 ms"
queue = "drop_tail"
pool = "p"
[links.l1]
rate = "10 Mbit/s"
delay = "0 ms"
queue = "drop_tail"
pool = "p"
[flows.full]
path = ["l0"]
packet_size = "300 B"
source = { kind = "cbr", rate = "200 Mbit/s", phase = "0 s" }
[flows.burst]
path = ["l1"]
packet_size = "300 B"
start = "100 ms"
stop = "100.049 ms"
source = { kind = "cbr", rate = "9.6 Gbit/s", phase = "0 s" }
"""
"""A burst of 196 packets, 58.8 kB of 300 kB, in less time than a packet of the full queue takes."""

INCAST = """
duration = "60 ms"
measure_from = "0 s"
[switches.tor]
hosts = 12
rate = "1 Gbit/s"
delay = "5 us"
queue = "drop_tail"
pool = { size = "200 kB", policy = "complete_sharing" }
[flows.queries]
from = "tor"
to = "tor.h0"
congestion = "reno"
host = "data_center"
source = { kind = "incast", fan_in = 10, size = "30 kB", period = "6 ms" }
"""


@pytest.fixture(scope="module")
def incast() -> tr.Size:
    target = "queries.coflows.completed_coflows >= 1"
    return tr.size(Scenario.from_toml(INCAST), target, vary="tor.pool.size", max_seeds=8)


def test_the_bound_on_the_loss_is_that_of_the_pool(incast: tr.Size) -> None:
    """Interfaces of hosts, which are as slow as ports, lose nothing."""
    assert str(incast.loss_target) == "tor-switch.loss_fraction <= 1%"
    assert incast.smallest is not None
    assert incast.without_loss_target is not None
    assert incast.without_loss_target < incast.smallest
    lost = {}
    for steps in (incast.without_loss_target, incast.smallest):
        changed = {"switches.tor.pool.size": incast.varied.setting(steps)}
        run = tr.run(Scenario.from_toml(INCAST), set=changed)
        pool, links = run.pools["tor-switch"], run.links
        assert all(
            not link["drops_packets"] for name, link in links.items() if name not in pool["links"]
        )
        members = [links[name] for name in pool["links"]]
        # Every packet has left or was dropped by the end: no arrival of the window is in the queue.
        dropped = sum(link["drops_packets"] for link in members)
        lost[steps] = dropped / sum(link["arrivals_packets"] for link in members)
        assert pool["loss_fraction"] == pytest.approx(lost[steps])
    assert lost[incast.smallest] <= 0.01 < lost[incast.without_loss_target]
    assert incast.loss_of(incast.without_loss_target) == pytest.approx(
        lost[incast.without_loss_target], rel=0.2
    )


def test_the_costs_are_those_of_the_pool_and_its_busiest_port(incast: tr.Size) -> None:
    assert incast.shown_metrics[:4] == [
        "pools.tor-switch.loss_fraction",
        "pools.tor-switch.memory_bytes_mean",
        "pools.tor-switch.memory_bytes_p99",
        "links.tor-switch-h0.queue_delay_s_p99",
    ]
    assert incast.link.name == "tor-switch-h0"
    assert incast.as_dict()["pools"] == ["tor-switch"]
    assert "switches.tor.pool is pool tor-switch (12 links)" in incast.link_chosen


@pytest.mark.parametrize(
    ("key", "pools", "bound"),
    [
        (
            "fabrics.dc.pool.size",
            ["dc-leaf0", "dc-spine0", "dc-leaf1"],
            "pool_loss_fraction_max <= 1%",
        ),
        ("fabrics.dc.reserved", ["dc-leaf0", "dc-spine0", "dc-leaf1"], "pool_loss_fraction_max"),
        ("pools.other.size", ["other"], "other.loss_fraction <= 1%"),
        ("links.l.reserved", ["other"], "other.loss_fraction <= 1%"),
        ("fabrics.dc.queue.threshold", None, ".loss_fraction <= 1%"),
    ],
)
def test_a_key_of_a_fabric_belongs_to_the_pools_of_all_switches(
    key: str, pools: list[str] | None, bound: str
) -> None:
    scenario = Scenario.from_toml("""
duration = "10 ms"
[pools.other]
size = "1 MB"
policy = "complete_sharing"
[links.l]
rate = "1 Gbit/s"
delay = "1 us"
queue = "drop_tail"
pool = "other"
reserved = "2 kB"
[fabrics.dc]
leaves = 2
spines = 1
hosts = 2
rate = "10 Gbit/s"
delay = "1 us"
queue = { kind = "step_mark", threshold = "50 kB", limit = "1 MB" }
pool = { size = "1 MB", policy = "complete_sharing" }
reserved = "2 kB"
[flows.f]
from = "dc.leaf0"
to = "dc.leaf1"
congestion = "cubic"
[flows.g]
path = ["l"]
congestion = "cubic"
rtt = "1 ms"
""")
    question = read_question(scenario, "f.goodput_bps >= 1 Mbit/s", None, 0.01, key)
    assert (list(question.pools.links) if question.pools else None) == pools
    assert bound in str(question.loss)
    if pools and question.pools:
        assert question.link.name in question.pools.members


def test_the_largest_loss_of_a_pool_is_a_metric() -> None:
    summary = tr.run(Scenario.from_toml(INCAST)).summary
    losses = [pool["loss_fraction"] or 0.0 for pool in summary["pools"].values()]
    assert metrics_of(summary)["pool_loss_fraction_max"] == max(losses)
    assert max(losses) > 0


def test_the_scenarios_alpha_is_kept_where_the_runs_do_not_tell_it_from_the_best(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    """Twenty times its rate arrives at the full link, which no alpha leaves idle."""
    file = tmp_path / "crowded.toml"
    file.write_text(CROWDED)
    asked: tuple[object, ...] = ("size", file, "--vary", "policy.alpha")
    asked += ("--target", "l0.utilization >= 99%")
    asked += ("--most-loss", "none")
    said = json.loads(tailroom(*asked, "--json").output)
    assert said["value"] == 1.0
    assert said["alphas"]["best"] != 1.0
    assert 1.0 in said["alphas"]["as_good"]
    words = re.sub(r"[│\s]+", " ", tailroom(*asked).output)
    assert "Leave the scenario's value, 1: the runs do not tell it from the best one" in words


BEFORE_A_MODEM = """
duration = "6 s"
measure_from = "2 s"
[links.router]
rate = "100 Mbit/s"
delay = "0 ms"
queue = { kind = "drop_tail", limit = "20 packets" }
shaper = { rate = "40 Mbit/s", burst = "3 kB" }
[links.modem]
rate = "20 Mbit/s"
delay = "1 ms"
queue = { kind = "drop_tail", limit = "100 packets" }
[flows.f]
count = 4
congestion = "cubic"
path = ["router", "modem"]
rtt = "20 ms"
start = { uniform = ["0 s", "1 s"] }
"""


def asked_before_a_modem(folder: Path, *targets: str) -> list[object]:
    """The question how fast the router's shaper may be."""
    file = folder / "modem.toml"
    file.write_text(BEFORE_A_MODEM)
    asked = ["size", file, "--vary", "shaper.rate", "--max-seeds", 4, "--most-loss", "none"]
    return [*asked, *(word for target in targets for word in ("--target", target))]


def test_of_a_shaper_before_a_modem_the_largest_rate_is_found_that_spares_its_queue(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    """Up to the modem's rate nothing waits there; its full queue of 100 packets takes 60 ms."""
    asked = asked_before_a_modem(tmp_path, "modem.queue_delay_s_p99 <= 5 ms")
    said = json.loads(tailroom(*asked, "--json").output)
    assert said["largest"] == said["value"]
    kbps = int(said["value"].removesuffix(" kbit/s"))
    assert 18_000 <= kbps <= 21_000
    words = re.sub(r"[│\s]+", " ", tailroom(*asked).output)
    assert f"Largest links.router.shaper.rate: {kbps / 1000:.4g} Mbit/s" in words
    assert "Mbit/s is too large" in words


def test_a_rate_that_may_be_larger_still_is_left_as_it_is(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    asked = asked_before_a_modem(tmp_path, "modem.queue_delay_s_p99 <= 1 s")
    words = re.sub(r"[│\s]+", " ", tailroom(*asked).output)
    assert "none is known to be the largest; leave the scenario's value" in words


def test_the_lines_of_a_shaper_set_the_largest_rate_that_meets_and_not_the_smallest(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    """5 Mbit/s of goodput need little; up to the modem's 20 Mbit/s nothing waits there."""
    targets = ("modem.queue_delay_s_p99 <= 5 ms", "f.goodput_bps >= 5 Mbps")
    asked = asked_before_a_modem(tmp_path, *targets)
    said = json.loads(tailroom(*asked, "--json").output)
    largest = int(said["value"].removesuffix(" kbit/s"))
    assert 19_000 <= largest <= 20_000
    assert int(said["too_small"].removesuffix(" kbit/s")) < 6_000
    assert f"tbf rate {largest}000bit" in tailroom(*asked).output
    # Shares of different rates are no price.
    assert "groups.f.goodput_bps" in said["metrics"]
    assert "links.router.utilization" not in said["metrics"]
    runs = sum(one["runs"] for one in said["tried"])
    assert runs <= 16 * 4, "the other end, which nobody sets, is not approached"


@pytest.mark.parametrize(
    ("changes", "key", "link", "wanted"),
    [
        ({}, "ingress.alpha", None, "switches.tor.ingress.alpha of tor-switch-h0"),
        # Slower links of hosts do not change whose memory it is.
        ({"switches.tor.rate": "1 Gbit/s"}, "ingress.alpha", None, "of tor-switch-h0"),
        ({}, "limit", "tor-switch-h1", "switches.tor.queue.limit of tor-switch-h1"),
        ({}, "limit", "tor-h0-switch", "switches.tor.nic_queue.limit of tor-h0-switch"),
        ({}, "nic_queue.limit", None, "switches.tor.nic_queue.limit of tor-h1-switch"),
    ],
)
def test_a_key_of_a_switch_is_about_its_ports(
    changes: dict[str, object], key: str, link: str | None, wanted: str
) -> None:
    scenario = Scenario.from_toml(INGRESSES).replacing(changes)
    question = read_question(scenario, "f.goodput_bps >= 1 Mbit/s", link, None, key)
    assert f"{question.varied.key} of {question.link.name}".endswith(wanted)
    assert question.varied.is_alpha is (key == "ingress.alpha")


def test_the_pool_of_a_switch_is_varied_by_the_key_of_the_switch() -> None:
    pool = {"size": "1 MB", "policy": {"kind": "dynamic_threshold", "alpha": 1}}
    scenario = Scenario.from_toml(INGRESSES).replacing({"switches.tor.pool": pool})
    with pytest.raises(tr.ScenarioError, match=r"use vary=.switches\.tor\.pool\.policy\.alpha"):
        tr.size(scenario, "f.goodput_bps >= 1 Mbit/s", vary="pools.tor-switch.policy.alpha")


def test_of_several_keys_the_one_of_the_link_is_varied() -> None:
    question = read_question(
        Scenario.read("home-router"), "utilization >= 50%", "down", 0.01, "rate"
    )
    assert question.varied.key == "links.down.rate"


INGRESSES = """
duration = "10 ms"
[switches.tor]
hosts = 2
rate = "10 Gbit/s"
delay = "1 us"
queue = { kind = "drop_tail", limit = "1 MB" }
pause = { xoff = "2 kB", xon = "2 kB", headroom = "100 kB" }
ingress = { pool = { size = "1 MB" }, alpha = 0.125 }
[flows.f]
count = 2
from = "tor.h1"
to = "tor.h0"
congestion = "cubic"
"""
