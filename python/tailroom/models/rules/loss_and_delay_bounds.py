"""A congested link: the buffer for full utilization and for few losses, and its delay."""

from tailroom import _engine
from tailroom.models.rules.rule import rule

harmonic_rtt_s = _engine.bounds_harmonic_rtt_s
loss = _engine.bounds_loss

MODEL = rule(name="loss_and_delay_bounds")
