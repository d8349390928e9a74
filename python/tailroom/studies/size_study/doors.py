"""Where an answer of `size` leads on: what decides instead of the value that was varied."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, isfinite
from typing import Any

from tailroom.arguments import usage
from tailroom.errors import ScenarioError
from tailroom.field_docs import with_field_docs
from tailroom.models import Bottleneck
from tailroom.models.traffic import permanent_load
from tailroom.scenario.scenario import Scenario
from tailroom.simulation.metric_catalogue import metric_of
from tailroom.simulation.metrics import find_metric
from tailroom.statistics.outcome import Outcome
from tailroom.storage.run import metric_names
from tailroom.studies.size_study.causes import (
    ACTS,
    POLICED,
    acting,
    acts_no_more,
    causes,
    longest_queue,
    ports_of,
    refused_at_least,
    refused_words,
)
from tailroom.studies.size_study.completion_bounds import earlier_stop, waiting_for_an_end
from tailroom.studies.size_study.known import Tried
from tailroom.studies.size_study.other_queues import OtherQueue, queue_place
from tailroom.studies.size_study.targets import Target
from tailroom.studies.size_study.varied_key import Varied

_SCHEDULERS = ("dual_pi2", "fair", "fq_codel", "fq_pie")
"""Disciplines that also choose which packet leaves next."""
MORE_SEEDS = 4
"""Multiple of the seeds that is proposed, with which intervals are half as wide."""


@with_field_docs
@dataclass(frozen=True)
class Door:
    """What decides where the varied value does not, and how to go on."""

    kind: str
    """`not_ended`, `loss_bound`, `limit_not_reached`, `acts_no_more` (of another key),
    `never_acts`, `short_memory`, `shaper_binds`, `other_queue`, `other_link`, `too_few_seeds` or
    `too_little_traffic`."""
    place: str
    """The keys of the scenario that it concerns."""
    text: str
    """The finding in words, with the argument that leads on."""
    argument: str = ""
    """Name of the argument that leads on: `vary`, `link`, `set`, `most_loss` or `max_seeds`; empty
    if there is none."""
    given: str = ""
    """Its value: a key, a link, a key with a value, or a fraction."""
    values: Mapping[str, float] = field(default_factory=dict)
    """The measurements, by name."""
    nearness: tuple[int, float] | None = None
    """What `nearness` says of one run with it; `None` without one that comes nearer."""

    def as_dict(self) -> dict[str, Any]:
        """The door as `tailroom size --json` prints it."""
        return {
            "kind": self.kind,
            "place": self.place,
            "argument": self.argument or None,
            "given": self.given or None,
            "values": dict(self.values),
            "text": self.text,
        }


def best_first(doors: Iterable[Door]) -> tuple[Door, ...]:
    """Returns doors in the order in which to go through them.

    First an end without which no run decides, then what one run showed to help, the nearest to the
    targets before the others, then what was not tried.

    Args:
        doors: The doors.
    """

    def rank(door: Door) -> tuple[bool, bool, tuple[int, float]]:
        return (
            door.kind == "not_ended",
            door.nearness is not None,
            door.nearness or (0, 0.0),
        )

    return tuple(sorted(doors, key=rank, reverse=True))


def known_doors(
    source: Scenario,
    link: Bottleneck,
    varied: Varied,
    tried: Sequence[Tried],
    *,
    answer: int | None,
) -> Iterator[Door]:
    """Yields the doors that the runs show, without further runs.

    Args:
        source: The scenario.
        link: The link whose buffer is sought.
        varied: What was varied.
        tried: The tested values in ascending order, each with runs.
        answer: The answer, in steps; `None` if no tested value meets the targets.
    """
    place = queue_place(source, link.name)
    is_limit = place is not None and varied.key == f"{place[0]}.limit"
    if answer is None:
        yield from _not_ended(tried)
    if tried and (is_limit or answer is None):
        yield from _acts_no_more(source, link, varied, tried, is_met=answer is not None)
    if place and is_limit:
        yield from _never_acts(place, link, varied, [one for one in tried if one.limit == answer])
    if answer is None:
        yield from _too_little_traffic(link, tried)


def _not_ended(tried: Sequence[Tried]) -> Iterator[Door]:
    """An end of the arrivals with which the runs decide on what had not ended in them."""
    for target in tried[0].verdicts if tried else ():
        stop = earlier_stop(waiting_for_an_end(tried, target), target)
        if stop:
            text = (
                f"{stop.key}: the runs decide on {target} if arrivals end at "
                f"{1e3 * stop.at_s:g} ms{stop.instead}: {usage('set', stop.setting)}"
            )
            yield Door("not_ended", stop.key, text, "set", stop.setting, {"stop_s": stop.at_s})


def loss_door(
    source: Scenario, link: Bottleneck, varied: Varied, enough: Tried, loss: Target
) -> Iterator[Door]:
    """Yields the door to an answer that loses more than the bound that `size` adds.

    Args:
        source: The scenario.
        link: The link whose buffer is sought.
        varied: What was varied.
        enough: The smallest value that meets the caller's targets.
        loss: The bound on the loss, to which no tested value keeps.
    """
    lost = enough.interval(loss.metric)
    accepted = ceil(100 * lost.high) / 100 if isfinite(lost.high) else 1.0
    if not loss.bound < accepted < 1:
        return
    found = acting(causes(source, link), [enough], [link.name])
    counted = [(share, cause.metrics) for cause, share in found if cause.counts_packets]
    polices = max(counted, default=(0.0, ()))[1] == POLICED
    place = f"links.{link.name}.policer" if polices else varied.key
    # No setting takes a policer away, so that the shaper has no command.
    instead = "a shaper in its place lets packets wait that it drops; " if polices else ""
    text = (
        f"{place}: {instead}where losses up to {accepted:.0%} are accepted, "
        f"{varied.text(enough.limit)} will do: {usage('most_loss', accepted)}"
    )
    values = {"loss_fraction": lost.mean}
    yield Door("loss_bound", place, text, "most_loss", str(accepted), values)


def _acts_no_more(
    source: Scenario, link: Bottleneck, varied: Varied, tried: Sequence[Tried], *, is_met: bool
) -> Iterator[Door]:
    """The values from which on what they set acts on no packet, and what decides instead."""
    free = acts_no_more(source, link, varied, tried)
    if not free:
        return
    queue = (queue_place(source, link.name) or ("",))[0]
    ports = ports_of(source, link, tried[0])
    found = causes(source, link)
    own = next(one for one in found if varied.key in one.keys)
    others = acting([one for one in found if one is not own], free, ports)
    sentences = [one for cause, share in others for one in cause.sentences(share)]
    known = [words for words, key in sentences if not key]
    known += filter(None, [refused_words(link, free)])
    if is_met and len(known) == len(sentences):
        return
    is_limit = varied.key == f"{queue}.limit"
    longest = longest_queue(free[:1], ports)
    name = "a limit of" if is_limit else f"{varied.key.rpartition('.')[2]} ="
    idle = "it drops and marks no packet" if own.counts_packets else "the link is never paused"
    full = f"no packet finds the queue full (the longest one had {longest:,.0f} packets)"
    place = varied.key.rpartition(".")[0]
    text = (
        f"{place}: with {name} {varied.text(free[0].limit)} or more, "
        f"{full if is_limit else idle}, "
        "so that a larger one changes nothing"
    )
    kind = "limit_not_reached" if is_limit else "acts_no_more"
    values = {"packets": longest}
    for words, key in sentences:
        if key:
            yield Door(kind, key, f"{text}; {words}: {usage('vary', key)}", "vary", key, values)
    if not is_met and (known or not sentences):
        shaper = _shaper_words(source, link)
        known = known or [f"nothing else at this link{shaper} drops, marks or stops packets"]
        yield Door(kind, varied.key, "; ".join([text, *known]), values=values)


def _shaper_words(source: Scenario, link: Bottleneck) -> str:
    """The shaper of a link, whose wait no count of a run shows; empty without one."""
    try:
        rate, burst = (
            varied.text(value)
            for varied, value in (
                Varied.of(source, f"links.{link.name}.shaper.{name}") for name in ("rate", "burst")
            )
        )
    except ScenarioError:
        return ""
    return f" but its shaper ({rate} in bursts of {burst})"


def _never_acts(
    place: tuple[str, str], link: Bottleneck, varied: Varied, chosen: Sequence[Tried]
) -> Iterator[Door]:
    """A discipline that neither drops nor marks before its limit at the answer.

    Those that also choose the next packet act without dropping.
    """
    queue, discipline = place
    if not link.binding or discipline in _SCHEDULERS:
        return
    for one in chosen:
        names = [f"links.{link.name}.{name}" for name in ACTS]
        if any(row.get(name) for row in one.point.finished for name in names):
            continue
        text = (
            f"{queue}: with a limit of {varied.text(one.limit)}, {discipline} never drops or marks "
            "a packet before the queue is full: the same as drop_tail"
        )
        yield Door("never_acts", queue, text)


def short_memory(
    source: Scenario, link: Bottleneck, varied: Varied, tried: Sequence[Tried]
) -> Iterator[Door]:
    """Yields the door to memory that refuses packets, however the alpha shares it out.

    Args:
        source: The scenario.
        link: The link whose buffer is sought.
        varied: What was varied.
        tried: The tested values in ascending order, each with runs.
    """
    key, share = refused_at_least(source, link, varied, tried)
    if share:
        shared, size = Varied.of(source, key)
        refused = metric_of("loss_fraction").unit.text(share)
        text = (
            f"{key}: at every alpha the shared memory of {shared.text(size)} refuses packets, at "
            f"least {refused}: {usage('vary', key)}"
        )
        yield Door("short_memory", key, text, "vary", key, {"refused_fraction": share})


def too_few_seeds(nearest: Tried, targets: Sequence[Target], max_seeds: int) -> Iterator[Door]:
    """Yields the door to more seeds, where these may show that a value meets all targets.

    Args:
        nearest: The value that comes nearest to the targets.
        targets: The targets.
        max_seeds: Maximum number of seeds per value.
    """
    waits = any(waiting_for_an_end([nearest], target) for target in targets)
    if nearest.verdict_on(targets) is Outcome.OPEN and not waits:
        more = str(MORE_SEEDS * max_seeds)
        text = f"more seeds may decide on the nearest value: {usage('max_seeds', more)}"
        yield Door("too_few_seeds", "", text, "max_seeds", more)


def _too_little_traffic(link: Bottleneck, tried: Sequence[Tried]) -> Iterator[Door]:
    """A utilization that the flows cannot give, whatever the buffer."""
    able = permanent_load(link) + link.stream_load + link.dynamic_load
    wanted = [
        target
        for target in (tried[0].verdicts if tried else ())
        if target.at_least and target.metric.rpartition(".")[2] == "utilization"
    ]
    for target in wanted:
        if able >= target.bound:
            continue
        sources = (link.classes, link.streams, link.dynamic)
        groups = dict.fromkeys(one.group for group in sources for one in group)
        text = (
            f"links.{link.name}: its flows can send at most {able:.3g} of its rate (access_rate, "
            f"max_window, offered load of {', '.join(groups)}), so that no buffer gives {target}"
        )
        yield Door("too_little_traffic", f"links.{link.name}", text, values={"share": able})


def after_trial(
    queue: OtherQueue, targets: Sequence[Target], one: Tried, after: Tried | None
) -> Door:
    """Returns the door to another queue.

    Args:
        queue: The queue.
        targets: The targets.
        one: The tested value without the change.
        after: Its first run with another discipline at this queue; `None` if none was tried.
    """
    values = {
        "queue_delay_s_mean": queue.wait_s,
        "loss_fraction": queue.loss,
        "utilization": queue.utilization,
    }
    if queue.kind == "other_link":
        text = (
            f"links.{queue.link} is slower and carries {queue.utilization:.1%} of its rate, so "
            f"that it limits the flows: {usage('link', queue.link)}"
        )
        return Door(queue.kind, f"links.{queue.link}", text, "link", queue.link, values)
    row = (after or one).point.finished[0]
    better = _better(targets, one, row)
    given = "=".join(queue.change)
    if not better:
        why = ""
        if queue.is_fair:
            why = (
                f"; there is nothing to set: {queue.discipline} serves flows apart already, so "
                f"that the packets of a flow wait for its own share of the rate of {queue.link}"
            )
        elif after:
            why = f"; one run with {usage('set', given)} comes no nearer to the targets"
        return Door(queue.kind, queue.key, queue.words + why, values=values)
    text = f"{queue.words}; one run with {usage('set', given)} has {' and '.join(better)}"
    near = _nearness_of_run(targets, row)
    return Door(queue.kind, queue.key, text, "set", given, values, near)


def _better(targets: Sequence[Target], one: Tried, after: Mapping[str, Any]) -> list[str]:
    """The missed targets to which a run comes nearer than the first of a value, in words."""
    before = one.point.finished[0]
    return [
        f"{target.metric} {_shown(target, after)} instead of {_shown(target, before)}"
        for target in missed_targets(one, targets)
        if helps(target, before, after)
    ]


def shaper_door(
    key: str, text: str, targets: Sequence[Target], one: Tried, after: Tried | None
) -> Iterator[Door]:
    """Yields what the largest burst of a shaper that a search tries has in one run.

    Args:
        key: The key of the burst.
        text: That burst in words.
        targets: The targets.
        one: The tested value without the change.
        after: Its first run with that burst; `None` if it is refused.
    """
    if after is None:
        return
    row = after.point.finished[0]
    better = _better(targets, one, row)
    words = f"{key}: one run with a burst of {text}"
    if better and all(after.margin(target) >= 0 for target in missed_targets(one, targets)):
        text = f"{words} has {' and '.join(better)}: {usage('vary', key)}"
        near = _nearness_of_run(targets, row)
        yield Door("shaper_binds", key, text, "vary", key, nearness=near)
    else:
        yield Door("shaper_binds", key, f"{words}, the largest that is tried, does not help")


def nearness(means: Mapping[Target, float]) -> tuple[int, float]:
    """Returns how near means come to targets, larger if nearer.

    That is how many of the targets they meet, and the least margin, relative to its bound.

    Args:
        means: The mean of each target's metric.
    """
    margins = {target: target.margin(mean) for target, mean in means.items()}
    relative = (margin / (abs(target.bound) or 1.0) for target, margin in margins.items())
    return sum(margin >= 0 for margin in margins.values()), min(relative, default=0.0)


def _nearness_of_run(targets: Sequence[Target], row: Mapping[str, Any]) -> tuple[int, float]:
    values = {target: _value(target, row) for target in targets}
    return nearness({target: value for target, value in values.items() if value is not None})


def nearest_miss(tried: Sequence[Tried], targets: Sequence[Target]) -> Tried:
    """Returns the tested value whose means, as an answer shows them, come nearest to the targets.

    Args:
        tried: Tested values, at least one.
        targets: The targets.
    """
    return max(
        tried, key=lambda one: nearness({target: one.shown_mean(target) for target in targets})
    )


def missed_targets(one: Tried, targets: Sequence[Target]) -> list[Target]:
    """Returns the targets that a tested value is not shown to meet.

    Args:
        one: The value.
        targets: The targets.
    """
    return [target for target in targets if one.verdict_on([target]) is not Outcome.YES]


def helps(target: Target, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Returns whether a run comes nearer to a target than another one.

    Args:
        target: The target.
        before: Metrics of the one.
        after: Metrics of the other.
    """
    values = [_value(target, row) for row in (before, after)]
    if None in values:
        return False
    first, second = (target.margin(value) for value in values if value is not None)
    return second > first


def _value(target: Target, row: Mapping[str, Any]) -> float | None:
    return row.get(find_metric(target.metric, metric_names(row)))


def _shown(target: Target, row: Mapping[str, Any]) -> str:
    value = _value(target, row)
    return "-" if value is None else metric_of(target.metric).unit.text(value)
