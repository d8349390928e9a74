"""A cell of the atlas that is computed in a second, and made-up rows."""

from collections.abc import Callable, Sequence
from typing import Any

from tailroom.buffer_atlas import data
from tailroom.buffer_atlas.kinds import MEGABIT, Site
from tailroom_atlas.cells import Cell
from tailroom_atlas.cost import PlannedCell

TINY = PlannedCell(
    Cell("home", Site(5 * MEGABIT, 20, 20, 1), "long", "cubic", "drop_tail"),
    "full",
    warm_up_s=1.0,
    measured_s=12.0,
    core_s=1.0,
)
"""A cell of a fraction of a second."""


def rung_row(cell: Cell, flows: int, packets: float) -> dict[str, Any]:
    """The row of a smaller link whose queue is half full on average."""
    smaller = cell.smaller(cell.site.flows // flows)
    buffer_s = packets * 12_000 / smaller.site.rate_bps
    return {
        **dict.fromkeys(data.COLUMNS, 0.5),
        "cell": smaller.name,
        "flows": flows,
        "value": packets,
        "crossing": 0.8 * packets,
        "status": "found",
        "buffer_s": buffer_s,
        "queue_delay_s_mean": buffer_s / 2,
    }


def made_up(rates: Sequence[float], law: Callable[[float], float]) -> list[dict[str, Any]]:
    """Rows of cells of 40 ms and 100 flows that differ in their rate."""
    return [
        {
            **dict.fromkeys(data.COLUMNS),
            "cell": f"{rate:g}",
            "rate_bps": rate,
            "shortest_rtt_s": 0.04,
            "longest_rtt_s": 0.04,
            "flows": 100,
            "traffic": "long",
            "control": "cubic",
            "queue": "drop_tail",
            "is_rung": False,
            "unit": "packets",
            "status": "found",
            "target_utilization": target,
            "value": law(rate),
        }
        for rate in rates
        for target in data.UTILIZATIONS
    ]
