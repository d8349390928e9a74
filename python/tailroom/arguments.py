"""Limits of arguments that functions and commands share, and what messages call an argument."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from math import inf
from numbers import Integral, Real
from threading import Event
from typing import ParamSpec, TypeVar

from tailroom.errors import ArgumentError, ScenarioError
from tailroom.quoting import argument_text

OTHER_OPTIONS = {
    "executor": "cluster",
    "metrics": "metric",
    "models": "model",
}
"""Arguments whose option has another name: it gives one of several values, or another type."""
_in_command = Event()
"""Set while a command runs; threads of the command see it too."""


@dataclass(frozen=True)
class Limits:
    """The values that a number may have."""

    least: float
    most: float = inf
    is_whole: bool = True

    def check(self, argument: str, value: object) -> None:
        """Checks an argument that is a number.

        Args:
            argument: Name of the argument.
            value: Its value; `None` if it was left out.

        Raises:
            ArgumentError: The value is not such a number, or out of range.
        """
        kind = Integral if self.is_whole else Real
        is_number = isinstance(value, kind) and not isinstance(value, bool)
        most = min(self.most, LARGEST_SEED)
        if value is None or (is_number and self.least <= value <= most):  # type: ignore[operator]
            return
        problem = "is out of range" if is_number else f"is not {self._number}"
        raise ArgumentError(f"{named(argument)}: {argument_text(value)} {problem}; give {self}")

    @property
    def _number(self) -> str:
        return "a whole number" if self.is_whole else "a number"

    def __str__(self) -> str:
        """The range in words."""
        if self.most == inf:
            return f"{self._number} of at least {self.least:g}"
        return f"{self._number} from {self.least:g} to {_power(self.most)}"


def _power(most: float) -> str:
    return "2^63 - 1" if most == LARGEST_SEED else f"{most:g}"


LARGEST_SEED = 2**63 - 1
"""The largest integer of TOML."""
SEED = Limits(0, LARGEST_SEED)
RUNS = Limits(1)
"""Runs per point or choice, and runs altogether."""
SIMULATED = Limits(0)
"""Runs per value next to the predictions of models."""
COMPARED_RUNS = Limits(2)
"""Runs whose spread is asked for."""
WORKERS = Limits(1)
"""Runs at a time."""
SERIES_SAMPLES = Limits(1)
IDLE_RTT = Limits(0, 1000, is_whole=False)
"""RTT of an idle path, in seconds."""
MAX_SEEDS = Limits(4)
"""Seeds per buffer of `size`: the first look at a buffer takes so many."""
PRECISION = Limits(0.0001, 0.5, is_whole=False)
"""Relative tolerance of an answer of `size`."""


Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned")


def renamed(
    **now: str,
) -> Callable[[Callable[Arguments, Returned]], Callable[Arguments, Returned]]:
    """Makes a decorator of a function that refuses other names of its arguments.

    Args:
        **now: The name of an argument, by the other name that somebody may write.
    """

    def decorate(function: Callable[Arguments, Returned]) -> Callable[Arguments, Returned]:
        @wraps(function)
        def call(*given: Arguments.args, **named: Arguments.kwargs) -> Returned:
            for wrong in now.keys() & named:
                raise ArgumentError(f"{wrong}: is called {now[wrong]}; write {now[wrong]}=...")
            return function(*given, **named)

        return call

    return decorate


def option(argument: str) -> str:
    """Returns the option that gives an argument: `--max-seeds` gives `max_seeds`.

    Args:
        argument: Name of the argument in Python.
    """
    return f"--{OTHER_OPTIONS.get(argument, argument).strip('_').replace('_', '-')}"


def named(argument: str) -> str:
    """Returns the name of an argument as the user knows it: an option, if a command runs.

    Args:
        argument: Name of the argument in Python.
    """
    return option(argument) if _in_command.is_set() else argument


def usage(argument: str, value: str | float = True) -> str:
    """Returns how the user gives an argument: `--link core`, or in Python `link="core"`.

    Args:
        argument: Name of the argument in Python.
        value: The value to give; that of an option without a value is `True`.
    """
    if not _in_command.is_set():
        return f'{argument}="{value}"' if isinstance(value, str) else f"{argument}={value}"
    if value is True:
        return option(argument)
    return f'{option(argument)} "{value}"' if " " in str(value) else f"{option(argument)} {value}"


@contextmanager
def named_as_options() -> Iterator[None]:
    """Lets messages name options within the block."""
    _in_command.set()
    try:
        yield
    finally:
        _in_command.clear()


def check_unicode(place: str, text: str) -> None:
    """Checks that a text can be encoded.

    Args:
        place: How messages name the text.
        text: The text.

    Raises:
        ScenarioError: It has half of a surrogate pair, or a byte that is not UTF-8.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        wrong = ascii(text[error.start])[1:-1]
        raise ScenarioError(
            f"{ascii(place)[1:-1]}: the character {wrong} is not Unicode; leave it out"
        ) from None


def check_mapping(argument: str, value: object, example: str) -> None:
    """Checks an argument that gives values by key.

    Args:
        argument: Name of the argument.
        value: Its value; `None` if it was left out.
        example: What could be given.

    Raises:
        ArgumentError: It is not a mapping.
    """
    if value is not None and not isinstance(value, Mapping):
        raise ArgumentError(
            f"{named(argument)}: {argument_text(value)} is not a mapping of keys to values; give "
            f"for example {example}"
        )
