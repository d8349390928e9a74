"""The record of a sweep: its points, and the runs of each point.

A record is a JSON object with the fields of `SweepRecord`, and `digest`: the SHA-256 of the other
fields. Records of earlier versions have no digest; they are read without this check.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from tailroom.field_docs import with_field_docs
from tailroom.quoting import quoted
from tailroom.scenario.json_text import read_json

MOST_RECORD_BYTES = 200_000_000
"""Length of a record."""
DIGEST = "digest"
"""Key of the digest in the file."""
KEY_OF_RUN = re.compile(r"[0-9A-Za-z_-]{1,128}")
"""Form of a run's key, which is part of a file name."""
OF_UNTIL = {"metric": str, "half_width": (int, float), "at_least": int, "at_most": int}
"""Types of the fields of `Precision`."""


@with_field_docs
@dataclass
class SweepRecord:
    """The points of a sweep, and the runs of each point."""

    id: str
    """Name of the record in the store; equal sweeps have equal names."""
    title: str
    """Title of the scenario."""
    scenario: str
    """Path of the scenario file, or "scenario" for one built in Python."""
    axes: dict[str, list[object]]
    """Keys that the sweep varies, with their values as the user gave them."""
    points: list[dict[str, Any]] = field(default_factory=list)
    """Each point has `settings` (key to value), `runs` (keys of its runs) and, if phases were
    checked, `shifted_runs` (keys of its runs with shifted RTTs)."""
    units: dict[str, str] = field(default_factory=dict)
    """Units of the values that the user gave as numbers or time spans, by key."""
    until: dict[str, Any] | None = None
    """The fields of `Precision`, if a precision decides the number of runs."""

    def to_bytes(self) -> bytes:
        """Returns the content of the record's file."""
        content = vars(self)
        return json.dumps({**content, DIGEST: _digest(content)}, indent=1).encode()

    @classmethod
    def from_bytes(cls, content: bytes, name: str) -> "SweepRecord":
        """Reads the content of a record's file.

        Args:
            content: The content.
            name: Name of the file without its ending, which is the id of the record.

        Raises:
            ValueError: The content is damaged or is no record; the message names the key.
        """
        try:
            values = read_json(content.decode())
        except ValueError:
            raise ValueError("it is no JSON, or nested too deeply") from None
        if not isinstance(values, dict):
            raise ValueError("it is no JSON object")
        digest = values.pop(DIGEST, None)
        if digest is not None and digest != _digest(values):
            raise ValueError("its content does not have its digest")
        _check(values, name)
        return cls(**values)

    def extended_by(self, earlier: "SweepRecord") -> "SweepRecord":
        """Returns this record with the further runs that an earlier record of the sweep has.

        A point keeps the earlier record's runs if they begin with the runs of this record: the
        sweep was then repeated with fewer seeds. If they differ, the engine or a file has changed,
        and the earlier runs do not belong to this sweep any more.

        Args:
            earlier: The record of the same id in the store.
        """
        settings = [_plain(point["settings"]) for point in self.points]
        if settings != [point["settings"] for point in earlier.points]:
            return self
        points = [
            _longer(point, before)
            for point, before in zip(self.points, earlier.points, strict=True)
        ]
        if points == self.points:
            return self
        return replace(self, points=points, until=self.until or earlier.until)


def _longer(point: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a point with the runs of its earlier version if those begin with its own."""
    longer = dict(point)
    if not _begins(before["runs"], point["runs"]):
        return longer
    longer["runs"] = before["runs"]
    shifted = before.get("shifted_runs", [])
    if shifted and _begins(shifted, point.get("shifted_runs", [])):
        longer["shifted_runs"] = shifted
    return longer


def _begins(keys: Sequence[str], first: Sequence[str]) -> bool:
    return list(keys[: len(first)]) == list(first)


def _plain(value: object) -> Any:
    """Returns a value as JSON gives it back: with lists in place of tuples."""
    return json.loads(json.dumps(value))


def _digest(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()


def _check(values: Mapping[str, Any], name: str) -> None:
    """Checks the types of a record's fields.

    Raises:
        ValueError: A field is missing, unknown, or of another type; the message names the key.
    """
    known = [of_record.name for of_record in fields(SweepRecord)]
    for key in values:
        _expect(key in known, f"has the unknown key {quoted(ascii(key))}")
    for key in known:
        _expect(key in values or key in ("points", "units", "until"), f"lacks the key {key}")
    _expect(_is_unicode(values), "has text that is not Unicode")
    _expect(
        values["id"] == name,
        f"has the id {quoted(ascii(values['id']))}, which is not its file name",
    )
    for key in ("title", "scenario"):
        _expect(isinstance(values[key], str), f"{key} is not text")
    axes = values["axes"]
    _expect(
        isinstance(axes, dict) and all(isinstance(axis, list) for axis in axes.values()),
        "axes is not a table of lists",
    )
    points = values.get("points", [])
    _expect(isinstance(points, list), "points is not a list")
    for number, point in enumerate(points, 1):
        _check_point(f"point {number}", point, axes)
    units = values.get("units", {})
    _expect(isinstance(units, dict) and units.keys() <= axes.keys(), "units is not a table of keys")
    until = values.get("until")
    _expect(until is None or _is_precision(until), "until is not a precision")


def _check_point(place: str, point: object, axes: Mapping[str, object]) -> None:
    """Checks one point of a record.

    Raises:
        ValueError: A field is missing or of another type.
    """
    if not isinstance(point, dict):
        raise ValueError(f"{place} is not a table")
    settings, runs = point.get("settings"), point.get("runs")
    _expect(isinstance(settings, dict), f"{place}: settings is not a table")
    lacking = [key for key in axes if key not in point["settings"]]
    _expect(
        not lacking, f"{place}: settings lacks {', '.join(quoted(ascii(key)) for key in lacking)}"
    )
    _expect(_are_keys(runs), f"{place}: runs is not a list of keys of runs")
    _expect(
        _are_keys(point.get("shifted_runs", [])),
        f"{place}: shifted_runs is not a list of keys of runs",
    )


def _are_keys(value: object) -> bool:
    return isinstance(value, list) and all(
        isinstance(key, str) and KEY_OF_RUN.fullmatch(key) for key in value
    )


def _is_precision(value: object) -> bool:
    return (
        isinstance(value, dict)
        and value.keys() == OF_UNTIL.keys()
        and all(isinstance(value[key], kind) for key, kind in OF_UNTIL.items())  # type: ignore[arg-type]
    )


def _is_unicode(value: object) -> bool:
    """Whether all texts can be encoded; JSON may escape halves of surrogate pairs."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _expect(holds: bool, problem: str) -> None:
    if not holds:
        raise ValueError(problem)
