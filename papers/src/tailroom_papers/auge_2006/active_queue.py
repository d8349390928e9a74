"""Gentle RED, CoDel and PIE in place of FIFO, for the cases of Figures 3, 5 and 6."""

from collections.abc import Mapping, Sequence

from tailroom.scenario.types import Queue
from tailroom_papers.auge_2006 import background, picture, setup
from tailroom_papers.auge_2006.background import Span
from tailroom_papers.auge_2006.bounds import BOUNDS
from tailroom_papers.auge_2006.comparison import considerably_less
from tailroom_papers.auge_2006.residual import background_delay_ms, background_loss, residual_share
from tailroom_papers.framework import *

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
    span = form.of(Span(30, 50), Span(50, 150), Span(50, 350))
    names = form.of((SHORT, LONG, "CoDel", FAIR), tuple(QUEUES), tuple(QUEUES))
    grid = {background.QUEUE: [QUEUES[name] for name in names]}
    cases = form.of((LONE, MIXED), (LONE, MIXED, "4 HighSpeed"), tuple(CASES))
    studies = []
    for case in cases:
        flows = {kind: background.flow(kind, count) for kind, count in CASES[case].items()}
        table = background.scenario(flows, span, f"{case} next to a Poisson background")
        studies.append(Study(_name(case), table, grid=grid, seeds=form.of(3, 3, 20)))
    return studies


def _name(case: str) -> str:
    return case.lower().replace(" ", "-")


def reno_part(run: StoredRun) -> float:
    """NewReno's share of the goodput of NewReno and HighSpeed."""
    goodput = {name: run.summary["groups"][name]["goodput_bps"] for name in ("reno", "highspeed")}
    return float(goodput["reno"] / sum(goodput.values()))


def _names(results: PartResults) -> list[str]:
    """The queues of this form, in order."""
    points = results.study(_name(LONE)).points
    return [
        name for name, queue in QUEUES.items() if any(queue == _queue(point) for point in points)
    ]


def _queue(point: PointResults) -> object:
    return point.settings[background.QUEUE]


def _at(results: PartResults, case: str, name: str) -> PointResults:
    return results.study(_name(case)).at({background.QUEUE: QUEUES[name]})


def draw(results: PartResults) -> Figure:
    """Share, delay and loss of the background, by queue; a marker for each case."""
    title = "Queues in place of FIFO, next to a background of 25 of 50 Mbit/s, RTT 100 ms"
    figure, (share, delay, loss) = picture.page(title, 5.8, 3, sharex=True)
    names = _names(results)
    cases = {
        case: [_at(results, case, name) for name in names]
        for case in CASES
        if _name(case) in results.studies
    }
    draw_categories(share, cases, residual_share, names, scale=100)
    draw_categories(delay, cases, background_delay_ms, names)
    draw_categories(loss, cases, background_loss, names, scale=100)
    frame(share, y="share of the\nresidual (%)")
    frame(delay, y="background's p99\nqueueing delay (ms)", log="y")
    frame(loss, y="background's\nloss (%)", ylim=(0, None))
    loss.tick_params(axis="x", labelrotation=15)
    return picture.finished(figure, 4)


def _scheduling(results: PartResults) -> Judgement:
    fair, short, long = (_at(results, MIXED, name) for name in (FAIR, SHORT, LONG))
    managed = {name: _at(results, MIXED, name) for name in MANAGED if name in _names(results)}
    best = min(managed, key=lambda name: managed[name].mean(background_delay_ms))
    p99 = "p99 delay of the background under"
    long_delays = f"{p99} FIFO with 100 packets over that with 625"
    scheduled = f"{p99} fair queueing over that of the best managed queue"
    lost = "loss of the background under fair queueing"
    significant = "delay may be significant if large buffers are used"
    preserved = "scheduling preserves quality of service"
    checks = (
        considerably_less(long_delays, short, long, background_delay_ms, significant),
        considerably_less(scheduled, fair, managed[best], background_delay_ms, preserved),
        fair.below(lost, background_loss, BOUNDS["loss-free"], percent=True),
    )
    return Judgement(checks, lambda: _why(results, best))


def _why(results: PartResults, best: str) -> str:
    names = [name for name in MANAGED if name in _names(results)]
    fair, short = _at(results, MIXED, FAIR), _at(results, LONE, SHORT)
    parts = ", ".join(
        f"{name} {100 * _at(results, MIXED, name).mean(reno_part):.0f} %" for name in names
    )
    alone = "; ".join(
        f"{name} {100 * _at(results, LONE, name).mean(residual_share):.0f} % and "
        f"{_at(results, LONE, name).mean(background_delay_ms):.0f} ms"
        for name in names
    )
    return (
        f"Of the managed queues {best} delays the background least, "
        f"{_at(results, MIXED, best).mean(background_delay_ms):.1f} ms (p99); fair queueing "
        f"{shown(fair.interval(background_delay_ms))} ms, in a buffer of 625 packets. NewReno's "
        f"part next to HighSpeed: {parts}, under fair queueing {100 * fair.mean(reno_part):.0f} %. "
        "The impact of alternative AQM mechanisms, an open question in the paper: one NewReno "
        f"flow's share and the background's p99 delay are {alone}; FIFO with 100 packets "
        f"{100 * short.mean(residual_share):.0f} % and {short.mean(background_delay_ms):.0f} ms. "
        f"Better in both respects: {', '.join(_better_in_both(results, names)) or 'none'}."
    )


def _better_in_both(results: PartResults, names: Sequence[str]) -> list[str]:
    """Queues with a larger share of the residual and less delay than FIFO with 100 packets."""
    short = _at(results, LONE, SHORT)
    share, delay_ms = short.mean(residual_share), short.mean(background_delay_ms)
    points = {name: _at(results, LONE, name) for name in names}
    return [
        name
        for name, point in points.items()
        if point.mean(residual_share) > share and point.mean(background_delay_ms) < delay_ms
    ]


PART = Part(
    name="aqm",
    title="Gentle RED, CoDel and PIE in place of FIFO",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "scheduling-needed",
            "The delay may be significant if large buffers are used, particularly for streaming "
            "flows. Some form of scheduling may be considered necessary to preserve quality of "
            "service in this regime.",
            "Sec. III-C",
            _scheduling,
        ),
    ),
    caption=(
        "Share of the residual, and delay and loss of the background, by queue (buffer of 625 "
        "packets unless another is named); a mark per case, means with 95 % confidence intervals."
    ),
    note=(
        "Gentle RED runs once with the automatic thresholds of Floyd, Gummadi and Shenker (2001: "
        "half of 5 ms at this rate, and three times that) and once with a tenth and a half of "
        "the buffer; CoDel and PIE have the parameters of their RFCs. ECN is not used."
    ),
)
