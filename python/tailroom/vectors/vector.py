"""A vector: what happens to an implementation, and what its source says must follow."""

from dataclasses import asdict, dataclass

from tailroom.vectors.scripts import Occurrence, Script

FORMAT = 1
"""Version of the files; it grows when a key changes its meaning or disappears."""

Band = tuple[float, float]
"""The least and the largest value, both allowed."""


@dataclass(frozen=True, kw_only=True)
class Expectation:
    """One comparison. Exactly one of `quantity` and `event` is given.

    With `at`, a quantity must be in the band during the whole interval, and an event must happen
    that often in it; without, the quantity is a single value of the run.
    """

    quantity: str | None = None
    event: str | None = None
    after: Occurrence | None = None
    at: Band | None = None
    """An interval in seconds since the start, or since `after`."""
    value: Band
    why: str
    """The formula or sentence of the source, with its numbers."""


@dataclass(frozen=True, kw_only=True)
class Vector:
    """A script and its expectations."""

    id: str
    """`SET.NAME`, which is also the name of its file."""
    title: str
    source: str
    """Document and section."""
    url: str
    script: Script
    expect: tuple[Expectation, ...]
    chance: str | None = None
    """Where chance plays a part: how wide the bands are, and why."""

    @property
    def set_name(self) -> str:
        """The set that the vector belongs to."""
        return self.id.partition(".")[0]

    def as_dict(self) -> dict[str, object]:
        """The object that its file holds, without keys that do not apply."""
        shown = {"format": FORMAT, **asdict(self)}
        shown["script"] = {"kind": self.script.KIND, **asdict(self.script)}
        return _without_empty(shown)


def _without_empty(table: dict[str, object]) -> dict[str, object]:
    return {key: _shown(value) for key, value in table.items() if value not in (None, (), {})}


def _shown(value: object) -> object:
    if isinstance(value, dict):
        return _without_empty(value)
    if isinstance(value, tuple | list):
        return [_shown(part) for part in value]
    return float(f"{value:.12g}") if isinstance(value, float) else value
