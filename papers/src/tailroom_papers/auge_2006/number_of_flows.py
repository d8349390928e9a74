"""Section III-B: the number of bottlenecked flows over time."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from tailroom_papers.auge_2006 import picture, setup
from tailroom_papers.auge_2006.bounds import BOUNDS
from tailroom_papers.framework import *

SHARING = "auge-roberts-2006/processor-sharing.toml"
LOAD = "flows.elastic.source.load"
BACKGROUND_LOAD = 0.5
FEW = 4
SHOWN = 12
"""Numbers of flows that are drawn."""
IN_PROGRESS = f"links.{setup.LINK}.flows_in_progress_mean"


def studies(form: Form) -> Sequence[Study]:
    """Elastic flows alone, alongside others that take half of the link, and too many of them."""
    duration, start = form.of((50, 5), (300, 30), (1000, 100))
    span = {
        "duration": f"{duration} s",
        "measure_from": f"{start} s",
        # Shorter round trips and flows than the scenario's: more of them in the same time.
        f"links.{setup.LINK}.delay": "0.1 ms",
        "flows.elastic.source.size.mean": "100 kB",
    }
    seeds = form.of(3, 4, 20)
    background = {
        "count": 50,
        "path": [setup.LINK],
        "packet_size": "1000 B",
        "source": {"kind": "poisson", "rate": "1 Mbit/s"},
    }
    loads = form.of([0.5], [0.3, 0.5, 0.7], [0.3, 0.5, 0.7])
    half = {LOAD: 0.25, "flows.background": background}
    limited = {LOAD: 1.2, "flows.elastic.access_rate": "10 Mbit/s"}
    overload_s = form.of(((10, 20), (30, 40)), ((20, 40), (80, 100)), ((20, 40), (80, 100)))
    stretches = {
        "measure_from": [f"{start} s" for start, _ in overload_s],
        "duration": [f"{end} s" for _, end in overload_s],
    }
    keep = ("flow_counts",)
    return [
        Study("alone", SHARING, grid={LOAD: loads}, set=span, seeds=seeds, keep=keep),
        Study("mixture", SHARING, set=span | half, seeds=seeds, keep=keep),
        Study("overload", SHARING, together=stretches, set=limited, seeds=seeds),
    ]


def shares(run: StoredRun) -> dict[int, float]:
    """Of the time, by how many flows are bottlenecked; permanent streams are not."""
    rows = run.table("flow_counts").to_pylist()
    return {int(row["flows"]): float(row["bottlenecked_fraction"]) for row in rows}


def share_of(run: StoredRun, number: int) -> float:
    """Of the time, with so many."""
    return shares(run).get(number, 0.0)


def more_than_few(run: StoredRun) -> float:
    """Part of the time with more than four bottlenecked flows."""
    return sum(share for number, share in shares(run).items() if number > FEW)


def beyond_law(run: StoredRun) -> float:
    """The same less the prediction of the law at the offered load."""
    return more_than_few(run) - offered(run) ** (FEW + 1)


def offered(run: StoredRun) -> float:
    """Load of the elastic flows over what the background leaves."""
    load = float(run.summary["links"][setup.LINK]["offered_load"])
    others = BACKGROUND_LOAD if "background" in run.summary["groups"] else 0.0
    return (load - others) / (1 - others)


def distance(run: StoredRun) -> float:
    """Total variation between the shares of the time and (1 - rho) rho^n at the offered load."""
    return variation(shares(run), offered(run))


def variation(results: Mapping[int, float], rho: float) -> float:
    """Half the sum of differences from the geometric law, its tail included."""
    numbers = range(max(results) + 1)
    law = {number: (1 - rho) * rho**number for number in numbers}
    apart = sum(abs(results.get(number, 0.0) - law[number]) for number in numbers)
    return (apart + 1 - sum(law.values())) / 2


def bottlenecked_part(run: StoredRun) -> float:
    """Of the flows in progress."""
    link = run.summary["links"][setup.LINK]
    return float(link["bottlenecked_flows_mean"] / link["flows_in_progress_mean"])


def _half(results: PartResults) -> PointResults:
    return results.study("alone").at({LOAD: 0.5})


def draw(results: PartResults) -> Figure:
    """Shares of the time, with the geometric law."""
    title = "Bottlenecked flows at a time, under fair queueing, and the law of processor sharing"
    figure, (alone, mixture) = picture.page(title, 3.8, columns=2, sharey=True)
    for point, look in zip(results.study("alone").points, style.marked_line_styles(), strict=False):
        _draw_shares(alone, point, point.settings[LOAD], look)
    look = next(style.marked_line_styles())
    _draw_shares(mixture, results.study("mixture").points[0], 0.5, look)
    frame(alone, title="elastic flows alone", y="share of the time")
    frame(mixture, title="next to Poisson streams of half the link")
    for panel in (alone, mixture):
        panel.set(xlabel="bottlenecked flows", yscale="log", ylim=(1e-4, 1))
    return picture.finished(figure, 3)


def _draw_shares(panel: Axes, point: PointResults, rho: float, look: dict[str, Any]) -> None:
    numbers = range(SHOWN + 1)
    means = [point.interval(partial(share_of, number=n)) for n in numbers]
    positive = [mean if mean and mean.mean > 0 else None for mean in means]
    marks = look | {"linestyle": "none", "label": f"load {rho:g}, simulation"}
    draw_intervals(panel, numbers, positive, marks, most=1.0)
    law = [(1 - rho) * rho**n for n in numbers]
    panel.plot(numbers, law, **look | {"marker": None, "label": f"load {rho:g}, law"})


def _is_geometric(results: PartResults) -> Judgement:
    points = results.study("alone").points
    worst = max(points, key=lambda point: point.mean(distance))
    largest = "largest distance (total variation) from the law, by load"
    more_than_4 = "load 0.5: part of the time with more than 4 flows, less rho^5"
    return Judgement(
        (
            worst.below(largest, distance, BOUNDS["geometric"]),
            _half(results).between(more_than_4, beyond_law, BOUNDS["three-percent"]),
        ),
        lambda: (
            f"At an offered load of {shown(_half(results).interval(offered))} more than four flows "
            f"are present for {shown(_half(results).interval(more_than_few), percent=True)} of the "
            "time. Round trips of 0.2 ms are short compared with flows of 40 bandwidth-delay "
            "products, and fair queueing shares at once, which is close to processor sharing."
        ),
    )


def _mixture(results: PartResults) -> Judgement:
    point = results.study("mixture").points[0]
    what = "part of the time with more than 4 bottlenecked flows"
    return Judgement(
        (
            point.below(what, more_than_few, BOUNDS["rarely"]),
            point.below("distance (total variation) from the law", distance, BOUNDS["geometric"]),
        ),
        lambda: (
            "Elastic flows of a quarter of the link next to streams of half of it: more than four "
            f"for {shown(point.interval(more_than_few), percent=True)} of the time. If they share "
            f"the rest as if it were the link, the law gives {100 * 0.5 ** (FEW + 1):.1f} %."
        ),
    )


def _stretch(point: PointResults) -> str:
    return f"{point.settings['measure_from'].removesuffix(' s')} to {point.settings['duration']}"


def _overload(results: PartResults) -> Judgement:
    early, late = results.study("overload").points
    grown = f"flows in progress, mean of {_stretch(late)}, less that of {_stretch(early)}"
    part = f"part of them that is bottlenecked, {_stretch(late)}"
    return Judgement(
        (
            more(grown, late, early, IN_PROGRESS, "their number increases"),
            late.above(part, bottlenecked_part, BOUNDS["all-bottlenecked"]),
        ),
        lambda: (
            "Flows with access links of a tenth of this one, at 1.2 of its capacity: "
            f"{early.mean(IN_PROGRESS):.0f} in progress in {_stretch(early)}, "
            f"{late.mean(IN_PROGRESS):.0f} in {_stretch(late)}; ten are enough to fill the link."
        ),
    )


PART = Part(
    name="number-of-flows",
    title="How many bottlenecked flows there are",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "geometric",
            "This model predicts a geometric distribution for the number of flows in progress, "
            "Pr[n flows] = (1 - rho) rho^n. If rho = 0.5, for example, the probability there are "
            "more than 4 flows in progress is only 0.03.",
            "Sec. III-B",
            _is_geometric,
        ),
        Claim(
            "mixture",
            "If the traffic due to the bottlenecked flows is equal to half the average residual "
            "capacity, we will rarely have more than 4 bottlenecked flows sharing the link with a "
            "large number of non-bottlenecked flows.",
            "Sec. III-B",
            _mixture,
        ),
        Claim(
            "overload",
            "If the offered load exceeds 1, the number of flows increases and all flows eventually "
            "become bottlenecked.",
            "Sec. III-B",
            _overload,
        ),
    ),
    caption=(
        "Share of the time by number of bottlenecked flows: simulation (marks, means with 95 % "
        "confidence intervals) and the geometric law (lines). Left: elastic flows alone. Right: "
        "next to streams of half the link, with an elastic load of half of the rest."
    ),
    note=(
        "Per-flow fair queueing, as the paper assumes perfectly fair sharing: the scenario "
        "processor-sharing.toml, 100 Mbit/s, with flows of 100 kB and round trips of 0.2 ms. "
        "Loads are measured from the arrivals."
    ),
)
