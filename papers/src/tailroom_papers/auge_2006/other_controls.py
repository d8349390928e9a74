"""Their future work: FAST, Scalable, H-TCP and packet pair alongside the background."""

from collections.abc import Callable, Sequence
from math import isfinite, isnan, nan
from statistics import mean

from tailroom.scenario.types import Flows as FlowGroup
from tailroom.scenario.types import Queue
from tailroom_papers.auge_2006 import background, picture, setup
from tailroom_papers.auge_2006.background import OTHER_WORDS, Span
from tailroom_papers.auge_2006.bounds import BOUNDS
from tailroom_papers.auge_2006.residual import background_loss, residual_share
from tailroom_papers.framework import *

CONTROL = "flows.flow.congestion"
NEW = ("highspeed", "scalable", "htcp", "fast")
PAIR_BUFFERS = (20, 50, 100, 200, 312, 450, 625, 1250)
QUICK_PAIR_BUFFERS = (20, 100, 312, 450, 625)
HEAD_START_S = 10
"""Seconds from the start of the second of two flows to the start of statistics. The window of the
first flow is settled by then."""
BETTER = "htcp"
"""The proposal of the paper's source against the drawbacks of the others."""
JAIN = "flows.jain_index"


def studies(form: Form) -> Sequence[Study]:
    """A flow alone over buffers, packet pair over more of them, and two flows."""
    buffers = form.of((20, 100), setup.BUFFERS, (20, 50, 100, 200, setup.BDP_PACKETS))
    controls = form.of(("reno", "scalable"), ("reno", *NEW), ("reno", *NEW))
    kinds: tuple[Callable[[int], Queue], ...] = (setup.fifo, setup.fair)
    alone = [queue(buffer) for queue in kinds for buffer in buffers]
    pair = form.of((20, setup.BDP_PACKETS), QUICK_PAIR_BUFFERS, PAIR_BUFFERS)
    return [
        _study("alone", {"flow": background.flow("reno")}, alone, controls, form),
        _study(
            "packet-pair",
            {"flow": background.flow("packet_pair")},
            [setup.fair(buffer) for buffer in pair],
            ("packet_pair",),
            form,
        ),
        _of_two("two-alike", form, None),
        _of_two("beside-newreno", form, "reno"),
    ]


def _of_two(name: str, form: Form, other: str | None) -> Study:
    """The second flow is of the same control, or of another, and begins when the first is set."""
    queues: list[Queue] = [setup.fifo(setup.BDP_PACKETS), setup.fair(setup.BDP_PACKETS)]
    controls = form.of(("scalable",), NEW, NEW)
    late = background.flow(other or "reno")
    late_s = _span(form).measure_from_s - HEAD_START_S
    late["start"] = {"uniform": [f"{late_s} s", f"{late_s + HEAD_START_S / 2:g} s"]}
    study = _study(name, {"flow": background.flow("reno"), "late": late}, queues, controls, form)
    kinds = study.grid[CONTROL]
    together = {CONTROL: kinds, "flows.late.congestion": kinds} if other is None else {}
    grid = {background.QUEUE: study.grid[background.QUEUE]} | ({} if together else {CONTROL: kinds})
    return Study(
        name, study.scenario, grid=grid, together=together, set=study.set, seeds=study.seeds
    )


def _span(form: Form) -> Span:
    return form.of(Span(25, 50), Span(50, 120), Span(50, 350))


def _study(
    name: str,
    flows: dict[str, FlowGroup],
    queues: Sequence[Queue],
    controls: Sequence[str],
    form: Form,
) -> Study:
    table = background.scenario(flows, _span(form), "Other controls next to a Poisson background")
    grid: dict[str, Sequence[object]] = {background.QUEUE: list(queues), CONTROL: list(controls)}
    return Study(name, table, grid=grid, seeds=form.of(3, 3, 20))


