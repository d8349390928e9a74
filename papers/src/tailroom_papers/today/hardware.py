"""Buffers that keep a link busy on a hardware switch and in simulation.

docs/validation/tofino.md describes the experiment and the reason of each key. The jitter of the
experiment is unknown: it is fitted on one half of the switch's cells (a control and a number of
flows), and the simulation is judged on the other half.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from math import ceil, nan
from typing import TYPE_CHECKING, Any, cast

from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom.scenario.types import Scenario
from tailroom_papers import reference
from tailroom_papers.framework import *
from tailroom_papers.today.bounds import BOUNDS
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
FEW_AND_MANY = (LOOKS["highspeed"], LOOKS["bbr1"])
"""Looks of one flow and of many, which are those of no control of this picture."""
FLOWS = (1, 2, 4, 8, 16, 32, 64)
"""Numbers of flows on the switch."""
AGGREGATION = "flows.hosts.ack_aggregation"
AMOUNTS_US = (36, 72, 144, 216)
"""Amounts of jitter: ACKs come at multiples of so many microseconds, the time that 5 to 30 packets
take. "About ten packets" is what the experimenters saw the queue move by."""


def is_for_fit(control: str, flows: int) -> bool:
    """Whether a cell of the switch's table is one of those to which the jitter is fitted.

    Every second cell, alternating between the controls, so that each number of flows is once
    fitted and once judged.
    """
    return FLOWS.index(flows) % 2 == MEASURED.index(control)


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
    flows = {
        MEASURED: form.of((1, 2), (1, 2, 16, 32), FLOWS),
        FORETOLD: form.of((1, 2), (1, 32), (1, 8, 64)),
    }
    amounts = form.of((72, 144), (36, 72, 144), AMOUNTS_US)
    return [
        Study(
            control,
            _scenario(control),
            {
                COUNT: counts,
                AGGREGATION: [f"{amount} us" for amount in amounts],
                LIMIT: _limits(control, form),
            },
            seeds=form.of(2, 2, 3),
        )
        for controls, counts in flows.items()
        for control in controls
    ]


def _limits(control: str, form: Form) -> list[str]:
    low, high = RANGES[control] if form is not Form.FULL else (0, 201)
    cells = [cell for cell in grid() if low <= cell / CELLS_PER_PACKET <= high]
    return [limit(cell) for cell in style.evenly_spread(cells, form.of(4, 18, 18))]


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
    }
    # The switch drops at departures; here a full queue drops its oldest packet.
    queue = {"kind": "drop_head", "limit": "1 bdp"}
    switch = {"rate": "10 Gbit/s", "delay": "100 us", "queue": queue}
    table = {
        "title": f"{LABELS[control]} through a switch",
        "duration": "2 s",
        "measure_from": "800 ms",
        "defaults": {"host": "plain"},
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


def counts_of(study: StudyResults) -> list[int]:
    """The numbers of flows of a study."""
    return sorted({int(str(point.settings[COUNT])) for point in study.points})


def steps_apart(results: PartResults, control: str, flows: int, amount: str) -> int | None:
    """Steps of the switch's grid from its smallest buffer to that of the simulation.

    `None` if no buffer suffices in simulation.
    """
    sizes = [cell / CELLS_PER_PACKET for cell in grid()]
    points = results.study(control).where({COUNT: flows, AGGREGATION: amount}).points
    ours = smallest(points)
    if ours is None:
        return None
    return sizes.index(ours) - sizes.index(smallest_of_switch(rows()[control, flows]))


def near(steps: int | None) -> bool:
    """Whether the simulation's smallest buffer is the switch's, or next to it on the grid."""
    return steps is not None and abs(steps) <= 1


def cells(results: PartResults, *, for_fit: bool) -> list[tuple[str, int]]:
    """The simulated cells of one half of the switch's table."""
    return [
        (control, flows)
        for control in MEASURED
        for flows in counts_of(results.study(control))
        if is_for_fit(control, flows) is for_fit
    ]


def amounts_of(results: PartResults) -> list[str]:
    """The simulated amounts of jitter, the smallest first."""
    points = results.study(MEASURED[0]).points
    return list(dict.fromkeys(str(point.settings[AGGREGATION]) for point in points))


def distance(results: PartResults, amount: str) -> int:
    """Steps between simulation and switch, summed over the cells of the fit."""
    steps = (steps_apart(results, *cell, amount) for cell in cells(results, for_fit=True))
    return sum(len(grid()) if step is None else abs(step) for step in steps)


