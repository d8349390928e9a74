"""The buffer that explains a measurement, against links whose buffer is known."""

from collections.abc import Callable
from pathlib import Path

import pytest

import tailroom as tr
from tests.measurements import measurement_files
from tests.measurements.measurement_files import Link, Seen

LINKS = [
    Link(rate_mbps, buffer_kb, flows)
    for rate_mbps in (10, 50, 100)
    for buffer_kb in (100, 250)
    for flows in (1, 4)
]
LEAST_COVERAGE = 0.95
"""Share of intervals that contain the buffer, of those that are given. Stated before any run of
these seeds, like the two below."""
LEAST_IDENTIFIED = 0.85
"""Share of drop-tail buffers for which an interval is given."""
MOST_MISTAKEN = 0.15
"""Share of runs with an AQM, or with a control that keeps the delay low, that are taken for a full
drop-tail buffer without a doubt in the answer."""

Write = Callable[[Seen, Path, int], Path]
TOOLS: dict[str, Write] = {
    "flent": measurement_files.flent,
    "iperf3": lambda seen, path, _: measurement_files.iperf3(seen, path),
    "ss": lambda seen, path, _: measurement_files.socket_statistics(seen, path),
}


def estimate(tool: str, link: Link, seed: int, path: Path) -> tr.BufferEstimate:
    """The buffer by the file of a tool; iperf3's files lack the RTT of the idle path."""
    file = TOOLS[tool](measurement_files.simulated(link, seed), path, seed)
    idle_rtt_s = measurement_files.IDLE_RTT_S if tool == "iperf3" else None
    return tr.compare_measured(file, idle_rtt_s=idle_rtt_s).buffer


def check_coverage(tool: str, links: list[Link], seeds: range, path: Path) -> None:
    """Compares the intervals of links with their buffers."""
    covered = identified = runs = 0
    for link in links:
        for seed in seeds:
            runs += 1
            found = estimate(tool, link, seed, path)
            true_bytes = 1e3 * link.buffer_kb
            assert (found.low_bytes or 0.0) <= true_bytes, (link, seed, found.sentence)
            if found.buffer_bytes is not None:
                assert found.low_bytes is not None
                assert found.high_bytes is not None
                identified += 1
                covered += found.low_bytes <= true_bytes <= found.high_bytes
    assert covered >= LEAST_COVERAGE * identified, (covered, identified)
    assert identified >= LEAST_IDENTIFIED * runs, (identified, runs)


@pytest.mark.parametrize("tool", TOOLS)
def test_intervals_contain_the_buffer(tool: str, tmp_path: Path) -> None:
    check_coverage(tool, LINKS[1::4], range(1, 3), tmp_path / "file")


@pytest.mark.slow
@pytest.mark.parametrize("tool", TOOLS)
def test_intervals_of_many_seeds_contain_the_buffer(tool: str, tmp_path: Path) -> None:
    check_coverage(tool, LINKS, range(3, 23), tmp_path / "file")


def test_one_rate_for_the_whole_load_gives_a_lower_bound_alone(tmp_path: Path) -> None:
    """Of Waveform's test. The bounds were written before any run."""
    for link in LINKS[1::2]:
        seen = measurement_files.simulated(link, 1)
        found = tr.compare_measured(measurement_files.waveform(seen, tmp_path / "file")).buffer
        assert found.buffer_bytes is found.high_bytes is None
        assert found.low_bytes is not None
        assert 0.5e3 * link.buffer_kb <= found.low_bytes <= 1e3 * link.buffer_kb
        assert [one.statement for one in found.failing] == [
            "there are 20 RTTs and 4 rates under load"
        ]


def test_codel_is_no_full_buffer(tmp_path: Path) -> None:
    link = Link(discipline="codel", flows=4)
    found = estimate("flent", link, 1, tmp_path / "file")
    assert found.buffer_bytes is None
    assert "at least" in found.sentence


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["flent", "ss"])
def test_an_aqm_or_a_control_that_avoids_queues_is_no_full_buffer(
    tool: str, tmp_path: Path
) -> None:
    links = [
        Link(discipline=discipline, flows=flows, congestion=congestion)
        for discipline in ("codel", "pie")
        for flows in (1, 4)
        for congestion in ("reno", "cubic")
    ]
    links += [Link(congestion="bbr3", flows=2), Link(congestion="vegas", flows=1)]
    found = [estimate(tool, link, seed, tmp_path / "file") for link in links for seed in (1, 2)]
    mistaken = [
        one
        for one in found
        if one.buffer_bytes is not None and all(each.holds for each in one.conditions)
    ]
    assert len(mistaken) <= MOST_MISTAKEN * len(found), [one.sentence for one in mistaken]
    with_interval = [one for one in found if one.buffer_bytes is not None]
    assert len(with_interval) < len(found) / 4, [one.sentence for one in with_interval]


def test_a_link_that_is_not_full_shows_no_buffer(tmp_path: Path) -> None:
    seen = measurement_files.simulated(Link(), 1, **{"flows.load.max_window": 8})
    found = tr.compare_measured(measurement_files.flent(seen, tmp_path / "file", 1)).buffer
    assert found.buffer_bytes is found.low_bytes is found.high_bytes is None
    assert found.failing[0].statement == "the load keeps a queue"


def test_a_rate_that_varies_gives_a_lower_bound_alone(tmp_path: Path) -> None:
    changes = '[{ at = "20 s", rate = "25 Mbit/s" }]'
    seen = measurement_files.simulated(Link(), 1, **{"links.bottleneck.changes": changes})
    found = tr.compare_measured(measurement_files.flent(seen, tmp_path / "file", 1)).buffer
    assert found.buffer_bytes is found.high_bytes is None
    assert found.low_bytes is not None
    assert found.low_bytes <= 250e3
    assert "the link has one rate" in [one.statement for one in found.failing]


def test_an_unknown_idle_rtt_gives_a_lower_bound_alone(tmp_path: Path) -> None:
    path = measurement_files.iperf3(measurement_files.simulated(Link(), 1), tmp_path / "file")
    unknown = tr.compare_measured(path).buffer
    known = tr.compare_measured(path, idle_rtt_s=measurement_files.IDLE_RTT_S).buffer
    assert unknown.buffer_bytes is None
    assert known.buffer_bytes is not None
    assert unknown.low_bytes is not None
    assert known.low_bytes is not None
    assert 0 < unknown.low_bytes < known.low_bytes
    assert "at least" in unknown.sentence


def test_a_load_without_a_loss_gives_a_lower_bound_alone(tmp_path: Path) -> None:
    seen = measurement_files.simulated(Link(flows=1), 1, **{"flows.load.max_window": 150})
    path = measurement_files.iperf3(seen, tmp_path / "file")
    found = tr.compare_measured(path, idle_rtt_s=measurement_files.IDLE_RTT_S).buffer
    assert seen.retransmissions == 0
    assert found.buffer_bytes is None
    assert "packets were lost, so the buffer was full" in [one.statement for one in found.failing]
    # A window of 150 packets keeps 150 packets minus one bdp (83 packets) in the queue.
    assert found.low_bytes is not None
    assert found.low_bytes <= 1500 * (150 - 83)
