"""The answer that follows from what is known of the tested values."""

from collections.abc import Sequence
from dataclasses import dataclass

from tailroom.field_docs import with_field_docs
from tailroom.statistics.outcome import Outcome
from tailroom.studies.size_study.accepted_limits import SmallestLimit
from tailroom.studies.size_study.alphas import as_good_as, best_of
from tailroom.studies.size_study.known import Tried, largest_missing, smallest_sufficient
from tailroom.studies.size_study.question import Question
from tailroom.studies.size_study.targets import Target
from tailroom.studies.size_study.varied_key import Varied


@with_field_docs
@dataclass(frozen=True)
class EverythingMeets:
    """The tested values that meet all targets, from the end of the tested range upwards.

    Of a rate that a shaper or a policer passes, from the other end downwards. Of values between
    them, more runs may have to decide, but none is known to miss a target.
    """

    low: int
    """The smallest of them, in steps."""
    high: int
    """The largest of them, in steps."""
    is_all: bool
    """Whether every tested value meets them."""
    met: tuple[int, ...]
    """Every value that meets them from `low` to `high`, in ascending order."""


@with_field_docs
@dataclass(frozen=True)
class Decision:
    """What the tested values say: the answer, or why there is none."""

    answer: int | None
    """The value to set, in steps; `None` if no tested value meets all targets. The scenario's own
    alpha, if the runs do not tell it from the best one."""
    targets: tuple[Target, ...]
    """The targets, the added bound on the loss included if any value meets the others."""
    everything: EverythingMeets | None
    """The values that meet all targets, if they reach to the end of the tested range, so that none
    is known to be the smallest, or of a rate that is passed, the largest."""
    without_loss_target: int | None
    """The answer to the caller's targets alone."""
    too_small: int
    """The largest value below all sufficient ones that misses a target; 0 if there is none."""


def everything_meets(
    tried: Sequence[Tried],
    targets: Sequence[Target],
    varied: Varied,
    smallest: SmallestLimit,
) -> EverythingMeets | None:
    """Returns the values that meet all targets from the end of the tested range upwards.

    `None` if the smallest tested value does not meet them, or is the smallest there is: a limit, or
    a count of 1. Of another key, small is not cheap: the smallest value that the engine accepts is
    no reason to leave the scenario's own.

    Args:
        tried: The tested values, in ascending order.
        targets: The targets.
        varied: What is varied.
        smallest: The value at which the search ends.
    """
    least = tried[0].limit if tried else 0
    is_real_end = varied.is_limit or varied.is_alpha or varied.is_one(least)
    if is_real_end or least != smallest.packets:
        return None
    verdicts = [one.verdict_on(targets) for one in tried]
    if verdicts[0] is not Outcome.YES:
        return None
    end = verdicts.index(Outcome.NO) if Outcome.NO in verdicts else len(tried)
    limits = [one.limit for one in tried]
    met = tuple(limits[at] for at in range(end) if verdicts[at] is Outcome.YES)
    return EverythingMeets(least, met[-1], is_all=len(met) == len(tried), met=met)


def passed_rates(tried: Sequence[Tried], targets: Sequence[Target]) -> tuple[tuple[int, ...], int]:
    """The rates that meet all targets up to the first above them that misses one, and that one.

    They are in ascending order; the other is 0 without one.

    Args:
        tried: The tested values, in ascending order.
        targets: The targets.
    """
    verdicts = {one.limit: one.verdict_on(targets) for one in tried}
    met = [limit for limit, verdict in verdicts.items() if verdict is Outcome.YES]
    missed = (limit for limit, verdict in verdicts.items() if verdict is Outcome.NO)
    end = min((limit for limit in missed if met and limit > met[0]), default=0)
    return tuple(limit for limit in met if not end or limit < end), end


def decide(question: Question, tried: Sequence[Tried], smallest: SmallestLimit) -> Decision:
    """Returns the answer to a question.

    Where every value down to the end of the tested range meets the targets, the answer is the
    scenario's own value, or the tested value next to it that meets them.

    Args:
        question: The question.
        tried: The tested values, in ascending order.
        smallest: The value at which the search ends.
    """
    without, _ = _answer(question, tried, question.targets, smallest)
    # Without an answer to the caller's targets, the bound on the loss was not asked for.
    added = [question.loss] if question.loss and without is not None else []
    targets = (*question.targets, *added)
    answer, everything = _answer(question, tried, targets, smallest)
    decided = targets if answer is not None else question.targets
    too_small = 0 if question.varied.is_alpha else largest_missing(tried, decided)
    return Decision(answer, targets, everything, without, too_small)


def _answer(
    question: Question,
    tried: Sequence[Tried],
    targets: Sequence[Target],
    smallest: SmallestLimit,
) -> tuple[int | None, EverythingMeets | None]:
    """The answer for some targets, and the values that meet them from the end of the range."""
    if question.varied.is_alpha:
        best = best_of(tried, targets)
        own = question.value
        return (own if own in as_good_as(tried, best, targets) else best), None
    if question.varied.is_passed_rate:
        met, end = passed_rates(tried, targets)
        if not met or end:
            return max(met, default=None), None
        is_all = len(met) == len(tried)
        everything: EverythingMeets | None = EverythingMeets(met[0], met[-1], is_all, met)
    else:
        everything = everything_meets(tried, targets, question.varied, smallest)
    if everything is None:
        return smallest_sufficient(tried, targets), None
    value = question.value or everything.high
    return min(everything.met, key=lambda one: (abs(one - value), one)), everything
