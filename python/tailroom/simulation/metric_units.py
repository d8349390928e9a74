"""Units of metrics: what a number counts, and how it is written and drawn."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Quantity = Literal["fraction", "packets", "duration", "rate", "size", "number"]
"""What a value counts; `duration`, `rate` and `size` as the engine calls these quantities."""

RATES = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))
"""Prefixes of rates, the largest first, in bit/s."""


@dataclass(frozen=True)
class Unit:
    """A unit, and how values in it are shown."""

    name: str
    """In words, for the reference."""
    word: str
    """The last word of the names of metrics in this unit, before the statistic; empty if the name
    has no such word."""
    counts: Quantity
    """What a value counts, and so in which units a target may give it."""
    axis: str
    """The unit on the axes of pictures; empty for a number without one."""
    scale: float
    """A value times this is in the unit of the axes."""
    brief: Callable[[float], str]
    """Writes a value for the table of one run, with the unit."""
    text: Callable[[float], str]
    """Writes a value for the comparison of several runs, with the unit."""
    half_width: Callable[[float, str], str]
    """Writes the half-width of a confidence interval, given its mean as written by `text`."""

    @property
    def on_axis(self) -> str:
        """The unit as it follows the label of an axis: " (ms)", or nothing."""
        return f" ({self.axis})" if self.axis else ""


def percent(value: float) -> str:
    """Writes a fraction as a percentage."""
    return f"{value:.2%}"


def fraction(value: float) -> str:
    """Writes a small fraction so that 1e-5 keeps its digits."""
    return f"{value:.2e}" if value else "0"


def packets(value: float) -> str:
    """Writes a mean number of packets or flows."""
    return f"{value:,.1f}"


def count(value: float) -> str:
    """Writes a whole number."""
    return f"{value:,.0f}"


def number(value: float) -> str:
    """Writes a number with up to six digits."""
    return f"{value:,.6g}"


def index(value: float) -> str:
    """Writes an index or a load with three decimals."""
    return f"{value:.3f}"


def factor(value: float) -> str:
    """Writes a factor with two decimals."""
    return f"{value:.2f}"


def rate(value_bps: float) -> str:
    """Writes a rate with the prefix that suits it."""
    for size, unit in RATES[:-1]:
        if value_bps >= size:
            return f"{value_bps / size:,.2f} {unit}"
    return f"{value_bps:.0f} bit/s"


def delay(value_s: float) -> str:
    """Writes seconds as milliseconds, to a tenth; as microseconds below a tenth of one."""
    if 0 < value_s < 1e-4:
        return f"{1e6 * value_s:.1f} us"
    return f"{1e3 * value_s:,.1f} ms" if value_s < 1 else f"{1e3 * value_s:,.0f} ms"


def milliseconds(value_s: float) -> str:
    """Writes seconds as milliseconds, with digits enough for the delay of a fast link."""
    ms = 1e3 * value_s
    if ms == 0:
        return "0 ms"
    digits = 3 if abs(ms) < 1 else 2 if abs(ms) < 10 else 1 if abs(ms) < 1000 else 0
    return f"{ms:,.{digits}f} ms"


def _rounded(width: float) -> str:
    """Two digits: those of an interval say no more."""
    return f"{float(f'{width:.2g}'):,g}"


def _plain_width(width: float, _mean: str) -> str:
    return _rounded(width)


def _percent_width(width: float, _mean: str) -> str:
    return f"{_rounded(100 * width)}%"


def _fraction_width(width: float, _mean: str) -> str:
    return f"{width:.1e}" if width else "0"


def _rate_width(width: float, mean: str) -> str:
    """A half-width with the prefix of its mean."""
    prefix = mean.partition(" ")[2]
    sizes = {unit: size for size, unit in RATES}
    return f"{_rounded(width / sizes[prefix])} {prefix}"


def _milliseconds_width(width: float, _mean: str) -> str:
    return f"{_rounded(1e3 * width)} ms"


SHARE = Unit("fraction", "", "fraction", "%", 100.0, percent, percent, _percent_width)
"""A fraction that may be near 1, whose name does not say that it is one."""
TIME_FRACTION = Unit(
    "fraction", "fraction", "fraction", "%", 100.0, percent, percent, _percent_width
)
"""A fraction of the time."""
FRACTION = Unit("fraction", "fraction", "fraction", "%", 100.0, fraction, fraction, _fraction_width)
"""A fraction that is small most often."""
INDEX = Unit("index", "index", "fraction", "Jain's index", 1.0, index, index, _plain_width)
SECONDS = Unit("s", "s", "duration", "ms", 1e3, delay, milliseconds, _milliseconds_width)
MILLISECONDS = Unit("ms", "ms", "number", "ms", 1.0, factor, number, _plain_width)
BITS_PER_S = Unit("bit/s", "bps", "rate", "Mbit/s", 1e-6, rate, rate, _rate_width)
BYTES = Unit("bytes", "bytes", "size", "bytes", 1.0, count, number, _plain_width)
PACKETS = Unit("packets", "packets", "packets", "packets", 1.0, packets, packets, _plain_width)
BDP = Unit("bdp", "bdp", "number", "bdp", 1.0, index, number, _plain_width)
COUNT = Unit("number", "", "number", "", 1.0, count, number, _plain_width)
MEAN_COUNT = Unit("number", "", "number", "", 1.0, packets, number, _plain_width)
"""A count that is a mean: not a whole number."""
LOAD = Unit("number", "", "number", "", 1.0, index, number, _plain_width)
FACTOR = Unit("number", "", "number", "", 1.0, factor, number, _plain_width)

UNITS = (
    *(SHARE, TIME_FRACTION, FRACTION, INDEX, SECONDS, MILLISECONDS, BITS_PER_S, BYTES, PACKETS),
    *(BDP, COUNT, MEAN_COUNT, LOAD, FACTOR),
)
"""Every unit."""
