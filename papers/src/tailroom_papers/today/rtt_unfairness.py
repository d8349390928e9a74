"""Flows of two RTTs on one link: the share of the short RTT over the buffer."""

from typing import Any

from tailroom_papers.framework import *
from tailroom_papers.today.network import LIMIT, Bottleneck

LINK = Bottleneck(gbps=10, rtt_ms=7.5)
SHORT_MS, LONG_MS = 5.0, 10.0
RTT_RATIO = LONG_MS / SHORT_MS
FLOWS = 5
CONTROL = "flows.short.congestion"
CONTROLS = ("reno", "cubic", "highspeed", "bbr1", "bbr3")
SMALL, LARGE = "0.1 bdp", "1 bdp"
"""Buffers in which every form simulates."""


def study(form: Form) -> Study:
    """Five flows of each RTT under every control."""
    seconds, settle_s = form.of((1.0, 0.5), (18.0, 2.0), (80.0, 10.0))
    flows = {
        "short": LINK.hosts("cubic", FLOWS, settle_s, SHORT_MS),
        "long": LINK.hosts("cubic", FLOWS, settle_s, LONG_MS),
    }
    limits: tuple[float, ...] = form.of((0.1, 1), (0.1, 1), (0.05, 0.1, 0.2, 0.5, 1, 2))
    title = f"{FLOWS} flows with an RTT of {SHORT_MS:g} ms next to {FLOWS} of {LONG_MS:g} ms"
    return Study(
        "two-rtts",
        LINK.scenario(title, seconds, settle_s, flows),
        grid={LIMIT: [f"{limit:g} bdp" for limit in limits]},
        together={CONTROL: CONTROLS, "flows.long.congestion": CONTROLS},
        seeds=form.of(2, 4, 10),
    )


def ratio(run: StoredRun) -> float:
    """Goodput of the flows with the short RTT over that of those with the long one."""
    groups: dict[str, Any] = run.summary["groups"]
    return float(groups["short"]["goodput_bps"]) / float(groups["long"]["goodput_bps"])


def unfairness(run: StoredRun) -> float:
    """The same, of whichever get more over those that get less."""
    return max(ratio(run), 1 / ratio(run))


def at(study: StudyResults, control: str, limit: str) -> PointResults:
    """The point of a control and a buffer."""
    return study.at({CONTROL: control, LIMIT: limit})
