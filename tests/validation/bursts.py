"""The model of bursts over a background compared with simulation, and two simpler ones.

One flow over a Poisson background, as in scenarios/auge-roberts-2006/fifo.toml but for the number
of flows.

    python -m tests.validation.bursts [--write] [--picture FILE]
"""

import statistics
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from scipy.optimize import brentq
from scipy.stats import poisson

import tailroom as tr
from tailroom.models import Bottleneck, Requirement
from tailroom.models.bursts import bursts_over_background as bursts
from tailroom.models.sawtooth import residual_sawtooth
from tailroom.models.window_laws import law_of
from tailroom_papers.framework import below
from tests.validation import frame
from tests.validation.frame import Claim, Item, Table, Validation

CONTROLS = ("reno", "highspeed", "cubic")
LOADS = (0.3, 0.5, 0.7, 0.9)
BUFFERS = (10, 20, 50, 100, 200, 500, 1000)
SEEDS = (1, 2)
GOAL = 0.05


@dataclass(frozen=True)
class Link:
    """Where the flow and its background meet."""

    rate_mbps: int = 50
    rtt: str = "100 ms"
    access: str = "1 Gbit/s"
    packet_bytes: int = 1000


OTHER_LINKS = (Link(20, "80 ms", "100 Mbit/s"), Link(200, "30.05 ms", "10 Gbit/s", 1500))
"""Nobody looked at these while the model was built."""
OTHER_LOADS = (0.4, 0.8)
OTHER_BUFFERS = (15, 60, 250)


@dataclass(frozen=True)
class Cell:
    """A point of the comparison."""

    control: str
    load: float
    buffer: int
    """Packets, the one being sent among them."""
    link: Link = Link()

    def toml(self) -> str:
        """The scenario."""
        return f"""
            duration = "650 s"
            measure_from = "50 s"
            [defaults]
            host = "plain"
            [links.bottleneck]
            rate = "{self.link.rate_mbps} Mbit/s"
            delay = "10 ms"
            queue = {{ kind = "drop_tail", limit = "{self.buffer - 1} packets" }}
            [flows.background]
            path = ["bottleneck"]
            packet_size = "{self.link.packet_bytes} B"
            source = {{ kind = "poisson", rate = "{self.load * self.link.rate_mbps:g} Mbit/s" }}
            [flows.flow]
            path = ["bottleneck"]
            congestion = {{ kind = "{self.control}" }}
            send_jitter = "none"
            packet_size = "{self.link.packet_bytes} B"
            rtt = "{self.link.rtt}"
            access_rate = "{self.link.access}"
            recovery = "sack"
            """


class Row(NamedTuple):
    """Simulated, and predicted: the flow's part of the residual, and the link's utilization."""

    share: float
    predicted_share: float
    sawtooth_share: float
    loss_share: float
    utilization: float
    predicted_utilization: float
    seconds: float
    predicted_seconds: float


def compare(cell: Cell) -> Row:
    """One cell, mean over seeds."""
    link = frame.link_of(cell.toml())
    simulated = [measure(cell, run) for run in frame.simulate(cell.toml(), SEEDS)]
    utilization, share, seconds = map(statistics.fmean, zip(*simulated, strict=True))
    found = bursts.at_limit(link, link.limit_packets)
    smooth = residual_sawtooth.predict(link, Requirement()).utilization or 0.0
    densities = (found.flow_density, smooth - cell.load, by_loss_alone(link, cell.load))
    predicted, sawtooth, loss = (density / (1 - cell.load) for density in densities)
    utilizations = (utilization, found.utilization)
    return Row(share, predicted, sawtooth, loss, *utilizations, seconds, found.seconds)


def measure(cell: Cell, result: tr.Result) -> tuple[float, float, float]:
    """Utilization, the flow's part of the residual capacity, and seconds between losses."""
    link = result.links["bottleneck"]
    background = result.groups["background"]["links"]["bottleneck"]
    carried = background["arrivals_packets"] - background["drops_packets"]
    span = result.summary["measured_to_s"] - result.summary["measured_from_s"]
    others = carried * 8 * cell.link.packet_bytes / span / link["capacity_bps"]
    flow = next(one for one in result.flows if one["group"] == "flow")
    share = (link["utilization"] - others) / (1 - cell.load)
    return link["utilization"], share, span / max(1, flow["congestion_events"])


