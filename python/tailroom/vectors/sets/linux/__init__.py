"""What Linux's TCP sender does at each ACK of a script: its window, its losses, its timers.

The facts are those of the kernel's source, and of its own tests (packetdrill) in other numbers.
"""

from collections.abc import Iterator

from tailroom.vectors.sets.linux import (
    deferral,
    growth,
    hystart,
    pacing,
    recovery,
    reordering,
    timers,
)
from tailroom.vectors.vector import Vector


def vectors() -> Iterator[Vector]:
    """The window, slow start's end, recovery, the reordering window, timers, pacing, deferral."""
    for part in (growth, hystart, recovery, reordering, timers, pacing, deferral):
        yield from part.vectors()
