"""The smallest sufficient buffer for each value of another key, or of two others."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from tailroom.arguments import check_mapping, named, renamed
from tailroom.errors import ArgumentError
from tailroom.field_docs import with_field_docs
from tailroom.scenario.axis import Axis, axis, value_words
from tailroom.scenario.scenario import ScenarioLike
from tailroom.scenario.trust import allowing
from tailroom.simulation.any_result import AnyResult, Tables
from tailroom.simulation.run_warnings import once, warning
from tailroom.studies.setting_columns import setting_column
from tailroom.studies.size_study.answer import Size
from tailroom.studies.size_study.completion_bounds import ONLY_LOWER_BOUND
from tailroom.studies.size_study.question import Numbers, asked_scenario, named_as_arguments
from tailroom.studies.size_study.size_progress import SizeProgress
from tailroom.studies.size_study.study import size
from tailroom.studies.size_study.targets import Target

if TYPE_CHECKING:
    import pyarrow as pa

    from tailroom.simulation.result_types import RunWarning

_EXAMPLE = '{"queue.target": ["5 ms", "20 ms"]}'
MOST_KEYS = 2
"""Largest number of keys with values: a picture has two axes."""


@with_field_docs
@dataclass(frozen=True)
class Frontier(AnyResult):
    """The answer of `size` at each value of another key, or at each pair of values of two keys.

    `table` knows `frontier`: a row per value, in their order; of two keys, the second changes
    first. Its columns are the other keys, `limit_packets` (`value` if another key than a limit in
    packets is sought; null without an answer), `interval_low` and `interval_high` (null if buffers
    were tested one by one), and for each metric that `Size` shows its mean at the answer. The
    picture is the answer and its queueing delay over the values; of two keys, a map of the answers.
    """

    axes: tuple[Axis, ...]
    """The other keys and their values."""
    sizes: tuple[Size, ...]
    """The answer at each value, in the order of the table."""

    def __repr__(self) -> str:
        """The answers in a line each."""
        lines = (f"{words}: {one.sentence}" for words, one in self.named)
        keys = " and ".join(one.key for one in self.axes)
        return f"<Frontier over {keys}: {'; '.join(lines)}>"

    @property
    def settings(self) -> list[tuple[object, ...]]:
        """The values of the other keys at each answer."""
        return list(itertools.product(*(one.values for one in self.axes)))

    @property
    def named(self) -> list[tuple[str, Size]]:
        """Each value, or pair of values, in words with its answer."""
        words = (
            ", ".join(
                value_words(value, one.values)
                for value, one in zip(setting, self.axes, strict=True)
            )
            for setting in self.settings
        )
        return list(zip(words, self.sizes, strict=True))

    @property
    def is_unmet(self) -> bool:
        """Whether no tested value meets the targets, at any value of the other key."""
        return all(one.is_unmet for one in self.sizes)

    @property
    def shown_metrics(self) -> list[str]:
        """Full names of the metrics that any of the answers shows."""
        return list(dict.fromkeys(name for one in self.sizes for name in one.shown_metrics))

    @property
    def warnings(self) -> "tuple[RunWarning, ...]":
        """The warnings of all answers, each kind and place once; of open targets, all."""
        every = [(words, found) for words, one in self.named for found in one.warnings]
        not_judged = (
            warning(
                ONLY_LOWER_BOUND, found["place"], f"{words}: {found['text']}", **found["values"]
            )
            for words, found in every
            if found["kind"] == ONLY_LOWER_BOUND
        )
        return (
            *not_judged,
            *once(found for _, found in every if found["kind"] != ONLY_LOWER_BOUND),
        )

    @property
    def _tables(self) -> Tables:
        return {"frontier": self._frontier}

    def _frontier(self) -> "pa.Table":
        import pyarrow as pa  # noqa: PLC0415 - an optional library

        is_number = self.sizes[0].varied.counts_packets
        columns: dict[str, list[object]] = {
            "limit_packets" if is_number else "value": [
                one.answer if is_number else one.value for one in self.sizes
            ],
        }
        for end in ("low", "high"):
            columns[f"interval_{end}"] = [
                _end(one, end) if one.interval else None for one in self.sizes
            ]
        for metric in self.shown_metrics:
            columns[metric] = [
                chosen.interval(metric).mean if (chosen := one.chosen) else None
                for one in self.sizes
            ]
        table = pa.table(columns)
        for place, one in enumerate(self.axes):
            values = [setting[place] for setting in self.settings]
            table = table.add_column(place, *setting_column(one.key, values, one.bare_unit))
        return table

    def as_dict(self) -> dict[str, Any]:
        """The frontier as `tailroom size --json` prints it."""
        return {
            "over": _alone([one.key for one in self.axes]),
            "points": [
                {"setting": _alone(setting), **one.as_dict()}
                for setting, one in zip(self.settings, self.sizes, strict=True)
            ],
        }


def _alone(values: Sequence[object]) -> object:
    """The only one of several values, or a list of them."""
    return values[0] if len(values) == 1 else list(values)


def _end(one: Size, end: str) -> object:
    """An end of an interval: of a limit in packets, of another key with its unit."""
    steps: float = getattr(one.interval, end)
    return steps if one.varied.counts_packets else one.varied.text(steps)


@renamed(targets="target")
def frontier(
    scenario: ScenarioLike | None = None,
    target: str | Target | Sequence[str | Target] = (),
    *,
    over: Mapping[str, object],
    set: Mapping[str, object] | None = None,  # noqa: A002
    progress: Callable[[SizeProgress], object] | None = None,
    **question: Any,
) -> Frontier:
    """Finds the smallest sufficient buffer for each value of another key, or of two others.

    Args:
        scenario: As `tailroom.size` takes it.
        target: As `tailroom.size` takes it.
        over: The other key, or its end, with its values: a list, or a range as `tailroom.sweep`
            takes it, as in `{"queue.target": ["5 ms", "20 ms"]}`. Of two keys, every pair of values
            is asked for.
        set: Replaces values of the scenario, as `tailroom.run` does.
        progress: Called with a `SizeProgress` of the value in question, as by `tailroom.size`.
        **question: The other arguments of `tailroom.size`.

    Raises:
        ArgumentError: No key has values, or more than two, or an argument of `tailroom.size` is
            wrong.
        TailroomError: As `tailroom.size`.
    """
    check_mapping("over", over, _EXAMPLE)
    if not 1 <= len(over) <= MOST_KEYS:
        raise ArgumentError(
            f"{named('over')}: has {len(over)} keys; give one or two, as in {_EXAMPLE}"
        )
    numbers = Numbers(**{one.name: question.get(one.name) for one in fields(Numbers)})
    allowed = {name: question.get(f"allow_{name}", False) for name in ("code", "files")}
    with allowing(**allowed), named_as_arguments(scenario):
        asked = asked_scenario(scenario, numbers, set)
        given = (
            values if isinstance(values, Axis) else axis(key, values)
            for key, values in over.items()
        )
        axes = tuple(one.in_scenario(asked) for one in given)
    keys = [one.key for one in axes]
    if len({*keys}) < len(keys):
        raise ArgumentError(f"{named('over')}: {keys[0]} has values twice; give it once")
    sizes = (
        size(
            scenario,
            target,
            set={**(set or {}), **dict(zip(keys, setting, strict=True))},
            progress=progress,
            **question,
        )
        for setting in itertools.product(*(one.values for one in axes))
    )
    return Frontier(axes, tuple(sizes))
