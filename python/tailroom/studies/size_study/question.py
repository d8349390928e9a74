"""The question that `size` answers: a scenario, targets, and the link whose buffer is sought."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from typing import Any

from tailroom import arguments, models
from tailroom.buffer_atlas.data import MOST_LOSS
from tailroom.errors import MetricError, ScenarioError, TargetError
from tailroom.models import Bottleneck
from tailroom.models.bottleneck import read_bottlenecks
from tailroom.quoting import argument_text
from tailroom.scenario.custom_controls import Congestion
from tailroom.scenario.dumbbell import HOST, dumbbell
from tailroom.scenario.scenario import Scenario, ScenarioLike
from tailroom.scenario.subscribers import read_active
from tailroom.simulation.metrics import expected_names, find_metric, short_name
from tailroom.studies.size_study.other_queues import is_of_host, queue_place, shares_key
from tailroom.studies.size_study.pools import Pools
from tailroom.studies.size_study.targets import (
    Target,
    check_targets,
    limits_loss,
    metric_name,
    parse_target,
)
from tailroom.studies.size_study.varied_key import Varied

MOST_NAMED = 3
"""Number of other links that are all named."""
_CONGESTION_KEY = re.compile(r"^scenario: (?:line \d+, )?flows\.[^.: ]+\.congestion", re.MULTILINE)


@dataclass(frozen=True)
class Numbers:
    """A question without a scenario: long flows over one link; see `dumbbell`.

    With a scenario, only `congestion` may be given.
    """

    rate: str | float | None = None
    rtt: str | float | timedelta | tuple[float, float] | None = None
    flows: int | str | Mapping[str, int] | None = None
    congestion: Congestion | None = None
    duration: str | float | timedelta | None = None
    host: str | None = None
    access_rate: str | float | None = None
    subscribers: int | None = None
    active: float | None = None

    @property
    def assumed(self) -> tuple[str, ...]:
        """What the numbers leave open, and what is simulated for it.

        Raises:
            ScenarioError: The subscribers are wrong.
        """
        access, counted = arguments.named("access_rate"), arguments.named("subscribers")
        if self.subscribers is not None:
            each = "" if self.access_rate else f"; give the rate of their lines: {access}"
            return (f"assumed: {read_active(self.subscribers, self.active)}{each}",)
        if self.rate is None or self.flows in (None, 1, "1") or self.access_rate is not None:
            return ()
        return (
            f"assumed: {_flow_words(self.flows)} at once, each of which may send at the rate of "
            f"the link; else give {access}, or {counted}",
        )


def _flow_words(flows: int | str | Mapping[str, int] | None) -> str:
    """The long flows in words: "500 cubic, 100 bbr3 long flows"."""
    if isinstance(flows, Mapping):
        flows = ", ".join(f"{count} {name}" for name, count in flows.items())
    return f"{flows} long flows"


def asked_scenario(
    scenario: ScenarioLike | None, numbers: Numbers, overrides: Mapping[str, object] | None
) -> Scenario:
    """Reads the given scenario, or the scenario that the numbers describe.

    Args:
        scenario: Path of a scenario file, or a scenario built in Python; or `None`.
        numbers: The numbers, and the congestion control of either.
        overrides: Values of the scenario to replace, by key.

    Raises:
        ScenarioError: Both are given, neither is given, or a number is wrong.
    """
    if scenario is not None:
        if replace(numbers, congestion=None) != Numbers():
            given = [one.name for one in fields(Numbers) if one.name not in ("congestion", "host")]
            names = ", ".join(map(arguments.named, given))
            raise ScenarioError(
                f"{names} and {arguments.named('host')} replace a scenario; leave out the "
                f"scenario, or change its values with {arguments.named('set')}"
            )
        return Scenario.of(scenario, overrides, numbers.congestion)
    if numbers.rate is None or numbers.rtt is None:
        rate, rtt = map(arguments.named, ("rate", "rtt"))
        raise ScenarioError(f"give a scenario, or {rate} and {rtt}, such as 100Mbit/s and 40ms")
    flows = 1 if numbers.flows is None else numbers.flows
    if numbers.subscribers is not None:
        if numbers.flows is not None:
            raise ScenarioError("subscribers: they resolve to flows; leave one of the two out")
        flows = read_active(numbers.subscribers, numbers.active).flows
    elif numbers.active is not None:
        raise ScenarioError(
            f"active: is a share of subscribers; add {arguments.usage('subscribers', '400')}"
        )
    described = dumbbell(
        numbers.rate,
        numbers.rtt,
        flows,
        numbers.congestion,
        duration=numbers.duration,
        host=numbers.host or HOST,
        access_rate=numbers.access_rate,
    )
    # Numbers have no unit of a limit: it is sought in packets, which all have one size.
    try:
        link = models.read_bottleneck(described)
    except ScenarioError:
        # Some controls need marks, which only the replaced values give.
        link = models.read_bottleneck(Scenario.of(described, overrides))
    limit = f"{max(1, int(link.limit_packets))} packets"
    counted = described.replacing({f"links.{link.name}.queue.limit": limit})
    return Scenario.of(counted, overrides)


@contextmanager
def named_as_arguments(scenario: object) -> Iterator[None]:
    """Names the argument in an error about numbers, or about the scenario that they describe.

    Args:
        scenario: The given scenario; with one, errors stay as they are.

    Raises:
        ScenarioError: The block raised one.
    """
    try:
        yield
    except ScenarioError as error:
        if scenario is not None:
            raise
        name, colon, problem = _CONGESTION_KEY.sub("congestion", str(error)).partition(":")
        number, dot, key = name.partition(".")
        if number in {field.name for field in fields(Numbers)}:
            name = f"{arguments.named(number)}{dot}{key}"
        raise ScenarioError(f"{name}{colon}{problem}") from None


@dataclass(frozen=True)
class Question:
    """A scenario, targets, and the link whose buffer is sought."""

    source: Scenario
    targets: tuple[Target, ...]
    """Targets with unambiguous names of metrics."""
    loss: Target | None
    """Upper bound on the loss of the link, or of the pools, that `size` adds; `None` if a target
    limits a loss, or the caller wants none."""
    link: Bottleneck
    link_chosen: str
    """Reason for the choice of this link; empty if it is the only link or the caller named it."""
    varied: Varied
    """What is sought: the limit of the link's queue, or another key."""
    value: int | None
    """The scenario's own value of what is sought, in steps; `None` of a limit that nobody gave."""
    pools: Pools | None
    """The pools that the varied key belongs to, if it does."""


