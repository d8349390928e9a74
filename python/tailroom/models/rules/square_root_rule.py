"""Many flows that do not reduce together: a bandwidth-delay product over the root of their number.

The limit at which the lower bound of the utilization is the target is another quantity, many times
the rule for few flows: `details` has it as `erf_bound_packets`, if there is one.
"""

from tailroom import _engine
from tailroom.models.rules.rule import rule

SPREAD = _engine.SQUARE_ROOT_SPREAD
"""Standard deviation of a sawtooth window over its mean: (4/3 - 2/3) / sqrt(12)."""

utilization = _engine.square_root_utilization
required = _engine.square_root_required
quantile = _engine.square_root_quantile

MODEL = rule(name="square_root_rule")
