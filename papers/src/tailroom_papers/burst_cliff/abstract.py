"""The abstract of the report, from its results."""

from collections.abc import Mapping

from tailroom_papers.burst_cliff.law_against_simulation import share_close
from tailroom_papers.framework import *


def abstract(results: Mapping[str, PartResults]) -> str:
    """Returns the abstract.

    Args:
        results: The results by name of part; parts that were not asked for are left out.
    """
    text = (
        "How small may a buffer be before bursts, not the mean of the windows, decide the "
        "utilization of a link? Flows without pacing cross a bottleneck as trains of whole "
        "windows, which overlap by chance. The window W of a flow is then about (B² BDP / (n - "
        "1))^(1/3), whatever the control and the access rate, until the buffer reaches an edge at "
        "a few percent of the bandwidth-delay product (BDP). Pacing removes the edge; BBR's "
        "bursts of 1 ms need room for one burst. "
    )
    shares = [
        f"{100 * share_close(results[name]):.0f} % of the {words} settings"
        for name, words in (("fitted", "fitted"), ("held-out", "held-out"))
        if name in results
    ]
    if shares:
        text += f"The law is within 5 points of simulation for {' and '.join(shares)}. "
    return text + "Pace senders, or give the buffer 5 % of the BDP plus the bursts of the hosts."
