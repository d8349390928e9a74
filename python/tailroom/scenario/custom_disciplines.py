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


RuleFactory: TypeAlias = Callable[..., QueueRule]
"""A class or another callable that returns a discipline; it is called once per link and run.

A function whose disciplines have `on_departure` or `on_timer` has the attribute
`acts_on_departures = True`.
"""

Disciplines: TypeAlias = Mapping[str, RuleFactory]
"""The queue discipline of links by the name of the link."""

_OF_DEPARTURES = ("on_departure", "on_timer")
"""Methods for which a link holds its packets until they leave."""
LEAST_INTERVAL_S = 1e-6
"""Smallest time between two calls of `on_timer`."""


def missing_method(rule: object) -> str | None:
    """Returns which method a discipline lacks; `None` if it has all.

    Args:
        rule: A discipline, or a class of disciplines.
    """
    if callable(getattr(rule, "on_arrival", None)):
        return None
    return 'has no method on_arrival(self, packet, queue), which returns "accept", "mark" or "drop"'


@dataclass(frozen=True)
class RuleMaker:
    """Makes the discipline of a link; knows in advance whether it acts on departures."""

    factory: RuleFactory
    keywords: Mapping[str, Any]

    def __call__(self) -> QueueRule:
        """Makes the discipline of a link.

        Raises:
            ScenarioError: The factory returned an object that is not a discipline.
        """
        rule = self.factory(**copy.deepcopy(dict(self.keywords)))
        problem = missing_method(rule) or self._wrong_timer(rule)
        if problem:
            raise ScenarioError(f"made an object of type {type(rule).__name__}, which {problem}")
        return rule

    @property
    def acts_on_departures(self) -> bool:
        """Whether the disciplines act on departures, as far as class or attribute show."""
        factory = self.factory
        inner = factory.func if isinstance(factory, functools.partial) else factory
        if inspect.isclass(inner):
            return any(callable(getattr(inner, method, None)) for method in _OF_DEPARTURES)
        return bool(getattr(inner, "acts_on_departures", False))

    def _wrong_timer(self, rule: QueueRule) -> str | None:
        """Returns what is wrong with the timer, or with the moments at which the rule acts."""
        has = [method for method in _OF_DEPARTURES if callable(getattr(rule, method, None))]
        if has and not self.acts_on_departures:
            return f"has {has[0]}: give the function the attribute acts_on_departures = True"
        interval: Any = getattr(rule, "timer_interval_s", None)
        is_number = isinstance(interval, (int, float)) and not isinstance(interval, bool)
        if "on_timer" in has and not (is_number and LEAST_INTERVAL_S <= interval < float("inf")):
            return (
                f"has on_timer and timer_interval_s = {interval!r}: set timer_interval_s to a "
                f"number of seconds, at least {LEAST_INTERVAL_S}"
            )
        return None
