"""Several congested bottlenecks, the paper's future work: three links in a row."""

from collections.abc import Mapping
from itertools import islice
from typing import cast

from tailroom.scenario.types import Scenario
from tailroom_papers.barman_2004.bounds import BOUNDS
from tailroom_papers.barman_2004.further_network import (
    UTILIZATION,
    limits,
    over_buffers,
    points_over,
    seeds,
    starts,
    times,
)
from tailroom_papers.barman_2004.interval_curves import Lines, draw_curves, draw_stated
from tailroom_papers.barman_2004.settings import FIGURE_3, RTT
from tailroom_papers.framework import *

LINKS = ("first", "second", "third")
LONG_FLOWS, CROSS_FLOWS = 5, 5
"""Over all links, and over each: ten flows meet at every link, as in Figure 3."""
JUDGED = (0.1, 0.2)
"""The buffers that the paper names."""


def fractions(form: Form) -> tuple[float, ...]:
    """Buffers of every link, as parts of 12,500 packets."""
    return form.of(JUDGED, JUDGED, (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 1.0))


def studies(form: Form) -> list[Study]:
    """Three links in a row, and that of Figure 3."""
    row = {f"links.{link}.queue.limit": limits(fractions(form)) for link in LINKS}
    return [
        over_buffers("one-link", form, fractions(form), **_times(form)),
        Study("three-links", _scenario(form), together=row, seeds=seeds(form)),
    ]


def _times(form: Form) -> dict[str, object]:
    """Three links settle later than one; the full form is Figure 3's anyway."""
    if form is Form.QUICK:
        return {"duration": "70 s", "measure_from": "35 s"}
    return times(form)


def _scenario(form: Form) -> Scenario:
    """Figure 3's flows: half of them cross all links, the others one each."""
    flows = {
        "congestion": {"kind": "highspeed"},
        "send_jitter": "none",
        "packet_size": "1000 B",
        "rtt": FIGURE_3.drawn_rtts[RTT],
        "access_rate": "10 Gbit/s",
        "start": starts(form),
        "delayed_ack": False,
        "initial_window": 2,
    }
    link = {
        "rate": "1 Gbit/s",
        "delay": "16 ms",
        "queue": {"kind": "drop_tail", "limit": FIGURE_3.limit(0.1)},
    }
    cross = {_cross(name): {"count": CROSS_FLOWS, "path": [name], **flows} for name in LINKS}
    whole = {
        "title": "HighSpeed TCP over three links in a row",
        **_times(form),
        "defaults": {"host": "plain"},
        "links": dict.fromkeys(LINKS, link),
        "flows": {"long": {"count": LONG_FLOWS, "path": list(LINKS), **flows}, **cross},
    }
    return cast("Scenario", whole)


def _cross(link: str) -> str:
    return f"cross_{link}"


def long_flow(run: StoredRun) -> float:
    """Goodput of a flow over all links, in bit/s."""
    goodput: float = run.summary["groups"]["long"]["goodput_bps"]
    return goodput / LONG_FLOWS


def cross_flow(run: StoredRun) -> float:
    """Goodput of a flow over one of the links, in bit/s."""
    groups = run.summary["groups"]
    goodput: float = sum(groups[_cross(link)]["goodput_bps"] for link in LINKS)
    return goodput / (CROSS_FLOWS * len(LINKS))


def long_share(run: StoredRun) -> float:
    """Of a flow over all links against one over a single link: half is as much as the other."""
    long, cross = long_flow(run), cross_flow(run)
    return long / (long + cross)


def mean_utilization(run: StoredRun) -> float:
    """Of the links of a run, one or three."""
    links = run.summary["links"].values()
    return float(sum(link["utilization"] for link in links)) / len(links)


def of_one_link(run: StoredRun) -> float:
    """Goodput of a flow of Figure 3, in bit/s."""
    goodput: float = run.summary["groups"]["hstcp"]["goodput_bps"]
    return goodput / int(run.summary["groups"]["hstcp"]["flows"])


def _points(results: PartResults) -> list[PointResults]:
    return list(results.study("three-links").points)


