"""A scenario on its way to the engine: from a file or from Python objects to TOML text."""

import dataclasses
import hashlib
import json
import re
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TextIO

import tomli_w

from tailroom import _engine
from tailroom.arguments import SEED, check_mapping, check_unicode, named
from tailroom.errors import ScenarioError
from tailroom.scenario.custom_controls import Congestion, OwnControls
from tailroom.scenario.given_controls import check_values, controls_by_group
from tailroom.scenario.shipped import did_you_mean, shipped_scenario
from tailroom.scenario.trust import EVERYTHING, Trust, trust_in_files
from tailroom.scenario.types import Scenario

STANDARD_INPUT = "-"
"""Path that stands for standard input."""
LARGEST_SCENARIO_BYTES = 4 << 20
"""Largest size of a scenario file."""


@dataclass(frozen=True)
class ScenarioSource:
    """What the engine reads, and what it needs to know about where that came from."""

    text: str
    directory: Path
    """Base directory of relative paths in the scenario."""
    place: str
    """How messages name the scenario: its path or name, "stdin" for standard input, or "scenario"
    for one built in Python."""
    overrides: tuple[tuple[str, str], ...] = ()
    """Keys with values that replace values of the text."""
    controls: OwnControls = field(default_factory=OwnControls)
    """The user's own congestion controls."""
    trust: Trust = EVERYTHING
    """What the scenario may name outside itself."""

    @classmethod
    def of(
        cls,
        scenario: "str | PathLike[str] | Scenario",
        overrides: Mapping[str, object] | None = None,
        congestion: Congestion | None = None,
    ) -> "ScenarioSource":
        """Reads a scenario file, or writes down a scenario that was built in Python.

        Args:
            scenario: The path of a file; `-` for standard input; where no file has that path, the
                name of a shipped scenario (`tailroom list scenarios`); or a scenario built in
                Python.
            overrides: Values that replace those of the scenario, by dotted key.
            congestion: Congestion controls by group, or the control of the only group.

        Raises:
            ArgumentError: `overrides` is not a mapping.
            ScenarioError: The file cannot be read, a value cannot be written as TOML, or a value of
                `congestion` is not a congestion control.
        """
        check_mapping("set", overrides, '{"links.bottleneck.queue.limit": "625 packets"}')
        overrides = overrides or {}
        if isinstance(scenario, (str, PathLike)) and fspath(scenario) == STANDARD_INPUT:
            text = _read_standard_input(sys.stdin)
            source = cls(text, Path(), "stdin", trust=trust_in_files())
        elif isinstance(scenario, (str, PathLike)):
            path = Path(scenario)
            shipped = None if path.is_file() else shipped_scenario(str(path))
            file = shipped or path
            source = cls(_read(file), file.parent, str(path), trust=trust_in_files())
        else:
            if not isinstance(scenario, Mapping):
                raise ScenarioError(
                    f"scenario: {scenario!r} is not a scenario; give the path of a file, a name "
                    "that `tailroom list scenarios` shows, or a dictionary"
                )
            controls = OwnControls()
            text = _write_down(_with_names_of_classes(scenario, controls))
            source = cls(text, Path(), "scenario", controls=controls)
        source = source.trusting(list(overrides.values()))
        replaced = source.replacing(overrides)
        with source.named_in_errors():
            by_group = controls_by_group(congestion, replaced.groups)
        source = source.trusting(list(by_group.values()))
        controls = dataclasses.replace(source.controls, directory=source.directory)
        given = {
            f"flows.{group}.congestion": controls.give(control)
            for group, control in by_group.items()
        }
        return dataclasses.replace(source, controls=controls).replacing({**given, **overrides})

    @classmethod
    def stored(cls, text: str, place: str = "the stored scenario") -> "ScenarioSource":
        """Reads the scenario of a stored run, which names no code unless the caller allows it.

        The paths in it are absolute, so files are not confined to a directory.

        Args:
            text: The resolved scenario as TOML.
            place: How messages name the scenario.
        """
        trust = dataclasses.replace(trust_in_files(), files=True)
        return cls(text, Path(), place, controls=OwnControls(trust=trust), trust=trust)

    def trusting(self, values: object) -> "ScenarioSource":
        """The same scenario; what these values name is the caller's own.

        Args:
            values: Values of keys that the caller wrote.
        """
        trust = self.trust.naming(values)
        controls = dataclasses.replace(self.controls, trust=trust)
        return dataclasses.replace(self, trust=trust, controls=controls)

    def replacing(self, overrides: Mapping[str, object]) -> "ScenarioSource":
        """The same scenario with more of its values replaced, by dotted key.

        Raises:
            ScenarioError: A key or a value cannot be encoded, or a value is a Python object.
        """
        for key, value in overrides.items():
            check_values(f"{self.place}: {key}", value)
        texts = tuple((key, _override_text(value)) for key, value in overrides.items())
        for key, text in texts:
            check_unicode(f"{self.place}: {key}", f"{key} = {text}")
        return dataclasses.replace(self, overrides=self.overrides + texts)

    def resolve(self, seed: int | None) -> str:
        """Returns the scenario as TOML with every default filled in and absolute file paths.

        Raises:
            ScenarioError: The scenario is wrong; the message has a line per problem (at most ten)
                with the place and the remedy.
        """
        resolved = self._resolve_as_written(seed)
        with self.named_in_errors():
            return replace_files(resolved, lambda path: str((self.directory / path).absolute()))

    def files(self) -> list[str]:
        """Returns the paths of the files that the scenario names, as it writes them.

        Raises:
            ScenarioError: The scenario is wrong.
        """
        document = tomllib.loads(self._resolve_as_written(seed=None))
        return [table[key] for table, key in _naming_files(document)]

    def groups(self) -> list[str]:
        """Returns the names of the groups under congestion control, or the name of the only group.

        Raises:
            ScenarioError: The scenario is wrong; the lines of the message do not name the file.
        """
        try:
            written = tomllib.loads(self.text).get("flows", {})
        except tomllib.TOMLDecodeError:
            written = {}  # the engine says what is wrong
        if len(written) == 1:  # its congestion control may be missing
            return list(written)
        groups = tomllib.loads(self._resolve(seed=None))["flows"]
        return [name for name, group in groups.items() if "congestion" in group]

    def _resolve_as_written(self, seed: int | None) -> str:
        with self.named_in_errors():
            return self._resolve(seed)

    def _resolve(self, seed: int | None) -> str:
        self.check(seed)
        return _engine.resolve(
            self.text,
            self.directory,
            self.overrides,
            seed,
            self.controls.find,
            self.permitted(),
        )

    def check(self, seed: int | None) -> None:
        """Checks what the engine does not know: the range of the seed, and the trust in files.

        Args:
            seed: Seed of the run; that of the scenario if `None`.

        Raises:
            ArgumentError: The seed is not a number, or out of range.
            ScenarioError: The scenario may not name one of its files.
        """
        SEED.check("seed", seed)
        check_unicode(self.place, self.text)
        replaced = frozenset(key for key, _ in self.overrides)
        self.trust.check_files(self.text, self.directory, replaced)

    def permitted(self) -> tuple[str, ...] | None:
        """Returns the paths of files that the scenario may name; any if `None`."""
        return self.trust.permitted_files(self.text, self.directory)

    def hash(self) -> str:
        """Returns a hash of the simulated scenario, independent of the seed.

        The hash is the SHA-256 of the scenario as resolved at seed 0, with each file replaced by
        the SHA-256 of its content and each of the user's own controls extended by the SHA-256 of
        its module. Comments, units and omitted defaults do not change it.
        """
        content = replace_files(self.resolve(seed=0), lambda path: _sha256(Path(path).read_bytes()))
        code = [self.controls.code_hash(control) for control in own_controls(content)]
        return _sha256("".join([content, *filter(None, code)]).encode())

    @contextmanager
    def named_in_errors(self) -> Iterator[None]:
        """Puts the name of the file in front of each problem in an error.

        Raises:
            ScenarioError: The block raised one; each of its lines now begins with the file.
        """
        try:
            yield
        except ScenarioError as error:
            lines = str(error).splitlines()
            placed = (f"{self.place}: {_with_name_of_set(line)}" for line in lines)
            raise ScenarioError("\n".join(placed)) from None


