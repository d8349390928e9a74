"""Values of arguments and options in a help: words of the command, not types of Python."""

import re
from collections.abc import Callable
from typing import Any

_OPTION = re.compile(r"((?:-[\w-]+(?:, | / |$)?)+)(?: (.+))?")
"""The names of an option, and what the library calls its value."""
_NUMBER = re.compile(r"\b(int|integer|float)\b", re.IGNORECASE)
_RANGE = re.compile(r"(?:(?P<least>-?[\d.]+)<=)?x(?:>=(?P<low>-?[\d.]+)|<=(?P<most>-?[\d.]+))")


def name_values(command: Any) -> None:
    """Names values in the help of a command, and states their limits, in words.

    The value of an option is named by the option, or NUMBER; an argument has the name that it has
    in the usage. The library would show `<list[str]>`, `{FILE}...` and `x>=1`. It asks each
    parameter for its record of the help, and for its pieces of the usage: these are replaced here.

    Args:
        command: The command, as the library has it.
    """
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            parameter.metavar = (parameter.metavar or parameter.name.upper()).strip("[.]")
            parameter.get_usage_pieces = _said([_in_usage(parameter)])
        parameter.get_help_record = _in_words(parameter, parameter.get_help_record)


def _said(pieces: list[str]) -> Callable[..., list[str]]:
    """A method that returns the pieces of a usage."""
    return lambda *_, **__: pieces


def _in_words(
    parameter: Any, record: Callable[[Any], tuple[str, str] | None]
) -> Callable[[Any], tuple[str, str] | None]:
    """The method that returns the record of a parameter in words: its name and its help."""

    def worded(context: Any) -> tuple[str, str] | None:
        found = record(context)
        if found is None:
            return None
        name, text = found
        return _named(parameter, name), _RANGE.sub(_limits, text)

    return worded


def _named(parameter: Any, name: str) -> str:
    """The name of a parameter, with that of its value; choices stay as the library has them."""
    if parameter.param_type_name == "argument":
        return name if "|" in name.partition(" ")[2] else str(parameter.metavar)
    given = _OPTION.fullmatch(name)
    if parameter.metavar or given is None or given[2] is None or "|" in given[2]:
        return name
    value = "NUMBER" if _NUMBER.search(given[2]) else parameter.opts[0].strip("-").upper()
    return f"{given[1]} {value}"


def _in_usage(parameter: Any) -> str:
    """An argument in the usage: in brackets if it may be left out, with dots if it may repeat."""
    name, dots = parameter.metavar, "..." if parameter.nargs != 1 else ""
    return f"{name}{dots}" if parameter.required else f"[{name}]{dots}"


def _limits(found: re.Match[str]) -> str:
    """The limits of a number in words, instead of `0<=x<=65535`."""
    return limits(_number(found["least"] or found["low"]), _number(found["most"])) or ""


def _number(text: str | None) -> float | None:
    """A number as the library writes it; whole ones are integers."""
    if text is None:
        return None
    number = float(text)
    return int(number) if number.is_integer() else number


def limits(least: float | None, most: float | None) -> str | None:
    """The limits of a number in words; `None` without limits.

    Args:
        least: The smallest number that is allowed.
        most: The largest number that is allowed.
    """
    if least is not None and most is not None:
        return f"{least:,} to {most:,}"
    if least is not None:
        return f"at least {least:,}"
    return None if most is None else f"at most {most:,}"
