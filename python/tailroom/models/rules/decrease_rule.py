"""The buffer that keeps a link busy, from the decrease of a control: (1 - beta) / beta BDP."""

from tailroom import _engine
from tailroom.models.rules.rule import rule

minimum_utilization = _engine.decrease_minimum_utilization

MODEL = rule(name="decrease_rule")
