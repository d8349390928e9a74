"""Congestion controls that a caller gives as names, tables or classes, per group or just one."""

import tomllib
from collections.abc import Callable, Mapping, Sequence

from tailroom.errors import ScenarioError
from tailroom.scenario.custom_controls import Congestion, Control, is_control

FORMS = (
    'give a name ("cubic", or "module:Class" of your own), a table '
    '({"kind": "aimd", "increase": 2.0}) or a class of your own'
)
"""The remedy for a value that is not a congestion control."""


def read_control(place: str, control: object) -> Control:
    """Checks the form of a congestion control, and parses a table that is given as text.

    Args:
        place: The argument, for messages.
        control: The value.

    Raises:
        ScenarioError: The value is not a name, a table or a callable, or the text of a table is not
            TOML.
    """
    if isinstance(control, str) and control.lstrip().startswith("{"):
        try:
            control = tomllib.loads(f"control = {control}")["control"]
        except tomllib.TOMLDecodeError as error:
            raise ScenarioError(
                f"{place}: {control} is not a TOML table ({error}); write for example "
                '{ kind = "aimd", increase = 2.0 }'
            ) from None
    if isinstance(control, Mapping):
        if not isinstance(control.get("kind"), str):
            raise ScenarioError(f"{place}: {dict(control)!r} has no kind; {FORMS}")
        return control
    if isinstance(control, str) or callable(control):
        return control
    kind = type(control).__name__
    if is_control(control):
        raise ScenarioError(
            f"{place}: is an instance of {kind}, and each flow needs a control of its own; give "
            f"the class {kind}, or functools.partial({kind}, ...)"
        )
    raise ScenarioError(f"{place}: {control!r} is not a congestion control; {FORMS}")


def control_words(control: Control) -> str:
    """Returns the name of a control or discipline with the parameters that it is given.

    For example "cubic", "aimd, increase 2.0", or "Mild" for a class.
    """
    if isinstance(control, str):
        return control.rpartition(":")[2]
    if isinstance(control, Mapping):
        parameters = {key: value for key, value in control.items() if key != "kind"}
        name = str(control["kind"])
        if name == "custom":
            code = parameters.pop("control", parameters.pop("discipline", name))
            name = str(code).rpartition(":")[2]
            given = parameters.pop("parameters", {})
            parameters.update(given if isinstance(given, Mapping) else {})
        return ", ".join([name, *(f"{key} {value}" for key, value in parameters.items())])
    made = getattr(control, "func", control)
    return str(getattr(made, "__name__", type(made).__name__))


def controls_by_group(
    congestion: Congestion | None, groups: Callable[[], Sequence[str]]
) -> dict[str, Control]:
    """Returns the control of each group that the argument `congestion` names.

    Args:
        congestion: A control for each group by name, or one control for the only group.
        groups: Returns the groups that have a congestion control.

    Raises:
        ScenarioError: A value is not a congestion control, or one control is given for several
            groups.
    """
    if congestion is None:
        return {}
    is_table = isinstance(congestion, Mapping) and isinstance(congestion.get("kind"), str)
    if isinstance(congestion, Mapping) and not (is_table and "kind" not in groups()):
        return {
            group: read_control(f"flows.{group}.congestion", control)
            for group, control in congestion.items()
        }
    control = read_control("congestion", congestion)
    names = groups()
    if len(names) == 1:
        return {names[0]: control}
    if not names:
        raise ScenarioError(
            "congestion: no group of flows has a congestion control; leave congestion out"
        )
    raise ScenarioError(
        f"congestion: {control_words(control)} is one control for {len(names)} groups of flows "
        f'({", ".join(names)}); give a dict of group and control, as in {{"{names[0]}": ...}}'
    )
