"""Draws the queue of a RED buffer, as a fluid and as simulated, on both sides of stability.

python tools/fluid_pictures.py

Writes docs/images/fluid_red.png.
"""

from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

import tailroom as tr
from tailroom.models import Requirement, fluid

REPOSITORY = Path(__file__).parents[1]
SCENARIO = REPOSITORY / "scenarios" / "red-fluid.toml"
IMAGE = REPOSITORY / "docs" / "images" / "fluid_red.png"
DOTS_PER_INCH = 110
SHOWN_S = (20.0, 100.0)

CASES: dict[str, dict[str, object]] = {
    "60 flows, the average remembers 27 s": {},
    "20 flows, the average remembers 2.7 s": {
        "flows.reno.count": 20,
        "links.bottleneck.queue.weight": 1e-4,
    },
}


def main() -> None:
    """Writes the picture."""
    figure = Figure(figsize=(9, 5.4), layout="constrained")
    panels = figure.subplots(len(CASES), sharex=True, sharey=True)
    for panel, (title, changes) in zip(panels, CASES.items(), strict=True):
        _draw(panel, title, changes)
    panels[0].legend(loc="upper right", ncols=2, fontsize="small", framealpha=1.0)
    panels[-1].set_xlabel("time (s)")
    panels[-1].set_xlim(*SHOWN_S)
    panels[-1].set_ylim(0, 450)
    figure.supylabel("packets that wait", fontsize="medium")
    figure.savefig(IMAGE, dpi=DOTS_PER_INCH, metadata={"Software": None})
    print(f"wrote {IMAGE.relative_to(REPOSITORY)}")


def _draw(panel: Axes, title: str, changes: dict[str, object]) -> None:
    link = tr.predict(SCENARIO, set=changes).link
    path = fluid.trajectory(link, SHOWN_S[1])
    said = fluid.predict(link, Requirement())
    packets: Any = tr.run(SCENARIO, set=changes, series_samples=1200)
    queue = packets.series("queue", link=link.name)
    panel.plot(queue["time_s"], queue["queue_packets"], color="0.65", lw=0.9, label="simulated")
    panel.plot(path.times_s, path.queue_packets, color="#0072B2", lw=1.6, label="fluid")
    margin = said.details["gain_margin_ratio"]
    panel.set_title(f"{title}: gain margin {margin:.2g}", fontsize="small", loc="left")


if __name__ == "__main__":
    main()
