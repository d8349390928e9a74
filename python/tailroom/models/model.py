"""The interface of models: requirement, assumptions, prediction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tailroom.errors import ArgumentError
from tailroom.field_docs import with_field_docs
from tailroom.models.bottleneck import Bottleneck


@with_field_docs
@dataclass(frozen=True)
class Requirement:
    """The utilization and the loss that a required buffer must achieve.

    Raises:
        ArgumentError: A number is not between 0 and 1.
    """

    utilization: float = 0.98
    """Smallest utilization of the link, in (0, 1)."""
    loss_fraction: float = 1e-3
    """Largest share of packets that the buffer drops, in (0, 1)."""

    def __post_init__(self) -> None:
        for name, value in (("utilization", self.utilization), ("loss", self.loss_fraction)):
            if not 0 < value < 1:
                raise ArgumentError(f"target {name} {value:g}: give a number between 0 and 1")


@with_field_docs
@dataclass(frozen=True)
class Assumption:
    """A condition under which a model is derived, checked against the scenario."""

    statement: str
    """The condition, as a short sentence: "packets have one size"."""
    holds: bool
    """Whether the scenario meets it."""
    found: str
    """The scenario's value if the assumption fails: "40 B to 1500 B"; else empty."""


def assume(statement: str, holds: bool, found: str = "") -> Assumption:
    """Returns an assumption; `found` is kept only if the assumption fails.

    Args:
        statement: The condition, as a short sentence.
        holds: Whether the scenario meets it.
        found: The scenario's value if it does not.
    """
    return Assumption(statement, bool(holds), "" if holds else found)


@with_field_docs
@dataclass(frozen=True)
class Prediction:
    """Prediction of a model for a link; `None` for quantities that the model does not predict."""

    utilization: float | None = None
    """Share of the link's rate in use, in [0, 1]."""
    loss_fraction: float | None = None
    """Packets dropped over packets that arrive, in [0, 1]."""
    queue_packets_mean: float | None = None
    """Mean number of waiting packets, without the packet in transmission."""
    queue_delay_s_mean: float | None = None
    """Mean time in the queue before transmission."""
    required_packets: float | None = None
    """Smallest queue limit that meets the requirement, in waiting packets; infinite if no limit
    does."""
    required_for: str = ""
    """Requirement of that limit, in a few words: "98 % utilization"."""
    details: Mapping[str, float] = field(default_factory=dict)
    """Further numbers of the model, by name; the last word of a name is the unit."""


@with_field_docs
@dataclass(frozen=True)
class Model:
    """An analytic model of one bottleneck link."""

    name: str
    """Name in the registry, on the command line and in JSON; the name of its file."""
    title: str
    """The method, in a few words."""
    source: str
    """Authors, year, and place in the publication."""
    assumptions: Callable[[Bottleneck], Sequence[Assumption]]
    """Checks the assumptions of the model; called only if the model applies to the link."""
    predict: Callable[[Bottleneck, Requirement], Prediction]
    """Computes the prediction for a link.

    Raises:
        NotApplicableError: The model does not apply, e.g. a rule for BBR without BBR flows.
    """
    is_slow: bool = False
    """Whether a prediction takes as long as many runs. Such a model requires no buffer, so that
    `tailroom size` does not ask it."""
