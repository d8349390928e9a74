"""Whether each flow gets a congestion control of its own from the user's class or function."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

MOST_KEPT = 1000
"""Controls that are remembered: a function that gives an object twice does so early."""


class Maker(Protocol):
    """Makes the control of a flow."""

    @property
    def is_rate_based(self) -> bool:
        """Whether the controls are rate-based."""

    def __call__(self) -> Any:
        """Makes the control."""


class OneEach:
    """Watches the makers of the controls of one run."""

    def __init__(self, find: Callable[[str, str], Maker | None]) -> None:
        """Takes what finds the maker of a control by its name and parameters."""
        self._find = find
        self._made: dict[int, object] = {}
        """The controls so far, by their identities."""
        self._shared: dict[str, None] = {}
        """Names of what has made a control that another flow has."""

    def find(self, name: str, parameters: str) -> Maker | None:
        """Returns the maker of a flow's control; `None` if the name is not that of a Python object.

        Args:
            name: As in "module:Class".
            parameters: Keyword arguments, as TOML.
        """
        maker = self._find(name, parameters)
        return None if maker is None else _Watched(maker, lambda made: self._note(name, made))

    def _note(self, name: str, made: object) -> None:
        if self._made.get(id(made)) is made:
            self._shared[name] = None
        elif len(self._made) < MOST_KEPT:
            self._made[id(made)] = made

    @property
    def shared(self) -> list[str]:
        """Names of the classes and functions that gave one object to several flows."""
        return list(self._shared)


@dataclass(frozen=True)
class _Watched:
    """A maker whose controls are noted."""

    maker: Maker
    note: Callable[[object], None]

    def __call__(self) -> Any:
        made = self.maker()
        self.note(made)
        return made

    @property
    def is_rate_based(self) -> bool:
        return self.maker.is_rate_based
