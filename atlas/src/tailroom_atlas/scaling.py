"""Cells that are too large to compute: a power law over smaller links of the same share per flow.

A link with a fifth of the rate and a fifth of the flows has the same windows and the same RTTs; it
differs in the number of flows alone. From two such links follows how the sufficient buffer grows
with the number of flows, and the power law through both gives the buffer of the large one. Where a
third, smaller link is at hand, the same step from the lower two to the upper one is compared with
what its own runs say: the error of the row.
"""

from dataclasses import dataclass
from math import exp, log

from tailroom.buffer_atlas.terms import CONTROLS
from tailroom_atlas.cells import Cell
from tailroom_atlas.cost import planned_cell

FACTORS = (5, 10, 4)
"""Ratios of rates and of numbers of flows between two rungs, in the order of preference: the power
falls slowly with the number of flows, so that near rungs predict better than far ones."""
CHECKED_RATES_BPS, CHECKED_FLOWS = (10**9, 10**10), 1000
"""Rates and number of flows of the computed cells behind DropTail that are scaled as well, to show
how far the scaling is off."""
FEWEST_FLOWS = 10
"""Fewest flows of a rung: few flows differ from many in more than a power law."""
POWERS = (-0.05, 1.05)
"""Powers that are believed: at the same share per flow, more flows do not need less buffer in all,
nor more than each of them would need alone. Beyond them is noise."""
MOST_OFF = 1.5
"""Largest factor by which the check of a scaling that is believed is off."""
MOST_UNCHECKED = 10
"""Largest ratio of numbers of flows that is believed without a check."""
MOST_RUNGS = 3
"""Two rungs give the power law, and the third one its error."""


@dataclass(frozen=True)
class PowerLaw:
    """A value that grows with a power of the number of flows, at a constant share per flow."""

    exponent: float
    """Power of the number of flows."""
    flows: int
    """Number of flows of the upper rung."""
    value: float
    """Value of the upper rung."""

    def at(self, flows: int) -> float:
        """The value for a number of flows.

        Args:
            flows: Number of flows.
        """
        return self.value * exp(self.exponent * log(flows / self.flows))


def rungs(cell: Cell) -> list[Cell]:
    """The largest links of the same share per flow whose runs are affordable, from the largest.

    Args:
        cell: A cell that is scaled.

    Raises:
        ValueError: There are fewer than two.
    """
    for factor in FACTORS:
        found = _rungs(cell, factor)
        if len(found) >= 2:
            return found[:MOST_RUNGS]
    raise ValueError(
        f"{cell.name}: too dear to compute, and fewer than two smaller links of the same share "
        f"per flow have {FEWEST_FLOWS} flows; choose another number of flows"
    )


def is_checked(cell: Cell) -> bool:
    """Whether a cell that is computed is scaled as well.

    Args:
        cell: The cell.
    """
    site = cell.site
    is_simple = (cell.queue, cell.traffic) == ("drop_tail", "long")
    return is_simple and site.rate_bps in CHECKED_RATES_BPS and site.flows == CHECKED_FLOWS


def is_believed(exponent: float, ratio: float, check: float | None) -> bool:
    """Whether a scaling holds as far as is known.

    Args:
        exponent: Power of the number of flows.
        ratio: Number of flows over that of the largest rung.
        check: Scaled over computed value of the largest rung, if there is a third one.
    """
    is_near = ratio <= MOST_UNCHECKED if check is None else 1 / MOST_OFF <= check <= MOST_OFF
    return POWERS[0] <= exponent <= POWERS[1] and is_near


def _rungs(cell: Cell, ratio: int) -> list[Cell]:
    found = []
    factor = ratio
    while cell.site.flows % factor == 0 and _has_enough(cell, factor):
        rung = cell.smaller(factor)
        if planned_cell(rung).how != "scaled":
            found.append(rung)
        factor *= ratio
    return found


def _has_enough(cell: Cell, factor: int) -> bool:
    least = max(FEWEST_FLOWS, len(CONTROLS[cell.control].groups))
    return cell.site.flows // factor >= least


def power_law(lower: tuple[int, float], upper: tuple[int, float]) -> PowerLaw:
    """The power law through two rungs.

    Args:
        lower: Number of flows and value of the smaller link.
        upper: Number of flows and value of the larger link.
    """
    exponent = log(upper[1] / lower[1]) / log(upper[0] / lower[0])
    return PowerLaw(exponent, *upper)
