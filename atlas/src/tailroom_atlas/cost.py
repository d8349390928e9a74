"""What a cell costs, and how it is obtained therefore.

The cost of a run is its packets times the time of the engine per packet, on one core. A cell whose
runs are affordable is computed in full; a dearer one in short form, with fewer seeds and shorter
runs; one that is dearer still is scaled from two smaller links.
"""

from dataclasses import dataclass
from math import ceil
from typing import Literal

from tailroom.buffer_atlas.terms import CONTROLS, PACKET_BYTES
from tailroom.scenario.periods import PRAGUE_RTT_S, PROBE_RTT_INTERVALS_S, period_s
from tailroom_atlas.cells import Cell
from tailroom_atlas.scenarios import codel_interval_s

How = Literal["full", "short", "scaled"]

FULL_AT_MOST_CORE_S = 50.0
"""A cell whose full form would cost more is computed in short form."""
SHORT_AT_MOST_CORE_S = 600.0
"""A cell whose short form would cost more is scaled."""
FEW_RUNS_CORE_S = 0.04
"""A run of the full form is made longer until it costs this."""
LONGEST_MEASURED_S = 240.0
"""Longest measured time of such a run."""

RUN_OVERHEAD_S = 0.01
"""Time of a run apart from the simulation: the scenario, the store."""
PACKET_COST_US = {
    "cubic": 0.13,
    "cubic_paced": 0.2,
    "bbr3": 0.18,
    "cubic_and_bbr3": 0.17,
    "prague": 0.15,
    "cubic_and_prague": 0.18,
}
"""Processor time per packet with few flows: what single runs took on an idle machine with two
cores, access links and losses included."""
MANAGED_QUEUE_US = {"fq_codel": 0.15, "pie": 0.05, "dual_pi2": 0.05}
"""What a managed queue adds."""
CACHE_FACTORS = ((3000, 4.0), (300, 2.7), (30, 2.0), (0, 1.0))
"""Number of flows, and the cost per packet from there on over that of a few flows: their records
outgrow the caches of a core, and they lose more."""
WARM_UP_FRACTION = 0.1
"""Least part of a long run before its statistics begin."""

PROBE_RTT_INTERVAL_S = PROBE_RTT_INTERVALS_S["bbr3"]
LONE_BBR_EPOCHS = 4
"""A single BBRv3 flow is measured this many times longer: its share of the link follows from when
it probes, so that a few intervals are a matter of luck (at 1 Gbit/s and 30 ms, 709 packets give
96 % in the first 20 s, and 94 % later)."""
MIN_RTO_S = 0.2
"""Shortest timeout of `host = "linux"`."""


@dataclass(frozen=True)
class Form:
    """How a cell is computed."""

    max_seeds: int
    """Largest number of runs of a buffer."""
    precision: float
    """Relative tolerance of the answer (0.02 = 2 %)."""
    warm_up_epochs: float
    """Time before the statistics, in epochs of the congestion control."""
    measured_epochs: float
    """Time of the statistics, in epochs of the congestion control."""
    spread_epochs: float
    """Least time before the statistics where several flows have CUBIC alone, in epochs: flows that
    leave slow start together reduce their windows together at first (1,000 flows at 10 Gbit/s use
    98.4 % of the link from the second to the fifth epoch, and 99.6 % later)."""
    timeouts: float
    """Least time before the statistics, and of them, in shortest timeouts of the senders."""
    grid_points: int
    """Number of values with which the search begins."""
    runs: float
    """Typical number of runs of a cell, for the estimate of the cost."""


FORMS: dict[str, Form] = {
    "full": Form(8, 0.05, 3, 6, spread_epochs=3, timeouts=5, grid_points=7, runs=140),
    "short": Form(4, 0.1, 2, 3, spread_epochs=4, timeouts=2, grid_points=5, runs=70),
}


@dataclass(frozen=True)
class PlannedCell:
    """A cell, how it is obtained, and what that costs."""

    cell: Cell
    """The cell."""
    how: How
    """`full` and `short` are computed, `scaled` follows from two smaller links."""
    warm_up_s: float
    """Simulated time before the statistics."""
    measured_s: float
    """Simulated time of the statistics."""
    core_s: float
    """Estimate of what all runs take on one core; 0 if the cell is scaled."""
    is_rung: bool = False
    """Whether the cell is there only because another one is scaled from it."""

    @property
    def form(self) -> Form:
        """How the cell is computed; a scaled one has no form.

        Raises:
            KeyError: The cell is scaled.
        """
        return FORMS[self.how]

    @property
    def run_core_s(self) -> float:
        """Estimate of what one run takes on one core."""
        return run_cost_s(self.cell, self.warm_up_s + self.measured_s)


