"""What was changed between the steps of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tailroom.field_docs import with_field_docs
from tailroom.quoting import quoted


@with_field_docs
@dataclass(frozen=True)
class Action:
    """A change of one link or flow between two steps."""

    step: int
    """Number of steps that had ended."""
    link: str | None
    """Name of the link; `None` if a flow was changed."""
    flow: str | None
    """Name of the flow; `None` if a link was changed."""
    values: Mapping[str, str | float | bool]
    """The new values by key, with their units."""


@with_field_docs
@dataclass(frozen=True)
class ActionLog:
    """The actions of a run. A run is a function of its scenario, its seed and this log."""

    every: str
    """Length of a step, with its unit."""
    acts_on: tuple[str, ...]
    """Names of the links at which packets waited to be served, so that their rate could change."""
    actions: tuple[Action, ...]
    """The actions, in order."""

    def as_dict(self) -> dict[str, Any]:
        """The log in types that JSON has."""
        return asdict(self)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> ActionLog:
        """Returns the log that `as_dict` has returned.

        Args:
            document: The log as a dictionary.

        Raises:
            ValueError: It is not a log.
        """
        try:
            actions = tuple(Action(**action) for action in document["actions"])
            return cls(document["every"], tuple(document["acts_on"]), actions)
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a log of actions: {quoted(error)}") from None
