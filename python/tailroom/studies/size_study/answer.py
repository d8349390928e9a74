"""The answer to: how much buffer does this link need?"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import combinations
from math import isfinite
from typing import TYPE_CHECKING, Any

from tailroom.execution.point import repeats_itself
from tailroom.export.other_tools import as_texts, equivalents
from tailroom.field_docs import with_field_docs
from tailroom.models import Bottleneck
from tailroom.simulation.any_result import AnyResult, Tables
from tailroom.simulation.metrics import find_metric
from tailroom.simulation.progress import Progress
from tailroom.simulation.run_warnings import SEEDS_CHANGE_NOTHING, once
from tailroom.statistics.outcome import Outcome
from tailroom.storage.run import RunsInMemory, metric_names
from tailroom.studies.phases import PhaseSpread
from tailroom.studies.prediction import Predictions
from tailroom.studies.size_study.accepted_limits import SmallestLimit
from tailroom.studies.size_study.answer_warnings import answer_warnings, percent
from tailroom.studies.size_study.regression import LimitInterval
from tailroom.studies.size_study.search import Feasible, Stage, Tried
from tailroom.studies.size_study.targets import Target

if TYPE_CHECKING:
    import pyarrow as pa

    from tailroom.simulation.result_types import RunWarning
    from tailroom.storage.store import Store

SHOWN_METRICS = ("utilization", "loss_fraction", "queue_delay_s_mean", "queue_delay_s_p99")
"""Metrics of the link that an answer shows for any targets."""
FAIRNESS = "flows.jain_index"
"""Metric that an answer shows if there are several flows."""


@with_field_docs
@dataclass(frozen=True)
class Size(AnyResult):
    """The smallest buffer of a link that meets every target, and the runs that show it.

    `table` knows `buffers` (the main table), with a row per tested buffer, and `models`, the table
    of `predictions`. The columns of `buffers` are `limit_packets`, `runs`, `meets_targets` (null
    if the runs are not conclusive), and for each metric `METRIC` (the mean), `METRIC.half_width`,
    `METRIC.low` and `METRIC.high` (its 95 % interval). The picture is the metric of each target
    over the buffer, and utilization against delay.
    """

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
    limit_interval: LimitInterval | None
    """The smallest sufficient limit by regression with its 95 % interval; the answer is the next
    whole packet above the interval. `None` if the buffers were tested one by one."""
    why_no_regression: str
    """Why the buffers were tested one by one; empty if there is an interval."""
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
    kept: "Store | RunsInMemory" = field(repr=False)
    """The runs."""

    def __repr__(self) -> str:
        """The answer in a sentence."""
        return f"<Size: {self.sentence}>"

    @property
    def store(self) -> "Store | None":
        """The store with the runs; `None` if they are in memory."""
        return None if isinstance(self.kept, RunsInMemory) else self.kept

    @cached_property
    def warnings(self) -> tuple["RunWarning", ...]:
        """What a reader should know before trusting the answer, each kind and place once.

        Heavy loss and small shares that no target limits, a smallest limit that the queue accepts
        where it may hide a smaller answer, seeds that change nothing, loss that the runs are too
        short for, and the warnings of the answer's runs; that runs are too short for their own
        figures only if they are too short for the answer.
        """
        chosen, smallest = self.chosen, self.smallest_accepted
        found = [SEEDS_CHANGE_NOTHING] if self.repeats_itself else []
        if chosen and chosen.limit == smallest.packets > 1:
            found.append(smallest.warning)
        if chosen:
            found += answer_warnings(chosen, self.link, self.targets, self.kept)
        return once(found)

    @property
    def _tables(self) -> Tables:
        return {"buffers": self._buffers, "models": self.predictions.table}

    def _buffers(self) -> "pa.Table":
        import pyarrow as pa  # noqa: PLC0415 - an optional library

        columns: dict[str, list[object]] = {
            "limit_packets": [tried.limit for tried in self.tried],
            "runs": [len(tried.point.finished) for tried in self.tried],
            "meets_targets": [tried.verdict.value for tried in self.tried],
        }
        for metric in self.shown_metrics:
            intervals = [tried.interval(metric).as_dict() for tried in self.tried]
            columns[metric] = [interval["mean"] for interval in intervals]
            for end in ("half_width", "low", "high"):
                columns[f"{metric}.{end}"] = [interval[end] for interval in intervals]
        return pa.table(columns)

    def as_dict(self) -> dict[str, Any]:
        """The answer as `tailroom size --json` prints it."""
        packets = self.limit_packets
        return {
            "link": self.link.name,
            "link_chosen": self.link_chosen or None,
            "targets": [str(target) for target in self.targets],
            "loss_target": str(self.loss_target) if self.loss_target else None,
            "meets_loss_target": None if packets is None else not self.misses_loss_target,
            "limit": None if packets is None else self.amounts(packets),
            "without_loss_target": self._without_loss_target(),
            "limit_interval": asdict(self.limit_interval) if self.limit_interval else None,
            "why_no_regression": self.why_no_regression or None,
            "too_small_packets": self.too_small_packets,
            "depends_on_seed": not self.repeats_itself,
            "metrics": self._metrics(self.chosen) if self.chosen else None,
            "feasible": [feasible.as_dict() for feasible in self.feasible],
            "conflicts": [[str(target), str(other)] for target, other in self.conflicts],
            "choices": [choice.limit for choice in self.choices],
            "tried": [
                {
                    "limit_packets": tried.limit,
                    "runs": len(tried.point.keys),
                    **self._metrics(tried),
                }
                for tried in self.tried
            ],
            "warnings": list(self.warnings),
            "models": self.predictions.as_dict()["models"],
            "phase_check": [spread.as_dict() for spread in self.phases],
            "equivalents": None if packets is None else as_texts(equivalents(self.link, packets)),
        }

    def amounts(self, packets: int) -> dict[str, float | None]:
        """Returns a limit in packets, bytes, seconds and bandwidth-delay products.

        Args:
            packets: The limit.
        """
        link = self.link
        return {
            "packets": packets,
            "bytes": packets * link.packet_bytes,
            "s": packets / link.capacity_pps,
            "bdp": packets / link.bdp_packets if link.bdp_packets else None,
        }

    def _without_loss_target(self) -> dict[str, float | None] | None:
        """The smallest limit for the caller's targets alone, and what it loses."""
        packets = self.without_loss_target_packets
        if packets is None:
            return None
        return {**self.amounts(packets), "loss_fraction": self.loss_of(packets)}

    def _metrics(self, tried: Tried) -> dict[str, dict[str, float | None]]:
        """Mean and interval of the targets' metrics and of the shown metrics."""
        names = dict.fromkeys([*(target.metric for target in self.targets), *self.shown_metrics])
        return {name: tried.interval(name).as_dict() for name in names}

    @property
    def loss_target(self) -> Target | None:
        """The bound on the loss that `size` adds; `None` if there is none."""
        return next((target for target in self.targets if target.is_default), None)

    @property
    def misses_loss_target(self) -> bool:
        """Whether the answer loses more, since no tested limit keeps to the added bound."""
        loss, chosen = self.loss_target, self.chosen
        return bool(loss and chosen and chosen.verdicts.get(loss) is not Outcome.YES)

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
        if self.limit_interval:
            words = self.limit_interval.words
            known = "95 % interval {low_packets} to {high_packets} packets; ".format(**words)
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


def _packets(number: int) -> str:
    return f"{number:,} packet{'' if number == 1 else 's'}"


def _nearest(tried: Sequence[Tried], packets: int, factor: float) -> Tried | None:
    """The buffer nearest to `factor` times `packets` on a logarithmic scale."""
    wanted = factor * packets
    ratios = {buffer.limit: max(buffer.limit / wanted, wanted / buffer.limit) for buffer in tried}
    return min(tried, key=lambda buffer: ratios[buffer.limit], default=None)


@with_field_docs
@dataclass(frozen=True)
class SizeProgress(Progress):
    """Progress of a search."""

    done: int
    """Number of finished runs, without those that were in the store before."""
    total: int
    """Estimate of the total number of runs."""
    low: int
    """Largest limit known to be too small, in packets; 0 if none is known."""
    high: float
    """Smallest limit known to suffice, in packets; infinite if none is known."""
    stage: Stage = "search"
    """What is being done: `"search"`, `"confirm"` (the answer is repeated with more seeds),
    `"beside"` (about half and twice the answer), `"phases"` (the phase check of the answer) or
    `"models"` (the models at the answer's limit)."""
