"""Judges the claims of parts by the results of their studies and variations."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tailroom.statistics.holm import holm
from tailroom_papers.framework.check import Check
from tailroom_papers.framework.claim import Claim, Judgement
from tailroom_papers.framework.paper import Part, ReproducedPart, Variation, Varied
from tailroom_papers.framework.results import PartResults


@dataclass(frozen=True)
class Judged:
    """The results of a part, and of its variations."""

    part: Part
    """The part."""
    results: PartResults
    """The results of its studies."""
    variations: Mapping[str, tuple[Variation, PartResults]]
    """The variations with the results of their studies, by name."""


def judge(parts: Sequence[Judged]) -> tuple[ReproducedPart, ...]:
    """Judges the claims of all parts.

    The sides of all claims are one family of tests, those of all variations another. A side that a
    plausible variation turns into its opposite is undecided.

    Args:
        parts: The results of all parts.

    Raises:
        ValueError: Two sides of a claim have the same description, or a variation names a claim
            that its part does not have.
    """
    claims = [(of, claim) for of in parts for claim in of.part.claims]
    base = adjusted([_judgement(claim, of.results) for of, claim in claims])
    varied = _varied(parts)
    done = []
    judged = iter(zip(claims, base, strict=True))
    for of in parts:
        own = [next(judged) for _ in of.part.claims]
        mine = [one for place, one in varied if place is of]
        pairs = tuple((claim, _with_flips(claim, found, mine)) for (_, claim), found in own)
        conditions = tuple((one, _judgement(one, of.results)) for one in of.part.conditions)
        results = {name: results for name, (_, results) in of.variations.items()}
        done.append(ReproducedPart(of.part, of.results, pairs, conditions, tuple(mine), results))
    return tuple(done)


def _varied(parts: Sequence[Judged]) -> list[tuple[Judged, Varied]]:
    again = [
        (of, variation, _claim(of.part, name), results)
        for of in parts
        for variation, results in of.variations.values()
        for name in variation.claims
    ]
    judgements = adjusted([_judgement(claim, results) for _, _, claim, results in again])
    return [
        (of, Varied(variation, claim, judgement))
        for (of, variation, claim, _), judgement in zip(again, judgements, strict=True)
    ]


def _claim(part: Part, name: str) -> Claim:
    for claim in part.claims:
        if claim.name == name:
            return claim
    raise ValueError(f"part {part.name}: a variation names the claim {name!r}; it has none")


def _judgement(claim: Claim, results: PartResults) -> Judgement:
    judgement = claim.judge(results)
    sides = [check.what for check in judgement.checks]
    for what in sides:
        if sides.count(what) > 1:
            raise ValueError(f"claim {claim.name}: two sides are called {what!r}; tell them apart")
    return judgement


def _with_flips(claim: Claim, base: Judgement, varied: Sequence[Varied]) -> Judgement:
    """The judgement with the plausible variations that turn each side into its opposite."""
    own = [one for one in varied if one.claim is claim and one.variation.plausible]
    flips = [(one.variation.name, one.flips(base)) for one in own]
    checks = (
        replace(
            check,
            depends_on=(*check.depends_on, *(name for name, sides in flips if check.what in sides)),
        )
        for check in base.checks
    )
    return replace(base, checks=tuple(checks))


def count_tests(judgements: Sequence[Judgement]) -> int:
    """Returns the number of sides that are statistical tests."""
    return sum(check.is_test for judgement in judgements for check in judgement.checks)


def adjusted(judgements: Sequence[Judgement]) -> list[Judgement]:
    """Returns the judgements with p-values adjusted for the number of tests in all of them.

    A side then counts as decided if its adjusted p-value is at most 5 %, so that the probability
    of one or more wrong decisions among all sides is at most 5 % (Holm 1979).

    Args:
        judgements: The judgements on all claims of a paper.
    """
    tests = [check for judgement in judgements for check in judgement.checks if check.is_test]
    p_values = iter(holm([check.p_value for check in tests]))
    return [
        replace(judgement, checks=tuple(_with(check, p_values) for check in judgement.checks))
        for judgement in judgements
    ]


def _with(check: Check, p_values: Iterator[float]) -> Check:
    return replace(check, adjusted_p=next(p_values)) if check.is_test else check
