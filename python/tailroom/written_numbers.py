"""How numbers are written for people, in one place.

The rule for every number that a command prints, except in JSON, CSV and lines to be pasted:

* A measured or computed value has at most `DIGITS` significant digits and no exponent. Zeros that
  only fill up are left out of counts (13 of 13.0), and kept where a column has a fixed number of
  decimals (1.50 ms).
* Thousands are separated by commas (16,290 packets). From a million on, a count is in millions or
  billions (265.4 million packets); rates and sizes take SI prefixes (9.23 Mbit/s, 14.2 MB); times
  are in us below 0.1 ms, and in s from 10 s on.
* The times, rates or sizes of a column have one unit, that of their median: 0.057 ms below 37.6 ms.
  Times of less than 10 ms are in us if one is below 1 us: 434 us below 0.016 us.
* A small value keeps two significant digits, whatever the decimals of its column (0.0012%).
* A setting is exact: the packets, bytes and times of a limit are what a configuration takes.
* Half-widths of intervals have two digits, in the unit of their mean.
"""

import re
from collections.abc import Iterable
from math import floor, isfinite, log10
from statistics import median_high

RATES = ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"))
"""Units of rates in bit/s, from the largest to the smallest."""
SIZES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))
"""Units of sizes in bytes, from the largest to the smallest."""
COUNTS = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))
"""Words for large counts, from the largest to the smallest."""
DIGITS = 4
"""Largest number of significant digits of a value."""
FEWEST_DIGITS = 2
"""Significant digits that a value has at least, unless its further digits are zeros."""
MOST_DECIMALS = 10
"""Largest number of decimals; what is smaller is the rounding error of a mean."""

_SCALES = {"%": 100.0, "s": 1.0, "ms": 1e3, "us": 1e6}
_SCALES |= {unit: 1 / size for size, unit in (*RATES, *SIZES, *COUNTS)}
"""Factors that convert a value to the unit or word that follows a written number."""


def half_width(width: float, mean: str) -> str:
    """Writes the half-width of an interval in the unit of its mean, with two digits.

    Args:
        width: The half-width, 0 or more, in the unit of the metric.
        mean: The mean as `Unit.text` writes it. A half-width that is smaller than a tenth of its
            last decimal is written as `<` that tenth.
    """
    found = re.fullmatch(r"-?[\d,]+(?:\.(\d+))?( ?)(.*)", mean)
    decimals, blank, unit = found.groups(default="") if found else ("", "", "")
    scaled = width * _SCALES.get(unit, 1.0)
    finest = 10.0 ** -(len(decimals) + 1)
    number_text = f"<{finest:.{len(decimals) + 1}f}" if 0 < scaled < finest else two_digits(scaled)
    return f"{number_text}{blank}{unit}"


def significant(value: float, digits: int = DIGITS, decimals: int | None = None) -> str:
    """Writes a number without an exponent, with at most `digits` significant digits.

    Args:
        value: The number; infinity and NaN are written as Python does.
        digits: Largest number of significant digits.
        decimals: Largest number of decimals (default: as many as the digits need). A value that
            would keep fewer than `FEWEST_DIGITS` significant digits has more decimals.
    """
    if not isfinite(value):
        return str(value)
    if not value:
        return "0"
    rounded = float(f"{value:.{digits - 1}e}")
    before = floor(log10(abs(rounded))) + 1
    places = max(digits - before, 0)
    if decimals is not None:
        places = min(places, max(decimals, FEWEST_DIGITS - before))
    # Rounded once: of 13.0499, the first of two roundings would give 13.05, the second 13.1.
    exact = rounded if before > digits else value
    text = f"{exact:,.{min(places, MOST_DECIMALS)}f}"
    return text if text.strip("-0.") else "0"


def percent(value: float) -> str:
    """Writes a fraction as a percentage with up to two decimals."""
    return f"{significant(100 * value, decimals=2)}%"


def fraction(value: float) -> str:
    """Writes a fraction as a percentage with three digits, so that small ones keep their digits."""
    return f"{significant(100 * value, 3)}%"


def packets(value: float) -> str:
    """Writes a mean number of packets or flows with up to one decimal."""
    is_large = abs(value) >= COUNTS[-1][0]
    return number(value) if is_large else _trimmed(significant(value, decimals=1))


def packet_limit(value: float) -> str:
    """Writes a limit: exact in whole packets; one that is configured in bytes may be a fraction."""
    whole = round(value) if isfinite(value) else value
    return f"{whole:,} packets" if value == whole else f"{significant(value)} packets"


