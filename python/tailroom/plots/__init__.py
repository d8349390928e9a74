"""Pictures for papers, one file per figure.

A new figure of a run is a file with a function `draw(result) -> Figure` and a line in `FIGURES`; a
new figure of a sweep has `draw(view, ...) -> Figure` and a line in `draw_sweep`.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tailroom.plots import (
    arrivals,
    dispersion,
    heat_map,
    style,
    sweep_curves,
    trade_off,
    utilization,
    windows_and_queue,
)
from tailroom.plots.sweep_view import SweepView

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tailroom.simulation.result import PlotKind, Result
    from tailroom.studies.sweep_study.study import SweepPlotKind, SweepResult


class _Figure(NamedTuple):
    file_name: str
    draw: "Callable[[Result], Figure]"
    shows: str
    """Table of the result with the data of the figure."""


FIGURES: "dict[PlotKind, _Figure]" = {
    "windows": _Figure("windows_and_queue", windows_and_queue.draw, "flow_series"),
    "utilization": _Figure("utilization", utilization.draw, "link_series"),
    "dispersion": _Figure("arrival_dispersion", dispersion.draw, "arrival_dispersion"),
    "arrivals": _Figure("arrivals", arrivals.draw, "arrival_log"),
}


def draw(result: "Result", kind: "PlotKind") -> "Figure":
    """Draws one figure.

    Raises:
        ValueError: Its data were not recorded, or there is no such figure.
    """
    if kind not in FIGURES:
        raise ValueError(f"there is no plot {kind!r}; choose one of {', '.join(FIGURES)}")
    return FIGURES[kind].draw(result)


def write(
    result: "Result",
    directory: Path,
    *,
    kinds: "list[PlotKind] | None" = None,
    file_format: str = "png",
    prefix: str = "",
) -> list[Path]:
    """Draws figures into files of a directory and returns their paths.

    Without `kinds`, draws every figure whose data were recorded.

    Raises:
        ValueError: The data of a figure were not recorded.
        OSError: A file cannot be written.
    """
    paths = []
    recorded = [
        kind for kind, figure in FIGURES.items() if getattr(result, figure.shows) is not None
    ]
    for kind in kinds or recorded or FIGURES:
        path = directory / f"{prefix}{FIGURES[kind].file_name}.{file_format}"
        draw(result, kind).savefig(path, dpi=style.DOTS_PER_INCH)
        paths.append(path)
    return paths


def draw_sweep(  # noqa: PLR0913 - each says one thing about a figure
    result: "SweepResult",
    kind: "SweepPlotKind",
    *,
    x: str | None = None,
    y: str | None = None,
    metrics: Sequence[str] = (),
    models: Sequence[str] = (),
    link: str | None = None,
) -> "Figure":
    """Draws one figure of a sweep.

    Raises:
        ValueError: There is no such figure, key or model, or an option that it does not take.
        MetricError: There is no such metric or link.
    """
    taken = {"curves": ("metrics", "models"), "heatmap": ("y", "metrics"), "tradeoff": ()}
    if kind not in taken:
        raise ValueError(f"there is no plot {kind!r} of a sweep; choose one of {', '.join(taken)}")
    for name, value in (("y", y), ("metrics", metrics), ("models", models)):
        if value and name not in taken[kind]:
            raise ValueError(f"{kind}: does not take {name}; leave it out, or choose another plot")
    view = SweepView(result, link)
    named = [view.metric(name) for name in metrics]
    if kind == "curves":
        return sweep_curves.draw(view, x=x, metrics=named, models=models)
    if kind == "tradeoff":
        return trade_off.draw(view, x=x)
    if len(named) > 1:
        raise ValueError("heatmap: shows a single metric; name only one")
    return heat_map.draw(view, x=x, y=y, metric=named[0] if named else "")
