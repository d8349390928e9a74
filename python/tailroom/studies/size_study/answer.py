"""The answer to: how much buffer does this link need?"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import isfinite
from typing import TYPE_CHECKING

from tailroom.execution.point import repeats_itself
from tailroom.field_docs import with_field_docs
from tailroom.models import Bottleneck
from tailroom.simulation.metrics import find_metric
from tailroom.storage.run import metric_names
from tailroom.studies.phases import PhaseSpread
from tailroom.studies.prediction import Predictions
from tailroom.studies.size_study.accepted_limits import SmallestLimit
from tailroom.studies.size_study.notices import notices_of, percent
from tailroom.studies.size_study.search import Feasible, Stage, Tried
from tailroom.studies.size_study.targets import Target

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tailroom.simulation.result_types import RunWarning
    from tailroom.storage.store import Store

SHOWN_METRICS = ("utilization", "loss_fraction", "queue_delay_s_mean", "queue_delay_s_p99")
"""Metrics of the link that an answer shows for any targets."""
FAIRNESS = "flows.jain_index"
"""Metric that an answer shows if there are several flows."""


@with_field_docs
@dataclass(frozen=True)
class Size:
    """The smallest buffer of a link that meets every target, and the runs that show it."""

    link: Bottleneck
    """The link and its traffic."""
    link_chosen: str
    """Reason for the choice of this link; empty if it is the only link or the caller named it."""
    targets: tuple[Target, ...]
    """The bounds on metrics that the buffer must meet; last the bound on the loss that `size` adds
    where the caller limits no loss, if any buffer meets the others."""
    limit_packets: int | None
    """Smallest queue limit that meets every target with 95 % confidence, in packets. If no tested
    limit keeps to the loss that `size` adds as a bound, the smallest that meets the caller's
    targets; `None` if no tested limit meets those."""
    without_loss_target_packets: int | None
    """Smallest queue limit that meets the caller's targets, whatever it loses, in packets."""
    too_small_packets: int
    """Largest limit below the answer that misses a target with 95 % confidence, in packets; 0 if
    there is none. The runs are not conclusive for limits between the two."""
    tried: tuple[Tried, ...]
    """Every buffer that was simulated, in ascending order of the limit."""
    feasible: tuple[Feasible, ...]
    """The range of limits that meets each target, in the order of the targets."""
    predictions: Predictions = field(repr=False)
    """The buffers that the models require."""
    phases: tuple[PhaseSpread, ...]
    """The answer's metrics with shifted RTTs, those of the targets first; empty without an
    answer."""
    smallest_accepted: SmallestLimit
    """Smallest limit that the queue accepts, where the search ends."""
    warnings: tuple["RunWarning", ...]
    """Warnings of the answer's runs, each once; that runs are too short for their own figures only
    if they are too short for the answer."""
    store: "Store | None"
    """The store with the runs, if the caller gave a store or Ctrl-C ended the search."""

    def __repr__(self) -> str:
        """The answer in a sentence."""
        return f"<Size: {self.sentence}>"

    def _repr_html_(self) -> str:
        """A table and a picture, for notebooks."""
        from tailroom.reports.notebook import size_html  # noqa: PLC0415 - matplotlib takes a second

        return size_html(self)

    @property
    def loss_target(self) -> Target | None:
        """The bound on the loss that `size` adds; `None` if there is none."""
        return next((target for target in self.targets if target.is_default), None)

    @property
    def misses_loss_target(self) -> bool:
        """Whether the answer loses more, since no tested limit keeps to the added bound."""
        loss, chosen = self.loss_target, self.chosen
        return bool(loss and chosen and not chosen.verdicts.get(loss))

    def loss_of(self, packets: int) -> float | None:
        """Mean loss fraction of the link with a tested limit, in [0, 1]; `None` if unknown.

        Args:
            packets: The limit.
        """
        tried = next((one for one in self.tried if one.limit == packets), None)
        metric = f"links.{self.link.name}.loss_fraction"
        if tried is None or metric not in metric_names(tried.point.finished[0]):
            return None
        return tried.interval(metric).mean

    @property
    def price(self) -> str:
        """What the bound on the loss costs, or that no tested limit keeps to it; else empty."""
        loss, packets, without = (
            self.loss_target,
            self.limit_packets,
            self.without_loss_target_packets,
        )
        if loss is None or packets is None or without is None:
            return ""
        lost = self.loss_of(without)
        if lost is None:
            return ""
        if self.misses_loss_target:
            return (
                f"no tested limit keeps to {loss} as well; at {_packets(packets)}, "
                f"{percent(lost)} % of the packets are lost"
            )
        if without < packets:
            return (
                f"without {loss}, {_packets(without)} {'is' if without == 1 else 'are'} enough; "
                f"{percent(lost)} % of the packets are then lost"
            )
        return ""

    @property
    def sentence(self) -> str:
        """The answer with its units, the targets, and the number of buffers that were tried."""
        met = [one for one in self.targets if not (one.is_default and self.misses_loss_target)]
        targets = " and ".join(map(str, met))
        tried = f"{len(self.tried)} buffers were simulated"
        packets, link = self.limit_packets, self.link
        if packets is None:
            targets = " and ".join(str(one) for one in self.targets if not one.is_default)
            return f"no buffer of link {link.name} that was tried meets {targets}; {tried}"
        bdp = f", {packets / link.bdp_packets:.3g} bdp" if link.bdp_packets else ""
        size = f"{packets * link.packet_bytes:,.0f} bytes"
        too_few = self.too_small_packets
        known = f"{too_few:,} {'is' if too_few == 1 else 'are'} too few; " if too_few else ""
        price = f"{self.price}; " if self.price else ""
        return (
            f"link {link.name} needs {packets:,} packets ({size}, "
            f"{1e3 * packets / link.capacity_pps:.3g} ms{bdp}) for {targets}; {price}{known}{tried}"
        )

    @property
    def chosen(self) -> Tried | None:
        """The buffer of the answer with its runs; `None` without an answer."""
        return next((tried for tried in self.tried if tried.limit == self.limit_packets), None)

    @property
    def choices(self) -> list[Tried]:
        """The answer, its neighbours, and the tested buffers nearest to half and twice the answer.

        With them the smallest buffer for the caller's targets alone, if it is smaller.
        In ascending order, each once; empty without an answer.
        """
        packets = self.limit_packets
        if packets is None:
            return []
        smaller = [tried for tried in self.tried if tried.limit < packets]
        larger = [tried for tried in self.tried if tried.limit > packets]
        half, twice = _nearest(smaller, packets, 0.5), _nearest(larger, packets, 2)
        without = [one for one in smaller if one.limit == self.without_loss_target_packets]
        around = [*without, half, *smaller[-1:], self.chosen, *larger[:1], twice]
        around.sort(key=lambda tried: tried.limit if tried else 0)
        return list({tried.limit: tried for tried in around if tried}.values())

    @property
    def shown_metrics(self) -> list[str]:
        """Full names of the metrics that an answer shows: link, fairness, targets."""
        rows = next((tried.point.finished for tried in self.tried if tried.point.finished), [])
        names = [f"links.{self.link.name}.{metric}" for metric in SHOWN_METRICS]
        if self.link.flow_count > 1:
            names.append(FAIRNESS)
        known = metric_names(rows[0]) if rows else []
        names += [find_metric(target.metric, known) for target in self.targets if known]
        return list(dict.fromkeys(name for name in names if name in known))

    @property
    def repeats_itself(self) -> bool:
        """Whether all seeds give the same run: the scenario draws nothing at random."""
        finished = (tried.point.finished for tried in self.tried)
        return bool(self.tried) and all(map(repeats_itself, finished))

    @property
    def conflicts(self) -> list[tuple[Target, Target]]:
        """Pairs of targets that conflict: some buffers meet each of them, but none meets both."""
        met = [feasible for feasible in self.feasible if isfinite(feasible.low)]
        return [
            (first.target, second.target)
            for first, second in combinations(met, 2)
            if max(first.low, second.low) > min(first.high, second.high)
        ]

    @property
    def unresolved_targets(self) -> list[tuple[Target, int]]:
        """Bounds on loss for which the answer's runs are too short, with the number of packets.

        If none of n packets is lost, the loss fraction may be up to 3 / n with 95 % confidence
        (rule of three, Hanley and Lippman-Hand 1983), which is above these bounds.
        """
        unresolved = []
        for target in self.targets if self.chosen else ():
            rows = list(self.chosen.point.rows.values()) if self.chosen else []
            known = metric_names(rows[0])
            link, _, metric = find_metric(target.metric, known).rpartition(".")
            arrivals = f"{link}.arrivals_packets"
            if target.at_least or metric != "loss_fraction" or arrivals not in known:
                continue
            packets = sum(row[arrivals] for row in rows)
            lost = any(row[f"{link}.loss_fraction"] for row in rows)
            if not lost and target.bound * packets < 3:
                unresolved.append((target, int(packets)))
        return unresolved

    @property
    def notices(self) -> tuple[str, ...]:
        """What the answer costs or cannot tell beyond the targets, a sentence each.

        Heavy loss and small shares at the answer that no target limits, and a smallest limit that
        the queue accepts where it may hide a smaller answer.
        """
        chosen, smallest = self.chosen, self.smallest_accepted
        if chosen is None:
            return ()
        ends = (smallest.notice,) if chosen.limit == smallest.packets > 1 else ()
        return (*ends, *notices_of(chosen, self.link, self.targets))

    def plot(self) -> "Figure":
        """Draws the metric of each target over the buffer, and utilization against delay."""
        from tailroom.plots import size_curves  # noqa: PLC0415 - matplotlib takes a second

        return size_curves.draw(self)


def _packets(number: int) -> str:
    return f"{number:,} packet{'' if number == 1 else 's'}"


def _nearest(tried: Sequence[Tried], packets: int, factor: float) -> Tried | None:
    """The buffer nearest to `factor` times `packets` on a logarithmic scale."""
    wanted = factor * packets
    ratios = {buffer.limit: max(buffer.limit / wanted, wanted / buffer.limit) for buffer in tried}
    return min(tried, key=lambda buffer: ratios[buffer.limit], default=None)


@with_field_docs
@dataclass(frozen=True)
class SizeProgress:
    """Progress of a search."""

    runs: int
    """Number of finished runs, without those that were in the store before."""
    expected_runs: int
    """Estimate of the total number of runs."""
    low: int
    """Largest limit known to be too small, in packets; 0 if none is known."""
    high: float
    """Smallest limit known to suffice, in packets; infinite if none is known."""
    stage: Stage = "search"
    """What is being done: `"search"`, `"confirm"` (the answer is repeated with more seeds),
    `"beside"` (about half and twice the answer), `"phases"` (the phase check of the answer) or
    `"models"` (the models at the answer's limit)."""
