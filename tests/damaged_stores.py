"""Stores with a damaged file, and what must be true of what is read from them.

Whatever is damaged, and however: what is read is what was written, or the file is named. A bit that
flips on a disk changes neither the size nor the time of change of its file; others do.
"""

import os
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import tailroom as tr
from tailroom.storage import run_directory
from tailroom.storage.run_index import FILE as INDEX_FILE
from tailroom.storage.store import MARKER
from tests.killed_sweeps import measured, sweep, write_scenario

KINDS = (MARKER, INDEX_FILE, "sweeps", "runs", "link_series")
"""Kinds of files: a file of the store, or a directory of files."""
LONG_AGO_S = 1_700_000_000
"""Time of change of all files: an index leaves out the newest ones."""
SHOW_EVERY = 100

Damage = Callable[[random.Random, bytes], bytes]


def _flip(draw: random.Random, whole: bytes) -> bytes:
    changed = bytearray(whole)
    place = draw.randrange(8 * len(whole))
    changed[place // 8] ^= 1 << place % 8
    return bytes(changed)


def _cut(draw: random.Random, whole: bytes) -> bytes:
    return whole[: draw.randrange(len(whole))]


def _overwrite(draw: random.Random, whole: bytes) -> bytes:
    start = draw.randrange(len(whole))
    return (whole[:start] + draw.randbytes(20) + whole[start + 20 :])[: len(whole)]


def _append(draw: random.Random, whole: bytes) -> bytes:
    return whole + draw.randbytes(draw.randint(1, 20))


def _clear(draw: random.Random, whole: bytes) -> bytes:
    """Zeros from somewhere on, as a power failure leaves them."""
    start = draw.randrange(len(whole))
    return whole[:start] + bytes(len(whole) - start)


DAMAGE: tuple[Damage, ...] = (_flip, _flip, _flip, _cut, _overwrite, _append, _clear)


def make_store(directory: Path) -> Path:
    """A store with a file of every kind, all of them old."""
    store = directory / "whole"
    scenario = write_scenario(directory)
    with mock.patch.object(run_directory, "WORTH_INDEXING", 1):
        sweep(scenario, store)
        for file in store.rglob("*.parquet"):
            os.utime(file, (LONG_AGO_S, LONG_AGO_S))
        tr.Store(store).columns()
    assert all((store / kind).exists() for kind in KINDS)
    return store


def content_of(store: Path) -> tuple[dict[str, Any], list[Path]]:
    """Everything that can be read from a store, by its name, and the files that are named."""
    opened = tr.Store(store)
    content: dict[str, Any] = {
        f"sweep {record.id}": str(vars(record)) for record in opened.sweeps()
    }
    index = opened.columns()
    for key in index.keys:
        content[f"index {key}"] = str(measured(index.row(key).table))
    for row in measured(opened.runs()):
        content[f"run {row['key']}"] = str(row)
        table = opened.table(row["key"], "link_series")
        if table is not None:
            content[f"link_series {row['key']}"] = str(table.to_pydict())
    return content, opened.damaged


def damage_files(
    directory: Path, cases: int, seed: int, show: Callable[[str], object]
) -> Counter[str]:
    """Damages one file at a time, reads the store, and puts the file back.

    Args:
        directory: An empty directory.
        cases: How many files are damaged.
        seed: Of the choice of files and damages.
        show: Gets lines of text about the progress.

    Returns:
        How many damages were named, refused, or changed nothing that can be read.
    """
    store = make_store(directory)
    right, damaged = content_of(store)
    assert damaged == []
    draw, endings = random.Random(seed), Counter[str]()
    for case in range(cases):
        place = store / KINDS[case % len(KINDS)]
        file = draw.choice(sorted(place.iterdir())) if place.is_dir() else place
        whole, times = file.read_bytes(), (file.stat().st_atime_ns, file.stat().st_mtime_ns)
        file.write_bytes(draw.choice(DAMAGE)(draw, whole))
        if draw.random() < 0.5:
            os.utime(file, ns=times)
        endings[_ending(store, file, right)] += 1
        file.write_bytes(whole)
        os.utime(file, ns=times)
        if (case + 1) % SHOW_EVERY == 0:
            show(f"{case + 1} damaged files: {dict(endings)}")
    assert content_of(store)[0] == right, "reading a damaged store changes nothing in it"
    sweep(directory / "random.toml", store)
    assert content_of(store)[0] == right
    return endings


def _ending(store: Path, file: Path, right: dict[str, Any]) -> str:
    """How reading a store with a damaged file ends; it must be right, or the file be named."""
    try:
        read, named = content_of(store)
    except tr.StoreError as error:
        refusal = str(error)
    else:
        return _reading(file, right, read, named)
    assert str(store) in refusal
    assert "; " in refusal
    return "refused"


def _reading(file: Path, right: dict[str, Any], read: dict[str, Any], named: list[Path]) -> str:
    """Compares what was read from a store with a damaged file with what is right."""
    wrong = [name for name, value in read.items() if right.get(name) != value]
    assert not wrong, f"{file}: {wrong} changed"
    assert named in ([], [file]), named
    if named:
        return "named"
    assert file.name == INDEX_FILE or read == right, f"{file}: lost, and not named"
    return "nothing changed"
