"""Rate-based controls in Python: what they are told, may answer, and achieve."""

import functools
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import pytest

import tailroom as tr
from tailroom.scenario import types
from tests.conftest import Tailroom

EXAMPLE = Path(__file__).parents[1] / "examples" / "python-control" / "rate-based.toml"
PACKET_BITS = 8 * 1500


class Paced:
    """Sends at one rate, whatever happens, and keeps what it is told."""

    told: ClassVar[list["Paced"]] = []

    def __init__(self, rate_pps: float = 500.0, cwnd: float = 1000.0) -> None:
        self.output = tr.ControlOutput(cwnd, rate_pps)
        self.samples: list[tr.RateSampleEvent] = []
        self.lost: list[tr.LostPacketEvent] = []
        self.congestion: list[str] = []
        self.restarts: list[float] = []
        Paced.told.append(self)

    def begin(self, event: tr.BeginEvent) -> tr.ControlOutput:
        self.beginning = event
        return self.output

    def on_rate_sample(self, event: tr.RateSampleEvent) -> tr.ControlOutput:
        self.samples.append(event)
        return self.output

    def on_lost(self, event: tr.LostPacketEvent) -> None:
        self.lost.append(event)

    def on_congestion(self, event: tr.CongestionEvent) -> None:
        self.congestion.append(event.kind)

    def on_restart(self, event: tr.RestartEvent) -> tr.ControlOutput:
        self.restarts.append(event.now_s)
        return self.output


def one_flow(**flow: Any) -> types.Scenario:
    """10 Mbit/s, 833 packets/s, 20 ms, 20 packets of buffer."""
    return {
        "duration": "5 s",
        "measure_from": "1 s",
        "defaults": {"host": "plain"},
        "links": {
            "bottleneck": {
                "rate": "10 Mbit/s",
                "delay": "5 ms",
                "queue": {"kind": "drop_tail", "limit": "20 packets"},
            }
        },
        "flows": {
            "mine": {
                "path": ["bottleneck"],
                "rtt": "20 ms",
                "send_jitter": "none",
                **flow,  # type: ignore[typeddict-item]
            }
        },
    }


def run(control: Any, **flow: Any) -> tuple[tr.Result, Paced]:
    Paced.told.clear()
    result = tr.run(one_flow(**flow), congestion={"mine": control})
    return result, Paced.told[-1]


def test_packets_leave_at_the_rate_that_the_control_sets() -> None:
    result, control = run(Paced)
    flow = result.flows[0]
    # 500 packets/s over 4 s, to a packet on either side.
    assert flow["throughput_bps"] == pytest.approx(500 * PACKET_BITS, abs=2 * PACKET_BITS / 4)
    assert result.links["bottleneck"]["queue_delay_s_p99"] == 0
    assert control.lost == []
    assert control.beginning.packet_bytes == 1500
    assert control.beginning.has_sack


def test_samples_show_the_rate_that_is_paced_and_the_rtt() -> None:
    _, control = run(Paced)
    late = [one for one in control.samples if one.now_s > 1]
    rates = [one.delivery_rate_pps for one in late]
    assert rates == pytest.approx([500.0] * len(rates), rel=1e-6)
    # Propagation, and 1.2 ms of transmission.
    assert late[0].rtt_s == pytest.approx(0.0212, abs=1e-6)
    # 500/s times 21.2 ms.
    assert {one.in_flight_packets for one in late} <= {9, 10, 11}
    assert all(one.repair == "none" for one in late)
    assert sum(one.acked_packets for one in control.samples) == late[-1].delivered_packets


def test_an_overloaded_link_shows_its_own_rate_and_every_loss() -> None:
    result, control = run(functools.partial(Paced, 1000.0))
    link_pps = 10e6 / PACKET_BITS
    rates = [one.delivery_rate_pps or 0.0 for one in control.samples if one.now_s > 1]
    assert statistics.median(rates) == pytest.approx(link_pps, rel=0.01)
    # The run measures from 1 s on, the control from the beginning.
    assert len(control.lost) >= result.links["bottleneck"]["drops_packets"] > 100
    assert "loss" in control.congestion


