"""Bursts of a flow at the link, and the places of losses in the bursts."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from tailroom.storage.store import Store
from tailroom_papers.auge_2006.setup import PACKET_BYTES, RATE_BPS
from tailroom_papers.framework import *

SILENCE_S = 0.010
"""A longer gap ends a burst: sixty packet times, a tenth of a round trip."""
PACKET_S = 8 * PACKET_BYTES / RATE_BPS
BACK_TO_BACK = 1.5
"""In packet times; a smaller gap has no room for another packet."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Bursts:
    """Of one flow."""

    lengths: NDArray[np.int64]
    """Packets of each burst."""
    silences_s: Floats
    """Between one burst and the next."""
    gaps: Floats
    """From one packet to the next within bursts, in packet times of the link."""
    places_lost: Floats
    """Where in its burst each lost packet is: 0 the first, 1 the last."""

    @property
    def back_to_back(self) -> float:
        """Part of the packets that arrive with no room for another before them."""
        total = self.gaps.size + self.silences_s.size
        return float((self.gaps < BACK_TO_BACK).sum() / total)


def bursts_of(run: StoredRun, flow: str) -> Bursts:
    """Of a run that keeps its arrival log."""
    if run.store is None:
        return _of_log(run.table("packets"), flow)
    return _in_store(run.store, run.key, flow)


@lru_cache(maxsize=128)
def _in_store(store: Store, key: str, flow: str) -> Bursts:
    # Several claims need the same bursts, and logs are long.
    table = store.table(key, "packets")
    if table is None:
        raise KeyError("packets are not kept; add them to the study's `keep`")
    return _of_log(table, flow)


def _of_log(table: pa.Table, flow: str) -> Bursts:
    log = table.filter(pc.field("flow") == flow)
    lost = pc.not_equal(log["fate"].cast("string"), "accepted")
    return of_arrivals(log["time_s"].to_numpy(), lost.to_numpy(zero_copy_only=False))


def of_arrivals(time_s: Floats, lost: NDArray[np.bool_]) -> Bursts:
    """From each packet's arrival and fate. Bursts of one packet have no places."""
    gaps_s = np.diff(time_s)
    ends = gaps_s > SILENCE_S
    first = np.flatnonzero(np.concatenate(([True], ends)))
    lengths = np.diff(np.append(first, time_s.size))
    rank = np.arange(time_s.size) - np.repeat(first, lengths)
    last = np.repeat(lengths - 1, lengths)
    placed = lost & (last > 0)
    return Bursts(
        lengths=lengths,
        silences_s=gaps_s[ends],
        gaps=gaps_s[~ends] / PACKET_S,
        places_lost=rank[placed] / last[placed],
    )
