"""Draws what the buffer costs and gives on links that vary, and renews the table of their guide.

python tools/varying_link_pictures.py

Runs the presets with several buffers, and with a constant rate and delay for comparison. Writes
docs/images/varying_links.png and the table in docs/guide/varying-links.md, in a minute.
"""

import copy
import re
import tomllib
import warnings
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

import tailroom as tr
from markdown_table import markdown_table
from tailroom.plots import style

REPOSITORY = Path(__file__).parents[1]
SCENARIOS = REPOSITORY / "scenarios"
IMAGE = REPOSITORY / "docs/images/varying_links.png"
PAGE = REPOSITORY / "docs/guide/varying-links.md"
DOTS_PER_INCH = 110

PRESETS = {"low-orbit": "beam", "wifi": "air", "cellular": "cell", "docsis": "up"}
"""Presets, each with the link that varies."""
BUFFERS_BDP = (0.25, 0.5, 1, 2, 4, 8)
CODEL: dict[str, object] = {"kind": "codel"}
SEEDS = range(1, 4)
VARYING = ("rate_variation", "jitter")
"""Keys without which a link is constant."""

Document = Any
"""A scenario as TOML has it."""


class Measured(NamedTuple):
    """Means over the seeds, of one link."""

    utilization: float
    delay_s_p95: float
    delay_s_p99: float
    full_s: float
    """How long a full buffer takes to drain at the mean rate."""


def main() -> None:
    """Writes the picture and the table."""
    # The warnings are about the short transfers under the extreme buffers.
    warnings.simplefilter("ignore", tr.TailroomWarning)
    varying, constant, codel = {}, {}, {}
    for name, link in PRESETS.items():
        preset = read(name)
        varying[name] = {bdp: measured(preset, link, drop_tail(bdp)) for bdp in BUFFERS_BDP}
        steady = without_variation(preset)
        constant[name] = {bdp: measured(steady, link, drop_tail(bdp)) for bdp in BUFFERS_BDP}
        codel[name] = measured(preset, link, CODEL)
    _figure(varying, constant).savefig(IMAGE, dpi=DOTS_PER_INCH, metadata={"Software": None})
    rows = [
        [f"{bdp:g} bdp", *(table_cell(varying[name][bdp]) for name in PRESETS)]
        for bdp in BUFFERS_BDP
    ]
    rows.append(["`codel`", *(table_cell(codel[name]) for name in PRESETS)])
    _write_table(markdown_table(["buffer", *(f"`{name}`" for name in PRESETS)], rows))
    for path in (IMAGE, PAGE):
        print(f"wrote {path.relative_to(REPOSITORY)}")


def read(name: str) -> Document:
    """The preset of this name."""
    return tomllib.loads((SCENARIOS / f"{name}.toml").read_text(encoding="utf-8"))


def without_variation(document: Document) -> Document:
    """The scenario with links that keep their rate and delay."""
    changed = copy.deepcopy(document)
    for link in changed["links"].values():
        for key in VARYING:
            link.pop(key, None)
    return changed


def drop_tail(bdp: float) -> dict[str, object]:
    """The plain queue with a buffer in bandwidth-delay products, of the link's mean rate."""
    return {"kind": "drop_tail", "limit": f"{bdp:g} bdp"}


def measured(document: Document, link: str, queue: Mapping[str, object]) -> Measured:
    """The link with this queue."""
    changes = {f"links.{link}.queue": queue}
    results = [tr.run(document, set=changes, seed=seed) for seed in SEEDS]
    runs: list[Any] = [result.summary["links"][link] for result in results]
    keys = ("utilization", "queue_delay_s_p95", "queue_delay_s_p99", "limit_ms")
    utilization, p95, p99, full_ms = (fmean(run[key] for run in runs) for key in keys)
    return Measured(utilization, p95, p99, full_ms / 1e3)


ByBuffer = Mapping[float, Measured]


def _figure(varying: Mapping[str, ByBuffer], constant: Mapping[str, ByBuffer]) -> Figure:
    figure = Figure(figsize=(9, 5), layout="constrained")
    panels = figure.subplots(2, len(PRESETS), sharex=True, sharey="row")
    for (above, below), name in zip(panels.T, PRESETS, strict=True):
        rate = read(name)["links"][PRESETS[name]]["rate"]
        above.set_title(f"{name}, {rate}", fontsize="small", loc="left")
        _draw_utilization(above, varying[name], constant[name])
        _draw_delays(below, varying[name])
        _prepare_buffers(below)
    panels[0][0].set_ylabel("utilization (%)")
    panels[0][0].set_ylim(0, 103)
    panels[0][-1].legend(loc="lower right", fontsize="small")
    panels[1][0].set_ylabel("queueing delay (ms)")
    panels[1][0].set_yscale("log")
    panels[1][0].yaxis.set_major_formatter("{x:g}")
    panels[1][-1].legend(loc="upper left", fontsize="small")
    figure.supxlabel("buffer (bdp of the mean rate)", fontsize="medium")
    return figure


def _draw_utilization(panel: Axes, varying: ByBuffer, constant: ByBuffer) -> None:
    steady = [100 * one.utilization for one in constant.values()]
    panel.plot(list(constant), steady, color="0.6", linestyle="--", label="constant")
    used = [100 * one.utilization for one in varying.values()]
    panel.plot(list(varying), used, color=style.COLOURS[1], marker="o", ms=4, label="varying")


def _draw_delays(panel: Axes, varying: ByBuffer) -> None:
    buffers, results = list(varying), list(varying.values())
    full_ms = [1e3 * one.full_s for one in results]
    label = "a full buffer,\nat the mean rate"
    panel.plot(buffers, full_ms, color="0.6", linestyle="--", label=label)
    p99_ms = [1e3 * one.delay_s_p99 for one in results]
    panel.plot(buffers, p99_ms, color=style.COLOURS[2], marker="s", ms=4, label="p99")
    p95_ms = [1e3 * one.delay_s_p95 for one in results]
    panel.plot(buffers, p95_ms, color=style.COLOURS[1], marker="o", ms=4, label="p95")


def _prepare_buffers(panel: Axes) -> None:
    panel.set_xscale("log", base=2)
    panel.set_xticks(BUFFERS_BDP, [_fraction(bdp) for bdp in BUFFERS_BDP])


def _fraction(bdp: float) -> str:
    return {0.25: "¼", 0.5: "½"}.get(bdp, f"{bdp:g}")


def table_cell(one: Measured) -> str:
    """Utilization, and the delays p95 and p99."""
    p95, p99 = (1e3 * delay_s for delay_s in (one.delay_s_p95, one.delay_s_p99))
    return f"{100 * one.utilization:.0f} %, {p95:.0f} / {p99:.0f} ms"


def _write_table(table: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    renewed, found = re.subn(
        r"(<!-- varying links -->\n\n)(?:\|.*\n)*", lambda head: head[1] + table, text
    )
    if found != 1:
        raise ValueError(f"{PAGE}: needs the marker <!-- varying links --> once")
    PAGE.write_text(renewed, encoding="utf-8")


if __name__ == "__main__":
    main()
