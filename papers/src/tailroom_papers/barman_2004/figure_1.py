"""Figure 1: the window of one HighSpeed flow between two losses, and the closed forms of Sec. II.

The loss is periodic, as in the paper's derivation: each packet of a fixed number is lost.
"""

from collections.abc import Sequence
from functools import partial
from math import log
from typing import Any, cast

import numpy as np

from tailroom.models.window_laws.cycle import fluid_curve
from tailroom.models.window_laws.highspeed import DEFAULTS, kinks_of, power_integral
from tailroom.scenario.types import Scenario
from tailroom_papers.barman_2004.bounds import BOUNDS
from tailroom_papers.barman_2004.settings import FIGURE_3
from tailroom_papers.framework import *

EVERY = "links.bottleneck.loss.every"
PACKETS = 80_000
"""One loss in so many packets: about the loss at which ten flows fill the link of Figure 3."""
FIRST_WINDOW = 1800
"""Slow start ends here, near the peak of the cycle."""
Cycle = tuple[float, float]
"""N_d in packets and T_d in round trips."""


def studies(form: Form) -> Sequence[Study]:
    """One flow over a link that is never full, with periodic losses."""
    duration, measure_from = form.of(("60 s", "20 s"), ("80 s", "20 s"), ("160 s", "60 s"))
    whole = {
        "title": "One HighSpeed flow with periodic losses",
        "duration": duration,
        "measure_from": measure_from,
        "series": {"interval": "20 ms"},
        "defaults": {"host": "plain"},
        "links": {
            "bottleneck": {
                "rate": "100 Gbit/s",
                "delay": "50 ms",
                "queue": {"kind": "drop_tail", "limit": "100000 packets"},
                "loss": {"kind": "periodic", "every": PACKETS},
            }
        },
        "flows": {
            "hstcp": {
                "path": ["bottleneck"],
                "congestion": {"kind": "highspeed"},
                "send_jitter": "none",
                "packet_size": "1000 B",
                "access_rate": "10 Gbit/s",
                "start": {"uniform": ["0 s", "1 s"]},
                "delayed_ack": False,
                "initial_window": 2,
                "initial_ssthresh": FIRST_WINDOW,
                **{"rtt": FIGURE_3.drawn_rtts["flows.hstcp.rtt"]},
            }
        },
    }
    scenario, seeds, keep = cast("Scenario", whole), form.of(3, 5, 20), ("flow_series",)
    return [Study("one", scenario, grid={EVERY: [PACKETS]}, seeds=seeds, keep=keep)]


def closed_form(peak: float) -> Cycle:
    """N_d and T_d as the paper derives them, with its slips corrected, for a cycle's peak.

    The paper bounds (2 - b) / b by its value at b_h (docs/models/window-laws.md).
    """
    low, q = DEFAULTS.low_window, DEFAULTS.exponent
    left = 1 - float(DEFAULTS.decrease(peak))
    factor = (2 - DEFAULTS.high_decrease) / (2 * DEFAULTS.high_decrease * DEFAULTS.low_p)
    begin, end = left * peak / low, peak / low
    packets = factor * float(power_integral(begin, end, q))
    return packets, factor / low * float(power_integral(begin, end, q - 1))


def exact_fluid(peak: float) -> Cycle:
    """N_d and T_d by integration of dw/dt = a(w)/R without the paper's bound."""
    curve = fluid_curve(DEFAULTS.increase, DEFAULTS.decrease, kinks_of(DEFAULTS))
    at = np.array([peak])
    return float(curve.packets(at)[0]), float(curve.rounds(at)[0])


FORMS = {"closed": closed_form, "fluid": exact_fluid}


def peaks(run: StoredRun) -> list[int]:
    """Places in the flow's series at which its window is about to fall."""
    windows = np.array(run.table("flow_series")["cwnd_packets"])
    return [int(place) for place in np.flatnonzero(windows[1:] < 0.9 * windows[:-1])]


def peak_window(run: StoredRun) -> float:
    """Mean window before a loss, in the measured part of the run."""
    series = run.table("flow_series")
    times, windows = np.array(series["time_s"]), np.array(series["cwnd_packets"])
    begin = run.summary["measured_from_s"]
    return float(np.mean([windows[place] for place in peaks(run) if times[place] >= begin]))


def packets_over(run: StoredRun, form: str) -> float:
    """Packets between two losses, over N_d of a form at the run's peak."""
    between_losses = run.summary["flows"][0]["packets_between_reductions_mean"]
    return float(between_losses / FORMS[form](peak_window(run))[0])


def time_over(run: StoredRun, form: str) -> float:
    """Time between two losses, over T_d of a form at the run's peak and its RTT."""
    flow = run.summary["flows"][0]
    rounds = flow["seconds_between_reductions_mean"] / flow["rtt_s_mean"]
    return float(rounds / FORMS[form](peak_window(run))[1])


def rate_over(run: StoredRun, form: str) -> float:
    """Packets over time between two losses, over N_d / T_d of a form."""
    return packets_over(run, form) / time_over(run, form)


