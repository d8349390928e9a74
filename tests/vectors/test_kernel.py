"""What the Linux kernel did, judged by the bands of the vectors of Reno and CUBIC.

Other vectors have no recording: the kernel has BBRv1, and neither DCTCP nor queue disciplines.

The recordings (validation/kernel) are of other paths than those of the vectors: the bands are
computed with the window and the RTT at each loss of a recording.
"""

import gzip
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import pytest

from tailroom.vectors.judge import Results, misses
from tailroom.vectors.scripts import Occurrence
from tailroom.vectors.sets import cubic, reno
from tailroom.vectors.vector import Band, Expectation
from tests.validation.frame import ROOT

TRACES = ROOT / "validation/kernel/recorded/traces"
CONGESTION, STATE = 2, 4
KIND, TIME, STATE_OR_ACKED, CWND, SSTHRESH, ANSWER, SRTT = 0, 1, 2, 6, 8, 9, 10
"""Places in a line (tests/validation/exact.py); STATE_OR_ACKED is the new state of a STATE."""
LOSS = 4
UNLIMITED = 2**31 - 1
RECORDED_RTT_S = 0.04
SPREAD_ROUNDS = 3
"""Rounds of slow start whose ACKs, 0.6 ms apart, come within 0.4 of a round trip."""
POINTS = 10
"""At how many times of an epoch the window is judged."""


@dataclass(frozen=True)
class Loss:
    """A reduction: when, the window and the RTT before it, and when the next one comes."""

    time_s: float
    window: int
    rtt_s: float
    until_s: float
    is_timeout: bool


def recorded(name: str) -> tuple[Results, list[Loss]]:
    """Reads a recording: the window after each callback, ssthresh at each reduction."""
    text = gzip.decompress((TRACES / f"{name}.csv.gz").read_bytes()).decode()
    lines = [[int(field) for field in line.split(",")] for line in text.splitlines()[1:]]
    losses, windows, rtts, thresholds, is_timeout = [], [], [], [], False
    for line in lines:
        time_s = line[TIME] / 1e9
        windows.append((time_s, float(line[CWND])))
        rtts.append((time_s, line[SRTT] / 8e6))
        if line[KIND] == CONGESTION:
            losses.append((time_s, line[CWND], line[SRTT] / 8e6, is_timeout))
            thresholds.append((time_s, float(line[ANSWER])))
        is_timeout = line[KIND] == STATE and line[STATE_OR_ACKED] == LOSS
    ends = [*(loss[0] for loss in losses[1:]), lines[-1][TIME] / 1e9]
    results = Results(
        samples={"cwnd_packets": windows, "ssthresh_packets": thresholds, "srtt_s": rtts},
        events={"reduction": [loss[0] for loss in losses]},
    )
    return results, [Loss(*loss[:3], end, loss[3]) for loss, end in zip(losses, ends, strict=True)]


def thresholds_of(losses: list[Loss], band: Callable[[float], Band]) -> Iterator[Expectation]:
    """Yields what ssthresh must be after each loss."""
    for number, loss in enumerate(losses, 1):
        yield Expectation(
            quantity="ssthresh_packets",
            at=(0.0, 0.0),
            after=Occurrence("reduction", number),
            value=band(loss.window),
            why=f"the band of the vector, for a window of {loss.window}",
        )


@pytest.mark.parametrize(
    ("name", "band", "other"),
    [
        ("kernel-reno", reno.threshold, cubic.threshold),
        ("kernel-reno-losses", reno.threshold, cubic.threshold),
        ("kernel-cubic", cubic.threshold, reno.threshold),
        ("kernel-cubic-losses", cubic.threshold, reno.threshold),
    ],
)
def test_linux_reduces_as_the_vectors_expect(
    name: str, band: Callable[[float], Band], other: Callable[[float], Band]
) -> None:
    """Windows below 8 packets round down to the least threshold of 2, or to the same number."""
    results, losses = recorded(name)
    large = [loss for loss in losses if loss.window >= 8]
    expected = [
        expectation
        for loss, expectation in zip(losses, thresholds_of(losses, band), strict=True)
        if loss in large
    ]
    assert len(expected) >= 3
    assert [miss.found for miss in misses(expected, results)] == []
    assert misses(thresholds_of(losses, other), results)


def rounds(results: Results, first_s: float, last_s: float) -> float:
    """The number of round trips, each as long as the smoothed RTT, which the queue stretches."""
    return sum(
        (now - before) / rtt_s
        for (before, rtt_s), (now, _) in pairwise(results.samples["srtt_s"])
        if first_s <= before and now <= last_s
    )


