"""Two benefits of fair queueing: losses that are not shared, and evenly spaced ACKs."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from tailroom_papers.auge_2006 import picture, setup
from tailroom_papers.auge_2006.bursts import BACK_TO_BACK, PACKET_S, SILENCE_S, bursts_of
from tailroom_papers.auge_2006.comparison import percent, sentence
from tailroom_papers.auge_2006.reductions import by_chance, shared
from tailroom_papers.auge_2006.residual import at_link, residual_share
from tailroom_papers.auge_2006.setup import BDP_PACKETS, LINK, QUEUES, over, settings
from tailroom_papers.framework import *

FLOWS = {"reno": 4}
FIRST = "reno.0"
SMALL = 20
BUFFERS = (SMALL, BDP_PACKETS)
FAIR = "fair queueing"
CURVE_POINTS = 401
"""Points of a drawn distribution."""
SHARING, SPACING = "sharing", "spacing"
ROUND_TRIPS = {SMALL: 1, BDP_PACKETS: 2}
"""A round trip in intervals of the series: with 625 packets queueing doubles it."""
SHARED = {buffer: partial(shared, round_trip=reach) for buffer, reach in ROUND_TRIPS.items()}
BY_CHANCE = {buffer: partial(by_chance, round_trip=reach) for buffer, reach in ROUND_TRIPS.items()}


def studies(form: Form) -> Sequence[Study]:
    """Four NewReno flows, small and large buffer; of a stretch every arrival."""
    queues = [queue(buffer) for buffer in BUFFERS for queue in QUEUES.values()]
    sharing = setup.study(SHARING, FLOWS, queues, form)
    table = setup.scenario(FLOWS, queues[0], form)
    end = form.of("52 s", "55 s", "70 s")
    log = {"duration": end, f"links.{LINK}.arrival_log": {"from": "50 s", "to": end}}
    spacing = Study(
        SPACING, table, grid=over(queues), set=log, seeds=form.of(3, 5, 20), keep=("packets",)
    )
    return [sharing, spacing]


def draw(results: PartResults) -> Figure:
    """How far apart the packets of a flow arrive, and whose reductions come together."""
    title = "Four NewReno flows under FIFO and fair queueing"
    figure, panels = picture.page(title, 3.6, columns=3)
    for panel, buffer in zip(panels, BUFFERS, strict=False):
        _draw_spacing(panel, results, buffer)
    panels[0].set_ylabel("gaps that are shorter (%)")
    _draw_sharing(panels[2], results)
    return picture.finished(figure, 3)


def _draw_spacing(panel: Axes, results: PartResults, buffer: int) -> None:
    for words, queue, look in styled(QUEUES, style.line_styles()):
        runs = results.study(SPACING).at(settings(queue(buffer))).runs
        gaps = np.concatenate([_gaps(run) for run in runs])
        shorter = np.linspace(0, 100, CURVE_POINTS)
        panel.plot(np.percentile(gaps, shorter), shorter, label=words, **look)
    panel.axvline(BACK_TO_BACK, label="shorter: back to back", **style.LIMIT_LINE)
    title, label = (
        f"one flow, {buffer} packets",
        "gap between two packets\n(packet times of the link)",
    )
    frame(panel, title=title, x=label, xscale="log", xlim=(0.1, 1e3))


def _gaps(run: StoredRun) -> "np.typing.NDArray[np.float64]":
    bursts = bursts_of(run, FIRST)
    return np.concatenate((bursts.gaps, bursts.silences_s / PACKET_S))


def _draw_sharing(panel: Axes, results: PartResults) -> None:
    cases = [(buffer, words) for buffer in BUFFERS for words in QUEUES]
    points = {case: _sharing(results, case[1], case[0]) for case in cases}
    means = [point.interval(SHARED[buffer]) for (buffer, _), point in points.items()]
    heights = [100 * mean.mean if mean else 0.0 for mean in means]
    look: dict[str, Any] = {"color": "0.75", "edgecolor": "black", "capsize": 3}
    error, label = bars(means, 100, most=1.0), "shared, mean with 95 % interval"
    panel.bar(range(len(cases)), heights, yerr=error, label=label, **look)
    for place, ((buffer, _), point) in enumerate(points.items()):
        chance = 100 * point.mean(BY_CHANCE[buffer])
        label = "shared by chance" if place == 0 else "_again"
        panel.plot([place - 0.4, place + 0.4], [chance] * 2, color="black", ls=":", label=label)
    names = [f"{'FIFO' if words == 'FIFO' else 'fair'}\n{buffer}" for buffer, words in cases]
    label = "reductions within a round trip\nof another flow's (%)"
    frame(panel, title="shared reductions", y=label, names=names, ylim=(0, 100), grid="y")


def _sharing(results: PartResults, words: str, buffer: int) -> PointResults:
    return results.study(SHARING).at(settings(QUEUES[words](buffer)))


def _desynchronized(results: PartResults) -> Judgement:
    checks = []
    for buffer in BUFFERS:
        what = f"shared reductions under fair queueing less those under FIFO, {buffer} packets"
        fair, fifo = (_sharing(results, words, buffer) for words in (FAIR, "FIFO"))
        checks.append(less(what, fair, fifo, SHARED[buffer], "desynchronized", percent=True))

    def why() -> str:
        parts = [
            f"with {buffer} packets "
            f"{percent(_sharing(results, FAIR, buffer).mean(SHARED[buffer]))} of the reductions "
            "are shared under fair queueing "
            f"({percent(_sharing(results, FAIR, buffer).mean(BY_CHANCE[buffer]))} by chance) and "
            f"{percent(_sharing(results, 'FIFO', buffer).mean(SHARED[buffer]))} under FIFO"
            for buffer in BUFFERS
        ]
        return (
            f"{sentence(parts)} Equal shares give equal queues: when the buffer is full, the "
            "longest queue loses a packet, and until its flow reacts, the next longest queue "
            "loses one."
        )

    return Judgement(tuple(checks), why)


def _paced(results: PartResults) -> Judgement:
    points = {
        (words, buffer): results.study(SPACING).at(settings(queue(buffer)))
        for buffer in BUFFERS
        for words, queue in QUEUES.items()
    }
    checks = []
    for buffer in BUFFERS:
        what = f"packets back to back under fair queueing less those under FIFO, {buffer} packets"
        fair, fifo = points[FAIR, buffer], points["FIFO", buffer]
        checks.append(less(what, fair, fifo, back_to_back, "less bursty", percent=True))
    return Judgement(
        tuple(checks),
        lambda: sentence(
            [
                f"with {buffer} packets a flow is silent for more than {1e3 * SILENCE_S:.0f} ms in "
                f"{percent(points[FAIR, buffer].mean(silent))} of the time under fair queueing, "
                f"{percent(points['FIFO', buffer].mean(silent))} under FIFO"
                for buffer in BUFFERS
            ]
        ),
    )


def back_to_back(run: StoredRun) -> float:
    """Fraction of a flow's packets that arrive with no room for another before them."""
    return bursts_of(run, FIRST).back_to_back


