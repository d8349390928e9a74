"""The formula against the simulated worst case: ten speeds and cables, and other formulas."""

import json
from fractions import Fraction
from math import ceil

import pytest

import tailroom as tr
from tailroom.pfc_headroom.speeds import SPEEDS
from tailroom.studies.headroom_run import _scenario, _worst_case
from tests.conftest import Tailroom

PORTS = [
    ("1G", "100m"),
    ("10G", "5m"),
    ("10G", "80km"),
    ("25G", "3m"),
    ("40G", "300m"),
    ("50G", "40m"),
    ("100G", "300m"),
    ("200G", "1m"),
    ("400G", "2km"),
    ("800G", "40m"),
]


@pytest.mark.parametrize(("speed", "cable"), PORTS)
def test_the_formula_holds_to_a_frame(speed: str, cable: str) -> None:
    found = tr.simulate_headroom(tr.headroom(speed, cable))
    assert 0 <= found.wire_bytes - found.peak_bytes < found.frame_bytes
    assert found.drops_packets == 0
    assert found.shorter_drops_packets == 1


def _last_frame_just_begun(speed: str, cable: str) -> tr.Headroom:
    """The formula with a response that is longer by less than a frame.

    The peer sends without a break, so that the pause acts a fixed time after a frame has begun.
    Here it acts a picosecond after.
    """
    plain = tr.headroom(speed, cable)
    sizes = {term.name: term.exact_bytes for term in plain.terms}
    frame = sizes["largest lossless frame, just begun at the peer"]
    delays = sum(term.exact_bytes for term in plain.terms if term.role != "memory") - frame
    ps_per_byte = Fraction(8 * 10**6, plain.speed_mbps)
    response = (sizes["response of the peer"] + -delays % frame) * ps_per_byte
    interface = sizes["interface (MAC and PHY)"] * ps_per_byte
    return tr.headroom(
        speed, cable, response=f"{ceil(response) + 1} ps", interface=f"{ceil(interface)} ps"
    )


@pytest.mark.parametrize(("speed", "cable"), PORTS)
def test_the_peak_is_the_formula_where_the_last_frame_has_just_begun(
    speed: str, cable: str
) -> None:
    """Every term at its bound, the last frame too: equal to the byte, and a byte less drops."""
    answer = _last_frame_just_begun(speed, cable)
    found = tr.simulate_headroom(answer)
    assert found.peak_bytes == found.wire_bytes
    assert answer.xoff_bytes - found.wire_bytes in (0, 1)
    assert found.drops_packets == 0
    frame = found.frame_bytes
    assert _worst_case(answer, frame, found.wire_bytes - 1, 10 * frame) == (
        found.wire_bytes - frame,
        1,
    )
    assert 0 <= answer.xoff_bytes - tr.headroom(speed, cable).xoff_bytes <= frame


@pytest.mark.parametrize(("speed", "cable"), PORTS)
def test_a_frame_that_crosses_the_threshold_needs_its_rest_too(speed: str, cable: str) -> None:
    """Annex O omits the rest, up to a frame less a byte, of which a frame is dropped."""
    found = tr.simulate_headroom(tr.headroom(speed, cable))
    assert found.crossing_bytes == found.frame_bytes - 1
    assert found.covered_drops_packets == 0
    assert found.crossing_drops_packets == 1


def test_the_warning_of_a_scenario_counts_what_the_formula_omits() -> None:
    """100G, 300 m: 96,632 B by the formula, 105,867 B by the warning."""
    answer = tr.headroom("100G", "300m")
    found = tr.simulate_headroom(answer)
    assert found.wire_bytes == answer.xoff_bytes == 96_632
    assert found.wire_bytes + found.crossing_bytes == 105_867
    warned = [
        tr.run(_scenario(answer, found.frame_bytes, size, 10 * found.frame_bytes)).warnings
        for size in (96_632, 105_866, 105_867)
    ]
    assert ["105867 B arrive" in " ".join(map(str, some)) for some in warned] == [True, True, False]


@pytest.mark.parametrize(
    "formula", [{"table": "sn5600"}, {"table": "msn2700"}, {"asic": "tomahawk-5"}]
)
def test_other_formulas_hold_without_their_memory_terms(formula: dict[str, str]) -> None:
    answer = tr.headroom("100G", "300m", **formula)  # type: ignore[arg-type]
    found = tr.simulate_headroom(answer)
    assert found.wire_bytes < answer.xoff_bytes
    assert 0 <= found.wire_bytes - found.peak_bytes < found.frame_bytes
    assert (found.drops_packets, found.shorter_drops_packets) == (0, 1)
    assert found.crossing_drops_packets <= 1
    assert found.covered_drops_packets == 0


def test_the_command_shows_what_was_simulated(tailroom: Tailroom) -> None:
    port = ("headroom", "--speed", "100G", "--cable", "300m", "--simulate")
    ended = tailroom(*port)
    assert ended.status == 0
    answer = json.loads(tailroom(*port, "--json").output)["simulated"]
    assert f"Simulated: {answer['peak_bytes']:,} B" in ended.output
    assert "1 with a headroom of a frame less" in ended.output
    assert answer["crossing_drops_packets"] == 1
    assert (
        "a byte above whole frames, drops with this headroom: 1; with 105,867 B: 0." in ended.output
    )


def test_a_pause_without_a_response_time_has_that_of_the_formula() -> None:
    """A busy link delivers during the pause frame and the response, and a frame just begun."""
    for speed in SPEEDS:
        if speed.response is None:
            continue
        quanta, _ = speed.response
        result = tr.run(_busy(speed.mbps))
        expected = -(-(84 + quanta * 64) // Fraction(1500)) * 1500
        assert result.links["port"]["headroom_bytes_max"] == expected, speed.name


def _busy(mbps: int) -> tr.Scenario:
    rate, queue = f"{mbps} Mbit/s", {"kind": "drop_tail", "limit": "1 GB"}
    pause = {"xoff": "15 kB", "xon": "1 B", "headroom": "1 MB"}
    stop = [{"at": "0 s", "rate": "0 bit/s"}]
    tables = {
        "duration": f"{2_000_000 * 8 / mbps:.3f} us",
        "links": {
            "port": {"rate": rate, "delay": "0 s", "queue": queue, "pause": pause},
            "next": {"rate": rate, "delay": "0 s", "queue": queue, "changes": stop},
        },
        "flows": {"f": {"path": ["port", "next"], "source": {"kind": "cbr", "rate": rate}}},
    }
    return tr.Scenario(**tables)  # type: ignore[arg-type]
