"""What people typed at their first try, and what the answer must name: 71 mistypings.

A home engineer, a data-centre engineer and a student, each with a question of their own, noted what
they typed wrongly. The answer to each names what they meant; none lists dozens of names.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tailroom.cli.argument_errors import OF_COMMANDS
from tests.conftest import Tailroom

LINE = """\
duration = "2 s"
measure_from = "1 s"
[links.down]
rate = "10 Mbit/s"
delay = "5 ms"
queue = { kind = "drop_tail", limit = "50 packets" }
[flows.long]
count = 2
path = ["down"]
congestion = "cubic"
rtt = "20 ms"
[flows.web]
path = ["down"]
congestion = "cubic"
rtt = "20 ms"
source = { kind = "finite_flows", size = "20 kB", arrivals_per_second = 10 }
"""
SWITCH = """\
duration = "20 ms"
measure_from = "5 ms"
[switches.tor]
hosts = 64
rate = "100 Gbit/s"
delay = "1 us"
queue = { kind = "step_mark", threshold = "100 kB" }
pool = { size = "32 MB", policy = { kind = "dynamic_threshold", alpha = 1 } }
[flows.queries]
from = "tor"
to = "tor.h0"
congestion = "dctcp"
ecn = "accurate"
source = { kind = "incast", fan_in = 40, size = "20 kB", think_time = "1 ms" }
"""
DUMBBELL = "size --rate 100Mbit/s --rtt 20ms"
FULL = "--target utilization>=98%"
MOST_NAMES = 18
"""Commas that an answer may have: a limit has eighteen units."""

HOME = {
    f"size --rate 300 --rtt 20ms {FULL}": ["has no unit", "Mbit/s"],
    f"size --rate 300MB/s --rtt 20ms {FULL}": ["bytes per second", "8 times", "Mbit/s"],
    f"size --rate 300mb/s --rtt 20ms {FULL}": ["Mbit/s"],
    f"size --rate 300/100 --rtt 20ms {FULL}": ["one direction", "300 Mbit/s", "link of its own"],
    f"size --rate -300M --rtt 20ms {FULL}": ["negative"],
    f"size --rate 100Mbit/s --rtt 20 {FULL}": ["no unit", "ms"],
    f"size --bandwidth 300M --rtt 20ms {FULL}": ["did you mean --rate?"],
    f"size --rate 100Mbit/s --latency 20ms {FULL}": ["did you mean --rtt?"],
    f"{DUMBBELL} {FULL} --flows 0": ["0 flows", "at least 1"],
    f"{DUMBBELL} {FULL} --flows '2 bbr'": ["did you mean `bbr1`?", "Linux's `bbr` is version 1"],
    f"{DUMBBELL} {FULL} --queue fq_codel": ["--set links.bottleneck.queue=fq_codel"],
    f"{DUMBBELL}": ["--target", "utilization >= 98%"],
    f"{DUMBBELL} --target util>=98%": ["did you mean utilization"],
    f"{DUMBBELL} --target utilization>=98": ["98% or 0.98"],
    f"{DUMBBELL} --target utilization>98%": ["METRIC >= VALUE"],
    f"{DUMBBELL} --target 'latency <= 5ms'": ["did you mean queue_delay_s_p99"],
    f"{DUMBBELL} --target 'delay <= 5ms'": ["did you mean queue_delay_s_p99", "_mean"],
    f"{DUMBBELL} --target 'queue_delay_s_p99 <= 5'": ["has no unit", '"5 ms"'],
    f"{DUMBBELL} --target 'loss <= 1%'": ["loss_fraction"],
    "run line.toml --queue fq_codel": ["--set links.NAME.queue=fq_codel"],
    "run line.toml --set links.down.queue=sqm": ["did you mean `cake`?"],
    "run line.toml --set links.down.queue=fq-codel": ["did you mean `fq_codel`?"],
    "run line.toml --set links.down.queue=FIFO": ["did you mean `drop_tail`?"],
    "run line.toml --set links.down.rat=5Mbit/s": ["did you mean `rate`?"],
    "run line.toml --set links.down.bandwidth=5Mbit/s": ["did you mean `rate`?"],
    "run line.toml --set link.down.rate=5Mbit/s": ["did you mean links.down.rate?"],
    "run line.toml --set 'links.down.shaper=5 Mbit/s'": ["a table", "rate"],
    "run home_router": ["did you mean home-router?"],
    "run home-router.toml": ["home-router"],
    "run line.toml --metric web.completion_time": ["completion_time_s_p99"],
}
DATA_CENTRE = {
    "headroom --speed 400 --cable 100m": ["400G"],
    "headroom --speed 400G --cable 100": ["has no unit", "300m"],
    "headroom --speed 400GbE --cable 100m": ["400G"],
    "headroom --speed 400G --cable 0m": ["0m"],
    "headroom --speed 400G --cable 100ft": ["100ft", "m"],
    "headroom --speed 400G --cable 100m --asic tomahawk3": ["tomahawk-3"],
    "headroom --speed 400G --cable 100m --asic 'Tomahawk 4'": ["tomahawk-4"],
    "run switch.toml --set flows.queries.source.fan_in=64": ["63"],
    "run switch.toml --set switches.tor.queue=wred": ["k_min"],
    "run switch.toml --set flows.queries.congestion=DCTCP": ["did you mean `dctcp`?"],
    "run switch.toml --set switches.tor.queue.threshold=100KB": ['did you mean "100 kB"?'],
    "run switch.toml --set switches.tor.pool.policy=dt": ["did you mean `dynamic_threshold`?"],
    "run switch.toml --set switches.tor.pool.alpha=2": ["`policy.alpha`", "dynamic_threshold"],
    "run switch.toml --set pools.tor.size=32MB": ["did you mean `switches.tor.pool.size`?"],
    "run switch.toml --set switches.tor.ports=64": ["did you mean `hosts`?"],
    "run switch.toml --set switches.tor.bandwidth=400G": ["did you mean `rate`?"],
    "size switch.toml --target 'incast.coflows.completion_time_s_p99 <= 1 ms'": [
        "did you mean queries.coflows.completion_time_s_p99?"
    ],
    "size switch.toml --target 'queries.coflows.fct <= 1 ms'": ["completion_time_s_p99"],
    "size switch.toml --target 'queries.coflows.completion_time_s_p99 <= 1'": ['"1 ms"'],
    "run switch.toml --vary switches.tor.pool.size=16mb": ['did you mean "16 MB"?'],
}
STUDENT = {
    "run line.toml --set flows.long.congestion=bbr": ["`bbr1`"],
    "run line.toml --set flows.long.congestion=mycc": ['"module:Class"'],
    "run line.toml --set flows.long.congestion=mycc.MyCC": ['write "mycc:MyCC"'],
    "run line.toml --set flows.long.congestion=mycc:Mycc": ["did you mean `MyCC`?"],
    "run line.toml --set flows.long.congestion=mycc.py:MyCC": ["mycc"],
    "run line.toml --set flows.long.congestion=mycc:NoMethod": ["on_ack"],
    "run line.toml --set flows.long.congestion=mycc:ReturnsNone": ["on_ack returned None"],
    "run line.toml --set flows.long.congestion=mycc:ReturnsNaN": ["on_ack returned", "NaN"],
    "run line.toml --set flows.long.congestion=mycc:ReturnsMinus": ["on_ack returned -1"],
    "run line.toml --set flows.long.congestion=mycc:ReturnsBytes": ["packets, not bytes?"],
    "run line.toml --set flows.long.congestion=mycc:ReadsCwnd": ["`cwnd_packets` of AckEvent"],
    "run line.toml --set flows.long.congestion=mycc:ReadsNothing": ["AckEvent has acked_packets"],
    "run line.toml --seeds 0": ["at least 1"],
    "sweep line.toml --seeds 1-5": ["give the number of seeds", "5"],
    "sweep line.toml --duration 60s": ["--set duration=60s"],
    "sweep line.toml --grid links.down.queue.limit=10,20": ["10 packets"],
    "sweep line.toml --grid links.down.queue.limit=10..50": ["1249 packets"],
    "sweep line.toml --grid flows.long.congestion=bbr": ["`bbr1`"],
    "sweep line.toml --threads 4": ["did you mean --workers?"],
    "plot line.toml --kind pie": ["curves"],
    "run line.toml --metric utilisation": ["did you mean utilization"],
}
CONTROLS = """
class MyCC:
    def on_ack(self, event):
        return event.cwnd_packets + 1 / event.cwnd_packets

    def on_congestion(self, event):
        return event.cwnd_packets / 2

