"""The terms of the atlas: its packets, its congestion controls, its queue disciplines."""

from dataclasses import dataclass

PACKET_BYTES = 1500
"""Size of every data packet on the wire."""
SHORT_LOAD = 0.3
"""Load of the short flows, as a fraction of the link's rate."""


@dataclass(frozen=True)
class Control:
    """The congestion control of the long flows."""

    words: str
    """Name for readers."""
    groups: tuple[str, ...]
    """Congestion control of each group; the flows are divided evenly."""
    pacing: bool = False
    """Whether the hosts pace controls that do not pace by themselves."""


CONTROLS = {
    "cubic": Control("CUBIC", ("cubic",)),
    "cubic_paced": Control("CUBIC, paced by the host", ("cubic",), pacing=True),
    "bbr3": Control("BBRv3", ("bbr3",)),
    "cubic_and_bbr3": Control("half CUBIC, half BBRv3", ("cubic", "bbr3")),
    "prague": Control("Prague", ("prague",)),
    "cubic_and_prague": Control("half CUBIC, half Prague", ("cubic", "prague")),
}
"""The congestion controls of the atlas by name."""

QUEUES = {
    "drop_tail": "DropTail",
    "fq_codel": "FQ-CoDel",
    "pie": "PIE",
    "dual_pi2": "DualPI2",
}
"""The queue disciplines of the atlas, with their names for readers."""


def rate_words(rate_bps: float) -> str:
    """Writes a rate as in `25 Mbit` or `10 Gbit`, per second."""
    return f"{rate_bps / 1e9:g} Gbit" if rate_bps >= 1e9 else f"{rate_bps / 1e6:g} Mbit"
