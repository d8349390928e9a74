"""Which flows lose in an episode, from the series of their windows."""

from functools import lru_cache

import numpy as np

from tailroom.models import Bottleneck, read_bottleneck
from tailroom.models.window_laws.window_law import Floats
from tailroom.scenario.scenario import Scenario
from tailroom_papers.framework import *

FALL = 0.97
"""A window was reduced if a row of the series has less than this part of the row before."""
LINK = "bottleneck"


def share_that_loses(run: StoredRun) -> float | None:
    """Mean share of the flows that reduce their windows in a loss episode; `None` without losses.

    An episode is a set of drops without a pause of two of the longest round trips with a full
    queue. `loss_synchronization` counts reductions within one propagation RTT, and thus splits
    episodes whose drops take a round trip.
    """
    flows = run.table("flow_series").to_pandas()
    windows = flows.pivot_table(
        index="time_s", columns="flow", values="cwnd_packets", observed=True
    )
    links = run.table("link_series").to_pandas()
    drops = links[links.link == LINK].set_index("time_s").drops_packets
    measured = windows.index[windows.index > run.summary["measured_from_s"]]
    windows, drops = windows.loc[measured], drops.reindex(measured).fillna(0.0)
    pause = round(_longest_s(run) * 2 / float(np.median(np.diff(measured))))
    shares = [
        _share(windows.to_numpy(), first, last + pause)
        for first, last in _episodes(drops.to_numpy(), pause)
    ]
    return float(np.mean(shares)) if shares else None


def link_of(run: StoredRun) -> Bottleneck:
    """The link of a run as the models read it, with the RTTs that the run draws."""
    return _link(run.scenario, run.seed)


@lru_cache(maxsize=4096)
def _link(scenario: str, seed: int) -> Bottleneck:
    return read_bottleneck(Scenario.stored(scenario), seed=seed)


def _longest_s(run: StoredRun) -> float:
    """Longest round trip with a full queue."""
    link = link_of(run)
    longest = max(flows.rtt_s for flows in link.classes)
    return longest + link.limit_packets / link.capacity_pps


def _episodes(drops: Floats, pause: int) -> list[tuple[int, int]]:
    """First and last row of each episode."""
    rows = np.flatnonzero(drops > 0)
    if len(rows) == 0:
        return []
    parts = np.split(rows, np.flatnonzero(np.diff(rows) > pause) + 1)
    return [(int(part[0]), int(part[-1])) for part in parts]


def _share(windows: Floats, first: int, end: int) -> float:
    rows = windows[max(0, first - 1) : end]
    return float((rows[1:] < FALL * rows[:-1]).any(axis=0).mean())