_MAY_NAME_FILES = re.compile(r"\b(?:trace|file)\b[\"']?\s*=")
"""What the keys that name files look like in a resolved scenario, and perhaps other text."""


def replace_files(scenario: str, replace: Callable[[str], str]) -> str:
    """Replaces the path of each file that a scenario (as TOML) names."""
    if not _MAY_NAME_FILES.search(scenario):  # reading a long scenario takes seconds
        return scenario
    document = tomllib.loads(scenario)
    naming = list(_naming_files(document))
    for table, key in naming:
        table[key] = replace(table[key])
    return tomli_w.dumps(document) if naming else scenario


def _naming_files(value: object) -> Iterator[tuple[dict[str, Any], str]]:
    """Yields tables that name a file, with the key: traces of links, files of distributions."""
    if isinstance(value, dict):
        # A table may have such a key for another value.
        yield from ((value, key) for key in ("trace", "file") if isinstance(value.get(key), str))
        # Parameters of the user's own controls are opaque.
        items = [item for key, item in value.items() if key != "parameters"]
    else:
        items = value if isinstance(value, list) else []
    for item in items:
        yield from _naming_files(item)


def own_controls(scenario: str) -> list[str]:
    """Returns the names of the user's own controls in a resolved scenario (TOML)."""
    if '"custom"' not in scenario:
        return []
    groups = tomllib.loads(scenario)["flows"].values()
    controls = [group.get("congestion", {}) for group in groups]
    return [control["control"] for control in controls if control.get("kind") == "custom"]


