"""Configuration of a buffer in other tools: Linux tc, ns-3, Mahimahi.

`crates/tailroom-rules/src/other_tools.rs` has the lines and their sources.
"""

from dataclasses import dataclass

from tailroom import _engine
from tailroom.field_docs import with_field_docs
from tailroom.models import Bottleneck


@with_field_docs
@dataclass(frozen=True)
class Equivalent:
    """The configuration of a buffer in another tool."""

    tool: str
    """The tool and what it configures."""
    purpose: str
    """Where the configuration belongs, and what else it does; may be empty."""
    text: str
    """The command or statement; without an exact equivalent, a sentence that says why."""

    @property
    def heading(self) -> str:
        """The tool with the purpose."""
        return f"{self.tool}, {self.purpose}" if self.purpose else self.tool


def equivalents(link: Bottleneck, limit_packets: int) -> tuple[Equivalent, ...]:
    """Returns the configuration of a link's queue discipline in other tools.

    `DEV` stands for the network interface. A tool that cannot express the discipline with these
    parameters has a sentence instead of a command, and never the command of another discipline.

    Args:
        link: The link with its queue discipline, rate, mean RTT and packet size.
        limit_packets: Largest number of waiting packets, at least 1.
    """
    return tuple(Equivalent(*line) for line in _engine.equivalents(link, limit_packets))


def as_texts(lines: tuple[Equivalent, ...]) -> dict[str, str]:
    """Returns the commands and sentences by tool, as `--json` prints them."""
    return {line.tool: line.text for line in lines}
