"""Configuration of a port in other tools: Linux tc, ns-3, Mahimahi.

`crates/tailroom-rules/src/other_tools` has the lines and their sources.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tailroom import _engine
from tailroom.field_docs import with_field_docs
from tailroom.models import Bottleneck

NO_LINES = "no exact equivalent: "
"""How the text of a tool begins that has no lines for the port."""


@with_field_docs
@dataclass(frozen=True)
class LeftOut:
    """A key of the port that the lines of a tool do not carry."""

    key: str
    """The key, as below `links.NAME`: `shaper.burst`, `pool.mark_above`."""
    reason: str
    """Why the tool does not have it."""


@with_field_docs
@dataclass(frozen=True)
class Equivalent:
    """The configuration of a port, or of ports that share memory, in another tool."""

    tool: str
    """The tool."""
    purpose: str
    """Where the configuration belongs; may be empty."""
    text: str
    """The commands or statements; without an exact equivalent, a sentence that says why."""
    notes: tuple[str, ...] = ()
    """What else the lines need or do, a sentence each."""
    left_out: tuple[LeftOut, ...] = ()
    """What was simulated and is not in the lines; empty if there are none."""

    @classmethod
    def of(cls, read: dict[str, Any]) -> "Equivalent":
        """Returns the configuration that the engine wrote.

        Args:
            read: Its fields as JSON has them.
        """
        left_out = tuple(LeftOut(**one) for one in read["left_out"])
        return cls(**{**read, "notes": tuple(read["notes"]), "left_out": left_out})

    @property
    def has_lines(self) -> bool:
        """Whether the tool has lines for the port."""
        return not self.text.startswith(NO_LINES)

    @property
    def heading(self) -> str:
        """The tool with the purpose."""
        return f"{self.tool}, {self.purpose}" if self.purpose else self.tool

    @property
    def left_out_words(self) -> list[str]:
        """The keys that are left out, a sentence per reason: "pool, alpha: tc has no pools"."""
        keys: dict[str, list[str]] = {}
        for one in self.left_out:
            keys.setdefault(one.reason, []).append(one.key)
        return [f"{', '.join(some)}: {reason}" for reason, some in keys.items()]


def equivalents(link: Bottleneck, limit_packets: int | None = None) -> tuple[Equivalent, ...]:
    """Returns the configuration of a link's port in other tools.

    `DEV` stands for the network interface. A tool that cannot express the discipline with these
    parameters has a sentence instead of a command, and never the command of another discipline.

    Args:
        link: The link with its port and mean RTT.
        limit_packets: Largest number of waiting packets, at least 1; the link's own limit, in the
            unit in which its discipline counts, if left out.
    """
    link = link if limit_packets is None else link.with_limit(limit_packets)
    return tuple(map(Equivalent.of, json.loads(_engine.equivalents(link))))


def by_tool(lines: Iterable[Equivalent]) -> dict[str, Equivalent]:
    """Returns the configurations by tool.

    Args:
        lines: Those of `equivalents`.
    """
    return {line.tool: line for line in lines}