def read_question(
    source: Scenario,
    targets: str | Target | Sequence[str | Target],
    link: str | None,
    most_loss: float | None,
    vary: str | None = None,
) -> Question:
    """Reads the targets, and determines the link whose buffer is sought.

    Args:
        source: The scenario.
        targets: One target or several, parsed or as text.
        link: Name of the link; if left out, the targets or the rates determine it.
        most_loss: Loss fraction, above 0 and below 1, that the answer keeps to where no target
            limits a loss; `None` for no bound.
        vary: Key whose value is sought instead of the limit of the link.

    Raises:
        ScenarioError: The scenario is wrong, or has no such link or key.
        TargetError: A target is malformed or impossible, two targets contradict each other, or
            targets name several links.
        MetricError: There is no such metric.
    """
    if isinstance(targets, (str, Target)):
        targets = [targets]
    if not (isinstance(targets, Sequence) and all(isinstance(t, (str, Target)) for t in targets)):
        raise TargetError(
            f"{arguments.named('target')}: {argument_text(targets)} is not a target; write a text, "
            'as in "utilization >= 98%", or several in a list'
        )
    if not targets:
        check_targets([])
    if link is not None:
        models.read_bottleneck(source, link)  # Raises ScenarioError if there is no such link.
    known = expected_names(source)
    # Names before values: the metric determines which units are right.
    named = [_named_in_full(target, known, link) for target in targets]
    parsed = [parse_target(target) if isinstance(target, str) else target for target in named]
    check_targets(parsed)
    full = [
        target.metric if known is None else find_metric(target.metric, known) for target in parsed
    ]
    check_targets([replace(target, metric=name) for target, name in zip(parsed, full, strict=True)])
    key = _full_key(source, vary, link) if vary else ""
    source = _with_default_table(source, key) if key else source
    if link is None and key.startswith("links."):
        link = key.split(".")[1]
    pools = Pools.of(source, key, known) if key else None
    member = pools and (link or models.busiest_of(source, pools.members))
    sought, reason = (
        (member, pools.reason) if pools and member else _sought_link(source, full, link, key)
    )
    bottleneck = models.read_bottleneck(source, sought)
    if key in {"", f"links.{bottleneck.name}.queue.limit"}:
        _check_own_limit(source, bottleneck.name, is_asked_for=not reason)
        varied = Varied.limit_of(source, bottleneck)
        value = varied.value_in(source)
    else:
        varied, value = Varied.of(source, key)
    lost = pools.loss_metric if pools else f"links.{bottleneck.name}.loss_fraction"
    loss = None if any(map(limits_loss, parsed)) else _loss_target(lost, known, most_loss)
    if loss and most_loss == MOST_LOSS and _is_lossless(source, bottleneck):
        loss = replace(loss, bound=0.0, written="0%")
    return Question(source, tuple(parsed), loss, bottleneck, reason, varied, value, pools)


