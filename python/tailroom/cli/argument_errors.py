"""Remedies for arguments that the library of the command line refuses."""

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

TABLES = ("links", "flows")
"""Tables of a scenario whose keys people take for options."""
SETTING = ("--set", "--vary", "--grid")
"""Options that set a key of the scenario; the first that a command has is named."""
SAME = {"vary": "--grid", "grid": "--vary"}
"""Options that take the same under another name at other commands."""

OF_COMMANDS = {
    "target": "size",
    "config": "size",
    "subscribers": "size",
    "grid": "sweep",
    "over": "model",
    "measured": "compare",
    "pcap": "run",
    "vary": "run",
}
"""Options that people try at other commands, and the command that has them."""


def explain(error: Any, command: Any, given: Sequence[str]) -> None:
    """Replaces the message about an unknown option or a wrong whole number by one with the remedy.

    Args:
        error: The error of the library; other errors stay as they are.
        command: The command.
        given: Its arguments.
    """
    wrong = getattr(error, "option_name", None)
    parameter = getattr(error, "param", None)
    if parameter and "integer" in str(getattr(error, "message", "")):
        error.message = _not_whole(parameter.opts[0], _value_of(parameter.opts[0], given))
    if type(error).__name__ != "NoSuchOption" or not wrong:
        return
    options = _options(command)
    remedy = _part_with(wrong, command) or remedy_for(wrong, options, _value_of(wrong, given))
    if any(argument.startswith("--rate") for argument in given):  # the link has this name
        remedy = remedy.replace("links.NAME.", "links.bottleneck.")
    if remedy:
        error.message = f"No such option: {wrong}; {remedy}"
    error.possibilities = None  # of the library, which knows other words


def _options(command: Any) -> list[str]:
    return [name for one in command.params for name in one.opts if name.startswith("--")]


def _part_with(wrong: str, group: Any) -> str:
    """Names the subcommand of a group that has an option which the group has not."""
    parts = getattr(group, "commands", {})
    having = [name for name, part in parts.items() if wrong in _options(part)]
    return f"it is an option of `tailroom {group.name} {having[0]}`" if having else ""


def explain_command(error: Any, name: str, known: Iterable[str]) -> None:
    """Replaces the message about a subcommand that a group has not by one with what it may mean.

    Args:
        error: The error of the library; other errors stay as they are.
        name: The subcommand.
        known: Those that the group has.
    """
    from tailroom.quoting import shown  # noqa: PLC0415 - loaded where it is used
    from tailroom.scenario.named_values import nearest  # noqa: PLC0415 - loaded where it is used

    if str(getattr(error, "message", "")).startswith("No such command"):
        error.message = f"No such command: {shown(name)}; {nearest(name, known)}"


def _not_whole(option: str, value: str) -> str:
    """Says that a value is not a whole number, and what a range of seeds is."""
    last = re.fullmatch(r"\d+\s*(?:-|\.\.+|to)\s*(\d+)", value.strip('"'))
    if option == "--seeds" and last:
        return f"{value} is a range; give the number of seeds, which follow one another: {last[1]}"
    return f"{value or 'the value'} is not a whole number"


def remedy_for(wrong: str, options: Iterable[str], value: str = "") -> str:
    """The options that the name means, or the key of the scenario; empty if it means none.

    Args:
        wrong: The name, with its hyphens.
        options: The options of the command.
        value: The value that was given with it.
    """
    from tailroom.scenario.named_values import near  # noqa: PLC0415 - loaded where it is used

    options = list(options)
    word = wrong.lstrip("-").replace("-", "_")
    if SAME.get(word) in options:
        return f"write {SAME[word]} {value or 'KEY=VALUES'}, which takes the same"
    if word in OF_COMMANDS:
        return f"it is an option of `tailroom {OF_COMMANDS[word]}`"
    by_word = {option.removeprefix("--").replace("-", "_"): option for option in options}
    setting = next((option for option in SETTING if option in by_word.values()), None)
    keys = _keys() if setting else {}
    # The name of a key comes before an option that merely resembles it: --queue, not --quick.
    meant = [] if word in keys else near(word, by_word)
    if meant:
        return f"did you mean {' or '.join(by_word[one] for one in meant[:2])}?"
    key = next(iter(near(word, keys)), None)
    return f"write {setting} {keys[key]}={value or 'VALUE'}, a key of the scenario" if key else ""


def _keys() -> dict[str, str]:
    """A key as --set takes it, by the last word of its name."""
    from tailroom import _engine  # noqa: PLC0415 - loaded where it is used

    root = json.loads(_engine.schema())
    keys = {name: name for name in root["properties"]}
    for table in TABLES:
        entry = root["properties"][table]["additionalProperties"]
        entry = root["$defs"][entry["$ref"].rpartition("/")[2]] if "$ref" in entry else entry
        keys |= {name: f"{table}.NAME.{name}" for name in entry["properties"] if name not in keys}
    return keys


def _value_of(option: str, given: Sequence[str]) -> str:
    """The value that was given with an option, quoted if it has blanks; empty if there is none."""
    for place, argument in enumerate(given):
        name, equals, value = argument.partition("=")
        if name == option:
            following = given[place + 1] if place + 1 < len(given) else ""
            value = value if equals else "" if following.startswith("-") else following
            return f'"{value}"' if " " in value else value
    return ""
