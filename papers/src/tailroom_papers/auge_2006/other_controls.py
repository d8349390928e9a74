"""Their future work: FAST, Scalable, H-TCP and packet pair beside the background."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom.reproduction.claim import Check, Claim, Judgement, above, below
from tailroom.reproduction.form import Form
from tailroom.reproduction.paper import Part, Study
from tailroom.scenario.types import Flows as FlowGroup
from tailroom.scenario.types import Queue
from tailroom_papers.auge_2006 import background, setup
from tailroom_papers.auge_2006.background import OTHER_WORDS, Span
from tailroom_papers.auge_2006.comparison import more
from tailroom_papers.auge_2006.residual import background_loss, residual_share

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tailroom.reproduction.part_results import Metric, PartResults, PointResults, StoredRun

CONTROL = "flows.flow.congestion"
NEW = ("highspeed", "scalable", "htcp", "fast")
PAIR_BUFFERS = (20, 50, 100, 200, 312, 450, 625, 1250)
QUICK_PAIR_BUFFERS = (20, 100, 312, 450, 625)
HEAD_START_S = 10
"""Seconds from the start of the second of two flows to the start of statistics. The window of the
first flow is settled by then."""
SMALLEST_PART = 0.25
"""Share of two flows' goodput below which a flow is starved: half of its half."""
SLOW = 0.9
"""Jain's index: two flows of which one still has twice as much."""
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
    return form.of(Span(25, 50), Span(50, 120), Span(50, 550))


def _study(
    name: str,
    flows: dict[str, FlowGroup],
    queues: Sequence[Queue],
    controls: Sequence[str],
    form: Form,
) -> Study:
    table = background.scenario(flows, _span(form), "Other controls beside a Poisson background")
    grid: dict[str, Sequence[object]] = {background.QUEUE: list(queues), CONTROL: list(controls)}
    return Study(name, table, grid=grid, seeds=form.of(3, 3, 5))


def draw(results: "PartResults") -> Figure:
    """Share over buffer under FIFO and fair queueing, and what two flows make of each other."""
    figure = Figure(figsize=(11, 7), layout="constrained")
    style.title(
        figure,
        "Flows of other controls beside a background of 25 of 50 Mbit/s, RTT 100 ms: our "
        "simulation, means with 95 % intervals",
    )
    upper, lower = figure.subplots(2, 2)
    for panel, kind, words in zip(upper, ("drop_tail", "fair"), ("FIFO", "fair"), strict=True):
        _draw_shares(panel, results, kind)
        panel.set_title(f"one flow, {words}", fontsize="small")
    _draw_pair(upper[1], results)
    for panel in upper:
        background.buffer_axis(panel)
        panel.set_ylim(0, 105)
    upper[0].set_ylabel(background.SHARE_LABEL)
    style.legend_beside(upper[1])
    _draw_bars(lower[0], results, "two-alike", JAIN, 1.0)
    lower[0].set_title("two of a kind, the second later, 625 packets", fontsize="small")
    lower[0].set_ylabel("fairness (Jain's index)")
    lower[0].set_ylim(0.4, 1.02)
    _draw_bars(lower[1], results, "beside-newreno", late_part, 100.0)
    lower[1].set_title("NewReno that joins later, 625 packets", fontsize="small")
    lower[1].set_ylabel("NewReno's part of both (%)")
    lower[1].set_ylim(0, 65)
    lower[1].axhline(50, color="0.6", linewidth=0.9)
    for panel in lower:
        panel.grid(color="0.9", axis="y")
        panel.set_axisbelow(True)
    style.legend_beside(lower[1])
    return figure


def _draw_shares(panel: "Axes", results: "PartResults", kind: str) -> None:
    points = results.study("alone").points
    controls = dict.fromkeys(_control(point) for point in points)
    for control, look in zip(controls, style.marked_line_styles(), strict=False):
        mine = [
            point for point in points if _control(point) == control and _discipline(point) == kind
        ]
        buffers = [background.buffer_of(point) for point in mine]
        label = OTHER_WORDS[control]
        background.draw_line(panel, buffers, mine, residual_share, {**look, "label": label})


