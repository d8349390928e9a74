"""The framework for reproducing a paper: its figures and tables as studies, its claims as checks.

    from tailroom_papers import framework

    done = framework.reproduce(framework.load("barman-2004"), "out")
    for part in done.parts:
        for claim, judgement in part.judged:
            print(judgement.verdict, claim.text)

A `Paper` consists of parts (a figure, a table, a question). A `Part` has studies, each a sweep of
one scenario; a function that draws the picture; claims, each with a function that compares the
paper's words with the results of the studies; and variations of what the paper leaves open. A
distribution offers papers to `tailroom papers` through entry points of the group `tailroom.papers`.

The modules of a paper begin with `from tailroom_papers.framework import *`.
"""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tailroom.plots import style
from tailroom.statistics.intervals import Interval, mean_interval
from tailroom.statistics.jackknife import jackknife
from tailroom_papers.framework.bounds import Bounds, NamedBound
from tailroom_papers.framework.catalogue import load, names, parts_of
from tailroom_papers.framework.check import Check, above, below, between, is_true, shown
from tailroom_papers.framework.checked_report import Recheck, recheck
from tailroom_papers.framework.claim import Claim, Judgement, Verdict
from tailroom_papers.framework.paper import (
    Paper,
    PaperError,
    Part,
    ReproducedPart,
    Reproduction,
    Variation,
)
from tailroom_papers.framework.pictures import (
    bars,
    draw_categories,
    draw_intervals,
    draw_marks,
    draw_means,
    figure_of,
    frame,
    legend_below,
    styled,
)
from tailroom_papers.framework.results import (
    Metric,
    PartResults,
    PointResults,
    StoredRun,
    StudyResults,
    less,
    more,
    paired_difference,
    paired_ratio,
)
from tailroom_papers.framework.run import reproduce
from tailroom_papers.framework.study import Form, Study

__all__ = [
    "Axes",
    "Bounds",
    "Check",
    "Claim",
    "Figure",
    "Form",
    "Interval",
    "Judgement",
    "Metric",
    "NamedBound",
    "Paper",
    "PaperError",
    "Part",
    "PartResults",
    "PointResults",
    "Recheck",
    "ReproducedPart",
    "Reproduction",
    "StoredRun",
    "Study",
    "StudyResults",
    "Variation",
    "Verdict",
    "above",
    "bars",
    "below",
    "between",
    "draw_categories",
    "draw_intervals",
    "draw_marks",
    "draw_means",
    "figure_of",
    "frame",
    "is_true",
    "jackknife",
    "legend_below",
    "less",
    "load",
    "mean_interval",
    "more",
    "names",
    "paired_difference",
    "paired_ratio",
    "parts_of",
    "recheck",
    "reproduce",
    "shown",
    "style",
    "styled",
]
