"""Short flows and constant-rate flows alongside the HighSpeed flows, over the buffer."""

from collections.abc import Mapping
from typing import Any, cast

from tailroom.scenario.types import Scenario
from tailroom_papers.barman_2004.bounds import BOUNDS
from tailroom_papers.barman_2004.further_network import (
    UTILIZATION,
    limits,
    over_buffers,
    points_over,
    seeds,
    times,
)
from tailroom_papers.barman_2004.interval_curves import (
    Lines,
    draw_curves,
    draw_stated,
    legend_inside,
)
from tailroom_papers.barman_2004.settings import LIMIT
from tailroom_papers.framework import *

ALONE, SHORT, CONSTANT = "highspeed-alone", "short", "constant"
SHORT_ALONE = "short-alone"
COMPLETION = "groups.short.all_sizes.completion_time_s_mean"
COMPLETION_P99 = "groups.short.all_sizes.completion_time_s_p99"
LOSS = "groups.{}.links.bottleneck.loss_fraction"
DELAY_P99 = "groups.{}.links.bottleneck.queue_delay_s_p99"


_AS_QUICK = BOUNDS["as-quick"].value
AS_QUICK = f"as quick (at most {_AS_QUICK:g})"
SLOWER = f"slower (above {_AS_QUICK:g})"


def fractions(form: Form) -> tuple[float, ...]:
    """Buffers, as parts of 12,500 packets."""
    return form.of((0.1, 1.0), (0.05, 0.1, 1.0), (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 1.0))


SHORT_FLOWS: Mapping[str, object] = {
    "path": ["bottleneck"],
    "congestion": {"kind": "reno"},
    "send_jitter": "none",
    "packet_size": "1000 B",
    "rtt": {"uniform": ["115.5 ms", "124.5 ms"]},
    "access_rate": "100 Mbit/s",
    "delayed_ack": False,
    "initial_window": 2,
    "source": {
        "kind": "finite_flows",
        "size": {"kind": "bounded_pareto", "shape": 1.2, "min": "10 kB", "max": "10 MB"},
        "load": 0.1,
    },
}
"""A tenth of the link. Standard TCP: their windows seldom reach those of HighSpeed's own law."""

CONSTANT_FLOWS: Mapping[str, object] = {
    "count": 50,
    "path": ["bottleneck"],
    "packet_size": "1000 B",
    "start": {"uniform": ["0 s", "1 s"]},
    "source": {"kind": "cbr", "rate": "2 Mbit/s", "phase": "0 s"},
}
"""A tenth of the link, too."""


def studies(form: Form) -> list[Study]:
    """HighSpeed flows alone, alongside either kind of traffic, and short flows alone."""
    over = fractions(form)
    return [
        over_buffers(ALONE, form, over),
        over_buffers(SHORT, form, over, **{"flows.short": SHORT_FLOWS}),
        over_buffers(CONSTANT, form, over, **{"flows.constant": CONSTANT_FLOWS}),
        Study(SHORT_ALONE, _short_alone(form), grid={LIMIT: limits(over[-1:])}, seeds=seeds(form)),
    ]


def _short_alone(form: Form) -> Scenario:
    queue = {"kind": "drop_tail", "limit": limits(fractions(form))[-1]}
    whole = {
        "title": "Short flows alone",
        **times(form),
        "defaults": {"host": "plain"},
        "links": {"bottleneck": {"rate": "1 Gbit/s", "delay": "50 ms", "queue": queue}},
        "flows": {"short": SHORT_FLOWS},
    }
    return cast("Scenario", whole)


def draw(results: PartResults) -> Figure:
    """Utilization, losses, queueing delays, and completion times."""
    title = (
        "Ten HighSpeed flows on Figure 3's network next to short flows, or next to constant-rate "
        "flows, of a tenth of the link"
    )
    figure, (utilization, loss, delay, completion) = figure_of(title, 2, 2, (9.6, 8.4))
    over = fractions(results.form)
    draw_stated(utilization, 90, "the paper at 10 %: 90 %")
    lines, title = _lines(results, UTILIZATION), "Utilization of the link"
    limits = (None, 101.5)
    draw_curves(utilization, over, lines, "utilization (%)", title, scale=100, ylim=limits)
    lines, title = _lines(results, LOSS), "Packets lost (of the other flows)"
    draw_curves(loss, over, lines, "loss (%)", title, scale=100, log="y")
    lines, title = _lines(results, DELAY_P99), "Queueing delay (of the other flows)"
    draw_curves(delay, over, lines, "p99 queueing delay (ms)", title, scale=1e3)
    _draw_completion(completion, results)
    legend_inside(completion)
    return legend_below(figure, of=[utilization, loss, delay])


def _lines(results: PartResults, metric: str) -> Lines:
    """A metric with either traffic, and of the HighSpeed flows alone."""
    names = {
        "HighSpeed alone": (ALONE, "hstcp"),
        "with short flows": (SHORT, "short"),
        "with constant-rate flows": (CONSTANT, "constant"),
    }
    return {
        label: (points_over(results, study, fractions(results.form)), metric.format(group))
        for label, (study, group) in names.items()
    }


