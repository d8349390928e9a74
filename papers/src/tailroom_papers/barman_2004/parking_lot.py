"""Several congested bottlenecks, the paper's future work: three links in a row."""

from collections.abc import Mapping
from itertools import pairwise
from typing import cast

from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom.reproduction.claim import (
    Check,
    Claim,
    Judgement,
    above,
    below,
    between,
    is_true,
    shown,
)
from tailroom.reproduction.form import Form
from tailroom.reproduction.pairs import difference
from tailroom.reproduction.paper import Part, Study
from tailroom.reproduction.part_results import PartResults, PointResults, StoredRun
from tailroom.scenario.types import Scenario
from tailroom_papers.barman_2004.further_network import (
    UTILIZATION,
    limits,
    over_buffers,
    seeds,
    starts,
    times,
)
from tailroom_papers.barman_2004.interval_curves import (
    draw_curve,
    draw_stated,
    finish,
    finish_utilization,
    legend_below,
)
from tailroom_papers.barman_2004.settings import FIGURE_3

LINKS = ("first", "second", "third")
LONG_FLOWS, CROSS_FLOWS = 5, 5
"""Over all links, and over each: ten flows meet at every link, as in Figure 3."""
SIMILAR = 0.05
"""Utilizations that differ by no more are similar."""
FULL_LINK = 0.999
"""Utilization above which a larger buffer cannot increase it."""


def fractions(form: Form) -> tuple[float, ...]:
    """Buffers of every link, as parts of 12,500 packets."""
    return form.of(
        (0.1,),
        (0.1, 0.2),
        (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 1.0),
    )


def studies(form: Form) -> list[Study]:
    """Three links in a row, and Figure 3's one beside them."""
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
        "rtt": {"from": "115.5 ms", "to": "124.5 ms"},
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
    """Of a flow over all links beside one over a single link: half is as much as the other."""
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
    over = fractions(results.form)
    alone = [FIGURE_3.at(results.study("one-link"), fraction) for fraction in over]
    figure = Figure(figsize=(9.6, 4.6), layout="constrained")
    style.title(
        figure,
        f"Three links of 1 Gbit/s in a row, {LONG_FLOWS} HighSpeed flows over all of them and "
        f"{CROSS_FLOWS} over each (mean of {seeds(results.form)} runs, 95 % bands)",
    )
    left, right = figure.subplots(1, 2)
    looks = style.marked_line_styles()
    single = next(looks)
    draw_curve(left, over, alone, UTILIZATION, single, label="one link (Figure 3)", scale=100)
    for link, look in zip(LINKS, looks, strict=False):
        of_link = f"links.{link}.utilization"
        draw_curve(
            left, over, _points(results), of_link, look, label=f"{link} link of three", scale=100
        )
    draw_stated(left, 90, "the paper at 10 %, one link: 90 %")
    finish_utilization(left, over, "Utilization of each link")
    looks = style.marked_line_styles()
    draw_curve(
        right, over, alone, of_one_link, next(looks), label="one link (Figure 3)", scale=1e-6
    )
    rates = {"over one of three links": cross_flow, "over all three links": long_flow}
    for (label, metric), look in zip(rates.items(), looks, strict=False):
        draw_curve(right, over, _points(results), metric, look, label=label, scale=1e-6)
    right.set_ylim(bottom=0)
    finish(right, over, "goodput of a flow (Mbit/s)", "What a flow gets")
    for panel in (left, right):
        legend_below(panel)
    return figure


def _judge_trends(results: PartResults) -> Judgement:
    three, over = dict(zip(fractions(results.form), _points(results), strict=True)), results.study
    alone = {fraction: FIGURE_3.at(over("one-link"), fraction) for fraction in three}
    checks = [
        above(f"{link} link at 10 %", three[0.1].interval(f"links.{link}.utilization"), 0.9,
              percent=True)
        for link in LINKS
    ]  # fmt: skip
    apart = {
        fraction: difference(three[fraction], alone[fraction], mean_utilization)
        for fraction in three
    }
    checks += [
        between(f"three links less one, buffer {100 * fraction:.0f} %", distance, -SIMILAR, SIMILAR,
                f"similar: within {100 * SIMILAR:.0f} points", percent=True)
        for fraction, distance in apart.items()
    ]  # fmt: skip
    checks += [_rises(small, large, three) for small, large in pairwise(three)]
    tenth = three[0.1].interval(mean_utilization)
    why = (
        f"With a buffer of 10 % the three links carry {shown(tenth, percent=True)} on average, "
        f"the one of Figure 3 {shown(alone[0.1].interval(UTILIZATION), percent=True)}. Each link "
        "has flows of its own that use the capacity that the flows over several links leave."
    )
    return Judgement(tuple(checks), why)


def _rises(small: float, large: float, points: Mapping[float, PointResults]) -> Check:
    gain = difference(points[large], points[small], mean_utilization)
    there = points[large].mean(mean_utilization)
    what = f"gain from {100 * small:.0f} % to {100 * large:.0f} %"
    stated = "rises until the link is full"
    if there >= FULL_LINK:
        return is_true(what, stated, condition=True, measured=gain, percent=True)
    return above(what, gain, 0.0, stated, percent=True)


def _judge_long_flows(results: PartResults) -> Judgement:
    points = dict(zip(fractions(results.form), _points(results), strict=True))
    shares = {fraction: point.interval(long_share) for fraction, point in points.items()}
    checks = tuple(
        below(f"share of a flow over three links, buffer {100 * fraction:.0f} %", share, 0.5,
              "less than half", percent=True)
        for fraction, share in shares.items()
    )  # fmt: skip

    def loss(group: str) -> float:
        return points[0.1].mean(f"groups.{group}.loss_fraction")

    largest = fractions(results.form)[-1]
    cross = sum(loss(_cross(link)) for link in LINKS) / len(LINKS)
    why = (
        "Of the goodput of a flow over three links and a flow over one link together, the former "
        f"gets {shown(shares[0.1], percent=True)} with buffers of 10 %, "
        f"{shown(shares[largest], percent=True)} with {100 * largest:.0f} %. It may lose packets "
        f"at three links (with 10 % it loses {loss('long'):.1e} of them, the others {cross:.1e}), "
        "and the queues of three links lengthen its round trip."
    )
    return Judgement(checks, why)


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
        Claim(
            "parking-lot-long-flows",
            "Flows over several bottlenecks get less than those over one, whatever the buffer.",
            "not in the paper",
            _judge_long_flows,
        ),
    ),
    "Three links of 1 Gbit/s in a row, each with the same buffer. Five HighSpeed flows cross all "
    "of them and five more cross each, so that every link has ten flows with the RTTs of Figure 3 "
    "(each link has 16 ms of the one-way delay). The ACKs meet no queue.",
)
