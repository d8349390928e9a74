"""Congestion controls and other values as a caller may give them, and what refuses them."""

import tomllib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tailroom as tr
from tailroom.scenario.dumbbell import dumbbell, read_flows
from tailroom.scenario.scenario import Scenario
from tests.conftest import Tailroom

pytestmark = pytest.mark.usefixtures("quick_models")

NUMBERS = ("5 Mbit/s", "20 ms", 8)
QUESTION: dict[str, Any] = {
    "rate": "5 Mbit/s",
    "rtt": "20 ms",
    "duration": "4 s",
    "max_seeds": 4,
    "precision": 0.5,
    "atlas": False,
}
CODE = """\
class Mild:
    def on_ack(self, event):
        return event.cwnd_packets + event.acked_packets / event.cwnd_packets

    def on_congestion(self, event):
        return 0.8 * event.cwnd_packets
"""
ONE_GROUP = """\
duration = "1 s"

[links.core]
rate = "5 Mbit/s"
delay = "5 ms"
queue = { kind = "drop_tail", limit = "20 packets" }

[flows.tested]
path = ["core"]
congestion = "reno"
rtt = "20 ms"

[flows.poll]
path = ["core"]
rtt = "20 ms"
source = { kind = "poisson", rate = "100 kbit/s" }
"""


class Mild:
    """AIMD with a smaller reduction."""

    def on_ack(self, event: tr.AckEvent) -> float:
        return event.cwnd_packets + event.acked_packets / event.cwnd_packets

    def on_congestion(self, event: tr.CongestionEvent) -> float:
        return 0.8 * event.cwnd_packets


AIMD = {"kind": "aimd", "increase": 2.0}


@pytest.fixture
def one_group(tmp_path: Path) -> Path:
    """One group under congestion control, and one without."""
    path = tmp_path / "one.toml"
    path.write_text(ONE_GROUP, encoding="utf-8")
    return path