def by_loss_alone(link: Bottleneck, load: float) -> float:
    """What the response function gives a flow, packets a slot, at the loss of M/D/1/K."""
    flow, left = link.classes[0], 1 - load
    law, slots = law_of(flow), flow.rtt_s * link.capacity_pps
    places = round(link.limit_packets)

    def excess(density: float) -> float:
        loss = max(1e-14, md1k_loss(load + density, places + 1))
        return float(law.window(loss, flow.rtt_s)) / slots - density

    full = left * (1 - 1e-9)
    return full if excess(full) > 0 else float(brentq(excess, 1e-9, full, xtol=1e-6))


def md1k_loss(load: float, places: int) -> float:
    """Loss of M/D/1/K by the cuts between the states that departures leave behind."""
    beyond = poisson.sf(np.arange(places + 1), load)
    states = np.zeros(places)
    states[0] = 1.0
    for n in range(places - 1):
        upward = states[0] * beyond[n] + states[1 : n + 1] @ beyond[n:0:-1]
        states[n + 1] = upward * np.exp(load)
    return float(1 - 1 / (states[0] / states.sum() + load))


def cells() -> Iterator[Cell]:
    """The grid: 84 cells."""
    for control in CONTROLS:
        for load in LOADS:
            for buffer in BUFFERS:
                yield Cell(control, load, buffer)


def other_cells() -> Iterator[Cell]:
    """Two other links: 36 cells."""
    for control in CONTROLS:
        for link in OTHER_LINKS:
            for load in OTHER_LOADS:
                for buffer in OTHER_BUFFERS:
                    yield Cell(control, load, buffer, link)


HEADINGS = (
    *("control", "Mbit/s", "load", "buffer", "share, simulated", "model", "sawtooth", "M/D/1"),
    *("utilization, simulated", "model", "s from loss to loss, simulated", "model"),
)
ERRORS: dict[str, Callable[[Row], float]] = {
    "this model": lambda row: row.predicted_share - row.share,
    "response function at the loss of M/D/1/K": lambda row: row.loss_share - row.share,
    "sawtooth over the residual capacity": lambda row: row.sawtooth_share - row.share,
    "this model, utilization of the link": lambda row: row.predicted_utilization - row.utilization,
}
NAMES = {"reno": "Reno", "highspeed": "HighSpeed", "cubic": "CUBIC"}
SHOWN = (("reno", 0.5), ("reno", 0.9), ("highspeed", 0.5), ("cubic", 0.5))
"""Rows of the grid that the page has."""


def mean_error(rows: Iterable[Row], error: Callable[[Row], float]) -> float:
    """Mean without signs."""
    return statistics.fmean(abs(error(row)) for row in rows)


def report(table: dict[Cell, Row]) -> Iterator[Item]:
    """The cells, the largest error, and whether the model has the smallest mean error."""
    yield Table("", HEADINGS, [_cells(cell, row) for cell, row in table.items()])
    model, *others = (mean_error(table.values(), error) for error in ERRORS.values())
    worst = max(table, key=lambda cell: abs(table[cell].predicted_share - table[cell].share))
    gap = table[worst].predicted_share - table[worst].share
    yield (
        f"largest error of the model: {gap:+.3f}, {worst.control}, load {worst.load}, "
        f"{worst.buffer} packets"
    )
    yield Claim(
        f"error at most {GOAL}, below both simpler models",
        [
            below("error of the model", model, GOAL),
            *(
                below(f"compared with {name}", model, error)
                for name, error in zip([*ERRORS][1:3], others, strict=False)
            ),
        ],
    )


