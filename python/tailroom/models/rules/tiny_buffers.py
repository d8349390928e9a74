"""Tens of packets suffice if flows cannot fill the link: the buffer grows with log(window)."""

from tailroom import _engine
from tailroom.models.rules.rule import rule

kept = _engine.tiny_kept
required = _engine.tiny_required

MODEL = rule(name="tiny_buffers")