def draw(results: PartResults) -> Figure:
    """Share over buffer under FIFO and fair queueing, and what two flows make of each other."""
    title = "Flows of other controls next to a background of 25 of 50 Mbit/s, RTT 100 ms"
    figure, (fifo, fair, alike, joins) = picture.page(title, 6.0, 2, 2)
    _draw_shares(fifo, results, "drop_tail")
    _draw_shares(fair, results, "fair")
    _draw_pair(fair, results)
    label, limits = background.SHARE_LABEL, (0, 105)
    background.frame_over_buffers(fifo, title="one flow, FIFO", y=label, ylim=limits)
    background.frame_over_buffers(fair, title="one flow, fair", ylim=limits)
    _draw_bars(alike, results, "two-alike", JAIN, 1.0)
    title = "two of a kind, the second later, 625 packets"
    frame(alike, title=title, y="fairness (Jain's index)", ylim=(0.4, 1.02), grid="y")
    _draw_bars(joins, results, "beside-newreno", late_part, 100.0)
    joins.axhline(50, color="0.6", linewidth=0.9)
    title = "NewReno that joins later, 625 packets"
    frame(joins, title=title, y="NewReno's part of both (%)", ylim=(0, 65), grid="y")
    return picture.finished(figure, 4)


def _draw_shares(panel: Axes, results: PartResults, kind: str) -> None:
    points = [p for p in results.study("alone").points if _discipline(p) == kind]
    lines = {OTHER_WORDS[control]: control for control in dict.fromkeys(map(_control, points))}
    for label, control, look in styled(lines):
        mine = [point for point in points if _control(point) == control]
        buffers = [background.buffer_of(point) for point in mine]
        draw_marks(panel, buffers, mine, residual_share, look, label=label, scale=100)


def _draw_pair(panel: Axes, results: PartResults) -> None:
    points = results.study("packet-pair").points
    look = {"color": "0.45", "linestyle": ":", "marker": "*", "markersize": 7, "linewidth": 1.6}
    buffers = [background.buffer_of(point) for point in points]
    label = OTHER_WORDS["packet_pair"]
    draw_marks(panel, buffers, points, residual_share, look, label=label, scale=100)


def _draw_bars(panel: Axes, results: PartResults, study: str, metric: Metric, scale: float) -> None:
    points = results.study(study).points
    controls = list(dict.fromkeys(_control(point) for point in points))
    looks = {"drop_tail": ("FIFO", "0.75", ""), "fair": ("fair", "white", "///")}
    for shift, (kind, (words, face, hatch)) in zip((-0.2, 0.2), looks.items(), strict=True):
        mine = [point for point in points if _discipline(point) == kind]
        found_means = [point.interval(metric) for point in mine]
        heights = [scale * interval.mean if interval else 0.0 for interval in found_means]
        panel.bar(
            [controls.index(_control(point)) + shift for point in mine],
            heights,
            0.38,
            yerr=bars(found_means, scale, most=1.0),
            capsize=3,
            color=face,
            edgecolor="black",
            hatch=hatch,
            label=f"{words} (bars)",
        )
    panel.set_xticks(range(len(controls)), [OTHER_WORDS[control] for control in controls])


def _control(point: PointResults) -> str:
    return str(point.settings[CONTROL])


def _discipline(point: PointResults) -> str:
    return str(point.settings[background.QUEUE]["kind"])


def late_part(run: StoredRun) -> float:
    """The part that the flow which came later has of what both deliver."""
    goodput = {name: run.summary["groups"][name]["goodput_bps"] for name in ("flow", "late")}
    return float(goodput["late"] / sum(goodput.values()))


def loss_of_flow(run: StoredRun) -> float:
    """Packets of the flow that are lost, over those that it sends."""
    return float(run.summary["groups"]["flow"]["loss_fraction"])


def _alone(results: PartResults, control: str, queue: Queue) -> PointResults:
    return results.study("alone").at({CONTROL: control, background.QUEUE: queue})


def _controls(results: PartResults, study: str) -> list[str]:
    return list(dict.fromkeys(_control(point) for point in results.study(study).points))


