"""The readings of block pacing in the pseudo-code of Figure 1."""

from dataclasses import dataclass

from tailroom_papers.su_2005.setting import CONTROL

FRACTIONAL: dict[str, object] = {"block_count": "fractional"}
PRINTED: dict[str, object] = {"block_length": "printed"}
ONE_PACKET: dict[str, object] = {"block_hold": "packet"}
IN_SLOW_START: dict[str, object] = {"block_slow_start": True}

BASE = "whole k"
"""The reading of the other parts."""


@dataclass(frozen=True)
class Reading:
    """A reading of the pseudo-code."""

    name: str
    """In a few words; valid as a file name."""
    control: dict[str, object]
    """Keys of the control `fhstcp` that differ from their defaults."""
    reason: str
    """What the reading follows from."""
    plausible: bool = True
    """Whether the paper's authors may have simulated this reading."""

    @property
    def settings(self) -> dict[str, object]:
        """The keys as a scenario has them."""
        return {f"{CONTROL}.{key}": value for key, value in self.control.items()}


_COLLAPSE = (
    "a flow uses less than half of the least utilization in Table 1, so that the paper cannot have "
    "used this reading (see the part `block-readings`)"
)

READINGS = (
    Reading(BASE, {}, "k is an integer: int(c RTT) + 1 blocks, each of which waits as a whole"),
    Reading(
        "fractional k",
        FRACTIONAL,
        "in C the cast of (int)c*RTT+1 applies to c alone; with a floating-point k the number of "
        "blocks is c RTT + 1",
    ),
    Reading(
        "printed block length",
        PRINTED,
        "`number > block` counts floor(cwnd / k) + 2 packets per block",
    ),
    Reading(
        "no blocks",
        {"block_pacing": False},
        "the printed delay is negative whenever sending a block took longer than RTT / k, so that "
        "the simulated code may have delayed hardly any packet",
    ),
    Reading("one packet held", ONE_PACKET, _COLLAPSE, plausible=False),
    Reading(
        "one packet held, fractional k", {**ONE_PACKET, **FRACTIONAL}, _COLLAPSE, plausible=False
    ),
    Reading("blocks in slow start", IN_SLOW_START, _COLLAPSE, plausible=False),
    Reading(
        "blocks in slow start, fractional k",
        {**IN_SLOW_START, **FRACTIONAL},
        _COLLAPSE,
        plausible=False,
    ),
    Reading(
        "slow start, one packet held", {**IN_SLOW_START, **ONE_PACKET}, _COLLAPSE, plausible=False
    ),
    Reading(
        "slow start, one packet held, fractional k",
        {**IN_SLOW_START, **ONE_PACKET, **FRACTIONAL},
        _COLLAPSE,
        plausible=False,
    ),
    Reading(
        "to the letter",
        {**IN_SLOW_START, **ONE_PACKET, **FRACTIONAL, **PRINTED},
        f"the code as printed, with a floating-point k; {_COLLAPSE}",
        plausible=False,
    ),
)
PLAUSIBLE = tuple(reading for reading in READINGS if reading.plausible)
EXCLUDED = tuple(reading for reading in READINGS if not reading.plausible)
