"""The model that the paper announces, compared with simulation."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from statistics import mean

from tailroom_papers.auge_2006 import background, picture, predictions, setup
from tailroom_papers.auge_2006.background import OTHER_WORDS, Span
from tailroom_papers.auge_2006.residual import residual_share
from tailroom_papers.framework import *

BACKGROUND_RATE = f"flows.{setup.BACKGROUND}.source.rate"
LIMIT = setup.LIMIT
CONTROL = "flows.flow.congestion"
CONTROLS = ("reno", "highspeed")
GOAL = 0.05
"""Mean absolute error of the share that makes a model fit for choosing a buffer."""
WANTED = 0.75
"""Target share of the residual capacity."""


def studies(form: Form) -> Sequence[Study]:
    """Both controls over buffer and load of the background."""
    span = form.of(Span(20, 80), Span(30, 150), Span(50, 350))
    table = background.scenario(
        {"flow": background.flow("reno")}, span, "A flow next to Poisson backgrounds of any load"
    )
    loads = form.of((50,), (30, 50, 70), (30, 50, 70, 90))
    buffers = form.of((20, 200), (20, 50, 100, 625), (10, 20, 50, 100, 200, 625, 1250))
    grid = {
        BACKGROUND_RATE: [f"{0.5 * load:g} Mbit/s" for load in loads],
        LIMIT: [f"{buffer - 1} packets" for buffer in buffers],
        CONTROL: list(CONTROLS),
    }
    one_stream = {f"flows.{setup.BACKGROUND}.count": 1}
    return [Study("grid", table, grid=grid, set=one_stream, seeds=form.of(3, 3, 10))]


def load_of(point: PointResults) -> float:
    """Loads of the background, as fractions of 50 Mbit/s."""
    return point.number(BACKGROUND_RATE) / 50


def control_of(point: PointResults) -> str:
    """Of the flow."""
    return str(point.settings[CONTROL])


def draw(results: PartResults) -> Figure:
    """Share over buffer, a panel for each load; the last panel: the buffer that a load needs."""
    points = results.study("grid").points
    loads = sorted({load_of(point) for point in points})
    columns = 2 if len(loads) <= 3 else 3
    rows = -(-(len(loads) + 1) // columns)
    title = "One flow next to a Poisson background, 50 Mbit/s, RTT 100 ms, and the model of bursts"
    figure, panels = picture.page(title, 2.2 * rows + 1.0, rows, columns)
    for panel, load in zip(panels, loads, strict=False):
        _draw_load(panel, [point for point in points if load_of(point) == load])
        panel.set_title(f"background {100 * load:.0f} % of the link", loc="left")
    _draw_need(panels[len(loads)], results)
    for panel in panels[len(loads) + 1 :]:
        panel.remove()
    return picture.finished(figure, 4)


def _draw_load(panel: Axes, points: Sequence[PointResults]) -> None:
    for control, look in zip(CONTROLS, style.marked_line_styles(), strict=False):
        mine = [point for point in points if control_of(point) == control]
        buffers = [background.buffer_of(point) for point in mine]
        marks = {**look, "linestyle": "none", "label": f"{OTHER_WORDS[control]}, simulation"}
        draw_marks(panel, buffers, mine, residual_share, marks, scale=100)
        shares = [100 * predictions.share(point.runs[0]) for point in mine]
        line = {**look, "marker": None, "label": f"{OTHER_WORDS[control]}, model"}
        panel.plot(buffers, shares, **line)
    background.frame_over_buffers(panel, ylim=(0, 108), y="share of residual (%)")


def _draw_need(panel: Axes, results: PartResults) -> None:
    """Draws the simulated buffers between which the share passes `WANTED`, and the model's."""
    for control, look in zip(CONTROLS, style.marked_line_styles(), strict=False):
        crossings = _crossings(results, control)
        loads = [100 * load + (0.7 if control == "reno" else -0.7) for load in crossings]
        lows = [passed.low for passed, _ in crossings.values()]
        highs = [passed.high for passed, _ in crossings.values()]
        panel.vlines(loads, lows, highs, color=look["color"], linewidth=3, alpha=0.5)
        model = [said.between if said else nan for _, said in crossings.values()]
        panel.plot(loads, model, **{**look, "linestyle": "none"})
    title = f"needed for {100 * WANTED:.0f} % of the residual"
    label = "background (% of the link)"
    frame(panel, title=title, x=label, y="buffer (packets)", log="y", ylim=(15, 250))
    panel.set_yticks([20, 50, 100, 200])
    panel.minorticks_off()


