"""Lengths of cables, and how fast signals travel in them."""

import re
from fractions import Fraction

from tailroom import _engine
from tailroom.arguments import named
from tailroom.errors import ArgumentError, ScenarioError

LEAST_M, MOST_M = 1, 120_000
"""Lengths that are accepted, in metres: SONiC's tables end at 120 km."""
_LENGTH = re.compile(r"\s*([-+]?[\d.]+)\s*(\w*)\s*")
_METRES = {"m": 1, "km": 1000}

MEDIA = {
    "fiber": (Fraction(5, 10**9), "5 ns/m, as Cisco's storage-networks book has it"),
    "copper": (
        Fraction(476, 10**11),
        "4.76 ns/m, 70 % of the speed of light in twinax (Cisco's white paper on PFC)",
    ),
}
"""Delay per metre in seconds, and its source, by medium."""
SONIC_DELAY = (Fraction(1, 198 * 10**6), "198e6 m/s, as in SONiC's buffer_headroom_mellanox.lua")
"""Delay per metre in SONiC's formula, and its source."""


def read_length(cable: object) -> Fraction:
    """Reads the length of a cable: `300m`, `2 km`, or a number of metres.

    Args:
        cable: The length.

    Returns:
        The length in metres.

    Raises:
        ArgumentError: It is not a length, has no unit, or is out of range.
    """
    remedy = "write a length from 1m to 120km, such as 300m or 2km"
    if isinstance(cable, (int, float, Fraction)) and not isinstance(cable, bool):
        number, unit = str(cable), "m"
    else:
        match = _LENGTH.fullmatch(str(cable))
        number, unit = match.groups() if match else ("", "")
        if match and not unit:
            raise ArgumentError(f"{named('cable')}: {cable} has no unit; {remedy}")
    try:
        metres = Fraction(number) * _METRES[unit]
    except (ValueError, KeyError):
        raise ArgumentError(f"{named('cable')}: {cable} is not a length; {remedy}") from None
    if not LEAST_M <= metres <= MOST_M:
        raise ArgumentError(f"{named('cable')}: {cable} is out of range; {remedy}")
    return metres


def length_words(metres: Fraction) -> str:
    """Returns a length as tables of SONiC have it: `300m`.

    Args:
        metres: The length in metres.
    """
    return f"{float(metres):.12g}m"


def read_medium(medium: str) -> tuple[Fraction, str]:
    """Returns the delay per metre in seconds, and its source.

    Args:
        medium: Name of the medium.

    Raises:
        ArgumentError: There is no such medium.
    """
    if medium not in MEDIA:
        known = " or ".join(MEDIA)
        raise ArgumentError(f"{named('medium')}: {medium} is not a known medium; choose {known}")
    return MEDIA[medium]


def read_delay(argument: str, delay: object) -> Fraction:
    """Reads a delay: `250ns`, or a number of seconds.

    Args:
        argument: Name of the argument, for messages.
        delay: The delay.

    Returns:
        The delay in seconds.

    Raises:
        ArgumentError: It is not a delay, or negative.
    """
    delay_s = -1.0
    if isinstance(delay, str):
        try:
            delay_s = _engine.quantity("duration", delay)
        except ScenarioError as error:
            raise ArgumentError(f"{named(argument)}: {error}") from None
    elif isinstance(delay, (int, float)) and not isinstance(delay, bool):
        delay_s = float(delay)
    if not 0 <= delay_s < 1:
        raise ArgumentError(
            f"{named(argument)}: {delay} is not a delay of less than a second; write for example "
            "250ns"
        )
    return Fraction(delay_s).limit_denominator(10**15)
