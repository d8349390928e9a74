"""Gentle RED, CoDel and PIE in place of FIFO, for the cases of Figures 3, 5 and 6."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom.plots.log_axis import plain_ticks
from tailroom.reproduction import pairs
from tailroom.reproduction.claim import Check, Claim, Judgement, above, below, is_true, shown
from tailroom.reproduction.form import Form
from tailroom.reproduction.paper import Part, Study
from tailroom.scenario.types import Queue
from tailroom_papers.auge_2006 import background, setup
from tailroom_papers.auge_2006.background import Span
from tailroom_papers.auge_2006.comparison import less, more
from tailroom_papers.auge_2006.residual import (
    background_delay_ms,
    background_loss,
    residual_share,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tailroom.reproduction.part_results import Metric, PartResults, PointResults, StoredRun

LIMIT = f"{setup.BDP_PACKETS - 1} packets"
SHORT, LONG, FAIR = "FIFO, 100", "FIFO, 625", "fair, 625"
MANAGED = ("gentle RED", "gentle RED, wide", "CoDel", "PIE")
QUEUES: dict[str, Queue] = {
    SHORT: setup.fifo(100),
    LONG: setup.fifo(setup.BDP_PACKETS),
    "gentle RED": {"kind": "red", "limit": LIMIT, "gentle": True},
    # A tenth and a half of the buffer, where the automatic thresholds are 16 and 47 packets.
    "gentle RED, wide": {
        "kind": "red",
        "limit": LIMIT,
        "gentle": True,
        "min_threshold": "62 packets",
        "max_threshold": "312 packets",
    },
    "CoDel": {"kind": "codel", "limit": LIMIT},
    "PIE": {"kind": "pie", "limit": LIMIT},
    FAIR: setup.fair(setup.BDP_PACKETS),
}
CASES: dict[str, Mapping[str, int]] = {
    "1 NewReno": {"reno": 1},
    "1 HighSpeed": {"highspeed": 1},
    "HighSpeed and NewReno": {"highspeed": 1, "reno": 1},
    "4 HighSpeed": {"highspeed": 4},
}
LONE, MIXED = "1 NewReno", "HighSpeed and NewReno"


def studies(form: Form) -> Sequence[Study]:
    """A study for each case."""
    span = form.of(Span(30, 50), Span(50, 150), Span(50, 550))
    names = form.of((SHORT, LONG, "CoDel", FAIR), tuple(QUEUES), tuple(QUEUES))
    grid = {background.QUEUE: [QUEUES[name] for name in names]}
    cases = form.of((LONE, MIXED), (LONE, MIXED, "4 HighSpeed"), tuple(CASES))
    studies = []
    for case in cases:
        flows = {kind: background.flow(kind, count) for kind, count in CASES[case].items()}
        table = background.scenario(flows, span, f"{case} beside a Poisson background")
        studies.append(Study(_name(case), table, grid=grid, seeds=form.of(3, 3, 5)))
    return studies


def _name(case: str) -> str:
    return case.lower().replace(" ", "-")


def reno_part(run: "StoredRun") -> float:
    """NewReno's share of the goodput of NewReno and HighSpeed."""
    goodput = {name: run.summary["groups"][name]["goodput_bps"] for name in ("reno", "highspeed")}
    return float(goodput["reno"] / sum(goodput.values()))


def _names(results: "PartResults") -> list[str]:
    """The queues of this form, in order."""
    points = results.study(_name(LONE)).points
    return [
        name for name, queue in QUEUES.items() if any(queue == _queue(point) for point in points)
    ]


def _queue(point: "PointResults") -> object:
    return point.settings[background.QUEUE]


def _at(results: "PartResults", case: str, name: str) -> "PointResults":
    return results.study(_name(case)).at({background.QUEUE: QUEUES[name]})


def draw(results: "PartResults") -> Figure:
    """Share, delay and loss of the background, by queue; a marker for each case."""
    figure = Figure(figsize=(10.5, 7), layout="constrained")
    style.title(
        figure,
        "Queues in place of FIFO, beside a background of 25 of 50 Mbit/s, RTT 100 ms, buffers in "
        "packets (625 where none is named): our simulation, means with 95 % intervals",
    )
    share, delay, loss = figure.subplots(3, sharex=True)
    _draw_metric(share, results, residual_share, 100.0)
    share.set_ylabel("share of the\nresidual (%)")
    _draw_metric(delay, results, background_delay_ms, 1.0)
    delay.set(yscale="log", ylabel="background's p99\nqueueing delay (ms)")
    delay.yaxis.set_major_formatter(plain_ticks)
    _draw_metric(loss, results, background_loss, 100.0)
    loss.set_ylabel("background's\nloss (%)")
    loss.set_ylim(bottom=0)
    names = _names(results)
    loss.set_xticks(range(len(names)), names, rotation=15)
    for panel in (share, delay, loss):
        panel.grid(color="0.9")
    style.legend_beside(share)
    return figure


