"""Other queues on the way of the flows, which delay or lose what a target is about."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tailroom import models
from tailroom.models import Bottleneck
from tailroom.scenario.scenario import Scenario
from tailroom.simulation.metric_catalogue import metric_of
from tailroom.storage.run import metric_names
from tailroom.studies.size_study.known import Tried
from tailroom.studies.size_study.targets import Target
from tailroom.studies.size_study.varied_key import Varied

FAIR = "fq_codel"
"""Discipline that is tried at another queue: it serves flows apart and keeps their queues short."""
_FAIR_ALREADY = ("fq_codel", "fq_pie", "fair")
NOTABLE_WAIT = 0.1
"""Mean wait at another queue that is named, relative to the mean RTT."""
NOTABLE_LOSS = 0.01
"""Loss at another queue that is named, as a fraction of its packets."""
FULL = 0.95
"""Utilization from which another link may be the one that limits the flows."""
_OF_HOST = re.compile(r"h\d+-\w+")


@dataclass(frozen=True)
class OtherQueue:
    """A queue other than the one in question, with what it does to the flows."""

    kind: str
    """`other_queue`, or `other_link` if it is the slower link on their way."""
    link: str
    """Name of its link."""
    key: str
    """Key of its discipline in the scenario."""
    discipline: str
    """Kind of its discipline."""
    wait_s: float
    """Mean wait, in seconds."""
    loss: float
    """Fraction of its packets that is dropped."""
    utilization: float
    """Utilization of its link."""

    @property
    def words(self) -> str:
        """What it does, with its numbers."""
        wait, loss = (metric_of(name).unit.text for name in ("queue_delay_s_mean", "loss_fraction"))
        whose = "a host's own queue" if self.key.endswith("nic_queue") else self.discipline
        return (
            f"{self.key} ({whose} at {self.link}) makes packets wait {wait(self.wait_s)} in the "
            f"mean and drops {loss(self.loss)}"
        )

    @property
    def change(self) -> tuple[str, str]:
        """A key and a value that may help; both empty if the queue is fair already."""
        return ("", "") if self.is_fair else (self.key, FAIR)

    @property
    def is_fair(self) -> bool:
        """Whether it serves flows apart already."""
        return self.discipline in _FAIR_ALREADY


def other_queues(
    source: Scenario, link: Bottleneck, varied: Varied, one: Tried, missed: Sequence[Target]
) -> Iterator[OtherQueue]:
    """Yields the queue that delays most, and that which loses most, if they matter.

    Args:
        source: The scenario.
        link: The link whose buffer is sought.
        varied: What was varied.
        one: The tested value that comes nearest to the targets.
        missed: The targets that it misses.
    """
    rows = one.point.finished
    own = _read(source, link.name, rows)
    found = [
        queue
        for name in _on_the_way(link, missed, metric_names(rows[0]))
        if not _is_varied(name, link, varied) and (queue := _read(source, name, rows))
    ]
    slower = [queue for queue in found if _is_slower(source, link, queue)]
    if slower and any(target.metric.endswith("utilization") for target in missed):
        slowest = max(slower, key=lambda queue: queue.utilization)
        yield OtherQueue(**{**vars(slowest), "kind": "other_link"})
        return
    least_s = max(own.wait_s if own else 0.0, NOTABLE_WAIT * link.mean_rtt_s)
    waiting = max(found, key=lambda queue: queue.wait_s, default=None)
    if waiting and waiting.wait_s > least_s:
        yield waiting
    losing = max(found, key=lambda queue: queue.loss, default=None)
    if losing and losing is not waiting and losing.loss > max(NOTABLE_LOSS, own.loss if own else 0):
        yield losing


def _on_the_way(link: Bottleneck, missed: Sequence[Target], known: Sequence[str]) -> list[str]:
    """The links of the flows of the link, and those of the groups that the targets name."""
    names = dict.fromkeys(link.other_links)
    groups = [target.metric.removeprefix("groups.").partition(".")[0] for target in missed]
    for group in groups:
        places = (metric.partition(f"groups.{group}.links.")[2] for metric in known)
        names.update(dict.fromkeys(place.partition(".")[0] for place in places if place))
    return [name for name in names if name != link.name]


def _is_varied(name: str, link: Bottleneck, varied: Varied) -> bool:
    """Whether a link has the queue that was varied: all ports of a switch share its key."""
    return name == link.name if varied.key.startswith("links.") else shares_key(name, varied.key)


def shares_key(name: str, key: str) -> bool:
    """Returns whether a link is one of the ports that a key of a switch describes.

    Args:
        name: Name of the link.
        key: A dotted key in full; one of `nic_queue` describes the ports of the hosts.
    """
    _, table, *rest = key.split(".")
    is_for_hosts = rest[:1] == ["nic_queue"]
    return name.startswith(f"{table}-") and is_of_host(name, table) is is_for_hosts


def is_of_host(name: str, table: str) -> bool:
    """Returns whether a link of a switch or fabric is the interface of a host.

    Args:
        name: Name of the link.
        table: Name of the switch or fabric.
    """
    return bool(_OF_HOST.fullmatch(name.removeprefix(f"{table}-")))


def _is_slower(source: Scenario, link: Bottleneck, other: OtherQueue) -> bool:
    """Whether another link on the way of the data is full, and slower."""
    if other.utilization < FULL or "-" in other.link:
        return False
    flows: Any = source.resolved.get("flows", {})
    paths = [group.get("path", ()) for group in flows.values()]
    is_shared = any(link.name in path and other.link in path for path in paths)
    return is_shared and models.read_bottleneck(source, other.link).rate_bps < link.rate_bps


def _read(source: Scenario, name: str, rows: Sequence[Mapping[str, Any]]) -> OtherQueue | None:
    """The numbers of a queue in the mean of the runs; `None` if its key is not known."""
    place = queue_place(source, name)
    if place is None:
        return None
    key, discipline = place
    wait_s, loss, utilization = (
        sum(row.get(f"links.{name}.{metric}") or 0.0 for row in rows) / len(rows)
        for metric in ("queue_delay_s_mean", "loss_fraction", "utilization")
    )
    return OtherQueue("other_queue", name, key, discipline, wait_s, loss, utilization)


def queue_place(source: Scenario, name: str) -> tuple[str, str] | None:
    """Returns the key of a link's discipline, and its kind; `None` if the link is unknown.

    Args:
        source: The scenario.
        name: Name of the link.
    """
    tables: Any = source.resolved
    if name in tables.get("links", {}):
        return f"links.{name}.queue", tables["links"][name]["queue"]["kind"]
    for kind in ("switches", "fabrics"):
        for table, ports in tables.get(kind, {}).items():
            if name.startswith(f"{table}-"):
                queue = "nic_queue" if is_of_host(name, table) else "queue"
                return f"{kind}.{table}.{queue}", ports[queue]["kind"]
    return None