class NoMethod:
    def on_congestion(self, event):
        return 1

class ReturnsNone(MyCC):
    def on_ack(self, event):
        pass

class ReturnsNaN(MyCC):
    def on_ack(self, event):
        return float("nan")

class ReturnsMinus(MyCC):
    def on_ack(self, event):
        return -1

class ReturnsBytes(MyCC):
    def on_ack(self, event):
        return 67005.0 * 1500

class ReadsCwnd(MyCC):
    def on_ack(self, event):
        return event.cwnd

class ReadsNothing(MyCC):
    def on_ack(self, event):
        return event.xyzzy
"""
TYPED = HOME | DATA_CENTRE | STUDENT


def arguments(typed: str) -> list[str]:
    """The words of a command as a shell would give them; `>` and `<` are within words."""
    return [word.strip("'") for word in re.findall(r"'[^']*'|\S*'[^']*'|\S+", typed)]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The scenarios and the module that the commands name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name, text in {"line.toml": LINE, "switch.toml": SWITCH, "mycc.py": CONTROLS}.items():
        Path(name).write_text(text, encoding="utf-8")
    yield
    sys.modules.pop("mycc", None)


def test_there_are_71_of_three_people() -> None:
    assert (len(HOME), len(DATA_CENTRE), len(STUDENT)) == (30, 20, 21)


@pytest.mark.parametrize("typed", TYPED)
def test_the_answer_names_what_was_meant(typed: str, tailroom: Tailroom, files: None) -> None:
    ended = tailroom(*arguments(typed))
    said = ended.errors
    assert ended.status in (2, 3), ended.output
    for words in TYPED[typed]:
        assert words in said, said
    assert said.count(", ") <= MOST_NAMES


@pytest.mark.parametrize(("word", "command"), OF_COMMANDS.items())
def test_an_option_of_another_command_leads_there(
    tailroom: Tailroom, word: str, command: str
) -> None:
    assert f"--{word} " in tailroom(command, "--help").output
    other = "evaluate"
    refused = tailroom(other, "cubic", f"--{word}", "1")
    assert refused.status == 2
    assert f"No such option: --{word}; it is an option of `tailroom {command}`" in " ".join(
        refused.errors.split()
    )


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("sweep first --vary queue=codel", "write --grid queue=codel"),
        ("run first --grid queue=codel", "write --vary queue=codel"),
        ("explore dls", "did you mean dsl?"),
        ("run lts", "did you mean lte?"),
        ("new --preset dls", "did you mean dsl?"),
        ("rnu first", "did you mean run?"),
        ("simulate first", "No such command: simulate; choose one of "),
        ("atlas nera", "did you mean near?"),
        ("vectors wriet", "did you mean write?"),
        ("atlas --queue pie", "it is an option of `tailroom atlas near`"),
        ("atlas near --rate 9M --rtt 9ms --congestion cubik", "did you mean cubic?"),
        ("model first --link botleneck", "did you mean bottleneck?"),
    ],
)
def test_every_kind_of_name_has_the_same_suggestions(
    tailroom: Tailroom, typed: str, words: str
) -> None:
    ended = tailroom(*typed.split())
    assert ended.status == 2
    assert words in " ".join(ended.errors.split())
