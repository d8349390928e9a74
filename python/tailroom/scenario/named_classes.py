"""Classes of the caller's own that an argument gives by name."""

from collections.abc import Iterable

from tailroom.errors import ScenarioError
from tailroom.scenario.named_values import few, near


def check_named_class(
    argument: str, name: str, given: object, known: Iterable[str], words: tuple[str, str, str]
) -> None:
    """Checks one value of such an argument.

    Args:
        argument: The argument.
        name: The name for which the value is given.
        given: The value.
        known: The names that there are.
        words: What a name stands for, what the value makes, and how others are given.

    Raises:
        ScenarioError: There is no such name, or the value is not callable.
    """
    what, made, remedy = words
    known = list(known)
    if name not in known:
        meant = near(str(name), known)
        hint = f"did you mean `{meant[0]}`?" if meant else f"name one of {few(name, known)}"
        raise ScenarioError(f"{argument}: there is no {what} {name!r}; {hint}")
    if not callable(given):
        raise ScenarioError(
            f"{argument}: {name}: {given!r} is not a class or a function that makes a {made}; "
            f'{remedy} in the argument "set"'
        )
