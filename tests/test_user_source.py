"""Sources in Python: the same traffic, the same run; and nothing goes wrong quietly."""

import copy
import functools
import itertools
import math
from pathlib import Path
from typing import Any, cast

import pytest

import tailroom as tr
from tests.conftest import Make, Tailroom


class Clock:
    """Packets at equal intervals, as `cbr` sends them at once."""

    def __init__(self, gap_s: float) -> None:
        self.gap_s = gap_s
        self.sent = 0

    def begin(self, flow: tr.SourceInfo) -> None:
        self.bytes = flow.packet_bytes

    def next_packet(self) -> tuple[float, int]:
        self.sent += 1
        return (self.sent - 1) * self.gap_s, self.bytes


class Listed:
    """The flows of a list, as `trace` begins them."""

    def __init__(self, flows: list[list[float]]) -> None:
        self.flows = iter(flows)

    def next_flow(self) -> tr.FlowRequest | None:
        flow = next(self.flows, None)
        return None if flow is None else tr.FlowRequest(flow[0], int(flow[1]))


class Chain:
    """A flow begins a second after the one before is complete: a closed loop."""

    def __init__(self) -> None:
        self.completed: list[float] = []
        self.begun = 0

    def next_flow(self) -> tr.FlowRequest | None:
        if self.begun > len(self.completed):
            return None
        self.begun += 1
        start_s = self.completed[-1] + 1.0 if self.completed else 0.0
        return tr.FlowRequest(start_s, 20_000)

    def on_completion(self, number: int, time_s: float) -> None:
        assert number == len(self.completed)
        self.completed.append(time_s)


class Poisson:
    """Exponential gaps from the source's own random stream."""

    def begin(self, flow: tr.SourceInfo) -> None:
        self.flow, self.time_s = flow, 0.0

    def next_packet(self) -> tuple[float, int]:
        self.time_s -= 1e-3 * math.log(1.0 - self.flow.random())
        return self.time_s, 1000


def measured(result: tr.Result) -> dict[str, Any]:
    """The summary without what names the source or the machine."""
    summary = copy.deepcopy(cast("dict[str, Any]", result.summary))
    del summary["scenario_hash"]
    for group in summary["groups"].values():
        del group["settings"]["source"]
    return summary


def with_packets(kind: dict[str, object]) -> dict[str, object]:
    return {
        "flows.cross": {
            "path": ["bottleneck"],
            "rtt": "20 ms",
            "count": 2,
            "start": {"from": "0 s", "to": "700 us"},
            "source": kind,
        }
    }


def custom_packets(source: str, **parameters: object) -> dict[str, object]:
    return with_packets(
        {
            "kind": "custom_packets",
            "source": source,
            "rate": "4 Mbit/s",
            "parameters": parameters,
        }
    )


def test_packets_from_python_give_the_run_of_the_source_of_the_engine(small: Path) -> None:
    """A packet of 1,500 B at 4 Mbit/s each 3 ms, exactly."""
    built_in = with_packets({"kind": "cbr", "rate": "4 Mbit/s", "phase": "0 s"})
    own = custom_packets("tests.test_user_source:Clock", gap_s=0.003)
    python = tr.run(small, set=own, series_samples=100)
    engine = tr.run(small, set=built_in, series_samples=100)
    assert engine.links["bottleneck"]["drops_packets"] > 50
    assert measured(python) == measured(engine)
    assert python.link_series == engine.link_series
    assert python.flow_series == engine.flow_series


def with_flows(kind: dict[str, object]) -> dict[str, object]:
    group = {
        "path": ["bottleneck"],
        "congestion": "cubic",
        "rtt": {"uniform": ["20 ms", "60 ms"]},
        "start": "500 ms",
        "stop": "3.5 s",
        "source": kind,
    }
    return {"flows.short": group}


def custom_flows(source: str, **parameters: object) -> dict[str, object]:
    return with_flows(
        {
            "kind": "custom_flows",
            "source": source,
            "arrivals_per_second": 10.0,
            "size": "30 kB",
            "parameters": parameters,
            "flow_log": 1000,
        }
    )


