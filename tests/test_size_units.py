"""A limit stays in the unit in which the scenario has it: search, answer, JSON and other tools."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tailroom as tr
from tailroom import models
from tailroom.errors import ScenarioError
from tailroom.scenario.scenario import Scenario
from tailroom.scenario.shipped_scenarios import shipped_scenarios
from tailroom.studies.size_study.amounts import amounts_words
from tailroom.studies.size_study.question import Numbers, asked_scenario
from tailroom.studies.size_study.varied_key import Varied
from tests.conftest import Tailroom

PACKETS_OF_A_RUN = 20_000
SHOWN_LIMITS = ("limit_packets", "limit_bytes", "limit_ms", "limit_bdp")
"""How results show a limit. In bdp, it may end within a packet, where no packet fits."""
MIXED = """
duration = "10 s"
measure_from = "2 s"
[links.up]
rate = "1 Mbit/s"
delay = "8 ms"
queue = { kind = "drop_tail", limit = "%s" }
[flows.upload]
congestion = "reno"
path = ["up"]
rtt = "40 ms"
start = { uniform = ["0 s", "1 s"] }
[flows.voice]
path = ["up"]
packet_size = "200 B"
rtt = "40 ms"
source = { kind = "cbr", rate = "64 kbit/s" }
"""
"""A voice call next to an upload: the packets that wait have 200 and 1500 B."""
ALIKE = MIXED.partition("[flows.voice]")[0]
ACKS = """
[links.down]
rate = "16 Mbit/s"
delay = "8 ms"
queue = { kind = "drop_tail", limit = "20 packets" }
[flows.download]
congestion = "reno"
path = ["down"]
reverse_path = ["up"]
rtt = "40 ms"
"""
WEB = """
[flows.web]
congestion = "reno"
path = ["up"]
rtt = "40 ms"
source = { kind = "finite_flows", load = 0.1, size = "9 kB" }
"""


def _limits_of(name: str) -> Iterator[tuple[Scenario, Varied, int]]:
    """Each limit of a shipped scenario as `size` varies it, with its own value in steps."""
    source = Scenario.of(name)
    tables: Any = source.resolved
    for link in tables.get("links", {}):
        read = models.read_bottleneck(source, link)
        varied = Varied.limit_of(source, read)
        yield source, varied, varied.steps_of(read.limit_packets)
    for kind in ("switches", "fabrics"):
        for table in tables.get(kind, {}):
            yield source, *Varied.of(source, f"{kind}.{table}.queue.limit")


def _short(source: Scenario) -> dict[str, object]:
    """The settings of a run as short as the times in the scenario permit."""
    links = [models.read_bottleneck(source, link) for link in models.crossed_links(source)]
    span_s = min(PACKETS_OF_A_RUN * 12_000 / max(link.rate_bps for link in links), 5.0)
    while span_s < 1000:
        short: dict[str, object] = {"duration": f"{span_s:.9f} s", "measure_from": "0 s"}
        try:
            source.replacing(short).check()
        except ScenarioError:
            span_s *= 2
        else:
            return short
    return {}


def _measured(source: Scenario, settings: dict[str, object]) -> dict[str, Any]:
    """What a run measures, without the limit itself."""
    summary: dict[str, Any] = dict(tr.run(source, set=settings).summary)
    for link in summary["links"].values():
        for name in SHOWN_LIMITS:
            link.pop(name)
    return {key: summary[key] for key in ("links", "groups", "flows")}


@pytest.mark.parametrize("name", shipped_scenarios())
def test_the_study_at_a_scenarios_own_buffer_is_the_run(name: str) -> None:
    short = _short(Scenario.of(name))
    expected = _measured(Scenario.of(name), short)
    for source, varied, steps in _limits_of(name):
        own = {varied.key: varied.setting(steps)}
        assert _measured(source, {**short, **own}) == expected, varied.key


@pytest.mark.parametrize(
    ("written", "quantity", "steps", "setting", "text"),
    [
        ("28 packets", "packets", 28, "28 packets", "28 packets"),
        ("64 kB", "size", 64_000, "64000 B", "64,000 B"),
        ("100 ms", "duration", 100_000_000, "100000000 ns", "100 ms"),
        ("2.5 bdp", "bdp", 2_500_000, "2.5 bdp", "2.5 bdp"),
    ],
)
def test_a_limit_is_varied_in_its_unit(
    written: str, quantity: str, steps: int, setting: str, text: str
) -> None:
    source = Scenario.from_toml(MIXED % written)
    link = models.read_bottleneck(source, "up")
    varied = Varied.limit_of(source, link)
    assert varied.quantity == quantity
    assert varied.steps_of(link.limit_packets) == steps
    assert varied.setting(steps) == setting
    assert varied.text(steps) == text


def test_a_limit_in_bdp_is_one_buffer_whatever_rtts_the_seeds_draw() -> None:
    drawn = ALIKE.replace('rtt = "40 ms"', 'rtt = { uniform = ["30 ms", "50 ms"] }')
    source = Scenario.from_toml(drawn % "20 bdp")
    found = tr.size(source, "utilization >= 50%", max_seeds=4)
    bdp = found.link.bdp_packets * 1500
    for one in found.tried:
        (limit,) = one.point.settings.values()
        steps = one.limit
        # Down to a whole byte, in proportion to the scenario's 20 bdp, which are rounded down too.
        short = steps * 1e-6 * bdp - float(str(limit).removesuffix(" B"))
        assert -1e-6 <= short < 1 + steps / 20e6
        used = [tr.run(source, set=one.point.settings, seed=seed) for seed in (1, 2, 3)]
        assert len({run.links["up"]["limit_bytes"] for run in used}) == 1
    # One packet is the smallest buffer for every seed.
    assert found.tried[0].point.settings == {"links.up.queue.limit": "1500 B"}
    assert str(found.value).endswith(" B")


def test_a_question_of_numbers_is_answered_in_packets() -> None:
    """12 Mbit/s and 40 ms are 60,000 B, or 40 packets."""
    source = asked_scenario(None, Numbers(rate="12 Mbit/s", rtt="40 ms"), None)
    link = models.read_bottleneck(source)
    varied = Varied.limit_of(source, link)
    assert (varied.quantity, varied.steps_of(link.limit_packets)) == ("packets", 40)


def test_no_equals_sign_rounds_a_number_of_packets() -> None:
    """10,784 B hold seven packets of 1500 B, and 284 B that no packet can use."""
    source = Scenario.from_toml(ALIKE % "10784 B")
    link = models.read_bottleneck(source)
    same, about = amounts_words(Varied.limit_of(source, link), link, 10_784)
    assert "packet" not in same
    assert about == "room for 7 packets"
    same, about = amounts_words(Varied.limit_of(source, link), link, 10_500)
    assert same.startswith("7 packets = ")
    assert about == ""


@pytest.mark.parametrize(
    ("text", "differ"),
    [
        (ALIKE, False),
        (MIXED, True),
        (f"{ALIKE}{ACKS}", True),
        (f"{ALIKE}{WEB}", True),
    ],
)
def test_packets_differ_if_sizes_acks_or_the_ends_of_flows_do(text: str, differ: bool) -> None:
    assert models.read_bottleneck(Scenario.from_toml(text % "9 packets")).packets_differ is differ


@pytest.fixture(scope="module")
def in_bytes() -> tr.Size:
    """The call's delay behind 64 kB, as on a DSL line."""
    return tr.size(
        Scenario.from_toml(MIXED % "64 kB"),
        ["voice.queue_delay_s_p99 <= 150 ms", "utilization >= 80%"],
        max_seeds=8,
        precision=0.2,
        most_loss=None,
    )


