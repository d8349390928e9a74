"""The answer of `size` in sentences."""

from typing import TYPE_CHECKING

from tailroom.studies.size_study.amounts import amounts_words
from tailroom.studies.size_study.answer_warnings import percent

if TYPE_CHECKING:
    from tailroom.studies.size_study.answer import Size


def price(found: "Size") -> str:
    """What the bound on the loss costs, or that no tested value keeps to it; else empty.

    Args:
        found: The answer.
    """
    loss, answer, without = found.loss_target, found.answer, found.without_loss_target
    lost = None if without is None else found.loss_of(without)
    if loss is None or without is None or lost is None:
        return ""
    value = found.varied.text(without)
    are = "are" if found.varied.counts_packets and without > 1 else "is"
    if answer is None:
        return (
            f"no tested {found.varied.noun} keeps to {loss} as well; without it, {value} "
            f"{are} enough, and {percent(lost)} % of the packets are lost"
        )
    if without < answer and not found.everything:
        return (
            f"without {loss}, {value} {are} enough; {percent(lost)} % of the packets are then lost"
        )
    return ""


def kept_sentence(found: "Size") -> str:
    """Why the answer is the scenario's own value, or the one next to it; else empty.

    Args:
        found: The answer.
    """
    value, text = found.scenario_value, found.varied.text
    if value is None:
        return ""
    if (best := found.best_alpha) is not None and best != found.answer:
        return (
            f"leave the scenario's value, {text(value)}: the runs do not tell it from the best "
            f"one, {text(best)}"
        )
    every = found.everything
    if not every:
        return ""
    low, high = text(every.low), text(every.high)
    reach = f"from {low} to {high}, no tested value is known to miss a target"
    where = f"all tested values, {low} to {high}, meet every target" if every.is_all else reach
    least = "none is known to be the smallest"
    if found.smallest_accepted.refusal:
        least = f"{low} is the smallest that is accepted"
    keep = f"leave the scenario's value, {text(value)}, which meets them all"
    if found.answer != value:
        keep = f"{text(found.answer or 0)} does, which the scenario's {text(value)} may not"
    return f"{where}, and {least}; {keep}"


def sentence(found: "Size") -> str:
    """The answer with its units, the targets, and the number of buffers that were tried.

    Args:
        found: The answer.
    """
    targets = " and ".join(map(str, found.targets))
    tried = f"{len(found.tried)} buffers were simulated"
    link, varied, answer = found.link, found.varied, found.answer
    if answer is None and found.price:
        return f"{found.price}; {tried}"
    if answer is None:
        targets = " and ".join(str(one) for one in found.targets if not one.is_default)
        what = f"buffer of link {link.name}" if varied.is_limit else varied.key
        return f"no {what} that was tried meets {targets}; {tried}"
    if found.kept_sentence:
        return f"{varied.key}: {found.kept_sentence}; {tried}"
    known = f"{varied.too_small(found.too_small)}; " if found.too_small else ""
    if found.interval:
        known = f"95 % interval {found.interval_text}; "
    cost = f"{found.price}; " if found.price else ""
    if varied.is_alpha:
        every = ", ".join(map(varied.text, found.alphas))
        return (
            f"{varied.key} = {varied.text(answer)} is the best of {every}, which meet "
            f"{targets}: {found.best_by}; {cost}{tried}"
        )
    if not varied.is_limit:
        return f"{varied.key} = {varied.text(answer)} meets {targets}; {cost}{known}{tried}"
    same, about = amounts_words(varied, link, answer)
    other = "; ".join(filter(None, [same.replace(" = ", ", "), about]))
    return (
        f"link {link.name} needs {varied.text(answer)} ({other}) for {targets}; "
        f"{cost}{known}{tried}"
    )