def _draw_pair(panel: "Axes", results: "PartResults") -> None:
    points = results.study("packet-pair").points
    look = {"color": "0.45", "linestyle": ":", "marker": "*", "markersize": 7, "linewidth": 1.6}
    buffers = [background.buffer_of(point) for point in points]
    label = {"label": OTHER_WORDS["packet_pair"]}
    background.draw_line(panel, buffers, points, residual_share, look | label)


def _draw_bars(
    panel: "Axes", results: "PartResults", study: str, metric: "Metric", scale: float
) -> None:
    points = results.study(study).points
    controls = list(dict.fromkeys(_control(point) for point in points))
    looks = {"drop_tail": ("FIFO", "0.75", ""), "fair": ("fair", "white", "///")}
    for shift, (kind, (words, face, hatch)) in zip((-0.2, 0.2), looks.items(), strict=True):
        mine = [point for point in points if _discipline(point) == kind]
        found_means = [point.interval(metric) for point in mine]
        panel.bar(
            [controls.index(_control(point)) + shift for point in mine],
            [scale * interval.mean if interval else 0.0 for interval in found_means],
            0.38,
            yerr=[scale * interval.half_width if interval else 0.0 for interval in found_means],
            capsize=3,
            color=face,
            edgecolor="black",
            hatch=hatch,
            label=words,
        )
    panel.set_xticks(range(len(controls)), [OTHER_WORDS[control] for control in controls])


def _control(point: "PointResults") -> str:
    return str(point.settings[CONTROL])


def _discipline(point: "PointResults") -> str:
    return str(point.settings[background.QUEUE]["kind"])


def late_part(run: "StoredRun") -> float:
    """The part that the flow which came later has of what both deliver."""
    goodput = {name: run.summary["groups"][name]["goodput_bps"] for name in ("flow", "late")}
    return float(goodput["late"] / sum(goodput.values()))


def loss_of_flow(run: "StoredRun") -> float:
    """Packets of the flow that are lost, over those that it sends."""
    return float(run.summary["groups"]["flow"]["loss_fraction"])


def _alone(results: "PartResults", control: str, queue: Queue) -> "PointResults":
    return results.study("alone").at({CONTROL: control, background.QUEUE: queue})


def _controls(results: "PartResults", study: str) -> list[str]:
    return list(dict.fromkeys(_control(point) for point in results.study(study).points))


def _smaller_buffers(results: "PartResults") -> Judgement:
    checks: list[Check] = []
    for buffer in (20, 100):
        reno = _alone(results, "reno", setup.fifo(buffer)).interval(residual_share)
        for control in _controls(results, "alone")[1:]:
            share = _alone(results, control, setup.fifo(buffer)).interval(residual_share)
            checks.append(
                more(
                    f"{OTHER_WORDS[control]}, {buffer} packets: share of the residual",
                    share,
                    reno,
                    "above NewReno's",
                    percent=True,
                )
            )
    shares = {
        control: [
            100 * _alone(results, control, setup.fifo(buffer)).mean(residual_share)
            for buffer in (20, 100)
        ]
        for control in _controls(results, "alone")
    }
    words = "; ".join(
        f"{OTHER_WORDS[control]} {small:.0f} and {large:.0f} %"
        for control, (small, large) in shares.items()
    )
    return Judgement(
        tuple(checks),
        f"Shares with 20 and 100 packets: {words}. Scalable falls by only an eighth, and grows by "
        "one packet in 100. FAST keeps 100 of its packets in the queue; if they do not fit, its "
        "window depends on losses. Controls that grow by many packets per round trip reach the "
        "next loss sooner.",
    )


def _drawbacks(results: "PartResults") -> Judgement:
    controls = _controls(results, "two-alike")
    accused = [control for control in controls if control != BETTER]
    checks: list[Check] = []
    for control in accused:
        checks += [
            below(
                _beside_words(control),
                _of_pair(results, "beside-newreno", control).interval(late_part),
                SMALLEST_PART,
                "incompatible (taken as less than half of its half)",
                percent=True,
            ),
            below(
                _alike_words(control),
                _of_pair(results, "two-alike", control).interval(JAIN),
                SLOW,
                f"slow convergence to fairness (taken as below {SLOW:g})",
            ),
        ]
    if BETTER in controls:
        checks += _outperforms(results, accused)
    parts = {
        control: tuple(
            _of_pair(results, "beside-newreno", control, queue).mean(late_part)
            for queue in (setup.fifo, setup.fair)
        )
        for control in controls
    }
    words = "; ".join(
        f"{OTHER_WORDS[control]} {100 * under[0]:.0f} and {100 * under[1]:.0f} %"
        for control, under in parts.items()
    )
    return Judgement(
        tuple(checks),
        f"NewReno that joins gets, under FIFO and fair queueing: {words}. An even share is half. "
        f"Jain's index is that from {HEAD_START_S / 2:g} to {HEAD_START_S} s after the start of "
        "the second flow.",
    )


