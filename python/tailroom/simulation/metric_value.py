"""A value of a metric as people write it: with its unit, unless the metric has none."""

import re
from math import isfinite

from tailroom import _engine
from tailroom.errors import ScenarioError
from tailroom.simulation.metric_catalogue import metric_of
from tailroom.simulation.metric_units import Quantity

_NUMBER = re.compile(r"([-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*)")
_WITH_UNITS = ("duration", "rate", "size")
"""Quantities with several units: who writes 5 seldom means 5 s."""
_EXAMPLES: dict[Quantity, str] = {
    "duration": "5 ms",
    "rate": "2 Mbit/s",
    "size": "64 kB",
    "fraction": "98%",
    "packets": "20 packets",
    "number": "20",
}


def read_value(metric: str, text: str) -> float:
    """Reads a value of a metric.

    A time, a rate or a size needs its unit, as in a scenario. A fraction is a number or a
    percentage; packets and other counts are numbers.

    Args:
        metric: Full or short name of the metric.
        text: The value, such as `5 ms`, `98%`, `0.98` or `20 packets`.

    Returns:
        The value in the unit of the metric: seconds, bit/s, bytes, packets, or a fraction. It may
        be negative.

    Raises:
        ValueError: The text is no finite number, or its unit is missing or does not suit the
            metric. The message has the problem and the remedy.
    """
    unit = metric_of(metric).unit.counts
    match = _NUMBER.fullmatch(text.strip())
    if not match or not isfinite(number := float(match[1])):
        raise ValueError(f'"{text}" is not a finite number; write for example "{_EXAMPLES[unit]}"')
    given = match[2]
    if number < 0 or (given == unit == "packets"):
        return number
    if unit in _WITH_UNITS:
        if not given:
            example = f"{match[1]} {_EXAMPLES[unit].partition(' ')[2]}"
            raise ValueError(f'"{text}" has no unit; write it with its unit, as in "{example}"')
        try:
            return _engine.quantity(unit, text)
        except ScenarioError as error:
            raise ValueError(str(error)) from None
    if not given:
        return number
    if unit == "fraction":
        if given != "%":
            raise ValueError(f'"{given}" is not the unit of a fraction; write 0.98 or 98%')
        return number / 100
    only = 'a number or "20 packets"' if unit == "packets" else "a number without a unit"
    raise ValueError(f'"{given}" is not a unit of this metric; write {only}')