@pytest.fixture
def in_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module `mild_module` in the current directory."""
    (tmp_path / "mild_module.py").write_text(CODE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def simulated(scenario: Any, **given: Any) -> dict[str, Any]:
    """Title, and the control of each group in the resolved scenario."""
    source = Scenario.of(scenario, {}, given.get("congestion"))
    document = source.resolved
    groups = document["flows"].items()
    return {
        "title": document["title"].partition(",")[0],
        **{name: group["congestion"] for name, group in groups if "congestion" in group},
    }


NAME = f"{__name__}:Mild"


@pytest.mark.parametrize(
    ("congestion", "words", "control"),
    [
        (Mild, "Mild", {"kind": "custom", "control": NAME}),
        (partial(Mild), "Mild", {"kind": "custom", "control": NAME}),
        (NAME, "Mild", {"kind": "custom", "control": NAME}),
        ({"kind": "custom", "control": NAME}, "Mild", {"kind": "custom", "control": NAME}),
        (AIMD, "aimd (increase 2.0)", {**AIMD, "decrease": 0.5}),
        ('{ kind = "aimd", increase = 2.0 }', "aimd (increase 2.0)", {**AIMD, "decrease": 0.5}),
        ({"flows": Mild}, "Mild", {"kind": "custom", "control": NAME}),
    ],
)
def test_numbers_take_every_form_of_a_control(
    congestion: Any, words: str, control: dict[str, object]
) -> None:
    found = simulated(dumbbell(*NUMBERS, congestion))
    assert found == {"title": f"8 {words} flows", "flows": control}


def test_a_mix_of_flows_names_a_class_of_the_user() -> None:
    found = simulated(dumbbell("5 Mbit/s", "20 ms", read_flows(f"2 reno, 3 {NAME}")))
    assert found["title"] == "2 reno and 3 Mild flows"
    assert list(found) == ["title", "reno", "Mild"]
    assert found["Mild"]["control"] == NAME


def test_two_classes_of_one_name_are_two_groups() -> None:
    scenario = dumbbell("5 Mbit/s", "20 ms", {"a:Mild": 2, "b:Mild": 3})
    assert list(scenario.resolved["flows"]) == ["Mild", "Mild-2"]


def test_size_simulates_the_class_that_it_is_given(tmp_path: Path) -> None:
    given: dict[str, Any] = {"flows": 2, "congestion": Mild, "store": tmp_path / "store"}
    answer = tr.size(target="utilization >= 60%", **QUESTION, **given)
    assert answer.store
    for text in answer.store.runs()["scenario"].to_pylist():
        assert tomllib.loads(text)["flows"]["flows"]["congestion"]["control"] == NAME


@pytest.mark.usefixtures("in_module")
@pytest.mark.parametrize(
    "given",
    [
        pytest.param(("--congestion", "mild_module:Mild"), marks=pytest.mark.slow),
        ("--flows", "2 mild_module:Mild"),
        ("--congestion", "{ kind = 'aimd', increase = 2.0 }"),
    ],
)
def test_the_command_takes_a_class_or_a_table(tailroom: Tailroom, given: tuple[object]) -> None:
    rest = ("--duration", "4s", "--max-seeds", 4, "--precision", 0.5, "--no-atlas")
    numbers = ("--rate", "5Mbit/s", "--rtt", "20ms", "--target", "utilization >= 60%")
    assert tailroom("size", *numbers, *given, *rest, "--most-loss", "none").status == 0


@pytest.mark.usefixtures("in_module")
@pytest.mark.parametrize(
    ("given", "named"),
    [
        (("--flows", "25 CUBIC"), ["--flows: ", "did you mean `cubic`?"]),
        (("--congestion", "Reno"), ["--congestion: ", "did you mean `reno`?"]),
        (("--congestion", "mild_module:Mid"), ["--congestion: ", "did you mean `Mild`?"]),
        (("--congestion", "{ kind = 'aimd'"), ["--congestion: ", "{ kind = "]),
        (("--congestion", "{ kind = 'aimd', incr = 1 }"), ["--congestion.incr: ", "`increase`"]),
    ],
)
def test_the_command_says_what_is_wrong_with_a_control(
    tailroom: Tailroom, given: tuple[str], named: list[str]
) -> None:
    numbers = ("--rate", "5Mbit/s", "--rtt", "20ms", "--target", "utilization >= 60%")
    ended = tailroom("size", *numbers, *given)
    assert ended.status == 2
    assert all(part in ended.errors for part in named)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"congestion": 42}, [r"^congestion: 42 .*\"module:Class\""]),
        ({"congestion": [Mild]}, ["^congestion: .*module:Class"]),
        ({"congestion": Mild()}, ["^congestion: .* give the class Mild"]),
        ({"congestion": {"cubic": Mild}}, ["^congestion: .* names are flows"]),
        ({"congestion": {"flows": 42}}, [r"^flows\.flows\.congestion: 42 "]),
        ({"flows": 8.5}, ["^flows: 8.5 .* whole number"]),
        ({"flows": {"cubic": "8"}}, ["^flows: '8' .* whole number"]),
    ],
)
def test_size_refuses_what_is_no_control(given: dict[str, Any], named: list[str]) -> None:
    for part in named:
        with pytest.raises(tr.ScenarioError, match=part):
            tr.size(target="utilization >= 60%", **QUESTION, **given)


def test_one_control_is_that_of_the_only_group(one_group: Path) -> None:
    assert simulated(one_group, congestion=Mild)["tested"]["control"] == NAME
    assert simulated(one_group, congestion="cubic")["tested"]["kind"] == "cubic"
    assert simulated(one_group, congestion=AIMD)["tested"]["increase"] == 2.0
    by_group = simulated(one_group, congestion={"tested": AIMD})
    assert by_group["tested"]["increase"] == 2.0


CALLS: list[Callable[..., object]] = [
    tr.run,
    tr.choices,
    tr.predict,
    tr.phase_check,
    lambda scenario, congestion: tr.sweep(scenario, store="store", congestion=congestion),
    lambda scenario, congestion: tr.size(scenario, "utilization >= 90%", congestion=congestion),
]


@pytest.mark.parametrize("call", CALLS)
def test_one_control_for_several_groups_is_refused(call: Callable[..., object]) -> None:
    mixed = dumbbell("5 Mbit/s", "20 ms", {"reno": 1, "cubic": 1})
    with pytest.raises(tr.ScenarioError, match=r"Mild .*\(reno, cubic\); .*\{\"reno\": \.\.\.\}"):
        call(mixed, congestion=Mild)
    with pytest.raises(tr.ScenarioError, match=r"flows\.reno\.congestion: 42 is not"):
        call(mixed, congestion={"reno": 42})


def test_a_class_may_stand_in_a_scenario_built_in_python() -> None:
    scenario: Any = tomllib.loads(dumbbell(*NUMBERS).text)
    scenario["flows"]["flows"]["congestion"] = Mild
    assert simulated(scenario)["flows"] == {"kind": "custom", "control": NAME}
    assert scenario["flows"]["flows"]["congestion"] is Mild


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (Mild(), rf'flows\.flows\.congestion: Mild .* "{NAME}"'),
        ({"kind": Mild}, rf'flows\.flows\.congestion\.kind: Mild .* "{NAME}"'),
        (
            {"kind": "aimd", "increase": 2j},
            r"flows\.flows\.congestion\.increase: 2j is of type complex",
        ),
        (None, r"flows\.flows\.congestion: None is of type NoneType"),
    ],
)
def test_what_a_scenario_cannot_hold_is_named_by_its_key(value: object, named: str) -> None:
    scenario: Any = tomllib.loads(dumbbell(*NUMBERS).text)
    scenario["flows"]["flows"]["congestion"] = value
    with pytest.raises(tr.ScenarioError, match=f"^scenario: {named}"):
        tr.run(scenario)


def test_what_is_no_scenario_is_refused() -> None:
    with pytest.raises(tr.ScenarioError, match=r"^scenario: 42 is not a scenario; give a tailroom"):
        tr.run(42)  # type: ignore[arg-type]
    with pytest.raises(
        tr.ScenarioError, match=r"^scenario: is the text .* tailroom\.Scenario\.from_toml"
    ):
        tr.run(dumbbell(*NUMBERS).text)


KEY = "flows.tested.congestion"


@pytest.mark.parametrize(
    "call",
    [
        lambda scenario: tr.run(scenario, set={KEY: Mild}),
        lambda scenario: tr.sweep(scenario, store="store", grid={KEY: ["cubic", Mild]}),
        lambda scenario: tr.sweep(scenario, store="store", grid={KEY: Mild}),
        lambda scenario: tr.sweep(scenario, store="store", together={KEY: [Mild]}),
        lambda scenario: tr.choices(scenario, {KEY: ["cubic", Mild]}),
        lambda scenario: tr.predict_over(scenario, tr.Axis(KEY, (Mild,))),
    ],
)
def test_a_class_as_a_value_of_a_key_is_refused(
    call: Callable[[Path], object], one_group: Path
) -> None:
    with pytest.raises(tr.ScenarioError, match=rf'{KEY}: Mild is .* as in "{NAME}"'):
        call(one_group)


def test_until_may_be_text(one_group: Path, tmp_path: Path) -> None:
    result = tr.sweep(one_group, store=tmp_path / "store", until="core.utilization<0.9")
    assert result.record.until == vars(tr.Precision("core.utilization", 0.9))
    for wrong in ("utilization", "utilization<-1"):
        with pytest.raises(tr.ScenarioError, match=r"^until .*(METRIC<WIDTH|negative)"):
            tr.sweep(one_group, store=tmp_path / "store", until=wrong)
    with pytest.raises(tr.ScenarioError, match=r"^until: 0\.3 .* tailroom\.Precision"):
        tr.sweep(one_group, store=tmp_path / "store", until=0.3)  # type: ignore[arg-type]
