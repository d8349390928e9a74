"""Units of metrics: the quantity, and how values are written and drawn."""

from collections.abc import Callable
from dataclasses import dataclass
from math import floor, log10
from typing import Literal

Quantity = Literal["fraction", "packets", "duration", "rate", "size", "number"]
"""Kind of quantity; `duration`, `rate` and `size` are the engine's names."""

RATES = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))
"""Units of rates in bit/s, from the largest to the smallest."""
MOST_DECIMALS = 10
"""Largest number of decimals; what is smaller is the rounding error of a mean."""


@dataclass(frozen=True)
class Unit:
    """A unit, and how values in this unit are shown."""

    name: str
    """Name in the reference."""
    word: str
    """Last word of the names of metrics in this unit, before the statistic; empty if names have no
    such word."""
    counts: Quantity
    """Kind of quantity, which decides the units in which a target may give it."""
    axis: str
    """Unit on the axes of pictures; empty for a number without a unit."""
    scale: float
    """Factor that converts a value to the unit of the axes."""
    brief: Callable[[float], str]
    """Writes a value for the table of one run, with the unit."""
    text: Callable[[float], str]
    """Writes a value for the comparison of several runs, with the unit."""
    half_width: Callable[[float, str], str]
    """Writes the half-width of a confidence interval; also takes the mean as written by `text`."""

    @property
    def on_axis(self) -> str:
        """The unit as it follows the label of an axis: " (ms)"; empty without a unit."""
        return f" ({self.axis})" if self.axis else ""


def percent(value: float) -> str:
    """Writes a fraction as a percentage."""
    return f"{value:.2%}"


def fraction(value: float) -> str:
    """Writes a fraction as a percentage with three digits, so that small ones keep their digits."""
    return f"{_significant(100 * value, 3)}%"


def packets(value: float) -> str:
    """Writes a mean number of packets or flows."""
    return f"{value:,.1f}"


def packet_limit(value: float) -> str:
    """Writes a limit; one that is configured in bytes may be a fraction of packets."""
    if value == round(value):
        return f"{value:,.0f} packets"
    return f"{value:,.2f} packets"


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
    """Writes a rate in bit/s, kbit/s, Mbit/s or Gbit/s."""
    for size, unit in RATES[:-1]:
        if value_bps >= size:
            return f"{value_bps / size:,.2f} {unit}"
    return f"{value_bps:.0f} bit/s"


def delay(value_s: float) -> str:
    """Writes seconds as milliseconds with one decimal; below 0.1 ms as microseconds."""
    if 0 < value_s < 1e-4:
        return f"{1e6 * value_s:.1f} us"
    return f"{1e3 * value_s:,.1f} ms" if value_s < 1 else f"{1e3 * value_s:,.0f} ms"


def milliseconds(value_s: float) -> str:
    """Writes seconds as milliseconds with up to three decimals, for the delays of fast links."""
    ms = 1e3 * value_s
    if ms == 0:
        return "0 ms"
    digits = 3 if abs(ms) < 1 else 2 if abs(ms) < 10 else 1 if abs(ms) < 1000 else 0
    return f"{ms:,.{digits}f} ms"


def _significant(value: float, digits: int) -> str:
    """Writes a number with so many significant digits and without an exponent."""
    if not value:
        return "0"
    rounded = float(f"{value:.{digits}g}")
    decimals = digits - 1 - floor(log10(abs(rounded)))
    text = f"{rounded:,.{min(max(decimals, 0), MOST_DECIMALS)}f}"
    return text if text.strip("-0.") else "0"


def two_digits(width: float) -> str:
    """Writes a half-width: two significant digits, no zeros at the end, no exponent."""
    text = _significant(width, 2)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _plain_width(width: float, _mean: str) -> str:
    return two_digits(width)


def _percent_width(width: float, _mean: str) -> str:
    return f"{two_digits(100 * width)}%"


def _rate_width(width: float, mean: str) -> str:
    """Writes a half-width in the unit of its mean."""
    unit = mean.partition(" ")[2]
    sizes = {name: size for size, name in RATES}
    return f"{two_digits(width / sizes[unit])} {unit}"


def _milliseconds_width(width: float, _mean: str) -> str:
    return f"{two_digits(1e3 * width)} ms"


SHARE = Unit("fraction", "", "fraction", "%", 100.0, percent, percent, _percent_width)
"""A fraction that may be near 1, in a metric whose name does not end in `fraction`."""
TIME_FRACTION = Unit(
    "fraction", "fraction", "fraction", "%", 100.0, percent, percent, _percent_width
)
"""A fraction of the time."""
FRACTION = Unit("fraction", "fraction", "fraction", "%", 100.0, fraction, fraction, _percent_width)
"""A fraction that is usually small."""
INDEX = Unit("index", "index", "fraction", "Jain's index", 1.0, index, index, _plain_width)
SECONDS = Unit("s", "s", "duration", "ms", 1e3, delay, milliseconds, _milliseconds_width)
MILLISECONDS = Unit("ms", "ms", "number", "ms", 1.0, factor, number, _plain_width)
BITS_PER_S = Unit("bit/s", "bps", "rate", "Mbit/s", 1e-6, rate, rate, _rate_width)
BYTES = Unit("bytes", "bytes", "size", "bytes", 1.0, count, number, _plain_width)
PACKETS = Unit("packets", "packets", "packets", "packets", 1.0, packets, packets, _plain_width)
BDP = Unit("bdp", "bdp", "number", "bdp", 1.0, index, number, _plain_width)
COUNT = Unit("number", "", "number", "", 1.0, count, number, _plain_width)
MEAN_COUNT = Unit("number", "", "number", "", 1.0, packets, number, _plain_width)
"""A mean of counts, which need not be a whole number."""
LOAD = Unit("number", "", "number", "", 1.0, index, number, _plain_width)
FACTOR = Unit("number", "", "number", "", 1.0, factor, number, _plain_width)
