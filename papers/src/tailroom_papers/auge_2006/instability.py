"""Many Reno flows: synchronization of their windows by buffer, and under gentle RED."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from tailroom.scenario.types import Queue, Scenario
from tailroom_papers.auge_2006 import background, picture, setup
from tailroom_papers.auge_2006.bounds import BOUNDS
from tailroom_papers.framework import *

RTT_S = 0.1
TUNED_WINDOW = 10
"""Packets in the pipe for each flow for which gentle RED is tuned: its `max_p` is twice the loss
1.5 / w^2 at which Reno has this window, so that the queue settles half way up."""
SMALL, MEDIUM, LARGE, RED = "20 packets", "BDP / sqrt(n)", "BDP", "BDP, gentle RED"
UTILIZATION = f"links.{setup.LINK}.utilization"
DELAY = f"links.{setup.LINK}.queue_delay_s_mean"


@dataclass(frozen=True)
class Crowd:
    """Number of flows, and packets in flight per flow at equal shares of the pipe."""

    flows: int
    window: int

    @property
    def pipe(self) -> int:
        """Bandwidth-delay product, in packets."""
        return self.flows * self.window

    @property
    def name(self) -> str:
        """Of its study."""
        return f"windows-{self.window}"

    def queues(self) -> dict[str, Queue]:
        """The buffers of Raina and Wischik: small, medium and large; and gentle RED."""
        medium = round(self.pipe / sqrt(self.flows))
        return {
            SMALL: setup.fifo(20),
            MEDIUM: setup.fifo(medium),
            LARGE: setup.fifo(self.pipe),
            RED: {
                "kind": "red",
                "limit": f"{self.pipe} packets",
                "min_threshold": f"{round(0.1 * self.pipe)} packets",
                "max_threshold": f"{round(0.5 * self.pipe)} packets",
                "max_p": 3 / TUNED_WINDOW**2,
                "gentle": True,
            },
        }


def crowds(form: Form) -> list[Crowd]:
    """Those of a form."""
    flows = form.of(50, 150, 300)
    return [Crowd(flows, window) for window in form.of((10, 30), (10, 30), (10, 30, 100))]


def studies(form: Form) -> Sequence[Study]:
    """A study for each size of the windows."""
    return [_study(crowd, form) for crowd in crowds(form)]


def _study(crowd: Crowd, form: Form) -> Study:
    rate = 8e3 * crowd.pipe / RTT_S / 1e6
    duration, start = form.of((15, 6), (40, 15), (110, 30))
    table: Scenario = {
        "title": f"{crowd.flows} NewReno flows, windows of about {crowd.window} packets",
        "duration": f"{duration} s",
        "measure_from": f"{start} s",
        "series": {"interval": form.of("250 ms", "250 ms", "500 ms")},
        "defaults": {"host": "plain"},
        "links": {
            setup.LINK: {
                "rate": f"{rate:g} Mbit/s",
                "delay": "20 ms",
                "queue": crowd.queues()[SMALL],
            }
        },
        "flows": {
            "reno": {
                "count": crowd.flows,
                "path": [setup.LINK],
                "congestion": {"kind": "reno"},
                "send_jitter": "none",
                "packet_size": "1000 B",
                "rtt": {"uniform": ["95 ms", "105 ms"]},
                "access_rate": "100 Mbit/s",
                "start": {"uniform": ["0 s", "5 s"]},
                "recovery": "sack",
                "initial_window": 2,
                "initial_ssthresh": crowd.window,
            }
        },
    }
    grid = {background.QUEUE: list(crowd.queues().values())}
    keep = ("flow_series", "link_series")
    return Study(crowd.name, table, grid=grid, seeds=form.of(3, 3, 10), keep=keep)


def in_step(run: StoredRun) -> float:
    """Variance of the sum of the windows over the sum of their variances: see `togetherness`."""
    return togetherness(windows(run))


def togetherness(flows: NDArray[np.float64]) -> float:
    """Of windows, a row for each flow: 1 if they are independent, their number if in step."""
    return float(flows.sum(axis=0).var() / flows.var(axis=1).sum())


def windows(run: StoredRun) -> NDArray[np.float64]:
    """Of a run, in the measured part: a row for each flow, a column for each sample."""
    series = run.table("flow_series")
    series = series.filter(pc.field("time_s") >= run.summary["measured_from_s"])
    flows = len(run.summary["flows"])
    # Sample by sample, the flows in order.
    return np.asarray(series["cwnd_packets"].to_numpy()).reshape(-1, flows).T


def swing(run: StoredRun) -> float:
    """The middle 98 % of the queue's lengths, over the limit."""
    link = run.summary["links"][setup.LINK]
    reach: float = link["queue_packets_p99"] - link["queue_packets_p01"]
    return reach / float(link["limit_packets"])


