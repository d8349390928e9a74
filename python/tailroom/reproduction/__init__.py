"""The framework for reproducing a paper: its figures and tables as studies, its claims as checks.

    from tailroom import reproduction

    done = reproduction.reproduce(reproduction.load("barman-2004"), "out")
    for part in done.parts:
        for claim, judgement in part.judged:
            print(judgement.verdict, claim.text)

A `Paper` consists of parts (a figure, a table, a question). A `Part` has studies, each a sweep of
one scenario; a function that draws the picture; claims, each with a function that compares the
paper's words with the results of the studies; and variations of what the paper leaves open. A
distribution offers papers to `tailroom papers` through entry points of the group `tailroom.papers`.
"""

from tailroom.reproduction.bounds import Bounds, NamedBound
from tailroom.reproduction.catalogue import load, names, parts_of
from tailroom.reproduction.check import Check, above, below, between, is_true, shown
from tailroom.reproduction.checked_report import Recheck, recheck
from tailroom.reproduction.claim import Claim, Judgement, Verdict
from tailroom.reproduction.form import Form
from tailroom.reproduction.paper import Paper, Part
from tailroom.reproduction.paper_run import reproduce
from tailroom.reproduction.part_results import PartResults, PointResults, StoredRun, StudyResults
from tailroom.reproduction.reproduced import ReproducedPart, Reproduction
from tailroom.reproduction.study import Study
from tailroom.reproduction.variation import Variation

__all__ = [
    "Bounds",
    "Check",
    "Claim",
    "Form",
    "Judgement",
    "NamedBound",
    "Paper",
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
    "below",
    "between",
    "is_true",
    "load",
    "names",
    "parts_of",
    "recheck",
    "reproduce",
    "shown",
]
