"""Figure 3: utilization over the buffer, 1 Gbit/s, RTTs from 115.5 to 124.5 ms."""

from collections.abc import Sequence
from functools import partial

from tailroom.models.window_laws.highspeed import DEFAULTS
from tailroom_papers.barman_2004 import curves, drop_tail, predictions, sensitivity
from tailroom_papers.barman_2004.bounds import BOUNDS
from tailroom_papers.barman_2004.figure_3_model import MODEL_CLAIMS, at
from tailroom_papers.barman_2004.predictions import PAPERS_MODEL
from tailroom_papers.barman_2004.sensitivity import FIFTH, FIFTH_OF_BDP, TENTH, TENTH_OF_BDP
from tailroom_papers.barman_2004.settings import FIGURE_3
from tailroom_papers.framework import *

WINDOW = "groups.hstcp.cwnd_packets_mean"
LOW_WINDOW = DEFAULTS.low_window
"""w_l: up to here HighSpeed TCP is standard TCP."""
RENO = {"flows.hstcp.congestion": {"kind": "reno"}}
RENO_TIMES = {Form.SMOKE: ("40 s", "15 s"), Form.QUICK: ("120 s", "40 s")}
"""Windows of Reno grow by a packet per round trip; the full form gives them ten minutes."""
SMALLEST, TINY = 0.001, 0.01
JUDGED = (TENTH, TENTH_OF_BDP, FIFTH, FIFTH_OF_BDP)


def fractions(form: Form) -> Sequence[float]:
    """Of the buffer."""
    return form.of(
        (SMALLEST, TINY, 0.05, *JUDGED, 1.0),
        (SMALLEST, TINY, 0.02, 0.03, 0.05, *JUDGED, 0.5, 1.0),
        (
            *(SMALLEST, 0.002, 0.005, TINY, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08),
            *(TENTH, TENTH_OF_BDP, 0.15, FIFTH, FIFTH_OF_BDP, 0.3, 0.5, 0.7, 1.0),
        ),
    )


def studies(form: Form) -> Sequence[Study]:
    """HighSpeed flows, paced ones, and Reno flows in their place."""
    few = (SMALLEST, TINY)
    paced = form.of((TINY,), (TINY,), (SMALLEST, 0.005, TINY, 0.03, 0.05, TENTH))
    reno = form.of(few, few, (SMALLEST, 0.005, TINY, 0.02, 0.05, TENTH, FIFTH, 0.5, 1.0))
    duration, measure_from = RENO_TIMES.get(form, ("600 s", "200 s"))
    times = {"duration": duration, "measure_from": measure_from}
    return [
        *drop_tail.studies(FIGURE_3, fractions, lambda _: paced)(form),
        FIGURE_3.study("reno", reno, form, {**RENO, **times}, seeds=5),
    ]


def ten_percent(results: PartResults) -> Judgement:
    """More than 90 % at 10 %."""
    tenth, of_bdp, bound = at(results, TENTH), at(results, TENTH_OF_BDP), BOUNDS["ninety"]
    said = predictions.utilization(tenth, PAPERS_MODEL)
    return Judgement(
        (
            tenth.above("simulated, 10 % of 12,500 packets", "utilization", bound),
            of_bdp.above("simulated, 10 % of the BDP of the mean RTT", "utilization", bound),
            above("the paper's model, 10 % of 12,500 packets", said, bound),
        ),
        lambda: (
            f"The simulated curve reaches 90 % at {_reached(results, 0.9)}. "
            f"The paper's 12,500 packets are {100 * FIGURE_3.in_bdp(1):.0f} % of the "
            "bandwidth-delay product (BDP) of the mean RTT, 15,000 packets."
        ),
    )


def twenty_percent(results: PartResults) -> Judgement:
    """Almost 98 % at 20 %."""
    fifth, of_bdp, bound = at(results, FIFTH), at(results, FIFTH_OF_BDP), BOUNDS["almost-98"]
    gain = paired_difference(fifth, at(results, TENTH), "utilization")
    return Judgement(
        (
            fifth.above("simulated, 20 % of 12,500 packets", "utilization", bound),
            of_bdp.above("simulated, 20 % of the BDP of the mean RTT", "utilization", bound),
            below("gain from 10 to 20 % of 12,500 packets", gain, BOUNDS["marginal"]),
        ),
        lambda: (
            f"The simulated curve reaches 98 % at {_reached(results, 0.98)}. If all flows reduced "
            "at once, the link would idle periodically: the synchronised sawtooth carries "
            f"{100 * predictions.utilization(fifth, 'sawtooth'):.1f} % at 20 % of 12,500 packets."
        ),
    )


