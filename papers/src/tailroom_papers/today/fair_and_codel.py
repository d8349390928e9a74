"""CUBIC and BBR, alone and mixed, behind one queue, behind CoDel, and behind a queue per flow."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom.simulation.metrics import jain_index
from tailroom_papers.framework import *
from tailroom_papers.today import linux_hosts
from tailroom_papers.today.bounds import BOUNDS
from tailroom_papers.today.cycles import cycles_claim
from tailroom_papers.today.drawing import LABELS, finish, line
from tailroom_papers.today.network import LIMIT, Bottleneck, buffers
from tailroom_papers.today.study_points import at_limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LINK = Bottleneck(gbps=10, rtt_ms=5)
FLOWS = 10
CONTROL = "flows.hosts.congestion"
RIVAL = "flows.bbr.congestion"
CONTROLS = ("cubic", "bbr1", "bbr3")
RIVALS = ("bbr1", "bbr3")
SHALLOW, DEEP = "0.05 bdp", "0.5 bdp"
"""Buffers in which every form simulates."""

TARGET_MS = 0.5
# RFC 8289 sec. 4.2, 4.3: an interval a little above the RTTs, a target of 5 % of it.
_CODEL: dict[str, Any] = {"target": f"{TARGET_MS} ms", "interval": "10 ms"}
DISCIPLINES: dict[str, dict[str, Any]] = {
    "drop_tail": {"kind": "drop_tail"},
    "codel": {"kind": "codel", **_CODEL},
    "fair": {"kind": "fair"},
    "fq_codel": {"kind": "fq_codel", "quantum": "9000 B", **_CODEL},
}
NAMES = {
    "drop_tail": "drop-tail",
    "codel": "CoDel",
    "fair": "fair queueing, drop from the longest",
    "fq_codel": "FQ-CoDel",
}
LOOKS = dict(zip(DISCIPLINES, style.marked_line_styles(), strict=False))


def alone(discipline: str, form: Form) -> Study:
    """Ten flows of one control."""
    settle_s = _settle_s(form)
    flows = {"hosts": LINK.hosts("cubic", FLOWS, settle_s)}
    title = f"{FLOWS} flows of one control, {NAMES[discipline]}"
    scenario = LINK.scenario(title, 1.0, settle_s, flows, DISCIPLINES[discipline])
    grid = {CONTROL: CONTROLS}
    seeds = form.of(2, 3, 5)
    return Study(f"alone-{discipline}", scenario, grid, _buffers(form), seeds=seeds)


def mixed(discipline: str, form: Form) -> Study:
    """Five CUBIC flows and five of BBR."""
    settle_s = _settle_s(form)
    flows = {
        "cubic": LINK.hosts("cubic", FLOWS // 2, settle_s),
        "bbr": LINK.hosts("bbr3", FLOWS // 2, settle_s),
    }
    title = f"CUBIC next to BBR, {NAMES[discipline]}"
    scenario = LINK.scenario(title, 1.0, settle_s, flows, DISCIPLINES[discipline])
    grid = {RIVAL: RIVALS}
    seeds = form.of(2, 3, 5)
    return Study(f"mixed-{discipline}", scenario, grid, _buffers(form), seeds=seeds)


def _settle_s(form: Form) -> float:
    return form.of(0.5, 2.0, 10.0)


def _buffers(form: Form) -> dict[str, list[str]]:
    limits = form.of((0.05, 0.5), (0.05, 0.5), (0.05, 0.1, 0.2, 0.5, 1, 2, 4))
    seconds, per_bdp_s = form.of((1.0, 0.0), (5.0, 5.0), (30.0, 17.0))
    # Instead of the scenarios' one second.
    return buffers(limits, _settle_s(form), seconds, per_bdp_s)


def studies(form: Form) -> Sequence[Study]:
    """Both under every discipline."""
    return [study(discipline, form) for study in (alone, mixed) for discipline in DISCIPLINES]


def variations(form: Form) -> list[Variation]:
    """Every claim with Linux hosts."""
    seeds = form.of(2, 2, 5)
    judged = [
        *(at_limits(alone(of, form), (DEEP,), seeds) for of in ("drop_tail", "codel", "fq_codel")),
        *(at_limits(mixed(of, form), (SHALLOW, DEEP), seeds) for of in ("codel", "fq_codel")),
    ]
    studies = [linux_hosts.with_automatic_bursts(study) for study in judged]
    return [linux_hosts.variation(studies, CLAIMS, linux_hosts.AUTOMATIC)]


def share_of_cubic(run: StoredRun) -> float:
    """CUBIC flows' share of the goodput of all flows."""
    groups = run.summary["groups"]
    cubic = float(groups["cubic"]["goodput_bps"])
    return cubic / (cubic + float(groups["bbr"]["goodput_bps"]))


def cubic_over_bbr(run: StoredRun) -> float:
    """Goodput of the CUBIC flows over that of the BBR flows."""
    share = share_of_cubic(run)
    return share / (1 - share)


def fairness(run: StoredRun) -> float | None:
    """Jain's index of the goodputs of CUBIC and BBR, which have as many flows."""
    share = share_of_cubic(run)
    return jain_index([share, 1 - share])


def delay_ms(run: StoredRun) -> float:
    """Mean queueing delay in milliseconds."""
    return 1e3 * float(run.summary["links"]["bottleneck"]["queue_delay_s_mean"])


