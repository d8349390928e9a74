"""The scenario file of the command line: the only source of names of files and of Python code."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tailroom import _engine
from tailroom.errors import ScenarioError
from tailroom.scenario.custom_controls import OwnControls
from tailroom.scenario.source import ScenarioSource

PLACE = "scenario"
"""How messages name the scenario of a page."""
MOST_MEMORY_BYTES = 4e9
"""Largest `memory_limit`, unless the opened file has a larger one: the default of scenarios."""


@dataclass(frozen=True)
class PermittedControls(OwnControls):
    """The user's own controls, of which a page may use those that the opened file names."""

    permitted: Mapping[str, dict[str, Any]] = field(default_factory=dict)
    """Parameters in the file, by the name of the control."""

    def find(self, name: str, parameters: str) -> Any:
        """Returns the maker of a control, as `OwnControls.find` does.

        Raises:
            ScenarioError: The file does not name the control with these parameters; two arguments,
                the problem and the remedy.
        """
        if ":" in name and self.permitted.get(name) != tomllib.loads(parameters):
            raise ScenarioError(
                f'"{name}" with these parameters is not in the scenario file that `tailroom '
                "explore` opened, and a page may not name other Python code",
                "name it there, and start `tailroom explore` anew",
            )
        return super().find(name, parameters)


@dataclass(frozen=True)
class Opened:
    """A scenario file and what pages may name because it does; without a file, nothing."""

    source: ScenarioSource
    name: str | None
    """Name of the file; `None` without one."""
    controls: tuple[str, ...] = ()
    """Names of the user's own controls."""
    most_memory_bytes: float = MOST_MEMORY_BYTES
    """Largest `memory_limit` of a page's run."""

    @classmethod
    def nothing(cls) -> "Opened":
        """Pages may name neither files nor controls in Python."""
        nothing = ScenarioSource(
            "", Path(), PLACE, controls=PermittedControls(), permitted_files=()
        )
        return cls(nothing, None)

    @classmethod
    def of(cls, file: str) -> "Opened":
        """Reads a scenario file, and what it names.

        Args:
            file: As `tailroom run` takes it: a path, a shipped scenario's name, or `-`.

        Raises:
            ScenarioError: The scenario is wrong.
            ControlError: The module of one of its controls raised an exception.
        """
        source = ScenarioSource.of(file, {})
        scenario = source.resolve(seed=None)
        own = _own_controls(tomllib.loads(scenario))
        permitted = replace(
            source,
            place=PLACE,
            controls=PermittedControls(source.controls.directory, permitted=own),
            permitted_files=tuple(source.files()),
        )
        memory = max(MOST_MEMORY_BYTES, memory_limit_bytes(scenario))
        return cls(permitted, source.place, tuple(own), memory)

    def ask(self, text: str, values: Mapping[str, str]) -> ScenarioSource:
        """Returns the scenario that a page asks about.

        Args:
            text: The scenario as TOML.
            values: TOML values that replace those of the text, by dotted key.
        """
        return replace(self.source, text=text, overrides=tuple(values.items()))


def memory_limit_bytes(scenario: str) -> float:
    """Returns the `memory_limit` of a resolved scenario (TOML)."""
    try:
        # Tables follow the keys; to read all of them may take seconds.
        keys = tomllib.loads(scenario.partition("\n[")[0])
    except tomllib.TOMLDecodeError:  # a title has such a line
        keys = tomllib.loads(scenario)
    return _engine.quantity("size", keys["memory_limit"])


def _own_controls(scenario: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Returns the parameters of the user's own controls in a resolved scenario, by name."""
    controls = [group.get("congestion", {}) for group in scenario["flows"].values()]
    return {
        control["control"]: control.get("parameters", {})
        for control in controls
        if control.get("kind") == "custom"
    }
