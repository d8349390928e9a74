"""Many Reno flows at a small buffer: the fixed point of their windows and its stability."""

from tailroom import _engine
from tailroom.models.rules.rule import rule

window = _engine.stability_window
margin = _engine.stability_margin
fixed_point = _engine.stability_fixed_point

MODEL = rule(name="stability")