def silent(run: StoredRun) -> float:
    """Fraction of the time in silences of a flow."""
    bursts = bursts_of(run, FIRST)
    return float(bursts.silences_s.sum() / (bursts.silences_s.sum() + PACKET_S * bursts.gaps.sum()))


def drops_of_reno(run: StoredRun) -> float:
    """Packets of the NewReno flows that are dropped."""
    return float(at_link(run, "reno")["drops_packets"])


def _improves_sharing(results: PartResults) -> Judgement:
    with_fair, with_fifo = (_sharing(results, words, SMALL) for words in (FAIR, "FIFO"))
    over = f"under fair queueing less that under FIFO, {SMALL} packets"
    share, index = f"share of the residual {over}", f"Jain's index {over}"
    checks = (
        more(share, with_fair, with_fifo, residual_share, "improves", percent=True),
        more(index, with_fair, with_fifo, "flows.jain_index", "improves"),
    )
    return Judgement(
        checks,
        lambda: (
            f"The four flows take {percent(with_fair.mean(residual_share))} of the residual under "
            f"fair queueing and {percent(with_fifo.mean(residual_share))} under FIFO. Under fair "
            f"queueing they have all losses ({with_fair.mean(drops_of_reno):.0f} packets per run, "
            f"{with_fifo.mean(drops_of_reno):.0f} under FIFO, where the background shares them), "
            "and when the small buffer is full, several flows lose packets at once."
        ),
    )


PART = Part(
    name="paced-acks",
    title="Desynchronized losses and paced acknowledgements under fair queueing",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "desynchronized-losses",
            "A supplementary benefit of fair queuing is desynchronized loss events due to flow "
            "isolation.",
            "Sec. V-B",
            _desynchronized,
        ),
        Claim(
            "paced-acks",
            "Packet emissions are paced at the current fair rate; acknowledgements are paced "
            "leading to less bursty input in the following window cycle.",
            "Sec. V-B",
            _paced,
        ),
        Claim(
            "better-sharing",
            "Both phenomena appear to improve bandwidth sharing performance somewhat, notably when "
            "the buffer size is small.",
            "Sec. V-B",
            _improves_sharing,
        ),
    ),
    caption=(
        "Left and middle: distribution of the time between two packets of one of four NewReno "
        "flows at the link, with small and large buffer; the vertical line ends the gaps that "
        "count as back to back. Right: reductions within a round trip of another flow's reduction "
        "(bars, means with 95 % confidence intervals) and what chance alone gives (dotted), by "
        "queue and buffer in packets."
    ),
    note=(
        "Four NewReno flows. A reduction is shared if another flow reduces within a round trip "
        "(100 ms with 20 packets, 200 ms with 625). Packets are back to back if they arrive less "
        "than 1.5 packet times apart, so that the link sent no other packet between the packets "
        "that the ACKs acknowledge."
    ),
)
