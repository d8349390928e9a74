"""The abstract of the report, with numbers from the runs."""

from collections.abc import Mapping

from tailroom_papers.auge_2006 import any_capacity, figure_3, figure_7
from tailroom_papers.auge_2006.figure_6 import reno_over_highspeed
from tailroom_papers.auge_2006.residual import residual_share
from tailroom_papers.auge_2006.setup import fifo, settings
from tailroom_papers.framework import *


def abstract(parts: Mapping[str, PartResults]) -> str:
    """What was asked, what was found, and what to take from it; at most 150 words."""
    alone = parts["3"].study(figure_3.WITH_BACKGROUND)
    small, middle = (alone.at(settings(fifo(buffer))) for buffer in (20, 100))
    shares = middle.values(residual_share)
    fastest, share = any_capacity.fastest(parts["any-capacity"])
    fifo_ratio, fair_ratio = (
        point.mean(reno_over_highspeed) for point in figure_7.against(parts["7"])
    )
    verb = "prefer" if fair_ratio > fifo_ratio else "expect no help from"
    return (
        "Augé and Roberts ask which buffer serves a few flows that only a link limits next to many "
        "that are limited elsewhere, and recommend one or two hundred packets. We repeat their "
        "simulations, draw at random what they do not state, and vary it. One NewReno flow gets "
        f"{100 * small.mean(residual_share):.0f} % of the residual capacity with 20 packets (the "
        f"paper: around 40 %) and {100 * middle.mean(residual_share):.0f} % with 100, from "
        f"{100 * min(shares):.0f} to {100 * max(shares):.0f} % in runs that differ in start and "
        "in the phase of the RTT within one packet time. An unpaced HighSpeed flow with 200 "
        f"packets gets {100 * share:.0f} % at {fastest}. NewReno's goodput over HighSpeed's is "
        f"{fifo_ratio:.2f} under FIFO and {fair_ratio:.2f} under fair queueing. Practitioners "
        f"should check a buffer in packets at their own rate and RTT, and {verb} fair queueing "
        "where congestion controls are mixed."
    )
