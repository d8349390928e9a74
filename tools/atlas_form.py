"""What the form on the page of the atlas knows: a link per kind, rate and number of flows.

The form shows long flows under CUBIC behind DropTail. Its data are those of the package; the
address of the explorer holds the scenario of the cell, with the buffer of `SHOWN`.
"""

import json
import zlib
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping
from typing import Any

import tomli_w

from tailroom.buffer_atlas.data import AGES, UTILIZATIONS, atlas
from tailroom.buffer_atlas.kinds import KINDS
from tailroom.buffer_atlas.terms import rate_words
from tailroom_atlas.plan import plan
from tailroom_atlas.scenarios import LINK, scenario, sought

SHOWN = 0.98
"""The utilization of the sentence, and of the buffer that the explorer opens with."""
OF_A_TARGET = (
    *("target_utilization", "status", "value", "buffer_s", "buffer_bdp", "best_utilization"),
    *("loss_fraction", "queue_delay_s_mean", "queue_delay_s_p99"),
    *("low_loss_status", "low_loss_value"),
)
"""Columns of the atlas that the form shows."""

Row = Mapping[str, Any]


def form_data() -> list[dict[str, Any]]:
    """The links in the order of the atlas, each with its answers."""
    rows = [row for row in atlas().answers.to_pylist() if _is_shown(row)]
    of_cell: dict[str, list[Row]] = {}
    for row in rows:
        of_cell.setdefault(row["cell"], []).append(row)
    addresses = dict(_addresses(of_cell))
    words = {kind.name: kind.words for kind in KINDS}
    return [
        {
            "cell": cell,
            "kind": words[first["kind"]],
            "page": f"{first['kind']}.html",
            "rate": f"{rate_words(first['rate_bps'])}/s",
            "rtt": f"{1e3 * first['shortest_rtt_s']:g} to {1e3 * first['longest_rtt_s']:g} ms",
            "flows": first["flows"],
            "how": first["how"],
            "age": AGES.get(first["engine"], ""),
            "address": addresses.get(cell),
            "answers": [{name: row[name] for name in OF_A_TARGET} for row in answers],
        }
        for cell, answers in of_cell.items()
        for first in answers[:1]
    ]


def _is_shown(row: Row) -> bool:
    shown = (row["traffic"], row["control"], row["queue"])
    return shown == ("long", "cubic", "drop_tail") and not row["is_rung"]


def _addresses(of_cell: Mapping[str, list[Row]]) -> Iterator[tuple[str, str]]:
    """Yields the cells that a browser can simulate, and the address of each in the explorer."""
    for entry in plan():
        name = entry.cell.name
        if name not in of_cell or entry.how == "scaled":
            continue
        document: Any = scenario(entry.cell, entry.warm_up_s, entry.measured_s)
        value = of_cell[name][UTILIZATIONS.index(SHOWN)]["value"]
        if value is not None:
            limit = sought(entry.cell).value(round(value))
            document["links"][LINK]["queue"]["limit"] = limit
        yield name, address(tomli_w.dumps(document))


def address(text: str) -> str:
    """The part of the explorer's address behind the #, as `page/src/keep/address.ts` reads it.

    Args:
        text: A scenario, as TOML.
    """
    targets: dict[str, Any] = {"utilization": SHOWN, "delayS": None, "loss": None, "groups": {}}
    state: dict[str, Any] = {
        "text": text,
        "link": LINK,
        "who": None,
        "targets": targets,
        "kept": [],
    }
    compressed = zlib.compress(json.dumps(state).encode(), level=9, wbits=-zlib.MAX_WBITS)
    return "1." + urlsafe_b64encode(compressed).decode().rstrip("=")
