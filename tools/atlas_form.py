"""What the form and the map on the page of the atlas know: the cells.

Their data are those of the package; the address of the explorer holds the scenario of the cell,
with its answer for the utilization `SHOWN`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import tomli_w

from explorer_address import address
from tailroom.buffer_atlas.data import UTILIZATIONS, ages, atlas
from tailroom.buffer_atlas.kinds import KINDS
from tailroom.buffer_atlas.terms import CONTROLS, QUEUES, rate_words
from tailroom_atlas.plan import plan
from tailroom_atlas.scenarios import LINK, scenario, sought

SHOWN = 0.98
"""The utilization of the sentence, and of the buffer that the explorer opens with."""
SHORT = {"dsl": "DSL", "satellite_low": "low orbit", "satellite_high": "satellite"}
"""Kinds whose names do not fit into a square of the map."""
OF_A_TARGET = (
    *("target_utilization", "status", "value", "buffer_s", "buffer_bdp", "best_utilization"),
    *("loss_fraction", "queue_delay_s_mean", "queue_delay_s_p99"),
    *("low_loss_status", "low_loss_value"),
)
"""Columns of the atlas that the form shows."""

Row = Mapping[str, Any]


def form_data() -> list[dict[str, Any]]:
    """The cells in the order of the atlas, each with its answers."""
    of_cell: dict[str, list[Row]] = {}
    for row in atlas().answers.to_pylist():
        if not row["is_rung"]:
            of_cell.setdefault(row["cell"], []).append(row)
    addresses = dict(_addresses(of_cell))
    words = {kind.name: kind.words for kind in KINDS}
    return [
        {
            "cell": cell,
            "kind": words[first["kind"]],
            "short": SHORT.get(first["kind"], first["kind"].replace("_", " ")),
            "page": f"{first['kind']}.html",
            "rate": f"{rate_words(first['rate_bps'])}/s",
            "rateBps": first["rate_bps"],
            "rtt": f"{1e3 * first['shortest_rtt_s']:g} to {1e3 * first['longest_rtt_s']:g} ms",
            "flows": first["flows"],
            "choice": f"{QUEUES[first['queue']]}: {_traffic_words(first)}",
            "sought": _sought_words(first),
            "how": first["how"],
            "age": " ".join(ages([first])),
            "address": addresses.get(cell),
            "answers": [{name: row[name] for name in OF_A_TARGET} for row in answers],
        }
        for cell, answers in of_cell.items()
        for first in answers[:1]
    ]


def _traffic_words(row: Row) -> str:
    short = ", and short flows" if row["traffic"] == "long_and_short" else ""
    return CONTROLS[row["control"]].words + short


def _sought_words(row: Row) -> str:
    """What the answers of a cell are; `sought` has its key."""
    if row["unit"] == "packets":
        return "buffer"
    return "threshold" if row["control"] == "prague" else "target delay"


def _addresses(of_cell: Mapping[str, list[Row]]) -> Iterator[tuple[str, str]]:
    """Yields the cells that a browser can simulate, and the address of each in the explorer."""
    for entry in plan():
        name = entry.cell.name
        if name not in of_cell or entry.how == "scaled":
            continue
        document: Any = scenario(entry.cell, entry.warm_up_s, entry.measured_s)
        value = of_cell[name][UTILIZATIONS.index(SHOWN)]["value"]
        if value is not None:
            key = sought(entry.cell)
            document["links"][LINK]["queue"][key.key.rpartition(".")[2]] = key.value(round(value))
        yield name, address(tomli_w.dumps(document), LINK, {"utilization": SHOWN})
