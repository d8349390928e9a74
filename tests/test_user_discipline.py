"""Queue disciplines in Python: the same rule, the same run; and nothing goes wrong quietly."""

import copy
import functools
import math
from collections import deque
from pathlib import Path
from typing import Annotated, Any, ClassVar, cast

import pytest

import tailroom as tr
from tailroom.simulation.metrics import metrics_of
from tests.conftest import Finished, Make, Tailroom

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
    del summary["timing"], summary["scenario_hash"]
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


MODULE = """\
class Accepts:
    def on_arrival(self, packet, queue):
        return "accept"


class Raises(Accepts):
    def on_arrival(self, packet, queue):
        return packet.no_such_thing


class RaisesAtDeparture(Accepts):
    def on_departure(self, packet, queue):
        raise ValueError("not now")


class RaisesAtStart(Accepts):
    def begin(self, link):
        raise KeyError("nothing")


class RaisesOnTimer(Accepts):
    timer_interval_s = 0.5

    def on_timer(self, queue):
        raise ValueError("not so soon")


class RaisesInGauges(Accepts):
    def gauges(self):
        raise ValueError("no numbers")


class Nothing(Accepts):
    def on_arrival(self, packet, queue):
        pass


class Number(Accepts):
    def on_departure(self, packet, queue):
        return 1


class Marks(Accepts):
    def on_arrival(self, packet, queue):
        return "mark"


class AnswersTimer(RaisesOnTimer):
    def on_timer(self, queue):
        return 3.0


class TextGauges(Accepts):
    def gauges(self):
        return {"load": "high"}


class OtherGauges(Accepts):
    number = 0

    def gauges(self):
        self.number += 1
        return {f"load_{self.number}": 1.0}


class NoNumber(Accepts):
    def gauges(self):
        return {"good": 1.0, "load": float("nan")}


class Endless(Accepts):
    def gauges(self):
        return {"load": float("-inf")}


class NoInterval(Accepts):
    def on_timer(self, queue):
        pass


class Hurries(NoInterval):
    timer_interval_s = 1e-9


class NoArrival:
    def on_departure(self, packet, queue):
        return "accept"


class Schedules:
    def on_arrival(self, packet, queue):
        return packet.flow

    def next_packet(self, queue):
        return min(queue.lists)


class RaisesWithNext(Schedules):
    def next_packet(self, queue):
        raise ValueError("nobody knows")


class RaisesWithRoom(Schedules):
    def make_room(self, packet, queue):
        raise ValueError("no room")


class Loses(Schedules):
    def on_arrival(self, packet, queue):
        return None


class LosesBelow(Schedules):
    def on_arrival(self, packet, queue):
        return -1


class MarksList(Schedules):
    def on_arrival(self, packet, queue):
        return (0, "mark")


class Sleeps(Schedules):
    def next_packet(self, queue):
        return None


class SleepsElsewhere(Schedules):
    def next_packet(self, queue):
        return 77


class RoomElsewhere(Schedules):
    def make_room(self, packet, queue):
        return 77


class RoomSaid(Schedules):
    def make_room(self, packet, queue):
        return "drop"


class Parameter(Accepts):
    def __init__(self, gain):
        pass


number = 7
"""

RAISED = {
    "Raises": ("on_arrival", "no_such_thing"),
    "RaisesAtDeparture": ("on_departure", "not now"),
    "RaisesAtStart": ("making the discipline", "nothing"),
    "RaisesOnTimer": ("on_timer", "not so soon"),
    "RaisesInGauges": ("gauges", "no numbers"),
    "RaisesWithNext": ("next_packet", "nobody knows"),
    "RaisesWithRoom": ("make_room", "no room"),
}
"""Classes whose code raises: the place and the reason."""