def epoch_s(cell: Cell) -> float:
    """The time in which a flow at its fair share repeats itself.

    Of CUBIC, its period without a queue (RFC 9438); of BBRv3, half of the time between two drains
    of the queue, and more if the flow is alone; of Prague, 30 round trips of at least 25 ms, below
    which it grows more slowly.

    Args:
        cell: The cell.
    """
    rtt_s, window = cell.site.mean_rtt_s, cell.fair_window_packets
    epochs = {
        "cubic": period_s("cubic", window, rtt_s),
        "bbr3": PROBE_RTT_INTERVAL_S / 2 * (LONE_BBR_EPOCHS if cell.site.flows == 1 else 1),
        "prague": period_s("prague", window, rtt_s),
    }
    return max(epochs[name] for name in CONTROLS[cell.control].groups)


def run_cost_s(cell: Cell, simulated_s: float) -> float:
    """Estimate of the time that a run takes on one core.

    Args:
        cell: The cell.
        simulated_s: Simulated time of the run.
    """
    packets = cell.site.rate_bps * simulated_s / (8 * PACKET_BYTES)
    return RUN_OVERHEAD_S + packets * _packet_cost_s(cell)


def _packet_cost_s(cell: Cell) -> float:
    """Time of the engine per packet: many flows outgrow the caches of a core."""
    cost_us = PACKET_COST_US[cell.control] + MANAGED_QUEUE_US.get(cell.queue, 0.0)
    factor = next(factor for flows, factor in CACHE_FACTORS if cell.site.flows >= flows)
    return 1e-6 * cost_us * factor


def planned_cell(cell: Cell, *, is_rung: bool = False) -> PlannedCell:
    """How a cell is obtained.

    Args:
        cell: The cell.
        is_rung: Whether the cell is there only because another one is scaled from it.
    """
    full = _computed(cell, "full", is_rung=is_rung)
    if full.core_s <= FULL_AT_MOST_CORE_S:
        return full
    short = _computed(cell, "short", is_rung=is_rung)
    if short.core_s <= SHORT_AT_MOST_CORE_S:
        return short
    return PlannedCell(cell, "scaled", 0.0, 0.0, 0.0, is_rung)


def short_form(cell: Cell) -> PlannedCell:
    """A cell in short form, whatever it costs.

    Args:
        cell: The cell.
    """
    return _computed(cell, "short", is_rung=False)


def _computed(cell: Cell, how: How, *, is_rung: bool) -> PlannedCell:
    form = FORMS[how]
    rtt_s, epoch = cell.site.mean_rtt_s, epoch_s(cell)
    least_s = max(form.timeouts * MIN_RTO_S, _settling_s(cell))
    is_spreading = CONTROLS[cell.control].groups == ("cubic",) and cell.site.flows > 1
    epochs = form.spread_epochs if is_spreading else form.warm_up_epochs
    warm_up_s = max(epochs * epoch, 20 * rtt_s, _climb_s(cell), least_s)
    measured_s = max(form.measured_epochs * epoch, 40 * rtt_s, least_s)
    if how == "full":
        packets = FEW_RUNS_CORE_S / _packet_cost_s(cell)
        cheap_s = packets * 8 * PACKET_BYTES / cell.site.rate_bps - warm_up_s
        measured_s = max(measured_s, min(cheap_s, LONGEST_MEASURED_S))
        warm_up_s = max(warm_up_s, WARM_UP_FRACTION * measured_s)
    warm_up_s, measured_s = _rounded(warm_up_s), _rounded(measured_s)
    if "bbr3" in CONTROLS[cell.control].groups:
        # Each flow drains the queue once in an interval.
        measured_s = PROBE_RTT_INTERVAL_S * ceil(measured_s / PROBE_RTT_INTERVAL_S)
    core_s = form.runs * run_cost_s(cell, warm_up_s + measured_s)
    return PlannedCell(cell, how, warm_up_s, measured_s, core_s, is_rung)


def _prague_round_trip_s(cell: Cell) -> float:
    """Prague grows with shorter RTTs as if they were 25 ms."""
    return max(cell.site.mean_rtt_s, PRAGUE_RTT_S)


def _climb_s(cell: Cell) -> float:
    """Time that Prague takes to its share from the first mark, which ends its slow start."""
    if "prague" not in CONTROLS[cell.control].groups:
        return 0.0
    return cell.fair_window_packets * _prague_round_trip_s(cell)


def _settling_s(cell: Cell) -> float:
    """Time that a managed queue takes to find its rate of drops or marks."""
    if cell.queue == "drop_tail":
        return 0.0
    return 20 * codel_interval_s(cell) if cell.queue == "fq_codel" else 2.0


def _rounded(value_s: float) -> float:
    """Two digits suffice."""
    return float(f"{value_s:.2g}")
