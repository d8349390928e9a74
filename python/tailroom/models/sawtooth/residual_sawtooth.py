"""Long flows alongside unresponsive traffic: a sawtooth over the rest of the link."""

from tailroom.errors import NotApplicableError
from tailroom.models.assumptions import one_packet_size
from tailroom.models.bottleneck import Bottleneck
from tailroom.models.model import Assumption, Model, Prediction, Requirement, assume
from tailroom.models.numerics.smallest_limit import smallest_limit
from tailroom.models.sawtooth.cycle import cycle
from tailroom.models.sawtooth.sawtooth import (
    details,
    full_limit,
    sawtooth_assumptions,
    synchronised,
)

FAIR = ("fair",)
"""Disciplines that give the flows a buffer of their own."""


def predict(link: Bottleneck, target: Requirement) -> Prediction:
    """The sawtooth over the residual capacity C (1 - load).

    In a FIFO queue the other traffic takes part of the buffer: load Q of Q packets. Therefore the
    link is full only with a buffer of C times RTT. With fair queueing C (1 - load) times RTT is
    enough.

    Raises:
        NotApplicableError: There is no other traffic, it fills the link, or the sawtooth of the
            long flows does not apply.
    """
    load = others_load(link)
    left = 1 - load
    flows = synchronised(link, link.capacity_pps * left)
    share = 1.0 if link.discipline in FAIR else left
    flow_cycle = cycle(flows, link.limit_packets * share)
    need = smallest_limit(
        lambda limit: load + left * cycle(flows, limit * share).utilization >= target.utilization
    )
    return Prediction(
        utilization=min(1.0, load + left * flow_cycle.utilization),
        loss_fraction=min(
            1.0,
            flow_cycle.lost_packets
            / (flow_cycle.packets + _other_packets(link, flow_cycle.seconds)),
        ),
        queue_packets_mean=flow_cycle.queue_packets_mean / share,
        queue_delay_s_mean=flow_cycle.queue_delay_s_mean,
        required_packets=need,
        required_for=f"{100 * target.utilization:g} % utilization",
        details={
            **details(flow_cycle, full_limit(flows) / share),
            "flows_utilization_fraction": flow_cycle.utilization,
            "flows_rate_bps": link.rate_bps * left * flow_cycle.utilization,
        },
    )


def _other_packets(link: Bottleneck, seconds: float) -> float:
    """Returns the packets of the other traffic in `seconds` seconds."""
    streams = sum(stream.rate_bps / stream.packet_bytes for stream in link.streams)
    dynamic = sum(group.rate_bps / group.packet_bytes for group in link.dynamic)
    return (streams + dynamic) / 8 * seconds


def others_load(link: Bottleneck) -> float:
    """Returns the load of all traffic except permanent flows under congestion control, in (0, 1).

    Raises:
        NotApplicableError: The load is 0, or 1 or more.
    """
    load = link.stream_load + link.dynamic_load
    if load == 0:
        raise NotApplicableError(
            f"link {link.name}: long flows have it to themselves; see the model sawtooth"
        )
    if load >= 1:
        raise NotApplicableError(
            f"link {link.name}: other traffic offers {load:.3g} of its rate and leaves nothing"
        )
    return load


def assumptions(link: Bottleneck) -> list[Assumption]:
    """A smooth load alongside flows that share the rest equally and lose packets together."""
    left = 1 - others_load(link)
    sources = [(stream.group, stream.process) for stream in link.streams]
    sources += [(group.group, group.process) for group in link.dynamic]
    wild = [f"{group} is {process}" for group, process in sources if process != "cbr"]
    dynamic = [group.group for group in link.dynamic if group.peak_rate_bps > link.rate_bps / 10]
    own = [
        assumption
        for assumption in sawtooth_assumptions(link, link.capacity_pps * left)
        if assumption.statement != one_packet_size(link).statement
    ]
    if link.discipline in FAIR:
        own = [assumption for assumption in own if assumption.statement != "the buffer is DropTail"]
    return [
        assume(
            "the other traffic is smooth",
            not wild,
            ", ".join(wild),
        ),
        assume(
            "other flows are limited elsewhere, to a tenth of the link at most",
            not dynamic,
            ", ".join(dynamic),
        ),
        *own,
    ]


MODEL = Model(
    name="residual_sawtooth",
    title="Long flows with a given load: the sawtooth over the rest",
    source="Auge and Roberts 2006 sec. III, elastic regime",
    assumptions=assumptions,
    predict=predict,
)