def test_flows_from_python_give_the_run_of_the_list_in_the_engine(small: Path) -> None:
    flows = [[0.125 * number, 1000 + 7919 * number % 60_000] for number in range(40)]
    lines = "".join(f"{start_s},{size}\n" for start_s, size in flows)
    small.with_name("flows.csv").write_text(f"start_s,bytes\n{lines}", encoding="utf-8")
    trace = with_flows({"kind": "trace", "file": "flows.csv", "flow_log": 1000})
    engine = tr.run(small, set=trace)
    python = tr.run(small, set=custom_flows("tests.test_user_source:Listed", flows=flows))
    assert engine.groups["short"]["completed_flows"] > 15
    assert measured(python)["groups"] == measured(engine)["groups"]
    assert python.flow_log == engine.flow_log
    assert python.flow_log is not None
    # None begins after `stop`, three seconds after `start`.
    assert max(python.flow_log.column("start_s").to_pylist()) < 3.5


def test_a_flow_may_wait_for_the_one_before(small: Path) -> None:
    result = tr.run(small, set=custom_flows("tests.test_user_source:Chain"))
    assert result.flow_log is not None
    flows = result.flow_log.to_pylist()
    assert len(flows) >= 2
    for before, flow in itertools.pairwise(flows):
        end_s = before["start_s"] + before["completion_time_s"]
        assert flow["start_s"] == pytest.approx(end_s + 1.0, abs=1e-9)


def test_the_seed_draws_for_each_flow(small: Path) -> None:
    own = custom_packets("tests.test_user_source:Poisson")
    first, same, other = (tr.run(small, set=own, seed=seed) for seed in (1, 1, 2))
    assert first == same
    delays = [flow["one_way_delay_s_mean"] for flow in first.flows if flow["group"] == "cross"]
    assert delays[0] != delays[1]
    assert measured(first)["flows"] != measured(other)["flows"]


def test_a_class_stands_in_a_scenario_that_is_built_in_python(small: Path) -> None:
    source = {"kind": "custom_packets", "source": Poisson, "rate": "8 Mbit/s"}
    scenario = tr.Scenario(
        duration="2 s",
        links={
            "bottleneck": {
                "rate": "10 Mbit/s",
                "delay": "5 ms",
                "queue": {"kind": "drop_tail", "limit": "20 packets"},
            }
        },
        flows={"own": {"path": ["bottleneck"], "rtt": "20 ms", "source": cast("Any", source)}},
    )
    # A mean of 1,000 packets/s for 2 s; six standard deviations.
    arrivals = tr.run(scenario).links["bottleneck"]["arrivals_packets"]
    assert abs(arrivals - 2000) < 6 * math.sqrt(2000)


def test_a_class_is_given_for_a_group_as_an_argument(small: Path) -> None:
    """The argument replaces the class alone, also where the scenario names none yet."""
    named = custom_packets("tests.test_user_source:Clock", gap_s=0.003)
    unnamed = copy.deepcopy(named)
    source = cast("dict[str, Any]", unnamed["flows.cross"])["source"]
    del source["source"], source["parameters"]
    by_name = tr.run(small, set=named)
    rule = functools.partial(Clock, gap_s=0.003)
    assert tr.run(small, set=unnamed, sources={"cross": rule}) == by_name
    assert tr.run(small, set=named, sources={"cross": Clock}) == by_name
    read = tr.Scenario.read(small, set=unnamed, sources={"cross": rule})
    assert tr.run(read) == by_name
    with tr.Simulation(small, every="1 s", set=unnamed, sources={"cross": rule}) as run:
        assert run.result().flows == by_name.flows


