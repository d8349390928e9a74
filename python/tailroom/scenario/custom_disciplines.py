"""The user's own queue disciplines, given as classes or by a name such as "module:Class"."""

import copy
import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from tailroom._engine import QueuePacket, QueueState
from tailroom.errors import ScenarioError


class QueueRule(Protocol):
    """The queue discipline of a link: a class of your own with this method.

    Accepted packets are served first come, first served. Five methods are optional.
    `begin(self, link: LinkInfo)` is called before the first packet. `on_departure(self, packet:
    QueuePacket, queue: QueueState)` is called when the transmission of a packet would begin, and
    returns what `on_arrival` returns; after a drop it is called for the next packet.
    `on_timer(self, queue: QueueState)` is called every `timer_interval_s` seconds, an attribute of
    at least 1e-6; calls that are due are made before the next packet. `gauges(self)` returns the
    internal quantities to report, as a dict of names and numbers; the names never change.
    """

    def on_arrival(self, packet: QueuePacket, queue: QueueState, /) -> str:
        """Returns the decision about an arriving packet: `"accept"`, `"mark"` or `"drop"`.

        Only an ECN-capable packet may be marked; a packet that is marked is accepted.

        Args:
            packet: The packet.
            queue: The queue that it finds.
        """


class QueueScheduler(Protocol):
    """A queue discipline that chooses the order of service: a class of your own with these methods.

    Packets wait in lists, which the class numbers as it likes, from 0 to 2**32 - 1; each list is
    served first come, first served. `make_room(self, packet: QueuePacket, queue: QueueState)` is
    optional: it is called while `queue` is too long for the buffer, `packet` being the last of its
    list, and returns the number of the list whose first packet is dropped; without it, the arriving
    packet is dropped. The optional methods of a `QueueRule` are those of a scheduler too.
    """

    def on_arrival(self, packet: QueuePacket, queue: QueueState, /) -> int | str | tuple[int, str]:
        """Returns what becomes of an arriving packet.

        Returns:
            The number of the list to whose end the packet goes; `(number, "mark")`, which an
            ECN-capable packet allows; or `"drop"`.

        Args:
            packet: The packet.
            queue: The queue that it finds.
        """

    def next_packet(self, queue: QueueState, /) -> int:
        """Returns the number of the list whose first packet is sent now.

        Args:
            queue: What waits: at least one packet.
        """


RuleFactory: TypeAlias = Callable[..., QueueRule | QueueScheduler]
"""A class or another callable that returns a discipline; it is called once per link and run.

A function whose rules have `on_departure` or `on_timer` has the attribute
`acts_on_departures = True`; one that makes schedulers has `is_scheduler = True`.
"""

Disciplines: TypeAlias = Mapping[str, RuleFactory]
"""The queue discipline of links by the name of the link."""

_OF_DEPARTURES = ("on_departure", "on_timer")
"""Methods for which a link holds its packets until they leave."""
_OF_SCHEDULERS = ("next_packet",)
"""The method that a scheduler has and a rule does not."""
LEAST_INTERVAL_S = 1e-6
"""Smallest time between two calls of `on_timer`."""


def missing_method(rule: object) -> str | None:
    """Returns which method a discipline lacks; `None` if it has all.

    Args:
        rule: A discipline, or a class of disciplines.
    """
    if callable(getattr(rule, "on_arrival", None)):
        return None
    return (
        'has no method on_arrival(self, packet, queue), which returns "accept", "mark" or "drop", '
        "or in a scheduler the number of a list"
    )


@dataclass(frozen=True)
class RuleMaker:
    """Makes the discipline of a link; knows in advance what it acts on."""

    factory: RuleFactory
    keywords: Mapping[str, Any]

    def __call__(self) -> QueueRule | QueueScheduler:
        """Makes the discipline of a link.

        Raises:
            ScenarioError: The factory returned an object that is not a discipline.
        """
        rule = self.factory(**copy.deepcopy(dict(self.keywords)))
        problem = missing_method(rule) or self._undeclared(rule) or _wrong_timer(rule)
        if problem:
            raise ScenarioError(f"made an object of type {type(rule).__name__}, which {problem}")
        return rule

    @property
    def acts_on_departures(self) -> bool:
        """Whether the disciplines act on departures, as far as class or attribute show."""
        return self._declares("acts_on_departures", _OF_DEPARTURES)

    @property
    def is_scheduler(self) -> bool:
        """Whether the disciplines are schedulers, as far as class or attribute show."""
        return self._declares("is_scheduler", _OF_SCHEDULERS)

    def _declares(self, attribute: str, methods: tuple[str, ...]) -> bool:
        factory = self.factory
        inner = factory.func if isinstance(factory, functools.partial) else factory
        if inspect.isclass(inner):
            return bool(_those_of(inner, methods))
        return bool(getattr(inner, attribute, False))

    def _undeclared(self, rule: object) -> str | None:
        """Returns what the attributes of a function do not say of the disciplines that it makes."""
        has = _those_of(rule, _OF_SCHEDULERS)
        if has and not self.is_scheduler:
            return f"has {has[0]}: give the function the attribute is_scheduler = True"
        if self.is_scheduler and not has:
            return "has no method next_packet(self, queue), which returns the number of a list"
        has = _those_of(rule, _OF_DEPARTURES)
        if has and not (self.acts_on_departures or self.is_scheduler):
            return f"has {has[0]}: give the function the attribute acts_on_departures = True"
        return None


def _those_of(discipline: object, methods: tuple[str, ...]) -> list[str]:
    return [method for method in methods if callable(getattr(discipline, method, None))]


def _wrong_timer(rule: object) -> str | None:
    """Returns what is wrong with the timer of a discipline."""
    interval: Any = getattr(rule, "timer_interval_s", None)
    is_number = isinstance(interval, (int, float)) and not isinstance(interval, bool)
    in_range = is_number and LEAST_INTERVAL_S <= interval < float("inf")
    if in_range or not _those_of(rule, ("on_timer",)):
        return None
    return (
        f"has on_timer and timer_interval_s = {interval!r}: set timer_interval_s to a "
        f"number of seconds, at least {LEAST_INTERVAL_S}"
    )