def test_a_window_bounds_what_the_rate_allows() -> None:
    result, control = run(functools.partial(Paced, 800.0, 4.0))
    # 4 packets an RTT of 21.2 ms.
    rate_bps = 4 / 0.0212 * PACKET_BITS
    assert result.flows[0]["throughput_bps"] == pytest.approx(rate_bps, rel=0.01)
    assert all(one.is_cwnd_limited for one in control.samples[10:])


def test_a_flow_that_begins_anew_asks_how_to_send() -> None:
    objects = {"kind": "objects", "size": "15 kB", "arrivals_per_second": 2.0}
    _, control = run(Paced, source=objects)
    # An object takes 30 ms and its ACKs 20 ms more: most find nothing on the way.
    objects_sent = control.samples[-1].delivered_packets / 11
    assert 3 <= len(control.restarts) <= objects_sent
    assert all(0 < at < 5 for at in control.restarts)


def test_no_reductions_are_expected_of_it() -> None:
    result, _ = run(Paced)
    assert not any(one["kind"] == "few_reductions" for one in result.summary["warnings"])


def test_a_function_may_make_rate_based_controls_without_saying_so() -> None:
    def make() -> Paced:
        return Paced()

    by_class, _ = run(Paced)
    by_function, control = run(make)
    assert control.samples
    assert by_function.flows[0]["throughput_bps"] == by_class.flows[0]["throughput_bps"]


class Number(Paced):
    def on_rate_sample(self, event: tr.RateSampleEvent) -> Any:
        return event.cwnd_packets


class TooFast(Paced):
    def on_rate_sample(self, event: tr.RateSampleEvent) -> tr.ControlOutput:
        return tr.ControlOutput(10.0, float("inf"))


class Talkative(Paced):
    def on_lost(self, event: tr.LostPacketEvent) -> Any:
        return 3


class Raising(Paced):
    def begin(self, event: tr.BeginEvent) -> tr.ControlOutput:
        raise KeyError("rate")


@pytest.mark.parametrize(
    ("control", "said"),
    [
        (Number, r"on_rate_sample returned .* \(float\); it returns a tailroom.ControlOutput"),
        (TooFast, "on_rate_sample raised ValueError: pacing_rate_pps is inf; give a finite number"),
        (functools.partial(Talkative, 1000.0), "on_lost returned 3 .*; it returns nothing"),
        (Raising, "begin raised KeyError: 'rate'"),
    ],
)
def test_a_wrong_answer_ends_the_run_with_its_method(control: Any, said: str) -> None:
    with pytest.raises((tr.ScenarioError, tr.ControlError), match=said):
        run(control)


class Both(Paced):
    def on_ack(self, event: tr.AckEvent) -> float:
        return 1.0


class NoBeginning:
    def on_rate_sample(self, event: tr.RateSampleEvent) -> tr.ControlOutput:
        return tr.ControlOutput(10.0, 100.0)


@pytest.mark.parametrize(
    ("control", "said"),
    [
        (Both, "has both on_ack, which sets a window, and on_rate_sample"),
        (
            NoBeginning,
            r"has no method begin\(self, event\), which returns a tailroom.ControlOutput",
        ),
    ],
)
def test_a_class_that_is_neither_is_refused_before_the_run(control: Any, said: str) -> None:
    with pytest.raises(tr.ScenarioError, match=said):
        run(control)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((float("nan"), 1.0), "cwnd_packets is NaN"),
        ((-1.0, 1.0), "cwnd_packets is -1"),
        ((10.0, 0.0), "pacing_rate_pps is 0"),
        ((10.0, 1.0, 0), "send_quantum_packets is 0"),
    ],
)
def test_an_output_is_checked_when_it_is_made(arguments: tuple[Any, ...], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        tr.ControlOutput(*arguments)


@pytest.mark.usefixtures("code_allowed")
def test_the_example_fills_the_link_and_shares_it(tailroom: Tailroom) -> None:
    ended = tailroom("run", EXAMPLE)
    assert ended.status == 0
    result = tr.run(EXAMPLE)
    link: Mapping[str, Any] = result.links["bottleneck"]
    group: Mapping[str, Any] = result.groups["mine"]
    assert link["utilization"] > 0.98
    assert link["loss_fraction"] < 1e-3
    # A window of two bandwidth-delay products leaves one of them, 40 ms, to the queue.
    assert link["queue_delay_s_mean"] < 0.045
    assert group["jain_index"] > 0.9
