"""Claims, and the verdicts that follow from their checks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tailroom.field_docs import with_field_docs
from tailroom.statistics.outcome import Outcome
from tailroom_papers.framework.check import Check
from tailroom_papers.framework.results import PartResults


class Verdict(StrEnum):
    """Verdict on a claim."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    DOES_NOT_HOLD = "does not hold"
    UNDECIDED = "undecided"


@with_field_docs
@dataclass(frozen=True)
class Judgement:
    """The sides of a claim, and the explanation of their results."""

    checks: tuple[Check, ...]
    """The sides of the claim."""
    why: str | Callable[[], str]
    """The explanation, a paragraph of the report. A function is called only for the report, and may
    therefore use studies that a variation does not repeat."""

    @property
    def explanation(self) -> str:
        """The explanation as text."""
        return self.why if isinstance(self.why, str) else self.why()

    @property
    def verdict(self) -> Verdict:
        """The verdict that follows from the sides.

        | sides | verdict |
        | --- | --- |
        | all hold | holds |
        | some hold, some fail | holds in part |
        | none holds, some fail | does not hold |
        | none fails, some are undecided | undecided |
        """
        outcomes = {check.holds for check in self.checks}
        if outcomes == {Outcome.YES}:
            return Verdict.HOLDS
        if Outcome.NO not in outcomes:
            return Verdict.UNDECIDED
        return Verdict.IN_PART if Outcome.YES in outcomes else Verdict.DOES_NOT_HOLD


@with_field_docs
@dataclass(frozen=True)
class Claim:
    """A statement of a paper, and the function that judges it."""

    name: str
    """Name in `claims.json`, unique in its part."""
    text: str
    """The statement, in the paper's words or close to them."""
    place: str
    """Place of the words in the paper: "Sec. III-A, Figure 3"."""
    judge: Callable[[PartResults], Judgement]
    """Compares the statement with the results of the part's studies."""


def count(judgements: Sequence[Judgement]) -> dict[Verdict, int]:
    """Returns the number of claims per verdict."""
    return {
        verdict: sum(judgement.verdict is verdict for judgement in judgements)
        for verdict in Verdict
    }
