"""Records of sweeps: no changed bit is believed, and no name leads out of the store."""

import json
import random
import shutil
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tailroom as tr
from tailroom.storage.file_lock import locked
from tailroom.storage.store import Store
from tailroom.storage.sweep_record import SweepRecord
from tests.conftest import SMALL, Tailroom

KEY = "links.bottleneck.queue.limit"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one sweep of two points."""
    directory = tmp_path_factory.mktemp("records")
    scenario = directory / "two.toml"
    scenario.write_text(SMALL.replace('"4 s"', '"2 s"'), encoding="utf-8")
    tr.sweep(scenario, store=directory / "store", grid={KEY: ["5 packets", "9 packets"]}, seeds=2)
    return directory / "store"


@pytest.fixture
def store(original: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(original, tmp_path / "store"))


def record_of(store: Path) -> Path:
    return next((store / "sweeps").iterdir())


def test_no_flipped_bit_of_a_record_is_believed(store: Path) -> None:
    file = record_of(store)
    whole = file.read_bytes()
    right = vars(Store(store).sweeps()[0])
    draw = random.Random(5)
    for _ in range(500):
        place = draw.randrange(8 * len(whole))
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        file.write_bytes(flipped)
        opened = Store(store)
        read = opened.sweeps()
        assert [vars(record) for record in read] in ([], [right]), f"bit {place}"
        assert opened.damaged == ([] if read else [file])


def test_a_record_without_a_digest_is_read(store: Path) -> None:
    file = record_of(store)
    right = vars(Store(store).sweeps()[0])
    values = json.loads(file.read_bytes())
    del values["digest"]
    file.write_text(json.dumps(values), encoding="utf-8")
    assert [vars(record) for record in Store(store).sweeps()] == [right]


def _set(**changes: object) -> Callable[[dict[str, Any]], str]:
    return lambda values: json.dumps({**values, **changes})


def _point(**changes: object) -> Callable[[dict[str, Any]], str]:
    def changed(values: dict[str, Any]) -> str:
        point = {**values["points"][0], **changes}
        kept = {key: value for key, value in point.items() if value is not None}
        return json.dumps({**values, "points": [kept]})

    return changed


WRONG: dict[str, tuple[Callable[[dict[str, Any]], str], str]] = {
    "id out of the store": (_set(id="../../pwn/x"), "has the id '../../pwn/x'"),
    "absolute id": (_set(id="/tmp/pwn"), "has the id '/tmp/pwn'"),
    "id is a number": (_set(id=5), "has the id 5"),
    "points is text": (_set(points="abc"), "points is not a list"),
    "points is null": (_set(points=None), "points is not a list"),
    "points are numbers": (_set(points=[1, 2]), "point 1 is not a table"),
    "axes is a list": (_set(axes=[1]), "axes is not a table"),
    "axes without settings": (_set(axes={"nope": [1]}), "point 1: settings lacks 'nope'"),
    "until": (_set(until={"x": 1}), "until is not a precision"),
    "title is a number": (_set(title=5), "title is not text"),
    "title is half a character": (_set(title="\ud800"), "not Unicode"),
    "unknown key": (_set(colour="red"), "unknown key 'colour'"),
    "no settings": (_point(settings=None), "point 1: settings is not a table"),
    "no runs": (_point(runs=None), "point 1: runs is not a list"),
    "run out of the store": (_point(runs=["../../etc/passwd"]), "point 1: runs is not a list of"),
    "a list": (lambda _: "[1, 2]", "it is no JSON object"),
    "deep": (lambda _: "[" * 200_000, "nested too deeply"),
    "no JSON": (lambda _: "\0\0", "it is no JSON"),
    "a long number": (lambda _: '{"id":' + "9" * 5000 + "}", "it is no JSON"),
    "missing key": (lambda _: '{"id": "x"}', "lacks the key title"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_record_of_another_shape_is_named_with_its_key(
    tailroom: Tailroom, store: Path, case: str
) -> None:
    change, problem = WRONG[case]
    file = record_of(store)
    values = json.loads(file.read_bytes())
    del values["digest"]
    file.write_text(change(values), encoding="utf-8")
    before = sorted(store.parent.rglob("*"))
    shown = tailroom("results", store)
    assert shown.status == 0
    warning = f"warning: {file} is damaged and was left out: "
    assert shown.errors.startswith(warning)
    assert problem in shown.errors
    assert "; remove it, and give the sweep's command again" in shown.errors
    for command in (
        ("results", store, "--metric", "utilization"),
        ("plot", store),
    ):
        ended = tailroom(*command)
        assert ended.status == 2
        assert f"{file} is damaged" in ended.errors
        assert problem in ended.errors
    assert sorted(store.parent.rglob("*")) == before


def test_names_that_lead_out_of_the_store_are_refused(store: Path) -> None:
    opened = Store(store)
    for key, part in (("../x", "runs"), ("x", ".."), ("/etc/passwd", "runs"), ("", "runs")):
        with pytest.raises(tr.StoreError, match="give the key of a run"):
            opened.table(key, part)
    record = opened.sweeps()[0]
    for name in ("../x", "/x", "a\\b", "", "a\nb"):
        with pytest.raises(tr.StoreError, match="give the name of a file"):
            opened.record(replace(record, id=name))


def test_the_same_sweep_with_fewer_seeds_keeps_the_record(tmp_path: Path, small: Path) -> None:
    store, grid = tmp_path / "store", {KEY: ["5 packets"]}
    tr.sweep(small, store=store, grid=grid, seeds=3)
    fewer = tr.sweep(small, store=store, grid=grid, seeds=1)
    assert len(fewer.record.points[0]["runs"]) == 1
    assert len(Store(store).sweeps()[0].points[0]["runs"]) == 3
    tr.sweep(small, store=store, grid=grid, seeds=4)
    assert len(Store(store).sweeps()[0].points[0]["runs"]) == 4


def test_shifted_runs_stay_in_the_record_of_a_sweep_without_them(
    tmp_path: Path, small: Path
) -> None:
    store, grid = tmp_path / "store", {KEY: ["5 packets"]}
    tr.sweep(small, store=store, grid=grid, seeds=2, phase_check=True)
    tr.sweep(small, store=store, grid=grid, seeds=2)
    assert len(Store(store).sweeps()[0].points[0]["shifted_runs"]) == 2


def test_runs_of_another_engine_leave_the_record() -> None:
    before = SweepRecord("x", "t", "x", {}, [{"settings": {}, "runs": ["a", "b", "c"]}])
    now = replace(before, points=[{"settings": {}, "runs": ["d", "e"]}])
    assert now.extended_by(before).points[0]["runs"] == ["d", "e"]


def test_two_writers_of_one_record_wait_for_each_other(store: Path) -> None:
    opened = Store(store)
    record = opened.sweeps()[0]
    writer = threading.Thread(target=opened.record, args=(replace(record, title="later"),))
    with locked(store / ".lock"):
        writer.start()
        writer.join(timeout=0.5)
        assert writer.is_alive()
        assert opened.sweeps()[0].title == record.title
    writer.join()
    assert opened.sweeps()[0].title == "later"
