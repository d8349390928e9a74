"""Rule of thumb: one bandwidth-delay product keeps a link busy after a window is halved."""

from tailroom.models.rules.rule import rule

MODEL = rule(name="rule_of_thumb")
