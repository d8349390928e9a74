"""Congestion controls in Python: the same law, the same run; and nothing goes wrong quietly."""

import copy
import functools
import itertools
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, ClassVar, cast

import pytest

import tailroom as tr
from tests.conftest import SMALL, Make, Tailroom
from tests.ctrl_c import interrupt, wait_until

EXAMPLE = Path(__file__).parents[1] / "examples" / "python-control" / "scenario.toml"


class Reno:
    """RFC 5681 sec. 3.1, Equations 3 and 4, in packets; ACKs counted as in RFC 3465."""

    def on_ack(self, event: tr.AckEvent) -> float:
        return event.cwnd_packets + event.acked_packets / event.cwnd_packets

    def on_congestion(self, event: tr.CongestionEvent) -> float:
        return event.cwnd_packets / 2


class Diary(Reno):
    """Reno that keeps what it is told."""

    flows: ClassVar[list["Diary"]] = []

    def __init__(self) -> None:
        self.told: list[tuple[str, Any]] = []
        Diary.flows.append(self)

    def on_ack(self, event: tr.AckEvent) -> float:
        self.told.append(("ack", event))
        return super().on_ack(event)

    def on_congestion(self, event: tr.CongestionEvent) -> float:
        self.told.append(("congestion", event))
        return super().on_congestion(event)

    def on_rto(self, event: tr.CongestionEvent) -> None:
        self.told.append(("rto", event))

    def on_round(self, event: tr.RoundEvent) -> None:
        self.told.append(("round", event))

    def events(self, kind: str) -> list[Any]:
        return [event for told, event in self.told if told == kind]


class Steps(Reno):
    """Reno with a step that a scenario sets."""

    def __init__(self, step: float = 1.0, weights: list[float] | None = None) -> None:
        self.step = step
        self.weights = weights or [1.0]

    def on_ack(self, event: tr.AckEvent) -> float:
        return event.cwnd_packets + self.step * self.weights.pop() / event.cwnd_packets


@pytest.fixture
def diary() -> list[Diary]:
    Diary.flows = []
    return Diary.flows


MODULE = """\
class Reno:
    def on_ack(self, event):
        return event.cwnd_packets + event.acked_packets / event.cwnd_packets

    def on_congestion(self, event):
        return event.cwnd_packets / 2


class Raises(Reno):
    def on_ack(self, event):
        return event.no_such_thing


class RaisesOnCongestion(Reno):
    def on_congestion(self, event):
        raise ValueError("not now")


class RaisesOnRound(Reno):
    def on_round(self, event):
        raise ValueError("not so soon")


class RaisesAtStart(Reno):
    def __init__(self):
        raise KeyError("nothing")


class Nan(Reno):
    def on_ack(self, event):
        return float("nan")


class Infinite(Reno):
    def on_ack(self, event):
        return float("inf")


class Negative(Reno):
    def on_congestion(self, event):
        return -0.5


class Text(Reno):
    def on_ack(self, event):
        return "12"


class Nothing(Reno):
    def on_congestion(self, event):
        pass


class AnswersRound(Reno):
    def on_round(self, event):
        return 3.0


class NoCongestion:
    def on_ack(self, event):
        return 3.0


class Parameter(Reno):
    def __init__(self, gain):
        pass


class Interrupted(Reno):
    def on_ack(self, event):
        raise KeyboardInterrupt


def seven():
    return 7


number = 7
"""


def measured(result: tr.Result) -> dict[str, Any]:
    """The summary without what names the control or the machine."""
    summary = copy.deepcopy(cast("dict[str, Any]", result.summary))
    del summary["scenario_hash"]
    for part in [*summary["flows"], *summary["groups"].values()]:
        del part["congestion"]
    for group in summary["groups"].values():
        del group["settings"]["congestion"]
    return summary


