"""BBR, version 3: the test cases of the draft.

`startup` has those on STARTUP and DRAIN, `probing` those on probes for bandwidth, `probe_rtt` those
on probes for the RTT, `paths` those on what a path does to its packets and ACKs.
"""

from collections.abc import Iterator

from tailroom.vectors.sets.bbr3 import paths, probe_rtt, probing, startup
from tailroom.vectors.vector import Vector


def vectors() -> Iterator[Vector]:
    """The vectors, by state."""
    for part in (startup, probing, probe_rtt, paths):
        yield from part.vectors()
