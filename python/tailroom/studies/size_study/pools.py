"""The pools that a varied key of `size` belongs to, and what an answer shows of them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tailroom.field_docs import with_field_docs
from tailroom.scenario.scenario import Scenario
from tailroom.simulation.metrics import LARGEST_POOL_LOSS

_OF_SWITCH = r"-(switch|leaf\d+|spine\d+)(-\d+)?"
"""What follows the name of a table of switches in the names of its pools."""
_KEYS_OF_SWITCH = ("pool", "reserved", "ports_per_pool")
_KEYS_OF_LINK = ("alpha", "reserved", "priority")
_MOST_NAMED = 3


@with_field_docs
@dataclass(frozen=True)
class Pools:
    """The pools that a key belongs to, with the links that share each."""

    key: str
    """Key of the scenario that describes them: `pools.asic`, `fabrics.dc.pool`."""
    links: Mapping[str, tuple[str, ...]]
    """The links by pool. Empty if the scenario does not permit the run of 1 us that shows them."""

    @classmethod
    def of(cls, source: Scenario, key: str, known: Sequence[str] | None) -> "Pools | None":
        """Returns the pools of a key; `None` if it belongs to none.

        Args:
            source: The scenario.
            key: A dotted key in full.
            known: Full names of the metrics of its runs, which name the links of each pool.
        """
        place = place_of_pool(source, key)
        if place is None:
            return None
        kind, table, *_ = place
        is_one = re.compile(re.escape(table) + ("" if kind == "pools" else _OF_SWITCH))
        links: dict[str, list[str]] = {}
        for metric in known or ():
            parts = metric.split(".")
            is_share = parts[0] == "pools" and parts[2] == "links" and parts[-1] == "memory_share"
            if is_share and is_one.fullmatch(parts[1]):
                links.setdefault(parts[1], []).append(parts[3])
        return cls(".".join(place), {pool: tuple(names) for pool, names in links.items()})

    @property
    def members(self) -> list[str]:
        """The links of all of them."""
        return [link for links in self.links.values() for link in links]

    @property
    def loss_metric(self) -> str:
        """The loss of the pool; of several pools, the largest."""
        [*names] = self.links
        return f"pools.{names[0]}.loss_fraction" if len(names) == 1 else LARGEST_POOL_LOSS

    @property
    def words(self) -> str:
        """What they are, as in "pool asic (3 links)"."""
        names = [*self.links]
        if not names:
            return f"the memory of {self.key}"
        if len(names) == 1:
            count = len(self.links[names[0]])
            return f"pool {names[0]} ({count} link{'' if count == 1 else 's'})"
        more = len(names) - _MOST_NAMED
        rest = f" and {more} more" if more > 0 else ""
        return f"{len(names)} pools ({', '.join(names[:_MOST_NAMED])}{rest})"

    @property
    def reason(self) -> str:
        """Whose loss and costs an answer is about."""
        what = f"{self.key} is {self.words}: "
        if len(self.links) == 1:
            return f"{what}the bound on the loss and the costs are those of all its links"
        return (
            f"{what}the bound on the loss holds for each pool, and the costs are those of the "
            "fullest one"
        )

    def shown_metrics(self, rows: Sequence[Mapping[str, Any]]) -> list[str]:
        """Full names of the metrics that show what a size costs.

        The loss, the memory in use, and the delay of the busiest link: the one that is used most in
        the runs. Of several pools, the one whose memory is fullest in the runs.

        Args:
            rows: Metrics of the runs by name.
        """
        shown = [self.loss_metric]
        if not self.links or not rows:
            return shown
        fullest = max(self.links, key=lambda pool: _sum(rows, f"pools.{pool}.memory_bytes_p99"))
        shown += [f"pools.{fullest}.memory_bytes_{statistic}" for statistic in ("mean", "p99")]
        members = self.links[fullest]
        busiest = max(members, key=lambda link: _sum(rows, f"links.{link}.utilization"))
        return [*shown, f"links.{busiest}.queue_delay_s_p99"]


def place_of_pool(source: Scenario, key: str) -> list[str] | None:
    """Returns the keys that lead to the pool that a key belongs to; `None` if there is none.

    Args:
        source: The scenario.
        key: A dotted key in full.
    """
    kind, *rest = key.split(".")
    if kind == "pools":
        return [kind, rest[0]]
    if kind in ("switches", "fabrics") and rest[1:2] and rest[1] in _KEYS_OF_SWITCH:
        return [kind, rest[0], "pool"]
    if kind == "links" and rest[1:] and rest[1] in _KEYS_OF_LINK:
        pool = source.resolved["links"].get(rest[0], {}).get("pool")
        return None if pool is None else ["pools", pool]
    return None


def key_at_switch(source: Scenario, key: str) -> str | None:
    """Returns the key that a key of a switch's pool has at the switch, else `None`.

    Results name the pool `tor-switch`, and the scenario has it as `switches.tor.pool`.

    Args:
        source: The scenario.
        key: A dotted key in full, such as `pools.tor-switch.policy.alpha`.
    """
    kind, _, rest = key.partition(".")
    name, _, end = rest.partition(".")
    for tables in ("switches", "fabrics"):
        for table in source.resolved.get(tables, {}):
            if kind == "pools" and re.fullmatch(re.escape(table) + _OF_SWITCH, name):
                return f"{tables}.{table}.pool.{end}"
    return None


def _sum(rows: Sequence[Mapping[str, Any]], metric: str) -> float:
    return sum(row.get(metric) or 0.0 for row in rows)
