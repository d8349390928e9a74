"""Buffers that keep a link busy on a hardware switch and in simulation.

docs/validation/tofino.md describes the experiment and the reason of each key.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from math import ceil, nan
from typing import TYPE_CHECKING, Any, cast

from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom.reproduction import claim
from tailroom.reproduction.claim import Check, Claim, Judgement
from tailroom.reproduction.form import Form
from tailroom.reproduction.paper import Part, Study
from tailroom.reproduction.part_results import PartResults, PointResults
from tailroom.scenario.types import Scenario
from tailroom_papers import reference
from tailroom_papers.today.drawing import LABELS, LOOKS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COUNT = "flows.hosts.count"
LIMIT = "links.switch.queue.limit"
CELLS_PER_PACKET = 9000 / 80
EMPTY_READING = 2
"""Reading of the switch at an empty queue, in packets."""

MEASURED = ("reno", "scalable")
"""Controls that ran on the switch."""
FORETOLD = ("cubic", "bbr3")
"""Controls that ran only in simulation, on the same network."""
RANGES = {"reno": (17, 201), "scalable": (17, 70), "cubic": (26, 140), "bbr3": (26, 140)}
"""Buffers in packets between which the quick form looks for the smallest sufficient one."""
GOAL = 10 / 14
"""Cells within one step of the grid, as for docs/validation/tofino.md."""


@cache
def rows() -> dict[tuple[str, int], dict[int, float]]:
    """Of each control and number of flows: the 1st percentile of the queue, by buffer in cells."""
    by_cell: dict[tuple[str, int], dict[int, float]] = {}
    for row in reference.tofino().to_pylist():
        cell = (row["algorithm"], row["num_flows"])
        by_cell.setdefault(cell, {})[row["max_queue_depth_cells"]] = row["depth_p01"]
    return by_cell


@cache
def grid() -> list[int]:
    """The switch's buffers, in memory cells of 80 bytes."""
    return sorted({buffer for buffers in rows().values() for buffer in buffers})


def limit(cells: int) -> str:
    """Ours of a buffer: a packet is dropped when the reading reaches it."""
    return f"{max(1, ceil(cells / CELLS_PER_PACKET) - EMPTY_READING)} packets"


def studies(form: Form) -> Sequence[Study]:
    """A study per control."""
    flows = form.of((1,), (1, 16), (1, 2, 4, 8, 16, 32, 64))
    return [
        Study(
            control,
            _scenario(control),
            {COUNT: flows, LIMIT: _limits(control, form)},
            seeds=form.of(2, 3, 5),
        )
        for control in (*MEASURED, *FORETOLD)
    ]


def _limits(control: str, form: Form) -> list[str]:
    low, high = RANGES[control] if form is not Form.FULL else (0, 201)
    cells = [cell for cell in grid() if low <= cell / CELLS_PER_PACKET <= high]
    return [limit(cell) for cell in style.evenly_spread(cells, form.of(3, 18, 18))]


def _scenario(control: str) -> Scenario:
    congestion: dict[str, Any] = {"kind": control}
    if control == "scalable":
        congestion["variant"] = "linux"
    hosts = {
        "path": ["switch"],
        "congestion": congestion,
        "send_jitter": "none",
        "packet_size": "9000 B",
        "header_size": "52 B",
        "rtt": "1.2 ms",
        "access_rate": "20 Gbit/s",
        "start": {"uniform": ["0 s", "100 ms"]},
        "prr": True,
        "delayed_ack": True,
        "send_burst": 7,
        "ack_aggregation": "144 us",
    }
    # The switch drops at departures; here a full queue drops its oldest packet.
    queue = {"kind": "drop_head", "limit": "1 bdp"}
    switch = {"rate": "10 Gbit/s", "delay": "100 us", "queue": queue}
    table = {
        "title": f"{LABELS[control]} through a switch",
        "duration": "2 s",
        "measure_from": "800 ms",
        "links": {"switch": switch},
        "flows": {"hosts": hosts},
    }
    return cast(Scenario, table)


def first_percentile(point: PointResults) -> float:
    """Packets that an arriving one finds waiting, 1st percentile, mean over the runs."""
    return point.mean("queue_seen_packets_p01")


def smallest(points: Sequence[PointResults]) -> float | None:
    """The smallest buffer at which somebody always waits, as the switch counts it.

    `None` if none of them suffices.
    """
    cells = {limit(cell): cell for cell in grid()}
    enough = [
        cells[str(point.settings[LIMIT])] / CELLS_PER_PACKET
        for point in points
        if first_percentile(point) > 0
    ]
    return min(enough, default=None)


def smallest_of_switch(buffers: Mapping[int, float]) -> float:
    """The same of the switch's rows."""
    return (
        min(cells for cells, depth in buffers.items() if depth > EMPTY_READING) / CELLS_PER_PACKET
    )


def draw(results: PartResults) -> Figure:
    """The smallest sufficient buffers, and the queue over all buffers for few and many flows."""
    figure = Figure(figsize=(11.5, 4.2), layout="constrained")
    left, *others = figure.subplots(1, 3)
    _draw_smallest(left, results)
    for panel, control in zip(others, MEASURED, strict=True):
        _draw_queue(panel, results, control)
    style.title(
        figure,
        "A link of 10 Gbit/s kept busy: Tofino switch (Spang, Arslan, McKeown 2021) and "
        "simulation; RTT 1.2 ms, packets of 9000 B, a bandwidth-delay product of 166 packets",
    )
    return figure


