"""Many flows that do not reduce together: a bandwidth-delay product over the root of their number.

The sum of n independent windows is nearly normal. A window is uniform between 2/3 and 4/3 of its
mean, so that its standard deviation is that mean over 3 sqrt(3), and the sum's is that of one sum
over sqrt(n).
"""

from math import erf, isfinite, sqrt
from statistics import NormalDist

from tailroom.models.assumptions import (
    counted,
    drop_tail,
    long_flows_alone,
    one_bottleneck,
    only_controls,
    steady_link,
    unbounded_windows,
)
from tailroom.models.bottleneck import Bottleneck
from tailroom.models.model import Assumption, Model, Prediction, Requirement, assume
from tailroom.models.traffic import need_permanent_flows

SPREAD = 1 / (3 * sqrt(3))
"""Standard deviation of a sawtooth window over its mean: (4/3 - 2/3) / sqrt(12)."""

MANY = 100
"""Number of flows beyond which they seldom reduce together."""

SMALL_WINDOW = 4.0
"""In packets; with fewer in flight, three duplicate ACKs cannot arrive, and losses time out."""


def utilization(limit: float, bdp: float, flows: int) -> float:
    """Lower bound of the utilization (Appenzeller, Keslassy, McKeown 2004).

    erf(3 sqrt(3) / (2 sqrt(2)) B sqrt(n) / (BDP + B)) with limit B and bandwidth-delay product in
    packets: the probability that the sum of windows is within B / 2 of its mean (BDP + B).
    """
    total = bdp + limit
    deviation = SPREAD * total / sqrt(flows)
    return erf(limit / (2 * sqrt(2) * deviation)) if total > 0 else 1.0


def required(target: float, bdp: float, flows: int) -> float:
    """Limit in packets at which that bound is the target in (0, 1); infinite if there is none."""
    # erf(x / sqrt(2)) is the probability that a normal variable is within x deviations.
    part = -2 * SPREAD / sqrt(flows) * NormalDist().inv_cdf((1 - target) / 2)
    return bdp * part / (1 - part) if part < 1 else float("inf")


def quantile(loss_fraction: float, bdp: float, flows: int) -> float:
    """Limit in packets that the sum of windows exceeds only with this probability.

    3.3 deviations of the sum, whose mean is the BDP, for 0.1 % (Wischik and McKeown 2005).
    """
    return -NormalDist().inv_cdf(loss_fraction / 2) * SPREAD * bdp / sqrt(flows)


def predict(link: Bottleneck, target: Requirement) -> Prediction:
    """The rule, C T / sqrt(n), and a lower bound of the utilization at any limit.

    The limit at which that bound is the target is another quantity, many times the rule for few
    flows: `details` has it as `erf_bound_packets`, if there is one.

    Raises:
        NotApplicableError: No permanent flow under congestion control crosses the link.
    """
    need_permanent_flows(link)
    bdp, flows = link.bdp_packets, link.flow_count
    bound = required(target.utilization, bdp, flows)
    return Prediction(
        utilization=utilization(link.limit_packets, bdp, flows),
        required_packets=bdp / sqrt(flows),
        required_for="C T / sqrt(n)",
        details={
            **({"erf_bound_packets": bound} if isfinite(bound) else {}),
            "quantile_packets": quantile(target.loss_fraction, bdp, flows),
        },
    )


def assumptions(link: Bottleneck) -> list[Assumption]:
    """Many long Reno flows whose windows are independent."""
    flows = link.flow_count
    window = (link.bdp_packets + link.limit_packets) / flows
    trips = {flow_class.rtt_s for flow_class in link.classes}
    return [
        only_controls(link, "reno"),
        assume(f"more than {MANY} flows", flows > MANY, counted(flows)),
        assume("round trips differ", len(trips) > 1, f"all take {1e3 * max(trips):.4g} ms"),
        assume(
            f"windows are larger than {SMALL_WINDOW:g} packets",
            window > SMALL_WINDOW,
            f"{window:.3g} packets",
        ),
        unbounded_windows(link),
        drop_tail(link),
        long_flows_alone(link),
        one_bottleneck(link),
        steady_link(link),
    ]


MODEL = Model(
    name="square_root_rule",
    title="Square root rule: bandwidth-delay product over the root of the number of flows",
    source="Appenzeller, Keslassy, McKeown 2004, SIGCOMM; Wischik, McKeown 2005, CCR 35(3)",
    assumptions=assumptions,
    predict=predict,
)
