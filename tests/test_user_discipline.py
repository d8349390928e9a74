"""Queue disciplines in Python: the same rule, the same run, in a sweep and a search too."""

import copy
import functools
import math
from collections import deque
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest

import tailroom as tr
from tailroom.simulation.metrics import metrics_of

EXAMPLE = Path(__file__).parents[1] / "examples" / "python-discipline" / "scenario.toml"
PICOSECONDS = 10**12
NEVER = math.inf


class TailDrop:
    """The buffer drops what does not fit."""

    def on_arrival(self, packet: tr.QueuePacket, queue: tr.QueueState) -> str:
        return "accept"


class Red:
    """RED in packets, gentle, with uniform gaps: Floyd and Jacobson 1993, as in ns-2."""

    def __init__(self, least: float, most: float, max_p: float, weight: float) -> None:
        self.least, self.most, self.max_p, self.weight = least, most, max_p, weight
        self.average, self.count = 0.0, -1.0

    def begin(self, link: tr.LinkInfo) -> None:
        self.link = link

    def on_arrival(self, packet: tr.QueuePacket, queue: tr.QueueState) -> str:
        if queue.idle_ps is not None:
            idle_bytes = self.link.rate_bps * queue.idle_ps // PICOSECONDS // 8
            self.average *= power(1.0 - self.weight, idle_bytes // self.link.packet_bytes)
        self.average += self.weight * (queue.packets - self.average)
        signal = "mark" if packet.is_ecn_capable else "drop"
        if not packet.fits:
            self.count = 0.0
            return "drop"
        if self.average < self.least or queue.packets < 2:
            self.count = -1.0
            return "accept"
        if self.average >= 2.0 * self.most:
            self.count = 0.0
            return signal
        drawn = self.link.random()
        self.count = 0.0 if self.count < 0.0 else self.count + 1.0
        if drawn * (1.0 - self.count * self.probability) < self.probability:
            self.count = 0.0
            return signal
        return "accept"

    @property
    def probability(self) -> float:
        if self.average < self.most:
            return self.max_p * (self.average - self.least) / (self.most - self.least)
        return self.max_p + (1.0 - self.max_p) * (self.average - self.most) / self.most

    def gauges(self) -> dict[str, float]:
        return {"average_queue_packets": self.average, "max_p": self.max_p}


def power(base: float, exponent: int) -> float:
    """Repeated squaring, which rounds as the engine does."""
    product = 1.0
    while exponent:
        if exponent & 1:
            product *= base
        base *= base
        exponent >>= 1
    return product


class Codel:
    """RFC 8289, sections 5.5 and 5.6, in picoseconds."""

    def __init__(self, target_ms: int = 5, interval_ms: int = 100) -> None:
        self.target, self.interval = target_ms * 10**9, interval_ms * 10**9
        self.first_above = NEVER
        self.drop_next = 0
        self.count = self.last_count = 0
        self.is_dropping = False
        self.behind = ""
        """Which drop the packet is behind: "first" or "next"."""

    def begin(self, link: tr.LinkInfo) -> None:
        self.packet_bytes = link.packet_bytes

    def on_arrival(self, packet: tr.QueuePacket, queue: tr.QueueState) -> str:
        return "accept"

    def on_departure(self, packet: tr.QueuePacket, queue: tr.QueueState) -> str:
        now, behind, self.behind = queue.now_ps, self.behind, ""
        may_drop = self.may_drop(packet, queue)
        signal = "mark" if packet.is_ecn_capable else "drop"
        if behind == "first":
            return "accept"
        if not may_drop:
            self.is_dropping = False
            return "accept"
        if not self.is_dropping:
            gained = self.count - self.last_count
            is_recent = max(0, now - self.drop_next) < 16 * self.interval
            self.count = self.last_count = gained if gained > 1 and is_recent else 1
            self.is_dropping = True
            self.drop_next = self.control_law(now)
            self.behind = "first" if signal == "drop" else ""
            return signal
        if behind == "next":
            self.drop_next = self.control_law(self.drop_next)
        if now < self.drop_next:
            return "accept"
        self.count += 1
        if signal == "mark":
            self.drop_next = self.control_law(self.drop_next)
        else:
            self.behind = "next"
        return signal

    def may_drop(self, packet: tr.QueuePacket, queue: tr.QueueState) -> bool:
        if packet.waited_ps < self.target or queue.bytes <= self.packet_bytes:
            self.first_above = NEVER
            return False
        if self.first_above == NEVER:
            self.first_above = queue.now_ps + self.interval
            return False
        return queue.now_ps >= self.first_above

    def control_law(self, since: int) -> int:
        pause_s = self.interval / PICOSECONDS / math.sqrt(self.count)
        return since + round(pause_s * PICOSECONDS)

    def gauges(self) -> dict[str, float]:
        return {"dropping_state": float(self.is_dropping), "drop_count": float(self.count)}


class DropHead:
    """A full buffer drops the packet that has waited longest."""

    def on_arrival(self, packet: tr.QueuePacket, queue: tr.QueueState) -> int:
        return 0

    def make_room(self, packet: tr.QueuePacket, queue: tr.QueueState) -> int:
        return 0

    def next_packet(self, queue: tr.QueueState) -> int:
        return 0


class DeficitRoundRobin:
    """Shreedhar and Varghese 1996; a full buffer drops the first packet of the longest queue."""

    def __init__(self) -> None:
        self.turns: deque[int] = deque()
        """The flows in the order of their turns; the first has had its quantum."""
        self.deficit: dict[int, int] = {}

    def begin(self, link: tr.LinkInfo) -> None:
        self.quantum = link.packet_bytes

    def on_arrival(self, packet: tr.QueuePacket, queue: tr.QueueState) -> int:
        if packet.flow not in queue.lists:
            self.leave(packet.flow)
            self.turns.append(packet.flow)
            self.deficit[packet.flow] = self.quantum if len(self.turns) == 1 else 0
        return packet.flow

    def leave(self, flow: int) -> None:
        if flow not in self.turns:
            return
        had_turn = self.turns[0] == flow
        self.turns.remove(flow)
        if had_turn and self.turns:
            self.deficit[self.turns[0]] += self.quantum

    def make_room(self, packet: tr.QueuePacket, queue: tr.QueueState) -> int:
        lists = queue.lists
        return max(lists, key=lambda flow: (lists[flow].bytes, flow == packet.flow))

    def next_packet(self, queue: tr.QueueState) -> int:
        lists = queue.lists
        for flow in [flow for flow in self.turns if flow not in lists]:
            self.leave(flow)
        while lists[self.turns[0]].first.bytes > self.deficit[self.turns[0]]:
            self.turns.rotate(-1)
            self.deficit[self.turns[0]] += self.quantum
        flow = self.turns[0]
        self.deficit[flow] -= lists[flow].first.bytes
        return flow


def red(packets: int) -> functools.partial[Red]:
    return functools.partial(Red, least=5.0, most=packets / 2, max_p=0.1, weight=0.002)


PAIRS: dict[str, tuple[Any, dict[str, Any]]] = {
    "drop_tail": (TailDrop, {"kind": "drop_tail", "limit": "20 packets"}),
    "red": (
        red(20),
        {
            "kind": "red",
            "limit": "20 packets",
            "min_threshold": "5 packets",
            "max_threshold": "10 packets",
            "max_p": 0.1,
            "weight": 0.002,
        },
    ),
    "codel": (Codel, {"kind": "codel", "limit": "20 packets"}),
    "drop_head": (DropHead, {"kind": "drop_head", "limit": "20 packets"}),
    "deficit_round_robin": (
        DeficitRoundRobin,
        {"kind": "fair", "scheduler": "deficit_round_robin", "limit": "30 kB"},
    ),
}
"""A class, and the queue of the same rule in the engine."""


SIZES = {
    f"flows.of_{size}": {
        "path": ["bottleneck"],
        "congestion": "reno",
        "rtt": f"{size // 20} ms",
        "packet_size": f"{size} B",
    }
    for size in (1100, 701)
}
"""Flows with other sizes of packets."""

MEASUREMENTS = {
    "codel": ("emptied_intervals_fraction",),
    "deficit_round_robin": (
        *("active_flows", "active_flows_mean", "active_flows_p99", "active_flows_max"),
        *("backlogged_flows_mean", "fair_rate_bps", "priority_load"),
    ),
}
"""Gauges with which the engine measures what is not a part of the discipline."""


def measured(result: tr.Result, without_gauges: tuple[str, ...] = ()) -> dict[str, Any]:
    """The summary without what names the discipline or the machine."""
    summary = copy.deepcopy(cast("dict[str, Any]", result.summary))
    del summary["scenario_hash"]
    for link in summary["links"].values():
        del link["discipline"]
        for gauge in without_gauges:
            link["discipline_state"].pop(gauge, None)
    return summary


@pytest.mark.parametrize("ecn", ["off", "classic"])
@pytest.mark.parametrize("name", PAIRS)
def test_a_rule_in_python_gives_the_run_of_the_same_rule_in_the_engine(
    small: Path, name: str, ecn: str
) -> None:
    own, built_in = PAIRS[name]
    settings = {
        "duration": "20 s",
        "flows.reno.rtt": {"from": "20 ms", "to": "133 ms"},
        "flows.reno.count": 4,
        "flows.reno.ecn": ecn,
        "links.bottleneck.queue": built_in,
        # Two lists are never equally long: the engine then drops from either.
        **({"flows.reno.count": 1, **SIZES} if name == "deficit_round_robin" else {}),
    }
    python = tr.run(small, set=settings, series_samples=500, disciplines={"bottleneck": own})
    engine = tr.run(small, set=settings, series_samples=500)
    link = engine.links["bottleneck"]
    signals = link["marks_packets"]
    assert (signals or link["drops_packets"]) > 50
    other = MEASUREMENTS.get(name, ())
    assert measured(python) == measured(engine, other)
    assert python.flow_series == engine.flow_series
    assert python.link_series
    assert engine.link_series
    columns = [column for column in engine.link_series.column_names if column not in other]
    assert python.link_series.select(columns) == engine.link_series.select(columns)
    assert python.links["bottleneck"]["discipline"].startswith("tests.test_user_discipline:")


class Clock(TailDrop):
    """Notes the times at which it is called."""

    timer_interval_s = 0.25
    times: ClassVar[list[float]] = []

    def on_timer(self, queue: tr.QueueState) -> None:
        Clock.times.append(queue.now_s)


def test_the_timer_fires_at_its_times(small: Path) -> None:
    Clock.times = []
    tr.run(small, disciplines={"bottleneck": Clock})
    # The link is never idle for long, so each tick of the 4 s is due before a later packet.
    assert Clock.times == [0.25 * number for number in range(1, 16)]


class Share:
    """Drops a share of the packets: a parameter to sweep, and a buffer to size."""

    def __init__(self, share: float = 0.0) -> None:
        self.share = share

    def begin(self, link: tr.LinkInfo) -> None:
        self.random = link.random

    def on_arrival(self, packet: tr.QueuePacket, queue: tr.QueueState) -> str:
        return "drop" if self.random() < self.share else "accept"

    def gauges(self) -> dict[str, float]:
        return {"share": self.share}


def test_a_sweep_varies_parameters_in_processes(small: Path, tmp_path: Path) -> None:
    scenario = tr.Scenario.read(small, disciplines={"bottleneck": Share})
    key = "links.bottleneck.queue.parameters.share"
    grid = {key: [0.01, 0.05]}
    swept = tr.sweep(scenario, store=tmp_path / "runs", grid=grid, seeds=2, workers=2)
    rule = functools.partial(Share, share=0.05)
    alone = metrics_of(tr.run(small, seed=2, disciplines={"bottleneck": rule}).summary)
    [row] = [row for row in swept.runs.to_pylist() if (row[key], row["seed"]) == (0.05, 2)]
    assert (alone["links.bottleneck.drops_early_packets"] or 0) > 10
    assert {name: row[name] for name in alone} == alone


def test_size_searches_the_buffer_of_a_discipline(small: Path, tmp_path: Path) -> None:
    own = {"links.bottleneck.queue": "tests.test_user_discipline:TailDrop"}
    target = "utilization >= 90%"
    found = [
        tr.size(small, target=target, max_seeds=4, store=tmp_path / name, set=queue)
        for name, queue in (("own", own), ("built_in", {}))
    ]
    assert found[0].smallest == found[1].smallest is not None


def test_pi_in_python_holds_its_target() -> None:
    """The integral term of PI leaves no lasting error: the mean queue is within 10 % of 200."""
    result = tr.run(EXAMPLE, allow_code=True)
    assert result.links["bottleneck"]["queue_packets_mean"] == pytest.approx(200, rel=0.1)
    pie = {"kind": "pie", "limit": "800 packets", "target": "53.333 ms"}
    built_in = tr.run(EXAMPLE, set={"links.bottleneck.queue": pie})
    assert built_in.links["bottleneck"]["queue_packets_mean"] == pytest.approx(200, rel=0.2)
