"""Whether one or two hundred packets suffice on a link of any capacity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tailroom_papers.auge_2006 import background, other_values, picture, predictions, setup
from tailroom_papers.auge_2006.background import OTHER_WORDS, Span
from tailroom_papers.auge_2006.bounds import BOUNDS
from tailroom_papers.auge_2006.residual import residual_share
from tailroom_papers.framework import *

LIMIT = setup.LIMIT

HUNDREDS = (100, 200)
"""The paper's choice, in packets."""
FASTEST_MBPS = 10_000
"""Capacity at which the model is drawn even without simulation."""
SLOW_BUFFERS = (20, *HUNDREDS, 625)
SLOW_MBIT = 400_000
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
        _study(control, link, SLOW_BUFFERS if _is_slow(link, form) else buffers, form)
        for control in SECONDS
        for link in _links(control, form)
    ]


def _is_slow(link: Link, form: Form) -> bool:
    """Whether runs have so many packets that only the judged and one large buffer are simulated."""
    return form is Form.FULL and link.mbps * link.span.duration_s >= SLOW_MBIT


def _links(control: str, form: Form) -> list[Link]:
    seconds = SECONDS[control]
    chosen = form.of(SMOKE_MBPS[control], QUICK_MBPS[control], tuple(seconds))
    shorter: Seconds = form.of(SHORTEST, SHORTER, {})
    return [Link(mbps, Span(*(shorter.get(mbps) or seconds[mbps]))) for mbps in chosen]


def _study(control: str, link: Link, buffers: Sequence[int], form: Form) -> Study:
    title = f"{OTHER_WORDS[control]} next to a Poisson background of half of {link.words}"
    table = background.scenario({"flow": background.flow(control)}, link.span, title)
    # One stream sends the same Poisson packets as 25 streams, and FIFO ignores flows.
    settings = _settings(link.mbps) | {f"flows.{setup.BACKGROUND}.count": 1}
    grid = {LIMIT: [f"{buffer - 1} packets" for buffer in buffers]}
    seeds = form.of(3, 3, 5 if link.mbps > 1000 else 10)
    return Study(_name(control, link.mbps), table, grid=grid, set=settings, seeds=seeds)


def _settings(mbps: int) -> dict[str, object]:
    """Factor on all settings that grow with the capacity."""
    return {
        f"links.{setup.LINK}.rate": f"{mbps} Mbit/s",
        f"flows.{setup.BACKGROUND}.source.rate": f"{mbps / 2:g} Mbit/s",
        "flows.flow.access_rate": f"{20 * mbps} Mbit/s",
    }


def _name(control: str, mbps: int) -> str:
    return f"{control}-{mbps}-mbps"


def draw(results: PartResults) -> Figure:
    """Share over buffer, a panel for each control and a line for each capacity."""
    title = "One flow next to a background of half the link, RTT 100 ms, FIFO, by capacity"
    figure, panels = picture.page(title, 4.4, 1, len(SECONDS), sharey=True)
    for panel, control in zip(panels, SECONDS, strict=True):
        _draw_control(panel, results, control)
    panels[0].set_ylabel(background.SHARE_LABEL)
    return picture.finished(figure, 4)


def _draw_control(panel: Axes, results: PartResults, control: str) -> None:
    links = {Link(mbps, Span(0, 0)).words: mbps for mbps in SECONDS["highspeed"]}
    for label, mbps, look in styled(links):
        points = _points(results, control, mbps)
        line = {**look, "marker": None}
        if points:
            marks = {**look, "linestyle": "none", "label": f"{label}, simulation"}
            xs = [background.buffer_of(point) for point in points]
            draw_marks(panel, xs, points, residual_share, marks, scale=100)
        else:
            line["label"] = f"{label}, model only" if mbps == FASTEST_MBPS else "_absent"
        if points or mbps == FASTEST_MBPS:
            any_run = results.study(_name(control, 50)).points[0].runs[0]
            buffers = results.form.of((20, 200), MODEL_BUFFERS, MODEL_BUFFERS)
            shares = predictions.shares_over(any_run, buffers, _settings(mbps))
            panel.plot(buffers, [100 * share for share in shares], **line)
    panel.axhline(100 * BOUNDS["reasonable"].value, label="75 %: reasonable", **style.LIMIT_LINE)
    panel.axvspan(*HUNDREDS, color="#E69F00", alpha=0.15, label="the paper's choice")
    background.frame_over_buffers(panel, title=OTHER_WORDS[control], ylim=(0, 105))


def _points(results: PartResults, control: str, mbps: int) -> Sequence[PointResults]:
    name = _name(control, mbps)
    return results.study(name).points if name in results.studies else ()