def without_made_up_limit(question: Question, numbers: Numbers) -> Question:
    """Returns a question about numbers without the limit that `dumbbell` sets: nobody gave it.

    Args:
        question: The question.
        numbers: The numbers.
    """
    if not question.varied.is_limit:
        return question
    try:
        made_up = question.varied.value_in(asked_scenario(None, numbers, None))
    except ScenarioError:  # without the replaced values, which have the queue then
        return question
    return replace(question, value=None) if question.value == made_up else question


def _full_key(source: Scenario, vary: str, link: str | None) -> str:
    """The key that is varied, in full: of several with the same end, that of the link.

    Raises:
        ScenarioError: Several keys end with it.
    """
    queue, _ = (queue_place(source, link) if link else None) or ("", "")
    is_own = queue.startswith("links.")
    return source.full_key(vary, queue.removesuffix(".queue") if is_own else queue)


def _check_own_limit(source: Scenario, link: str, *, is_asked_for: bool) -> None:
    """Refuses a port of a switch, whose limit is that of other ports too.

    Args:
        source: The scenario.
        link: Name of the link.
        is_asked_for: Whether the caller or the targets name it; otherwise the ports of the switch
            are meant, not the interfaces of its hosts.

    Raises:
        TargetError: The link belongs to a switch or fabric.
    """
    tables: Any = source.resolved
    if link in tables.get("links", {}):
        return
    switches = [(kind, name) for kind in ("switches", "fabrics") for name in tables.get(kind, {})]
    kind, name = max(
        (one for one in switches if link.startswith(f"{one[1]}-")), key=lambda one: len(one[1])
    )
    place = f"{kind}.{name}"
    if is_asked_for and is_of_host(link, name):
        vary = arguments.usage("vary", f"{place}.nic_queue.limit")
        raise TargetError(
            f"{link} has no limit of its own: the hosts of {place} have one for all their "
            f"interfaces; search it with {vary}"
        )
    policy = tables[kind][name].get("pool", {}).get("policy", ())
    given = [f"policy.{one}" for one in ("alpha", "threshold") if one in policy]
    memory = [f"pool.{one}" for one in ("size", *given)] if "pool" in tables[kind][name] else []
    vary, *shared = (arguments.usage("vary", f"{place}.{key}") for key in ("queue.limit", *memory))
    raise TargetError(
        f"the ports of {place} have one limit; search it with {vary}"
        + (f", or the memory that they share with {' or '.join(shared)}" if shared else "")
    )


