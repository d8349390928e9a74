"""The two panels of Figures 18 and 19: completion time, and queries with timeouts, over servers."""

from collections.abc import Mapping, Sequence

from tailroom_papers.dctcp_2010.queries import mean_s, with_timeout
from tailroom_papers.dctcp_2010.setup import RESPONSE_BYTES, SWITCH
from tailroom_papers.framework import *

FLOOR_MS = 8e3 * RESPONSE_BYTES / 1e9
"""1 MB at 1 Gbit/s, without headers."""


def draw_queries(title: str, lines: Mapping[str, Mapping[int, PointResults]]) -> Figure:
    """Draws completion time and share of queries with timeouts over the number of servers.

    Args:
        title: Title of the figure.
        lines: The points by label and by number of servers.
    """
    figure, (left, right) = figure_of(title, 1, 2)
    for label, points, look in styled(lines):
        servers: Sequence[float] = list(points)
        draw_means(left, servers, list(points.values()), mean_s, look, label=label, scale=1e3)
        draw_means(right, servers, list(points.values()), with_timeout, look)
    left.axhline(FLOOR_MS, label=f"1 MB at {SWITCH['rate']}", **style.LIMIT_LINE)
    frame(left, x="servers", y="mean completion time (ms)", log="y", xlim=(0, 41), ylim=(5, 500))
    frame(right, x="servers", y="queries with a timeout (share)", xlim=(0, 41), ylim=(0, 1.02))
    return legend_below(figure, columns=3)
