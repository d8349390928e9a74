"""The window at which HyStart ends the slow start of a flow alone, of the kernel and of tailroom.

Goal: within 2 packets, which an ACK acknowledges.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

import tailroom as tr
from tests.validation.kernel_comparison import Comparison

DETECTED = ("TCPHystartTrainDetect", "TCPHystartDelayDetect")
WINDOW = ("TCPHystartTrainCwnd", "TCPHystartDelayCwnd")
"""The kernel's sums of the windows at which it has detected a queue."""
ALLOWED_PACKETS = 2.0


def ends_of_slow_start(
    runs: Sequence[Mapping[str, Any]], results: Sequence[tr.Result]
) -> Iterator[Comparison]:
    """Yield the window at the end of slow start, where no chance decides about it.

    Where packets are late at random, or lost, the kernel's own runs differ.

    Args:
        runs: The recorded runs of an experiment.
        results: The simulator's runs.
    """
    if len(runs[0]["flows"]) > 1 or not all(_counts(run, DETECTED) == 1 for run in runs):
        return
    kernel = [_counts(run, WINDOW) for run in runs]
    tailroom = [window for result in results if (window := _first_ssthresh(result)) is not None]
    if max(kernel) - min(kernel) <= ALLOWED_PACKETS and tailroom:
        what = "end of slow start (packets)"
        yield Comparison(what, tuple(kernel), tuple(tailroom), ALLOWED_PACKETS)


def _counts(run: Mapping[str, Any], names: Sequence[str]) -> float:
    """What both hosts have counted in a whole run; 0 where they were not asked."""
    hosts = run.get("counters", {"whole": ()})["whole"]
    return float(sum(host.get(name, 0) for host in hosts for name in names))


def _first_ssthresh(result: tr.Result) -> float | None:
    """The threshold of the flow once slow start has ended."""
    series = result.table("flow_series").to_pydict()["ssthresh_packets"]
    return next((value for value in series if value is not None and isfinite(value)), None)
