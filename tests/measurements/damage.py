"""Damaged files of measurements: each is read, or refused with one message."""

import copy
import gzip
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import tailroom as tr
from tests.measurements.test_reading import FLENT, IPERF3, SS, WAVEFORM

EXTREMES: tuple[Any, ...] = (
    None, True, -1, 0, 1e308, 10**400, "", "x", [], {}, [[]], {"a": 1}, -0.0, 1e-320, 1e7, "1",
)  # fmt: skip
Place = tuple[str | int, ...]


def places(value: Any, before: Place = ()) -> Iterator[Place]:
    """The places of all values in a JSON document, except the document itself."""
    entries: Any = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inside in entries:
        yield (*before, key)
        if isinstance(inside, dict | list):
            yield from places(inside, (*before, key))


def replaced(document: Any, place: Place, value: Any) -> Any:
    """A document with another value at a place."""
    changed = copy.deepcopy(document)
    target = changed
    for key in place[:-1]:
        target = target[key]
    target[place[-1]] = copy.deepcopy(value)
    return changed


def outcome(path: Path) -> str:
    """`read` or `refused`; an assertion says what is wrong."""
    try:
        found = tr.compare_measured(path)
    except tr.MeasurementError as error:
        message = str(error)
        assert message.startswith(f"{path}: "), message
        assert "\n" not in message
        return "refused"
    json.dumps(found.as_dict(), allow_nan=False)
    found.rows  # noqa: B018 - writes every value
    return "read"


def damage_measurements(
    directory: Path, count: int, seed: int, show: Callable[[str], object]
) -> Counter[str]:
    """Reads files with random damage.

    Args:
        directory: Where the files are written.
        count: Number of files.
        seed: Seed of the damage.
        show: Gets the progress.

    Returns:
        How the readings ended.
    """
    draw = random.Random(seed)
    endings = Counter[str]()
    path = directory / "measurement"
    for number in range(count):
        path.write_bytes(draw.choice((_json, _log, _csv, _bytes))(draw))
        endings[outcome(path)] += 1
        if number % 1000 == 999:
            show(f"{number + 1} of {count} damaged measurements: {dict(endings)}")
    return endings


def _json(draw: random.Random) -> bytes:
    document: Any = draw.choice((FLENT, IPERF3))
    for _ in range(draw.choice((1, 1, 2, 5))):
        place = draw.choice([*places(document)])
        document = replaced(document, place, draw.choice(EXTREMES))
    return json.dumps(document).encode()


def _log(draw: random.Random) -> bytes:
    words = SS.split(" ")
    for _ in range(draw.choice((1, 2, 5))):
        place = draw.randrange(len(words))
        name = words[place].partition(":")[0]
        values = ("", "1e999", "nan", "-1/2", f"{10**30}")
        words[place] = draw.choice(("\n", "", *(f"{name}:{value}" for value in values)))
    lines = " ".join(words).split("\n")
    draw.choice((lines.reverse, lambda: draw.shuffle(lines), lambda: None))()
    return "\n".join(lines).encode()


def _csv(draw: random.Random) -> bytes:
    lines = WAVEFORM.split("\n")
    for _ in range(draw.choice((1, 2, 5))):
        lines[draw.randrange(len(lines))] = draw.choice(("", "nan", "1e999", "-1", "======", "a,b"))
    draw.choice((lines.reverse, lambda: draw.shuffle(lines), lambda: None))()
    return "\n".join(lines).encode()


def _bytes(draw: random.Random) -> bytes:
    whole = draw.choice((json.dumps(FLENT), json.dumps(IPERF3), SS, WAVEFORM)).encode()
    content = bytearray(draw.choice((bytes, gzip.compress))(whole))
    for _ in range(draw.choice((0, 1, 3, 30))):
        content[draw.randrange(len(content))] = draw.randrange(256)
    return bytes(content[: draw.randrange(len(content) + 1)])