def fitted(results: PartResults) -> str:
    """The amount of jitter with the least distance on the cells of the fit; the smaller of two."""
    return min(amounts_of(results), key=lambda amount: distance(results, amount))


def draw(results: PartResults) -> Figure:
    """The smallest sufficient buffers, and the queue over all buffers for few and many flows."""
    figure = Figure(figsize=(11.5, 5.0), layout="constrained")
    left, *others = figure.subplots(1, 3)
    _draw_smallest(left, results)
    for panel, control in zip(others, MEASURED, strict=True):
        _draw_queue(panel, results, control)
    style.title(
        figure,
        "A link of 10 Gbit/s kept busy: Tofino switch (Spang, Arslan, McKeown 2021) and "
        f"simulation with ACKs at multiples of {fitted(results)}",
    )
    handles = {
        handle.get_label(): handle
        for panel in (left, others[0])
        for handle in panel.get_legend_handles_labels()[0]
    }
    style.figure_legend(figure, list(handles.values()))
    return figure


def _draw_smallest(panel: "Axes", results: PartResults) -> None:
    switch, amount = rows(), fitted(results)
    for control in (*MEASURED, *FORETOLD):
        look = LOOKS[control]
        study = results.study(control).where({AGGREGATION: amount})
        counts = counts_of(study)
        ours = [smallest(study.where({COUNT: count}).points) or nan for count in counts]
        panel.plot(counts, ours, label=f"{LABELS[control]}, simulation", **look)
        if control in MEASURED:
            _draw_switch(panel, control, switch)
    style.scale_over(panel, FLOWS)
    panel.set_ylim(bottom=0)
    panel.set_xlabel("flows")
    panel.set_ylabel("smallest sufficient buffer (packets)")
    panel.grid(visible=True, color="0.92")


def _draw_switch(
    panel: "Axes", control: str, switch: Mapping[tuple[str, int], Mapping[int, float]]
) -> None:
    """Grey: cells to which the jitter was fitted; black: cells that are judged."""
    for face, for_fit, words in (("0.75", True, "fitted"), ("black", False, "judged")):
        mine = [count for count in FLOWS if is_for_fit(control, count) is for_fit]
        look = {**LOOKS[control], "linestyle": "none", "markersize": 8, "markerfacecolor": face}
        theirs = [smallest_of_switch(switch[control, count]) for count in mine]
        label = f"{LABELS[control]}, switch, {words}"
        panel.plot(mine, theirs, zorder=1.8, label=label, **look)


def _draw_queue(panel: "Axes", results: PartResults, control: str) -> None:
    of_limit = {limit(cell): cell for cell in grid()}
    study = results.study(control).where({AGGREGATION: fitted(results)})
    counts = counts_of(study)
    for count, look in zip((counts[0], counts[-1]), FEW_AND_MANY, strict=True):
        points = study.where({COUNT: count}).points
        over = [of_limit[str(point.settings[LIMIT])] / CELLS_PER_PACKET for point in points]
        ours = [EMPTY_READING + first_percentile(point) for point in points]
        words = "many flows" if count > 1 else "1 flow"
        panel.plot(over, ours, label=f"{words}, simulation", **look)
        theirs = rows()[control, count]
        under = [cell for cell in sorted(theirs) if cell / CELLS_PER_PACKET <= max(over)]
        panel.plot(
            [cell / CELLS_PER_PACKET for cell in under],
            [theirs[cell] for cell in under],
            zorder=1.8,
            label=f"{words}, switch",
            **{**look, "linestyle": "none", "markersize": 8, "markerfacecolor": "0.75"},
        )
    panel.set_title(f"{LABELS[control]}, 1 and {counts[-1]} flows", fontsize="medium")
    panel.set_xlabel("buffer (packets)")
    panel.set_ylabel("1st percentile of the queue (packets)")
    panel.grid(visible=True, color="0.92")


def rivals(results: PartResults) -> list[str]:
    """Amounts of jitter that the fit hardly tells from the fitted one.

    They are at most one step of the switch's grid further away: other seeds change as much.
    """
    amount = fitted(results)
    least = distance(results, amount)
    others = (other for other in amounts_of(results) if other != amount)
    return [other for other in others if distance(results, other) <= least + 1]


