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

HOSTS = 32
ANSWER_BYTES = 64_000
QUERY_LOAD, WEB_LOAD = 0.1, 0.4
"""Shares of what the links to all hosts carry."""
SEEDS = 3
RATES_GBPS = (10, 25, 100, 400)
FAN_INS = (8, 24)
MEMORIES_MB = (4, 16, 64)
ALPHAS = (0.5, 2.0, 8.0)
CONTROLS = {"cubic": "CUBIC", "dctcp": "DCTCP", "dcqcn": "DCQCN, with pauses"}
DATA = "switch.csv"
PICTURE = "atlas_switch.png"
DRAWN = (100, 24)
"""Rate and fan-in of the picture."""

Row = dict[str, str]


def rows_of(rows: Sequence[Row], leaf: tuple[int, int, str]) -> list[Row]:
    """The rows of a rate in Gbit/s, a fan-in and a control."""
    wanted = tuple(map(str, leaf))
    return [row for row in rows if (row["rate_gbps"], row["fan_in"], row["control"]) == wanted]


def best(rows: Sequence[Row], memory_mb: int) -> str:
    """The smallest slowdown with a memory, and every alpha whose interval reaches that of it."""
    of_memory = [row for row in rows if row["memory_mb"] == str(memory_mb)]
    intervals = {
        row["alpha"]: (float(row["slowdown_p99"]), float(row["half_width"])) for row in of_memory
    }
    mean, half_width = min(intervals.values())
    best_row = next(row for row in of_memory if intervals[row["alpha"]] == (mean, half_width))
    mark = "≥ " if best_row["is_lower_bound"] == "1" else ""
    alphas = [
        f"{float(alpha):g}"
        for alpha, (other, its_half_width) in intervals.items()
        if other - its_half_width <= mean + half_width
    ]
    words = "any" if len(alphas) == len(intervals) else " or ".join(alphas)
    return f"{mark}{mean:.3g} ± {half_width:.3g} ({words})"


def page(rows: Sequence[Row]) -> Iterator[str]:
    """The lines of the page."""
    engines = ", ".join(dict.fromkeys(row["engine"] for row in rows))
    yield from (
        "# Atlas: how much memory for the ports of a switch?",
        "",
        f"The {HOSTS} ports of a switch share a memory. Each host sends and receives web search "
        f"flows, at {100 * WEB_LOAD:g} % of its link, and queries, at {100 * QUERY_LOAD:g} %: "
        f"{FAN_INS[0]} or {FAN_INS[1]} hosts answer with {ANSWER_BYTES // 1000} kB each. The table "
        "has the time within which 99 of 100 queries are answered, over the time in which the "
        "client's port alone would pass the answers, with its 95 % interval, and in brackets which "
        "alpha of 0.5, 2 and 8 gives it: how much of the free memory a port may hold "
        "([dynamic thresholds](../guide/shared-memory.md)). Several are named where their "
        "intervals meet. Under CUBIC and DCTCP, packets "
        "without memory are dropped, and a host waits at least 5 ms for its timer. DCQCN has "
        "[pauses](../guide/lossless.md), and alpha is that of the ingress. Queries that are not "
        "answered by the end of a run count with their age; after ≥, more than 1 % of them are "
        "not, so that the percentile may be longer.",
        "",
        f"![99th percentile of the slowdown of queries over the memory, a line per alpha, at "
        f"{DRAWN[0]} Gbit/s and {DRAWN[1]} answers.](../images/{PICTURE})",
        "",
        "| ports | answers | control | "
        + " | ".join(f"{memory} MB" for memory in MEMORIES_MB)
        + " |",
        "| --- | --- | --- |" + " --- |" * len(MEMORIES_MB),
    )
    for rate in RATES_GBPS:
        for fan_in in FAN_INS:
            for control, words in CONTROLS.items():
                of_leaf = rows_of(rows, (rate, fan_in, control))
                cells = [best(of_leaf, memory) for memory in MEMORIES_MB]
                yield f"| {rate} Gbit/s | {fan_in} | {words} | {' | '.join(cells)} |"
    yield from (
        "",
        f"Means of {SEEDS} runs each with tailroom {engines}; [{DATA}]({DATA}) has every alpha, "
        "and the loss of queries. `python -m tailroom_atlas.switches --store DIR` repeats them.",
    )


def draw(rows: Sequence[Row]) -> Figure:
    """A panel per control, a line per alpha."""
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    panels = figure.subplots(1, len(CONTROLS), sharey=True)
    for axes, (control, words) in zip(panels, CONTROLS.items(), strict=True):
        of_leaf = rows_of(rows, (*DRAWN, control))
        alphas = dict.fromkeys(row["alpha"] for row in of_leaf)
        for alpha, line in zip(alphas, style.marked_line_styles(), strict=False):
            points = [row for row in of_leaf if row["alpha"] == alpha]
            memories, slowdowns, half_widths = (
                [float(row[key]) for row in points]
                for key in ("memory_mb", "slowdown_p99", "half_width")
            )
            label = f"alpha {float(alpha):g}"
            axes.errorbar(memories, slowdowns, half_widths, label=label, capsize=2, **line)
        axes.set(title=words, xlabel="shared memory (MB)", xscale="log", yscale="log")
        axes.set_xticks(MEMORIES_MB, [str(memory) for memory in MEMORIES_MB])
        axes.minorticks_off()
        axes.grid(visible=True, which="major", color="0.92")
    label_logarithmic(panels[0].yaxis)
    panels[0].set_ylabel("slowdown of queries, p99")
    panels[-1].legend()
    return figure


def read(docs: Path) -> list[Row]:
    """The data: a row per switch, traffic, memory and alpha."""
    with (docs / "atlas" / DATA).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(docs: Path) -> None:
    """Writes the page and its picture from the data next to the page."""
    rows = read(docs)
    text = "\n".join(page(rows)) + "\n"
    (docs / "atlas" / "switch.md").write_text(text, encoding="utf-8")
    draw(rows).savefig(docs / "images" / PICTURE, dpi=DOTS_PER_INCH, metadata={"Software": None})


def main() -> None:
    """Writes the page and the picture anew."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="docs directory")
    write(parser.parse_args().docs)


if __name__ == "__main__":
    main()
