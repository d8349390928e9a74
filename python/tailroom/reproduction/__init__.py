"""The framework for reproducing a paper: its figures and tables as studies, its claims as checks.

    from tailroom import reproduction

    done = reproduction.reproduce(reproduction.load("barman-2004"), "out")
    for part in done.parts:
        for claim, judgement in part.judged:
            print(judgement.verdict, claim.text)

A `Paper` consists of parts (a figure, a table, a question). A `Part` has studies, each a sweep of
one scenario; a function that draws the picture; and claims, each with a function that compares the
paper's words with the results of the studies. A distribution offers papers to `tailroom papers`
through entry points of the group `tailroom.papers`.
"""

from tailroom.reproduction.catalogue import load, names, parts_of
from tailroom.reproduction.claim import (
    Check,
    Claim,
    Judgement,
    Verdict,
    above,
    below,
    between,
    is_true,
    shown,
)
from tailroom.reproduction.form import Form
from tailroom.reproduction.paper import Paper, Part, Study
from tailroom.reproduction.paper_run import reproduce
from tailroom.reproduction.part_results import PartResults, PointResults, StoredRun, StudyResults
from tailroom.reproduction.reproduced import ReproducedPart, Reproduction

__all__ = [
    "Check",
    "Claim",
    "Form",
    "Judgement",
    "Paper",
    "Part",
    "PartResults",
    "PointResults",
    "ReproducedPart",
    "Reproduction",
    "StoredRun",
    "Study",
    "StudyResults",
    "Verdict",
    "above",
    "below",
    "between",
    "is_true",
    "load",
    "names",
    "parts_of",
    "reproduce",
    "shown",
]