def _crossings(
    results: PartResults, control: str
) -> dict[float, tuple["Crossing", "Crossing | None"]]:
    """Returns, by load, the buffers at which the simulated and the model's share pass `WANTED`.

    Loads at which no simulated share passes `WANTED` are left out.
    """
    crossings: dict[float, tuple[Crossing, Crossing | None]] = {}
    mine = [point for point in results.study("grid").points if control_of(point) == control]
    for load in sorted({load_of(point) for point in mine}):
        points = sorted(
            (candidate for candidate in mine if load_of(candidate) == load),
            key=background.buffer_of,
        )
        buffers = [background.buffer_of(point) for point in points]
        passed = crossing(buffers, [point.mean(residual_share) for point in points])
        said = crossing(buffers, [predictions.share(point.runs[0]) for point in points])
        if passed:
            crossings[load] = (passed, said)
    return crossings


@dataclass(frozen=True)
class Crossing:
    """Returns the buffer at which a growing share passes `WANTED`."""

    low: int
    high: int
    between: float
    """Interpolated, linear in the logarithm of the buffer."""


def crossing(buffers: Sequence[int], shares: Sequence[float]) -> Crossing | None:
    """The first two neighbours with `WANTED` between their shares; `None` without any."""
    for place in range(1, len(buffers)):
        before, after = shares[place - 1], shares[place]
        if before < WANTED <= after:
            part = (WANTED - before) / (after - before)
            low, high = buffers[place - 1], buffers[place]
            return Crossing(low, high, low * (high / low) ** part)
    return None


def _fits(results: PartResults) -> Judgement:
    points = results.study("grid").points
    error = jackknife(
        list(zip(*(point.values(model_error) for point in points), strict=True)),
        lambda runs: mean(abs(mean(of_point)) for of_point in zip(*runs, strict=True)),
    )
    worst = max(points, key=lambda point: abs(point.mean(model_error)))
    what, stated = "mean absolute error of the share, all points", f"below {100 * GOAL:g} points"
    check = below(what, error, GOAL, f"fit for choosing a buffer: {stated}", percent=True)

    def why() -> str:
        needs = ", ".join(
            f"{said.between:.0f} packets at {100 * load:.0f} %" if said else f"none at {load:.0%}"
            for load, (_, said) in _crossings(results, "reno").items()
        )
        return (
            f"The largest error is {100 * worst.mean(model_error):+.1f} points "
            f"({OTHER_WORDS[control_of(worst)]}, load {100 * load_of(worst):.0f} %, "
            f"{background.buffer_of(worst)} packets). For {100 * WANTED:.0f} % of the residual "
            f"NewReno needs, by the model, {needs or 'no buffer that was simulated'} of background."
        )

    return Judgement((check,), why)


def model_error(run: StoredRun) -> float:
    """The model's share of the residual less that of the run."""
    return predictions.share(run) - residual_share(run)


PART = Part(
    name="model",
    title="The announced model over the simulation",
    studies=studies,
    draw=draw,
    conditions=(Claim("model-fits", "The model is fit for choosing a buffer.", "", _fits),),
    caption=(
        "Share of the residual over the buffer, a panel per load of the background: simulation "
        "(marks, means with 95 % confidence intervals) and model (lines). Last panel: the buffer "
        "for 75 % of the residual; bars join the two simulated buffers between which the share "
        "passes 75 %, marks are the model, interpolated."
    ),
    note=(
        "The paper announces a model, but we do not know of a published one. tailroom's "
        "bursts_over_background is such a model, derived without fitted constants: a window "
        "arrives as a burst in each round trip next to a Poisson background, until both overflow "
        "the buffer. 'We are currently developing a mathematical model' is no claim that can be "
        "tested; that this model is good enough for choosing a buffer is a condition of ours."
    ),
)