def _at(results: PartResults, crowd: Crowd, queue: str) -> PointResults:
    return results.study(crowd.name).at({background.QUEUE: crowd.queues()[queue]})


def draw(results: PartResults) -> Figure:
    """The queue over time: a row for each size of the windows, a column for each buffer."""
    rows = crowds(results.form)
    names = list(rows[0].queues())
    title = f"The queue over time with {rows[0].flows} NewReno flows"
    figure, panels = picture.page(title, 1.9 * len(rows) + 0.7, len(rows), len(names), sharex=True)
    cases = [(crowd, name) for crowd in rows for name in names]
    for (crowd, name), panel in zip(cases, panels, strict=True):
        _draw_queue(panel, _at(results, crowd, name), f"{name}\n" if crowd is rows[0] else "")
        if name == names[0]:
            panel.set_ylabel(f"w = {crowd.window}\nqueue (packets)")
        if crowd is rows[-1]:
            panel.set_xlabel("time (s)")
    return picture.finished(figure, 2)


def _draw_queue(panel: Axes, point: PointResults, name: str) -> None:
    run = point.runs[0]
    series = run.table("link_series")
    series = series.filter(pc.field("time_s") >= run.summary["measured_from_s"])
    look: dict[str, Any] = {"color": "black", "linewidth": 0.7, "label": "queue"}
    panel.plot(series["time_s"], series["queue_packets"], **look)
    limit = run.summary["links"][setup.LINK]["limit_packets"]
    panel.axhline(limit, label="limit", **style.LIMIT_LINE)
    panel.set_ylim(0, 1.1 * limit)
    words = f"{100 * point.mean(UTILIZATION):.1f} %, in step {point.mean(in_step):.1f}"
    panel.set_title(f"{name}{words}")


STABLE = f"stable (below {BOUNDS['instability'].value:g})"
TOGETHER = "variance of the sum of windows over that of independent ones"


def _fluctuates(results: PartResults) -> Judgement:
    crowd = crowds(results.form)[-1]
    checks = []
    for name in (MEDIUM, LARGE):
        point = _at(results, crowd, name)
        words = f"{name}, w = {crowd.window}"
        checks += [
            point.above(f"{words}: {TOGETHER}", in_step, BOUNDS["instability"]),
            point.above(
                f"{words}: range of the queue over the buffer", swing, BOUNDS["wide-fluctuations"]
            ),
            point.below(f"{words}: utilization", UTILIZATION, BOUNDS["loss-of-utilization"]),
        ]
    medium, large = (_at(results, crowd, name) for name in (MEDIUM, LARGE))
    return Judgement(
        tuple(checks),
        lambda: (
            f"With {crowd.flows} flows the sum of the windows varies {medium.mean(in_step):.1f} "
            f"times as much as independent ones would with BDP / sqrt(n), "
            f"{large.mean(in_step):.1f} times with a BDP (the number of flows if all moved "
            f"together). The queue ranges over {shown(medium.interval(swing), percent=True)} of "
            f"the medium buffer, where {100 * (1 - medium.mean(UTILIZATION)):.1f} % of the link is "
            f"lost, and over {shown(large.interval(swing), percent=True)} of the large one, where "
            f"{100 * (1 - large.mean(UTILIZATION)):.1f} % is lost."
        ),
    )


