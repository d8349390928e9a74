"""The chapter of the atlas on switches: how much memory the ports share, and with which alpha.

python -m tailroom_atlas.switches --store DIR [--docs DIR]

Simulates what is not in the store, and writes docs/atlas/switch.csv, the page and its picture. All
runs take 46 minutes on one core.
"""

import argparse
import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tailroom as tr
from tailroom_atlas import switch_page
from tailroom_atlas.switch_page import (
    ALPHAS,
    ANSWER_BYTES,
    CONTROLS,
    FAN_INS,
    HOSTS,
    MEMORIES_MB,
    QUERY_LOAD,
    RATES_GBPS,
    SEEDS,
    WEB_LOAD,
)

MEASURED_S = {10: 0.2, 25: 0.08, 100: 0.02, 400: 0.01}
"""By rate in Gbit/s, the time that the statistics cover; half of it passes before."""
DCTCP_PACKETS_PER_GBPS = 6.5
"""Packets at which queues mark: 65 at 10 Gbit/s (Alizadeh et al. 2010)."""
DCQCN_MARKS_KB_PER_GBPS = (5 / 40, 200 / 40)
"""kB between which queues mark: 5 and 200 at 40 Gbit/s (Zhu et al. 2015)."""
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

    def scenario(self) -> Any:
        """The scenario, with a memory and an alpha that a sweep replaces."""
        measured_s = MEASURED_S[self.rate_gbps]
        common: Row = {"from": "leaf", "congestion": self.control, "host": "data_center"}
        if self.control == "dcqcn":
            # As NVIDIA's NICs, which have a least time between notifications.
            common["congestion"] = {"kind": "dcqcn", "marks_in_interval": "ignored"}
        if self.control != "cubic":
            common["ecn"] = "accurate"
        query = {
            "kind": "incast",
            "fan_in": self.fan_in,
            "size": f"{ANSWER_BYTES} B",
            "load": QUERY_LOAD,
        }
        size = {"kind": "published", "name": "web_search"}
        web = {"kind": "finite_flows", "size": size, "load": WEB_LOAD}
        return {
            "title": f"Leaf: {HOSTS} ports of {self.rate_gbps} Gbit/s, {self.control}",
            "duration": f"{1.5 * measured_s:.6g} s",
            "measure_from": f"{0.5 * measured_s:.6g} s",
            "switches": {
                "leaf": {
                    "hosts": HOSTS,
                    "rate": f"{self.rate_gbps} Gbit/s",
                    "delay": "1 us",
                    "nic_queue": {"kind": "fair", "limit": "100 MB"},
                    **self._memory(),
                }
            },
            "flows": {"queries": {"source": query, **common}, "web": {"source": web, **common}},
        }

    def _memory(self) -> Row:
        """The queues, and the memory that they share."""
        memory = {"size": "16 MB"}
        if self.control != "dcqcn":
            policy = {"kind": "dynamic_threshold", "alpha": 1}
            packets = round(DCTCP_PACKETS_PER_GBPS * self.rate_gbps)
            marks = {"kind": "step_mark", "threshold": f"{packets} packets"}
            queue = marks if self.control == "dctcp" else {"kind": "drop_tail"}
            return {"queue": queue, "pool": {**memory, "policy": policy}}
        # A threshold holds at least two packets.
        marks_kb = (max(3, share * self.rate_gbps) for share in DCQCN_MARKS_KB_PER_GBPS)
        low, high = (f"{kb:g} kB" for kb in marks_kb)
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
                "slowdown_p99": f"{completion.mean / self.alone_s:.4g}",
                "half_width": f"{completion.half_width / self.alone_s:.3g}",
                "is_lower_bound": int(completion.is_lower_bound and completion.most is None),
                "loss_fraction": f"{loss.mean:.3g}",
                "engine": swept.runs["engine_build"][0].as_py(),
            }
            for (memory, value), completion, loss in zip(settings, *means, strict=True)
        ]


def leaves() -> list[Leaf]:
    """Every switch of the chapter."""
    return [
        Leaf(rate, fan_in, control)
        for rate in RATES_GBPS
        for fan_in in FAN_INS
        for control in CONTROLS
    ]


def main() -> None:
    """Simulates, and writes data, page and picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", type=Path, required=True, help="store for the runs")
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="docs directory")
    arguments = parser.parse_args()
    rows = [row for leaf in leaves() for row in leaf.rows(arguments.store)]
    place = arguments.docs / "atlas" / switch_page.DATA
    with place.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    switch_page.write(arguments.docs)


if __name__ == "__main__":
    main()