def test_wrong_groups_and_classes_of_sources_are_refused(small: Path) -> None:
    with pytest.raises(tr.ScenarioError, match="did you mean `reno`"):
        tr.run(small, sources={"ren": Clock})
    with pytest.raises(tr.ScenarioError, match=r"sources: reno: .*flows\.reno\.source"):
        tr.run(small, sources={"reno": cast("Any", "cbr")})
    with pytest.raises(tr.ArgumentError, match='"camera": MySource'):
        tr.run(small, sources=cast("Any", Clock))
    in_set = custom_packets(cast("Any", Clock))
    with pytest.raises(tr.ScenarioError, match=r"the class in the argument `sources`$"):
        tr.run(small, set=in_set)


MODULE = """\
import tailroom as tr


class Raises:
    def next_packet(self):
        raise ValueError("no packet")


class RaisesLater(Raises):
    sent = 0

    def next_packet(self):
        self.sent += 1
        if self.sent > 100:
            raise ValueError("enough")
        return 0.01 * self.sent, 100


class RaisesAtStart(Raises):
    def begin(self, flow):
        raise KeyError("nothing")


class RaisesFlow:
    def next_flow(self):
        raise ValueError("no flow")


class RaisesAtEnd:
    start_s = 0.0

    def next_flow(self):
        self.start_s += 0.5
        return tr.FlowRequest(self.start_s, 1000)

    def on_completion(self, number, time_s):
        raise ValueError("no end")


class BadFlow:
    def next_flow(self):
        return tr.FlowRequest(0.0, 0)


class Number(Raises):
    def next_packet(self):
        return 7


class Never(Raises):
    def next_packet(self):
        return float("nan"), 100


class Back(Raises):
    time_s = 2.0

    def next_packet(self):
        self.time_s -= 1.0
        return self.time_s, 100


class Large(Raises):
    def next_packet(self):
        return 0.0, 1501


class Still(Raises):
    def next_packet(self):
        return 0.0, 100


class Close(Raises):
    time_ps = 0

    def next_packet(self):
        self.time_ps += 1
        return self.time_ps * 1e-12, 100


class CloseFlow:
    time_ns = 0

    def next_flow(self):
        self.time_ns += 1
        return tr.FlowRequest(self.time_ns * 1e-9, 1000)


class PairFlow:
    def next_flow(self):
        return 0.0, 1000


class BackFlow:
    time_s = 2.0

    def next_flow(self):
        self.time_s -= 1.0
        return tr.FlowRequest(self.time_s, 1000)


class Neither:
    pass


class Parameter(Raises):
    def __init__(self, gain):
        pass
"""

RAISED = {
    "Raises": ("packets", "next_packet", "no packet"),
    "RaisesLater": ("packets", "next_packet", "enough"),
    "RaisesAtStart": ("packets", "making the source", "nothing"),
    "RaisesFlow": ("flows", "next_flow", "no flow"),
    "RaisesAtEnd": ("flows", "on_completion", "no end"),
    "BadFlow": ("flows", "next_flow", "bytes is out of range; give 1 to 2^64 - 1"),
}
"""Classes whose code raises: the kind, the place and the reason."""

REFUSED = {
    "Number": ("packets", "next_packet returned 7", "pair"),
    "Never": ("packets", "next_packet returned (nan", "pair"),
    "Back": ("packets", "next_packet returned the time 0 s after 1 s", "in order"),
    "Large": ("packets", "1501 B", "packet_size, 1500 B"),
    "Still": ("packets", "1000000 packets in 2 ms, until 0 s", "let time pass"),
    "Close": ("packets", "1000000 packets in 2 ms, until 0.00000100", "let time pass"),
    "CloseFlow": ("flows", "100000 flows in 0.2 ms, until 0.500100", "let time pass"),
    "PairFlow": ("flows", "next_flow returned (0.0, 1000)", "tailroom.FlowRequest"),
    "BackFlow": ("flows", "begins at 0.5 s", "begins at 1.5 s or later"),
    "Neither": ("packets", "neither next_packet", "add it"),
    "RaisesFlow": ("packets", "no method next_packet", 'kind "custom_flows"'),
    "Raises": ("flows", "no method next_flow", 'kind "custom_packets"'),
    "Parameter": ("packets", "gain", "parameters"),
    "Nobody": ("packets", "Nobody", "name"),
}
"""Names that cannot be used: the kind, what the message names, and what its remedy does."""

