"""Figure 1: the three regimes, flows as boxes of their rate times their duration."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow.compute as pc
from matplotlib.collections import PatchCollection
from matplotlib.patches import Patch, Rectangle
from numpy.typing import NDArray

from tailroom.scenario.types import Flows as FlowGroup
from tailroom.scenario.types import Scenario
from tailroom_papers.auge_2006 import picture, setup
from tailroom_papers.auge_2006.bounds import BOUNDS
from tailroom_papers.framework import *

RATE_MBPS = 50
PACKETS = 100
SHOWN_S = (10.0, 40.0)
"""Time drawn, in seconds; the run continues until the drawn flows end."""
ACCESS_MBPS = {"home": 1, "office": 4, "campus": 1000}
"""Exogenous rates; the last is more than the link has."""
MEAN_SIZE = {"home": "500 kB", "office": "2 MB", "campus": "2 MB"}
WORDS = {
    "home": "1 Mbit/s: limited elsewhere",
    "office": "4 Mbit/s: limited elsewhere",
    "campus": "1 Gbit/s: bottlenecked here",
}
LOOKS: dict[str, dict[str, Any]] = {
    "home": {"facecolor": "0.88", "edgecolor": "0.45"},
    "office": {"facecolor": "0.70", "edgecolor": "0.3"},
    "campus": {"facecolor": "none", "edgecolor": "#D55E00", "hatch": "////"},
}
LOADS = {
    "transparent": {"home": 0.2, "office": 0.2},
    "elastic": {"home": 0.2, "office": 0.2, "campus": 0.25},
    "overload": {"home": 0.2, "office": 0.2, "campus": 1.0},
}
MORE_S = {"transparent": 40, "elastic": 40, "overload": 150}
"""How long a run goes on."""


def studies(form: Form) -> Sequence[Study]:
    """A study for each regime: of the runs the first is drawn."""
    keep = ("flow_log", "link_series")
    return [
        Study(regime, _scenario(regime, form), seeds=form.of(2, 4, 20), keep=keep)
        for regime in LOADS
    ]


def _scenario(regime: str, form: Form) -> Scenario:
    table = scenario_of(LOADS[regime], f"Flows that arrive and depart, {regime}")
    return {**table, "duration": f"{SHOWN_S[1] + MORE_S[regime] / form.of(3, 1, 1):g} s"}


def scenario_of(loads: Mapping[str, float], title: str) -> Scenario:
    """Flows of the three kinds, each with a load, on the link of Figure 1."""
    return {
        "title": title,
        "duration": f"{SHOWN_S[1]:g} s",
        # Log and statistics cover the same flows.
        "measure_from": "0 s",
        "series": {"interval": "200 ms"},
        "defaults": {"host": "plain"},
        "links": {
            setup.LINK: {
                "rate": f"{RATE_MBPS} Mbit/s",
                "delay": "5 ms",
                "queue": setup.fifo(PACKETS),
            }
        },
        "flows": {kind: _flows(kind, load) for kind, load in loads.items()},
    }


def _flows(kind: str, load: float) -> FlowGroup:
    return {
        "path": [setup.LINK],
        "congestion": "reno",
        "send_jitter": "none",
        "packet_size": "1000 B",
        "rtt": {"uniform": ["20 ms", "60 ms"]},
        "access_rate": f"{ACCESS_MBPS[kind]} Mbit/s",
        "source": {
            "kind": "finite_flows",
            "size": {"kind": "exponential", "mean": MEAN_SIZE[kind]},
            "load": load,
            "flow_log": 100_000,
        },
    }


def draw(results: PartResults) -> Figure:
    """Boxes above, the overall rate in the middle, and below how many flows are in progress."""
    title = (
        f"Figure 1: three regimes of a link of {RATE_MBPS} Mbit/s with a buffer of {PACKETS} "
        "packets, simulated"
    )
    heights = {"height_ratios": [3, 1.5, 1.5]}
    figure, panels = picture.page(title, 6.2, 3, 3, sharex=True, sharey="row", **heights)
    for place, regime in enumerate(LOADS):
        boxes, rate, numbers = panels[place::3]
        run = results.study(regime).points[0].runs[0]
        _draw_boxes(boxes, run)
        _draw_rate(rate, run)
        _draw_numbers(numbers, run)
        load = sum(LOADS[regime].values())
        frame(boxes, title=f"{regime}, offered {100 * load:.0f} %", grid="")
        frame(numbers, x="time (s)", xlim=SHOWN_S, grid="")
    panels[0].set(ylabel="rate (Mbit/s)", ylim=(0, RATE_MBPS))
    panels[3].set(ylabel="overall rate\n(Mbit/s)", ylim=(0, 1.15 * RATE_MBPS))
    panels[6].set(ylabel="flows in progress", ylim=(0, None))
    handles: list[Any] = [Patch(label=WORDS[kind], **LOOKS[kind]) for kind in WORDS]
    handles += [*panels[3].lines[1:], *panels[6].lines]
    figure.legend(handles=handles, loc="outside lower center", ncols=3, frameon=False)
    return picture.readable(figure)


def _draw_boxes(panel: Axes, run: StoredRun) -> None:
    # The height within the link has no meaning, as in the paper; fixed in every drawing.
    height = np.random.default_rng(1)
    log = run.table("flow_log")
    boxes: dict[str, list[Rectangle]] = {kind: [] for kind in ACCESS_MBPS}
    for flow in log.to_pylist():
        rate = min(8e-6 * flow["bytes"] / flow["completion_time_s"], RATE_MBPS)
        corner = (flow["start_s"], height.uniform(0, RATE_MBPS - rate))
        boxes[flow["group"]].append(Rectangle(corner, flow["completion_time_s"], rate))
    for kind, mine in boxes.items():
        look = LOOKS[kind]
        panel.add_collection(PatchCollection(mine, linewidth=0.6, alpha=0.85, **look))


def _draw_rate(panel: Axes, run: StoredRun) -> None:
    series = run.table("link_series")
    rate = np.multiply(series["utilization"], RATE_MBPS)
    panel.plot(series["time_s"], rate, color="black", linewidth=0.8)
    panel.axhline(RATE_MBPS, label="capacity", **style.LIMIT_LINE)


def _draw_numbers(panel: Axes, run: StoredRun) -> None:
    log = run.table("flow_log")
    groups = {
        "limited elsewhere": pc.field("group") != "campus",
        "bottlenecked here": pc.field("group") == "campus",
    }
    looks: tuple[dict[str, Any], ...] = (
        {"color": "0.5", "linestyle": "--"},
        {"color": "#D55E00", "linestyle": "-"},
    )
    for (words, chosen), look in zip(groups.items(), looks, strict=True):
        flows = log.filter(chosen)
        starts = flows["start_s"].to_numpy()
        ends = starts + flows["completion_time_s"].to_numpy()
        times = np.linspace(*SHOWN_S, 301)
        panel.plot(times, in_progress(starts, ends, times), label=words, **look)


def in_progress(
    starts: NDArray[np.float64], ends: NDArray[np.float64], times: NDArray[np.float64]
) -> NDArray[np.intp]:
    """Returns the number of flows at each of the times."""
    begun = np.searchsorted(np.sort(starts), times, side="right")
    return begun - np.searchsorted(np.sort(ends), times, side="right")


def bottlenecked(run: StoredRun, from_s: float, to_s: float) -> float:
    """Mean number of flows without a limit of their own between two times."""
    log = run.table("flow_log").filter(pc.field("group") == "campus")
    starts = log["start_s"].to_numpy()
    ends = starts + log["completion_time_s"].to_numpy()
    present = np.minimum(ends, to_s) - np.maximum(starts, from_s)
    return float(np.maximum(present, 0.0).sum() / (to_s - from_s))


def growth(run: StoredRun) -> float:
    """Bottlenecked flows in the last third of what is drawn less those in the first."""
    third = (SHOWN_S[1] - SHOWN_S[0]) / 3
    first = bottlenecked(run, SHOWN_S[0], SHOWN_S[0] + third)
    return bottlenecked(run, SHOWN_S[1] - third, SHOWN_S[1]) - first


def busiest(run: StoredRun) -> float:
    """The largest rate over a second, as a part of the link's."""
    series = run.table("link_series")
    utilization = series["utilization"].to_numpy()
    return float(np.convolve(utilization, np.full(5, 0.2), "valid").max())