def test_reno_in_python_is_reno_to_the_last_bit(small: Path) -> None:
    settings = {"duration": "20 s", "flows.reno.rtt": {"from": "20 ms", "to": "33 ms"}}
    python = tr.run(small, set=settings, series_samples=2000, congestion={"reno": Reno})
    built_in = tr.run(small, set=settings, series_samples=2000)
    assert all(flow["congestion_events"] > 10 for flow in built_in.flows)
    assert python.flow_series == built_in.flow_series
    assert measured(python) == measured(built_in)
    assert python.flows[0]["congestion"] == "tests.test_user_control:Reno"
    assert python.groups["reno"]["congestion"] == "tests.test_user_control:Reno"


def test_two_runs_are_the_same(small: Path) -> None:
    first, second = (
        tr.run(small, series_samples=500, congestion={"reno": Diary}) for _ in range(2)
    )
    assert first.flow_series == second.flow_series
    assert measured(first) == measured(second)
    assert first.summary["scenario_hash"] == second.summary["scenario_hash"]


def test_runs_in_threads_do_not_touch_each_other(small: Path) -> None:
    alone = measured(tr.run(small, congestion={"reno": Reno}))
    together: list[dict[str, Any]] = []

    def work() -> None:
        together.append(measured(tr.run(small, congestion={"reno": Reno})))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert together == [alone] * 3


def test_each_flow_has_its_own_control_and_events_stay_as_they_were(
    small: Path, diary: list[Diary]
) -> None:
    result = tr.run(small, congestion={"reno": Diary})
    assert len(diary) == 2
    for flow, control in zip(result.flows, diary, strict=True):
        acks = control.events("ack")
        times = [event.now_s for event in acks]
        assert times == sorted(times)
        # A flow runs ahead of the links, so it may see ACKs of just after the end.
        assert times[0] < times[-1] < 4.05
        assert all(event.acked_packets >= 1 for event in acks)
        assert all(event.min_rtt_s <= event.rtt_s for event in acks)
        kinds = [event.kind for event in control.events("congestion")]
        # The summary counts those after measure_from only.
        assert kinds.count("loss") >= flow["congestion_events"] - flow["timeouts"] > 0
    # 20 ms of propagation, and 1500 bytes at 10 Mbit/s for a packet that finds no queue.
    smallest = min(control.events("ack")[-1].min_rtt_s for control in diary)
    assert smallest == pytest.approx(0.0212)


STANDSTILL = {
    "flows.reno.count": 1,
    "links.bottleneck.changes": [
        {"at": "2 s", "rate": "0 bit/s"},
        {"at": "3 s", "rate": "10 Mbit/s"},
    ],
}


def test_on_rto_is_called_at_a_timeout_before_on_congestion(
    small: Path, diary: list[Diary]
) -> None:
    result = tr.run(small, set=STANDSTILL, congestion={"reno": Diary})
    # Timer after timer expires while the link stands still for a second.
    assert result.flows[0]["timeouts"] >= 2
    told = [(kind, event) for kind, event in diary[0].told if kind in ("rto", "congestion")]
    places = [place for place, (kind, _) in enumerate(told) if kind == "rto"]
    # RFC 5681 sec. 3.1: ssthresh is held when the timer expires again, so nobody is asked again.
    assert len(places) == 1
    (_, rto), (kind, answered) = told[places[0] : places[0] + 2]
    assert kind == "congestion"
    assert rto.kind == answered.kind == "timeout"
    assert rto.now_s == answered.now_s
    # The last ACK before the standstill starts the timer: 200 ms and the smoothed RTT at least.
    assert 2.2 < rto.now_s < 3.0


def test_on_round_is_called_once_a_round_trip(small: Path, diary: list[Diary]) -> None:
    class Fixed(Diary):
        def on_ack(self, event: tr.AckEvent) -> float:
            super().on_ack(event)
            return 10.0

    settings = {
        "flows.reno.count": 1,
        "flows.reno.initial_ssthresh": 2,
        "flows.reno.send_jitter": "none",
    }
    tr.run(small, set=settings, congestion={"reno": Fixed})
    rounds = diary[0].events("round")
    # 20 ms of propagation, and 1500 bytes at 10 Mbit/s. Ten packets take 12 ms, so that nothing
    # queues once the first ten are through. The first ACK ends a round too.
    times = [event.now_s for event in rounds]
    lengths = [after - before for before, after in itertools.pairwise(times)]
    assert lengths == [pytest.approx(0.0212)] * len(lengths)
    assert len(rounds) == pytest.approx(4 / 0.0212, abs=1)
    told = [kind for kind, _ in diary[0].told]
    assert told[:2] == ["round", "ack"]
    assert not any(event.is_slow_start for event in rounds)
    assert all(event.rtt_s == pytest.approx(0.0212) for event in rounds)


