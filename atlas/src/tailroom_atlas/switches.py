"""The chapter of the atlas on switches: how much memory the ports share, and with which alpha.

python -m tailroom_atlas.switches --store DIR [--docs DIR]

Writes docs/atlas/switch.md, its picture and switch.csv, the data of both. A run that is in the store
is not repeated.
"""

import argparse
import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

import tailroom as tr
from tailroom.plots import style
from tailroom_atlas.page import DOTS_PER_INCH

HOSTS = 32
ANSWER_BYTES = 64_000
QUERY_LOAD, WEB_LOAD = 0.1, 0.4
"""Shares of what the links to all hosts carry."""
SEEDS = 2
FAN_INS = (8, 24)
MEMORIES_MB = (4, 16, 64)
ALPHAS = (0.5, 2.0, 8.0)
CONTROLS = {"cubic": "CUBIC", "dctcp": "DCTCP", "dcqcn": "DCQCN, with pauses"}
MEASURED_S = {10: 0.2, 25: 0.08, 100: 0.02, 400: 0.01}
"""By rate in Gbit/s, the time that the statistics cover; half of it passes before."""
DRAWN = (100, 24)
"""Rate and fan-in of the picture."""
COMPLETION = "groups.queries.coflows.completion_time_s_p99"
LOSS = "groups.queries.loss_fraction"

Row = dict[str, Any]


@dataclass(frozen=True)
class Leaf:
    """A switch and its traffic, whose memory and alpha vary."""

    rate_gbps: int
    fan_in: int
    control: str

    @property
    def alone_s(self) -> float:
        """The time in which a port passes the answers of a query."""
        return self.fan_in * ANSWER_BYTES * 8 / (self.rate_gbps * 1e9)

    def scenario(self) -> dict[str, Any]:
        """The scenario, with a memory and an alpha that a sweep replaces."""
        measured_s = MEASURED_S[self.rate_gbps]
        common: Row = {"from": "leaf", "congestion": self.control, "host": "data_center"}
        if self.control != "cubic":
            common["ecn"] = "accurate"
        query = {"kind": "incast", "fan_in": self.fan_in, "size": f"{ANSWER_BYTES} B", "load": QUERY_LOAD}
        size = {"kind": "published", "name": "web_search"}
        web = {"kind": "finite_flows", "size": size, "load": WEB_LOAD}
        return {
            "title": f"Leaf: {HOSTS} ports of {self.rate_gbps} Gbit/s, {self.control}",
            "duration": f"{1.5 * measured_s:.6g} s",
            "measure_from": f"{0.5 * measured_s:.6g} s",
            "switches": {"leaf": {"hosts": HOSTS, "rate": f"{self.rate_gbps} Gbit/s", "delay": "1 us", "nic_queue": {"kind": "fair", "limit": "100 MB"}, **self._memory()}},
            "flows": {"queries": {"source": query, **common}, "web": {"source": web, **common}},
        }

    def _memory(self) -> Row:
        """The queues, and the memory that they share."""
        memory = {"size": "16 MB"}
        if self.control != "dcqcn":
            policy = {"kind": "dynamic_threshold", "alpha": 1}
            # 65 packets at 10 Gbit/s, as in the paper on DCTCP, and in proportion to the rate.
            marks = {"kind": "step_mark", "threshold": f"{6.5 * self.rate_gbps:.0f} packets"}
            queue = marks if self.control == "dctcp" else {"kind": "drop_tail"}
            return {"queue": queue, "pool": {**memory, "policy": policy}}
        # The thresholds of the paper on DCQCN at 40 Gbit/s, in proportion to the rate.
        low, high = (f"{max(3, kb * self.rate_gbps / 40):g} kB" for kb in (5, 200))
        return {
            "queue": {"kind": "wred", "limit": "64 MB", "k_min": low, "k_max": high, "p_max": 0.01},
            "pause": {"xoff": "1248 B", "xon": "1248 B", "headroom": f"{20 + self.rate_gbps} kB"},
            "ingress": {"pool": memory, "alpha": 1, "xon_offset": "3 kB"},
        }

    def keys(self) -> tuple[str, str]:
        """The keys of the memory and of alpha."""
        if self.control == "dcqcn":
            return "switches.leaf.ingress.pool.size", "switches.leaf.ingress.alpha"
        return "switches.leaf.pool.size", "switches.leaf.pool.policy.alpha"

    def rows(self, store: Path) -> list[Row]:
        """A row per memory and alpha: the slowdown of queries, and their loss."""
        size, alpha = self.keys()
        grid = {size: [f"{memory} MB" for memory in MEMORIES_MB], alpha: list(ALPHAS)}
        swept = tr.sweep(self.scenario(), grid=grid, seeds=SEEDS, store=store, workers=1)
        settings = [(memory, value) for memory in MEMORIES_MB for value in ALPHAS]
        means = [swept.intervals(metric) for metric in (COMPLETION, LOSS)]
        return [
            {
                "rate_gbps": self.rate_gbps,
                "fan_in": self.fan_in,
                "control": self.control,
                "memory_mb": memory,
                "alpha": value,
                "slowdown_p99": completion.mean / self.alone_s,
                "loss_fraction": loss.mean,
            }
            for (memory, value), completion, loss in zip(settings, *means, strict=True)
        ]


def leaves() -> list[Leaf]:
    """Every switch of the chapter."""
    return [
        Leaf(rate, fan_in, control)
        for rate in MEASURED_S
        for fan_in in FAN_INS
        for control in CONTROLS
    ]