REFUSED = {
    "Nothing": ("on_arrival", "accept"),
    "Number": ("on_departure", "accept"),
    "Marks": ("on_arrival", "ECN"),
    "AnswersTimer": ("on_timer", "nothing"),
    "TextGauges": ("gauges", "numbers"),
    "OtherGauges": ("gauges", "never change"),
    "NoNumber": ("gauges", "NaN for load", "finite"),
    "Endless": ("gauges", "-inf for load", "finite"),
    "NoInterval": ("on_timer", "timer_interval_s"),
    "Hurries": ("on_timer", "1e-06"),
    "NoArrival": ("on_arrival", "accept"),
    "Loses": ("on_arrival", "None", "would be lost", "number of a list"),
    "LosesBelow": ("on_arrival", "-1", "would be lost"),
    "MarksList": ("on_arrival", "ECN"),
    "Sleeps": ("next_packet", "None", "while packets wait", "number of a list"),
    "SleepsElsewhere": ("next_packet", "77", "while packets wait in ", "number of a list"),
    "RoomElsewhere": ("make_room", "77", "number of a list"),
    "RoomSaid": ("make_room", "drop", "number of a list"),
    "Parameter": ("gain", "parameters"),
    "Nobody": ("Nobody", "name"),
    "number": ("number", "class"),
}
"""Names that cannot be used: what the message names, and what its remedy does."""


def custom(discipline: str) -> dict[str, object]:
    """A small buffer, so that schedulers have to make room."""
    return {"kind": "custom", "discipline": discipline, "limit": "10 packets"}


@pytest.mark.parametrize("name", RAISED)
def test_an_exception_ends_the_run_with_its_place_and_its_cause(
    small: Path, module: Make, name: str
) -> None:
    discipline = f"{module(MODULE)}:{name}"
    with pytest.raises(tr.ControlError) as caught:
        tr.run(
            small,
            set={"links.bottleneck.queue": custom(discipline)},
            series_samples=20,
        )
    method, reason = RAISED[name]
    message = str(caught.value)
    assert message.startswith(f"links.bottleneck.queue: {discipline}, at ")
    assert f"{method} raised " in message
    assert reason in str(caught.value.__cause__)


BEFORE_THE_RUN = ("NoArrival", "Parameter", "Nobody", "number")
"""Those that a look at the class and its parameters shows; the others fail in the run."""


@pytest.mark.parametrize("name", [*RAISED, *REFUSED])
def test_a_fault_of_own_code_in_the_run_ends_the_command_with_status_3(
    small: Path, module: Make, tailroom: Tailroom, name: str
) -> None:
    """Place, problem and remedy are in one line; a fault before the run is one of the input."""
    discipline = f"{module(MODULE)}:{name}"
    queue = f'{{ kind = "custom", discipline = "{discipline}", limit = "10 packets" }}'
    setting = f"links.bottleneck.queue={queue}"
    ended = tailroom("run", small, "--set", setting, "--set", 'series={ interval = "100 ms" }')
    assert (ended.status, ended.output) == (2 if name in BEFORE_THE_RUN else 3, "")
    message = ended.errors.splitlines()[-1]
    assert "links.bottleneck.queue: " in message
    for part in RAISED.get(name) or REFUSED[name]:
        assert part in ended.errors
    assert ("Traceback" in ended.errors) == (name in RAISED)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_discipline_is_refused(small: Path, module: Make, name: str) -> None:
    discipline = f"{module(MODULE)}:{name}"
    is_of_input = name in BEFORE_THE_RUN
    with pytest.raises(tr.ScenarioError if is_of_input else tr.ControlError) as caught:
        tr.run(
            small,
            set={"links.bottleneck.queue": custom(discipline)},
            series_samples=20,
        )
    assert "links.bottleneck.queue: " in str(caught.value)
    for part in REFUSED[name]:
        assert part in str(caught.value)


def test_the_command_line_names_the_place_and_ends_with_status_3(
    small: Path, module: Make, tailroom: Tailroom
) -> None:
    name = module(MODULE)
    queue = f"links.bottleneck.queue={name}:Raises"
    run = tailroom("run", str(small), "--set", queue)
    assert run.status == 3
    assert f"{name}.py" in run.errors
    assert "no_such_thing" in run.errors
    assert f"error: links.bottleneck.queue: {name}:Raises, at " in run.errors


def test_code_that_a_file_names_needs_permission(small: Path, module: Make) -> None:
    name = module(MODULE)
    text = small.read_text(encoding="utf-8")
    queue = '{ kind = "drop_tail", limit = "20 packets" }'
    small.write_text(text.replace(queue, f'"{name}:Accepts"'), encoding="utf-8")
    with pytest.raises(tr.ScenarioError, match="allow_code"):
        tr.run(small)
    result = tr.run(small, allow_code=True)
    assert result.links["bottleneck"]["limit_packets"] == 1000