BEFORE_THE_RUN = ("Neither", "Parameter", "Nobody")
"""Those that a look at the class and its parameters shows; the others fail in the run."""

KINDS = {
    "packets": ("cross", custom_packets),
    "flows": ("short", custom_flows),
}


@pytest.mark.parametrize("name", RAISED)
def test_an_exception_ends_the_run_with_its_place_and_its_cause(
    small: Path, module: Make, name: str
) -> None:
    kind, method, reason = RAISED[name]
    group, custom = KINDS[kind]
    source = f"{module(MODULE)}:{name}"
    with pytest.raises(tr.ControlError) as caught:
        tr.run(small, set=custom(source))
    message = str(caught.value)
    assert message.startswith(f"flows.{group}.source: {source}, at ")
    assert f"{method} raised " in message
    assert reason in str(caught.value.__cause__)


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_source_is_refused(small: Path, module: Make, name: str) -> None:
    kind, problem, remedy = REFUSED[name]
    group, custom = KINDS[kind]
    is_of_input = name in BEFORE_THE_RUN
    with pytest.raises(tr.ScenarioError if is_of_input else tr.ControlError) as caught:
        tr.run(small, set=custom(f"{module(MODULE)}:{name}"))
    message = str(caught.value)
    assert f"flows.{group}.source: " in message
    assert problem in message
    assert remedy in message


def test_the_command_line_names_the_place_and_ends_with_status_3(
    small: Path, module: Make, tailroom: Tailroom
) -> None:
    name = module(MODULE)
    source = f'{{ kind = "custom_packets", source = "{name}:Raises", rate = "1 Mbit/s" }}'
    group = f'{{ path = ["bottleneck"], rtt = "20 ms", source = {source} }}'
    run = tailroom("run", str(small), "--set", f"flows.cross={group}")
    assert run.status == 3
    assert f"{name}.py" in run.errors
    assert f"error: flows.cross.source: {name}:Raises, at " in run.errors


def test_code_that_a_file_names_needs_permission(small: Path) -> None:
    group = (
        '[flows.cross]\npath = ["bottleneck"]\nrtt = "20 ms"\nsource = { kind = "custom_packets", '
        'source = "tests.test_user_source:Poisson", rate = "8 Mbit/s" }\n'
    )
    small.write_text(small.read_text(encoding="utf-8") + group, encoding="utf-8")
    with pytest.raises(tr.ScenarioError, match="allow_code"):
        tr.run(small)
    assert tr.run(small, allow_code=True).links["bottleneck"]["drops_packets"] > 0


def test_a_sweep_varies_parameters_in_processes(small: Path, tmp_path: Path) -> None:
    scenario = tr.Scenario.read(
        small, set=custom_packets("tests.test_user_source:Clock", gap_s=0.003)
    )
    key = "flows.cross.source.parameters.gap_s"
    swept = tr.sweep(
        scenario, store=tmp_path / "runs", grid={key: [0.003, 0.006]}, seeds=1, workers=2
    )
    arrivals = [row["links.bottleneck.arrivals_packets"] for row in swept.runs.to_pylist()]
    assert arrivals[0] > arrivals[1] > 0


def test_a_run_in_steps_ends_with_the_source(small: Path, module: Make) -> None:
    own = custom_packets(f"{module(MODULE)}:RaisesLater")
    with (
        tr.Simulation(small, every="100 ms", set=own) as run,
        pytest.raises(tr.ControlError, match="next_packet raised"),
    ):
        list(run)


@pytest.mark.parametrize("name", ["start_s", "rtt_s"])
def test_a_time_beyond_any_number_is_refused_by_name(name: str) -> None:
    values: dict[str, Any] = {"start_s": 0.0, "bytes": 1000, name: 10**400}
    with pytest.raises(ValueError, match=rf"{name} is .*give a number from 0 to"):
        tr.FlowRequest(**values)
