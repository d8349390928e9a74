"""BBRv1: its queue in the buffer, and the share of loss-based flows next to it."""

from tailroom import _engine
from tailroom.models.rules.rule import rule

in_flight_cap = _engine.bbr_in_flight_cap
loss_based_share = _engine.bbr_loss_based_share
probing_fraction = _engine.bbr_probing_fraction

MODEL = rule(name="bbr_buffer")
