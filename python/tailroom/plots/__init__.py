"""Pictures for papers, one file per figure.

A new figure is one file with a function `draw(result) -> Figure` and one line in `FIGURES`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tailroom.plots import arrivals, dispersion, style, utilization, windows_and_queue

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tailroom.results import PlotKind, Result


class _Figure(NamedTuple):
    file_name: str
    draw: "Callable[[Result], Figure]"
    shows: str
    """The table of the result that it draws."""


FIGURES: "dict[PlotKind, _Figure]" = {
    "windows": _Figure("windows_and_queue", windows_and_queue.draw, "flow_series"),
    "utilization": _Figure("utilization", utilization.draw, "link_series"),
    "dispersion": _Figure("arrival_dispersion", dispersion.draw, "arrival_dispersion"),
    "arrivals": _Figure("arrivals", arrivals.draw, "arrival_log"),
}


def draw(result: "Result", kind: "PlotKind") -> "Figure":
    """Draws one figure.

    Raises:
        ValueError: What it shows was not recorded, or there is no such figure.
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

    Without `kinds`, those for which something was recorded.

    Raises:
        ValueError: What a figure shows was not recorded.
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