def page_tables(grid: dict[Cell, Row], others: dict[Cell, Row]) -> Iterator[Table]:
    """The tables of the page."""

    def share(row: Row) -> str:
        return f"{row.share:.2f} / {row.predicted_share:.2f}"

    summary = [
        (name, *(f"{mean_error(rows.values(), error):.3f}" for rows in (grid, others)))
        for name, error in ERRORS.items()
    ]
    heads = ("mean absolute error of the flow's share of the residual capacity",)
    yield Table("summary", (*heads, f"{len(grid)} cells", f"{len(others)} other cells"), summary)
    shares = [
        (
            NAMES[control],
            load,
            *(share(grid[Cell(control, load, buffer)]) for buffer in BUFFERS[:-1]),
        )
        for control, load in SHOWN
    ]
    yield Table("shares", ("control", "load", *map(str, BUFFERS[:-1])), shares)
    by_buffer = [[row for cell, row in grid.items() if cell.buffer == buffer] for buffer in BUFFERS]
    errors = [
        (name, *(f"{mean_error(rows, error):.3f}" for rows in by_buffer))
        for name, error in [*ERRORS.items()][:3]
    ]
    yield Table("errors", ("mean absolute error at a buffer of", *map(str, BUFFERS)), errors)
    rows = [
        (
            NAMES[control],
            load,
            *(
                share(others[Cell(control, load, buffer, link)])
                for link in OTHER_LINKS
                for buffer in OTHER_BUFFERS
            ),
        )
        for control in CONTROLS
        for load in OTHER_LOADS
    ]
    columns = (
        f"{link.rate_mbps} Mbit/s: {buffer}" for link in OTHER_LINKS for buffer in OTHER_BUFFERS
    )
    yield Table("other links", ("control", "load", *columns), rows)


def _cells(cell: Cell, row: Row) -> list[object]:
    formats = (*[".3f"] * 4, *[".4f"] * 2, *[".3g"] * 2)
    numbers = [format(value, form) for value, form in zip(row, formats, strict=True)]
    return [cell.control, cell.link.rate_mbps, cell.load, cell.buffer, *numbers]


def draw(table: dict[Cell, Row], file: Path) -> None:
    """The flow's part of the residual capacity over the buffer, a panel for each load."""
    colours = zip(("#0072B2", "#D55E00", "#009E73"), ("-", "--", "-."), "os^", strict=True)
    styles = dict(zip(CONTROLS, colours, strict=True))
    figure = Figure(figsize=(9, 6.5), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    for axes, load in zip(panels.flat, LOADS, strict=True):
        for control, (colour, dashes, marker) in styles.items():
            rows = [table[Cell(control, load, buffer)] for buffer in BUFFERS]
            shares = [row.predicted_share for row in rows]
            axes.plot(BUFFERS, shares, dashes, color=colour, label=f"{control}, model")
            seen = {"marker": marker, "mfc": "none", "label": f"{control}, simulation"}
            axes.plot(BUFFERS, [row.share for row in rows], ls="none", color=colour, **seen)
        rows = [table[Cell("reno", load, buffer)] for buffer in BUFFERS]
        others = (("sawtooth_share", "--", "reno, sawtooth"), ("loss_share", ":", "reno, M/D/1"))
        for name, dashes, label in others:
            values = [getattr(row, name) for row in rows]
            axes.plot(BUFFERS, values, dashes, color="0.6", linewidth=0.9, label=label)
        axes.set(xscale="log", ylim=(0, 1.09), title=f"background {load:g} of the link")
        axes.grid(color="0.9")
    for axes in panels[1]:
        axes.set_xlabel("buffer (packets)")
    for axes in panels[:, 0]:
        axes.set_ylabel("flow over residual capacity")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    figure.savefig(file, dpi=110)


def items(picture: Path | None) -> Iterator[Item]:
    """Both sets of cells."""
    found: list[dict[Cell, Row]] = []
    for chosen in (list(cells()), list(other_cells())):
        with ThreadPoolExecutor(2) as pool:
            found.append(dict(zip(chosen, pool.map(compare, chosen), strict=True)))
        yield from report(found[-1])
    yield from page_tables(*found)
    if picture:
        draw(found[0], picture)


main = Validation(
    items,
    "models/bursts-over-background.md",
    {"--picture": {"type": Path, "help": "draws the comparison into this file"}},
)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
