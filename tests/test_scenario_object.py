"""A scenario in Python: read once, changed without being changed, with numbers for quantities."""

import pickle
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tailroom as tr
from tailroom import _engine
from tailroom.scenario import types
from tests.conftest import SMALL, Tailroom

pytestmark = pytest.mark.usefixtures("quick_models")

LIMIT = "links.bottleneck.queue.limit"
RATE = "links.bottleneck.rate"


def tables(rate: Any, delay: Any, limit: Any, rtt: Any, duration: Any = "5 s") -> types.Scenario:
    queue: types.Queue = {"kind": "drop_tail", "limit": limit}
    return {
        "duration": duration,
        "links": {"bottleneck": {"rate": rate, "delay": delay, "queue": queue}},
        "flows": {"reno": {"path": ["bottleneck"], "congestion": "reno", "rtt": rtt}},
    }


WRITTEN = tables("10 Mbit/s", "5 ms", "20 packets", "40 ms")


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that the engine has read."""
    read: list[str] = []
    reader = _engine.Scenario

    def counted(text: str, *more: Any) -> _engine.Scenario:
        read.append(text)
        return reader(text, *more)

    monkeypatch.setattr(_engine, "Scenario", counted)
    return read


TRACED = SMALL.replace('rate = "10 Mbit/s"', 'trace = "link.trace"')


@pytest.mark.parametrize("text", [SMALL, TRACED], ids=["without files", "with a file"])
def test_a_run_reads_its_scenario_once(small: Path, readings: list[str], text: str) -> None:
    (small.parent / "link.trace").write_text("1\n2\n4\n", encoding="utf-8")
    small.write_text(text, encoding="utf-8")
    result = tr.run(small, set={LIMIT: 9}, seed=3)
    assert result.summary["seed"] == 3
    assert len(readings) == 1


def test_what_has_been_read_is_not_read_again(readings: list[str]) -> None:
    scenario = tr.Scenario(**WRITTEN)
    for seed in range(3):
        tr.run(scenario, seed=seed)
    assert scenario.hash
    assert tr.predict(scenario).link.limit_packets == 20
    assert len(readings) == 1


def test_a_sweep_reads_each_point_once(tmp_path: Path, readings: list[str]) -> None:
    tr.sweep(WRITTEN, store=tmp_path / "store", grid={LIMIT: ["8 packets", "9 packets"]}, seeds=4)
    assert len(readings) == 1 + 2


@pytest.mark.parametrize(
    "numbers",
    [
        tables(10e6, 0.005, 20, 0.04, 5),
        tables(10_000_000, timedelta(milliseconds=5), np.int64(20), np.float64(0.04)),
        tables("10 Mbit/s", 5e-3, 20.0, {"from": 0.04, "to": "40 ms"}, timedelta(seconds=5)),
    ],
)
def test_numbers_are_in_the_unit_of_their_key(numbers: types.Scenario) -> None:
    plain = tables("10 Mbit/s", "5 ms", "20 packets", numbers["flows"]["reno"]["rtt"])
    assert tr.Scenario(**numbers).hash == tr.Scenario(**plain).hash
    assert tr.Scenario(**numbers).resolved["links"]["bottleneck"]["rate"] == "10 Mbit/s"


def test_numbers_replace_values_of_a_file(small: Path) -> None:
    given = {LIMIT: 7, RATE: 5e6, "flows.reno.rtt": timedelta(milliseconds=80)}
    texts = {LIMIT: "7 packets", RATE: "5 Mbit/s", "flows.reno.rtt": "80 ms"}
    read = tr.Scenario.read(small)
    assert (
        read.with_(given).hash == read.with_(texts).hash == tr.Scenario.read(small, set=texts).hash
    )
    assert tr.run(small, set=given).scenario == tr.run(small, set=texts).scenario


def test_shared_keys_take_numbers_too(small: Path) -> None:
    numbers = tr.Scenario.read(small, set={"defaults.packet_size": 1000})
    assert numbers.resolved["flows"]["reno"]["packet_size"] == "1000 B"


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("20e6", r"set links\.bottleneck\.rate: is the bare number 20000000\.0, without a unit"),
        (True, r"set links\.bottleneck\.rate: is true; write a string with one of the units bit/s"),
        (-3, r'set links\.bottleneck\.rate: "-3 bit/s" is negative'),
        (timedelta(seconds=1), r'set links\.bottleneck\.rate: "s" is not a known unit'),
        (None, r"links\.bottleneck\.rate: None is of type NoneType; use text, numbers"),
        (1j, r"links\.bottleneck\.rate: 1j is of type complex; use text, numbers"),
    ],
)
def test_what_is_no_rate_is_refused(small: Path, value: object, problem: str) -> None:
    with pytest.raises(tr.ScenarioError, match=problem):
        tr.run(small, set={RATE: value})


def test_a_file_and_a_command_give_units(tailroom: Tailroom, small: Path, tmp_path: Path) -> None:
    assert "without a unit" in tailroom("run", small, "--set", f"{RATE}=20e6").errors
    sweep = ("sweep", small, "--store", tmp_path / "store", "--seeds", 1)
    refused = f'{LIMIT}: 5 has no unit; write it with its unit, as in "5 packets"'
    assert refused in tailroom(*sweep, "--grid", f"{LIMIT}=5,9").errors
    assert refused in tailroom("run", small, "--vary", f"{LIMIT}=5,9").errors
    small.write_text(f'{SMALL}\n[sweep.grid]\n"{LIMIT}" = [5, 9]\n', encoding="utf-8")
    assert refused in tailroom(*sweep).errors
    small.write_text(SMALL.replace('"10 Mbit/s"', "10e6"), encoding="utf-8")
    assert "without a unit" in tailroom("run", small).errors


@pytest.mark.parametrize(
    ("key", "values", "numbers", "unit"),
    [
        (LIMIT, [8, 9], [8, 9], b"packets"),
        (LIMIT, range(8, 10), [8, 9], b"packets"),
        (LIMIT, np.array([8, 9]), [8, 9], b"packets"),
        (RATE, {"from": 5e6, "to": 10e6, "points": 2}, [5e6, 10e6], b"bit/s"),
        ("flows.reno.rtt", [timedelta(milliseconds=60)], [0.06], b"s"),
        ("flows.reno.count", [1, 2], [1, 2], None),
        (LIMIT, ["8 packets", "9 packets"], ["8 packets", "9 packets"], None),
    ],
)
def test_numbers_of_an_axis_come_back_as_numbers(
    tmp_path: Path, key: str, values: object, numbers: list[object], unit: bytes | None
) -> None:
    swept = tr.sweep(WRITTEN, store=tmp_path / "store", grid={key: values}, seeds=1)
    for table in (swept.runs, swept.means("utilization"), swept.store.runs()):
        if key in table.column_names:
            assert table[key].to_pylist() == numbers
            assert (table.schema.field(key).metadata or {}).get(b"unit") == unit
    assert swept.record.units == ({key: unit.decode()} if unit else {})


TABLES: dict[str, Callable[[list[Any]], pa.Table]] = {
    "sweep": lambda rates: tr.sweep(WRITTEN, grid={"rate": rates}, seeds=1).table(),
    "choices": lambda rates: tr.choices(WRITTEN, {"rate": rates}).table(),
    "frontier": lambda rates: tr.frontier(
        WRITTEN, "utilization >= 50%", over={"rate": rates}, max_seeds=4, precision=0.5, atlas=False
    ).table(),
    "predict_over": lambda rates: tr.predict_over(
        WRITTEN, tr.Axis("rate", tuple(rates)), models=["square_root_rule"]
    ).table(),
}


@pytest.mark.parametrize("question", TABLES)
@pytest.mark.parametrize(
    ("rates", "column", "unit"),
    [
        ([5e6, 8e6], [5e6, 8e6], {b"unit": b"bit/s"}),
        (["5000000 bit/s", 8e6], [5e6, 8e6], {b"unit": b"bit/s"}),
        (["5 Mbit/s", 8e6], ["5 Mbit/s", "8000000 bit/s"], None),
    ],
    ids=["numbers", "the same unit", "another unit"],
)
def test_tables_of_all_questions_have_numbers_with_their_unit(
    question: str, rates: list[Any], column: list[Any], unit: dict[bytes, bytes] | None
) -> None:
    table = TABLES[question](rates)
    assert table.schema.names[0] == ("rate" if question == "choices" else RATE)
    assert table.column(0).to_pylist() == column
    assert table.schema.field(0).metadata == unit


def test_numbers_and_texts_are_the_same_points(small: Path, tmp_path: Path) -> None:
    store = tmp_path / "store"
    tr.sweep(small, store=store, grid={LIMIT: ["8 packets", "9 packets"]}, seeds=1)
    tr.sweep(small, store=store, grid={LIMIT: [8, 9]}, seeds=1)
    assert len(tr.Store(store).columns().keys) == 2


def test_the_end_of_a_key_suffices(small: Path, tmp_path: Path, tailroom: Tailroom) -> None:
    assert tr.run(small, set={"limit": 9}).scenario == tr.run(small, set={LIMIT: 9}).scenario
    swept = tr.sweep(small, store=tmp_path / "store", grid={"limit": [8, 9]}, seeds=1)
    assert list(swept.record.axes) == [LIMIT]
    assert tailroom("run", small, "--set", "limit=9 packets").status == 0
    with pytest.raises(tr.ScenarioError, match=r"kind is short for several keys: links\.bottl"):
        tr.run(small, set={"kind": "codel"})
    with pytest.raises(tr.ScenarioError, match=r"set limits: there is no such key here"):
        tr.run(small, set={"limits": 9})
    with pytest.raises(tr.ScenarioError, match=r"queue\.buffer\.limit: no key ends so; did you m"):
        tr.run(small, set={"queue.buffer.limit": 9})


def test_a_scenario_never_changes(small: Path) -> None:
    first = tr.Scenario.read(small)
    before = first.to_toml()
    assert first.with_({LIMIT: 3}).resolved["links"]["bottleneck"]["queue"]["limit"] == "3 packets"
    tr.run(first, set={LIMIT: 4}, congestion="cubic")
    assert first.to_toml() == before
    first.resolved["flows"].clear()
    assert first.groups == ["reno"]


def test_a_scenario_can_be_sent_to_another_process(small: Path) -> None:
    scenario = tr.Scenario.read(small, set={LIMIT: 3})
    assert pickle.loads(pickle.dumps(scenario)).hash == scenario.hash


def test_a_wrong_key_is_refused_where_it_is_written() -> None:
    with pytest.raises(tr.ScenarioError, match=r"links\.l\.rat: .* did you mean `rate`\?"):
        tr.Scenario(duration="5 s", links={"l": {"rat": "1 Mbit/s"}}, flows={})  # type: ignore[typeddict-unknown-key, typeddict-item]


@pytest.mark.parametrize(
    "call",
    [
        tr.run,
        tr.predict,
        tr.phase_check,
        lambda scenario: tr.choices(scenario, {LIMIT: [8, 9]}, seeds=1),
        lambda scenario: tr.choices([scenario, scenario], seeds=1),
        lambda scenario: tr.predict_over(scenario, tr.Axis(LIMIT, (8, 9))),
        lambda scenario: tr.size(scenario, "utilization >= 50%", max_seeds=4, atlas=False),
    ],
)
def test_every_question_takes_the_object(call: Callable[..., object]) -> None:
    assert call(tr.Scenario(**WRITTEN))


def test_a_scenario_that_was_read_names_code_only_if_that_is_allowed(small: Path) -> None:
    small.write_text(SMALL.replace('{ kind = "reno" }', '"no_such_module:Class"'), encoding="utf-8")
    read = tr.Scenario.read(small)
    with pytest.raises(tr.ScenarioError, match="allow_code=True"):
        tr.run(read)
    with pytest.raises(tr.ScenarioError, match="no module no_such_module"):
        tr.run(read, allow_code=True)


NUMBERS: dict[str, Any] = {"duration": "6 s", "congestion": "reno"}


def test_a_dumbbell_takes_numbers_and_texts() -> None:
    texts = tr.dumbbell("20 Mbit/s", "30 ms to 50 ms", 4, **NUMBERS)
    assert tr.dumbbell(20e6, (0.03, 0.05), 4, **NUMBERS).hash == texts.hash
    one = tr.dumbbell("20 Mbit/s", "40 ms")
    assert tr.dumbbell(20e6, timedelta(milliseconds=40)).hash == one.hash
    assert one.resolved["title"] == "1 cubic flow, 20 Mbit/s, RTT 40 ms"


def test_a_dumbbell_has_any_queue_and_other_groups() -> None:
    others: dict[str, Any] = {
        "queue": {"kind": "codel", "limit": 50},
        "groups": {"calls": {"source": {"kind": "poisson", "rate": 1e6}}},
    }
    scenario = tr.dumbbell(20e6, 0.04, 2, duration=6, **others)
    assert scenario.resolved["links"]["bottleneck"]["queue"]["limit"] == "50 packets"
    assert scenario.resolved["flows"]["calls"]["path"] == ["bottleneck"]
    assert scenario.groups == ["flows"]
    with pytest.raises(tr.ScenarioError, match=r"^groups: flows is taken; choose another name"):
        tr.dumbbell(20e6, 0.04, groups={"flows": {}})
    with pytest.raises(tr.ScenarioError, match=r"^rate: None is not a quantity; write text, as in"):
        tr.dumbbell(None, 0.04)  # type: ignore[arg-type]


def test_a_question_takes_numbers() -> None:
    question: dict[str, Any] = {"target": "utilization >= 60%", "max_seeds": 4, "atlas": False}
    texts = tr.size(rate="5 Mbit/s", rtt="20 ms", duration="6 s", **question)
    numbers = tr.size(rate=5e6, rtt=0.02, duration=6, **question)
    assert numbers.limit_packets == texts.limit_packets is not None
