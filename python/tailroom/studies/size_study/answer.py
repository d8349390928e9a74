"""The answer to: how much buffer does this link need?"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import combinations
from math import isfinite
from typing import TYPE_CHECKING, Any

from tailroom.execution.point import repeats_itself
from tailroom.export.devices import Device, of_same_switch, on_devices, other_ingresses, sharing
from tailroom.export.other_tools import Equivalent, by_tool, equivalents
from tailroom.field_docs import with_field_docs
from tailroom.models import Bottleneck
from tailroom.simulation.any_result import AnyResult, Tables
from tailroom.simulation.metrics import find_metric
from tailroom.simulation.run_warnings import SEEDS_CHANGE_NOTHING, once
from tailroom.statistics.intervals import Interval
from tailroom.statistics.outcome import Outcome
from tailroom.storage.run import RunsInMemory, metric_names
from tailroom.studies.phases import PhaseSpread
from tailroom.studies.prediction import Predictions
from tailroom.studies.size_study.accepted_limits import SmallestLimit
from tailroom.studies.size_study.alphas import as_good_as, best_of, meeting
from tailroom.studies.size_study.amounts import amounts, amounts_words, approximate
from tailroom.studies.size_study.answer_warnings import answer_warnings, heavy_loss, percent
from tailroom.studies.size_study.causes import acts_no_more, is_never_full
from tailroom.studies.size_study.completion_bounds import not_shown
from tailroom.studies.size_study.costs import (
    FAIRNESS,
    around,
    around_nearest,
    edges,
    goodputs,
    shown_metrics,
)
from tailroom.studies.size_study.decision import EverythingMeets, passed_rates
from tailroom.studies.size_study.doors import Door, nearest_miss
from tailroom.studies.size_study.known import Evidence, Tried, shown_interval
from tailroom.studies.size_study.pools import Pools
from tailroom.studies.size_study.regression import Crossing
from tailroom.studies.size_study.search import Feasible
from tailroom.studies.size_study.targets import Target
from tailroom.studies.size_study.varied_key import Varied

if TYPE_CHECKING:
    import pyarrow as pa

    from tailroom.simulation.result_types import RunWarning
    from tailroom.storage.store import Store

_NAMES_OF_LIMITS = {
    "interval": "limit_interval",
    "too_small": "too_small_packets",
    "value": "limit_packets",
}
_OF_PORTS = ("links.", "pools.", "ingress_pools.", "switches.", "fabrics.")
"""Keys that shape ports."""


@with_field_docs
@dataclass(frozen=True)
class Size(AnyResult):
    """The smallest buffer of a link that meets every target, and the runs that show it.

    Or the smallest value of another key (`varied`).

    `table` knows `buffers` (the main table), with a row per tested buffer, and `models`, the table
    of `predictions`. The columns of `buffers` are `limit_packets` (`value` if another key than the
    limit is varied), `runs`, `meets_targets` (null if the runs are not conclusive), `decided_by`
    (`"fit"` or `"runs"`), and for each metric `METRIC` (the mean), `METRIC.half_width`,
    `METRIC.low` and `METRIC.high` (its 95 % interval). Where the fit decides on a target, they are
    those of the fit (`FittedMean`), as far as the value is one of the fit. The picture is the
    metric of each target over the buffer, and utilization against delay.
    """

    link: Bottleneck
    """The link and its traffic."""
    link_chosen: str
    """Reason for the choice of this link; empty if it is the only link or the caller named it."""
    pools: Pools | None
    """The pools that the varied key belongs to, if it does; the loss is then theirs."""
    targets: tuple[Target, ...]
    """The bounds on metrics that the buffer must meet; last the bound on the loss that `size` adds
    where the caller limits no loss, if any buffer meets the others."""
    varied: Varied
    """What was varied: the limit of the link's queue, or another key. Its values are counted in
    steps: packets, bytes, ns, kbit/s, or millionths; `varied.text` writes them."""
    answer: int | None
    """The value to set, in steps: the smallest that meets every target with 95 % confidence; of a
    rate that a shaper or a policer passes, the largest; of the alphas of a pool, the best one
    (`best_by`), or the scenario's own if the runs do not tell it from the best one. Where every
    value to that end of the tested range meets them (`everything`), the scenario's own value, or
    the nearest of `everything`. `None` if no tested value meets every target, the loss that `size`
    adds as a bound included."""
    everything: EverythingMeets | None
    """The values that meet every target, if they reach the end of the tested range: none of them is
    known to be the smallest, or of a rate that is passed, the largest. `None` otherwise."""
    scenario_value: int | None
    """The scenario's own value of what was varied, in steps; `None` of a limit that only numbers
    instead of a scenario resolve to."""
    without_loss_target: int | None
    """Smallest tested value that meets the caller's targets, whatever it loses, in steps; `None` if
    no tested value meets those."""
    too_small: int
    """Largest value below the answer that misses a target with 95 % confidence, in steps; 0 if
    there is none. The runs are not conclusive for values between the two."""
    precision: float
    """Half-width of the answer's interval relative to the answer that was asked for."""
    interval: Crossing | None
    """The smallest sufficient value by regression with its 95 % interval, in whole steps. It
    includes its ends, and the answer: its upper end, or below it where values have three digits.
    `None` if the values were tested one by one, and without an answer."""
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
    doors: tuple[Door, ...] = ()
    """What decides where the varied value does not, and how to go on."""
    assumed: tuple[str, ...] = ()
    """What numbers instead of a scenario leave open, and what was simulated for it."""

    def __repr__(self) -> str:
        """The answer in a sentence."""
        return f"<Size: {self.sentence}>"

    @property
    def is_unmet(self) -> bool:
        """Whether no tested value meets the targets, the added bound on the loss included."""
        return self.answer is None

    @property
    def is_open(self) -> bool:
        """Whether some value may meet all targets, although none is shown to."""
        verdicts = (one.verdict_on(self.targets) for one in self.tried)
        return self.is_unmet and Outcome.OPEN in verdicts

    @property
    def is_bounded(self) -> bool:
        """Whether values below the answer are known not to suffice: they are refused, or miss."""
        is_end = self.answer == self.smallest_accepted.packets
        return is_end or self.interval is not None or self.too_small > 0

    @property
    def smallest(self) -> int | None:
        """The smallest value that meets every target, in steps, or the best alpha.

        `None` if no tested value does, if no value is known to be too small, if a smaller one is
        the same queue, and of a rate that a shaper or a policer passes, whose largest is sought.
        """
        by_chance = not self.interval and (self.same_queue or not self.is_bounded)
        is_any = self.everything or by_chance or self.varied.is_passed_rate
        return None if is_any and not self.varied.is_alpha else self.answer

    @property
    def alphas(self) -> list[int]:
        """Every alpha that meets the targets, in steps; empty if another key is varied."""
        if not self.varied.is_alpha:
            return []
        return [one.limit for one in meeting(self.tried, self.targets)]

    @property
    def as_good(self) -> list[int]:
        """The other alphas whose interval of the first metric overlaps with the best one's."""
        return as_good_as(self.tried, self.best_alpha, self.targets)

    @property
    def best_alpha(self) -> int | None:
        """The best alpha by the means of the runs, in steps; `None` if another key is varied."""
        return best_of(self.tried, self.targets) if self.varied.is_alpha else None

    @property
    def largest_rate(self) -> int | None:
        """The largest tested rate that meets every target, in steps; `None` of another key."""
        if self.varied.quantity != "rate":
            return None
        return max((one.limit for one in meeting(self.tried, self.targets)), default=None)

    @property
    def too_large(self) -> int:
        """Smallest tested rate above the answer that misses a target, in steps; 0 without one.

        Always 0 unless a shaper or a policer passes the rate.
        """
        return passed_rates(self.tried, self.targets)[1] if self.varied.is_passed_rate else 0

    @property
    def best_by(self) -> str:
        """What the best alpha has the least or most of: "the lowest queue_delay_s_p99"."""
        first = self.targets[0]
        return f"the {'highest' if first.at_least else 'lowest'} {first.metric}"

    @property
    def limit_packets(self) -> int | None:
        """The answer if it is a queue limit that counts packets; `None` without one.

        A limit that the scenario has in bytes, time or bdp is sought in that unit (`value`).
        """
        return self.answer if self.varied.counts_packets else None

    @property
    def value(self) -> object:
        """The answer as a scenario has it, such as `"286 packets"`; `None` without one."""
        return None if self.answer is None else self.varied.setting(self.answer)

    @property
    def store(self) -> "Store | None":
        """The store with the runs; `None` if they are in memory."""
        return None if isinstance(self.kept, RunsInMemory) else self.kept

    @cached_property
    def warnings(self) -> tuple["RunWarning", ...]:
        """What a reader should know before trusting the answer, each kind and place once.

        Targets whose metric is only a lower bound, heavy loss and small shares that no target
        limits, a smallest limit that the queue accepts where it may hide a smaller answer, seeds
        that change nothing, loss that the runs are too short for, percentiles that single runs have
        wrong, and the warnings of the answer's runs; that runs are too short for their own figures
        only if they are too short for the answer.
        """
        chosen, smallest = self.chosen, self.smallest_accepted
        found = [SEEDS_CHANGE_NOTHING] if self.repeats_itself else []
        is_end = chosen and chosen.limit == smallest.packets > 1
        if is_end and not self.everything:
            found.append(smallest.warning)
        found += not_shown(self.tried, self.targets)
        if chosen:
            found += heavy_loss(chosen, self.link, self.pools, self.targets)
            found += answer_warnings(chosen, self.link, self.targets, self.kept, self.precision)
        return once(found)

    @property
    def _tables(self) -> Tables:
        return {"buffers": self._buffers, "models": self.predictions.table}

    def _buffers(self) -> "pa.Table":
        import pyarrow as pa  # noqa: PLC0415 - an optional library

        columns: dict[str, list[object]] = {
            self._named("value"): [self._written(tried.limit) for tried in self.tried],
            "runs": [len(tried.point.finished) for tried in self.tried],
            "meets_targets": [tried.verdict.value for tried in self.tried],
            "decided_by": [self.decided_by(tried) for tried in self.tried],
        }
        for metric in self.shown_metrics:
            intervals = [self.shown(tried, metric).as_dict() for tried in self.tried]
            columns[metric] = [interval["mean"] for interval in intervals]
            for end in ("half_width", "low", "high"):
                columns[f"{metric}.{end}"] = [interval[end] for interval in intervals]
        return pa.table(columns)

    def as_dict(self) -> dict[str, Any]:
        """The answer as `tailroom size --json` prints it."""
        answer = self.answer if self.varied.is_limit else None
        return {
            "link": self.link.name,
            "link_chosen": self.link_chosen or None,
            "pools": [*self.pools.links] if self.pools else None,
            "targets": [str(target) for target in self.targets],
            "loss_target": str(self.loss_target) if self.loss_target else None,
            "meets_loss_target": self._meets_loss_target,
            "key": self.varied.key,
            "value": self.value,
            "is_smallest": self.smallest is not None and not self.varied.is_alpha,
            "all_meet": self._all_meet(),
            "largest": self.varied.setting(self.largest_rate) if self.largest_rate else None,
            "limit": None
            if answer is None
            else {**self.amounts(answer), "approximate": approximate(self.varied, self.link)},
            "kept_limit": self._kept_limit(),
            "alphas": self._alphas(),
            "without_loss_target": self._without_loss_target(),
            self._named("interval"): self._interval(),
            "why_no_regression": self.why_no_regression or None,
            self._named("too_small"): self._written(self.too_small),
            "depends_on_seed": not self.repeats_itself,
            "metrics": self._metrics(self.chosen) if self.chosen else None,
            "feasible": [feasible.as_dict(self.varied) for feasible in self.feasible],
            "conflicts": [[str(target), str(other)] for target, other in self.conflicts],
            "choices": [self._written(choice.limit) for choice in self.choices],
            "tried": [
                {
                    self._named("value"): self._written(tried.limit),
                    "runs": len(tried.point.keys),
                    "meets_targets": tried.verdict.value,
                    "decided_by": self.decided_by(tried),
                    **self._metrics(tried),
                }
                for tried in self.tried
            ],
            "warnings": list(self.warnings),
            "doors": [door.as_dict() for door in self.doors],
            "assumed": list(self.assumed),
            "models": self.predictions.as_dict()["models"],
            "phase_check": [spread.as_dict() for spread in self.phases],
            "equivalents": _as_dict(by_tool(self.elsewhere())),
            "devices": _as_dict(self.on_devices()),
        }

    @property
    def _meets_loss_target(self) -> bool | None:
        return None if self.without_loss_target is None else not self.misses_loss_target

    def _all_meet(self) -> dict[str, object] | None:
        """The values that meet every target from the end of the tested range upwards."""
        if not self.everything:
            return None
        value = self.scenario_value
        return {
            "from": self._written(self.everything.low),
            "to": self._written(self.everything.high),
            "are_all_tested": self.everything.is_all,
            "scenario_value": None if value is None else self._written(value),
        }

    def _alphas(self) -> dict[str, object] | None:
        """The alphas that meet the targets, and by what the answer is the best of them."""
        if not self.varied.is_alpha:
            return None
        write = self.varied.setting
        return {
            "meeting": [write(steps) for steps in self.alphas],
            "best": None if self.best_alpha is None else write(self.best_alpha),
            "best_by": self.best_by,
            "as_good": [write(steps) for steps in self.as_good],
        }

    def elsewhere(self) -> tuple[Equivalent, ...]:
        """Returns the configuration of the answer in tc, OpenWrt, ns-3 and Mahimahi.

        It sets the `kept_limit` if there is one. Empty without an answer, for the memory that ports
        share, and for a key of another table than that of the link.
        """
        ports = self._ports
        return equivalents(ports[0]) if len(ports) == 1 and "pool" not in ports[0].port else ()

    def on_devices(self) -> dict[Device, Equivalent]:
        """Returns the configuration of the answer on switches and routers.

        It sets the `kept_limit` if there is one. Empty without an answer, and for a key that is
        neither of the link nor of memory.
        """
        if not self._ports or self._to_set is None:
            return {}
        asked = self._to_set.point.source, self._ports
        return on_devices(
            *self._ports, same_switch=of_same_switch(*asked), left_out=other_ingresses(*asked)
        )

    @cached_property
    def _ports(self) -> list[Bottleneck]:
        """The link with the answer, and all links that share its memory."""
        is_of_port = self.varied.is_limit or self.pools or self.varied.key.startswith(_OF_PORTS)
        if self._to_set is None or not is_of_port:
            return []
        return sharing(self._to_set.point.source, self.link.name)

    @property
    def _to_set(self) -> Tried | None:
        """The value that is to be set, which may be another than the answer; `None` without one."""
        return self._tested(self.kept_limit or self.answer)

    def _tested(self, steps: int | None) -> Tried | None:
        """The tested value of these steps; `None` if there is none."""
        return next((tried for tried in self.tried if tried.limit == steps), None)

    def _named(self, name: str) -> str:
        """Name of a number in JSON and tables: that of a limit says so, and has its unit."""
        return _NAMES_OF_LIMITS[name] if self.varied.counts_packets else name

    def _written(self, steps: int) -> object:
        """A value in JSON and tables: a limit as its number of packets, others with their unit."""
        return steps if self.varied.counts_packets else self.varied.setting(steps)

    def _interval(self) -> dict[str, object] | None:
        if self.interval is None:
            return None
        numbers = asdict(self.interval)
        if self.varied.counts_packets:
            return {f"{name}_packets": number for name, number in numbers.items()}
        return {name: self.varied.text(number) for name, number in numbers.items()}

    def amounts(self, steps: int) -> dict[str, float | None]:
        """Returns a limit in packets, bytes, seconds and bandwidth-delay products.

        Where packets differ in size, only those in the unit of the limit are the same buffer; see
        `approximate` in the JSON.

        Args:
            steps: The limit, in steps.
        """
        return amounts(self.varied, self.link, steps)

    def _kept_limit(self) -> dict[str, Any] | None:
        """The scenario's own limit where it is to be left, with its amounts."""
        limit = self.kept_limit
        if limit is None:
            return None
        return {"value": self.varied.setting(limit), **self.amounts(limit)}

    def _without_loss_target(self) -> dict[str, Any] | None:
        """The smallest value for the caller's targets alone, and what it loses."""
        steps = self.without_loss_target
        if steps is None:
            return None
        amounts = self.amounts(steps) if self.varied.is_limit else {}
        value = self.varied.setting(steps)
        return {"value": value, **amounts, "loss_fraction": self.loss_of(steps)}

    def _metrics(self, tried: Tried) -> dict[str, dict[str, float | None]]:
        """Mean and interval of the targets' metrics and of the shown metrics."""
        names = dict.fromkeys([*(target.metric for target in self.targets), *self.shown_metrics])
        return {name: self.shown(tried, name).as_dict() for name in names}

    def shown(self, tried: Tried, metric: str) -> Interval:
        """Returns the mean of a metric by what decides on it: the fit, or the runs of the value.

        Args:
            tried: A tested value.
            metric: Name of the metric.
        """
        return shown_interval(tried, metric, self._target_of_metric)

    @cached_property
    def _target_of_metric(self) -> dict[str, Target]:
        """The targets by the names of their metrics, as written and in full."""
        rows = next((tried.point.finished for tried in self.tried if tried.point.finished), [])
        known = metric_names(rows[0]) if rows else []
        full = {find_metric(one.metric, known): one for one in self.targets if known}
        return {**full, **{one.metric: one for one in self.targets}}

    def decided_by(self, tried: Tried) -> str:
        """What the verdict on a value rests on: `"fit"`, or `"runs"`, those of the value.

        Args:
            tried: A tested value.
        """
        by = {tried.evidence.get(target) for target in self.targets}
        return Evidence.FIT.value if Evidence.FIT in by else Evidence.RUNS.value

    @property
    def loss_target(self) -> Target | None:
        """The bound on the loss that `size` adds; `None` if there is none."""
        return next((target for target in self.targets if target.is_default), None)

    @property
    def misses_loss_target(self) -> bool:
        """Whether tested values meet the caller's targets, but none keeps to the added bound."""
        return self.answer is None and self.without_loss_target is not None

    @property
    def loss_metric(self) -> str:
        """Full name of the loss in question: that of the link, or of the pools."""
        return self.pools.loss_metric if self.pools else f"links.{self.link.name}.loss_fraction"

    def loss_of(self, packets: int) -> float | None:
        """Mean loss of the link or the pools with a tested limit, in [0, 1]; `None` if unknown.

        Args:
            packets: The limit.
        """
        tried = next((one for one in self.tried if one.limit == packets), None)
        metric = self.loss_metric
        if tried is None or metric not in metric_names(tried.point.finished[0]):
            return None
        return tried.interval(metric).mean

    @property
    def price(self) -> str:
        """What the bound on the loss costs, or that no tested value keeps to it; else empty."""
        loss, answer, without = self.loss_target, self.answer, self.without_loss_target
        lost = None if without is None else self.loss_of(without)
        if loss is None or without is None or lost is None:
            return ""
        value = self.varied.text(without)
        are = "are" if self.varied.counts_packets and without > 1 else "is"
        if answer is None:
            keeps = "is shown to keep to" if self.is_open else "keeps to"
            return (
                f"no tested {self.varied.noun} {keeps} {loss} as well; without it, {value} "
                f"{are} enough, and {percent(lost)} % of the packets are lost"
            )
        is_nearer = without > answer if self.varied.is_passed_rate else without < answer
        if is_nearer and not self.everything:
            return f"without {loss}, {value} {are} enough, with a loss of {percent(lost)} %"
        return ""

    @cached_property
    def kept_limit(self) -> int | None:
        """The scenario's own limit, in steps, if it is to be left; `None` otherwise.

        It is larger than the answer and meets the targets as well, and no packet finds the queue
        full, since the discipline keeps it shorter: the limit is not what a person would tune.
        """
        limit, answer = self.scenario_value, self.answer
        own = self._tested(limit)
        if limit is None or answer is None or own is None or limit <= answer:
            return None
        source = own.point.source
        is_kept = own.verdict_on(self.targets) is Outcome.YES and is_never_full(
            source, self.link, self.varied, self.tried, limit
        )
        return limit if is_kept else None

    @property
    def kept_limit_sentence(self) -> str:
        """That the scenario's own limit is to be left, and why; else empty."""
        if self.kept_limit is None:
            return ""
        return (
            f"leave the scenario's limit, {self.varied.text(self.kept_limit)}: no packet finds the "
            "queue full, and it meets every target as well"
        )

    @property
    def kept_sentence(self) -> str:
        """Why the answer is the scenario's own value, or the one next to it; else empty."""
        value, text = self.scenario_value, self.varied.text
        if value is None:
            return ""
        if (best := self.best_alpha) is not None and best != self.answer:
            return (
                f"leave the scenario's value, {text(value)}: the runs do not tell it from the best "
                f"one, {text(best)}"
            )
        every = self.everything
        if not every:
            return ""
        low, high = text(every.low), text(every.high)
        reach = f"from {low} to {high}, no tested value is known to miss a target"
        if low == high:
            reach = f"{low} meets every target"
        where = f"all tested values, {low} to {high}, meet every target" if every.is_all else reach
        least = f"none is known to be the {self.varied.wanted}"
        if self.smallest_accepted.refusal and not self.varied.is_passed_rate:
            least = f"{low} is the smallest that is accepted"
        keep = f"leave the scenario's value, {text(value)}, which meets them all"
        if self.answer != value:
            keep = f"{text(self.answer or 0)} does, which the scenario's {text(value)} may not"
        return f"{where}, and {least}; {keep}"

    @property
    def sentence(self) -> str:
        """The answer with its units, the targets, and the number of buffers that were tried."""
        targets = " and ".join(map(str, self.targets))
        tried = f"{len(self.tried)} buffers were simulated"
        link, varied, answer = self.link, self.varied, self.answer
        if answer is None and self.price:
            return f"{self.price}; {tried}"
        if answer is None:
            targets = " and ".join(str(one) for one in self.targets if not one.is_default)
            what = f"buffer of link {link.name}" if varied.is_limit else varied.key
            meets = "is shown to meet" if self.is_open else "meets"
            return f"no {what} that was tried {meets} {targets}; {tried}"
        if self.kept_sentence:
            return f"{varied.key}: {self.kept_sentence}; {tried}"
        known = f"{varied.too_small(self.too_small)}; " if self.too_small else ""
        if varied.is_passed_rate:
            known += f"{varied.text(self.too_large)} is too large; "
        elif not self.is_bounded:
            known = "no value is known to be too small; "
        if self.interval:
            known = f"95 % interval {self.interval_text}; "
        cost = f"{self.price}; " if self.price else ""
        if varied.is_alpha:
            every = ", ".join(map(varied.text, self.alphas))
            return (
                f"{varied.key} = {varied.text(answer)} is the best of {every}, which meet "
                f"{targets}: {self.best_by}; {cost}{tried}"
            )
        if not varied.is_limit:
            return f"{varied.key} = {varied.text(answer)} meets {targets}; {cost}{known}{tried}"
        same, about = amounts_words(varied, link, answer)
        other = "; ".join(filter(None, [same.replace(" = ", ", "), about]))
        cost += f"{self.kept_limit_sentence}; " if self.kept_limit_sentence else ""
        return (
            f"link {link.name} needs {varied.text(answer)} ({other}) for {targets}; "
            f"{cost}{known}{tried}"
        )

    @property
    def is_smallest_accepted(self) -> bool:
        """Whether the engine refuses every smaller value than the answer."""
        end = self.smallest_accepted
        return bool(end.refusal) and self.answer == end.packets

    @property
    def answer_text(self) -> str:
        """The answer in a word or two.

        "none" or "open" without one, "any (5 ms)" if all values meet, and "≤ 5 ms" if it is not
        shown to be the smallest.
        """
        if self.answer is None:
            return "open" if self.is_open else "none"
        text = self.varied.text(self.answer)
        if self.everything:
            return f"any ({text})"
        return f"≤ {text}" if self.smallest is None else text

    @cached_property
    def same_queue(self) -> str:
        """The range of tested values that hold the answer and act on no packet: only seeds differ.

        Empty if the answer is the smallest of them.
        """
        if self.answer is None:
            return ""
        source = self.tried[0].point.source
        free = [one.limit for one in acts_no_more(source, self.link, self.varied, self.tried)]
        if self.answer not in free[1:]:
            return ""
        return self.varied.range_text(free[0], free[-1])

    @property
    def interval_text(self) -> str:
        """The interval of the answer in words; empty without one."""
        if self.interval is None:
            return ""
        low, high = self.interval.low, self.interval.high
        if low == high:
            return f"{self.varied.text(high)} alone"
        return self.varied.range_text(low, high)

    @property
    def chosen(self) -> Tried | None:
        """The buffer of the answer with its runs; `None` without an answer."""
        return self._tested(self.answer)

    @property
    def choices(self) -> list[Tried]:
        """The answer, and the tested values nearest to half and twice of it.

        With them the smallest value for the caller's targets alone, the scenario's own value of
        another key or its `kept_limit`, and the smallest tested value, if that is not known to be
        too small. Without an answer, the value that comes nearest to the targets
        stands for it, with the scenario's own value of any key, and the values at the ends of what
        meets each target, or else the tested values next to it. In ascending order, each once.
        """
        answer, nearest = self.answer, self.nearest
        if nearest:
            own = {*self._own_choices}
            if self.without_loss_target is None:
                own.add(nearest.limit)
            return around_nearest(self.tried, nearest, self.targets, own)
        if answer is None:
            return []
        return around(self.tried, answer, self._own_choices, with_half=not self.everything)

    @property
    def nearest(self) -> Tried | None:
        """The tested value that comes nearest to the targets; `None` with an answer."""
        return nearest_miss(self.tried, self.targets) if self.tried and self.is_unmet else None

    @property
    def neighbours(self) -> list[Tried]:
        """The choices that only show how costs change around the answer, or the nearest value."""
        needed = {self.answer, *self._own_choices}
        if self.nearest:
            needed |= {self.nearest.limit, *edges(self.tried, self.targets)}
        return [one for one in self.choices if one.limit not in needed]

    @property
    def _own_choices(self) -> set[int | None]:
        """The choices that an answer shows for what they are."""
        is_of_interest = not self.varied.is_limit or self.is_unmet
        own = {self.without_loss_target, self.scenario_value if is_of_interest else self.kept_limit}
        return own | ({self.everything.low} if self.everything else set())

    @property
    def shown_metrics(self) -> list[str]:
        """Full names of the metrics that an answer shows: link, fairness, targets."""
        rows = next((tried.point.finished for tried in self.tried if tried.point.finished), [])
        every = [row for tried in self.tried for row in tried.point.finished]
        names = shown_metrics(self.link, self.pools, every)
        if self.varied.is_passed_rate:
            # Shares of different rates are no price.
            shares = f"links.{self.link.name}.utilization"
            names = [*goodputs(self.link, every), *(one for one in names if one != shares)]
        if self.link.flow_count > 1:
            names.append(FAIRNESS)
        known = metric_names(rows[0]) if rows else []
        names += [find_metric(target.metric, known) for target in self.targets if known]
        # A port that no packet crossed in a run has no delay, but a fraction of loss.
        defined = {one for one in known if all(row[one] is not None for row in every)}
        defined |= {one for one in known if one.endswith(".loss_fraction")}
        return [name for name in dict.fromkeys(names) if name in defined]

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
            and self._all_miss(first.target, second.target)
        ]

    def _all_miss(self, *targets: Target) -> bool:
        """Whether every tested value is known to miss one of these targets."""
        return all(one.verdict_on(targets) is Outcome.NO for one in self.tried)


def _as_dict(lines: Mapping[Any, Equivalent]) -> dict[str, Any] | None:
    """Configurations as JSON has them, by tool or device; null without any."""
    return {str(key): asdict(line) for key, line in lines.items()} or None
