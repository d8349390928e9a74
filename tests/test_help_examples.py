"""The help of an option says what its parser reads: no bare number where it needs a unit."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tailroom import _engine
from tailroom.cli.main import app
from tailroom.cli.options import read_fraction
from tailroom.errors import TailroomError
from tailroom.pfc_headroom.lengths import read_length
from tailroom.scenario.dumbbell import read_flows, read_rate, read_rtts
from tailroom.studies.size_study.targets import parse_target
from tailroom.studies.sweep_study.plan import parse_precision

READERS: dict[str, Callable[[str], object]] = {
    "rate": read_rate,
    "rtt": read_rtts,
    "flows": read_flows,
    "target": parse_target,
    "until": parse_precision,
    "most_loss": lambda text: read_fraction("most_loss", text),
    "duration": lambda text: _engine.quantity("positive_duration", text),
    "cable": read_length,
}
"""What reads the text of an option, where it is a quantity."""
BARE = re.compile(r"\b(?:or|number) (?:in|of) (?:bit/s|seconds|milliseconds|bytes|metres)\b")
"""How a help says that a number may lack its unit."""
EXAMPLE = re.compile(r'"([^"]+)"|(?:as in|such as|e\.g\.|or) ([\d.]+[\w%/]*)')


def commands(group: Any = None, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every command and every part of one, by its words."""
    for name in (group or app).commands:
        command = app.load(name) if group is None else group.commands[name]
        yield " ".join((*path, name)), command
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))


OPTIONS = [
    (f"{name} --{one.name}", one)
    for name, command in commands()
    for one in command.params
    if getattr(one, "help", None)
]


def refuses(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except (TailroomError, ValueError):
        return True
    return False


def test_every_command_has_options() -> None:
    assert len(OPTIONS) > 150
    assert {"size --rate", "atlas near --rtt", "sweep --until"} <= {name for name, _ in OPTIONS}


@pytest.mark.parametrize(("name", "option"), OPTIONS, ids=[name for name, _ in OPTIONS])
def test_a_help_says_nothing_that_the_parser_refuses(name: str, option: Any) -> None:
    read = READERS.get(option.name)
    text = " ".join(option.help.split())
    offers_bare = BARE.search(text)
    if read is None:
        assert not offers_bare, f"{name}: {text}"
        return
    examples = [quoted or bare for quoted, bare in EXAMPLE.findall(text)]
    assert examples, f"{name}: the help has no example: {text}"
    for example in examples:
        assert not refuses(read, example), f"{name}: {example}"
    assert not (offers_bare and refuses(read, "5")), f"{name}: {text}"


def test_the_check_notices_a_help_that_offers_a_bare_number() -> None:
    assert BARE.search("rate of the link with its unit, or in bit/s")
    assert refuses(READERS["rate"], "5")
    assert refuses(READERS["duration"], "60")
    assert refuses(READERS["target"], "queue_delay_s_p99 <= 5")
