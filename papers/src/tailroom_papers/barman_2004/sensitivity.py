"""What the paper does not state, varied one at a time from Figure 3's scenario."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tailroom_papers.barman_2004.curves import NS2_LOOK
from tailroom_papers.barman_2004.interval_curves import ns2_utilization
from tailroom_papers.barman_2004.settings import FIGURE_3, RTT
from tailroom_papers.framework import *

FLOWS = "flows.hstcp."
TENTH, FIFTH = 0.1, 0.2
TENTH_OF_BDP, FIFTH_OF_BDP = (FIGURE_3.of_bdp(share) for share in (TENTH, FIFTH))
FRACTIONS = (TENTH, TENTH_OF_BDP, FIFTH, FIFTH_OF_BDP)
"""The buffers that the headline claims name, in both readings."""
SHOWN_FRACTIONS = (TENTH, FIFTH)
SEEDS = 8
"""Runs of each point with a variation, in the full form."""
UTILIZATION = "links.bottleneck.utilization"
BASE = "base"
HEADLINES = ("ten-percent", "twenty-percent")


@dataclass(frozen=True)
class Choice:
    """A value of a parameter that the paper does not state."""

    name: str
    question: str
    """The unstated parameter, with its value in the base."""
    answer: str
    set: Mapping[str, object]
    forms: tuple[Form, ...] = (Form.QUICK, Form.FULL)
    """Forms in which the value is tried."""
    ns2: str | None = None
    """Name of the variation in ns-2's rows, if they have it."""
    implausible: str = ""
    """Why the authors cannot have used this value; empty if they may have."""


AS_IN_BRACKETS = Choice(BASE, "", "all as in brackets", {}, tuple(Form))


def choices(form: Form) -> list[Choice]:
    """Returns the values that a form tries."""
    return [choice for choice in _choices(form) if form in choice.forms]


def _choices(form: Form) -> list[Choice]:
    every, full = (Form.SMOKE, Form.QUICK, Form.FULL), (Form.FULL,)
    duration, measure_from = FIGURE_3.times[form]
    late = form.of("8 s", "25 s", "50 s")
    access, slow_start = FLOWS + "access_rate", FLOWS + "slow_start"
    start, jitter = FLOWS + "start", FLOWS + "send_jitter"
    ask_access = "access links (10 Gbit/s)"
    ask_start = "starts (within 10 s)"
    ask_jitter = "jitter at senders (none)"
    ask_slow, ask_other = "slow start (standard)", "sender (SACK, as ns-2)"
    ask_window = f"measured ({measure_from} to {duration})"
    low_p = {"kind": "highspeed", "low_p": 1.5 / 38**2}
    return [
        Choice("access-500M", ask_access, "500 Mbit/s", {access: "500 Mbit/s"}),
        Choice("access-1.1G", ask_access, "1.1 Gbit/s", {access: "1.1 Gbit/s"}),
        Choice("access-2.5G", ask_access, "2.5 Gbit/s", {access: "2.5 Gbit/s"}, full),
        Choice("access-100G", ask_access, "100 Gbit/s", {access: "100 Gbit/s"}, full),
        Choice(
            "starts-0.1",
            ask_start,
            "within 0.1 s",
            {start: {"uniform": ["0 s", "0.1 s"]}},
            ns2="starts_within_0.1s",
        ),
        Choice("starts-late", ask_start, f"within {late}", {start: {"uniform": ["0 s", late]}}),
        Choice("jitter-8us", ask_jitter, "up to 8 us", {jitter: "8 us"}, every, ns2="jitter_8us"),
        Choice(
            "jitter-80us", ask_jitter, "up to 80 us", {jitter: "80 us"}, full, ns2="jitter_80us"
        ),
        Choice("jitter-1ms", ask_jitter, "up to 1 ms", {jitter: "1 ms"}),
        Choice(
            "limited",
            ask_slow,
            "limited (RFC 3742)",
            {slow_start: {"kind": "limited"}},
            ns2="limited_slow_start",
        ),
        Choice(
            "hystart",
            ask_slow,
            "HyStart++",
            {slow_start: {"kind": "hystart_plus_plus"}},
            full,
            implausible="HyStart++ is younger than the paper",
        ),
        Choice(
            "pacing",
            ask_other,
            "paced",
            {FLOWS + "pacing": True},
            every,
            implausible="ns-2's HighSpeed senders of the time do not pace",
        ),
        Choice("delayed-acks", ask_other, "delayed ACKs", {FLOWS + "delayed_ack": True}),
        Choice("newreno", ask_other, "NewReno", {FLOWS + "recovery": "newreno"}),
        Choice(
            "window-10",
            ask_other,
            "first window 10",
            {FLOWS + "initial_window": 10},
            full,
            implausible="the first window of 10 packets is younger than the paper",
        ),
        Choice("low-p", ask_other, "p_l = 1.5 / 38^2", {FLOWS + "congestion": low_p}, full),
        Choice(
            "rtts",
            "RTTs (drawn)",
            "evenly spread over the range",
            {RTT: {"from": "115.5 ms", "to": "124.5 ms"}},
            ns2="",
        ),
        Choice("from-0", ask_window, "from 0 s", {"measure_from": "0 s"}, full),
        Choice(
            "longer",
            ask_window,
            "160 to 560 s",
            {"measure_from": "160 s", "duration": "560 s"},
            full,
            ns2="window_160_560s",
        ),
    ]


