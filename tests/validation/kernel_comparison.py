"""A statistic of the Linux kernel's runs against tailroom's, and how far apart they may be."""

import statistics
from dataclasses import dataclass


@dataclass(frozen=True)
class Comparison:
    """A statistic of the kernel's runs, and of the simulator's."""

    what: str
    kernel: tuple[float, ...]
    tailroom: tuple[float, ...]
    allowed: float
    """Largest difference of the means that meets the goal."""
    allowed_below: float | None = None
    """The same where tailroom's mean is the smaller one, if that differs."""

    @property
    def difference(self) -> float:
        return statistics.fmean(self.tailroom) - statistics.fmean(self.kernel)

    @property
    def ratio(self) -> float:
        """The difference in units of what is allowed: between -1 and 1 if the goal is met."""
        is_below = self.difference < 0 and self.allowed_below is not None
        allowed = self.allowed_below if is_below else self.allowed
        return self.difference / allowed if allowed else float(self.difference != 0) * 2

    @property
    def is_met(self) -> bool:
        return abs(self.ratio) <= 1

    @property
    def sides(self) -> list[str]:
        """Mean and range of each side."""
        return [
            f"{mean} ({_number(min(side))} to {_number(max(side))})"
            for mean, side in zip(self.means, (self.kernel, self.tailroom), strict=True)
        ]

    def line(self, name: str) -> str:
        """A row of the table for a terminal."""
        kernel, tailroom = self.sides
        word = "meets" if self.is_met else "MISSES"
        return f"{name:38} {self.what:25} {kernel:25} {tailroom:25} {self.difference:+.4g}  {word}"

    @property
    def means(self) -> list[str]:
        """The kernel's mean and tailroom's."""
        return [_number(statistics.fmean(side)) for side in (self.kernel, self.tailroom)]


def _number(value: float) -> str:
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"
