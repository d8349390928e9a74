"""The answer to: how much buffer does this link need?"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING

from tailroom.execution.point import repeats_itself
from tailroom.models import Bottleneck
from tailroom.simulation.metrics import find_metric, names_of
from tailroom.storage.store import Store
from tailroom.studies.phases import PhaseSpread
from tailroom.studies.prediction import Predictions
from tailroom.studies.size_study.search import Feasible, Tried
from tailroom.studies.size_study.targets import Target

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN_METRICS = ("utilization", "loss_fraction", "queue_delay_s_mean", "queue_delay_s_p99")
"""Metrics of the link that an answer is shown with, whatever the goals are."""
FAIRNESS = "flows.jain_index"
"""Metric that an answer is shown with if there are several flows."""


@dataclass(frozen=True)
class Size:
    """The answer to: how much buffer does this link need?"""

    link: Bottleneck
    link_chosen: str
    """Why this link: empty where there is no other, or it was named."""
    goals: tuple[Target, ...]
    limit_packets: int | None
    """Smallest limit that meets every goal with 95 % confidence, in packets that wait; `None` if
    none of those tried does."""
    too_small_packets: int
    """Largest limit below the answer that misses a goal with 95 % confidence; 0 if none does.
    Between the two, the runs do not decide."""
    tried: tuple[Tried, ...]
    """Every buffer that was simulated, by limit."""
    feasible: tuple[Feasible, ...]
    """Where each goal is met, in the order of the goals."""
    predictions: Predictions = field(repr=False)
    """What the models ask for."""
    phases: tuple[PhaseSpread, ...]
    """The answer's metrics with shifted RTTs, the goals' first; empty without an answer."""
    store: Store | None
    """Where the runs are, if they were to be kept, or if Ctrl-C ended the search."""

    def __repr__(self) -> str:
        """The answer in a sentence."""
        return f"<Size: {self.sentence}>"

    def _repr_html_(self) -> str:
        """A table and a picture, for notebooks."""
        from tailroom.reports.notebook import size_html  # noqa: PLC0415 - matplotlib takes a second

        return size_html(self)

    @property
    def sentence(self) -> str:
        """The answer with its units, the targets, and the number of buffers that were tried."""
        targets = " and ".join(map(str, self.goals))
        tried = f"{len(self.tried)} buffers were simulated"
        packets, link = self.limit_packets, self.link
        if packets is None:
            return f"no buffer of link {link.name} that was tried meets {targets}; {tried}"
        bdp = f", {packets / link.bdp_packets:.3g} bdp" if link.bdp_packets else ""
        size = f"{packets * link.packet_bytes:,.0f} bytes"
        too_few = self.too_small_packets
        known = f"{too_few:,} {'is' if too_few == 1 else 'are'} too few; " if too_few else ""
        return (
            f"link {link.name} needs {packets:,} packets ({size}, "
            f"{1e3 * packets / link.capacity_pps:.3g} ms{bdp}) for {targets}; {known}{tried}"
        )

    @property
    def chosen(self) -> Tried | None:
        """The answer's own runs."""
        return next((one for one in self.tried if one.limit == self.limit_packets), None)

    @property
    def choices(self) -> list[Tried]:
        """The answer between what other choices give: about half, the next ones, about twice.

        In ascending order, each once; empty without an answer.
        """
        packets = self.limit_packets
        if packets is None:
            return []
        smaller = [one for one in self.tried if one.limit < packets]
        larger = [one for one in self.tried if one.limit > packets]
        half, twice = (_nearest(some, packets, by) for some, by in ((smaller, 0.5), (larger, 2)))
        around = [half, *smaller[-1:], self.chosen, *larger[:1], twice]
        return list({one.limit: one for one in around if one}.values())

    @property
    def shown_metrics(self) -> list[str]:
        """Metrics that an answer is shown with: the link's, fairness, and those of the goals."""
        rows = next((one.point.finished for one in self.tried if one.point.finished), [])
        names = [f"links.{self.link.name}.{metric}" for metric in SHOWN_METRICS]
        if self.link.flow_count > 1:
            names.append(FAIRNESS)
        known = names_of(rows[0]) if rows else []
        names += [find_metric(goal.metric, known) for goal in self.goals if known]
        return list(dict.fromkeys(name for name in names if name in known))

    @property
    def repeats_itself(self) -> bool:
        """Whether seeds make no difference: the scenario draws nothing at random."""
        return bool(self.tried) and all(repeats_itself(one.point.finished) for one in self.tried)

    @property
    def conflicts(self) -> list[tuple[Target, Target]]:
        """Pairs of goals that are met by some buffers each, and by none together."""
        pairs = [
            (one, other)
            for place, one in enumerate(self.feasible)
            for other in self.feasible[place + 1 :]
            if isfinite(one.low) and isfinite(other.low)
        ]
        apart = [(a, b) for a, b in pairs if max(a.low, b.low) > min(a.high, b.high)]
        return [(one.goal, other.goal) for one, other in apart]

    @property
    def unresolved_targets(self) -> list[tuple[Target, int]]:
        """Bounds on loss that the answer's runs are too short to show, with their packets.

        None was lost, and by the rule of three (Hanley, Lippman-Hand 1983) up to 3 in so many may
        be expected all the same.
        """
        found = []
        for goal in self.goals if self.chosen else ():
            rows = list(self.chosen.point.rows.values()) if self.chosen else []
            known = names_of(rows[0])
            link, _, metric = find_metric(goal.metric, known).rpartition(".")
            arrivals = f"{link}.arrivals_packets"
            if goal.at_least or metric != "loss_fraction" or arrivals not in known:
                continue
            packets = sum(row[arrivals][0].as_py() for row in rows)
            lost = any(row[f"{link}.loss_fraction"][0].as_py() for row in rows)
            if not lost and goal.bound * packets < 3:
                found.append((goal, int(packets)))
        return found

    def plot(self) -> "Figure":
        """Draws each goal's metric over the buffer, and utilization against delay."""
        from tailroom.plots import size_curves  # noqa: PLC0415 - matplotlib takes a second

        return size_curves.draw(self)


def _nearest(tried: Sequence[Tried], packets: int, factor: float) -> Tried | None:
    """The buffer that comes nearest to a multiple of another, on a logarithmic scale."""
    wanted = factor * packets
    ratios = {one.limit: max(one.limit / wanted, wanted / one.limit) for one in tried}
    return min(tried, key=lambda one: ratios[one.limit], default=None)


@dataclass(frozen=True)
class SizeProgress:
    """How far the search is."""

    runs: int
    """Runs that were done; those that the store held already are not counted."""
    expected_runs: int
    """How many there will be, about."""
    low: int
    """Largest limit known to be too small, or 0."""
    high: float
    """Smallest limit known to suffice; infinite before one is found."""
