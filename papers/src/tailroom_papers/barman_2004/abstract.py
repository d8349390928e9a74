"""The abstract of the report, from the results."""

from collections.abc import Mapping

from tailroom_papers.barman_2004 import curves, predictions
from tailroom_papers.barman_2004.predictions import PAPERS_MODEL
from tailroom_papers.barman_2004.settings import FIGURE_3, FIGURE_4, Setting
from tailroom_papers.framework import *

UTILIZATION = "utilization"


def abstract(parts: Mapping[str, PartResults]) -> str:
    """What was asked, what was found, what follows; empty without Figures 3 and 4."""
    if not {"3", "4"} <= set(parts):
        return ""
    narrow, wide = (parts[name].study("highspeed") for name in ("3", "4"))
    tenth, fifth = (
        _percent(FIGURE_3.at(narrow, FIGURE_3.of_bdp(share)).mean(UTILIZATION))
        for share in (0.1, 0.2)
    )
    wide_tenth, wide_fifth = (
        _percent(FIGURE_4.at(wide, FIGURE_4.of_bdp(share)).mean(UTILIZATION))
        for share in (0.1, 0.2)
    )
    of_6250 = _percent(FIGURE_4.at(wide, 0.1).mean(UTILIZATION))
    at_tenth = FIGURE_3.at(narrow, 0.1)
    model = 100 * abs(predictions.error(at_tenth, PAPERS_MODEL).mean)
    sawtooth = 100 * abs(predictions.error(at_tenth, "sawtooth").mean)
    tiny, paced = (parts["3"].study(name) for name in ("highspeed", "paced"))
    bursts = [_percent(FIGURE_3.at(study, 0.01).mean(UTILIZATION)) for study in (tiny, paced)]
    crossings = [
        _share(curves.reaches(study, setting, 0.9), setting)
        for study, setting in ((narrow, FIGURE_3), (wide, FIGURE_4))
    ]
    return (
        "How small a router buffer lets ten HighSpeed TCP flows fill a link? The paper answers: "
        "10 % of the bandwidth-delay product (BDP) for 90 % utilization, 20 % for almost 98 %. "
        f"In packet-level simulations, with buffers as shares of the mean RTT's BDP, we find "
        f"{tenth} and {fifth} at 1 Gbit/s, and {wide_tenth} and {wide_fifth} at 2.5 Gbit/s; 90 % "
        f"is crossed at {crossings[0]} and {crossings[1]} of the BDP. In the paper's own "
        f"fractions, 10 % of its 6,250 packets carry {of_6250}. Its fixed point, solved exactly, "
        f"is {model:.0f} points off the simulation at 10 %; a synchronised sawtooth is "
        f"{sawtooth:.0f} off. Burstiness matters at small buffers: at 1 % unpaced senders carry "
        f"{bursts[0]}, paced ones {bursts[1]}. Practitioners should state buffers relative to the "
        "mean RTT's BDP, and consider pacing before enlarging buffers."
    )


def _percent(value: float) -> str:
    return f"{100 * value:.0f} %"


def _share(fraction: float | None, setting: Setting) -> str:
    return "no share" if fraction is None else f"{100 * setting.in_bdp(fraction):.1f} %"
