"""Writes the page of the atlas on switches from its data, docs/atlas/switch.csv, and its picture.

python -m tailroom_atlas.switch_page [--docs DIR]
"""

import argparse
import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom.plots.log_axis import label_logarithmic
from tailroom_atlas.page import DOTS_PER_INCH
from tailroom_atlas.switches import (
    ANSWER_BYTES,
    CONTROLS,
    FAN_INS,
    HOSTS,
    MEASURED_S,
    MEMORIES_MB,
    QUERY_LOAD,
    SEEDS,
    WEB_LOAD,
    Leaf,
)

DATA = "switch.csv"
PICTURE = "atlas_switch.png"
DRAWN = (100, 24)
"""Rate and fan-in of the picture."""

Row = dict[str, str]


def rows_of(rows: Sequence[Row], leaf: Leaf) -> list[Row]:
    """The rows of a switch and its traffic."""
    wanted = str(leaf.rate_gbps), str(leaf.fan_in), leaf.control
    return [row for row in rows if (row["rate_gbps"], row["fan_in"], row["control"]) == wanted]


def best(rows: Sequence[Row], memory_mb: int) -> Row:
    """The row of the alpha with which queries are fastest."""
    of_memory = [row for row in rows if row["memory_mb"] == str(memory_mb)]
    return min(of_memory, key=lambda row: float(row["slowdown_p99"]))


def page(rows: Sequence[Row], engine: str) -> Iterator[str]:
    """The lines of the page."""
    yield from (
        "# Atlas: how much memory for the ports of a switch?",
        "",
        f"The {HOSTS} ports of a switch share a memory. Each host sends and receives web search flows, at "
        f"{WEB_LOAD:.0%} of its link, and queries, at {QUERY_LOAD:.0%}: {FAN_INS[0]} or {FAN_INS[1]} hosts "
        f"answer with {ANSWER_BYTES // 1000} kB each. The table has the time within which 99 of 100 "
        "queries are answered, over the time in which the client's port alone would pass the answers, with "
        "the alpha of 0.5, 2 and 8 that is best, in brackets: how much of the free memory a port may hold "
        "([dynamic thresholds](../guide/shared-memory.md)). Under CUBIC and DCTCP, packets without memory are "
        "dropped, and a host waits at least 5 ms for its timer. DCQCN has [pauses](../guide/lossless.md), "
        "and alpha is that of the ingress.",
        "",
        f"![99th percentile of the slowdown of queries over the memory, a line per alpha, at "
        f"{DRAWN[0]} Gbit/s and {DRAWN[1]} answers.](../images/{PICTURE})",
        "",
        "| ports | answers | control | " + " | ".join(f"{memory} MB" for memory in MEMORIES_MB) + " |",
        "| --- | --- | --- |" + " --- |" * len(MEMORIES_MB),
    )
    for rate in MEASURED_S:
        for fan_in in FAN_INS:
            for control, words in CONTROLS.items():
                of_leaf = rows_of(rows, Leaf(rate, fan_in, control))
                cells = [best(of_leaf, memory) for memory in MEMORIES_MB]
                texts = [f"{float(cell['slowdown_p99']):.3g} ({cell['alpha']})" for cell in cells]
                yield f"| {rate} Gbit/s | {fan_in} | {words} | {' | '.join(texts)} |"
    yield from (
        "",
        f"Means of {SEEDS} runs each with tailroom {engine}; [{DATA}]({DATA}) has every alpha, and the loss "
        "of the queries. `python -m tailroom_atlas.switches --store DIR` repeats them.",
    )


def draw(rows: Sequence[Row]) -> Figure:
    """A panel per control, a line per alpha."""
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    panels = figure.subplots(1, len(CONTROLS), sharey=True)
    for axes, (control, words) in zip(panels, CONTROLS.items(), strict=True):
        of_leaf = rows_of(rows, Leaf(*DRAWN, control))
        alphas = dict.fromkeys(row["alpha"] for row in of_leaf)
        for alpha, line in zip(alphas, style.marked_line_styles(), strict=False):
            points = [row for row in of_leaf if row["alpha"] == alpha]
            memories, slowdowns = (
                [float(row[key]) for row in points] for key in ("memory_mb", "slowdown_p99")
            )
            axes.plot(memories, slowdowns, label=f"alpha {float(alpha):g}", **line)
        axes.set(title=words, xlabel="shared memory (MB)", xscale="log", yscale="log")
        axes.set_xticks(MEMORIES_MB, [str(memory) for memory in MEMORIES_MB])
        axes.minorticks_off()
        axes.grid(visible=True, which="major", color="0.92")
    label_logarithmic(panels[0].yaxis)
    panels[0].set_ylabel("slowdown of queries, p99")
    panels[-1].legend()
    return figure


def write(docs: Path, engine: str) -> None:
    """Writes the page and its picture from the data next to the page."""
    with (docs / "atlas" / DATA).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    text = "\n".join(page(rows, engine)) + "\n"
    (docs / "atlas" / "switch.md").write_text(text, encoding="utf-8")
    draw(rows).savefig(docs / "images" / PICTURE, dpi=DOTS_PER_INCH, metadata={"Software": None})
