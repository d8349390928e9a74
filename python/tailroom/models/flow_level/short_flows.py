"""Flows so short that slow start sends them: bursts that double.

Bursts arrive as a Poisson process, and each stands in the queue at once: M^[X]/D/1. What the buffer
must hold depends on load and bursts, not on the rate of the link, round trips or number of flows.
"""

from collections.abc import Iterator
from math import ceil, exp, floor, inf, log

import numpy as np
from numpy.typing import NDArray

from tailroom.errors import NotApplicableError
from tailroom.models.assumptions import drop_tail, one_bottleneck, one_packet_size, steady_link
from tailroom.models.bottleneck import Bottleneck, DynamicFlows
from tailroom.models.model import Assumption, Model, Prediction, Requirement, assume
from tailroom.models.numerics.root import root_between
from tailroom.models.traffic import need_load_below_one
from tailroom.written_numbers import number, rate

Numbers = NDArray[np.float64]
Bursts = Iterator[tuple[Numbers, Numbers]]


def slow_start_bursts(packets: Numbers, initial_window: int, max_window: float) -> Bursts:
    """Returns the bursts of flows of these sizes: the initial window, twice that window, and so on.

    Each entry is a size in packets and the number of bursts of that size.
    """
    remaining = packets.astype(float)
    largest = max(1.0, floor(max_window) if max_window < inf else inf)
    window = min(float(initial_window), largest)
    while remaining.any():
        if window == largest:
            # The rest is sent in full windows and a smaller last window.
            yield np.array([window]), np.array([(remaining // window).sum()])
            remaining = remaining % window
        burst = np.minimum(remaining, window)
        sizes, counts = np.unique(burst[burst > 0], return_counts=True)
        yield sizes, counts.astype(float)
        remaining = remaining - burst
        window = min(2 * window, largest)


def bursts(link: Bottleneck) -> tuple[Numbers, Numbers]:
    """Returns the burst sizes in packets on a link, with their arrivals per second."""
    by_source = [
        (np.ones(1), np.array([stream.rate_bps / (8 * stream.packet_bytes)]))
        for stream in link.streams
    ]
    for group in link.dynamic:
        by_source += _bursts_of(group)
    all_sizes = np.concatenate([size for size, _ in by_source])
    sizes, index = np.unique(all_sizes, return_inverse=True)
    rates = np.bincount(index, weights=np.concatenate([rate for _, rate in by_source]))
    return sizes, rates.astype(float)


def _bursts_of(group: DynamicFlows) -> Bursts:
    if group.congestion is None or not group.sizes_bytes:
        yield np.ones(1), np.array([group.rate_bps / (8 * group.packet_bytes)])
        return
    payload = group.packet_bytes - group.header_bytes
    packets = np.ceil(np.array(group.sizes_bytes) / payload)
    for sizes, counts in slow_start_bursts(packets, group.initial_window, group.max_window):
        yield sizes, counts * (group.arrivals_per_s / len(packets))


def decay(sizes: Numbers, rates: Numbers, load: float) -> float:
    """Decay of P(Q >= x) per packet: 2 (1 - rho) / rho E[X] / E[X^2] (Appenzeller et al. 2004).

    The paper calls this a bound, which is true in heavy traffic only: at a load of 0.5 the formula
    gives 0.001 where the queue has 0.01.
    """
    return float(2 * (1 - load) / load * (rates @ sizes) / (rates @ sizes**2))


def exact_decay(sizes: Numbers, rates: Numbers, load: float) -> float:
    """Decay a packet at which P(Q >= x) <= exp(-decay x) for every x (Lundberg's inequality).

    The root s of rho (E[exp(s X)] - 1) / E[X] = s; `decay` is what its series to the second order
    gives, and is never smaller.
    """
    mean = float(rates @ sizes)
    largest = float(sizes.max())

    def excess(s: float) -> float:
        return float(load * (rates @ np.expm1(s * sizes)) / mean - s)

    upper = min(decay(sizes, rates, load), 600 / largest)
    # At the second order's root the higher orders make the excess positive.
    if excess(upper) <= 0:
        return upper
    return root_between(excess, 1e-9 * upper, upper, relative=1e-12)


def predict(link: Bottleneck, target: Requirement) -> Prediction:
    """Loss at the limit that the link has, and the limit that loses no more than the target.

    Raises:
        NotApplicableError: The link has no dynamic flows, or their load is not between 0 and 1.
    """
    if not any(group.congestion for group in link.dynamic):
        raise NotApplicableError(
            f"link {link.name}: no dynamic flows under congestion control cross it"
        )
    if link.classes:
        raise NotApplicableError(
            f"link {link.name}: {link.flow_count} permanent flows outlast slow start"
        )
    load = need_load_below_one(link)
    sizes, rates = bursts(link)
    theta = decay(sizes, rates, load)
    exact = exact_decay(sizes, rates, load)
    mean = float(rates @ sizes**2 / (rates @ sizes))
    return Prediction(
        utilization=load,
        loss_fraction=exp(-theta * link.limit_packets),
        required_packets=float(ceil(log(1 / target.loss_fraction) / theta)),
        required_for=f"a loss of {target.loss_fraction:.4g}",
        details={
            "load_fraction": load,
            "burst_packets_mean": float(rates @ sizes / rates.sum()),
            "burst_of_a_packet_packets_mean": mean,
            "burst_packets_max": float(sizes.max()),
            "loss_bound_fraction": exp(-exact * link.limit_packets),
            "required_bound_packets": float(ceil(log(1 / target.loss_fraction) / exact)),
        },
    )


def assumptions(link: Bottleneck) -> list[Assumption]:
    """Poisson arrivals of short flows on access links that do not spread their bursts."""
    sizes, _ = bursts(link)
    largest = float(sizes.max(initial=0.0))
    regular = [group.group for group in link.dynamic if not group.poisson]
    slowest = min((group.peak_rate_bps for group in link.dynamic), default=inf)
    room = link.limit_packets + min(
        (group.rtt_s * link.capacity_pps for group in link.dynamic), default=0.0
    )
    return [
        assume("flows arrive as a Poisson process", not regular, ", ".join(regular)),
        assume(
            "access links are no slower than the link",
            slowest >= link.rate_bps,
            rate(slowest),
        ),
        assume(
            "flows end in slow start: link and buffer hold the largest burst",
            largest <= room,
            f"a burst of {number(largest)} packets, and room for {number(room)}",
        ),
        one_packet_size(link),
        drop_tail(link),
        one_bottleneck(link),
        steady_link(link),
    ]


MODEL = Model(
    name="short_flows",
    title="Short flows: bursts of slow start at a link that they do not fill",
    source="Appenzeller, Keslassy, McKeown 2004, SIGCOMM, short flows",
    assumptions=assumptions,
    predict=predict,
)
