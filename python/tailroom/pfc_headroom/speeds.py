"""What the standards state for each speed of Ethernet: response to a pause, interface delay."""

from dataclasses import dataclass
from fractions import Fraction

from tailroom.arguments import named
from tailroom.errors import ArgumentError, ScenarioError
from tailroom.scenario.dumbbell import read_rate

QUANTUM_BYTES = 64
"""A pause quantum is the time of 512 bits (IEEE 802.3, 31B.2)."""
STANDARD_SOURCE = "IEEE 802.3, 31B.3.7"
SONIC_SOURCE = "SONiC, buffer_headroom_mellanox.lua"


@dataclass(frozen=True)
class Speed:
    """A speed of Ethernet with the delays that are stated for it."""

    name: str
    """Name, such as `100G`."""
    mbps: int
    """Speed in Mbit/s, as tables of SONiC have it."""
    quanta: int | None
    """Longest time until the peer stops, in pause quanta, as SONiC has it; `None` if not known."""
    standard_quanta: int | None
    """The same as the standard has it, where a source that quotes it is known."""
    interface_bits: int | None = None
    """Largest delay of an interface (MAC and PHY) in bit times; `None` if no source states it."""

    @property
    def bytes_per_s(self) -> Fraction:
        """Bytes per second."""
        return Fraction(self.mbps * 10**6, 8)

    @property
    def response(self) -> tuple[int, str] | None:
        """Quanta until the peer stops and their source: the standard's, or else SONiC's."""
        if self.standard_quanta is not None:
            return self.standard_quanta, STANDARD_SOURCE
        return None if self.quanta is None else (self.quanta, SONIC_SOURCE)


# Quanta: IEEE 802.3, 31B.3.7, as quoted in bit times (quanta x 512) with the interface delays in
# chapter 7 of Paresh Gupta and others, Detecting, Troubleshooting, and Preventing Congestion in
# Storage Networks (Cisco Press); and the table of SONiC's buffer_headroom_mellanox.lua.
SPEEDS = (
    Speed("1G", 1_000, 2, None),
    Speed("10G", 10_000, 67, 60, 8_192),
    Speed("25G", 25_000, 80, 80, 6_144),
    Speed("40G", 40_000, 118, 118, 24_576),
    Speed("50G", 50_000, 147, None),
    Speed("100G", 100_000, 394, 394, 122_880),
    Speed("200G", 200_000, 453, None),
    Speed("400G", 400_000, 905, 905),
    Speed("800G", 800_000, 905, None),
    Speed("1.6T", 1_600_000, None, None),
)
_BY_MBPS = {speed.mbps: speed for speed in SPEEDS}


def speed_of(mbps: int) -> Speed | None:
    """Returns the speed with this number of Mbit/s; `None` if it is none of Ethernet's.

    Args:
        mbps: Speed in Mbit/s.
    """
    return _BY_MBPS.get(mbps)


def read_speed(speed: object) -> Speed:
    """Reads a speed: `400G`, `400 Gbit/s`, or a number of bit/s.

    Args:
        speed: The speed.

    Raises:
        ArgumentError: It is no speed of Ethernet; the message lists the known speeds.
    """
    known = ", ".join(speed.name for speed in SPEEDS)
    rate_bps = 0.0
    if isinstance(speed, str):
        try:
            rate_bps = read_rate(speed)[1]
        except ScenarioError:
            rate_bps = 0.0
    elif isinstance(speed, (int, float)) and not isinstance(speed, bool):
        rate_bps = float(speed)
    found = speed_of(round(rate_bps / 1e6)) if 0 < rate_bps < 1e13 else None
    if found is None or found.mbps * 1e6 != rate_bps:
        raise ArgumentError(
            f"{named('speed')}: {speed} is not a known speed; choose one of {known}"
        )
    return found
