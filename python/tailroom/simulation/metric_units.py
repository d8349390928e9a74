"""Units of metrics: the quantity, and how values are written and drawn."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from tailroom import written_numbers as written

Quantity = Literal["fraction", "packets", "duration", "rate", "size", "number"]
"""Kind of quantity; `duration`, `rate` and `size` are the engine's names."""


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
    text: Callable[..., str]
    """Writes a value with its unit; of a duration, a rate or a size, `like` decides the unit."""

    def writer(self, values: Iterable[float | None]) -> Callable[[float], str]:
        """Returns what writes the values of a column, all of them in one unit."""
        if self.counts not in ("duration", "rate", "size"):
            return self.text
        typical = written.typical_time if self.counts == "duration" else written.typical
        return partial(self.text, like=typical(values))

    @property
    def on_axis(self) -> str:
        """The unit as it follows the label of an axis: " (ms)"; empty without a unit."""
        return f" ({self.axis})" if self.axis else ""


SHARE = Unit("fraction", "", "fraction", "%", 100.0, written.percent)
"""A fraction that may be near 1, in a metric whose name does not end in `fraction`."""
TIME_FRACTION = Unit("fraction", "fraction", "fraction", "%", 100.0, written.percent)
"""A fraction of the time."""
FRACTION = Unit("fraction", "fraction", "fraction", "%", 100.0, written.fraction)
"""A fraction that is usually small."""
INDEX = Unit("index", "index", "fraction", "Jain's index", 1.0, written.index)
SECONDS = Unit("s", "s", "duration", "ms", 1e3, written.delay)
MILLISECONDS = Unit("ms", "ms", "number", "ms", 1.0, written.factor)
BITS_PER_S = Unit("bit/s", "bps", "rate", "Mbit/s", 1e-6, written.rate)
BYTES = Unit("bytes", "bytes", "size", "bytes", 1.0, written.size)
PACKETS = Unit("packets", "packets", "packets", "packets", 1.0, written.packets)
BDP = Unit("bdp", "bdp", "number", "bdp", 1.0, written.index)
COUNT = Unit("number", "", "number", "", 1.0, written.number)
MEAN_COUNT = Unit("number", "", "number", "", 1.0, written.packets)
"""A mean of counts, which need not be a whole number."""
LOAD = Unit("number", "", "number", "", 1.0, written.index)
FACTOR = Unit("number", "", "number", "", 1.0, written.factor)