def draw(results: PartResults) -> Figure:
    """Draws the utilization of each link and the goodput per flow."""
    over, points = fractions(results.form), _points(results)
    alone = points_over(results, "one-link", over)
    title = (
        f"Three links of 1 Gbit/s in a row, {LONG_FLOWS} HighSpeed flows over all of them and "
        f"{CROSS_FLOWS} over each"
    )
    figure, (left, right) = figure_of(title, 1, 2, (9.6, 4.6))
    single, *looks = islice(style.marked_line_styles(), 6)
    used: Lines = {
        "one link (Figure 3)": (alone, UTILIZATION),
        **{f"{link} link of three": (points, f"links.{link}.utilization") for link in LINKS},
    }
    rates: Lines = {
        "one link (Figure 3)": (alone, of_one_link),
        "flow over one of three links": (points, cross_flow),
        "flow over all three links": (points, long_flow),
    }
    draw_stated(left, 90, "the paper at 10 %, one link: 90 %")
    title, top = "Utilization of each link", (None, 101.5)
    draw_curves(left, over, used, "utilization (%)", title, scale=100, ylim=top)
    looks, label = [single, *looks[3:]], "goodput of a flow (Mbit/s)"
    draw_curves(right, over, rates, label, "What a flow gets", scale=1e-6, looks=looks)
    right.set_ylim(bottom=0)
    return legend_below(figure)


def _judge_trends(results: PartResults) -> Judgement:
    three = dict(zip(fractions(results.form), _points(results), strict=True))
    alone = {fraction: FIGURE_3.at(results.study("one-link"), fraction) for fraction in JUDGED}
    checks = []
    for fraction, bound in zip(JUDGED, (BOUNDS["ninety"], BOUNDS["almost-98"]), strict=True):
        what = f"mean of the three links, buffer {100 * fraction:.0f} %"
        checks.append(three[fraction].above(what, mean_utilization, bound))
    for fraction in JUDGED:
        what = f"three links less one, buffer {100 * fraction:.0f} %"
        apart = paired_difference(three[fraction], alone[fraction], mean_utilization)
        checks.append(between(what, apart, BOUNDS["similar"]))
    return Judgement(tuple(checks), lambda: _texts(three, alone))


def _texts(three: Mapping[float, PointResults], alone: Mapping[float, PointResults]) -> str:
    tenth = three[0.1]
    carried = shown(tenth.interval(mean_utilization), percent=True)
    of_one = shown(alone[0.1].interval(UTILIZATION), percent=True)
    share = shown(tenth.interval(long_share), percent=True)
    cross = [tenth.mean(f"groups.{_cross(link)}.loss_fraction") for link in LINKS]
    lost = tenth.mean("groups.long.loss_fraction")
    return (
        f"With a buffer of 10 % the three links carry {carried} on average, and the one of "
        f"Figure 3 {of_one}. Each link has flows of its own that use the capacity that the flows "
        "over several links leave: of the goodput of a flow over three links and of one over a "
        f"single link together, the former gets {share}. It may lose packets at three links (it "
        f"loses {lost:.1e} of them, the others {sum(cross) / len(cross):.1e}), and the queues of "
        "three links lengthen its round trip."
    )


PART = Part(
    "parking-lot",
    "Several congested bottlenecks (the paper's future work)",
    studies,
    draw,
    (
        Claim(
            "parking-lot-trends",
            '"we believe that buffer requirements will have similar trends in the case of multiple '
            'congested bottlenecks however one needs to validate that"',
            "Sec. V",
            _judge_trends,
        ),
    ),
    "Three links of 1 Gbit/s in a row, each with the same buffer. Five HighSpeed flows cross all "
    "of them and five more cross each, so that every link has ten flows with the RTTs of Figure 3 "
    "(each link has 16 ms of the one-way delay). The ACKs meet no queue.",
    caption="Utilization of each link (left) and goodput per flow (right) over the buffer of every "
    "link, compared with Figure 3's single link. Bands are 95 % confidence intervals; the "
    "dashed line is the 90 % that the paper states for a buffer of 10 %.",
)
