"""Number of flows that a fair queue must know at a time, with up to 100,000 in progress."""

from collections.abc import Sequence

from tailroom.scenario.types import Flows as FlowGroup
from tailroom.scenario.types import Scenario
from tailroom_papers.auge_2006 import picture, setup
from tailroom_papers.auge_2006.bounds import BOUNDS
from tailroom_papers.framework import *

RATE = f"links.{setup.LINK}.rate"
COUNT = "flows.slow.count"
LOADS = (50, 90)
MOST = "streams-100000"
"""Study of the most flows, in the quick form."""

STATE = f"links.{setup.LINK}.discipline_state"
P99 = f"{STATE}.active_flows_p99"
MEAN = f"{STATE}.active_flows_mean"
LARGEST = f"{STATE}.active_flows_max"
IN_PROGRESS = f"links.{setup.LINK}.flows_in_progress_mean"
MBPS_OF = {1_000: 100, 10_000: 1_000, 100_000: 10_000}
"""Rate of the link that this number of flows fills."""


def studies(form: Form) -> Sequence[Study]:
    """Permanent streams at two loads, and TCP flows that arrive and depart at a load of a half."""
    numbers = form.of((1_000,), (1_000, 10_000), tuple(MBPS_OF))
    studies = [_streams(load, numbers, form) for load in LOADS]
    if form is Form.QUICK:
        studies.append(_streams(LOADS[-1], (100_000,), form, MOST))
    studies.append(_tcp(numbers, form))
    return studies


def _streams(load: int, numbers: Sequence[int], form: Form, name: str = "") -> Study:
    few = numbers == (100_000,)
    slow: dict[str, FlowGroup] = {
        "slow": {
            "path": [setup.LINK],
            "packet_size": "1000 B",
            # Equal on every link, because the paper's limited flows do not depend on the link.
            "source": {"kind": "poisson", "rate": f"{load} kbit/s"},
        }
    }
    table = _scenario(slow, 0.8 if few else form.of(3, 2, 4), 0.3 if few else 0.5)
    together: dict[str, Sequence[object]] = {
        COUNT: list(numbers),
        RATE: [f"{MBPS_OF[number]} Mbit/s" for number in numbers],
    }
    seeds = 2 if few else form.of(3, 3, 10)
    return Study(name or _name(load), table, together=together, seeds=seeds)


def _tcp(numbers: Sequence[int], form: Form) -> Study:
    slow: dict[str, FlowGroup] = {
        "slow": {
            "path": [setup.LINK],
            "congestion": "reno",
            "send_jitter": "none",
            "packet_size": "1000 B",
            "rtt": {"uniform": ["20 ms", "200 ms"]},
            "access_rate": "50 kbit/s",
            "source": {
                "kind": "finite_flows",
                "size": {"kind": "exponential", "mean": "62.5 kB"},
                "load": 0.5,
            },
        }
    }
    seconds = form.of((30, 20), (25, 20), (45, 35))
    together = {RATE: [f"{MBPS_OF[number]} Mbit/s" for number in numbers]}
    return Study("tcp", _scenario(slow, *seconds), together=together, seeds=form.of(3, 3, 10))


def _scenario(slow: dict[str, FlowGroup], duration_s: float, from_s: float) -> Scenario:
    greedy: FlowGroup = {
        "count": 4,
        "path": [setup.LINK],
        "congestion": {"kind": "reno"},
        "send_jitter": "none",
        "packet_size": "1000 B",
        "rtt": {"uniform": ["10 ms", "20 ms"]},
        "start": {"uniform": ["0 ms", "200 ms"]},
    }
    return {
        "title": "Many slow flows and four bottlenecked ones under fair queueing",
        "duration": f"{duration_s} s",
        "measure_from": f"{from_s} s",
        "defaults": {"host": "plain"},
        "links": {
            setup.LINK: {
                "rate": "1 Gbit/s",
                "delay": "1 ms",
                "queue": {"kind": "fair", "limit": "1000 packets"},
            }
        },
        "flows": {**slow, "greedy": greedy},
    }


def _name(load: int) -> str:
    return f"streams-load-{load}"


def _points(results: PartResults, load: int) -> list[PointResults]:
    points = list(results.study(_name(load)).points)
    if load == LOADS[-1] and MOST in results.studies:
        points += results.study(MOST).points
    return points


