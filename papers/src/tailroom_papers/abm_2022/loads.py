"""Short flows over the load of the links between leaves and spines."""

from tailroom_papers.abm_2022 import comparison
from tailroom_papers.abm_2022.setup import (
    LOAD,
    LOADS,
    REQUEST,
    WORDS,
    answer_bytes,
    of_links,
    studies,
)
from tailroom_papers.framework import *

SHARE = 0.5
"""What a query asks for, as a share of a leaf's memory."""
POINTS = {
    f"load {load:.0%}": {LOAD: of_hosts}
    for load, of_hosts in zip(LOADS, of_links(LOADS)[LOAD], strict=True)
}


def _studies(form: Form) -> list[Study]:
    rows: dict[str, list[object]] = {**of_links(LOADS), REQUEST: [answer_bytes(SHARE)] * len(LOADS)}
    return studies(form, rows)


AT = "at loads of 20 to 80 %"
CLAIMS = (comparison.queries(POINTS, AT), comparison.short_flows(POINTS, AT))
PART = Part(
    name="loads",
    title="Short flows over the load",
    studies=_studies,
    draw=lambda results: comparison.draw(
        "Short flows over the load", results, LOADS, "load of the links between leaves and spines"
    ),
    claims=CLAIMS,
    note=(
        f"{WORDS} A query asks for half of a leaf's memory; the paper's scripts ask for 12.5 to "
        "75 %. A run has some 29 queries, so that their 99th percentile is nearly the slowest. The "
        "claims test the order, not by how much ABM is better. Their first bound, a ratio below 1, "
        "gave way eleven minutes after its commit, before the first report, to a difference below "
        "0, since equal times are no improvement."
    ),
    caption="99th percentile of completion times, of queries and of short flows. Lines are means "
    "of the runs, bands are 95 % confidence intervals. In a first report the hosts' interfaces did "
    "not mark: queries took 3.2 to 7.0 ms under ABM, and 24 to 26 ms under dynamic thresholds.",
    variations=lambda form: comparison.variations(form, _studies(form), CLAIMS),
)
