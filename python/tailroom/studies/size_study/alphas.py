"""The alphas that meet the targets: hardware has powers of two, which are judged one by one."""

from collections.abc import Callable, Sequence

from tailroom.statistics.outcome import Outcome
from tailroom.studies.size_study.known import Tried
from tailroom.studies.size_study.search import Stage
from tailroom.studies.size_study.targets import Target

ALPHAS: tuple[int, ...] = tuple(2**power for power in range(14))
"""1/128 to 64, in steps of 1/128 (`Varied`)."""


class AlphaSearch:
    """Judges every alpha, and finds the best one.

    The best one is that of those which meet the targets whose mean of the first target's metric is
    furthest from the bound; of equal ones, the smallest.
    """

    stage: Stage = "search"
    runs_left = 0

    def __init__(
        self,
        targets: Sequence[Target],
        own: Sequence[Target],
        look: Callable[[Sequence[int]], list[Tried]],
        confirm: Callable[[Tried], Tried],
    ) -> None:
        """Prepares a search.

        Args:
            targets: All targets.
            own: Those of the caller, which decide if no alpha meets all.
            look: Simulates values until the verdict on each target is clear.
            confirm: Adds runs to a value that may be the best.
        """
        self.targets = tuple(targets)
        self._own = tuple(own)
        self._look, self._confirm = look, confirm
        self.tried: dict[int, Tried] = {}

    def run(self) -> None:
        """Judges all alphas, the best one by as many runs as an answer needs."""
        self.tried = {tried.limit: tried for tried in self._look(ALPHAS)}
        self.stage = "confirm"
        confirmed: set[int] = set()
        while (best := self.answer) is not None and best not in confirmed:
            confirmed.add(best)
            self.tried[best] = self._confirm(self.tried[best])

    @property
    def answer(self) -> int | None:
        """The best alpha, in steps; `None` if none meets the targets."""
        tried = list(self.tried.values())
        return best_of(tried, self.targets) or best_of(tried, self._own)


def meeting(tried: Sequence[Tried], targets: Sequence[Target]) -> list[Tried]:
    """Returns the values that meet these targets, in ascending order.

    Args:
        tried: Tested values.
        targets: The targets.
    """
    met = [one for one in tried if one.verdict_on(targets) is Outcome.YES]
    return sorted(met, key=lambda one: one.limit)


def best_of(tried: Sequence[Tried], targets: Sequence[Target]) -> int | None:
    """Returns the best of the values that meet these targets, in steps.

    Args:
        tried: Tested values.
        targets: The targets, of which the first decides which value is best.
    """
    met = meeting(tried, targets)
    return max(met, key=lambda one: one.margin(targets[0])).limit if met else None


def as_good_as(tried: Sequence[Tried], best: int | None, targets: Sequence[Target]) -> list[int]:
    """Returns the other values that meet these targets and that the runs do not tell from the best.

    Their intervals of the first target's metric overlap.

    Args:
        tried: Tested values.
        best: The best one, in steps; without one, there are no others.
        targets: The targets.
    """
    if best is None:
        return []
    met = {one.limit: one.interval(targets[0].metric) for one in meeting(tried, targets)}
    top = met.pop(best)
    return [limit for limit, one in met.items() if one.low <= top.high and top.low <= one.high]
