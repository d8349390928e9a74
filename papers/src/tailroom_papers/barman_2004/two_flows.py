"""Two flows with RTTs of 40 and 80 ms, for Figures 5 and 6 and the fairness over the buffer."""

from collections.abc import Mapping, Sequence
from math import log

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tailroom.models.window_laws.highspeed import DEFAULTS
from tailroom_papers.barman_2004.settings import LIMIT, RANDOM_STARTS
from tailroom_papers.framework import *

UNDER, OVER = "499 packets", "9999 packets"
"""500 and 10,000 packets with the one in transmission; the paper prints neither."""
JAIN = "flows.jain_index"
RTTS_S = (0.04, 0.08)
AT_REST = DEFAULTS.exponent / (DEFAULTS.exponent - 1)
"""Rates of flows that lose together go with their RTTs to this power, inverted."""
EQUAL_RTTS = {"flows.hstcp.rtt": "60 ms"}


def study(
    name: str,
    limits: Sequence[str],
    form: Form,
    set: Mapping[str, object] | None = None,  # noqa: A002
) -> Study:
    """Two flows over several buffers, with their series.

    Flows forget their start within some twenty reductions, minutes where the buffer is large; the
    full form gives them that.
    """
    duration, measure_from = form.of(("40 s", "20 s"), ("160 s", "80 s"), ("1000 s", "500 s"))
    times = {"duration": duration, "measure_from": measure_from}
    return Study(
        name,
        "barman-2004/figure-5.toml",
        grid={LIMIT: list(limits)},
        set={**RANDOM_STARTS, **times, **(set or {})},
        seeds=form.of(3, 4, 8),
        keep=("flow_series", "link_series"),
    )


def at(results: PartResults, limit: str, name: str = "two") -> PointResults:
    """The point of a study with this limit."""
    return results.study(name).at({LIMIT: limit})


def packets(point: PointResults) -> int:
    """The buffer with the packet in transmission, as the paper and ns-2 count it."""
    return int(point.number(LIMIT)) + 1


def rates(run: StoredRun) -> list[float]:
    """Goodputs of the flow with the smaller RTT and of the other."""
    return [flow["goodput_bps"] for flow in run.summary["flows"]]


def log_ratio(run: StoredRun) -> float | None:
    """The logarithm of the faster RTT's goodput over the other's; `None` where one has none."""
    short, long = rates(run)
    return log(short / long) if short and long else None


def expected_ratio(run: StoredRun) -> float:
    """Ratio of the rates at which two flows that always lose together come to rest.

    In a cycle of T seconds a window regains what it lost: b(w) w = a(w) T / R. With RFC 3649's
    a(w), w p(w) = (1 - b(w) / 2) R / T, and p falls as w^-q, so that w, but for b, goes as
    R^(-1/(q - 1))
    and the rate w / R as R^(-q/(q - 1)). R is the RTT with the mean wait.
    """
    wait_s = run.summary["links"]["bottleneck"]["queue_delay_s_mean"]
    short, long = (rtt_s + wait_s for rtt_s in RTTS_S)
    return float((long / short) ** AT_REST)


def reductions_to_halve(run: StoredRun) -> float:
    """Reductions in which a deviation of the larger flow from where it comes to rest halves.

    A window is (1 - b) w + G w^(2 - q) after a cycle, G w^(2 - q) = b w at rest; the derivative is
    1 - (q - 1) b.
    """
    window = max(flow["cwnd_packets_mean"] for flow in run.summary["flows"])
    kept = 1 - (DEFAULTS.exponent - 1) * float(DEFAULTS.decrease(window))
    return log(0.5) / log(kept)


def rates_between(series: pa.Table, begin_s: float, end_s: float) -> list[float]:
    """Mean goodput of each flow over the samples after `begin_s`, up to `end_s`."""
    inside = pc.and_(pc.greater(series["time_s"], begin_s), pc.less_equal(series["time_s"], end_s))
    means = series.filter(inside).group_by("flow").aggregate([("goodput_bps", "mean")])
    return [float(goodput) for goodput in means["goodput_bps_mean"].to_pylist()]


def typical_ratio(point: PointResults) -> float:
    """The geometric mean over the runs."""
    return float(np.exp(point.mean(log_ratio)))


def wait_s(run: StoredRun) -> float:
    """Mean queueing delay in seconds."""
    return float(run.summary["links"]["bottleneck"]["queue_delay_s_mean"])
