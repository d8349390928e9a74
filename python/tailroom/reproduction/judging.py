"""Judges the claims of parts by the results of their studies and variations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tailroom.reproduction import family
from tailroom.reproduction.claim import Claim, Judgement
from tailroom.reproduction.paper import Part
from tailroom.reproduction.part_results import PartResults
from tailroom.reproduction.reproduced import ReproducedPart
from tailroom.reproduction.variation import Variation, Varied


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
    base = family.adjusted([_judgement(claim, of.results) for of, claim in claims])
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
    judgements = family.adjusted([_judgement(claim, results) for _, _, claim, results in again])
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
            depends_on=(
                *check.depends_on,
                *(name for name, sides in flips if check.what in sides),
            ),
        )
        for check in base.checks
    )
    return replace(base, checks=tuple(checks))
