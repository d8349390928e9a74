"""Values of arguments and options in a help: words of the command, not types of Python."""

from collections.abc import Callable
from typing import Any


def name_values(command: Any) -> None:
    """Names values in the help of a command, and states their limits, in words.

    The value of an option is named by the option, or NUMBER; an argument has the name that it has
    in the usage. The library would show `<list[str]>`, `{FILE}...` and `x>=1`.

    Args:
        command: The command, as the library has it.
    """
    for parameter in command.params:
        kind = parameter.type_descriptor
        if parameter.param_type_name == "argument":
            if not kind.is_choice:
                parameter.display_type_rich = _said(None)
            parameter.metavar = (parameter.metavar or parameter.name.upper()).strip("[.]")
            parameter._usage_display_name = _said(_in_usage(parameter))
        elif parameter.metavar is None and not kind.is_choice and len(parameter.opts[0]) > 2:
            is_number = kind.annotation in (int, float)
            parameter.metavar = "NUMBER" if is_number else parameter.opts[0].strip("-").upper()
        parameter._get_number_range_help_str = _said(limits(parameter.min, parameter.max))


def _said(text: str | None) -> Callable[..., str | None]:
    """A method that returns a text."""
    return lambda *_, **__: text


def _in_usage(parameter: Any) -> str:
    """An argument in the usage: in brackets if it may be left out, with dots if it may repeat."""
    name, dots = parameter.metavar, "..." if parameter.nargs != 1 else ""
    return f"{name}{dots}" if parameter.required else f"[{name}]{dots}"


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