def _smaller_buffers(results: PartResults) -> Judgement:
    levels = {"reasonable": BOUNDS["reasonable"].value, "high": BOUNDS["high-throughput"].value}
    checks = tuple(
        below(
            f"{OTHER_WORDS[control]}: buffer for {words} throughput over NewReno's",
            _buffer_ratio(results, control, level),
            BOUNDS["considerably"],
            f"significantly reduced for {100 * level:g} % of the residual",
        )
        for words, level in levels.items()
        for control in _controls(results, "alone")
        if control != "reno"
    )

    def why() -> str:
        needs = "; ".join(
            f"{OTHER_WORDS[control]} "
            + " and ".join(_need_words(results, control, level) for level in levels.values())
            for control in _controls(results, "alone")
        )
        return (
            f"Packets of buffer for {' and '.join(f'{100 * v:g} %' for v in levels.values())} of "
            f"the residual, interpolated: {needs}. A control that grows by many packets per round "
            "trip reaches the next loss sooner, and the less it reduces its window the less it "
            "loses. FAST keeps 100 of its packets in the queue; if they do not fit, its window "
            "depends on losses."
        )

    return Judgement(checks, why)


def _points_alone(results: PartResults, control: str) -> list[PointResults]:
    """FIFO, from the smallest to the largest buffer."""
    points = [
        point
        for point in results.study("alone").points
        if _control(point) == control and _discipline(point) == "drop_tail"
    ]
    return sorted(points, key=background.buffer_of)


def _need_words(results: PartResults, control: str, level: float) -> str:
    points = _points_alone(results, control)
    buffers = [background.buffer_of(point) for point in points]
    need = buffer_for(level, buffers, [point.mean(residual_share) for point in points])
    return f"{need:.0f}" if need else "none"


def _buffer_ratio(results: PartResults, control: str, level: float) -> Interval | None:
    """Buffer that a control needs over NewReno's, by the jackknife over seeds."""
    needed = [_points_alone(results, name) for name in (control, "reno")]
    buffers = [background.buffer_of(point) for point in needed[0]]
    per_seed = list(
        zip(*(point.values(residual_share) for points in needed for point in points), strict=True)
    )

    def ratio(runs: Sequence[tuple[float, ...]]) -> float:
        means = [mean(values) for values in zip(*runs, strict=True)]
        ours = buffer_for(level, buffers, means[: len(buffers)])
        other = buffer_for(level, buffers, means[len(buffers) :])
        return ours / other if ours and other else nan

    found = jackknife(per_seed, ratio)
    return found if isfinite(found.mean) and not isnan(found.half_width) else None


def buffer_for(level: float, buffers: Sequence[int], shares: Sequence[float]) -> float | None:
    """Returns the buffer from which a share exceeds a level, or `None` if none does.

    Args:
        level: The share.
        buffers: Buffers in ascending order.
        shares: The share with each buffer; interpolated linearly in the logarithm of the buffer.
    """
    if shares[-1] < level:
        return None
    place = max((i for i, share in enumerate(shares) if share < level), default=-1)
    if place < 0:
        return float(buffers[0])
    part = (level - shares[place]) / (shares[place + 1] - shares[place])
    return float(buffers[place] * (buffers[place + 1] / buffers[place]) ** part)


def _drawbacks(results: PartResults) -> Judgement:
    controls = _controls(results, "two-alike")
    accused = [control for control in controls if control != BETTER]
    checks: list[Check] = []
    slow = f"slow convergence to fairness (below {BOUNDS['fair'].value:g})"
    for control in accused:
        joined, alike = (
            _of_pair(results, study, control) for study in ("beside-newreno", "two-alike")
        )
        checks.append(joined.below(_joins_words(control), late_part, BOUNDS["incompatible"]))
        checks.append(alike.below(_alike_words(control), JAIN, BOUNDS["fair"], slow))
    if BETTER in controls:
        checks += _outperforms(results, accused)

    def why() -> str:
        parts = "; ".join(
            f"{OTHER_WORDS[control]} "
            + " and ".join(
                f"{100 * _of_pair(results, 'beside-newreno', control, queue).mean(late_part):.0f}"
                for queue in (setup.fifo, setup.fair)
            )
            + " %"
            for control in controls
        )
        return (
            f"NewReno that joins gets, under FIFO and fair queueing: {parts}. An even share is "
            "half. The statistics begin 5 to 10 s after the start of the second flow."
        )

    return Judgement(tuple(checks), why)


