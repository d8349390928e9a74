"""The buffer that explains a measurement, which `crates/tailroom-rules` estimates."""

import json
from dataclasses import dataclass

from tailroom import _engine
from tailroom.field_docs import with_field_docs
from tailroom.measurements.samples import Measurement


@with_field_docs
@dataclass(frozen=True)
class Condition:
    """A condition under which the largest delay shows the buffer."""

    statement: str
    """The condition."""
    holds: bool | None
    """Whether the measurement meets it; `None` if the measurement does not tell."""
    found: str
    """What the measurement shows."""


@with_field_docs
@dataclass(frozen=True)
class BufferEstimate:
    """The buffer of the bottleneck, in bytes of IP packets."""

    buffer_bytes: float | None
    """The buffer by the 95th percentile of the delay; `None` if it cannot be identified."""
    low_bytes: float | None
    """Lower end of the 95 % interval, also a lower bound of a buffer that cannot be identified;
    `None` if there is no bound."""
    high_bytes: float | None
    """Upper end of the 95 % interval; `None` if it cannot be identified."""
    packet_bytes: int
    """IP packet with full payload."""
    conditions: tuple[Condition, ...]
    """The conditions, each checked against the measurement."""
    sentence: str
    """The answer in words."""

    @property
    def failing(self) -> tuple[Condition, ...]:
        """The conditions that the measurement does not meet."""
        return tuple(one for one in self.conditions if one.holds is False)


def estimate_buffer(measured: Measurement, idle_rtt_s: float | None = None) -> BufferEstimate:
    """Estimates the buffer of the bottleneck.

    Args:
        measured: The measurement.
        idle_rtt_s: RTT of the idle path, in seconds; if left out, what the measurement has.
    """
    found = json.loads(_engine.estimate_buffer(json.dumps(measured.fields), idle_rtt_s))
    conditions = tuple(Condition(**one) for one in found["conditions"])
    return BufferEstimate(**{**found, "conditions": conditions})