def _at(results: PartResults, control: str, mbps: int, buffer: int) -> PointResults:
    return results.study(_name(control, mbps)).at({LIMIT: f"{buffer - 1} packets"})


def _capacities(results: PartResults, control: str) -> list[int]:
    return [mbps for mbps in SECONDS[control] if _name(control, mbps) in results.studies]


def _words(control: str, mbps: int, buffer: int) -> str:
    words = f"{OTHER_WORDS[control]}, {Link(mbps, Span(0, 0)).words}, {buffer} packets"
    return f"{words}: share of the residual"


def _one_or_two_hundred(results: PartResults) -> Judgement:
    cases = [
        (control, mbps, buffer)
        for control in SECONDS
        for mbps in _judged(_capacities(results, control))
        for buffer in HUNDREDS
        if _has(results, control, mbps, buffer)
    ]
    bound = BOUNDS["reasonable"]
    checks = tuple(
        _at(results, *case).above(_words(*case), residual_share, bound) for case in cases
    )

    def why() -> str:
        mbps = _capacities(results, "highspeed")[-1]
        point = _at(results, "highspeed", mbps, 200)
        share = shown(point.interval(residual_share), percent=True)
        return (
            f"HighSpeed gets {share} of the residual with 200 packets at "
            f"{Link(mbps, Span(0, 0)).words} (model: "
            f"{100 * predictions.share(point.runs[0]):.0f} %). Where its window grows by many "
            "packets per round trip, these packets arrive together, so that a burst overflows "
            "the buffer before it fills the round trip. Senders that pace their packets do not "
            "send such bursts: see the section on sensitivity."
        )

    return Judgement(checks, why)


def _has(results: PartResults, control: str, mbps: int, buffer: int) -> bool:
    limit = f"{buffer - 1} packets"
    return any(
        point.settings[LIMIT] == limit for point in results.study(_name(control, mbps)).points
    )


def fastest(results: PartResults) -> tuple[str, float]:
    """Returns the fastest link with HighSpeed, and its mean share with 200 packets."""
    mbps = _capacities(results, "highspeed")[-1]
    share = _at(results, "highspeed", mbps, HUNDREDS[-1]).mean(residual_share)
    return Link(mbps, Span(0, 0)).words, share


def _judged(capacities: Sequence[int]) -> list[int]:
    """The slowest and the fastest of each control, and 1 Gbit/s."""
    return [mbps for mbps in capacities if mbps in (capacities[0], 1000, capacities[-1])]


def _twenty(results: PartResults) -> Judgement:
    cases = [(control, _capacities(results, control)[-1], 20) for control in SECONDS]
    cases.insert(0, ("reno", 50, 20))
    checks = tuple(
        _at(results, *case).below(_words(*case), residual_share, BOUNDS["drastic"])
        for case in dict.fromkeys(cases)
    )
    return Judgement(
        checks,
        lambda: (
            "The window at which a burst overflows 20 packets does not depend on the rate of the "
            "link, so it is a smaller part of the round trip on a faster link: HighSpeed gets "
            f"{100 * _at(results, 'highspeed', 50, 20).mean(residual_share):.0f} % at 50 Mbit/s, "
            f"{100 * _at(results, *cases[-1]).mean(residual_share):.1f} % at "
            f"{Link(cases[-1][1], Span(0, 0)).words}."
        ),
    )


def variations(form: Form) -> Sequence[Variation]:
    """The paper's buffers with other senders, at the paper's capacity and at 1 Gbit/s."""
    chosen = (other_values.JITTER_OF_A_PACKET, other_values.DELAYED_ACKS, other_values.PACING)
    names = [_name("reno", 50), _name("highspeed", 50), _name("highspeed", 1000)]
    grid = {LIMIT: [f"{buffer - 1} packets" for buffer in HUNDREDS]}
    used = [replace(study, grid=grid) for study in studies(form) if study.name in names]
    return other_values.variations(used, ("one-or-two-hundred",), form, chosen)


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
    variations=variations,
    caption=(
        "Share of the residual over the buffer for links of several capacities: simulation "
        "(marks, means with 95 % confidence intervals) and the model of bursts over a background "
        "(lines). The dashed line is the bound of the claim, the shaded buffers are those that the "
        "paper recommends. NewReno beyond 1 Gbit/s is not simulated, see the text."
    ),
    note=(
        "The paper simulates 50 Mbit/s only. Here capacity and background grow together, the RTT "
        "stays at 100 ms and the buffer stays in packets. A NewReno flow on 10 Gbit/s would take "
        "50 minutes from one loss to the next, so NewReno ends at 1 Gbit/s (200 Mbit/s in the "
        "quick form), HighSpeed at 10 Gbit/s (1 Gbit/s). The access link is 20 times as fast as "
        "the link. Selective acknowledgements for both."
    ),
)
