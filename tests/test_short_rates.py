"""Rates and mixes of flows as people write them, where only one meaning is possible."""

from pathlib import Path

import pytest

import tailroom as tr
from tailroom import _engine
from tailroom.buffer_atlas import lookup
from tailroom.scenario.dumbbell import dumbbell, read_rate
from tests.conftest import Tailroom


@pytest.mark.parametrize(
    ("text", "bps"),
    [
        ("1G", 1e9),
        ("1g", 1e9),
        (" 1.5 G ", 1.5e9),
        ("100M", 1e8),
        ("100m", 1e8),
        ("64k", 64e3),
        ("64 K", 64e3),
        ("1T", 1e12),
        ("2.5Gb", 2.5e9),
        ("10 Mb/s", 1e7),
        ("1e2M", 1e8),
        ("1 Gbit/s", 1e9),
        ("50 Mbps", 5e7),
    ],
)
def test_a_rate_with_one_meaning_is_read(text: str, bps: float) -> None:
    written, read = read_rate(text)
    assert read == bps
    assert _engine.quantity("rate", written) == bps
    link = dumbbell(text, "40 ms").resolved["links"]["bottleneck"]
    assert _engine.quantity("rate", link["rate"]) == bps


@pytest.mark.parametrize(
    "text", ["100", "1e9", "50 mbps", "1 GB/s", "1GB", "1gb", "10 mb/s", "G", "1 G 2", "-1G", "1X"]
)
def test_a_rate_with_two_meanings_or_none_is_not(text: str) -> None:
    with pytest.raises(tr.ScenarioError, match=r"^rate: .*; (write|did you mean|for bytes) .*bit"):
        read_rate(text)


def test_commands_read_short_rates(shipped_atlas: Path, tailroom: Tailroom) -> None:
    near = ("atlas", "near", "--rtt", "20ms", "--rate")
    assert tailroom(*near, "6M").output == tailroom(*near, "6 Mbit/s").output
    for command in (near, ("size", "--rtt", "20ms", "--target", "utilization >= 90%", "--rate")):
        ended = tailroom(*command, "6 mbps")
        assert ended.status == 2
        assert ended.errors.startswith('error: --rate: "mbps" is ambiguous')


def test_the_atlas_reads_a_mix_of_flows(
    shipped_atlas: Path, tailroom: Tailroom, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[lookup.Link] = []

    def nearest(_rows: object, link: lookup.Link) -> list[lookup.Neighbour]:
        asked.append(link)
        return [neighbour] if link.control == "cubic" else []

    rows = tr.atlas().answers.to_pylist()
    neighbour = lookup.nearest(rows, lookup.Link(6e6, 0.02, 1))[0]
    monkeypatch.setattr("tailroom.cli.atlas.nearest", nearest)
    near = ("atlas", "near", "--rate", "6M", "--rtt", "20ms", "--flows")
    for text in ("7", "7 cubic", "5 cubic, 2 cubic", "10 cubic, 10 bbr3", "3 prague, 4 cubic"):
        tailroom(*near, text)
    found = [(link.flows, link.control) for link in asked]
    assert found == [
        *[(7, "cubic")] * 3,
        (20, "cubic_and_bbr3"),
        (7, "cubic_and_prague"),
    ]


def test_shares_that_are_not_those_of_the_cells_are_said(tailroom: Tailroom) -> None:
    near = ("atlas", "near", "--rate", "1G", "--rtt", "10ms to 100ms", "--flows")
    assert "The cells have half CUBIC, half BBRv3." in tailroom(*near, "80 cubic, 20 bbr3").output
    assert "The cells have" not in tailroom(*near, "50 cubic, 50 bbr3").output
