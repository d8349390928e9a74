"""What a model is, what it predicts, and how it says that it does not apply."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from tailroom.models.bottleneck import Bottleneck


@dataclass(frozen=True)
class Requirement:
    """What a required buffer is to achieve."""

    utilization: float = 0.98
    """Smallest utilization of the link, in (0, 1)."""
    loss_fraction: float = 1e-3
    """Largest share of packets that the buffer drops, in (0, 1)."""

    def __post_init__(self) -> None:
        for name, value in (("utilization", self.utilization), ("loss", self.loss_fraction)):
            if not 0 < value < 1:
                raise ValueError(f"target {name} {value:g}: give a number between 0 and 1")


@dataclass(frozen=True)
class Assumption:
    """A condition under which a model is derived, checked against the scenario."""

    statement: str
    """The condition, as a short sentence: "packets have one size"."""
    holds: bool
    """Whether the scenario meets it."""
    found: str
    """What the scenario has instead, with numbers: "40 B to 1500 B"; empty if it holds."""


def assume(statement: str, holds: bool, found: str = "") -> Assumption:
    """An assumption; what was found is kept only where it fails."""
    return Assumption(statement, bool(holds), "" if holds else found)


@dataclass(frozen=True)
class Prediction:
    """What a model says of a link. `None` where it says nothing."""

    utilization: float | None = None
    """Share of the link's rate in use, in [0, 1]."""
    loss_fraction: float | None = None
    """Packets dropped over packets that arrive, in [0, 1]."""
    queue_packets_mean: float | None = None
    """Packets that wait, the one in transmission not counted."""
    queue_delay_s_mean: float | None = None
    """Time in the queue before transmission."""
    required_packets: float | None = None
    """Smallest queue limit, in packets that wait, that meets the target; infinite if none does."""
    required_for: str = ""
    """What that limit is for, in a few words: "98 % utilization"."""
    details: Mapping[str, float] = field(default_factory=dict)
    """Further numbers of this model, by a name that ends in the unit."""


@dataclass(frozen=True)
class Model:
    """An analytic model of one bottleneck link."""

    name: str
    """As in the registry, on the command line and in JSON; the name of its file."""
    title: str
    """What it computes, in a few words."""
    source: str
    """Authors, year, and place in the publication."""
    assumptions: Callable[[Bottleneck], Sequence[Assumption]]
    """What the model supposes, checked. Called only where it applies."""
    predict: Callable[[Bottleneck, Requirement], Prediction]
    """The prediction.

    Raises:
        NotApplicableError: It has nothing to say, e.g. a rule for BBR where there is no BBR.
    """