def _with_name_of_set(problem: str) -> str:
    """Names the argument that replaces values; the engine knows it as an option."""
    replaced = problem.removeprefix("--set ")
    return problem if replaced == problem else f"{named('set')} {replaced}"


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _override_text(value: object) -> str:
    """Returns a value as text for the command line."""
    return value if isinstance(value, str) else _inline(value)


def _inline(value: object) -> str:
    """Writes a value as inline TOML."""
    if isinstance(value, Mapping):
        pairs = (f"{json.dumps(str(key))} = {_inline(item)}" for key, item in value.items())
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_inline(item) for item in value)}]"
    if isinstance(value, bool):
        return str(value).lower()
    # A JSON string is a TOML string too.
    return json.dumps(value) if isinstance(value, str) else str(value)


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_SCENARIO_BYTES + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        meant = did_you_mean(str(path), files=True) if isinstance(error, FileNotFoundError) else ""
        raise ScenarioError(
            f"{path}: cannot read the scenario: {reason}; give the path of a scenario file (TOML), "
            f"or a name that `tailroom list scenarios` shows{meant}"
        ) from None
    return _decoded(content, str(path))


@lru_cache(maxsize=1)
def _read_standard_input(stream: TextIO) -> str:
    """Reads the scenario from standard input, once: a command may need its text several times."""
    return _decoded(stream.buffer.read(LARGEST_SCENARIO_BYTES + 1), "stdin")


def _decoded(content: bytes, place: str) -> str:
    if len(content) > LARGEST_SCENARIO_BYTES:
        raise ScenarioError(
            f"{place}: the scenario is larger than 4 MiB; "
            "move long schedules into a separate file and name that file in the scenario"
        )
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ScenarioError(
            f"{place}: line {line}: byte {error.start + 1} is not UTF-8; save the file as UTF-8"
        ) from None


def _with_names_of_classes(scenario: Mapping[str, Any], controls: OwnControls) -> dict[str, Any]:
    """Returns the scenario with a table instead of each class that is a congestion control.

    Args:
        scenario: A scenario built in Python.
        controls: Registers the classes.
    """
    document = dict(scenario)
    flows = document.get("flows")
    if isinstance(flows, Mapping):
        document["flows"] = {
            name: {**group, "congestion": controls.give(group["congestion"])}
            if isinstance(group, Mapping) and callable(group.get("congestion"))
            else group
            for name, group in flows.items()
        }
    return document


def _write_down(scenario: Mapping[str, Any]) -> str:
    for key, value in scenario.items():
        check_values(f"scenario: {key}", value)
    try:
        text = tomli_w.dumps(scenario)
        check_unicode("scenario", text)
        return text
    except ScenarioError:
        raise
    except (TypeError, ValueError) as error:
        found = (_unwritable(f"scenario: {key}", value) for key, value in scenario.items())
        problem = next(filter(None, found), f"scenario: {error}")
        raise ScenarioError(
            f"{problem}; use text, numbers, booleans, lists and dictionaries only"
        ) from None


def _unwritable(place: str, value: object) -> str | None:
    """Returns the key of the first value that TOML does not have, with the value."""
    if isinstance(value, Mapping):
        items = ((f"{place}.{key}", item) for key, item in value.items())
    elif isinstance(value, (list, tuple)):
        items = ((place, item) for item in value)
    else:
        try:
            tomli_w.dumps({"value": value})
        except (TypeError, ValueError):
            return f"{place}: {value!r} is of type {type(value).__name__}"
        return None
    return next(filter(None, (_unwritable(at, item) for at, item in items)), None)
