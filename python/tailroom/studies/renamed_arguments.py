"""Errors for former names of arguments that state the present name."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

_Arguments = ParamSpec("_Arguments")
_Answer = TypeVar("_Answer")


def renamed_arguments(
    **new_names: str,
) -> Callable[[Callable[_Arguments, _Answer]], Callable[_Arguments, _Answer]]:
    """Decorates a function whose arguments have new names; the keywords are the former names.

    The decorated function raises a `TypeError` with the new name if it is called with a former
    name.
    """

    def decorate(function: Callable[_Arguments, _Answer]) -> Callable[_Arguments, _Answer]:
        @wraps(function)
        def checked(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Answer:
            for former, new in new_names.items():
                if former in kwargs:
                    raise TypeError(
                        f"{function.__name__}() has no argument {former!r}; its name is now {new!r}"
                    )
            return function(*args, **kwargs)

        return checked

    return decorate