def _draw_metric(panel: "Axes", results: "PartResults", metric: "Metric", scale: float) -> None:
    names = _names(results)
    looks = style.marked_line_styles()
    for place, (case, look) in enumerate(zip(CASES, looks, strict=False)):
        if _name(case) in results.studies:
            points = [_at(results, case, name) for name in names]
            xs = [number + 0.13 * (place - 1.5) for number in range(len(names))]
            marks = {**look, "linestyle": "none", "label": case}
            background.draw_line(panel, xs, points, metric, marks, scale=scale)


def _open_question(results: "PartResults") -> Judgement:
    checks: list[Check] = []
    short = _at(results, LONE, SHORT)
    long = _at(results, LONE, LONG)
    names = [name for name in MANAGED if name in _names(results)]
    for name in names:
        point = _at(results, LONE, name)
        checks += [
            more(
                f"{name}: NewReno's share of the residual",
                point.interval(residual_share),
                short.interval(residual_share),
                "no less than with FIFO and 100 packets",
                percent=True,
            ),
            less(
                f"{name}: the background's p99 delay, ms",
                point.interval(background_delay_ms),
                short.interval(background_delay_ms),
                "no longer than with FIFO and 100 packets",
            ),
        ]
    words = "; ".join(
        f"{name} {100 * _at(results, LONE, name).mean(residual_share):.0f} % and "
        f"{_at(results, LONE, name).mean(background_delay_ms):.0f} ms"
        for name in names
    )
    return Judgement(
        tuple(checks),
        "One NewReno flow's share and the background's p99 delay in a buffer of 625 packets: "
        f"{words}; FIFO with 100 packets {100 * short.mean(residual_share):.0f} % and "
        f"{short.mean(background_delay_ms):.0f} ms, with 625 "
        f"{100 * long.mean(residual_share):.0f} % and {long.mean(background_delay_ms):.0f} ms. "
        "The means are better in both for: "
        f"{', '.join(_better_in_both(results, names)) or 'none'}.",
    )


def _better_in_both(results: "PartResults", names: Sequence[str]) -> list[str]:
    """Queues with a larger share of the residual and less delay than FIFO with 100 packets."""
    short = _at(results, LONE, SHORT)
    share, delay_ms = short.mean(residual_share), short.mean(background_delay_ms)
    points = {name: _at(results, LONE, name) for name in names}
    return [
        name
        for name, point in points.items()
        if point.mean(residual_share) > share and point.mean(background_delay_ms) < delay_ms
    ]


def _scheduling(results: "PartResults") -> Judgement:
    names = [name for name in MANAGED if name in _names(results)]
    fair = _at(results, MIXED, FAIR)
    delays = {name: _at(results, MIXED, name).mean(background_delay_ms) for name in names}
    losses = {name: _at(results, MIXED, name).mean(background_loss) for name in names}
    parts = {name: _at(results, MIXED, name).mean(reno_part) for name in names}
    best = min(delays, key=delays.__getitem__)
    checks = (
        below(
            "fair queueing: the background's p99 delay over that of the best managed queue",
            pairs.ratio(fair, _at(results, MIXED, best), background_delay_ms),
            0.5,
            "scheduling preserves quality of service (taken as half)",
        ),
        is_true(
            "least loss of the background under a managed queue",
            "some, where fair queueing has none",
            max(fair.values(background_loss)) == 0 < min(losses.values()),
            min(losses.values()),
            percent=True,
        ),
        above(
            "fair queueing: NewReno's part beside HighSpeed less its largest under a managed queue",
            pairs.difference(
                fair, _at(results, MIXED, max(parts, key=parts.__getitem__)), reno_part
            ),
            0.0,
            "scheduling makes shares fair",
            percent=True,
        ),
    )
    words = ", ".join(f"{name} {100 * part:.0f} %" for name, part in parts.items())
    return Judgement(
        checks,
        f"Of the managed queues {best} delays the background least, "
        f"{delays[best]:.1f} ms (p99); fair queueing "
        f"{shown(fair.interval(background_delay_ms))} ms, in a buffer of 625 packets. "
        f"NewReno's part beside HighSpeed: {words}, under fair queueing "
        f"{100 * fair.mean(reno_part):.0f} %.",
    )


PART = Part(
    name="aqm",
    title="Gentle RED, CoDel and PIE in place of FIFO",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "open-question",
            "The impact of alternative AQM mechanisms is an open question. (Read as: do they "
            "give a large buffer the throughput and the low latency of FIFO with 100 packets?)",
            "Sec. II-C",
            _open_question,
        ),
        Claim(
            "scheduling-needed",
            "The delay may be significant if large buffers are used, particularly for streaming "
            "flows. Some form of scheduling may be considered necessary to preserve quality of "
            "service in this regime.",
            "Sec. III-C",
            _scheduling,
        ),
    ),
    note=(
        "Gentle RED runs once with the automatic thresholds of Floyd, Gummadi and Shenker (2001: "
        "half of 5 ms at this rate, and three times that) and once with a tenth and a half of "
        "the buffer; CoDel and PIE have the parameters of their RFCs. ECN is not used."
    ),
)