def _outperforms(results: PartResults, accused: Sequence[str]) -> list[Check]:
    """H-TCP compared with the best of the others in each respect, by its mean."""
    checks = []
    for study, metric, words in (
        ("beside-newreno", late_part, "NewReno's part next to H-TCP"),
        ("two-alike", JAIN, "Jain's index of two H-TCP flows"),
    ):
        best = _largest([_of_pair(results, study, control) for control in accused], metric)
        what, percent = f"{words}, less that of the best of the others", metric is late_part
        ours = _of_pair(results, study, BETTER)
        checks.append(more(what, ours, best, metric, "outperforms", percent=percent))
    return checks


def _largest(points: Sequence[PointResults], metric: Metric) -> PointResults:
    return max(points, key=lambda point: point.mean(metric))


def _joins_words(control: str) -> str:
    return f"NewReno's part next to {OTHER_WORDS[control]}, FIFO"


def _alike_words(control: str) -> str:
    return f"two {OTHER_WORDS[control]} flows, FIFO: Jain's index after the second's start"


def _of_pair(
    results: PartResults, study: str, control: str, queue: Callable[[int], Queue] = setup.fifo
) -> PointResults:
    """Two flows in a large buffer."""
    return results.study(study).at({CONTROL: control, background.QUEUE: queue(setup.BDP_PACKETS)})


def _packet_pair(results: PartResults) -> Judgement:
    study = results.study("packet-pair")
    large = study.at({background.QUEUE: setup.fair(setup.BDP_PACKETS)})
    pair = f"packet pair, {setup.BDP_PACKETS} packets"
    lost, loss_free = f"{pair}: loss of the background", BOUNDS["loss-free"]
    checks = (
        large.above(f"{pair}: share of the residual", residual_share, BOUNDS["reasonable"]),
        large.below(lost, background_loss, loss_free, percent=True),
    )

    def why() -> str:
        enough = [point for point in study.points if point.mean(loss_of_flow) < 0.01]
        least = min(map(background.buffer_of, enough), default=None)
        need = f"{least} packets is the smallest buffer tried" if least else "no buffer is one"
        small = study.at({background.QUEUE: setup.fair(20)})
        return (
            "The paper leaves the buffer requirements of such protocols open: "
            f"{need} with which the flow loses less than 1 %; residual capacity and round trip "
            f"hold {setup.RESIDUAL_BDP_PACKETS}. The control sends at its estimated rate and "
            "ignores losses, so the buffer must hold the excess of the estimate over the round "
            "trip that a correction takes. Next to a Poisson background, the spacing of a pair "
            "shows the number of other packets served between the two, not the free share. With "
            f"20 packets {100 * small.mean(loss_of_flow):.0f} % of its packets are lost."
        )

    return Judgement(checks, why)


PART = Part(
    name="other-controls",
    title="FAST, Scalable, H-TCP and packet pair",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "smaller-buffers",
            "Use of new high speed TCP versions can significantly reduce the required buffer size.",
            "Sec. VI and V-A",
            _smaller_buffers,
        ),
        Claim(
            "drawbacks",
            "The main drawbacks of FAST, Scalable and HighSpeed are slow convergence to fairness "
            "and incompatibility with legacy versions of TCP; H-TCP is shown to outperform them.",
            "Sec. II-B, after [11]",
            _drawbacks,
        ),
        Claim(
            "packet-pair",
            "Fair queueing would make it possible to use alternative congestion controls like the "
            "packet pair proposal of Keshav.",
            "Sec. II-C",
            _packet_pair,
        ),
    ),
    caption=(
        "Above: share of the residual of one flow over the buffer, under FIFO (left) and fair "
        "queueing (right). Below left: Jain's index of two flows of one control. Below right: the "
        "part of the goodput of both that NewReno gets when it joins a flow of the named control; "
        "the grey line is an even share. Means with 95 % confidence intervals, which end at the "
        "largest possible value."
    ),
    note=(
        "The set-up of Section IV-B with other controls, all with selective acknowledgements and "
        "their published parameters (FAST: 100 packets queued; packet pair: a setpoint of 4). "
        "Packet pair requires fair queueing. Of two flows, the second begins 5 to 10 s before "
        "the statistics."
    ),
)
