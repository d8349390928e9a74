"""Whether one or two hundred packets suffice on a link of any capacity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom.reproduction.claim import Check, Claim, Judgement, above, below, shown
from tailroom.reproduction.form import Form
from tailroom.reproduction.paper import Part, Study
from tailroom.reproduction.part_results import PointResults
from tailroom_papers.auge_2006 import background, predicted, setup
from tailroom_papers.auge_2006.background import OTHER_WORDS, Span
from tailroom_papers.auge_2006.residual import residual_share

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tailroom.reproduction.part_results import PartResults

LIMIT = setup.LIMIT

REASONABLE = 2 / 3
"""Of the residual capacity. The paper gives no number; on an empty link with a buffer of one packet
a flow has 3/4 by its own count, and a little less should do beside others."""
FASTEST_MBPS = 10_000
"""Capacity at which the model is drawn even without simulation."""
MODEL_BUFFERS = (20, 30, 50, 70, 100, 150, 200, 400, 625)


@dataclass(frozen=True)
class Link:
    """A capacity, and the duration in which a flow reaches its steady state."""

    mbps: int
    span: Span

    @property
    def words(self) -> str:
        """For people."""
        return f"{self.mbps} Mbit/s" if self.mbps < 1000 else f"{self.mbps / 1000:g} Gbit/s"


Seconds = Mapping[int, tuple[int, int]]
"""Begin and end of the measured time, by control and capacity."""
SECONDS: dict[str, Seconds] = {
    # Reno adds a packet per round trip, so a cycle on 1 Gbit/s lasts 310 s. HighSpeed needs the
    # first number of seconds to reach that window.
    "reno": {50: (50, 250), 200: (100, 300), 1000: (400, 1600)},
    "highspeed": {
        50: (20, 100),
        200: (30, 80),
        1000: (60, 160),
        2500: (90, 160),
        10000: (120, 160),
    },
}
SMOKE_MBPS = {"reno": (50,), "highspeed": (50, 200)}
QUICK_MBPS = {"reno": (50, 200), "highspeed": (50, 200, 1000)}
SHORTER = {1000: (60, 85)}
"""Of the quick form."""
SHORTEST = {50: (20, 80), 200: (30, 50)}
"""Of the smoke form."""


def studies(form: Form) -> Sequence[Study]:
    """A flow of each control on links of several capacities."""
    buffers = form.of((20, 200), (20, 100, 200), (20, 50, 100, 200, 625, 2500))
    return [
        _study(control, link, buffers, form)
        for control in SECONDS
        for link in _links(control, form)
    ]


def _links(control: str, form: Form) -> list[Link]:
    seconds = SECONDS[control]
    chosen = form.of(SMOKE_MBPS[control], QUICK_MBPS[control], tuple(seconds))
    shorter: Seconds = form.of(SHORTEST, SHORTER, {})
    return [Link(mbps, Span(*(shorter.get(mbps) or seconds[mbps]))) for mbps in chosen]


def _study(control: str, link: Link, buffers: Sequence[int], form: Form) -> Study:
    title = f"{OTHER_WORDS[control]} beside a Poisson background of half of {link.words}"
    table = background.scenario({"flow": background.flow(control)}, link.span, title)
    # One stream sends the same Poisson packets as 25 streams, and FIFO ignores flows.
    settings = _settings(link.mbps) | {f"flows.{setup.BACKGROUND}.count": 1}
    grid = {LIMIT: [f"{buffer - 1} packets" for buffer in buffers]}
    return Study(_name(control, link.mbps), table, grid=grid, set=settings, seeds=form.of(3, 3, 5))


def _settings(mbps: int) -> dict[str, object]:
    """Factor on all settings that grow with the capacity."""
    return {
        f"links.{setup.LINK}.rate": f"{mbps} Mbit/s",
        f"flows.{setup.BACKGROUND}.source.rate": f"{mbps / 2:g} Mbit/s",
        "flows.flow.access_rate": f"{20 * mbps} Mbit/s",
    }


def _name(control: str, mbps: int) -> str:
    return f"{control}-{mbps}-mbps"


def draw(results: "PartResults") -> Figure:
    """Share over buffer, a panel for each control and a line for each capacity."""
    figure = Figure(figsize=(10, 4.4), layout="constrained")
    style.title(
        figure,
        "One flow beside a background of half the link, RTT 100 ms, FIFO: markers are our "
        "simulation with 95 % intervals, lines the model of bursts over a background",
    )
    panels = figure.subplots(1, len(SECONDS), sharey=True)
    for panel, control in zip(panels, SECONDS, strict=True):
        _draw_control(panel, results, control)
    panels[0].set_ylabel(background.SHARE_LABEL)
    return figure


def _draw_control(panel: "Axes", results: "PartResults", control: str) -> None:
    lines = style.marked_line_styles()
    for mbps, look in zip(SECONDS["highspeed"], lines, strict=False):
        points = _points(results, control, mbps)
        label = Link(mbps, Span(0, 0)).words
        line = {key: look[key] for key in ("color", "linestyle", "linewidth")}
        if points:
            marks = {**look, "linestyle": "none", "label": label}
            xs = [background.buffer_of(point) for point in points]
            background.draw_line(panel, xs, points, residual_share, marks)
        else:
            line["label"] = f"{label}, model only"
        if points or mbps == FASTEST_MBPS:
            any_run = results.study(_name(control, 50)).points[0].runs[0]
            buffers = results.form.of((20, 200), MODEL_BUFFERS, MODEL_BUFFERS)
            shares = predicted.shares_over(any_run, buffers, _settings(mbps))
            panel.plot(buffers, [100 * share for share in shares], **line)
    panel.axhline(100 * REASONABLE, label="taken as reasonable", **style.LIMIT_LINE)
    background.buffer_axis(panel)
    panel.set(title=OTHER_WORDS[control], ylim=(0, 105))
    panel.legend(fontsize="x-small", loc="lower right")


def _points(results: "PartResults", control: str, mbps: int) -> Sequence[PointResults]:
    name = _name(control, mbps)
    return results.study(name).points if name in results.studies else ()


def _mbps(point: PointResults) -> int:
    capacity_bps: float = point.runs[0].summary["links"][setup.LINK]["capacity_bps"]
    return round(capacity_bps / 1e6)


def _at_buffer(results: "PartResults", control: str, buffer: int) -> list[PointResults]:
    """By capacity."""
    points = [point for mbps in SECONDS["highspeed"] for point in _points(results, control, mbps)]
    return [point for point in points if background.buffer_of(point) == buffer]


def _checks(results: "PartResults", control: str, buffer: int) -> list[Check]:
    return [
        above(
            f"{OTHER_WORDS[control]}, {Link(_mbps(point), Span(0, 0)).words}, {buffer} packets: "
            "share of the residual",
            point.interval(residual_share),
            REASONABLE,
            "reasonable (taken as two thirds)",
            percent=True,
        )
        for point in _at_buffer(results, control, buffer)
    ]


def _one_or_two_hundred(results: "PartResults") -> Judgement:
    checks = [
        check
        for control in SECONDS
        for buffer in (100, 200)
        for check in _checks(results, control, buffer)
    ]
    last = _at_buffer(results, "highspeed", 200)[-1]
    first = _at_buffer(results, "highspeed", 200)[0]
    slow = _at_buffer(results, "reno", 200)[-1]
    words = Link(_mbps(last), Span(0, 0)).words
    model = predicted.share(last.runs[0])
    return Judgement(
        tuple(checks),
        f"With 200 packets NewReno gets {shown(slow.interval(residual_share), percent=True)} of "
        f"the residual at {Link(_mbps(slow), Span(0, 0)).words}. HighSpeed gets "
        f"{shown(first.interval(residual_share), percent=True)} at 50 Mbit/s and "
        f"{shown(last.interval(residual_share), percent=True)} at {words} (model: "
        f"{100 * model:.0f} %): where its window grows by many packets per round trip, these "
        "packets arrive together, so that a burst overflows the buffer before it fills the round "
        "trip.",
    )


def _twenty(results: "PartResults") -> Judgement:
    points = {control: _at_buffer(results, control, 20)[-1] for control in SECONDS}
    checks = tuple(
        below(
            f"{OTHER_WORDS[control]}, {Link(_mbps(point), Span(0, 0)).words}, 20 packets: share "
            "of the residual",
            point.interval(residual_share),
            0.45,
            "around 40 % at 50 Mbit/s, not more on faster links (taken as below 45 %)",
            percent=True,
        )
        for control, point in points.items()
    )
    slowest = _at_buffer(results, "highspeed", 20)[0].interval(residual_share)
    fastest = points["highspeed"].interval(residual_share)
    return Judgement(
        checks,
        "The window at which a burst overflows 20 packets does not depend on the rate of the "
        "link, so it is a smaller part of the round trip on a faster link: HighSpeed gets "
        f"{shown(slowest, percent=True)} at 50 Mbit/s, {shown(fastest, percent=True)} at "
        f"{Link(_mbps(points['highspeed']), Span(0, 0)).words}.",
    )


PART = Part(
    name="any-capacity",
    title="One or two hundred packets on a link of arbitrary capacity",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "one-or-two-hundred",
            "For a link of arbitrary capacity, a buffer size of one or two hundred packets appears "
            "as a reasonable choice.",
            "Sec. VI",
            _one_or_two_hundred,
        ),
        Claim(
            "twenty-at-any-size",
            "The recommendation of 20 packets, for any link size, is rather too drastic.",
            "Sec. II-A and VI",
            _twenty,
        ),
    ),
    note=(
        "The paper simulates 50 Mbit/s only. Here capacity and background grow together, the RTT "
        "stays at 100 ms and the buffer stays in packets. A NewReno flow on 10 Gbit/s would take "
        "50 minutes from one loss to the next, so NewReno ends at 1 Gbit/s (200 Mbit/s in the "
        "quick form), HighSpeed at 10 Gbit/s (1 Gbit/s). The access link is 20 times as fast as "
        "the link. Selective acknowledgements for both."
    ),
)