def draw(results: PartResults) -> Figure:
    """Rows: delay, utilization, and how CUBIC and BBR share; a line per discipline."""
    figure = Figure(figsize=(11.5, 8.2), layout="constrained")
    delays, utilizations, shares = figure.subplots(3, 3, sharey="row")
    for column, control in enumerate(CONTROLS):
        _draw(delays[column], results, delay_ms, 1.0, control=control)
        delays[column].set_title(f"{FLOWS} {LABELS[control]} flows", fontsize="medium")
        _draw(utilizations[column], results, "utilization", 100.0, control=control)
    for panel, rival in zip(shares, RIVALS, strict=False):
        _draw(panel, results, share_of_cubic, 100.0, rival=rival)
        panel.set_yscale("linear")
        panel.set_ylim(0, 100)
        panel.axhline(50, **style.LIMIT_LINE)
        panel.set_title(f"5 CUBIC flows next to 5 {LABELS[rival]} flows", fontsize="medium")
        panel.set_xlabel("buffer (bdp)")
    utilizations[0].set_ylim(top=101)
    delays[0].set_ylabel("mean queueing delay (ms)")
    utilizations[0].set_ylabel("utilization (%)")
    shares[0].set_ylabel("what CUBIC gets (%)")
    shares[-1].axis("off")
    handles = delays[0].get_legend_handles_labels()[0]
    shares[-1].legend(handles=handles, loc="upper left", frameon=False)
    style.title(
        figure,
        f"{FLOWS} flows on {LINK.gbps} Gbit/s, RTT {LINK.rtt_ms:g} ms, packets of 9000 B; CoDel "
        f"with a target of {TARGET_MS} ms",
    )
    return figure


def _draw(  # noqa: PLR0913 - each says one thing about a panel
    panel: "Axes",
    results: PartResults,
    metric: Metric,
    scale: float,
    *,
    control: str = "",
    rival: str = "",
) -> None:
    """A line per discipline, of ten flows of one control or of CUBIC alongside its rival."""
    kind, setting = ("alone", {CONTROL: control}) if control else ("mixed", {RIVAL: rival})
    values: list[float] = []
    for discipline, looks in LOOKS.items():
        points = results.study(f"{kind}-{discipline}").where(setting).points
        look = {**looks, "label": NAMES[discipline]}
        values += line(panel, points, metric, look, scale)
    finish(panel, points, values)


def judge_codel(results: PartResults) -> Judgement:
    """Judges the mean delay in a much larger buffer."""
    checks = []
    for discipline in ("codel", "fq_codel"):
        for control in CONTROLS:
            point = results.study(f"alone-{discipline}").at({CONTROL: control, LIMIT: DEEP})
            delay = point.interval(delay_ms)
            what = f"{LABELS[control]}, {NAMES[discipline]}, mean delay (ms)"
            checks.append(below(what, delay, BOUNDS["near-target"]))
    kept = results.study("alone-drop_tail").at({CONTROL: "cubic", LIMIT: DEEP})
    lost = {
        rival: results.study("alone-codel").at({CONTROL: rival, LIMIT: DEEP}).mean("loss_fraction")
        for rival in RIVALS
    }
    return Judgement(
        tuple(checks),
        f"Without CoDel ten CUBIC flows keep {kept.mean(delay_ms):.2g} ms of "
        f"queue. BBRv1 does not slow down for losses, BBRv3 not below 2 %: CoDel drops "
        f"{100 * lost['bbr1']:.2g} and {100 * lost['bbr3']:.2g} % of their packets in vain.",
    )


def judge_shares(results: PartResults) -> Judgement:
    """Judges CUBIC's share of the link alongside BBR."""
    checks = []
    for rival in RIVALS:
        for limit in (SHALLOW, DEEP):
            point = results.study("mixed-fq_codel").at({RIVAL: rival, LIMIT: limit})
            what = f"Jain's index of CUBIC and {LABELS[rival]}, {limit}"
            checks.append(above(what, point.interval(fairness), BOUNDS["fair"]))
    one_queue = results.study("mixed-codel").at({RIVAL: "bbr1", LIMIT: DEEP})
    return Judgement(
        tuple(checks),
        f"CoDel on one queue leaves CUBIC {100 * one_queue.mean(share_of_cubic):.3g} % next to "
        "BBRv1: the link is shared by the per-flow queues, not by CoDel. They share it only "
        "among flows with packets waiting: whenever CUBIC's queue runs empty, as it may in a "
        "buffer of few packets, BBR uses its share.",
    )


CLAIMS = (
    Claim(
        "codel-delay",
        "CoDel holds the queue near its target, whatever the buffer",
        "RFC 8289, Sec. 1; here in a buffer of half a bandwidth-delay product",
        judge_codel,
    ),
    Claim(
        "fq-codel-shares",
        "Per-flow queueing shares the link equally among competing controls",
        "RFC 8290, Sec. 1",
        judge_shares,
    ),
)

FAIR_AND_CODEL = Part(
    name="fair-and-codel",
    title="CUBIC and BBR under fair queueing and CoDel",
    studies=studies,
    draw=draw,
    claims=CLAIMS,
    conditions=(cycles_claim("cycles-fair-and-codel", ()),),
    variations=variations,
    caption=(
        "Mean queueing delay and utilization of ten flows of one control, and the share of the "
        "goodput that five CUBIC flows get next to five BBR flows, over the queue limit. Lines are "
        "means of the runs, bands are 95 % confidence intervals. Dashed: equal shares."
    ),
    note=(
        f"CoDel's interval is 10 ms and its target {TARGET_MS} ms, the 5 % that RFC 8289 advises "
        "for round trips of milliseconds; its defaults (100 ms, 5 ms) would here let a queue "
        "of one BDP stand."
    ),
)
