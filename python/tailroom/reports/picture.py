"""Pictures for documents: vectors for a page, pixels for a file."""

import io
import re
from typing import TYPE_CHECKING

import matplotlib as mpl

from tailroom.reports.document import Drawn

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LARGEST_SVG = 1_500_000
"""In characters; browsers draw larger pictures slowly."""


def render(figure: "Figure", dots_per_inch: int) -> Drawn:
    """Returns the picture as PNG and SVG, reproducible byte for byte; text in SVG stays text."""
    png, svg = io.BytesIO(), io.StringIO()
    figure.savefig(png, format="png", dpi=dots_per_inch)
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "tailroom"}):
        figure.savefig(svg, format="svg", metadata={"Date": None, "Creator": None})
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", svg.getvalue(), flags=re.DOTALL)
    return Drawn(png.getvalue(), text if len(text) <= LARGEST_SVG else "")
