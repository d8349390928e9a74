"""States of BBR that its window and its packets show, on traces made by hand."""

import pytest

from tailroom.vectors.runs import bbr_states

RTT_S = 0.1


def steps(*values: tuple[float, float]) -> list[tuple[float, float]]:
    """Samples every 2 ms of a window that changes at the given times."""
    return [
        (0.002 * tick, [window for time, window in values if time <= 0.002 * tick + 1e-9][-1])
        for tick in range(2000)
    ]


def test_a_window_that_rises_by_an_eighth_and_falls_again_is_a_probe() -> None:
    up, down = bbr_states.probes(steps((0, 200), (1.0, 212), (1.01, 225), (1.4, 200)), RTT_S)
    assert up == pytest.approx([1.01])
    assert down == pytest.approx([1.4])


@pytest.mark.parametrize(
    "window",
    [
        steps((0, 200), (1.0, 210), (2.0, 200)),  # aggregation of ACKs
        steps((0, 200), (1.0, 100), (1.3, 200)),  # ProbeRTT
        steps(*((0.05 * round_trip, 10 * 1.4**round_trip) for round_trip in range(9))),  # STARTUP
    ],
)
def test_other_changes_of_the_window_are_no_probe(window: list[tuple[float, float]]) -> None:
    assert bbr_states.probes(window, RTT_S) == ([], [])


def test_half_of_the_window_is_probe_rtt() -> None:
    assert bbr_states.probe_rtt(steps((0, 200), (1.0, 50), (1.3, 200))) == pytest.approx([1.0])


def test_half_of_a_rate_that_filled_the_path_is_drain() -> None:
    """1000 packets/s for a second, then 500; before, twice as many as the path carries."""
    sent = [
        *(number / 2000 for number in range(200)),
        *(0.1 + number / 1000 for number in range(1000)),
        *(1.1 + number / 500 for number in range(500)),
    ]
    [time] = bbr_states.drain(sent, 1000, RTT_S)
    assert 1.1 - RTT_S / 10 <= time <= 1.1
    assert bbr_states.drain(sent[:1200], 1000, RTT_S) == []
    assert bbr_states.drain(sent, 3000, RTT_S) == []
