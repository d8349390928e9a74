"""Elastic flows that share the residual rate: their number in progress and their rates.

With Poisson arrivals of elastic flows that share the residual rate equally, the number in progress
is geometric for any distribution of sizes. If a peak rate limits each flow, a few flows do not slow
each other down, and the number is that of a queue with as many servers as peak rates fit.
"""

from dataclasses import dataclass
from math import floor, inf

from tailroom.errors import NotApplicableError
from tailroom.models.assumptions import one_bottleneck, steady_link
from tailroom.models.bottleneck import Bottleneck, DynamicFlows
from tailroom.models.model import Assumption, Model, Prediction, Requirement, assume
from tailroom.models.numerics import poisson

LONG = 10.0
"""Round trips after which a flow has reached its share."""

FAIR = frozenset({"fair", "fq_codel", "fq_pie"})
"""Disciplines that give flows equal shares."""


@dataclass(frozen=True)
class Sharing:
    """Elastic flows on a residual rate."""

    load: float
    """Load of the elastic flows on the residual rate, in (0, 1)."""
    room: float
    """How many flows fit at their peak rate, in parts too: residual rate over peak rate; 0 if they
    have none."""

    def _parts(self) -> tuple[float, float, float, float]:
        """Weight and sum of numbers, of the states up to room and of those beyond."""
        # Up to m flows each has its peak rate: Poisson with mean m rho. Beyond, every further flow
        # is rho times as likely.
        mean, last = self.room * self.load, floor(self.room)
        at_last = poisson.probability(last, mean)
        ratio = self.load / (1 - self.load)
        below = poisson.up_to(last, mean)
        below_sum = mean * poisson.up_to(last - 1, mean) if last else 0.0
        return below, below_sum, at_last * ratio, at_last * ratio * (last + 1 / (1 - self.load))

    def flows(self) -> float:
        """Mean number of flows in progress."""
        below, below_sum, beyond, beyond_sum = self._parts()
        return (below_sum + beyond_sum) / (below + beyond)

    def limited_time(self) -> float:
        """Share of the time in which the flows in progress have less than their peak rate."""
        below, _, beyond, _ = self._parts()
        return beyond / (below + beyond)

    def limited_flows(self) -> float:
        """Mean number of flows that have less than their peak rate."""
        below, _, beyond, beyond_sum = self._parts()
        return beyond_sum / (below + beyond)


def split(link: Bottleneck) -> tuple[list[DynamicFlows], float]:
    """Returns the dynamic elastic flows, and the load of all other traffic.

    The other traffic consists of streams, media flows, and elastic flows with a smaller peak rate.
    Its load is a fraction of the link's rate.

    Raises:
        NotApplicableError: The link has no dynamic elastic flows.
    """
    elastic = [group for group in link.dynamic if group.congestion]
    if not elastic:
        raise NotApplicableError(
            f"link {link.name}: no dynamic flows under congestion control cross it"
        )
    # A peak rate above the link's rate does not limit the flow.
    peak = max(min(group.peak_rate_bps, link.rate_bps) for group in elastic)
    fastest = [group for group in elastic if group.peak_rate_bps >= peak]
    load = sum(group.rate_bps for group in fastest) / link.rate_bps
    return fastest, max(0.0, link.stream_load + link.dynamic_load - load)


def sharing_of(link: Bottleneck) -> tuple[Sharing, float]:
    """Returns how flows share a link, and the residual rate in bit/s.

    Raises:
        NotApplicableError: No dynamic elastic flows, or a load that is not between 0 and 1.
    """
    elastic, background = split(link)
    offered = sum(group.rate_bps for group in elastic) / link.rate_bps
    if not 0 < offered < 1 - background:
        raise NotApplicableError(
            f"link {link.name}: the offered load is {offered + background:.4g}; the number of "
            "flows settles at loads between 0 and 1"
        )
    residual = link.rate_bps * (1 - background)
    peak = min(group.peak_rate_bps for group in elastic)
    room = residual / peak if peak < residual else 0.0
    return Sharing(offered / (1 - background), room), residual


def predict(link: Bottleneck, _target: Requirement) -> Prediction:
    """How many flows are in progress and how fast they are; utilization is the offered load.

    Raises:
        NotApplicableError: No dynamic elastic flows, or a load that is not between 0 and 1.
    """
    sharing, residual = sharing_of(link)
    flows = sharing.flows()
    offered = sharing.load * residual
    background = link.rate_bps - residual
    return Prediction(
        utilization=(offered + background) / link.rate_bps,
        details={
            "present_flows_mean": flows,
            "bottlenecked_flows_mean": sharing.limited_flows(),
            "bottlenecked_time_fraction": sharing.limited_time(),
            "flow_rate_bps_mean": offered / flows,
            "residual_rate_bps": residual,
            "residual_load_fraction": sharing.load,
        },
    )


def assumptions(link: Bottleneck) -> list[Assumption]:
    """Poisson arrivals of flows that last many round trips and share equally."""
    elastic, _ = split(link)
    sharing, residual = sharing_of(link)
    regular = [group.group for group in elastic if not group.poisson]
    rate = sharing.load * residual / sharing.flows()
    lengths = [
        8 * group.wire_bytes_mean / rate / group.rtt_s if group.rtt_s else inf for group in elastic
    ]
    slower = [group for group in link.dynamic if group.congestion and group not in elastic]
    held_up = [
        group.group for group in slower if group.peak_rate_bps > residual * (1 - sharing.load)
    ]
    peaks = sorted({min(group.peak_rate_bps, link.rate_bps) for group in elastic})
    return [
        assume("flows arrive as a Poisson process", not regular, ", ".join(regular)),
        assume("a fair queue gives flows equal shares", link.discipline in FAIR, link.discipline),
        assume(
            f"flows last more than {LONG:g} round trips",
            min(lengths) > LONG,
            f"{min(lengths):.3g} on average",
        ),
        assume("flows have one peak rate", len(peaks) == 1, f"{len(peaks)} of them"),
        assume(
            "flows with a smaller peak rate have it at all times",
            not held_up,
            f"{', '.join(held_up)} would have more than the fair rate of "
            f"{residual * (1 - sharing.load) / 1e6:.4g} Mbit/s",
        ),
        assume(
            "no permanent flows share the link", not link.classes, f"{link.flow_count} of them do"
        ),
        one_bottleneck(link),
        steady_link(link),
    ]


MODEL = Model(
    name="processor_sharing",
    title="Processor sharing: how many elastic flows, and how fast",
    source="Auge, Roberts 2006, NGI, sec. III.B; Fredj et al. 2001, SIGCOMM",
    assumptions=assumptions,
    predict=predict,
)