LOSS = f"links.{setup.LINK}.loss_fraction"


def delay_ms(run: StoredRun) -> float:
    """99th percentile of the queueing delay, in ms."""
    link = run.summary["links"][setup.LINK]
    return 1e3 * float(link["queue_delay_s_p99"])


def _regimes(results: PartResults) -> Judgement:
    points = {regime: results.study(regime).points[0] for regime in LOADS}
    transparent, elastic, overload = points.values()
    begin_s, end_s = SHOWN_S
    stretches = f"from {end_s - 10:g} s on less those until {begin_s + 10:g} s"
    grows = f"overload: bottlenecked flows, {stretches}"
    checks = (
        transparent.below(
            "transparent: largest rate over a second", busiest, BOUNDS["within-capacity"]
        ),
        transparent.below("transparent: loss", LOSS, BOUNDS["extremely-small-loss"]),
        transparent.below("transparent: p99 delay, ms", delay_ms, BOUNDS["extremely-small-delay"]),
        elastic.above("elastic: loss", LOSS, BOUNDS["extremely-small-loss"]),
        elastic.above("elastic: p99 delay, ms", delay_ms, BOUNDS["extremely-small-delay"]),
        overload.above(grows, growth, 0.0, "their number increases"),
    )
    return Judgement(
        checks,
        lambda: (
            "The same limited flows in all three. Alone they are delayed by "
            f"{transparent.mean(delay_ms):.2g} ms (p99) and lose "
            f"{100 * transparent.mean(LOSS):.2g} %; next to bottlenecked flows of 25 % of the link "
            f"by {elastic.mean(delay_ms):.2g} ms, and lose {100 * elastic.mean(LOSS):.2g} %. At an "
            "offered load of 140 % the number of bottlenecked flows changes by "
            f"{overload.mean(growth):+.1f} in 20 s, at 65 % by {elastic.mean(growth):+.1f}."
        ),
    )


PART = Part(
    name="1",
    title="Transparent, elastic and overload",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "three-regimes",
            "Transparent: the sum of flow rates is always less than link capacity, packet loss and "
            "delay are extremely small. Elastic: whenever one or several bottlenecked flows are in "
            "progress, some packet level congestion leads to delays and some loss. Overload: the "
            "number of flows increases.",
            "Sec. III-B and III-C, Figure 1",
            _regimes,
        ),
    ),
    caption=(
        "Above: a box per flow, as wide as its duration and as high as its mean rate, at a random "
        "height. Middle: the rate of the link over 200 ms, and its capacity. Below: flows in "
        "progress. One run per regime."
    ),
    note=(
        "The paper's sketch, from simulation. Flows arrive as Poisson processes, with "
        "exponential sizes; two kinds are limited by access links of 1 and 4 Mbit/s, the third "
        "(1 Gbit/s) by this link. The height of a box is the mean rate of the flow: the "
        "exogenous rate of a limited flow, the achieved rate of a bottlenecked flow. Its "
        "position within the link is drawn at random once. The runs continue until nearly all of "
        "these flows have ended, because the log has only flows that have ended."
    ),
)
