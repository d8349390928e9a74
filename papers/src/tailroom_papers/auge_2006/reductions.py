"""Window reductions of flows: window sizes, and synchronization beyond chance."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from tailroom_papers.auge_2006.residual import flow_names
from tailroom_papers.auge_2006.series import flow_series
from tailroom_papers.framework import *

Events = NDArray[np.bool_]
"""For each interval between two samples, whether a flow reduces its window in it."""


@dataclass(frozen=True)
class Synchronization:
    """Of the reductions of all flows."""

    shared: float
    """Part that comes within a round trip of a reduction of another flow."""
    by_chance: float
    """The same, if each flow's reductions fell at any time, whatever the others do."""

    @property
    def excess(self) -> float:
        """0 where only chance brings them together, 1 where each is shared."""
        room = 1 - self.by_chance
        return (self.shared - self.by_chance) / room if room > 0 else 0.0


def synchronization(run: StoredRun, round_trip: int = 1) -> Synchronization | None:
    """Of a run that keeps its flows' series; `None` if no flow reduces its window.

    Args:
        run: With a `flow_series`.
        round_trip: Intervals of the series that count as one round trip.
    """
    return of_events([reductions(run, name) for name in flow_names(run)], round_trip)


def shared(run: StoredRun, round_trip: int = 1) -> float | None:
    """Part of the reductions that come within a round trip of another flow's."""
    reductions = synchronization(run, round_trip)
    return reductions.shared if reductions else None


def by_chance(run: StoredRun, round_trip: int = 1) -> float | None:
    """What that would be, did flows reduce whatever the others do."""
    reductions = synchronization(run, round_trip)
    return reductions.by_chance if reductions else None


def excess(run: StoredRun, round_trip: int = 1) -> float | None:
    """0 where only chance brings reductions together, 1 where each is shared."""
    reductions = synchronization(run, round_trip)
    return reductions.excess if reductions else None


def windows_before(run: StoredRun, flow: str) -> NDArray[np.float64]:
    """A flow's window at the last sample before each of its reductions."""
    series = flow_series(run)
    series = series.filter(pc.field("flow") == flow)
    measured = series["time_s"].to_numpy()[1:] > run.summary["measured_from_s"]
    before: NDArray[np.float64] = series["cwnd_packets"].to_numpy()[:-1][measured]
    return before[reductions(run, flow)]


def reductions(run: StoredRun, flow: str) -> Events:
    """When a flow reduces: where its slow-start threshold changes in the measured window."""
    series = flow_series(run)
    series = series.filter(pc.field("flow") == flow)
    threshold = series["ssthresh_packets"].to_numpy()
    measured = series["time_s"].to_numpy()[1:] > run.summary["measured_from_s"]
    changed: Events = (threshold[1:] != threshold[:-1])[measured]
    return changed


def of_events(flows: Sequence[Events], round_trip: int) -> Synchronization | None:
    """What part of the events of each flow another one shares, and what part would by chance.

    By chance, an event is shared as often as a time is within a round trip of others' events.
    """
    total = sum(int(flow.sum()) for flow in flows)
    if total == 0:
        return None
    together = expected = 0.0
    for place, own in enumerate(flows):
        others = [near(times, round_trip) for other, times in enumerate(flows) if other != place]
        covered = np.any(others, axis=0) if others else np.zeros_like(own)
        together += float((own & covered).sum())
        expected += float(own.sum() * covered.mean())
    return Synchronization(together / total, expected / total)


def near(events: Events, reach: int) -> Events:
    """The intervals no further than so many from one with an event."""
    window = np.ones(2 * reach + 1)
    close: Events = np.convolve(events, window, mode="same") > 0
    return close