def test_a_link_that_is_not_there_and_what_is_not_callable_are_refused(small: Path) -> None:
    with pytest.raises(tr.ScenarioError, match="did you mean `bottleneck`"):
        tr.run(small, disciplines={"botleneck": TailDrop})
    with pytest.raises(tr.ScenarioError, match=r"links\.bottleneck\.queue"):
        tr.run(small, disciplines={"bottleneck": cast("Any", "codel")})
    with pytest.raises(tr.ArgumentError):
        tr.run(small, disciplines=cast("Any", TailDrop))


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


def test_a_function_that_hides_departures_is_refused(small: Path) -> None:
    def make() -> Codel:
        return Codel(target_ms=15)

    with pytest.raises(tr.ControlError, match="acts_on_departures = True"):
        tr.run(small, disciplines={"bottleneck": make})


def test_a_function_that_hides_a_scheduler_is_refused(small: Path) -> None:
    def make() -> DropHead:
        return DropHead()

    with pytest.raises(tr.ControlError, match="is_scheduler = True"):
        tr.run(small, disciplines={"bottleneck": make})


class Hold:
    """Keeps what its parameters are."""

    seen: ClassVar[dict[str, object]] = {}

    def __init__(  # noqa: PLR0913 - a parameter of each kind
        self,
        *,
        target_s: Annotated[float, tr.Range(0.001, 1.0)] = 0.005,
        rate_bps: float = 1e6,
        limit_bytes: int = 1500,
        share: Annotated[float, tr.Range(0.0, 1.0)] = 0.5,
        label_s: str = "",
        s: object = None,
    ) -> None:
        Hold.seen = {name: value for name, value in locals().items() if name != "self"}

    def on_arrival(self, packet: tr.QueuePacket, queue: tr.QueueState) -> str:
        return "accept"


def run_hold(small: Path, tailroom: Tailroom, parameters: str) -> Finished:
    queue = f'{{ kind = "custom", discipline = "{__name__}:Hold", parameters = {parameters} }}'
    return tailroom("run", small, "--set", f"links.bottleneck.queue={queue}")


def test_parameters_with_units_arrive_as_numbers_in_si_units(
    small: Path, tailroom: Tailroom
) -> None:
    text = '{ target_s = "5 ms", rate_bps = "10 Mbit/s", limit_bytes = "15 kB", label_s = "5 ms" }'
    assert run_hold(small, tailroom, text).status == 0
    expected = {"target_s": 0.005, "rate_bps": 1e7, "limit_bytes": 15_000, "label_s": "5 ms"}
    assert Hold.seen == {**expected, "share": 0.5, "s": None}
    assert isinstance(Hold.seen["limit_bytes"], int)
    assert run_hold(small, tailroom, '{ target_s = 0.25, s = "5 ms" }').status == 0
    assert (Hold.seen["target_s"], Hold.seen["s"]) == (0.25, "5 ms")


@pytest.mark.parametrize(
    ("parameters", "parts"),
    [
        ('{ target_s = "5 kB" }', ("parameters.target_s", "5 kB", "ms", '"5 ms"')),
        ('{ target_s = "20 s" }', ("parameters.target_s", "20", "at least 0.001 and at most 1")),
        ("{ target_s = 0 }", ("parameters.target_s", "at least 0.001 and at most 1")),
        ("{ target_s = nan }", ("parameters.target_s", "at least 0.001")),
        ("{ target_s = true }", ("parameters.target_s", "True", "at least 0.001")),
        ('{ share = "50 %" }', ("parameters.share", "50 %", "number", "_bytes")),
        ("{ share = 1.5 }", ("parameters.share", "1.5", "at least 0 and at most 1")),
    ],
)
def test_a_parameter_without_its_unit_or_out_of_range_is_refused_with_key_and_range(
    small: Path, tailroom: Tailroom, parameters: str, parts: tuple[str, ...]
) -> None:
    ended = run_hold(small, tailroom, parameters)
    assert (ended.status, ended.output) == (2, "")
    assert "links.bottleneck.queue: " in ended.errors
    for part in parts:
        assert part in ended.errors


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
        tr.size(small, targets=target, max_seeds=4, store=tmp_path / name, set=queue)
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
