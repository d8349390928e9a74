"""The kernel of this machine takes the lines of tc, where it has their queueing disciplines."""

import json
import os
import shutil
import subprocess
from typing import Any

import pytest

from tailroom.export.other_tools import equivalents
from tailroom.models.bottleneck import read_bottleneck
from tailroom.scenario.scenario import Scenario
from tests.export.ports import QUEUES

LINES = [
    ("drop_tail", "40 packets"),
    ("drop_tail", "64 kB"),
    ("drop_head", "40 packets"),
    *((kind, "40 packets") for kind in ("codel", "fq_codel", "pie", "fq_pie")),
]
UNKNOWN = "Specified qdisc kind is unknown"


def in_a_namespace(script: str) -> "subprocess.CompletedProcess[str]":
    command = ["unshare", "--net", "sh", "-e", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module", autouse=True)
def network() -> None:
    if not all(map(shutil.which, ("tc", "unshare"))):
        pytest.skip("needs tc and unshare")
    if os.geteuid() or in_a_namespace("tc qdisc show dev lo").returncode:
        pytest.skip("needs root, and permission to make a network namespace")


def lines_of(kind: str, limit: str, **tables: dict[str, str]) -> str:
    link: dict[str, Any] = {"rate": "100 Mbit/s", "delay": "2 ms", **tables}
    link["queue"] = {"kind": kind, "limit": limit}
    flows = {"f": {"congestion": "cubic", "path": ["port"], "rtt": "40 ms"}}
    scenario: Any = {"duration": "10 s", "links": {"port": link}, "flows": flows}
    return equivalents(read_bottleneck(Scenario.of(scenario)))[0].text.replace("DEV", "lo")


@pytest.mark.parametrize("shaper", [{}, {"shaper": {"rate": "5 Mbit/s", "burst": "6 kB"}}])
@pytest.mark.parametrize(("kind", "limit"), LINES)
def test_the_kernel_shows_what_the_lines_say(
    kind: str, limit: str, shaper: dict[str, dict[str, str]]
) -> None:
    ended = in_a_namespace(f"{lines_of(kind, limit, **shaper)}\ntc -json qdisc show dev lo")
    if UNKNOWN in ended.stderr:
        pytest.skip(f"this kernel has no {kind}")
    assert ended.returncode == 0, ended.stderr
    shown = json.loads(ended.stdout)
    assert "root" in shown[0]
    assert len(shown) == 1 + len(shaper)
    if shaper:
        # tc shows the rate in bytes per second.
        assert shown[0]["kind"] == "tbf"
        assert shown[0]["options"]["rate"] == 5_000_000 / 8
        assert shown[0]["options"]["burst"] == pytest.approx(6_000, abs=16)
        assert (shown[1]["parent"], shown[1]["handle"]) == ("1:1", "10:")
    options = shown[-1].get("options", {})
    assert options.get("limit", 40) in (40, 64_000)
    assert kind in QUEUES


def test_the_kernel_takes_a_policer_before_the_queue() -> None:
    text = lines_of("drop_tail", "9 packets", policer={"rate": "50 Mbit/s", "burst": "250 kB"})
    ended = in_a_namespace(f"{text}\ntc filter show dev lo egress")
    if any(words in ended.stderr for words in ("classifier not found", "Failed to load TC action")):
        pytest.skip(f"this kernel has no policer: {ended.stderr.strip()}")
    assert ended.returncode == 0, ended.stderr
    assert "police" in ended.stdout
    assert "rate 50Mbit" in ended.stdout