def _with_default_table(source: Scenario, key: str) -> Scenario:
    """The scenario with the table of a key written out, where it leaves that to its default."""
    table, _, name = key.rpartition(".")
    tables: Any = source.resolved
    for part in table.split("."):
        tables = tables.get(part) if isinstance(tables, dict) else None
    if not isinstance(tables, dict) or name not in tables:
        return source
    try:
        source.replacing({key: tables[name]}).check()
    except ScenarioError:
        return source.replacing({table: tables})
    return source


def _is_lossless(source: Scenario, link: Bottleneck) -> bool:
    """Whether pause frames are to keep the packets of a link from being dropped."""
    way = {link.name, *link.other_links}
    return any("pause.xoff" in one.port for one in read_bottlenecks(source) if one.name in way)


def _loss_target(
    metric: str, known: Sequence[str] | None, most_loss: float | None
) -> Target | None:
    """The bound on a loss, given its metric, with the shortest name that is unambiguous.

    Raises:
        TargetError: The bound is not between 0 and 1.
    """
    if most_loss is None:
        return None
    if not 0 < most_loss < 1:
        raise TargetError(
            f"most_loss: {argument_text(most_loss)} is not a fraction above 0 and below 1; give "
            "for example 0.01, or None for no bound"
        )
    name = short_name(metric, list(known)) if known else metric
    written = f"{100 * most_loss:.6g}%"
    return Target(name, at_least=False, bound=most_loss, written=written, is_default=True)


def _named_in_full(
    target: str | Target, known: Sequence[str] | None, link: str | None
) -> str | Target:
    """Adds the name of the sought link to a metric that several links have.

    Raises:
        MetricError: No metric has this name, or several have it.
    """
    metric = metric_name(target) if isinstance(target, str) else target.metric
    if known is None or metric is None:
        return target
    try:
        find_metric(metric, known)
    except MetricError:
        if link is None or f"links.{link}.{metric}" not in known:
            raise
        name = f"{link}.{metric}"
        if isinstance(target, str):
            return target.replace(metric, name, 1)
        return replace(target, metric=name)
    return target


def _sought_link(
    source: Scenario, metrics: Sequence[str], link: str | None, key: str
) -> tuple[str | None, str]:
    """The link whose buffer is sought, and the reason if the choice is not obvious.

    A key of a switch is about its ports, one of `nic_queue` about those of its hosts.

    Raises:
        TargetError: The targets name several links.
    """
    crossed = models.crossed_links(source)
    if link is not None or len(crossed) == 1:
        return link or crossed[0], ""
    named = dict.fromkeys(name for metric in metrics if (name := _link_of(metric)))
    if len(named) > 1:
        raise TargetError(
            f"the targets name several links: {', '.join(named)}; choose the link whose buffer is "
            f"sought with {arguments.usage('link', next(iter(named)))}"
        )
    if named:
        return next(iter(named)), ""
    ports = [name for name in crossed if key and shares_key(name, key)]
    busiest = models.busiest_of(source, ports) or models.read_bottleneck(source).name
    if ports:
        return busiest, (
            "the targets name no link: this is the slowest port that carries flows, and the key is "
            "that of all such ports"
        )
    others = some_of([name for name in crossed if name != busiest])
    return busiest, (
        "the targets name no link, and this is the slowest link that carries flows; choose "
        f"another link ({others}) with {arguments.usage('link', 'NAME')}"
    )


def some_of(links: Sequence[str]) -> str:
    """Returns the names of other links, or of many their number and the first.

    Args:
        links: The names.
    """
    if len(links) <= MOST_NAMED:
        return ", ".join(links)
    return f"{len(links)} others, as {', '.join(links[: MOST_NAMED - 1])}"


def _link_of(metric: str) -> str | None:
    """The link in the full name of a metric, `links.X.M` or `groups.G.links.X.M`, else `None`."""
    parts = metric.split(".")
    return parts[parts.index("links") + 1] if "links" in parts[:-2] else None