def test_the_answer_in_bytes_meets_the_target_when_it_is_set(in_bytes: tr.Size) -> None:
    """What is printed is set: 150 ms at 1 Mbit/s are 18,750 B, whatever waits."""
    assert isinstance(in_bytes.value, str)
    assert in_bytes.value.endswith(" B")
    bytes_ = in_bytes.amounts(in_bytes.smallest or 0)["bytes"]
    assert bytes_ is not None
    assert bytes_ <= 18_750
    run = tr.run(
        Scenario.from_toml(MIXED % "64 kB"), set={"links.up.queue.limit": in_bytes.value}, seed=99
    )
    delay_s = run.summary["groups"]["voice"]["queue_delay_s_p99"]
    assert delay_s is not None
    assert delay_s <= 0.150


def test_json_and_other_tools_of_an_answer_in_bytes_have_bytes(in_bytes: tr.Size) -> None:
    found = json.loads(json.dumps(in_bytes.as_dict()))
    assert found["limit"]["approximate"] == ["packets"]
    assert found["tried"][0]["value"].endswith(" B")
    assert found["feasible"][1]["from"].endswith(" B")
    lines = found["equivalents"]
    assert f" bfifo limit {found['limit']['bytes']}" in lines["tc"]["text"]
    assert not any("pfifo" in one["text"] for one in lines.values())
    assert "from_packets" not in found["feasible"][0]


def test_an_answer_in_packets_is_no_bfifo_where_packets_differ(
    tailroom: Tailroom, tmp_path: Path
) -> None:
    path = tmp_path / "mixed.toml"
    path.write_text(MIXED % "9 packets")
    asked = ("--target", "utilization >= 80%", "--max-seeds", 4, "--most-loss", "none")
    shown = tailroom("size", path, *asked).output
    assert "bfifo" not in shown
    assert "pfifo limit" in shown
    assert "if all packets had 1,500 B" in " ".join(shown.replace("│", " ").split())
    assert "packets = " not in shown