def _number(point: PointResults) -> float:
    """Flows in progress, the greedy ones and permanent streams included."""
    return float(point.settings.get(COUNT, 0)) + point.mean(IN_PROGRESS)


def draw(results: PartResults) -> Figure:
    """Active flows over flows in progress."""
    title = "Flows that the fair queue must know, over flows in progress"
    figure, (panel,) = picture.page(title, 4.6)
    lines = {f"Poisson streams, {load} %": _points(results, load) for load in LOADS}
    lines["TCP flows of 50 kbit/s, 50 %"] = list(results.study("tcp").points)
    for name, points, look in styled(lines):
        numbers = [_number(point) for point in points]
        draw_marks(panel, numbers, points, P99, look, label=f"{name}: p99")
        marks = look | {"linestyle": "none"}
        filled = marks | {"markerfacecolor": look["color"], "label": f"{name}: mean"}
        panel.plot(numbers, [point.mean(MEAN) for point in points], **filled)
        largest = marks | {"marker": "^", "label": f"{name}: maximum"}
        draw_marks(panel, numbers, points, LARGEST, largest)
    numbers = [_number(point) for points in lines.values() for point in points]
    ends = [min(numbers), max(numbers)]
    panel.plot(ends, ends, color="0.6", lw=0.9)
    panel.annotate("all of them", (0.6 * ends[1], ends[1]), ha="right", color="0.4")
    words = "a thousand: no longer hundreds"
    panel.axhline(BOUNDS["hundreds"].value, label=words, **style.LIMIT_LINE)
    frame(panel, x="flows in progress", y="active flows", log="xy")
    return picture.finished(figure, 2)


def _judge(results: PartResults) -> Judgement:
    last = {f"streams, load {load} %": _points(results, load)[-1] for load in LOADS}
    last["TCP flows, load 50 %"] = results.study("tcp").points[-1]
    checks = []
    for words, point in last.items():
        flows = f"{_number(point):,.0f} flows in progress"
        what = f"{words}, {flows}: most active flows at an instant"
        checks.append(point.below(what, LARGEST, BOUNDS["hundreds"]))
    few, many = _points(results, LOADS[0])[0], _points(results, LOADS[0])[-1]
    if many is not few:
        what = (
            f"most active flows with {_number(many):,.0f} flows in progress over those with "
            f"{_number(few):,.0f}, load 50 %"
        )
        ratio = paired_ratio(many, few, LARGEST)
        checks.append(below(what, ratio, BOUNDS["any-link-capacity"]))
    return Judgement(tuple(checks), lambda: _why(results))


def _why(results: PartResults) -> str:
    busiest, many = _points(results, LOADS[-1])[-1], _points(results, LOADS[0])[-1]
    return (
        f"Of {_number(busiest):,.0f} flows in progress {shown(busiest.interval(MEAN))} are active "
        f"on average at a load of {LOADS[-1]} %, {shown(many.interval(MEAN))} of "
        f"{_number(many):,.0f} at {LOADS[0]} %: a flow is active only while its packet waits or it "
        "is ahead of its share. The claim says 'at any instant', so it is judged by the largest "
        f"number during a run. At a load of {LOADS[-1]} % the largest number of all runs is "
        f"{max(busiest.values(LARGEST)):,.0f}, and the number exceeds "
        f"{busiest.mean(P99):,.0f} for 1 % of the time."
    )


PART = Part(
    name="active-flows",
    title="Active flows in the scheduler with up to 100,000 in progress",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "only-hundreds",
            "The number of flows with packets to be scheduled at any instant is only measured in "
            "hundreds for any link capacity.",
            "Sec. VI, after [6], [13]",
            _judge,
        ),
    ),
    caption=(
        "Active flows in the fair queue over flows in progress: the 99th percentile over time "
        "(lines), the mean (filled marks) and the maximum (triangles), means over runs with 95 % "
        "confidence intervals. Four NewReno flows without a limit of their own next to slow flows, "
        "which fill 50 or 90 % of a link of 100 Mbit/s, 1 Gbit/s or 10 Gbit/s. On the grey line "
        "all flows are active."
    ),
    note=(
        "Slow flows of 50 kbit/s (90 at the higher load), as the paper's 'few tens of Kbps', and "
        "four bottlenecked ones, which the paper says are rarely exceeded. A flow is active "
        "while it has a packet waiting or has been served ahead of its share (start-time fair "
        "queueing). The number of TCP flows in progress becomes stationary after about half a "
        "minute."
    ),
)
