"""The scenario file of the command line, as the page gets it: its text, and the files it names."""

import errno
import json
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from tailroom.errors import ExploreError, ScenarioError
from tailroom.given_files import read_bytes
from tailroom.scenario.custom_controls import OwnControls
from tailroom.scenario.scenario import Scenario

MOST_FILE_BYTES = 64_000_000
"""Largest size of all files together. Each worker of the page holds a copy."""


@dataclass(frozen=True)
class _NoCode(OwnControls):
    """Refuses code in Python, which the engine in the page cannot call."""

    def find(self, name: str, parameters: str) -> Any:
        """Returns `None` for a name that is not that of a Python object.

        Raises:
            ScenarioError: It is; two arguments, the problem and the remedy.
        """
        _refuse("control", name)
        return super().find(name, parameters)

    def find_discipline(self, name: str, parameters: str) -> Any:
        """Does what `find` does, for queue disciplines.

        Raises:
            ScenarioError: It is the name of a Python object.
        """
        _refuse("discipline", name)
        return super().find_discipline(name, parameters)

    def find_source(self, name: str, parameters: str) -> Any:
        """Does what `find` does, for sources.

        Raises:
            ScenarioError: It is the name of a Python object.
        """
        _refuse("source", name)
        return super().find_source(name, parameters)


def _refuse(what: str, name: str) -> None:
    if ":" in name:
        raise ScenarioError(
            f'the page does not run {what}s in Python, such as "{name}"',
            f"use a {what} of tailroom here, or `tailroom run` and `tailroom size`",
        )


def page_start(file: str | None, workers: int | None, *, is_copy: bool = False) -> bytes:
    """Returns what the page asks for when it starts, as JSON.

    Args:
        file: As `tailroom run` takes it: a path, a shipped scenario's name, or `-`; `None` for a
            page that begins with its own first scenario.
        workers: Maximum number of runs at a time; as many as there are cores if `None`.
        is_copy: Whether the page is written for other web servers, which others may read.

    Raises:
        ScenarioError: The scenario is wrong, or names a control in Python.
        ExploreError: Its files are too large for the page.
    """
    scenario = None if file is None else _scenario(Scenario.of(file))
    if scenario and is_copy:
        # The directories of this machine are nobody else's business.
        scenario["name"] = PurePath(str(scenario["name"])).name
    return json.dumps({"workers": workers, "copy": is_copy, "scenario": scenario}).encode()


def _scenario(source: Scenario) -> dict[str, object]:
    source = source.changed(controls=_NoCode(source.directory, trust=source.trust))
    source.check()
    files: dict[str, str] = {}
    left = MOST_FILE_BYTES
    for path in source.files:
        text = _text(source.directory / path, left)
        if text is None or len(text) > left:
            raise ExploreError(
                f"{source.place}: its files have more than {MOST_FILE_BYTES // 10**6} MB together, "
                "which is too much for a page; give shorter files, or use `tailroom run`"
            )
        files[path] = text
        left -= len(text)
    return {"name": source.place, "text": source.text, "files": files}


def _text(path: Path, most_bytes: int) -> str | None:
    """Returns the text of a file that the engine has read before; `None` if it is too large.

    Raises:
        OSError: It cannot be read any more.
    """
    if path.suffix == ".parquet":
        from tailroom.traffic_import.flow_list import csv_of_parquet  # noqa: PLC0415 - pyarrow

        return csv_of_parquet(path, most_bytes)
    try:
        return read_bytes(path, most_bytes).decode()
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        return None
