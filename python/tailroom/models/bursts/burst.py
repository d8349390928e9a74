"""Hazard of a pass while the packets of the flow form one burst followed by silence."""

from dataclasses import dataclass

import numpy as np

from tailroom.models.bursts.queue import Lattice, Loop, between, hit, packing, survival
from tailroom.models.window_laws.window_law import Floats

LENGTHS = 32
"""Of a burst, in the table."""
PARTS = 64
"""Of the step between two densities of the table, where the density that a growth makes is known.

So many that what lies between two of them counts as straight: from the second density of the table
on the error is below 1e-4 of what the burst leaves.
"""


@dataclass(frozen=True)
class Bursts:
    """A table of hazards, and of the densities that growth produces."""

    loop: Loop
    table: Floats
    """Logarithms of the hazard, by density and by length."""
    log_slots: Floats
    """Logarithms of these lengths, in slots."""
    growths: Floats
    """Growth in packets per round trip; the next three fields have an entry per growth."""
    places: Floats
    """Among the densities of the table."""
    densities: Floats
    parts: Floats
    """Passes in which the flow loses packets, by packets refused."""

    @classmethod
    def of(cls, loop: Loop, count: int, most: int) -> "Bursts":
        """With so many densities, from none to saturation, and a queue of so many steps at most."""
        slots = np.geomspace(1, 1.01 * max(2.0, loop.slots), LENGTHS)
        densities = loop.residual * (1 - np.geomspace(1, 1e-3, count))
        densities[0] = 1e-6 * loop.residual
        line = Lattice.of(loop.limit, most)
        rows, parts = [], []
        for density in densities:
            part = hit(loop.load, density, None, 0.0)
            parts.append(line.any_of(part) / line.height)
            kept = survival(loop, density, slots, part, most)
            rows.append(np.log(np.maximum(-np.log(kept), 1e-300)))
        known = np.arange(count)
        places = np.linspace(0, count - 1, PARTS * (count - 1) + 1)
        finely = np.interp(places, known, densities)
        return cls(
            loop=loop,
            table=np.array(rows),
            log_slots=np.log(slots),
            growths=packing(loop.load, finely),
            places=places,
            densities=finely,
            parts=np.interp(places, known, np.array(parts)),
        )

    def hazard(self, window: Floats, growth: Floats) -> tuple[Floats, Floats]:
        """Of a pass, and the packets refused in one.

        None where the burst is as long as the round trip.
        """
        density = np.interp(growth, self.growths, self.densities)
        place = np.interp(growth, self.growths, self.places)
        length = np.interp(np.log(window / density), self.log_slots, np.arange(LENGTHS))
        (row, down), (column, right) = between(place, len(self.table)), between(length, LENGTHS)
        short = self.table[row, column] * (1 - down) + self.table[row + 1, column] * down
        longer = self.table[row, column + 1] * (1 - down) + self.table[row + 1, column + 1] * down
        inside = np.exp(short + right * (longer - short))
        hazard = np.where(window < density * self.loop.slots, inside, 0.0)
        return hazard, hazard / np.interp(growth, self.growths, self.parts)
