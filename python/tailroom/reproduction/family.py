"""The sides of a paper's claims as one family of tests, adjusted for their number."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tailroom.reproduction.check import Check
from tailroom.reproduction.claim import Judgement
from tailroom.statistics.holm import holm


def size(judgements: Sequence[Judgement]) -> int:
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