def test_on_round_is_called_in_slow_start_too(small: Path, diary: list[Diary]) -> None:
    tr.run(small, congestion={"reno": Diary})
    before = [event for event in diary[0].events("round") if event.is_slow_start]
    assert before
    assert before[0].now_s < diary[0].events("ack")[0].now_s


def test_parameters_reach_each_flow(small: Path) -> None:
    name = "tests.test_user_control:Steps"
    table = {
        "kind": "custom",
        "control": name,
        "parameters": {"step": 2.0, "weights": [0.5] * 9999},
    }
    product = tr.run(small, set={"flows.reno.congestion": table})
    given = tr.run(small, congestion={"reno": functools.partial(Steps, 2.0, weights=[0.5] * 9999)})
    made = tr.run(small, congestion={"reno": lambda: Steps(2.0, [0.5] * 9999)})
    replaced = tr.run(
        small,
        congestion={"reno": functools.partial(Steps, step=9.0, weights=[0.5] * 9999)},
        set={"flows.reno.congestion.parameters.step": 2.0},
    )
    # 2 * 0.5 packets a round trip is Reno where each ACK acknowledges a packet.
    plain = tr.run(small, congestion={"reno": lambda: Steps(1.0, [1.0] * 9999)})
    for result in (product, made, replaced, plain):
        assert measured(result) == measured(product)
    assert given.flows[0]["congestion"] == name
    assert str(made.flows[0]["congestion"]).endswith(
        ":test_parameters_reach_each_flow.<locals>.<lambda>"
    )


def test_a_name_stands_for_a_kind(small: Path) -> None:
    named = tr.run(small, congestion={"reno": "cubic"})
    assert named.flows[0]["congestion"] == "cubic"
    assert (
        named.scenario == tr.run(small, set={"flows.reno.congestion": {"kind": "cubic"}}).scenario
    )


def test_groups_may_have_objects_of_the_same_name(small: Path) -> None:
    small.write_text(SMALL + SMALL[SMALL.index("[flows") :].replace("reno]", "other]"), "utf-8")
    controls = [functools.partial(Steps, step, [1.0] * 9999) for step in (1.0, 8.0)]
    result = tr.run(small, congestion={"reno": controls[0], "other": controls[1]})
    names = [result.groups[group]["congestion"] for group in ("reno", "other")]
    assert names[0] != names[1]
    goodput = {name: group["goodput_bps"] for name, group in result.groups.items()}
    assert goodput["other"] > 1.5 * goodput["reno"]


