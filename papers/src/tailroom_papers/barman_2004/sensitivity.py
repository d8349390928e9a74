"""Parameters that the paper does not state, varied individually from Figure 3's scenario."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom.reproduction.claim import Claim, Judgement, above, shown
from tailroom.reproduction.form import Form
from tailroom.reproduction.pairs import difference
from tailroom.reproduction.paper import Part, Study
from tailroom.reproduction.part_results import PartResults, StoredRun
from tailroom_papers.barman_2004.curves import NS2_LOOK
from tailroom_papers.barman_2004.further_network import (
    UTILIZATION,
    over_buffers,
    seeds,
    starts,
    times,
)
from tailroom_papers.barman_2004.interval_curves import ns2_utilization
from tailroom_papers.barman_2004.settings import ALMOST_98, FIGURE_3

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tailroom.statistics.intervals import Interval

FLOWS = "flows.hstcp."
FRACTIONS = (0.05, 0.1, 0.2)
BASE, NEWRENO = "base", "newreno"


@dataclass(frozen=True)
class Variation:
    """A choice of a parameter that the paper does not state."""

    name: str
    question: str
    """The unstated parameter."""
    answer: str
    set: Mapping[str, object]
    forms: tuple[Form, ...] = (Form.QUICK, Form.FULL)
    """Forms in which the variation is tried."""
    ns2: str | None = None
    """Name of the variation in ns-2's rows, if they have it."""


AS_WRITTEN = Variation(BASE, "", "", {}, tuple(Form), ns2="")


def variations(form: Form) -> list[Variation]:
    """Returns the variations of a form."""
    return [variation for variation in _variations(form) if form in variation.forms]


def _variations(form: Form) -> list[Variation]:
    every, full = (Form.SMOKE, Form.QUICK, Form.FULL), (Form.FULL,)
    late = form.of("4 s", "15 s", "50 s")
    access, slow_start = FLOWS + "access_rate", FLOWS + "slow_start"
    start, jitter = FLOWS + "start", FLOWS + "send_jitter"
    ask_access = "access links (10 Gbit/s)"
    ask_start = f"starts (within {starts(form)['uniform'][1]})"  # type: ignore[index]
    ask_jitter = "jitter at senders (none)"
    ask_slow, ask_other = "slow start (standard)", "sender (SACK, as ns-2)"
    ask_window = f"measured ({times(form)['measure_from']} to {times(form)['duration']})"
    low_p = {"kind": "highspeed", "low_p": 1.5 / 38**2}
    return [
        Variation("access-500M", ask_access, "500 Mbit/s", {access: "500 Mbit/s"}),
        Variation("access-1.1G", ask_access, "1.1 Gbit/s", {access: "1.1 Gbit/s"}),
        Variation("access-2.5G", ask_access, "2.5 Gbit/s", {access: "2.5 Gbit/s"}, full),
        Variation("access-100G", ask_access, "100 Gbit/s", {access: "100 Gbit/s"}, full),
        Variation(
            "starts-0.1",
            ask_start,
            "within 0.1 s",
            {start: {"uniform": ["0 s", "0.1 s"]}},
            ns2="starts_within_0.1s",
        ),
        Variation("starts-late", ask_start, f"within {late}", {start: {"uniform": ["0 s", late]}}),
        Variation(
            "jitter-8us", ask_jitter, "up to 8 us", {jitter: "8 us"}, every, ns2="jitter_8us"
        ),
        Variation(
            "jitter-80us", ask_jitter, "up to 80 us", {jitter: "80 us"}, full, ns2="jitter_80us"
        ),
        Variation("jitter-1ms", ask_jitter, "up to 1 ms", {jitter: "1 ms"}),
        Variation(
            "limited",
            ask_slow,
            "limited (RFC 3742)",
            {slow_start: {"kind": "limited"}},
            ns2="limited_slow_start",
        ),
        Variation(
            "hystart", ask_slow, "HyStart++", {slow_start: {"kind": "hystart_plus_plus"}}, full
        ),
        Variation("pacing", ask_other, "paced", {FLOWS + "pacing": True}, every),
        Variation("delayed-acks", ask_other, "delayed ACKs", {FLOWS + "delayed_ack": True}),
        Variation(NEWRENO, ask_other, "NewReno", {FLOWS + "recovery": "newreno"}),
        Variation("window-10", ask_other, "first window 10", {FLOWS + "initial_window": 10}, full),
        Variation("low-p", ask_other, "p_l = 1.5 / 38^2", {FLOWS + "congestion": low_p}, full),
        Variation(
            "rtts",
            "RTTs (evenly spread)",
            "drawn from the same range",
            {FLOWS + "rtt": {"uniform": ["115.5 ms", "124.5 ms"]}},
            full,
        ),
        Variation("from-0", ask_window, "from 0 s", {"measure_from": "0 s"}, full),
        Variation(
            "longer",
            ask_window,
            "160 to 560 s",
            {"measure_from": "160 s", "duration": "560 s"},
            full,
            ns2="window_160_560s",
        ),
    ]


