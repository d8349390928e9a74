"""The user's own sources, given as classes or by a name such as "module:Class"."""

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from tailroom._engine import FlowRequest
from tailroom.errors import ScenarioError


class PacketSource(Protocol):
    """The source of a permanent flow without congestion control: a class of your own.

    `begin(self, flow: SourceInfo)` is optional, and called before the first packet.
    """

    def next_packet(self) -> tuple[float, int] | None:
        """Returns the next packet: when it leaves, and its size in bytes.

        The time is in seconds after the start of the flow, and no earlier than that of the packet
        before; the size is at most `packet_size`. `None`: no packet follows.
        """


class FlowSource(Protocol):
    """The source of a group of flows that arrive and depart: a class of your own.

    Two methods are optional: `begin(self, group: SourceInfo)` is called before the first flow, and
    `on_completion(self, number: int, time_s: float)` when the last byte of a flow is acknowledged;
    `number` counts the flows from 0, and `time_s` is in seconds after the start of the group.
    """

    def next_flow(self) -> FlowRequest | None:
        """Returns the next flow, which begins no earlier than the one before.

        `None`: no flow follows, or none until another is complete; then the source is asked again
        for a flow that begins no earlier than that.
        """


SourceFactory: TypeAlias = Callable[..., PacketSource | FlowSource]
"""A class that makes a source; it is called once per flow, or group of flows, and run."""

Sources: TypeAlias = Mapping[str, SourceFactory]
"""The source of groups of flows by the name of the group."""

_METHODS = {
    "next_packet": "has no method next_packet(self), which returns time and size of a packet",
    "next_flow": "has no method next_flow(self), which returns a tailroom.FlowRequest",
}
_KINDS = {"next_packet": "custom_packets", "next_flow": "custom_flows"}


def missing_source_method(source: object) -> str | None:
    """Returns which method a source lacks; `None` if it has one of the two.

    Args:
        source: A source, or a class of sources.
    """
    if any(callable(getattr(source, method, None)) for method in _METHODS):
        return None
    return "has neither next_packet(self) nor next_flow(self)"


@dataclass(frozen=True)
class SourceMaker:
    """Makes the source of a flow, or of a group of flows."""

    factory: SourceFactory
    keywords: Mapping[str, Any]

    def __call__(self, method: str) -> PacketSource | FlowSource:
        """Makes a source.

        Args:
            method: What the kind of the source in the scenario calls.

        Raises:
            ScenarioError: The source does not have that method.
        """
        source = self.factory(**copy.deepcopy(dict(self.keywords)))
        if callable(getattr(source, method, None)):
            return source
        others = [kind for name, kind in _KINDS.items() if callable(getattr(source, name, None))]
        hint = f'; it is of kind "{others[0]}"' if others else ""
        raise ScenarioError(
            f"made an object of type {type(source).__name__}, which {_METHODS[method]}{hint}"
        )
