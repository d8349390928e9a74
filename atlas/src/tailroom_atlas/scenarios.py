"""The scenario of a cell, and the key whose smallest value is sought."""

from dataclasses import dataclass
from typing import Any

from tailroom.buffer_atlas.terms import CONTROLS, PACKET_BYTES, SHORT_LOAD
from tailroom.scenario.types import Scenario
from tailroom_atlas.cells import Cell

LINK = "link"
"""Name of the link in every cell."""
FEWEST_QUEUED = 10_240
"""Limit of managed queues in packets, as FQ-CoDel has it (RFC 8290 sec. 5.2.3), so that their
target decides."""
QUEUED_BDP = 4
"""The limit of managed queues in bdp, where that is more."""
DEFAULT_L4S_THRESHOLD_US, RAMP_US = 800, 400
"""Threshold of DualPI2 from which L4S packets are marked, and the ramp above it (RFC 9332
appendix A); a classic target has to be above both."""
LONE_RTT_SPREAD = 0.03
"""How far the RTT of a single flow may be from the mean of its site. With one RTT for all seeds,
the bursts of the host and the limit of the queue keep one phase: at 1 Gbit/s and exactly 30 ms,
520 packets give 76 % utilization, and 519 packets 98.6 %."""
INTERVALS_S = (0.01, 0.1)
"""Intervals of FQ-CoDel: 100 ms (RFC 8290 sec. 5.2.1), 10 ms where all round trips are shorter."""


@dataclass(frozen=True)
class Sought:
    """The key of a cell's scenario whose smallest sufficient value is sought."""

    key: str
    """Dotted key."""
    unit: str
    """Unit of its whole numbers: `packets` or `us`."""
    smallest: int
    """Smallest value that the discipline takes."""
    first: tuple[int, int]
    """The range in which the search begins."""
    largest: int
    """Largest value that is tried."""

    def value(self, number: int) -> str:
        """The value of the key as a scenario writes it.

        Args:
            number: Whole number in `unit`.
        """
        return f"{number} {self.unit}"


def sought(cell: Cell) -> Sought:
    """What the search of a cell varies.

    Args:
        cell: The cell.
    """
    site = cell.site
    key = f"links.{LINK}.queue"
    if cell.queue == "drop_tail":
        bdp = max(cell.bdp_packets, 10.0)
        spread = bdp / site.flows**0.5
        return Sought(
            f"{key}.limit",
            "packets",
            1,
            (max(1, round(spread / 20)), max(16, round(2 * spread))),
            round(16 * max(bdp, 100)),
        )
    packet_us = -(-8 * PACKET_BYTES * 10**6 // site.rate_bps)
    rtt_us = 1e6 * site.mean_rtt_s
    if cell.queue == "fq_codel":
        name, smallest, largest = "target", packet_us, round(1e6 * codel_interval_s(cell)) - 1
    elif cell.control == "prague":
        name, smallest, largest = "l4s_threshold", 1, _classic_target_us(cell) - RAMP_US - 1
    else:
        above_ramp = DEFAULT_L4S_THRESHOLD_US + RAMP_US + 1
        smallest = above_ramp if cell.queue == "dual_pi2" else 1
        name, largest = "target", _classic_target_us(cell)
    low = max(smallest, round(rtt_us / 200), 1)
    return Sought(f"{key}.{name}", "us", smallest, (low, max(16 * low, round(rtt_us / 4))), largest)


def _classic_target_us(cell: Cell) -> int:
    """Target of a classic queue that waits longer than any that is tried."""
    return max(100_000, round(4e3 * cell.site.longest_rtt_ms))


def scenario(cell: Cell, warm_up_s: float, measured_s: float) -> Scenario:
    """The scenario of a cell, whose queue has a value that the search replaces.

    Args:
        cell: The cell.
        warm_up_s: Time before the statistics begin.
        measured_s: Time that the statistics cover.
    """
    site = cell.site
    groups: dict[str, dict[str, Any]] = {
        name: {
            "count": count,
            "congestion": name,
            "rtt": _rtts(cell, count),
            "start": {"uniform": ["0 s", _seconds(warm_up_s / 4)]},
            **_transport(name, pacing=CONTROLS[cell.control].pacing),
        }
        for name, count in _counts(cell)
    }
    if cell.traffic == "long_and_short":
        largest = min(max(site.rate_bps // 8, 10**6), 2 * 10**8)
        groups["short"] = {
            "congestion": "cubic",
            "rtt": _rtts(cell),
            "source": {
                "kind": "finite_flows",
                "load": SHORT_LOAD,
                "size": {
                    "kind": "bounded_pareto",
                    "shape": 1.2,
                    "min": "10 kB",
                    "max": f"{largest} B",
                },
            },
        }
    common: dict[str, Any] = {
        "path": [LINK],
        "host": "linux",
        "packet_size": f"{PACKET_BYTES} B",
        "access_rate": f"{cell.interface_bps} bit/s",
    }
    flows: Any = {name: {**common, **group} for name, group in groups.items()}
    return {
        "title": f"Atlas: {cell.name}",
        "duration": _seconds(warm_up_s + measured_s),
        "measure_from": _seconds(warm_up_s),
        "links": {
            LINK: {
                "rate": f"{site.rate_bps} bit/s",
                "delay": _milliseconds(site.shortest_rtt_ms / 4),
                "queue": _queue(cell),
            }
        },
        "flows": flows,
    }


def _counts(cell: Cell) -> list[tuple[str, int]]:
    """The groups of the long flows, with their numbers of flows."""
    controls = CONTROLS[cell.control].groups
    each, left = divmod(cell.site.flows, len(controls))
    return [(name, each + (left if name == controls[0] else 0)) for name in controls]


def _transport(control: str, *, pacing: bool) -> dict[str, Any]:
    if control == "prague":  # As its draft asks for (docs/guide/controls.md).
        return {"ecn": "l4s", "pacing": True}
    return {"pacing": True} if pacing else {}


def _rtts(cell: Cell, flows: int | None = None) -> Any:
    """The RTTs of a group; a flow alone has about their mean, so that its link stays the same."""
    site = cell.site
    if site.flows == flows == 1:
        near = (1 - LONE_RTT_SPREAD, 1 + LONE_RTT_SPREAD)
        return {"uniform": [_milliseconds(1e3 * site.mean_rtt_s * factor) for factor in near]}
    return {"uniform": [_milliseconds(site.shortest_rtt_ms), _milliseconds(site.longest_rtt_ms)]}


def codel_interval_s(cell: Cell) -> float:
    """Interval of FQ-CoDel: about the longest round trip, as RFC 8290 sec. 5.2.1 advises.

    Args:
        cell: The cell.
    """
    longest_s = cell.site.longest_rtt_ms / 1e3
    return next((interval for interval in INTERVALS_S if interval >= longest_s), longest_s)


def _queue(cell: Cell) -> Any:
    if cell.queue == "drop_tail":
        return {"kind": "drop_tail", "limit": f"{max(1, round(cell.bdp_packets))} packets"}
    limit = max(FEWEST_QUEUED, round(QUEUED_BDP * cell.bdp_packets))
    queue: dict[str, Any] = {"kind": cell.queue, "limit": f"{limit} packets"}
    if cell.queue == "fq_codel":
        queue["interval"] = _seconds(codel_interval_s(cell))
    if cell.control == "prague":
        queue["target"] = f"{_classic_target_us(cell)} us"
    return queue


def _seconds(value_s: float) -> str:
    return f"{value_s:.6g} s"


def _milliseconds(value_ms: float) -> str:
    return f"{value_ms:.6g} ms"