def fractions(form: Form) -> tuple[float, ...]:
    """The buffers at which every variation is tried."""
    return form.of((0.1,), (0.1,), FRACTIONS)


def studies(form: Form) -> list[Study]:
    """The base, and a study for each variation."""
    return [
        over_buffers(
            variation.name,
            form,
            FRACTIONS if variation is AS_WRITTEN else fractions(form),
            **variation.set,
        )
        for variation in [AS_WRITTEN, *variations(form)]
    ]


def draw(results: PartResults) -> Figure:
    """Utilization with each variation, a panel for each buffer."""
    tried = variations(results.form)
    shown_fractions = fractions(results.form)
    figure = Figure(
        figsize=(3.4 + 2.6 * max(2, len(shown_fractions)), 1.6 + 0.27 * len(tried)),
        layout="constrained",
    )
    panels = figure.subplots(1, len(shown_fractions), sharey=True, squeeze=False)[0]
    style.title(
        figure,
        "What the paper leaves open, varied one at a time from Figure 3; buffers in percent of "
        f"12,500 packets (mean of {seeds(results.form)} runs, 95 % confidence)",
    )
    for panel, fraction in zip(panels, shown_fractions, strict=True):
        _draw_panel(panel, results, tried, fraction)
    places = range(len(tried) + 1)
    panels[0].set_yticks(places, ["all as in brackets", *map(_row, tried)], fontsize="small")
    panels[0].invert_yaxis()
    tenth = panels[shown_fractions.index(0.1)]
    handles, labels = tenth.get_legend_handles_labels()
    figure.legend(
        handles, labels, loc="outside lower center", fontsize="small", frameon=False, ncols=3
    )
    return figure


def _row(variation: Variation) -> str:
    return f"{variation.question}: {variation.answer}"


def _draw_panel(
    panel: "Axes", results: PartResults, tried: Sequence[Variation], fraction: float
) -> None:
    """Dots with intervals, over the band of the base."""
    for place, variation in enumerate([AS_WRITTEN, *tried]):
        interval = FIGURE_3.at(results.study(variation.name), fraction).interval(UTILIZATION)
        if interval is None:
            continue
        mean, half = 100 * interval.mean, 100 * interval.half_width
        marker = "s" if variation is AS_WRITTEN else "o"
        panel.errorbar(
            [mean], [place], xerr=[half], color="black", marker=marker, markersize=4.5, capsize=2.5
        )
        if variation is AS_WRITTEN:
            panel.axvspan(mean - half, mean + half, color="0.88", zorder=0, label="base, 95 %")
    _draw_ns2(panel, [AS_WRITTEN, *tried], fraction)
    stated = {0.1: 90, 0.2: 98}.get(fraction)
    if stated:
        panel.axvline(stated, label="the paper: 90 % (at 10 %), 98 % (at 20 %)", **style.LIMIT_LINE)
    panel.set_title(f"buffer {100 * fraction:.0f} %", fontsize="medium", loc="left")
    panel.set_xlabel("utilization (%)")
    low, high = panel.get_xlim()
    panel.set_xlim(max(low, 0), min(high, 101))
    panel.grid(visible=True, axis="x", color="0.92")


