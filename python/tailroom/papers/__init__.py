"""The papers whose figures, tables and claims tailroom reproduces.

    from tailroom import papers

    done = papers.reproduce(papers.load("barman-2004"), "out", form=papers.Form.QUICK)
    for part in done.parts:
        for claim, judgement in part.judged:
            print(judgement.verdict, claim.text)

A paper is a package here that has a `PAPER`, and a line in `PACKAGES`.
"""

import difflib
from collections.abc import Iterable, Sequence
from importlib import import_module

from tailroom.papers.claim import Check, Claim, Judgement, Verdict
from tailroom.papers.found import Found, PointFound, RunFound, StudyFound
from tailroom.papers.paper import Form, Paper, Part, Study
from tailroom.papers.reproduce import PartDone, Reproduction, reproduce

__all__ = [
    "PACKAGES",
    "Check",
    "Claim",
    "Form",
    "Found",
    "Judgement",
    "Paper",
    "PaperError",
    "Part",
    "PartDone",
    "PointFound",
    "Reproduction",
    "RunFound",
    "Study",
    "StudyFound",
    "Verdict",
    "load",
    "parts_of",
    "reproduce",
]

PACKAGES: dict[str, str] = {
    "barman-2004": "barman_2004",
    "su-2005-fhstcp": "su_2005",
    "auge-2006": "auge_2006",
    "today": "today",
}
"""The papers by name. A package loads when it is asked for: what draws takes a second."""


class PaperError(ValueError):
    """There is no such paper or figure; the message names the nearest."""


def load(name: str) -> Paper:
    """A paper by name.

    Raises:
        PaperError: There is none of this name.
    """
    if name not in PACKAGES:
        raise PaperError(f"{name}: there is no such paper; {_nearest(name, PACKAGES)}")
    paper: Paper = import_module(f"{__name__}.{PACKAGES[name]}").PAPER
    return paper


def parts_of(paper: Paper, figures: Sequence[str]) -> tuple[Part, ...]:
    """The parts of these names, in the paper's order; all of them if no name is given.

    Raises:
        PaperError: There is no such part.
    """
    known = [part.name for part in paper.parts]
    for name in figures:
        if name not in known:
            raise PaperError(f"{paper.name}: there is no figure {name}; {_nearest(name, known)}")
    return tuple(part for part in paper.parts if not figures or part.name in figures)


def _nearest(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    listed = f"choose one of {', '.join(known)}"
    return f"did you mean {near[0]}? Else {listed}" if near else listed
