"""Draws the Linux kernel's TCP compared with tailroom's, from the recorded experiments.

python -m tests.validation.kernel_pictures

Reads validation/kernel/recorded and writes docs/images/kernel_*.png.
"""

from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tailroom.plots import style
from tests.validation.kernel import COLUMNS, RECORDED, compare, load, simulate
from tests.validation.kernel_names import order, words

IMAGES = Path(__file__).parents[2] / "docs" / "images"
DOTS_PER_INCH = 110
ALONE = {
    "Reno": "alone-reno-50-mbit-100-packets",
    "CUBIC": "alone-cubic-50-mbit-100-packets",
}
SHOWN_S = 16.0
"""Time that the picture of windows shows, from the start of the measured window."""
FARTHEST = 4.0
"""Differences beyond this, in units of the goal, are drawn here."""
SIDES = {"Linux": style.COLOURS[0], "tailroom": style.COLOURS[2]}


def main() -> None:
    """Writes both pictures."""
    for name, figure in (("windows", _windows()), ("agreement", _agreement())):
        path = IMAGES / f"kernel_{name}.png"
        figure.savefig(path, dpi=DOTS_PER_INCH, metadata={"Software": None})
        print(f"wrote {path.relative_to(IMAGES.parents[1])}")


def _windows() -> Figure:
    """Window and queue of one flow, of the kernel and of the simulator, one below the other."""
    figure = Figure(figsize=(9, 5), layout="constrained")
    panels = figure.subplots(2, len(ALONE), sharex=True, sharey="row")
    for column, (title, name) in enumerate(ALONE.items()):
        recorded = load(RECORDED / f"{name}.json.xz")
        run = next(run for run in recorded["runs"] if not run["invalid"])
        windows, queue = panels[0][column], panels[1][column]
        windows.set_title(title, fontsize="medium")
        _draw_kernel(windows, queue, run)
        _draw_tailroom(windows, queue, recorded["scenario"])
        queue.set_xlabel("time since a loss (s)")
    panels[0][0].set_ylabel("window (packets)")
    panels[1][0].set_ylabel("queue (packets)")
    panels[0][0].legend(loc="lower right", fontsize="small")
    return figure


def _draw_kernel(windows: Axes, queue: Axes, run: dict[str, Any]) -> None:
    samples, direction = run["flows"][0]["samples"], run["directions"][0]
    origin = _first_loss(direction["drop_times_s"], run["measured_from_s"])
    line: dict[str, Any] = {"color": SIDES["Linux"], "linewidth": 1.3, "label": "Linux"}
    times = [time - origin for time in samples["time_s"]]
    windows.plot(times, samples["cwnd_packets"], **line)
    cycles = zip(times, samples["cwnd_packets"], strict=True)
    windows.set_ylim(0, 1.1 * max(window for time, window in cycles if time > 0))
    interval = run["queue_sample_interval_s"]
    waiting = direction["queue_packets"]
    queue.plot([at * interval - origin for at in range(len(waiting))], waiting, **line)
    windows.set_xlim(0, SHOWN_S)


def _draw_tailroom(windows: Axes, queue: Axes, scenario: str) -> None:
    result = simulate(scenario, 1, {"series.interval": "10 ms"})
    flow = result.table("flow_series").to_pydict()
    link = result.table("link_series").to_pydict()
    times = link["time_s"]
    losses = [time for time, drops in zip(times, link["drops_packets"], strict=True) if drops > 0]
    origin = _first_loss(losses, result.summary["measured_from_s"])
    line: dict[str, Any] = {
        "color": SIDES["tailroom"],
        "linewidth": 1.3,
        "linestyle": "--",
        "label": "tailroom",
    }
    windows.plot([time - origin for time in flow["time_s"]], flow["cwnd_packets"], **line)
    queue.plot([time - origin for time in times], link["queue_packets"], **line)


def _first_loss(times_s: list[float], measured_from_s: float) -> float:
    return next(time for time in times_s if time >= measured_from_s)


def _agreement() -> Figure:
    """How far every statistic is from the kernel's, in units of its goal."""
    of_words = {words(path.name.removesuffix(".json.xz")): path for path in RECORDED.glob("*.xz")}
    names = sorted(of_words, key=order)
    figure = Figure(figsize=(9, 0.3 + 0.2 * len(names)), layout="constrained")
    panel = figure.subplots()
    points: dict[str, list[tuple[float, int]]] = {statistic: [] for statistic in COLUMNS}
    for at, name in enumerate(names):
        for comparison in compare(load(of_words[name]), {}):
            statistic = next(one for one in COLUMNS if comparison.what.startswith(one))
            points[statistic].append((min(max(comparison.ratio, -FARTHEST), FARTHEST), at))
    for number, (statistic, found) in enumerate(points.items()):
        colour = style.COLOURS[number % len(style.COLOURS)]
        shape = style.MARKERS[number % len(style.MARKERS)]
        panel.plot(*zip(*found, strict=True), shape, color=colour, markersize=6, label=statistic)
    panel.axvspan(-1, 1, color="0.93", zorder=0)
    panel.axvline(0, **style.LIMIT_LINE)
    panel.set_yticks(range(len(names)), names, fontsize="small")
    panel.set_ylim(len(names) - 0.5, -0.5)
    panel.set_xlabel("tailroom minus Linux, in units of the goal (shaded: met)")
    style.legend_at_right(panel)
    return figure


if __name__ == "__main__":
    main()
