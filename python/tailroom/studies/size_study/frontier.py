"""The smallest sufficient buffer for each value of another key."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from tailroom.arguments import check_mapping, named
from tailroom.errors import ArgumentError
from tailroom.field_docs import with_field_docs
from tailroom.scenario.axis import Axis, axis, value_words
from tailroom.scenario.scenario import ScenarioLike
from tailroom.scenario.trust import allowing
from tailroom.simulation.any_result import AnyResult, Tables
from tailroom.simulation.run_warnings import once
from tailroom.studies.setting_columns import setting_column
from tailroom.studies.size_study.answer import Size, SizeProgress
from tailroom.studies.size_study.question import Numbers, asked_scenario, named_as_arguments
from tailroom.studies.size_study.study import size
from tailroom.studies.size_study.targets import Target

if TYPE_CHECKING:
    import pyarrow as pa

    from tailroom.simulation.result_types import RunWarning

_EXAMPLE = '{"queue.target": ["5 ms", "20 ms"]}'


@with_field_docs
@dataclass(frozen=True)
class Frontier(AnyResult):
    """The answer of `size` at each value of another key.

    `table` knows `frontier`: a row per value, in their order. Its columns are the other key,
    `limit_packets` (`value` if another key than the limit is sought; null without an answer),
    `interval_low` and `interval_high` (null if buffers were tested one by one), and for each metric
    that `Size` shows its mean at the answer. The picture is the answer and its queueing delay over
    the values.
    """

    axis: Axis
    """The other key and its values."""
    sizes: tuple[Size, ...]
    """The answer at each value."""

    def __repr__(self) -> str:
        """The answers in a line each."""
        lines = (f"{words}: {one.sentence}" for words, one in self.named)
        return f"<Frontier over {self.axis.key}: {'; '.join(lines)}>"

    @property
    def named(self) -> list[tuple[str, Size]]:
        """Each value in words with its answer."""
        values = self.axis.values
        words = [value_words(value, values) for value in values]
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
        """The warnings of all answers, each kind and place once."""
        return once([warning for one in self.sizes for warning in one.warnings])

    @property
    def _tables(self) -> Tables:
        return {"frontier": self._frontier}

    def _frontier(self) -> "pa.Table":
        import pyarrow as pa  # noqa: PLC0415 - an optional library

        is_limit = self.sizes[0].varied.is_limit
        columns: dict[str, list[object]] = {
            "limit_packets" if is_limit else "value": [
                one.smallest if is_limit else one.value for one in self.sizes
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
        column = setting_column(self.axis.key, self.axis.values, self.axis.bare_unit)
        return pa.table(columns).add_column(0, *column)

    def as_dict(self) -> dict[str, Any]:
        """The frontier as `tailroom size --json` prints it."""
        return {
            "over": self.axis.key,
            "points": [
                {"setting": setting, **one.as_dict()}
                for setting, one in zip(self.axis.values, self.sizes, strict=True)
            ],
        }


def _end(one: Size, end: str) -> object:
    """An end of an interval: of a limit in packets, of another key with its unit."""
    steps: float = getattr(one.interval, end)
    return steps if one.varied.is_limit else one.varied.text(steps)


def frontier(
    scenario: ScenarioLike | None = None,
    targets: str | Target | Sequence[str | Target] = (),
    *,
    over: Mapping[str, object],
    set: Mapping[str, object] | None = None,  # noqa: A002
    progress: Callable[[SizeProgress], object] | None = None,
    **question: Any,
) -> Frontier:
    """Finds the smallest sufficient buffer for each value of another key.

    Args:
        scenario: As `tailroom.size` takes it.
        targets: As `tailroom.size` takes them.
        over: The other key, or its end, with its values: a list, or a range as `tailroom.sweep`
            takes it, as in `{"queue.target": ["5 ms", "20 ms"]}`.
        set: Replaces values of the scenario, as `tailroom.run` does.
        progress: Called with a `SizeProgress` of the value in question, as by `tailroom.size`.
        **question: The other arguments of `tailroom.size`.

    Raises:
        ArgumentError: Not exactly one key has values, or an argument of `tailroom.size` is wrong.
        TailroomError: As `tailroom.size`.
    """
    check_mapping("over", over, _EXAMPLE)
    if len(over) != 1:
        raise ArgumentError(f"{named('over')}: has {len(over)} keys; give one, as in {_EXAMPLE}")
    [(key, values)] = over.items()
    read = values if isinstance(values, Axis) else axis(key, values)
    numbers = Numbers(**{one.name: question.get(one.name) for one in fields(Numbers)})
    allowed = {name: question.get(f"allow_{name}", False) for name in ("code", "files")}
    with allowing(**allowed), named_as_arguments(scenario):
        read = read.in_scenario(asked_scenario(scenario, numbers, set))
    sizes = (
        size(scenario, targets, set={**(set or {}), read.key: value}, progress=progress, **question)
        for value in read.values
    )
    return Frontier(read, tuple(sizes))