def small_buffers(results: PartResults) -> Judgement:
    """A drastic drop below 10 %, from many packet drops."""
    tenth, twentieth, tiny = (at(results, fraction) for fraction in (TENTH, 0.05, TINY))
    losses = paired_ratio(tiny, tenth, "loss_fraction")

    def why() -> str:
        paced = at(results, TINY, "paced")
        return (
            f"The simulated curve passes 50 % at {_reached(results, 0.5)} and 85 % at "
            f"{_reached(results, 0.85)}. Burstiness explains the drop: each window leaves as a "
            "line-rate train, and the trains overflow a small buffer before the link is full. "
            "Paced senders, which send no trains, carry "
            f"{100 * paced.mean('utilization'):.1f} % with a buffer of 1 % and lose "
            f"{paced.mean('loss_fraction'):.1e} of their packets, where unpaced ones carry "
            f"{100 * tiny.mean('utilization'):.1f} % and lose {tiny.mean('loss_fraction'):.1e}."
        )

    return Judgement(
        (
            tiny.below("utilization at 1 %", "utilization", BOUNDS["drastic"]),
            twentieth.below("utilization at 5 %", "utilization", BOUNDS["drastic"]),
            above("loss at 1 % over loss at 10 %", losses, BOUNDS["many-drops"]),
        ),
        why,
    )


def standard_tcp(results: PartResults) -> Judgement:
    """Small buffers reduce HighSpeed TCP to standard TCP."""
    checks, ratios = [], []
    for fraction in (SMALLEST, TINY):
        highspeed, reno = at(results, fraction), at(results, fraction, "reno")
        where = f"at {100 * fraction:g} %"
        ratio = paired_ratio(highspeed, reno, "utilization")
        ratios.append(shown(ratio))
        checks += [
            highspeed.below(f"mean window {where}, packets", WINDOW, BOUNDS["standard-window"]),
            below(f"utilization over Reno's {where}", ratio, BOUNDS["standard-throughput"]),
        ]
    return Judgement(
        tuple(checks),
        f"HighSpeed TCP is standard TCP up to a window of {LOW_WINDOW:g} packets. Windows are "
        f"{at(results, SMALLEST).mean(WINDOW):.0f} packets with a buffer of 0.1 % and "
        f"{at(results, TINY).mean(WINDOW):.0f} with 1 %; HighSpeed flows carry {ratios[0]} and "
        f"{ratios[1]} times the throughput of Reno flows.",
    )


def _reached(results: PartResults, level: float) -> str:
    return curves.reached(results.study("highspeed"), FIGURE_3, level)


PLACE = "Sec. III-A, Figure 3"
CLAIMS = (
    Claim(
        "ten-percent",
        "Buffer size equal to 10 % of the bandwidth-delay product can sustain more than 90 % "
        "utilization.",
        PLACE,
        ten_percent,
    ),
    Claim(
        "twenty-percent",
        "Beyond 10 % utilization increases marginally, reaching almost 98 % around 20 %.",
        "Sec. V, abstract",
        twenty_percent,
    ),
    Claim(
        "small-buffers",
        "A buffer below 10 % causes many packet drops, which lead to a drastic drop in the "
        "utilization.",
        "Sec. V",
        small_buffers,
    ),
    *MODEL_CLAIMS,
    Claim(
        "standard-tcp",
        "Small buffers may reduce HighSpeed TCP to regular/standard TCP.",
        "Sec. V",
        standard_tcp,
    ),
)

PART = Part(
    "3",
    f"Utilization over the buffer, DropTail, {FIGURE_3.link}",
    studies,
    partial(drop_tail.draw, FIGURE_3),
    CLAIMS,
    "The paper's buffer of B packets counts the packet in transmission; it is a queue limit of "
    "B - 1 here. The paper gives neither duration nor start times: flows start at random within "
    "10 s, their RTTs are drawn from the paper's range, and the full form measures from 60 to "
    "160 s. The headline claims are judged with fractions of the paper's 12,500 packets and with "
    "fractions of the bandwidth-delay product of the mean RTT. The paper's curves are not in its "
    "text; the reference points are ns-2's on the same topology with evenly spread RTTs. The "
    "models are solved exactly, with the corrections of the paper's Eqs. 3 to 5 that "
    "docs/models/window-laws.md lists.",
    variations=sensitivity.of_figure_3,
    caption=drop_tail.CAPTION,
)