def _outperforms(results: "PartResults", others: Sequence[str]) -> list[Check]:
    """Compares H-TCP with the best of the controls that the paper criticizes."""
    checks = []
    for study, metric, words in (
        ("beside-newreno", late_part, _beside_words(BETTER)),
        ("two-alike", JAIN, _alike_words(BETTER)),
    ):
        theirs = [_of_pair(results, study, control) for control in others]
        best = max(theirs, key=lambda point, metric=metric: point.mean(metric))  # type: ignore[misc]
        ours = _of_pair(results, study, BETTER).interval(metric)
        checks.append(
            more(
                words,
                ours,
                best.interval(metric),
                "outperforms: above the best of the others",
                percent=metric is late_part,
            )
        )
    return checks


def _beside_words(control: str) -> str:
    return f"NewReno's part beside {OTHER_WORDS[control]}, FIFO"


def _alike_words(control: str) -> str:
    return f"two {OTHER_WORDS[control]} flows, FIFO: Jain's index after the second's start"


def _of_pair(
    results: "PartResults", study: str, control: str, queue: Callable[[int], Queue] = setup.fifo
) -> "PointResults":
    """Two flows in a large buffer."""
    return results.study(study).at({CONTROL: control, background.QUEUE: queue(setup.BDP_PACKETS)})


def _packet_pair(results: "PartResults") -> Judgement:
    study = results.study("packet-pair")
    small = study.at({background.QUEUE: setup.fair(20)})
    large = study.at({background.QUEUE: setup.fair(setup.BDP_PACKETS)})
    checks: list[Check] = []
    for point in (small, large):
        words = f"packet pair, {background.buffer_of(point)} packets, fair queueing"
        checks += [
            above(
                f"{words}: share of the residual",
                point.interval(residual_share),
                0.95,
                "possible (taken as 95 %)",
                percent=True,
            ),
            below(
                f"{words}: the flow's loss",
                point.interval(loss_of_flow),
                0.01,
                "possible (taken as below 1 %)",
                percent=True,
            ),
            below(
                f"{words}: loss of the background",
                point.interval(background_loss),
                1e-4,
                "other flows are not harmed",
                percent=True,
            ),
        ]
    enough = [point for point in study.points if point.mean(loss_of_flow) < 0.01]
    least = min(map(background.buffer_of, enough), default=None)
    need = f"{least} packets is the smallest buffer tried" if least else "no buffer tried is one"
    return Judgement(
        tuple(checks),
        f"{need} with which the flow loses less than 1 %; residual capacity and round trip hold "
        f"{setup.RESIDUAL_BDP_PACKETS}. The control sends at its estimated rate and ignores "
        "losses: the buffer must hold the excess of the estimate over the round trip that a "
        "correction takes. Beside a Poisson background, the spacing of a pair shows the number "
        "of other packets served between the two, not the free share. With 20 packets "
        f"{100 * small.mean(loss_of_flow):.0f} % of its packets are lost.",
    )


PART = Part(
    name="other-controls",
    title="FAST, Scalable, H-TCP and packet pair",
    studies=studies,
    draw=draw,
    claims=(
        Claim(
            "smaller-buffers",
            "Use of new high speed TCP versions can significantly reduce the required buffer size. "
            "(The performance of other protocols will be considered in future work.)",
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
            "packet pair proposal of Keshav. It remains to investigate the buffer requirements of "
            "such protocols.",
            "Sec. II-C",
            _packet_pair,
        ),
    ),
    note=(
        "The set-up of Section IV-B with other controls, all with selective acknowledgements and "
        "their published parameters (FAST: 100 packets queued; packet pair: a setpoint of 4). "
        "Packet pair requires fair queueing. Of two flows, the second begins 5 to 10 s before "
        "the statistics."
    ),
)
