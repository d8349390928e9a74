"""Window laws against M/M/1/K: the fixed point of Barman, Smaragdakis and Matta 2004."""

from collections.abc import Callable
from functools import partial

from tailroom.models.assumptions import drop_tail, one_packet_size
from tailroom.models.bottleneck import Bottleneck
from tailroom.models.fixed_point.solution import (
    Demand,
    FixedPoint,
    Laws,
    Queue,
    limit_for_loss,
    limit_for_utilization,
    whole_places,
)
from tailroom.models.fixed_point.solution import assumptions as of_every_fixed_point
from tailroom.models.fixed_point.solution import solve as solve_queue
from tailroom.models.model import Assumption, Model, Prediction, Requirement, assume
from tailroom.models.numerics.queue_chains import Stationary, md1k, mm1k

CHAINS: dict[str, Callable[[float, int], Stationary]] = {"mm1k": mm1k, "md1k": md1k}


def solve(link: Bottleneck, *, chain: str = "mm1k", laws: Laws | None = None) -> FixedPoint:
    """The load at which flows and buffer agree (Barman et al. 2004 Eqs. 4 and 5).

    sum of N_i lambda_i(p(rho), R_i + wait(rho)) = rho C, where lambda is a window law's window over
    the round trip. Capacity and packets are those of the link's mean packet; a window's bound and
    an access link's rate bound lambda. Streams add what they send.

    Args:
        link: The link; only whole packets fit.
        chain: `mm1k`, or `md1k` for packets of one size.
        laws: Window laws by congestion control, in place of the usual ones.

    Raises:
        NotApplicableError: A congestion control has no window law, or nothing crosses the link.
    """
    places = whole_places(link)
    return solve_queue(_queues(chain)(places), Demand(link, laws), places)


def _queues(chain: str) -> Callable[[int], Queue]:
    stationary = CHAINS[chain]
    return lambda places: lambda log_load: stationary(log_load, places)


def predict(
    link: Bottleneck, target: Requirement, *, chain: str = "mm1k", laws: Laws | None = None
) -> Prediction:
    """Predicts from the fixed point; the required limit is that for the target utilization.

    Raises:
        NotApplicableError: As `solve`.
    """
    demand, places, queue_with = Demand(link, laws), whole_places(link), _queues(chain)
    return solve_queue(queue_with(places), demand, places).prediction(
        limit_for_utilization(queue_with, demand, target.utilization),
        f"{100 * target.utilization:.6g} % utilization",
        required_for_loss_packets=limit_for_loss(queue_with, demand, target.loss_fraction),
    )


def assumptions(
    link: Bottleneck, *, chain: str = "mm1k", laws: Laws | None = None
) -> list[Assumption]:
    """A Poisson stream at a DropTail buffer, and window laws that hold on average."""
    sizes = one_packet_size(link) if chain == "md1k" else exponential_sizes(link)
    fixed_point = solve(link, chain=chain, laws=laws)
    return [drop_tail(link), sizes, *of_every_fixed_point(link, fixed_point)]


def exponential_sizes(link: Bottleneck) -> Assumption:
    """Transmission times vary as the exponential distribution does."""
    fixed = bool(link.classes or link.dynamic) or any(stream.fixed_size for stream in link.streams)
    sizes = " and ".join(f"{size} B" for size in sorted(link.packet_sizes_bytes))
    return assume("packet sizes are exponential", not fixed, f"they are {sizes}")


MODEL = Model(
    name="drop_tail_fixed_point",
    title="Window laws against M/M/1/K",
    source="Barman, Smaragdakis and Matta 2004, Eqs. 4 and 5",
    assumptions=assumptions,
    predict=predict,
)
MODEL_MD1K = Model(
    name="drop_tail_fixed_point_md1k",
    title="Window laws against M/D/1/K",
    source="Barman, Smaragdakis and Matta 2004, with packets of one size",
    assumptions=partial(assumptions, chain="md1k"),
    predict=partial(predict, chain="md1k"),
)
"""Packets of one size in place of exponential ones."""