def _draw_completion(panel: Axes, results: PartResults) -> None:
    points = points_over(results, SHORT, fractions(results.form))
    lines: Lines = {"mean": (points, COMPLETION), "p99": (points, COMPLETION_P99)}
    for name, (_, metric), look in styled(lines):
        alone = results.study(SHORT_ALONE).points[0].mean(metric)
        line: dict[str, Any] = {"color": look["color"], "linestyle": ":", "linewidth": 1.1}
        panel.axhline(alone, label=f"{name}, short flows alone", **line)
    over, label = fractions(results.form), "completion time (s)"
    draw_curves(panel, over, lines, label, "Short flows", ylim=(0, None))


def _judge_short(results: PartResults) -> Judgement:
    alone = results.study(SHORT_ALONE).points[0]
    points = dict(
        zip(
            fractions(results.form),
            points_over(results, SHORT, fractions(results.form)),
            strict=True,
        )
    )
    slower = {buffer: paired_ratio(points[buffer], alone, COMPLETION) for buffer in (0.1, 1.0)}
    bound, what = BOUNDS["as-quick"], "mean completion over that without HighSpeed flows"
    checks = (
        points[0.1].above("utilization, buffer 10 %", UTILIZATION, BOUNDS["ninety"]),
        below(f"{what}, buffer 10 %", slower[0.1], bound, AS_QUICK),
        above(f"{what}, buffer 100 %", slower[1.0], bound, SLOWER),
    )
    losses = [points[fraction].interval(LOSS.format("short")) for fraction in (0.1, 1.0)]
    why = (
        f"Short flows take {shown(slower[0.1])} times as long as without HighSpeed flows when the "
        f"buffer is 10 %, and {shown(slower[1.0])} times with 100 %: their packets wait, p99 "
        f"{1e3 * points[0.1].mean(DELAY_P99.format('short')):.1f} and "
        f"{1e3 * points[1.0].mean(DELAY_P99.format('short')):.1f} ms. Of them "
        f"{shown(losses[0], percent=True)} and {shown(losses[1], percent=True)} are lost."
    )
    return Judgement(checks, why)


def _judge_constant(results: PartResults) -> Judgement:
    points = dict(
        zip(
            fractions(results.form),
            points_over(results, CONSTANT, fractions(results.form)),
            strict=True,
        )
    )
    loss, delay = LOSS.format("constant"), DELAY_P99.format("constant")
    longer = paired_ratio(points[1.0], points[0.1], delay)
    checks = (
        points[0.1].above("utilization, buffer 10 %", UTILIZATION, BOUNDS["ninety"]),
        *(
            points[fraction].below(
                f"loss, buffer {100 * fraction:.0f} %", loss, BOUNDS["stream-loss"]
            )
            for fraction in (0.1, 1.0)
        ),
        above("p99 queueing delay, 100 % over 10 %", longer, BOUNDS["grows-with-buffer"]),
    )
    why = (
        f"With a buffer of 10 % they lose {shown(points[0.1].interval(loss), percent=True)}, and "
        f"1 % of their packets wait longer than {1e3 * points[0.1].mean(delay):.1f} ms; with 100 "
        f"% the values are {shown(points[1.0].interval(loss), percent=True)} and "
        f"{1e3 * points[1.0].mean(delay):.0f} ms."
    )
    return Judgement(checks, why)


PART = Part(
    "other-traffic",
    "Short flows and constant-rate flows next to HighSpeed flows (the paper's future work)",
    studies,
    draw,
    (
        Claim(
            "other-traffic-short",
            "Next to short flows, a buffer of 10 % keeps the link at 90 % and leaves short flows "
            "as quick as without HighSpeed flows; one of 100 % makes them slower.",
            "our hypothesis on the future work of Sec. V",
            _judge_short,
        ),
        Claim(
            "other-traffic-constant",
            "Constant-rate flows next to HighSpeed flows lose less than one packet in a thousand; "
            "their delay grows with the buffer.",
            "our hypothesis on the future work of Sec. V",
            _judge_constant,
        ),
    ),
    "Figure 3's ten HighSpeed flows, and next to them either short flows (standard TCP, Poisson "
    "arrivals, 10 kB to 10 MB with a Pareto tail of 1.2, 10 % of the link, access links of "
    "100 Mbit/s, the same RTTs) or 50 constant-rate flows of 2 Mbit/s. The paper finds both "
    "interesting to investigate and claims nothing, so hypotheses and bounds are ours.",
    caption="Ten HighSpeed flows on Figure 3's network next to short flows or next to "
    "constant-rate flows, either with a tenth of the link: utilization, loss, 99th percentile of "
    "the queueing delay, and completion times of the short flows, over the buffer. Bands are 95 % "
    "confidence intervals.",
)
