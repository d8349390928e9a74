"""Which tested values of `size` meet a target, in words: shown to meet it, to miss it, or open."""

from math import isfinite, isinf

from tailroom.arguments import named
from tailroom.statistics.outcome import Outcome
from tailroom.studies.size_study.answer import Size
from tailroom.studies.size_study.completion_bounds import things_of, waiting_for_an_end
from tailroom.studies.size_study.search import Feasible
from tailroom.studies.size_study.targets import Target


def where_met(feasible: Feasible, answer: Size) -> str:
    """Returns in words which values meet a target, and at how many the runs do not decide.

    Args:
        feasible: The range of values that meet the target.
        answer: The answer with the tested values.
    """
    count = f"open at {len(feasible.open)} of {len(answer.tried)}"
    if isinf(feasible.low):
        tried = answer.varied.range_text(answer.tried[0].limit, answer.tried[-1].limit)
        nowhere = f"met by no {answer.varied.noun} from {tried}"
        if not feasible.open:
            return nowhere
        return f"shown to be {nowhere}; {count}{_since(feasible.target, answer)}"
    is_said = feasible.is_bounded or not feasible.open
    return _range(feasible, answer) + ("" if is_said else f"; {count}")


def met_alone(target: Target, answer: Size) -> list[int]:
    """Returns the values that are shown to meet a target, in steps.

    Args:
        target: The target.
        answer: The answer with the tested values.
    """
    return [one.limit for one in answer.tried if one.meets(target)]


def _range(feasible: Feasible, answer: Size) -> str:
    """The range that meets a target; of alphas, which are few, each one."""
    varied, low, high = answer.varied, feasible.low, feasible.high
    if varied.is_alpha:
        return f"met by {', '.join(map(varied.text, met_alone(feasible.target, answer)))}"
    smallest = f"the smallest tested {varied.noun}"
    if not isfinite(high):
        where = f"from {varied.text(low) if low else smallest} upwards"
    elif low == high:
        where = f"at {varied.text(low)} alone"
    elif low:
        where = f"from {varied.range_text(low, high)}"
    else:
        where = f"from {smallest} to {varied.text(high)}"
    gaps = f", but not at every {varied.noun} between (not monotone)"
    return f"met {where}{'' if feasible.is_one_interval else gaps}"


def _since(target: Target, answer: Size) -> str:
    """Why the runs do not decide on a target that no value is shown to meet."""
    not_shown = [one for one in answer.tried if one.verdicts[target] is Outcome.OPEN]
    waiting = waiting_for_an_end(not_shown, target)
    reasons = [f"{things_of(target, waiting[0])} had not ended"] if waiting else []
    if len(waiting) < len(not_shown):
        reasons.append(f"seeds were too few ({named('max_seeds')})")
    return f", since {' or '.join(reasons)}"
