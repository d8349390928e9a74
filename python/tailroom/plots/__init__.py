"""Pictures for papers: matplotlib figures, one file per figure.

A new figure of a run is a file with a function `draw(result) -> Figure` and a line in `FIGURES`; a
new figure of a sweep has `draw(view, ...) -> Figure` and a line in `draw_sweep`.
"""

from collections.abc import Callable, Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tailroom.errors import ArgumentError
from tailroom.libraries import named_if_missing
from tailroom.scenario.named_values import nearest
from tailroom.simulation import logged_packets
from tailroom.storage.output import output_file

with named_if_missing():
    import matplotlib  # noqa: F401 - missing, it is named before Arrow, which comes with it

    from tailroom.plots import (
        arrivals,
        dispersion,
        heat_map,
        memory,
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


__all__ = ["FIGURES", "draw", "draw_sweep", "write"]


class _Figure(NamedTuple):
    file_name: str
    draw: "Callable[[Result], Figure]"
    shows: "Callable[[Result], object]"
    """What the figure shows of a result; `None` if that was not recorded."""


FIGURES: "dict[PlotKind, _Figure]" = {
    "windows": _Figure("windows_and_queue", windows_and_queue.draw, attrgetter("flow_series")),
    "utilization": _Figure("utilization", utilization.draw, attrgetter("link_series")),
    "dispersion": _Figure("arrival_dispersion", dispersion.draw, attrgetter("arrival_dispersion")),
    "arrivals": _Figure("arrivals", arrivals.draw, logged_packets.at_links),
    "memory": _Figure("memory", memory.draw, attrgetter("pool_series")),
}
"""File name, function and data of each figure of a run, by the kind of the figure."""


def draw(result: "Result", kind: "PlotKind") -> "Figure":
    """Draws one figure of a run.

    Args:
        result: The result of the run.
        kind: `windows`, `utilization`, `dispersion`, `arrivals` or `memory`, as for `Result.plot`.

    Raises:
        ArgumentError: The data of the figure were not recorded, or there is no such figure.
    """
    if kind not in FIGURES:
        raise ArgumentError(f"there is no plot {kind!r}; {nearest(str(kind), FIGURES)}")
    return FIGURES[kind].draw(result)


def write(  # noqa: PLR0913 - keyword arguments
    result: "Result",
    directory: Path,
    *,
    kinds: "list[PlotKind] | None" = None,
    file_format: str = "png",
    prefix: str = "",
    rescue: bool = False,
) -> list[Path]:
    """Writes figures of a run to files in a directory.

    Args:
        result: The result of the run.
        directory: An existing directory; files with the same names are replaced.
        kinds: The figures; if left out, every figure whose data were recorded.
        file_format: Suffix of the files: `png`, `pdf` or `svg`.
        prefix: Text before each file name.
        rescue: Whether a picture that cannot be written is written to another place.

    Returns:
        The paths of the files.

    Raises:
        ArgumentError: The data of a figure were not recorded.
        OutputDirectoryError: A file cannot be written.
        OutputError: A file could not be written; the message names the other place.
        OSError: A file cannot be written.
    """
    paths = []
    recorded = [kind for kind, figure in FIGURES.items() if figure.shows(result) is not None]
    for kind in kinds or recorded or FIGURES:
        path = directory / f"{prefix}{FIGURES[kind].file_name}.{file_format}"
        save = partial(draw(result, kind).savefig, dpi=style.DOTS_PER_INCH)
        if not rescue:
            save(path)
        else:
            with output_file(path) as output:
                output.write(save)
        paths.append(path)
    return paths


def draw_sweep(  # noqa: PLR0913 - each is one option of a figure
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

    Args:
        result: The result of the sweep.
        kind: `curves` (one panel per metric, with 95 % confidence bands), `heatmap`, or `tradeoff`
            (utilization against mean queueing delay).
        x: Key on the x axis, in full or its end; if left out, a buffer, else the first key
            with numbers.
        y: Key on the y axis of a heat map; if left out, the first key that is combined with `x`.
        metrics: Names of the metrics; of a heat map at most one. The usual ones if left out.
        models: Names of the analytic models whose predictions curves show.
        link: The link whose metrics are drawn, if there are several.

    Raises:
        ArgumentError: There is no such figure, key or model, or the figure has no such option.
        MetricError: There is no such metric or link.
    """
    options = {"curves": ("metrics", "models"), "heatmap": ("y", "metrics"), "tradeoff": ()}
    if kind not in options:
        remedy = nearest(str(kind), options)
        raise ArgumentError(f"there is no plot {kind!r} of a sweep; {remedy}")
    for name, value in (("y", y), ("metrics", metrics), ("models", models)):
        if value and name not in options[kind]:
            raise ArgumentError(
                f"{kind}: does not take {name}; leave it out, or choose another plot"
            )
    view = SweepView(result, link)
    named = [view.metric(name) for name in metrics]
    if kind == "curves":
        return sweep_curves.draw(view, x=x, metrics=named, models=models)
    if kind == "tradeoff":
        return trade_off.draw(view, x=x)
    if len(named) > 1:
        raise ArgumentError("heatmap: shows a single metric; name only one")
    return heat_map.draw(view, x=x, y=y, metric=named[0] if named else "")