def _draw_smallest(panel: "Axes", results: PartResults) -> None:
    switch = rows()
    flows = sorted({count for _, count in switch})
    for control in (*MEASURED, *FORETOLD):
        look = LOOKS[control]
        study = results.study(control)
        counts = sorted({point.settings[COUNT] for point in study.points})
        ours = [smallest(study.where({COUNT: count}).points) or nan for count in counts]
        panel.plot(counts, ours, label=f"{LABELS[control]}, simulation", **look)
        if control in MEASURED:
            theirs = [smallest_of_switch(switch[control, count]) for count in flows]
            solid = {**look, "linestyle": "none", "markersize": 8, "markerfacecolor": "0.75"}
            panel.plot(flows, theirs, zorder=1.8, label=f"{LABELS[control]}, switch", **solid)
    style.scale_over(panel, flows)
    panel.set_ylim(bottom=0)
    panel.set_xlabel("flows")
    panel.set_ylabel("smallest sufficient buffer (packets)")
    panel.legend(fontsize="x-small", frameon=False)
    panel.grid(visible=True, color="0.92")


def _draw_queue(panel: "Axes", results: PartResults, control: str) -> None:
    cells = {limit(cell): cell for cell in grid()}
    counts = sorted({point.settings[COUNT] for point in results.study(control).points})
    shown = (counts[0], counts[-1]) if len(counts) > 1 else (counts[0],)
    for count, look in zip(shown, style.marked_line_styles(), strict=False):
        points = results.study(control).where({COUNT: count}).points
        over = [cells[str(point.settings[LIMIT])] / CELLS_PER_PACKET for point in points]
        ours = [EMPTY_READING + first_percentile(point) for point in points]
        name = f"{count} flow{'s' if count > 1 else ''}"
        panel.plot(over, ours, label=f"{name}, simulation", **look)
        theirs = rows()[control, count]
        under = [cell for cell in sorted(theirs) if cell / CELLS_PER_PACKET <= max(over)]
        solid = {**look, "linestyle": "none", "markersize": 8, "markerfacecolor": "0.75"}
        panel.plot(
            [cell / CELLS_PER_PACKET for cell in under],
            [theirs[cell] for cell in under],
            zorder=1.8,
            label=f"{name}, switch",
            **solid,
        )
    panel.set_title(LABELS[control], fontsize="medium")
    panel.set_xlabel("buffer (packets)")
    panel.set_ylabel("1st percentile of the queue (packets)")
    panel.legend(fontsize="x-small", frameon=False)
    panel.grid(visible=True, color="0.92")


def judge_cells(results: PartResults) -> Judgement:
    """Judges how many smallest buffers equal the switch's, or a neighbour on the grid."""
    sizes = [cell / CELLS_PER_PACKET for cell in grid()]
    checks, apart = [], []
    for control in MEASURED:
        within = []
        counts = sorted({point.settings[COUNT] for point in results.study(control).points})
        for count in counts:
            ours = smallest(results.study(control).where({COUNT: count}).points)
            theirs = smallest_of_switch(rows()[control, count])
            steps = None if ours is None else sizes.index(ours) - sizes.index(theirs)
            within.append(steps is not None and abs(steps) <= 1)
            if not within[-1]:
                words = "none suffices" if steps is None else f"{steps:+d}"
                apart.append(f"{LABELS[control]} with {count} flows ({words})")
        share = sum(within) / len(within)
        what = f"{LABELS[control]}, cells within one step ({sum(within)} of {len(within)})"
        stated = f"most (taken as {100 * GOAL:.0f} % or more)"
        checks.append(claim.is_true(what, stated, share >= GOAL, share, percent=True))
    others = f"; further apart: {', '.join(apart)}" if apart else ""
    return Judgement(tuple(checks), f"Steps of the switch's grid of buffers{others}.")


def judge_flows(results: PartResults) -> Judgement:
    """The smallest buffer of many flows beside that of one."""
    checks: list[Check] = []
    for control in (*MEASURED, *FORETOLD):
        study = results.study(control)
        counts = sorted({point.settings[COUNT] for point in study.points})
        one, many = (smallest(study.where({COUNT: count}).points) for count in _ends(counts))
        less = None if one is None or many is None else many / one
        what = f"{LABELS[control]}, smallest buffer of {counts[-1]} flows over that of one"
        fewer = None if less is None or len(counts) < 2 else less < 1
        checks.append(claim.is_true(what, "less than 1", fewer, less))
    return Judgement(
        tuple(checks),
        "The verdict is that of the means of the runs, as on the switch. Reno and Scalable TCP "
        "ran on the switch; CUBIC and BBRv3 are simulated on the same network.",
    )


def _ends(counts: Sequence[int]) -> tuple[int, int]:
    return counts[0], counts[-1]


HARDWARE = Part(
    name="hardware",
    title="A hardware switch and simulation",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "switch",
            "The smallest buffer of the simulation is the switch's within a step of its grid",
            "Spang, Arslan and McKeown 2021, data of their Tofino switch",
            judge_cells,
        ),
        Claim(
            "more-flows",
            "More flows need a smaller buffer",
            "Appenzeller, Keslassy and McKeown 2004; on the switch, Spang et al. 2021",
            judge_flows,
        ),
    ),
    note=(
        "A buffer suffices if the 1st percentile of the queue that packets see is above the "
        "reading of an empty queue, 2 packets. Each run lasts a thousand round trips as on the "
        "switch. The amount of jitter (ACKs at multiples of 144 us) is the only parameter that "
        "was fitted; the others are known from the experiment. CUBIC and BBRv3 did not run on "
        "the switch, so their lines are predictions."
    ),
)
