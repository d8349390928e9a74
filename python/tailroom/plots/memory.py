"""The memory of each pool over time, and which links have it."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc
from matplotlib.figure import Figure

from tailroom.errors import ArgumentError
from tailroom.plots import style
from tailroom.plots.plain_text_figure import PlainTextFigure

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from tailroom.simulation.result import Result

MOST_POOLS = 4
"""Largest number of readable panels."""
MOST_AREAS = 6
"""Links with areas of their own; the others share one."""
MEGABYTE = 1e6


def draw(result: "Result") -> Figure:
    """A panel for each pool: the memory of its links, one above the other, and the pool's size.

    The links with the largest shares have areas of their own. With more samples than columns, areas
    are means, and a line is the largest memory of all links in each column.

    Raises:
        ArgumentError: No memory was recorded.
    """
    table = result.pool_series
    if table is None:
        raise ArgumentError(
            "no memory of a pool was recorded; give the scenario a pool and a series.interval, or "
            "run it with series_samples=500"
        )
    pools = style.evenly_spread(list(result.pools), MOST_POOLS)
    figure = PlainTextFigure(figsize=(9, 0.6 + 3 * len(pools)), layout="constrained")
    panels = figure.subplots(len(pools), squeeze=False, sharex=True)[:, 0]
    figure.suptitle(style.run_title(result.summary))
    for panel, pool in zip(panels, pools, strict=True):
        _draw_pool(panel, table, result.pools[pool])
        panel.set_ylabel(f"memory of {pool}\n(MB)")
        style.time_axis(panel, result)
        panel.set_ylim(bottom=0)
        style.legend_at_right(panel)
        panel.label_outer()
    return figure


def _draw_pool(panel: "Axes", table: "pa.Table", pool: Any) -> None:
    shares = {link: one["memory_share"] or 0.0 for link, one in pool["links"].items()}
    ranked = sorted(shares, key=lambda link: -shares[link])
    few = ranked if len(ranked) <= MOST_AREAS + 1 else ranked[:MOST_AREAS]
    memory = [_memory_mb(table, link) for link in ranked]
    time_s, areas = _columns(_times_s(table, ranked[0]), np.array(memory))
    rest = areas[len(few) :].sum(axis=0, keepdims=True)
    labels = [*few, *([f"{len(ranked) - len(few)} others"] if len(few) < len(ranked) else [])]
    looks = list(zip(labels, style.line_styles(), strict=False))
    panel.stackplot(
        time_s,
        *areas[: len(few)],
        *(rest if len(few) < len(ranked) else []),
        labels=labels,
        colors=[look["color"] for _, look in looks],
        alpha=0.6,
        linewidth=0.4,
        edgecolor="white",
    )
    total = np.sum(memory, axis=0)
    if len(time_s) < len(total):
        _, largest = _columns(total, total[np.newaxis], np.max)
        panel.plot(time_s, largest[0], color="black", linewidth=0.6, label="all, largest")
    size_mb = pool["size_bytes"] / MEGABYTE
    panel.axhline(size_mb, label=f"size, {size_mb:g} MB", **style.LIMIT_LINE)


def _memory_mb(table: "pa.Table", link: str) -> "NDArray[np.float64]":
    return _column(table, link, "memory_bytes") / MEGABYTE


def _times_s(table: "pa.Table", link: str) -> "NDArray[np.float64]":
    return _column(table, link, "time_s")


def _column(table: "pa.Table", link: str, name: str) -> "NDArray[np.float64]":
    return np.asarray(table.filter(pc.field("link") == link)[name], dtype=float)


def _columns(
    time_s: "NDArray[np.float64]", rows: "NDArray[np.float64]", of: Any = np.mean
) -> "tuple[NDArray[np.float64], NDArray[np.float64]]":
    """Times and rows, of at most as many samples as a panel has columns."""
    each = max(1, -(-len(time_s) // style.MOST_COLUMNS))
    starts = np.arange(0, len(time_s) // each * each, each)
    grouped = rows[:, : len(starts) * each].reshape(len(rows), len(starts), each)
    return time_s[starts + each - 1], of(grouped, axis=2)