def study(name: str, choice: Choice, form: Form, fractions: Sequence[float]) -> Study:
    """Figure 3's simulations with one value changed."""
    planned = FIGURE_3.study(name, fractions, form, choice.set)
    return replace(planned, seeds=form.of(3, 3, SEEDS))


def of_figure_3(form: Form) -> list[Variation]:
    """The variations with which the headline claims on Figure 3 are judged again."""
    return [
        Variation(
            f"{choice.question}: {choice.answer}".replace("/", " per "),
            [study("highspeed", choice, form, FRACTIONS)],
            HEADLINES,
            plausible=not choice.implausible,
            reason=choice.implausible or "the paper does not state the value",
        )
        for choice in choices(form)
    ]


def studies(form: Form) -> list[Study]:
    """The base, and a study for each value."""
    return [
        study(choice.name, choice, form, SHOWN_FRACTIONS)
        for choice in (AS_IN_BRACKETS, *choices(form))
    ]


def draw(results: PartResults) -> Figure:
    """Utilization with each value, a panel for each buffer, over one scale."""
    tried = [AS_IN_BRACKETS, *choices(results.form)]
    title = "What the paper leaves open, varied one at a time from Figure 3 (base: in brackets)"
    size = (8.8, 1.9 + 0.27 * len(tried))
    figure, panels = figure_of(title, 1, len(SHOWN_FRACTIONS), size, sharex=True, sharey=True)
    for panel, fraction, stated in zip(panels, SHOWN_FRACTIONS, (90, 98), strict=True):
        _draw_panel(panel, results, tried, fraction)
        panel.axvline(stated, label="stated in the paper", **style.LIMIT_LINE)
        title = f"buffer {100 * fraction:.0f} % of 12,500 packets"
        frame(panel, title=title, x="utilization (%)", grid="x")
    rows = [f"{choice.question}: {choice.answer}".removeprefix(": ") for choice in tried]
    panels[0].set_yticks(range(len(tried)), rows, fontsize="small")
    panels[0].invert_yaxis()
    panels[0].set(xlim=(None, 100.2), xticks=[85, 90, 95, 100])
    return legend_below(figure)


def _draw_panel(
    panel: Axes, results: PartResults, tried: Sequence[Choice], fraction: float
) -> None:
    """Dots with intervals, over the band of the base."""
    for place, choice in enumerate(tried):
        interval = FIGURE_3.at(results.study(choice.name), fraction).interval(UTILIZATION)
        face = "white" if choice.implausible else "black"
        look = {"color": "black", "marker": "o", "linestyle": "none", "markerfacecolor": face}
        draw_intervals(panel, [place], [interval], look, scale=100, across=True)
        if choice is AS_IN_BRACKETS and interval:
            low, high = 100 * interval.low, 100 * interval.high
            panel.axvspan(low, high, color="0.88", zorder=0, label="base, 95 %")
        value = None if choice.ns2 is None else ns2_utilization(fraction, choice.ns2)
        if value is not None:
            panel.plot([100 * value], [place], label="ns-2", **NS2_LOOK)


PART = Part(
    "sensitivity",
    "Sensitivity of Figure 3 to what the paper leaves open",
    studies,
    draw,
    note="The paper gives neither the rate of the access links, nor start times, jitter, the form "
    "of slow start, delayed ACKs, recovery, nor when it measured. Each is varied alone. The claims "
    "on buffers of 10 and 20 % (Figure 3) are judged again with each value; the report's section "
    "on sensitivity has the verdicts. Access links exactly as fast as the link are left out, "
    "because packets then arrive at the instants at which others leave, and rounding determines "
    "which packet is dropped. Slower access links keep part of a burst in their own queues. "
    "NewReno repairs one loss per round trip, and a HighSpeed flow loses many packets at once, so "
    "that its repairs end in timeouts.",
    caption="Utilization with one parameter changed at a time; the value of the base is in "
    "brackets. Bars are 95 % confidence intervals, the grey band is that of the base. Open "
    "circles are values that the authors cannot have used. Stars are ns-2's results with the same "
    "change and evenly spread RTTs. Dashed lines are the paper's 90 and 98 %.",
)