def test_the_example_holds_its_bound(
    tailroom: Tailroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    for bound_ms in (10.0, 30.0):
        table = (
            '{ kind = "custom", control = "delay_bound:DelayBound", '
            f"parameters = {{ bound_ms = {bound_ms} }} }}"
        )
        ended = tailroom("run", EXAMPLE, "--json", "--set", f"flows.mine.congestion={table}")
        assert ended.status == 0, ended.errors
        summary = json.loads(ended.output)
        # Without a loss there is nothing to reduce the window for, and a longer run would not help.
        assert not any("lengthen duration" in one["text"] for one in summary["warnings"])
        link = summary["links"]["bottleneck"]
        # A packet is 1.2 ms of queue: one of lag, since a turn is seen a round trip late, and one
        # of rounding.
        assert 1e3 * link["queue_delay_s_mean"] == pytest.approx(bound_ms, abs=2.4)
        assert link["drops_packets"] == 0


def test_an_exception_is_the_cause_of_a_control_error(small: Path) -> None:
    class Odd(Reno):
        def on_ack(self, event: tr.AckEvent) -> float:
            raise LookupError(f"at {event.cwnd_packets:.0f} packets")

    messages = []
    for _ in range(2):
        with pytest.raises(tr.ControlError, match="on_ack raised LookupError: at") as caught:
            tr.run(small, congestion={"reno": Odd})
        assert isinstance(caught.value, tr.RunError)
        cause = caught.value.__cause__
        assert isinstance(cause, LookupError)
        assert cause.__traceback__
        assert cause.__traceback__.tb_frame.f_code.co_name == "on_ack"
        messages.append(str(caught.value))
    assert messages[0] == messages[1]
    assert "flows.reno.congestion" in messages[0]
    assert "flow reno." in messages[0]


def test_an_instance_is_refused(small: Path) -> None:
    with pytest.raises(tr.ScenarioError, match=r"flows\.reno\.congestion: .* give the class Reno"):
        tr.run(small, congestion={"reno": Reno()})


def test_a_group_that_is_not_there_is_named(small: Path) -> None:
    with pytest.raises(tr.ScenarioError, match=r"no `flows\.rno`; did you mean `reno`"):
        tr.run(small, congestion={"rno": Reno})


# What ends a run: the class, the exit status and what the message names.
FAILURES = {
    "Raises": (3, ["AttributeError", "on_ack", "no_such_thing", "Traceback"]),
    "RaisesOnCongestion": (3, ["ValueError", "on_congestion", "not now", "Traceback"]),
    "RaisesOnRound": (3, ["ValueError", "on_round", "not so soon", "Traceback"]),
    "RaisesAtStart": (3, ["KeyError", "nothing", "__init__", "Traceback"]),
    "Nan": (3, ["on_ack returned NaN", "finite number of packets"]),
    "Infinite": (3, ["on_ack returned inf", "finite number of packets"]),
    "Negative": (3, ["on_congestion returned -0.5", "finite number of packets"]),
    "Text": (3, ["on_ack returned '12' (str)", "number of packets"]),
    "Nothing": (3, ["on_congestion returned None", "number of packets"]),
    "AnswersRound": (3, ["on_round returned 3.0 (float)", "returns nothing"]),
    "NoCongestion": (2, ["no method on_congestion", "--set"]),
    "Parameter": (2, ["gain", "--set", "`parameters`"]),
    "seven": (2, ["type function", "name a class"]),
    "number": (2, ["--set", "type int", "name a class"]),
    "Ren": (2, ["--set", "has no Ren", "`Reno`"]),
}


@pytest.mark.parametrize("name", FAILURES)
def test_a_control_that_fails_ends_the_command(
    tailroom: Tailroom, small: Path, module: Make, tmp_path: Path, name: str
) -> None:
    status, named = FAILURES[name]
    control = f"{module(MODULE)}:{name}"
    setting = f"flows.reno.congestion={control}"
    ended = tailroom("run", small, "--set", setting, "--out", tmp_path / "out")
    assert ended.status == status
    assert ended.output == ""
    message = ended.errors.splitlines()[-1]
    assert message.startswith("error: ")
    for words in ["flows.reno.congestion", control if name != "Ren" else "Ren"]:
        assert words in message
    for words in named:
        assert words in ended.errors
    assert ("Traceback" in ended.errors) == ("Traceback" in named)
    assert "custom_controls.py" not in ended.errors, "the traceback begins in the user's code"
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("control", "status", "named"),
    [
        ("no_such_module:Reno", 2, ["no module no_such_module", "next to the scenario"]),
        ("no_such.module:Reno", 2, ["no module no_such", "next to the scenario"]),
        ("json:JSONDecoder", 2, ["no method on_ack"]),
        ("json:", 2, ["mymodule:MyControl"]),
        (":Reno", 2, ["mymodule:MyControl"]),
        ("../json:Reno", 2, ["mymodule:MyControl"]),
        ("rino", 2, ["there is no control", "`reno`"]),
    ],
)
def test_a_control_that_is_not_there(
    tailroom: Tailroom, small: Path, control: str, status: int, named: list[str]
) -> None:
    ended = tailroom("run", small, "--set", f"flows.reno.congestion={control}")
    assert ended.status == status
    for words in ["--set flows.reno.congestion", *named]:
        assert words in ended.errors
    assert ended.errors.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "named"), [("1 / 0", "ZeroDivisionError"), ("class :", "SyntaxError")]
)
def test_a_module_that_fails_shows_where(
    tailroom: Tailroom, small: Path, module: Make, text: str, named: str
) -> None:
    name = module(text)
    ended = tailroom("run", small, "--set", f"flows.reno.congestion={name}:Reno")
    assert ended.status == 3
    assert named in ended.errors
    assert f"{name}.py" in ended.errors
    assert "importlib" not in ended.errors


