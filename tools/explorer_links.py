"""Links from the scenarios of a page, and from its commands, to the explorer.

They are on the site, which has the explorer; it opens with the scenario itself.
"""

import shlex
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import tomli_w
from docutils import nodes
from sphinx.addnodes import download_reference

from explorer_address import address
from tailroom.errors import TailroomError
from tailroom.scenario.axis import bare_value
from tailroom.scenario.dumbbell import dumbbell
from tailroom.scenario.scenario import Scenario
from tailroom.scenario.shipped_scenarios import shipped_scenario
from tailroom.studies.size_study.targets import parse_target

COMMANDS = ("run", "size", "model", "compare", "sweep", "explore")
"""Commands whose first argument is a scenario."""
FOUR = ("--rate", "--rtt", "--flows", "--congestion")
"""The numbers of a command without a scenario."""
TARGETS = {"utilization": "utilization", "queue_delay_s_p99": "delayS", "loss_fraction": "loss"}
"""Targets of the explorer for all packets of a link."""


def add_links(document: nodes.document, folder: Path, explorer: str) -> None:
    """Adds the links of a page; those to files of scenarios lead to the explorer, which shows them.

    Args:
        document: The page, which is changed.
        folder: The folder of the page, from which its links count.
        explorer: The address of the explorer as seen from the page.
    """

    def link(state: str, text: nodes.Node) -> nodes.reference:
        return nodes.reference("", "", text, refuri=f"{explorer}#{state}")

    for block in list(document.findall(nodes.literal_block)):
        if state := state_of(block.astext(), block.get("language", "")):
            below = nodes.paragraph("", "", link(state, nodes.Text("Open in the explorer")))
            block.parent.insert(block.parent.index(block) + 1, below)
    for literal in list(document.findall(nodes.literal)):
        if state := _of_command(literal.astext()):
            literal.replace_self(link(state, literal.deepcopy()))
    for reference in list(document.findall(download_reference)):
        file = folder / reference["reftarget"]
        if file.suffix == ".toml" and (state := state_of(file.read_text("utf-8"), "toml")):
            reference.replace_self(link(state, reference[0]))


def state_of(block: str, language: str) -> str | None:
    """The state of the explorer that shows a block; none if no browser can simulate it.

    Args:
        block: A scenario, or a command and what it prints.
        language: Its language.
    """
    if language == "toml":
        return address(block) if _is_simulated(block) else None
    if language in ("console", "sh"):
        command = block.replace("\\\n", " ").split("\n", 1)[0]
        return _of_command(command.removeprefix("$ "))
    return None


def _of_command(command: str) -> str | None:
    """The state that a command of tailroom means; without what it varies."""
    try:
        words = shlex.split(command, comments=True)
    except ValueError:  # a quotation mark without its other
        return None
    if len(words) < 3 or words[0] != "tailroom" or words[1] not in COMMANDS:
        return None
    options: dict[str, list[str]] = {}
    for option, value in pairwise(words):
        options.setdefault(option, []).append(value)
    text = _with(_text(words[2], options), options.get("--set", []))
    if not text or not _is_simulated(text):
        return None
    targets = [parse_target(target) for target in options.get("--target", [])]
    known = {TARGETS[one.metric]: one.bound for one in targets if one.metric in TARGETS}
    return address(text, targets=known)


def _text(first: str, options: dict[str, list[str]]) -> str | None:
    """The shipped scenario that a command names, or that of its four numbers."""
    if "--rate" in options:
        given: dict[str, Any] = {name[2:]: options[name][0] for name in FOUR if name in options}
        return dumbbell(**given).text
    file = shipped_scenario(first)
    return file.read_text(encoding="utf-8") if file else None


def _with(text: str | None, settings: list[str]) -> str | None:
    """A scenario with the values of `--set`; none if a key is not in it."""
    if not text or not settings:
        return text  # with its comments
    document = tomllib.loads(text)
    for setting in settings:
        key, _, value = setting.partition("=")
        *tables, last = key.split(".")
        table: Any = document
        for name in tables:
            table = table.get(name) if isinstance(table, dict) else None
        if not isinstance(table, dict):
            return None
        table[last] = bare_value(value)
    return tomli_w.dumps(document)


def _is_simulated(text: str) -> bool:
    """Whether a browser can simulate a scenario: it is whole, and names neither files nor code."""
    try:
        scenario = Scenario.from_toml(text)
        scenario.check()
    except TailroomError:
        return False
    return not scenario.files
