"""Tens of packets suffice if flows cannot fill the link: the buffer grows with log(window).

Paced, or smoothed by access links, packets arrive nearly as a Poisson process of load rho, and the
buffer drops the part rho^B of them. A loss costs a flow at most W^2 / 2 packets, what its window
loses while it grows back from nothing to its bound W.
"""

from math import ceil, inf, log

from tailroom.models.assumptions import (
    drop_tail,
    one_bottleneck,
    one_packet_size,
    only_controls,
    steady_link,
)
from tailroom.models.bottleneck import Bottleneck, FlowClass
from tailroom.models.model import Assumption, Model, Prediction, Requirement, assume
from tailroom.models.numerics.smallest_limit import LEAST_LIMIT
from tailroom.models.traffic import need_load_below_one, need_permanent_flows, rate_limit_bps

SLOW_ACCESS = 0.01
"""Share of the link's rate below which an access link spreads a flow's packets far enough."""


def window_bound(flows: FlowClass) -> float:
    """Largest effective window, in packets, at least 1."""
    return max(1.0, rate_limit_bps(flows) * flows.rtt_s / (8 * flows.packet_bytes))


def kept(load: float, packets: float, window: float) -> float:
    """Least share in [0, 1] of its own rate limit that a flow gets.

    Its window is at most `window` packets; `packets` fit, with the packet in transmission. The
    inverse of Enachescu et al. 2006, Theorem 1: B >= log_{1/rho}(W^2 / (2 (1 - theta))).
    """
    return max(0.0, 1 - float(load**packets) * window**2 / 2)


def required(load: float, share: float, window: float) -> float:
    """Smallest whole limit, in waiting packets, that gives flows this share; at least 1."""
    packets = log(window**2 / (2 * (1 - share))) / log(1 / load)
    return max(LEAST_LIMIT, ceil(packets) - 1.0)


def predict(link: Bottleneck, target: Requirement) -> Prediction:
    """A lower bound of the utilization, and the limit for a share of what flows could send.

    Raises:
        NotApplicableError: No permanent flow under congestion control crosses the link, or such
            flows could fill it.
    """
    need_permanent_flows(link)
    load = need_load_below_one(link)
    window = max(window_bound(flow_class) for flow_class in link.classes)
    share = kept(load, link.system_packets, window)
    loss = load**link.system_packets
    others = link.stream_load + link.dynamic_load
    return Prediction(
        utilization=(load - others) * share + others * (1 - loss),
        loss_fraction=loss,
        required_packets=required(load, target.utilization, window),
        required_for=f"{target.utilization:.4g} of what is offered",
        details={
            "load_fraction": load,
            "kept_fraction": share,
            "window_packets_max": window,
        },
    )


def assumptions(link: Bottleneck) -> list[Assumption]:
    """Paced flows or slow access links, a load below 1, bounded windows."""
    rushing = [flow_class for flow_class in link.classes if not _is_smooth(link, flow_class)]
    groups = ", ".join(dict.fromkeys(group.group for group in rushing))
    fastest = max((group.access_rate_bps for group in rushing), default=inf)
    speed = "of any rate" if fastest == inf else f"of up to {fastest / 1e6:.4g} Mbit/s"
    streams = [stream.group for stream in link.streams if stream.process == "on_off"]
    return [
        assume(
            "flows are paced, or access links are a hundred times slower than the link",
            not rushing,
            f"{groups} unpaced, with access links {speed}",
        ),
        only_controls(link, "reno", "aimd"),
        assume("nothing else comes in bursts", not (link.dynamic or streams), "flows that do"),
        one_packet_size(link),
        drop_tail(link),
        one_bottleneck(link),
        steady_link(link),
    ]


def _is_smooth(link: Bottleneck, flows: FlowClass) -> bool:
    return flows.pacing or flows.access_rate_bps <= SLOW_ACCESS * link.rate_bps


MODEL = Model(
    name="tiny_buffers",
    title="Tiny buffers: the logarithm of the window, for links that flows cannot fill",
    source="Enachescu, Ganjali, Goel, McKeown, Roughgarden 2006, INFOCOM, Theorem 1",
    assumptions=assumptions,
    predict=predict,
)
