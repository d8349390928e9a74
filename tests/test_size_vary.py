"""`size` over another key than the limit: closed forms, the answer's form, and wrong keys."""

import json
from pathlib import Path
from typing import Any

import pytest

import tailroom as tr
from tailroom.scenario.scenario import Scenario
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


def test_the_smallest_alpha_lets_a_queue_have_what_the_burst_needs() -> None:
    """The last packet finds the queue below alpha (B - Q), where 3 (B - Q) is the queue."""
    scenario = pooled(f"{HELD * 4 // 3} B", '{ kind = "dynamic_threshold", alpha = 1 }')
    answer = tr.size(scenario, ["loss_fraction <= 0"], vary="asic.policy.alpha", precision=0.0003)
    assert answer.varied == Varied("pools.asic.policy.alpha", "number", is_limit=False)
    assert isinstance(answer.value, float)
    assert 3 < answer.value <= 3.0003


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
    scenario = Scenario.from_toml(CODEL)
    answer = tr.size(scenario, "utilization >= 99%", vary="queue.target", max_seeds=16)
    assert answer.smallest is not None
    assert "links.b.queue.target = " in answer.sentence
    changed = {"links.b.queue.target": answer.value}
    used = [tr.run(scenario, seed=seed, set=changed) for seed in range(100, 116)]
    assert sum(run.links["b"]["utilization"] for run in used) / 16 >= 0.988


def test_the_command_prints_the_value_with_its_unit(tailroom: Tailroom, tmp_path: Path) -> None:
    file, picture = tmp_path / "policed.toml", tmp_path / "burst.png"
    file.write_text(POLICED)
    asked = ("size", file, "--vary", "policer.burst", "--target", "loss_fraction <= 20%")
    done = tailroom(*asked, "--out", picture)
    assert done.status == 0
    assert "Smallest links.b.policer.burst: " in done.output
    assert "Tested values" in done.output
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
