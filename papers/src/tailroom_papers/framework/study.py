"""The studies of a part, each a sweep of one scenario, and the extent of a reproduction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, TypeVar

from tailroom.field_docs import with_field_docs
from tailroom.scenario.types import Scenario
from tailroom.studies.sweep_study.plan import Precision

T = TypeVar("T")


class Form(Enum):
    """Extent of a reproduction."""

    SMOKE = "smoke"
    """Seconds: checks only that the code works."""
    QUICK = "quick"
    """About a minute on two cores: fewer points and seeds, shorter runs."""
    FULL = "full"
    """The paper's durations, and at least five seeds."""

    def of(self, smoke: T, quick: T, full: T) -> T:
        """Returns the value for this form.

        Args:
            smoke: Value for `SMOKE`.
            quick: Value for `QUICK`.
            full: Value for `FULL`.
        """
        return {Form.SMOKE: smoke, Form.QUICK: quick, Form.FULL: full}[self]


def check_names(of: str, names: Sequence[str]) -> None:
    """Checks that names are distinct, valid file names.

    Args:
        of: The paper or part, for messages.
        names: The names.

    Raises:
        ValueError: A name is not a valid file name, or is used twice.
    """
    for name in names:
        if not name or name.startswith(".") or "/" in name:
            raise ValueError(
                f"{of}: {name!r} is not a file name; leave out slashes and leading dots"
            )
        if names.count(name) > 1:
            raise ValueError(f"{of}: the name {name!r} is used twice; use each name once")


@with_field_docs
@dataclass(frozen=True)
class Study:
    """A sweep of one scenario."""

    name: str
    """Name of the study in its part."""
    scenario: str | Scenario
    """A shipped scenario ("barman-2004/figure-3.toml"), or a table as in such a file."""
    grid: Mapping[str, Sequence[object]] = field(default_factory=dict)
    """Keys with their values; every combination is a point. A key replaces the same key in the
    `[sweep]` of the scenario."""
    together: Mapping[str, Sequence[object]] = field(default_factory=dict)
    """Keys whose values vary together, row by row."""
    set: Mapping[str, object] = field(default_factory=dict)
    """Values that replace those of the scenario in every run."""
    seeds: int = 5
    """Number of runs per point, with consecutive seeds from the paper's first seed."""
    until: Precision | None = None
    """Stopping rule instead of `seeds`: each point is repeated until the 95 % interval of a metric
    is narrow. It looks at the width of the interval only, never at the side of a bound."""
    keep: tuple[str, ...] = ()
    """Tables that are stored for every run, such as `flow_series`."""

    def varied(self, changes: Mapping[str, object], **fields: Any) -> "Study":
        """Returns the study with other values in every run, for a `Variation`.

        Args:
            changes: Values that replace those of the scenario, by dotted key.
            **fields: Fields of the study that differ, such as `grid` and `seeds`.
        """
        return replace(self, set={**self.set, **changes}, **fields)