def test_a_module_of_the_same_name_is_not_taken_for_another(
    tailroom: Tailroom, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "json.py").write_text(MODULE, encoding="utf-8")
    ended = tailroom("run", small, "--set", "flows.reno.congestion=json:Reno")
    assert ended.status == 2
    assert "ambiguous" in ended.errors
    assert str(tmp_path / "json.py") in ended.errors


def test_a_wrong_control_in_the_file_names_its_line(
    tailroom: Tailroom, small: Path, module: Make
) -> None:
    control = f'"{module(MODULE)}:NoCongestion"'
    text = SMALL.replace('{ kind = "reno" }', control)
    small.write_text(text, encoding="utf-8")
    line = 1 + text[: text.index(control)].count("\n")
    ended = tailroom("run", small)
    assert ended.status == 2
    assert ended.errors.startswith(f"error: {small}: line {line}, flows.reno.congestion: ")


def test_an_interrupt_inside_a_control_is_an_interrupt(
    tailroom: Tailroom, small: Path, module: Make
) -> None:
    control = f"{module(MODULE)}:Interrupted"
    ended = tailroom("run", small, "--set", f"flows.reno.congestion={control}")
    assert ended.status == 130
    assert ended.errors == "interrupted\n"


def test_ctrl_c_stops_a_run_with_a_control_in_python(small: Path, module: Make) -> None:
    command = [sys.executable, "-m", "tailroom", "run", str(small)]
    settings = [
        *("--set", "duration=200000 s"),
        *("--set", f"flows.reno.congestion={module(MODULE)}:Reno"),
        *("--out", str(small.parent / "out")),
    ]
    with subprocess.Popen([*command, *settings], stderr=subprocess.PIPE, text=True) as process:
        wait_until(lambda: list(small.parent.glob(".out.*")), process)
        time.sleep(1)
        _, errors = interrupt(process)
    assert process.returncode == 130
    assert errors == "interrupted\n"


def test_the_saved_scenario_brings_its_control(
    tailroom: Tailroom, small: Path, module: Make, tmp_path: Path
) -> None:
    name = module(MODULE)
    setting = f"flows.reno.congestion={name}:Reno"
    first = tailroom("run", small, "--set", setting, "--out", tmp_path / "out", "--json")
    assert first.status == 0, first.errors
    summary = json.loads(first.output)
    assert summary["flows"][0]["congestion"] == f"{name}:Reno"
    (tmp_path / f"{name}.py").unlink()
    # A new process, elsewhere: only the copy is there.
    saved = str(tmp_path / "out" / "scenario.toml")
    command = [sys.executable, "-m", "tailroom", "run", saved, "--json", "--allow-code"]
    again = subprocess.run(command, cwd="/", capture_output=True, text=True, check=True)
    assert json.loads(again.stdout) == summary


def test_the_hash_names_the_code(small: Path, module: Make) -> None:
    name = module(MODULE)
    first = tr.run(small, congestion={"reno": f"{name}:Reno"}).summary["scenario_hash"]
    assert tr.run(small, congestion={"reno": f"{name}:Reno"}).summary["scenario_hash"] == first
    module(MODULE + "\n# changed\n")
    assert tr.run(small, congestion={"reno": f"{name}:Reno"}).summary["scenario_hash"] != first
