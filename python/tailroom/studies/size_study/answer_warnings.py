"""What a reader should know about an answer of `size`: its runs, and costs beyond the targets."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from tailroom import written_numbers
from tailroom.arguments import usage
from tailroom.buffer_atlas.data import MOST_LOSS
from tailroom.models import Bottleneck
from tailroom.models.bottleneck import FlowClass
from tailroom.simulation.metric_catalogue import metric_of
from tailroom.simulation.metrics import find_metric
from tailroom.simulation.run_warnings import warning
from tailroom.statistics.pooled_percentile import pooled_percentile
from tailroom.storage.run import RunsInMemory, metric_names
from tailroom.studies.size_study.known import Tried
from tailroom.studies.size_study.pools import Pools
from tailroom.studies.size_study.targets import Target, limits_loss
from tailroom.studies.stored_warnings import warnings_of

if TYPE_CHECKING:
    from tailroom.simulation.result_types import RunWarning
    from tailroom.storage.store import Store

FEWEST_REDUCTIONS = 3.0
"""Window reductions per flow and run below which the start of a run may decide an answer.

Figures of a single run need ten. The intervals of an answer come from the spread of many runs, so
that it only has to be free of the start: the atlas, whose short runs last three periods of the
congestion control, had the same utilization after three times the warm-up."""
NOTABLE_SHARE = 0.5
"""Goodput of a group, relative to an equal share per flow, below which an answer mentions it."""


def answer_warnings(
    answer: Tried,
    link: Bottleneck,
    targets: Sequence[Target],
    store: "Store | RunsInMemory",
    precision: float,
) -> Iterator["RunWarning"]:
    """Yields the warnings of an answer, without that of heavy loss.

    Args:
        answer: The buffer of the answer.
        link: Its link with the traffic that crosses it.
        targets: The targets that the answer meets.
        store: The store with its runs.
        precision: Half-width of the answer's interval relative to the answer.
    """
    known = metric_names(answer.point.finished[0])
    yield from _shares(answer, link, known)
    yield from _too_few_packets(answer, targets, known)
    yield from _short_for_percentiles(answer, targets, known, precision)
    for one in warnings_of(store, answer.point.keys):
        if one["kind"] != "few_reductions":
            yield one
        else:
            yield from _few_reductions(one["place"], answer)


def heavy_loss(
    answer: Tried, link: Bottleneck, pools: Pools | None, targets: Sequence[Target]
) -> Iterator["RunWarning"]:
    """Yields the loss of the link, or of the pools that are varied, unless a target limits a loss.

    Args:
        answer: The buffer of the answer.
        link: Its link.
        pools: The pools that the varied key belongs to, if it does.
        targets: The targets that the answer meets.
    """
    known = metric_names(answer.point.finished[0])
    metric = pools.loss_metric if pools else f"links.{link.name}.loss_fraction"
    if metric not in known or any(map(limits_loss, targets)):
        return
    loss = answer.interval(metric).mean
    if loss <= MOST_LOSS:
        return
    if pools:
        name = metric.removeprefix("pools.")
        text = (
            f"at this value {percent(loss)} % of the packets of {pools.words} are lost; add "
            f"{usage('target', f'{name} <= 1%')}, or compare policies with tailroom run --vary"
        )
        yield warning("heavy_loss", pools.key, text, loss_fraction=loss)
        return
    links = [
        name for name in known if name.startswith("links.") and name.endswith(".loss_fraction")
    ]
    name = "loss_fraction" if len(links) == 1 else f"{link.name}.loss_fraction"
    text = (
        f"at this limit {percent(loss)} % of the packets are lost; add "
        f"{usage('target', f'{name} <= 1%')}, or compare queue disciplines with "
        "tailroom run --vary"
    )
    yield warning("heavy_loss", f"links.{link.name}", text, loss_fraction=loss)


def _shares(answer: Tried, link: Bottleneck, known: Sequence[str]) -> Iterator["RunWarning"]:
    """Groups of permanent flows with less than half of an equal share per flow.

    A group whose windows or access links hold its flows below that is left out.
    """
    groups: dict[str, list[FlowClass]] = {}
    for flow_class in link.classes:
        groups.setdefault(flow_class.group, []).append(flow_class)
    if len(groups) < 2 or any(f"groups.{group}.goodput_bps" not in known for group in groups):
        return
    goodputs = {group: answer.interval(f"groups.{group}.goodput_bps").mean for group in groups}
    total_bps = sum(goodputs.values())
    for group, classes in groups.items():
        flows = sum(flow_class.count for flow_class in classes)
        equal = flows / link.flow_count
        able_bps = sum(flow_class.count * _most_bps(flow_class) for flow_class in classes)
        if goodputs[group] < NOTABLE_SHARE * min(equal * total_bps, able_bps):
            share = goodputs[group] / total_bps
            text = (
                f"flows.{group}: {flows} of {link.flow_count} flows get {percent(share)} % of the "
                f"goodput; equal shares would be {percent(equal)} %"
            )
            yield warning("small_share", f"flows.{group}", text, share=share, equal_share=equal)


def _too_few_packets(
    answer: Tried, targets: Sequence[Target], known: Sequence[str]
) -> Iterator["RunWarning"]:
    """Bounds on loss for which the answer's runs are too short.

    If none of n packets is lost, the loss fraction may be up to 3 / n with 95 % confidence
    (rule of three, Hanley and Lippman-Hand 1983), which is above these bounds.
    """
    rows = answer.point.finished
    for target in targets:
        link, _, metric = find_metric(target.metric, known).rpartition(".")
        arrivals = f"{link}.arrivals_packets"
        if target.at_least or metric != "loss_fraction" or arrivals not in known:
            continue
        packets = int(sum(row[arrivals] for row in rows))
        lost = any(row[f"{link}.loss_fraction"] for row in rows)
        if not lost and target.bound * packets < 3:
            text = (
                f"{target} is not certain: the runs have only {packets:,} packets, of which none "
                "was lost; use a longer duration"
            )
            yield warning("too_few_packets", link, text, packets=packets)


def _short_for_percentiles(
    answer: Tried, targets: Sequence[Target], known: Sequence[str], precision: float
) -> Iterator["RunWarning"]:
    """Percentiles that differ between single runs and all runs of the answer together.

    The answer is about the mean of the runs' percentiles; that of one long run is the other. Far
    below a bound, a difference decides nothing.
    """
    for target in targets:
        metric = find_metric(target.metric, known)
        together = _percentile_together(answer.point.finished, metric, known)
        mean = answer.interval(target.metric).mean
        if together is None or abs(together - mean) <= precision * max(mean, target.bound):
            continue
        shown = metric_of(metric).unit.text
        more = f"{percent(abs(together / mean - 1))} % {'more' if together > mean else 'less'}"
        text = (
            f"{target}: the percentile of a run of the answer is {shown(mean)} in the mean, and "
            f"that of all its runs together about {shown(together)}, {more}; runs are too short "
            "for a percentile: lengthen duration"
        )
        yield warning(
            "short_for_percentile", metric.rpartition(".")[0], text, mean=mean, together=together
        )


def _percentile_together(
    rows: Sequence[Mapping[str, float | None]], metric: str, known: Sequence[str]
) -> float | None:
    """The percentile of all runs together, by those of the same quantity that the runs have.

    `None` if the metric is no percentile, or the runs have no percentile beyond it.
    """
    stem, share = _share_above(metric)
    if share is None:
        return None
    siblings = {
        above: name for name in known for root, above in [_share_above(name)] if root == stem
    }
    runs = []
    for row in rows:
        values = {above: row[name] for above, name in siblings.items() if above}
        run = {above: value for above, value in values.items() if value is not None}
        if len(run) < len(values):
            return None
        runs.append(run)
    return pooled_percentile(runs, share)


def _share_above(metric: str) -> tuple[str, float | None]:
    """What a percentile is of, and the share above it: 0.001 of `queue_delay_s_p999`."""
    stem, is_percentile, digits = metric.rpartition("_p")
    if not is_percentile or not digits.isdecimal():
        return metric, None
    return stem, 1 - int(digits) / 10 ** max(2, len(digits))


def _few_reductions(place: str, answer: Tried) -> Iterator["RunWarning"]:
    """The warning of few reductions in the mean of the runs, unless there are enough."""
    reductions = _reductions_per_flow(answer, place.removeprefix("flows."))
    if reductions >= FEWEST_REDUCTIONS:
        return
    text = (
        f"{place}: {written_numbers.packets(reductions)} window reductions per flow in the "
        f"measured window, in the mean of the answer's runs; with fewer than "
        f"{FEWEST_REDUCTIONS:g} the start of a run may decide the answer: lengthen duration"
    )
    yield warning("few_reductions", place, text, reductions_per_flow=reductions)


def _reductions_per_flow(answer: Tried, group: str) -> float:
    """Mean over the runs of the window reductions of a flow of the group."""
    runs = answer.point.finished
    events, flows = (
        sum(row[f"groups.{group}.{name}"] for row in runs)
        for name in ("congestion_events", "flows")
    )
    return float(events / flows)


def _most_bps(flow_class: FlowClass) -> float:
    """The rate that the access link and the largest window of a flow allow."""
    window_bits = 8 * flow_class.packet_bytes * flow_class.max_window
    return min(flow_class.access_rate_bps, window_bits / flow_class.rtt_s)


def percent(share: float) -> str:
    """Writes a fraction as a number of percent, with a decimal below 10."""
    return f"{100 * share:.1f}" if share < 0.1 else f"{100 * share:.0f}"