def judged_steps(results: PartResults, amount: str) -> dict[tuple[str, int], int | None]:
    """Steps from the switch to the simulation, of each cell that the fit did not use."""
    return {cell: steps_apart(results, *cell, amount) for cell in cells(results, for_fit=False)}


def close_cells(results: PartResults, amount: str) -> int:
    """The number of judged cells whose smallest buffer is the switch's, or next to it."""
    return sum(map(near, judged_steps(results, amount).values()))


def judge_cells(results: PartResults) -> Judgement:
    """Judges how many smallest buffers of the judged half are the switch's, or next to it."""
    check = _within_one_step(results, fitted(results))
    flips = (
        f"ACKs at multiples of {amount}"
        for amount in rivals(results)
        if _within_one_step(results, amount).holds is not check.holds
    )
    check = replace(check, depends_on=tuple(flips))
    return Judgement((check,), lambda: _explanation(results, fitted(results)))


def _within_one_step(results: PartResults, amount: str) -> Check:
    close, of = close_cells(results, amount), len(cells(results, for_fit=False))
    what = f"cells within one step, {close} of {of} that the fit did not use"
    return above(what, close / of, BOUNDS["most"], percent=True)


def _explanation(results: PartResults, amount: str) -> str:
    steps = judged_steps(results, amount)
    distances = ", ".join(f"{one}: {distance(results, one)}" for one in amounts_of(results))
    far = [
        f"{LABELS[control]} with {flows} flows ("
        + ("none suffices" if step is None else f"{step:+d}")
        + ")"
        for (control, flows), step in steps.items()
        if not near(step)
    ]
    others = f" Further apart are: {', '.join(far)} (steps)." if far else ""
    close = [f"{close_cells(results, one)} with {one}" for one in rivals(results)]
    if close:
        others += (
            " The fit hardly tells it from amounts that are at most one step further away; within "
            f"one step of the switch are {' and '.join(close)}."
        )
    return (
        "The jitter was fitted on the other half of the cells: the steps between simulation and "
        f"switch, summed over {len(cells(results, for_fit=True))} cells, are by the interval of "
        f"the ACKs {distances}, so that {amount} was chosen.{others}"
    )


def judge_flows(results: PartResults) -> Judgement:
    """The smallest buffer of many flows compared with that of one."""
    amount = fitted(results)
    checks: list[Check] = []
    for control in (*MEASURED, *FORETOLD):
        study = results.study(control).where({AGGREGATION: amount})
        counts = counts_of(study)
        one, many = (
            smallest(study.where({COUNT: count}).points) for count in (counts[0], counts[-1])
        )
        less = None if one is None or many is None else many / one
        what = f"{LABELS[control]}, smallest buffer of {counts[-1]} flows over that of one"
        checks.append(below(what, less, BOUNDS["fewer"]))
    return Judgement(
        tuple(checks),
        "The verdict is that of the means of the runs, as on the switch. Reno and Scalable TCP "
        "ran on the switch; CUBIC and BBRv3 are simulated on the same network.",
    )


HARDWARE = Part(
    name="hardware",
    title="A hardware switch and simulation",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "switch",
            "The smallest sufficient buffer of the simulation is the switch's within a step of its "
            "grid.",
            "Spang, Arslan and McKeown 2021, data of their Tofino switch",
            judge_cells,
        ),
        Claim(
            "more-flows",
            "More flows need a smaller buffer.",
            "Appenzeller, Keslassy and McKeown 2004; on the switch, Spang et al. 2021",
            judge_flows,
        ),
    ),
    note=(
        "A buffer suffices if the 1st percentile of the queue that packets see is above the "
        "reading of an empty queue, 2 packets. Each run lasts a thousand round trips as on the "
        "switch. The link has 10 Gbit/s, the RTT is 1.2 ms, packets have 9000 B, and the "
        "bandwidth-delay product is 166 packets. The amount of jitter is the only parameter that "
        "was fitted, to every second cell of the switch's table; the claim is judged on the "
        "others. The kind of jitter was chosen when all cells were known. The other parameters are "
        "known from the experiment. CUBIC and BBRv3 did not run "
        "on the switch, so their lines are predictions."
    ),
    caption=(
        "Left: smallest buffer with which the link is never idle, over the number of flows; lines "
        "and open marks are simulations, filled marks are the switch: grey where the jitter was "
        "fitted, black where the simulation is judged. Middle and right: 1st percentile of the "
        "queue over the buffer, for one flow and for the most flows; lines are means of the runs, "
        "grey marks are the switch."
    ),
)
