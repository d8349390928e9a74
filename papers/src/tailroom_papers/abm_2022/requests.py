"""Short flows over what a query asks for."""

from tailroom_papers.abm_2022 import comparison, loads
from tailroom_papers.abm_2022.setup import REQUEST, answer_bytes, of_links, studies
from tailroom_papers.framework import *

SHARES = (0.125, 0.25, 0.5, 0.75)
"""Of a leaf's memory."""
CARRIED = 0.4
"""Load of the links between leaves and spines."""
POINTS = {f"{share:.1%} of the memory": {REQUEST: answer_bytes(share)} for share in SHARES}


def _studies(form: Form) -> list[Study]:
    rows: dict[str, list[object]] = {
        **of_links([CARRIED] * len(SHARES)),
        REQUEST: [answer_bytes(share) for share in SHARES],
    }
    return studies(form, rows)


OF = "for 12.5 to 75 % of the memory"
CLAIMS = (comparison.queries(POINTS, OF), comparison.short_flows(POINTS, OF))
PART = Part(
    name="requests",
    title="Short flows over what a query asks for",
    studies=_studies,
    draw=lambda results: comparison.draw(
        "Short flows over what a query asks for",
        results,
        SHARES,
        "a query, as a share of the memory",
    ),
    claims=CLAIMS,
    note=f"As “{loads.PART.title}”, at a load of 40 %.",
    caption=loads.PART.caption,
    variations=lambda form: comparison.variations(form, _studies(form), CLAIMS),
)