def count(value: float) -> str:
    """Writes a whole number."""
    return number(round(value) if isfinite(value) else value)


def number(value: float) -> str:
    """Writes a number; zeros at the end are left out."""
    # What four digits round up to a million is in millions, too.
    rounded = float(f"{value:.{DIGITS - 1}e}")
    for size, word in COUNTS:
        if abs(rounded) >= size and isfinite(value):
            return f"{_trimmed(significant(value / size))} {word}"
    return _trimmed(significant(value))


def index(value: float) -> str:
    """Writes an index or a load with up to three decimals."""
    return significant(value, decimals=3)


def factor(value: float) -> str:
    """Writes a factor with up to two decimals."""
    return significant(value, decimals=2)


def typical(values: Iterable[float | None]) -> float | None:
    """The value whose unit a column has: the median of those that are known and not 0, if any."""
    known = [abs(value) for value in values if value and isfinite(value)]
    return median_high(known) if known else None


def typical_time(values: Iterable[float | None]) -> float | None:
    """The time whose unit a column has: as `typical`, or one in us where ms need six decimals."""
    known = [abs(value) for value in values if value and isfinite(value)]
    if known and min(known) < 1e-6 and max(known) < 9_999.5e-6:
        return min(known)
    return typical(known)


def rate(value_bps: float, like: float | None = None) -> str:
    """Writes a rate in bit/s, kbit/s, Mbit/s or Gbit/s, with up to two decimals.

    Args:
        value_bps: The rate.
        like: The rate that decides the unit, as `typical` finds it (default: the rate itself).
    """
    return _prefixed(value_bps, RATES, decimals=2, like=like)


def size(value_bytes: float, like: float | None = None) -> str:
    """Writes a size in bytes, kB, MB, GB or TB; `like` decides the unit as that of `rate` does."""
    return _prefixed(value_bytes, SIZES, like=like)


def delay(value_s: float, like: float | None = None) -> str:
    """Writes a time: in ms with up to three decimals, in us below 0.1 ms, in s from 10 s on.

    Args:
        value_s: The time.
        like: The time that decides the unit, as `typical` finds it (default: the time itself).
    """
    ms = abs(1e3 * (value_s if like is None else like))
    if 0 < ms < 0.09995:
        return f"{significant(1e6 * value_s, decimals=1)} us"
    if ms >= 9_999.5:
        return f"{significant(value_s, decimals=2)} s"
    own_ms = abs(1e3 * value_s)
    decimals = 3 if own_ms < 0.9995 else 2 if own_ms < 9.995 else 1
    return f"{significant(1e3 * value_s, decimals=decimals)} ms"


def exact_delay(value_s: float) -> str:
    """Writes a time that a setting comes to, such as the time of a limit: zeros are left out."""
    return as_setting(delay(value_s))


def exact_bdp(value: float) -> str:
    """Writes the bandwidth-delay products that a setting comes to: zeros are left out."""
    return as_setting(f"{index(value)} bdp")


def as_setting(text: str) -> str:
    """Returns a written amount without the zeros that fill up, as people write a setting."""
    number_text, _, unit = text.partition(" ")
    return f"{_trimmed(number_text)} {unit}"


def without_exponents(text: str) -> str:
    """Writes the numbers of a sentence that have an exponent as people write them.

    Args:
        text: The sentence of a model: "3.05e+04 packets" becomes "30,500 packets".
    """
    return re.sub(r"\d(?:\.\d+)?e[+-]\d+", lambda one: number(float(one[0])), text)


def two_digits(width: float) -> str:
    """Writes a half-width: two significant digits, no zeros at the end, no exponent."""
    return _trimmed(significant(width, 2))


def _prefixed(
    value: float,
    units: tuple[tuple[float, str], ...],
    decimals: int | None = None,
    like: float | None = None,
) -> str:
    """Writes a value in the largest unit of which `like`, once it is rounded, is at least one."""
    rounded = abs(float(f"{value if like is None else like:.{DIGITS - 1}e}"))
    for one, unit in units[:-1]:
        if rounded >= one:
            text = significant(value / one, decimals=decimals)
            return f"{text if decimals else _trimmed(text)} {unit}"
    return f"{_trimmed(significant(value))} {units[-1][1]}"


def _trimmed(text: str) -> str:
    """Leaves out the zeros at the end of decimals."""
    return text.rstrip("0").rstrip(".") if "." in text else text
