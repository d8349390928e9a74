"""Variations of what a paper leaves open: the same studies with other values."""

from collections.abc import Sequence
from dataclasses import dataclass

from tailroom.field_docs import with_field_docs
from tailroom.reproduction.claim import Claim, Judgement
from tailroom.reproduction.study import Study
from tailroom.statistics.outcome import Outcome


@with_field_docs
@dataclass(frozen=True)
class Variation:
    """Studies of a part, repeated with another value of something that the paper leaves open."""

    name: str
    """What varies, in a few words, for the report: "RTT longer by half a packet time". Unique in
    its part, and valid as a file name."""
    studies: Sequence[Study]
    """The studies with the other value, under the names that they have in the part. Only studies
    and points are needed that the checks of the claims use."""
    claims: tuple[str, ...]
    """Names of the part's claims that are judged again."""
    plausible: bool = True
    """Whether the paper's authors may have used this value. A claim that turns into its opposite
    with a plausible value is undecided; with another value, it only depends on a condition."""
    reason: str = ""
    """Why the value is plausible, or what it stands for, for the report."""


@dataclass(frozen=True)
class Varied:
    """A claim judged again with a variation."""

    variation: Variation
    """The variation."""
    claim: Claim
    """The claim."""
    judgement: Judgement
    """The judgement on the results of the variation."""

    def flips(self, base: Judgement) -> tuple[str, ...]:
        """Returns the sides that turn into their opposite.

        Args:
            base: The judgement on the claim without the variation.

        Returns:
            The `what` of each side that holds in one case and fails in the other.
        """
        here = {check.what: check.holds for check in self.judgement.checks}
        return tuple(
            check.what
            for check in base.checks
            if {check.holds_at_base, here.get(check.what)} == {Outcome.YES, Outcome.NO}
        )
