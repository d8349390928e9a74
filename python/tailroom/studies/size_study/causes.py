"""What drops, marks or stops the packets of a link, and the keys that decide on it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tailroom.models import Bottleneck
from tailroom.scenario.scenario import Scenario
from tailroom.simulation.metric_catalogue import metric_of
from tailroom.storage.run import metric_names
from tailroom.studies.size_study.known import Tried
from tailroom.studies.size_study.other_queues import queue_place
from tailroom.studies.size_study.pools import place_of_pool
from tailroom.studies.size_study.varied_key import Varied

ACTS = ("drops_early_packets", "drops_head_packets", "marks_packets")
"""What a discipline does before its limit is reached."""
POLICED = ("drops_policed_packets",)
"""What a policer does."""
NOTABLE = 0.01
"""Share of the time, or of the flows, from which a cause is named."""
NOTABLE_PART = 0.1
"""Packets of a cause that is named, relative to those of the strongest one."""


@dataclass(frozen=True)
class Cause:
    """One thing that acts on the packets of a link."""

    metrics: tuple[str, ...]
    """Metrics of a link that count its packets, or its share of the time."""
    words: str
    """What is said of it, with `{share}` for its share of the packets or the time."""
    keys: tuple[str, ...] = ()
    """Keys to vary, each with the same words; `{name}` stands for the last word of the key."""

    @property
    def counts_packets(self) -> bool:
        """Whether its metrics count packets; otherwise they are shares of the time."""
        return self.metrics[0].endswith("_packets")

    def share(self, tried: Sequence[Tried], ports: Sequence[str]) -> float:
        """Returns the share of the packets, or of the time, in the runs of some values.

        Args:
            tried: The values.
            ports: Names of the links.
        """
        rows = [row for one in tried for row in one.point.finished]
        counted = _sum(rows, [f"links.{port}.{name}" for port in ports for name in self.metrics])
        if not self.counts_packets:
            return counted / (len(rows) * len(ports))
        return counted / max(1.0, _sum(rows, [f"links.{port}.arrivals_packets" for port in ports]))

    def sentences(self, share: float) -> Iterator[tuple[str, str]]:
        """Yields the finding and the key to vary, which is empty if there is none.

        Args:
            share: Its share of the packets, or of the time.
        """
        shown = metric_of("loss_fraction").unit.text(share)
        for key in self.keys or ("",):
            yield self.words.format(share=shown, name=key.rpartition(".")[2]), key


def causes(source: Scenario, link: Bottleneck) -> list[Cause]:
    """Returns what may act on the packets of a link; in a pool, alpha comes before the discipline.

    Args:
        source: The scenario.
        link: The link.
    """
    place = queue_place(source, link.name)
    if place is None:
        return []
    queue, _ = place
    limit = f"{queue}.limit"
    memory = tuple(_memory_keys(source, queue))
    found = [
        Cause(
            ("drops_overflow_packets",),
            "the limit of the queue decides, at which {share} of the packets are dropped",
            (limit,),
        ),
        Cause(
            ("drops_threshold_packets", "drops_pool_packets"),
            "{name} decides: the shared memory refuses {share} of the packets",
            memory,
        ),
        Cause(ACTS, "{name} decides", tuple(_discipline_keys(source, link, queue))),
        Cause(
            ("random_losses_packets",),
            "the wire loses {share} of the packets at random, which no buffer changes",
        ),
        Cause(
            ("drops_headroom_packets",),
            "{share} of the packets find no memory of the link over which they arrive (headroom, "
            "ingress)",
        ),
        Cause(
            ("paused_fraction",),
            "the switch at the far end pauses it for {share} of the time (tailroom headroom "
            "computes the memory that a pause needs)",
            tuple(_pause_keys(source, queue)),
        ),
    ]
    if _table(source, queue).get("policer"):
        burst = f"links.{link.name}.policer.burst"
        words = "the policer decides, which drops {share} of the packets"
        found.insert(0, Cause(POLICED, words, (burst,)))
    return found


def acting(
    found: Sequence[Cause], tried: Sequence[Tried], ports: Sequence[str]
) -> list[tuple[Cause, float]]:
    """Returns the causes that matter in the runs of some values, with their shares.

    Args:
        found: The causes.
        tried: The values.
        ports: Names of the links.
    """
    shares = [(cause, cause.share(tried, ports)) for cause in found]
    most = max((share for cause, share in shares if cause.counts_packets), default=0.0)
    return [
        (cause, share)
        for cause, share in shares
        if share > 0 and share >= (NOTABLE_PART * most if cause.counts_packets else NOTABLE)
    ]


def refused_at_least(
    source: Scenario, link: Bottleneck, varied: Varied, tried: Sequence[Tried]
) -> tuple[str, float]:
    """Returns the key of the memory that an alpha shares out, and what it refuses at every alpha.

    Args:
        source: The scenario.
        link: The link whose buffer is sought.
        varied: What was varied; the key is empty if it is no alpha of a pool.
        tried: The tested values, each with runs.
    """
    place = place_of_pool(source, varied.key) if varied.is_alpha else None
    memory = next((one for one in causes(source, link) if varied.key in one.keys), None)
    if place is None or memory is None or not tried:
        return "", 0.0
    ports = ports_of(source, link, tried[0])
    return ".".join([*place, "size"]), min(memory.share([one], ports) for one in tried)


def acts_no_more(
    source: Scenario, link: Bottleneck, varied: Varied, tried: Sequence[Tried]
) -> list[Tried]:
    """Returns the values, in ascending order, from which on what they set acts on no packet.

    A limit in packets that is below the longest queue at a larger one would act with its seeds.

    Args:
        source: The scenario.
        link: The link whose buffer is sought.
        varied: What was varied.
        tried: The tested values in ascending order, each with runs.
    """
    own = next((one for one in causes(source, link) if varied.key in one.keys), None)
    if own is None or varied.is_alpha:
        return []
    ports = ports_of(source, link, tried[0])
    acting_at = [place for place, one in enumerate(tried) if own.share([one], ports)]
    free = list(tried[max(acting_at, default=-1) + 1 :])
    is_limit = varied.key.endswith(".limit") and varied.quantity == "packets"
    longest = longest_queue(free, ports) if is_limit else 0.0
    return [one for one in free if one.limit >= longest]


def is_never_full(
    source: Scenario, link: Bottleneck, varied: Varied, tried: Sequence[Tried], limit: int
) -> bool:
    """Returns whether no packet finds a queue full whose discipline has other bounds.

    Args:
        source: The scenario.
        link: The link whose buffer is sought.
        varied: What was varied.
        tried: The tested values in ascending order, each with runs.
        limit: A tested limit, in steps.
    """
    if not varied.is_limit or not link.binding:
        return False
    return any(one.limit == limit for one in acts_no_more(source, link, varied, tried))


def ports_of(source: Scenario, link: Bottleneck, tried: Tried) -> list[str]:
    """Returns the links that share the key of the queue of a link.

    Args:
        source: The scenario.
        link: The link.
        tried: A value whose runs name all links.
    """
    ends = ".queue_packets_max"
    names = [
        name.removeprefix("links.").removesuffix(ends)
        for name in metric_names(tried.point.finished[0])
        if name.startswith("links.") and name.endswith(ends)
    ]
    queue, _ = queue_place(source, link.name) or ("", "")
    return [name for name in names if (queue_place(source, name) or ("", ""))[0] == queue]


def longest_queue(tried: Sequence[Tried], ports: Sequence[str]) -> float:
    """Returns the most packets that waited at one of some links in the runs of some values.

    Args:
        tried: The values.
        ports: Names of the links.
    """
    rows = [row for one in tried for row in one.point.finished]
    longest = (row.get(f"links.{name}.queue_packets_max") or 0.0 for name in ports for row in rows)
    return max(longest, default=0.0)


def refused_words(link: Bottleneck, tried: Sequence[Tried]) -> str:
    """Returns that admission control refuses flows of a link; empty if it does not.

    Args:
        link: The link.
        tried: The values whose runs are read.
    """
    rows = [row for one in tried for row in one.point.finished]
    groups = dict.fromkeys(flows.group for flows in link.dynamic)
    shares = [
        (_sum(rows, [f"groups.{group}.refused_fraction"]) / len(rows), group) for group in groups
    ]
    share, group = max(shares, default=(0.0, ""))
    if share < NOTABLE:
        return ""
    shown = metric_of("loss_fraction").unit.text(share)
    return f"admission control refuses {shown} of the flows of {group} (min_fair_rate and others)"


def _discipline_keys(source: Scenario, link: Bottleneck, queue: str) -> list[str]:
    """The parameters that decide before the limit is reached, as the engine names them."""
    resolved: Any = source.resolved
    groups = resolved.get("flows", {}).values()
    has_l4s = any(group.get("ecn") == "l4s" for group in groups)
    given = _table(source, queue).get("queue", {})
    binding = [one for one in link.binding if one in given]
    return [f"{queue}.{one}" for one in binding if has_l4s or one != "l4s_threshold"]


def _memory_keys(source: Scenario, queue: str) -> list[str]:
    """The key of the pool that refuses packets: alpha, a threshold, or its size."""
    kind, name, *_ = queue.split(".")
    table = _table(source, queue)
    if (pool := table.get("pool")) is None:
        return []
    # A switch has its pool in its own table.
    resolved: Any = source.resolved
    shared, of_pool = (
        (resolved["pools"][pool], f"pools.{pool}")
        if kind == "links"
        else (pool, f"{kind}.{name}.pool")
    )
    if kind == "links" and "alpha" in table:
        return [f"links.{name}.alpha"]
    policy = shared["policy"]
    given = [one for one in ("alpha", "threshold") if isinstance(policy, Mapping) and one in policy]
    return [f"{of_pool}.policy.{given[0]}"] if given else [f"{of_pool}.size"]


def _pause_keys(source: Scenario, queue: str) -> list[str]:
    """The threshold from which on the far end of a link pauses it, if the link has one."""
    kind, name, *_ = queue.split(".")
    is_given = "xoff" in (_table(source, queue).get("pause") or {})
    return [f"{kind}.{name}.pause.xoff"] if is_given else []


def _table(source: Scenario, queue: str) -> Mapping[str, Any]:
    kind, name, *_ = queue.split(".")
    resolved: Any = source.resolved
    table: Mapping[str, Any] = resolved[kind][name]
    return table


def _sum(rows: Sequence[Mapping[str, Any]], metrics: Sequence[str]) -> float:
    return sum(row.get(name) or 0.0 for row in rows for name in metrics)
