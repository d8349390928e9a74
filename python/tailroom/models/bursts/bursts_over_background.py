"""One flow in bursts of its window over a Poisson background: the model Auge and Roberts announce.

docs/models/bursts-over-background.md derives it and compares it with simulation.
"""

from math import log

from tailroom.errors import NotApplicableError
from tailroom.models.assumptions import (
    drop_tail,
    fast_access,
    one_bottleneck,
    one_packet_size,
    steady_link,
    unbounded_windows,
)
from tailroom.models.bottleneck import Bottleneck, FlowClass
from tailroom.models.bursts.cycle import Cycle, Detail, cycle
from tailroom.models.bursts.growth import growth_of
from tailroom.models.bursts.queue import Loop
from tailroom.models.model import Assumption, Model, Prediction, Requirement, assume
from tailroom.models.numerics.smallest_limit import smallest_limit_near
from tailroom.written_numbers import significant

SEARCH = Detail(peaks=20, windows=24, lengths=40, densities=16, rounds=80)
"""Coarse resolution for searches: utilization within 0.005 of the fine resolution."""
SMALL_WINDOW = 10.0
"""At smaller windows a loss often ends in a timeout, which the model leaves out."""
NOTHING = 1e-6
"""Loads and residual capacities below this fraction of the rate count as zero."""
LEAST_LOAD = 0.02
"""Smallest load of the background. At smaller loads the flow alone fills the buffer, which the
model leaves out: at a load of 0.001 it predicts up to 0.07 more than the sawtooth of
a flow alone."""


def predict(link: Bottleneck, target: Requirement) -> Prediction:
    """Utilization, loss and queue; and the limit for the target utilization.

    `details` has the flow's part of the residual capacity, capacity times (1 - load). It may be a
    little above 1, because the background loses packets too.

    Raises:
        NotApplicableError: The link is not FIFO with DropTail, not one flow under congestion
            control crosses it, the background is missing or fills it, or the flow's control has no
            law of growth.
    """
    flow = the_flow(link)
    outcome = at_limit(link, link.limit_packets)
    need = required(link, target.utilization)
    load = background_load(link)
    return Prediction(
        utilization=outcome.utilization,
        loss_fraction=outcome.refused_density / (outcome.refused_density + outcome.utilization),
        queue_packets_mean=outcome.queue_packets,
        queue_delay_s_mean=outcome.queue_packets / (link.capacity_pps * outcome.utilization),
        required_packets=need,
        required_for=f"{100 * target.utilization:g} % utilization",
        details={
            "residual_utilization_fraction": outcome.flow_density / (1 - load),
            "flow_rate_bps": outcome.flow_density * link.rate_bps,
            "window_packets": outcome.window,
            "window_at_loss_packets": outcome.peak,
            "cycle_s": outcome.seconds,
            "rtt_s": flow.rtt_s + outcome.queue_packets / link.capacity_pps,
        },
    )


def at_limit(link: Bottleneck, limit: float, detail: Detail | None = None) -> Cycle:
    """The flow's stationary cycle with this limit, in packets that wait."""
    flow = the_flow(link)
    slots = flow.rtt_s * link.capacity_pps
    loop = Loop(background_load(link), max(1.0, limit), slots, phase_of(link, flow))
    return cycle(loop, growth_of(flow), 1 / link.capacity_pps, detail)


def required(link: Bottleneck, utilization: float) -> float:
    """The smallest limit with this utilization of the link, at the detail of a search."""

    def excess(limit: float) -> float:
        # The shortfall spans orders of magnitude; its logarithm is smoother.
        missing = 1 - at_limit(link, limit, SEARCH).utilization
        return log((1 - utilization) / max(missing, NOTHING * (1 - utilization)))

    # With this limit Reno nearly fills the link.
    guess = (1 - background_load(link)) * the_flow(link).rtt_s * link.capacity_pps
    return smallest_limit_near(excess, guess)


def phase_of(link: Bottleneck, flow: FlowClass) -> float:
    """How far in a slot a packet arrives that one which left as the slot began has called for."""
    access_s = 8 * flow.packet_bytes / flow.access_rate_bps
    phase = ((flow.rtt_s + access_s) * link.capacity_pps) % 1.0
    # Rounding errors below a whole number of slots count as that number.
    return 0.0 if phase > 1 - 1e-6 else phase


def the_flow(link: Bottleneck) -> FlowClass:
    """Returns the single flow that this link limits.

    Raises:
        NotApplicableError: There is no such flow, there are several, or the queue is not FIFO.
    """
    if link.discipline != "drop_tail":
        raise NotApplicableError(
            f"link {link.name}: {link.discipline} is not a queue in order of arrival with "
            "DropTail, in which bursts and background meet"
        )
    if link.flow_count != 1:
        raise NotApplicableError(
            f"link {link.name}: {link.flow_count} permanent flows under congestion control cross "
            "it; the model follows the bursts of one"
        )
    return link.classes[0]


def background_load(link: Bottleneck) -> float:
    """Returns the load of all traffic except permanent flows under congestion control, in (0, 1).

    Raises:
        NotApplicableError: The load is 0, or 1 or more.
    """
    load = link.stream_load + link.dynamic_load
    if not NOTHING < load < 1 - NOTHING:
        empty = load <= NOTHING
        why = "nothing is there to add to bursts" if empty else "nothing is left for the flow"
        raise NotApplicableError(
            f"link {link.name}: the background is {load:.3g} of its rate; {why}"
        )
    return load


def assumptions(link: Bottleneck) -> list[Assumption]:
    """One flow with an ACK per packet, alongside Poisson packets of the same size."""
    flow = the_flow(link)
    others = [
        (stream.group, stream.process) for stream in link.streams if stream.process != "poisson"
    ]
    others += [(group.group, group.process) for group in link.dynamic]
    window = at_limit(link, link.limit_packets, SEARCH).window
    return [
        assume(
            "the background is Poisson",
            not others,
            ", ".join(f"{group} is {process}" for group, process in others),
        ),
        assume(
            f"the background decides when packets are lost: a load of {LEAST_LOAD:g} or more",
            background_load(link) >= LEAST_LOAD,
            f"{background_load(link):.3g}",
        ),
        assume("packets are clocked by ACKs, not paced", not flow.pacing, "paced"),
        assume(
            "every packet has its ACK",
            flow.packets_per_ack == 1,
            f"an ACK for {flow.packets_per_ack} packets",
        ),
        assume(
            "the window is large enough to repair losses without timeouts",
            window >= SMALL_WINDOW,
            f"mean window {significant(window, 3)} packets",
        ),
        drop_tail(link),
        one_packet_size(link),
        fast_access(link),
        unbounded_windows(link),
        one_bottleneck(link),
        steady_link(link),
    ]


MODEL = Model(
    name="bursts_over_background",
    title="One flow's bursts over a Poisson background: hazard of each round trip",
    source="announced by Auge and Roberts 2006 sec. VI; derived in docs/models",
    assumptions=assumptions,
    predict=predict,
)
