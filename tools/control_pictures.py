"""Draws the windows of congestion controls under four scripts, from the numbers that tests compare.

python tools/control_pictures.py

Reads crates/tailroom-engine/tests/data/trajectories and writes docs/images/controls_*.png.
"""

import csv
from pathlib import Path
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tailroom.plots import style

REPOSITORY = Path(__file__).parents[1]
DATA = REPOSITORY / "crates/tailroom-engine/tests/data/trajectories"
IMAGES = REPOSITORY / "docs/images"

FULL_PATH = 100
MAX_WINDOW = 400
MOST_IN_A_PANEL = 4
DOTS_PER_INCH = 110

COMPARED = "reno"
"""Drawn in every panel, so that one can be held against the other."""

GROUPS = (
    ("one packet a round trip", (COMPARED, "aimd", "westwood", "fixed_window")),
    ("more in large windows", ("highspeed", "scalable")),
    ("more on long paths", ("fhstcp", "hybla")),
    ("by time, or by a search", ("cubic", "bic", "htcp")),
    ("loss first, delay second", ("illinois", "compound", "yeah")),
    ("delay first", ("vegas", "fast", "ledbat")),
    ("by the share of marks", ("dctcp", "prague")),
)
OTHERS = "models of the path and others"


class Script(NamedTuple):
    """What happens, for the title, and when, for the marks on the time axis."""

    name: str
    title: str
    losses_s: tuple[float, ...] = ()
    shaded_s: tuple[float, float] | None = None
    most_packets: float = 1.28 * MAX_WINDOW


SCRIPTS = (
    Script("one_loss", "One packet is lost after 5 s", (5.0,)),
    Script("periodic_loss", "A packet is lost every 5 s", (5.0, 10.0, 15.0, 20.0, 25.0)),
    Script(
        "delay_ramp",
        "The path gets longer from 5 s on, by 100 ms from 15 to 20 s, and short again until 25 s",
        shaded_s=(5.0, 25.0),
    ),
    Script(
        "ecn_marks",
        "From 5 s on, packets that find more than 20 waiting are marked",
        shaded_s=(5.0, 30.0),
        most_packets=270.0,
    ),
)


def read(name: str) -> dict[str, list[float]]:
    """The columns of a script: time and a window a control."""
    with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    columns = zip(*rows[1:], strict=True)
    return {head: list(map(float, column)) for head, column in zip(rows[0], columns, strict=True)}


def groups(controls: list[str]) -> list[tuple[str, list[str]]]:
    """The panels: the groups above, and whatever control is in none of them."""
    named = [(title, [name for name in names if name in controls]) for title, names in GROUPS]
    others = [name for name in controls if not any(name in names for _, names in GROUPS)]
    parts = [others[at : at + MOST_IN_A_PANEL] for at in range(0, len(others), MOST_IN_A_PANEL)]
    return [
        (title, names) for title, names in [*named, *((OTHERS, part) for part in parts)] if names
    ]


def draw(script: Script) -> Figure:
    """Small multiples: a panel a group, with the same axes."""
    columns = read(script.name)
    time_s = columns.pop("time_s")
    panels = groups(list(columns))
    rows = -(-len(panels) // 2)
    figure = Figure(figsize=(9, 0.9 + 2.3 * rows), layout="constrained")
    grid = list(figure.subplots(rows, 2, squeeze=False).flat)
    figure.suptitle(script.title, fontsize="large")
    for panel, (title, names) in zip(grid, panels, strict=False):
        _prepare(panel, script, title)
        if COMPARED not in names:
            line = {"color": "0.6", "linewidth": 2.2}
            panel.plot(time_s, columns[COMPARED], label=COMPARED, **line)
        for name, line in zip(names, style.line_styles(), strict=False):
            panel.plot(time_s, columns[name], label=name, **line)
        panel.legend(
            loc="upper right", ncols=5, fontsize="x-small", framealpha=1.0, handlelength=2.4
        )
    for panel in grid[len(panels) :]:
        panel.set_axis_off()
    figure.supxlabel("time (s)", fontsize="medium")
    figure.supylabel("congestion window (packets)", fontsize="medium")
    return figure


def _prepare(panel: Axes, script: Script, title: str) -> None:
    panel.set_title(title, fontsize="small", loc="left")
    panel.set_xlim(0, 30)
    panel.set_ylim(0, script.most_packets)
    for level in (FULL_PATH, MAX_WINDOW):
        panel.axhline(level, color="0.75", linewidth=0.8, zorder=0)
    for loss_s in script.losses_s:
        panel.axvline(loss_s, color="0.5", linestyle=(0, (1, 2)), linewidth=0.9, zorder=0)
    if script.shaded_s is not None:
        panel.axvspan(*script.shaded_s, color="0.94", zorder=-1)


def main() -> None:
    """Writes one picture a script."""
    for script in SCRIPTS:
        path = IMAGES / f"controls_{script.name}.png"
        draw(script).savefig(path, dpi=DOTS_PER_INCH, metadata={"Software": None})
        print(f"wrote {path.relative_to(REPOSITORY)}")


if __name__ == "__main__":
    main()