def cubic_epochs(results: Results, losses: list[Loss]) -> Iterator[Expectation]:
    """Yields the band of the larger of W_cubic and W_est at some times between the losses.

    Fast convergence lowers W_max if the window is below the last one. A recovery takes a round trip
    or two.
    """
    last = 0.0
    for number, loss in enumerate(losses, 1):
        maximum = loss.window if loss.window >= last else loss.window * (1 + cubic.BETA) / 2
        last, start = maximum, cubic.BETA * loss.window
        length_s = loss.until_s - loss.time_s - 1e-6
        for point in range(3, POINTS + 1):
            at_s = length_s * point / POINTS
            if at_s < 2 * loss.rtt_s:
                continue
            passed = rounds(results, loss.time_s, loss.time_s + at_s)
            by_reno = cubic.reno_friendly(passed, start)
            by_cubic = cubic.since_reduction(at_s, loss.rtt_s, loss.window, maximum)
            yield Expectation(
                quantity="cwnd_packets",
                at=(at_s, at_s),
                after=Occurrence("reduction", number),
                value=(
                    max(by_cubic[0], by_reno[0]),
                    max(by_cubic[1], by_reno[1]),
                ),
                why="W_cubic(t) = 0.4 (t - K)^3 + W_max, or W_est if that is larger",
            )


def test_linux_follows_the_cubic_function_as_the_vectors_expect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    results, losses = recorded("kernel-cubic")
    expected = [*cubic_epochs(results, losses)]
    assert len(expected) > 20
    assert [(miss.found, miss.expectation.value) for miss in misses(expected, results)] == []
    for wrong_c in (0.3, 0.9):
        monkeypatch.setattr(cubic, "C", wrong_c)
        assert misses(cubic_epochs(results, losses), results)


def test_linux_follows_the_cubic_function_between_losses_at_random() -> None:
    """With fast convergence, and windows that are small: Reno's estimate is often the larger.

    Of windows of 14, 17 and 24 packets Linux keeps 9, 11 and 16. These three epochs begin up to 0.9
    packets lower and miss their bands, which are those of vectors with larger windows.
    """
    results, losses = recorded("kernel-cubic-losses")
    large = [
        one
        for one in cubic_epochs(results, losses)
        if one.after and losses[one.after.number - 1].window >= 8
    ]
    assert len(large) > 300
    found: dict[int, float] = {}
    for miss in misses(large, results):
        assert miss.expectation.after
        window = losses[miss.expectation.after.number - 1].window
        short = miss.expectation.value[0] - float(miss.found.split()[2])
        found[window] = max(short, found.get(window, 0.0))
    assert found.keys() == {14, 17, 24}
    for window, short in found.items():
        assert 0 < short < cubic.BETA * window % 1


def test_linux_grows_by_a_packet_in_a_round_trip_as_the_vectors_expect() -> None:
    """After a recovery of one or two round trips, within the packet of the vector."""
    results, losses = recorded("kernel-reno")
    assert len(losses) >= 4
    # The first loss ends slow start, where the smoothed RTT lags behind; the last epoch is cut.
    for number, loss in [*enumerate(losses, 1)][1:-1]:
        length_s = loss.until_s - loss.time_s - 1e-6
        passed = rounds(results, loss.time_s, loss.time_s + length_s)
        start = reno.threshold(loss.window)
        grown = Expectation(
            quantity="cwnd_packets",
            at=(length_s, length_s),
            after=Occurrence("reduction", number),
            value=(start[0] + passed - 2, start[1] + passed),
            why="one packet per round trip",
        )
        assert [(miss.found, grown.value) for miss in misses([grown], results)] == []


@pytest.mark.parametrize("name", ["kernel-reno", "kernel-cubic", "kernel-cubic-losses"])
def test_linux_doubles_the_window_in_slow_start_as_the_vector_expects(name: str) -> None:
    """At the times of the vector, in round trips; later the link's rate spreads the ACKs."""
    results, _ = recorded(name)
    [vector] = (vector for vector in reno.vectors() if vector.id == "reno.slow-start")
    scale = RECORDED_RTT_S / reno.RTT_S
    expected = [
        replace(one, at=(scale * one.at[0], scale * one.at[1])) for one in vector.expect if one.at
    ][:SPREAD_ROUNDS]
    assert [miss.found for miss in misses(expected, results)] == []
    later = [replace(one, value=(1.5 * one.value[0], 1.5 * one.value[0])) for one in expected]
    assert len(misses(later, results)) == SPREAD_ROUNDS


@pytest.mark.parametrize("name", ["kernel-reno-losses", "kernel-cubic-losses"])
def test_linux_reduces_once_in_a_round_trip_as_the_vectors_expect(name: str) -> None:
    """Up to 3 % of the packets are lost at random, so that windows have several losses."""
    results, losses = recorded(name)

    def once(round_trips: float) -> list[Expectation]:
        return [
            Expectation(
                event="reduction",
                at=(0.0, round_trips * loss.rtt_s),
                after=Occurrence("reduction", number),
                value=(1, 1),
                why="the losses of a window are one congestion event",
            )
            for number, loss in enumerate(losses, 1)
        ]

    assert len(losses) > 60
    assert [miss.found for miss in misses(once(1.0), results)] == []
    assert misses(once(5.0), results)