def _small_is_better(results: PartResults) -> Judgement:
    checks = []
    for crowd in crowds(results.form):
        small, medium = _at(results, crowd, SMALL), _at(results, crowd, MEDIUM)
        window, words = f"w = {crowd.window}", "better performance"
        what = f"{window}: utilization with 20 packets less that with BDP / sqrt(n)"
        checks.append(more(what, small, medium, UTILIZATION, words, percent=True))
        what = f"{window}: {TOGETHER}, with 20 packets"
        checks.append(small.below(what, in_step, BOUNDS["instability"], STABLE))

    def why() -> str:
        parts = " and ".join(
            f"{100 * _at(results, crowd, SMALL).mean(UTILIZATION):.0f} % with windows of "
            f"{crowd.window}"
            for crowd in crowds(results.form)
        )
        return (
            f"A buffer of 20 packets keeps the queue short, which costs utilization: {parts} "
            "packets. The smaller the loss that windows of a size need, the lower the load at "
            "which a small buffer has this loss."
        )

    return Judgement(tuple(checks), why)


def _red(results: PartResults) -> Judgement:
    narrow, wide = crowds(results.form)[0], crowds(results.form)[-1]
    tuned, other = _at(results, narrow, RED), _at(results, wide, RED)
    large = _at(results, narrow, LARGE)
    bound, window = BOUNDS["instability"], f"w = {narrow.window}"
    same = f"{window}: the same less that of drop tail with a BDP"
    words = f"not over the entire range (above {bound.value:g})"
    return Judgement(
        (
            tuned.below(f"{window}, for which it is tuned: {TOGETHER}", in_step, bound, STABLE),
            less(same, tuned, large, in_step, "more stable than drop tail"),
            other.above(f"w = {wide.window}: {TOGETHER}", in_step, bound, words),
        ),
        lambda: (
            f"With max_p for windows of {TUNED_WINDOW} packets the queue settles between the "
            f"thresholds ({tuned.mean(in_step):.1f}; drop tail with the same buffer "
            f"{large.mean(in_step):.1f}). Windows of {wide.window} packets need "
            f"{(wide.window / narrow.window) ** 2:.0f} times less loss, so that the same slope is "
            f"as much too steep: {other.mean(in_step):.1f}, and a utilization of "
            f"{100 * other.mean(UTILIZATION):.1f} %."
        ),
    )


PART = Part(
    name="instability",
    title="Many NewReno flows: buffers and stability",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "unstable-buffers",
            "Raina and Wischik conclude that the protocol brings instability (wide fluctuations in "
            "queue size and loss of utilization) for medium and large buffers, including those "
            "dimensioned following Appenzeller et al.",
            "Sec. II-A",
            _fluctuates,
        ),
        Claim(
            "twenty-for-many",
            "With a very large number of flows a buffer with a capacity as small as 20 packets has "
            "much better performance.",
            "Sec. I",
            _small_is_better,
        ),
        Claim(
            "gentle-red",
            "Gentle RED can ensure stability with larger buffers than possible with drop tail "
            "though not over the entire range of window sizes.",
            "Sec. II-C",
            _red,
        ),
    ),
    caption=(
        "The queue over time in one run: a column per buffer, a row per size of the windows "
        "(w packets per flow fill the pipe). Above each panel: mean utilization of all runs, and "
        "the variance of the sum of the windows over that of independent ones (1 if they are "
        "independent)."
    ),
    note=(
        "The capacity is such that each flow would have w packets in the pipe. In step means the "
        "variance of the sum of all windows over the sum of their variances: 1 if flows are "
        "independent, their number if they move as one. Gentle RED has thresholds of 0.1 and 0.5 "
        "BDP and an average over about a second. Slow start of the flows ends at w."
    ),
)