def dynamics(results: PartResults) -> Judgement:
    """T_d, N_d and their ratio."""
    point = results.study("one").points[0]

    def ratio(metric: partial[float], what: str) -> str:
        return f"{what} {shown(point.interval(metric))}"

    metrics = {"T_d": time_over, "N_d": packets_over, "rate N_d / T_d": rate_over}
    checks = []
    for name, metric in metrics.items():
        what, over = f"{name}, simulated over closed form", partial(metric, form="closed")
        checks.append(point.between(what, over, BOUNDS["fluid-cycle"]))
    return Judgement(
        tuple(checks),
        "The closed forms bound (2 - b) / b by its value at b_h = 0.1. The bound lengthens T_d and "
        "N_d by the same factor, which cancels in the rate. The fluid integrated without the bound "
        "gives "
        + ", ".join(
            (
                ratio(partial(time_over, form="fluid"), "a simulated T_d over the fluid's of"),
                ratio(partial(packets_over, form="fluid"), "the same for N_d of"),
            )
        )
        + ".",
    )


def draw(results: PartResults) -> Figure:
    """Windows of the first run, and one cycle with the two fluids."""
    point = results.study("one").points[0]
    run = point.runs[0]
    series = run.table("flow_series")
    times, windows = np.array(series["time_s"]), np.array(series["cwnd_packets"])
    title = f"Figure 1: one HighSpeed flow that loses each {PACKETS:,}th packet"
    figure, (whole, cycle) = figure_of(title, 1, 2, (8.6, 3.9), sharey=True)
    whole.plot(times, windows, color="black", linewidth=0.9)
    whole.axvspan(0, run.summary["measured_from_s"], color="0.92", zorder=0)
    label = f"(a)  time (s), seed {run.seed}; shaded: not measured"
    frame(whole, x=label, y="congestion window (packets)", xlim=(0, times[-1]))
    _draw_cycle(cycle, point, times, windows)
    frame(cycle, x="(b)  time since the last reduction (s)", ylim=(0, None))
    return legend_below(figure, 3)


def _draw_cycle(panel: Axes, point: PointResults, times: np.ndarray, windows: np.ndarray) -> None:
    """The cycle before the last loss, from its beginning."""
    run = point.runs[0]
    *_, first, last = peaks(run)
    rtt_s = run.summary["flows"][0]["rtt_s_mean"]
    inside = slice(first + 1, last + 1)
    begin_s = times[first + 1]
    panel.plot(times[inside] - begin_s, windows[inside], color="black", label="simulated")
    peak = float(windows[last])
    low = (1 - float(DEFAULTS.decrease(peak))) * peak
    grid = np.exp(np.linspace(log(low), log(peak), 60))
    looks: dict[str, dict[str, Any]] = {
        "closed": {"label": "closed form (the paper's bound)", "color": "#D55E00", "ls": "--"},
        "fluid": {"label": "exact fluid", "color": "#0072B2", "ls": ":"},
    }
    for name, look in looks.items():
        rounds = [_rounds(name, low, float(window)) for window in grid]
        panel.plot(rtt_s * np.array(rounds), grid, linewidth=1.6, zorder=3, **look)
    panel.fill_between(times[inside] - begin_s, 0, windows[inside], color="0.9", zorder=0)
    where = (times[last] - begin_s) / 2
    panel.annotate("area over R: $N_d$", (where, 0.45 * low), ha="center")
    panel.annotate(
        "", (0, 0.2 * low), (times[last] - begin_s, 0.2 * low), arrowprops={"arrowstyle": "<->"}
    )
    panel.annotate("$T_d$", (where, 0.23 * low), ha="center")


def _rounds(form: str, low: float, window: float) -> float:
    """Round trips in which a window grows from `low` to `window`."""
    if form == "closed":
        q, factor = DEFAULTS.exponent - 1, 2 * DEFAULTS.high_decrease * DEFAULTS.low_p
        start, end = low / DEFAULTS.low_window, window / DEFAULTS.low_window
        scale = (2 - DEFAULTS.high_decrease) / (factor * DEFAULTS.low_window)
        return scale * float(power_integral(start, end, q))
    steps = np.linspace(low, window, 200)
    return float(np.trapezoid(1 / DEFAULTS.increase(steps), steps))


PART = Part(
    "1",
    "Window dynamics of one HighSpeed flow",
    studies,
    draw,
    (
        Claim(
            "window-dynamics",
            "T_d and N_d, the time and the number of packets between two successive packet drops, "
            "follow the closed forms of Sec. II.",
            "Sec. II-A, Figure 1",
            dynamics,
        ),
    ),
    "The closed forms are the paper's, with the corrections listed in docs/models/window-laws.md. "
    "They take the peak of the window from the simulation. One packet of every "
    f"{PACKETS:,} is lost, the RTT is drawn from 115.5 to 124.5 ms, and the link is never full, so "
    "that the RTT is constant, as the derivation assumes.",
    caption="(a) The congestion window of one simulated HighSpeed flow. (b) Its last cycle "
    "(black) next to the paper's closed form for w(t) (dashed) and the fluid integrated without "
    "the paper's bound (dotted), which begin at the same window. T_d is the length of the cycle, "
    "and N_d is the shaded area divided by the RTT.",
)