def _draw_ns2(panel: "Axes", tried: Sequence[Variation], fraction: float) -> None:
    """Draws ns-2's result of the same variation, just below ours."""
    rows = {
        place + 0.3: utilization
        for place, variation in enumerate(tried)
        if variation.ns2 is not None
        and (utilization := ns2_utilization(fraction, variation.ns2)) is not None
    }
    percent = [100 * value for value in rows.values()]
    panel.plot(percent, list(rows), label="ns-2, varied likewise" if rows else "", **NS2_LOOK)


def _judge_90(results: PartResults) -> Judgement:
    checks = [above("base", _utilization(results, BASE, 0.1), 0.9, percent=True)]
    for variation in variations(results.form):
        checks.append(
            above(_row(variation), _utilization(results, variation.name, 0.1), 0.9, percent=True)
        )
    return Judgement(tuple(checks), f"{_effects(results, 0.1)}{_timeouts(results)}")


def _judge_98(results: PartResults) -> Judgement:
    names = [(BASE, "base")]
    if 0.2 in fractions(results.form):
        names += [(variation.name, _row(variation)) for variation in variations(results.form)]
    checks = [
        above(row, _utilization(results, name, 0.2), ALMOST_98, percent=True) for name, row in names
    ]
    return Judgement(tuple(checks), _effects(results, 0.2))


def _utilization(results: PartResults, name: str, fraction: float) -> "Interval | None":
    return FIGURE_3.at(results.study(name), fraction).interval(UTILIZATION)


def _effects(results: PartResults, fraction: float) -> str:
    """Lists the variations that change the utilization by more than chance, and the change."""
    base = FIGURE_3.at(results.study(BASE), fraction)
    text = f"With the base {shown(base.interval(UTILIZATION), percent=True)}."
    if fraction not in fractions(results.form):
        return f"{text} The others are tried at this buffer in the full form."
    moved = []
    for variation in variations(results.form):
        apart = difference(FIGURE_3.at(results.study(variation.name), fraction), base, UTILIZATION)
        if apart and abs(apart.mean) > apart.half_width:
            moved.append((apart, variation))
    if not moved:
        return f"{text} No variation moves it by more than its 95 % interval."
    moved.sort(key=lambda pair: pair[0].mean)
    parts = [f"{_row(variation)} {100 * apart.mean:+.1f} points" for apart, variation in moved]
    return (
        f"{text} Moved by more than the 95 % interval of the difference: {'; '.join(parts)}. "
        f"Of {len(variations(results.form))} variations about one in twenty does so by chance."
    )


def _timeouts(results: PartResults) -> str:
    """Why NewReno stands out, where it is tried."""
    if NEWRENO not in (variation.name for variation in variations(results.form)):
        return ""
    shares = {
        name: shown(FIGURE_3.at(results.study(name), 0.1).interval(timeout_fraction), percent=True)
        for name in (BASE, NEWRENO)
    }
    return (
        f" With NewReno {shares[NEWRENO]} of the window reductions are timeouts, with SACK "
        f"{shares[BASE]}."
    )


def timeout_fraction(run: StoredRun) -> float | None:
    """Of the window reductions, those by timeouts; `None` if there is no reduction."""
    group = run.summary["groups"]["hstcp"]
    reductions = group["congestion_events"]
    return float(group["timeouts"] / reductions) if reductions else None


PART = Part(
    "sensitivity",
    "Sensitivity of Figure 3 to what the paper leaves open",
    studies,
    draw,
    (
        Claim(
            "sensitivity-90",
            "The conclusion (more than 90 % with a buffer of 10 %) does not depend on parameters "
            "that the paper does not state.",
            "Sec. III-A; not in the paper",
            _judge_90,
        ),
        Claim(
            "sensitivity-98",
            '"almost 98 %" with a buffer of 20 %, whatever the paper leaves open',
            "Sec. V; not in the paper",
            _judge_98,
        ),
    ),
    "The paper gives neither the rate of the access links, nor start times, jitter, the form of "
    "slow start, pacing, delayed ACKs, recovery, nor when it measured. Each is varied alone; the "
    "base is the value in brackets. Access links exactly as fast as the link are left out, "
    "because packets then arrive at the same instants at which others leave, and rounding "
    "determines which packet is dropped. Slower access links keep part of a burst in their own "
    "queues. NewReno repairs one loss per round trip; a HighSpeed flow loses many packets at "
    "once, so that its repairs end in timeouts.",
)
