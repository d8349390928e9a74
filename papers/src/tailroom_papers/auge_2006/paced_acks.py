"""Two benefits of fair queueing: losses that are not shared, and evenly spaced ACKs."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom.reproduction.claim import Check, Claim, Judgement
from tailroom.reproduction.form import Form
from tailroom.reproduction.paper import Part, Study
from tailroom.statistics.intervals import Interval
from tailroom_papers.auge_2006 import setup
from tailroom_papers.auge_2006.bursts import BACK_TO_BACK, PACKET_S, SILENCE_S, bursts_of
from tailroom_papers.auge_2006.comparison import less, more, percent, sentence
from tailroom_papers.auge_2006.reductions import by_chance, shared
from tailroom_papers.auge_2006.residual import at_link, residual_share
from tailroom_papers.auge_2006.setup import BDP_PACKETS, LINK, QUEUES, over, settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tailroom.reproduction.part_results import PartResults, PointResults, StoredRun

FLOWS = {"reno": 4}
FIRST = "reno.0"
SMALL = 20
BUFFERS = (SMALL, BDP_PACKETS)
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
        SPACING,
        table,
        grid=over(queues),
        set=log,
        seeds=form.of(4, 5, 5),
        keep=("arrival_log",),
    )
    return [sharing, spacing]


def draw(results: "PartResults") -> Figure:
    """How far apart the packets of a flow arrive, and whose reductions come together."""
    figure = Figure(figsize=(10, 3.8), layout="constrained")
    panels = figure.subplots(1, 3, width_ratios=[1, 1, 1])
    style.title(figure, "Four NewReno flows under FIFO and fair queueing")
    for panel, buffer in zip(panels, BUFFERS, strict=False):
        _draw_spacing(panel, results, buffer)
    panels[0].set_ylabel("part of the gaps that are shorter (%)")
    panels[0].legend(loc="lower right", fontsize="small")
    _draw_sharing(panels[2], results)
    return figure


def _draw_spacing(panel: "Axes", results: "PartResults", buffer: int) -> None:
    for (words, queue), line in zip(QUEUES.items(), style.line_styles(), strict=False):
        runs = results.study(SPACING).at(settings(queue(buffer))).runs
        gaps = np.concatenate([_gaps(run) for run in runs])
        panel.plot(
            np.sort(gaps), 100 * np.arange(1, gaps.size + 1) / gaps.size, label=words, **line
        )
    panel.axvline(BACK_TO_BACK, label="shorter: back to back", **style.LIMIT_LINE)
    panel.set_xscale("log")
    panel.set_xlim(0.1, 1e3)
    panel.set_title(f"arrivals of one flow, {buffer} packets", fontsize="small")
    panel.set_xlabel("gap between two packets\n(packet times of the link)")
    panel.grid(visible=True, color="0.92")


def _gaps(run: "StoredRun") -> "np.typing.NDArray[np.float64]":
    bursts = bursts_of(run, FIRST)
    return np.concatenate((bursts.gaps, bursts.silences_s / PACKET_S))


def _draw_sharing(panel: "Axes", results: "PartResults") -> None:
    labels = []
    for place, (buffer, words) in enumerate((b, w) for b in BUFFERS for w in QUEUES):
        point = _sharing(results, words, buffer)
        found_shared = point.interval(SHARED[buffer])
        chance = point.mean(BY_CHANCE[buffer])
        label = "measured, 95 % interval" if place == 0 else None
        if found_shared:
            panel.bar(place, 100 * found_shared.mean, color="0.75", edgecolor="black", label=label)
            error = 100 * found_shared.half_width if found_shared.count > 1 else 0.0
            panel.errorbar(place, 100 * found_shared.mean, error, color="black", capsize=3)
        label = "by chance" if place == 0 else None
        panel.plot(
            [place - 0.4, place + 0.4], [100 * chance] * 2, color="black", ls=":", label=label
        )
        labels.append(f"{'FIFO' if words == 'FIFO' else 'fair'}\n{buffer}")
    panel.set_xticks(range(len(labels)), labels)
    panel.set_ylim(0, 100)
    panel.set_ylabel("reductions within a round trip\nof another flow's (%)")
    panel.set_title("shared reductions, by queue and buffer", fontsize="small")
    panel.legend(loc="upper right", fontsize="small")


def _sharing(results: "PartResults", words: str, buffer: int) -> "PointResults":
    return results.study(SHARING).at(settings(QUEUES[words](buffer)))


def _desynchronized(results: "PartResults") -> Judgement:
    checks = []
    parts = []
    for buffer in BUFFERS:
        measures = {
            words: _sharing(results, words, buffer).interval(SHARED[buffer]) for words in QUEUES
        }
        checks.append(_less(f"shared reductions with {buffer} packets", measures))
        chance = _sharing(results, "fair queueing", buffer).mean(BY_CHANCE[buffer])
        means = {
            words: interval.mean if interval else float("nan")
            for words, interval in measures.items()
        }
        parts.append(
            f"with {buffer} packets {percent(means['fair queueing'])} of the reductions are shared "
            f"under fair queueing ({percent(chance)} by chance) and {percent(means['FIFO'])} "
            f"under FIFO"
        )
    why = (
        f"{sentence(parts)} Equal shares give equal queues: when the buffer is full, the longest "
        "queue loses a packet, and until its flow reacts, the next longest queue loses one."
    )
    return Judgement(tuple(checks), why)


def _less(what: str, measures: "Mapping[str, Interval | None]") -> Check:
    ours, other = measures["fair queueing"], measures["FIFO"]
    return less(what, ours, other, "less than under FIFO", percent=True)


def _paced(results: "PartResults") -> Judgement:
    checks, parts = [], []
    for buffer in BUFFERS:
        points = {
            words: results.study(SPACING).at(settings(queue(buffer)))
            for words, queue in QUEUES.items()
        }
        measures = {words: point.interval(_back_to_back) for words, point in points.items()}
        checks.append(_less(f"packets back to back with {buffer} packets", measures))
        idle = {words: point.mean(_silent) for words, point in points.items()}
        parts.append(
            f"with {buffer} packets a flow is silent for more than {1e3 * SILENCE_S:.0f} ms in "
            f"{percent(idle['fair queueing'])} of the time under fair queueing, "
            f"{percent(idle['FIFO'])} under FIFO"
        )
    return Judgement(tuple(checks), sentence(parts))


def _back_to_back(run: "StoredRun") -> float:
    return bursts_of(run, FIRST).back_to_back


def _silent(run: "StoredRun") -> float:
    bursts = bursts_of(run, FIRST)
    return float(bursts.silences_s.sum() / (bursts.silences_s.sum() + PACKET_S * bursts.gaps.sum()))


def _improves_sharing(results: "PartResults") -> Judgement:
    with_fair, with_fifo = (_sharing(results, words, SMALL) for words in ("fair queueing", "FIFO"))
    checks = (
        more(
            f"share of the residual with {SMALL} packets",
            with_fair.interval(residual_share),
            with_fifo.interval(residual_share),
            "somewhat more than under FIFO",
            percent=True,
        ),
        more(
            f"Jain's index with {SMALL} packets",
            with_fair.interval("flows.jain_index"),
            with_fifo.interval("flows.jain_index"),
            "somewhat more than under FIFO",
        ),
    )
    drops = {
        words: point.mean(lambda run: at_link(run, "reno")["drops_packets"])
        for words, point in (("fair", with_fair), ("FIFO", with_fifo))
    }
    why = (
        f"Under fair queueing the four flows have all losses ({drops['fair']:.0f} packets per "
        f"run, {drops['FIFO']:.0f} under FIFO, where the background shares them), and when the "
        "small buffer is full, several flows lose packets at once."
    )
    return Judgement(checks, why)


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
    note=(
        "Four NewReno flows. A reduction is shared if another flow reduces within a round trip "
        "(100 ms with 20 packets, 200 ms with 625). Packets are back to back if they arrive less "
        "than 1.5 packet times apart, so that the link sent no other packet between the packets "
        "that the ACKs acknowledge."
    ),
)
