"""The bounds of a paper's claims, each with its reason, from the paper's `bounds.toml`.

    committed = 2026-11-23

    [almost-98]
    value = 0.97
    words = "almost 98 %"
    reason = "one percentage point below the number: 97 to 98 % rounds to almost 98 %"
    word = "almost"
    known = true
    percent = true

The file is committed before the runs that it judges.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from importlib.resources import files

from tailroom.field_docs import with_field_docs

FILE = "bounds.toml"


@with_field_docs
@dataclass(frozen=True)
class NamedBound:
    """A number, or a range, that decides whether a measured number agrees with a paper's words."""

    name: str
    """Name in `bounds.toml`."""
    values: tuple[float, ...]
    """The number, or the lower and upper end of the range."""
    words: str
    """The paper's words."""
    reason: str
    """How the number follows from the words; empty if it is the paper's own number."""
    known: bool
    """Whether results were known when the bound was chosen."""
    word: str = ""
    """The word that the bound interprets, such as "reasonable": one word has the same bound in all
    papers."""
    percent: bool = False
    """Whether reports show the number, and what is compared with it, in percent."""

    @property
    def value(self) -> float:
        """The number.

        Raises:
            ValueError: The bound is a range.
        """
        if len(self.values) != 1:
            raise ValueError(f"{FILE}: {self.name} is a range; use its `values`")
        return self.values[0]


@with_field_docs
@dataclass(frozen=True)
class Bounds(Mapping[str, NamedBound]):
    """The bounds of a paper by name."""

    committed: date | None
    """Date on which the bounds were committed, before the runs that they judge."""
    by_name: Mapping[str, NamedBound]
    """The bounds by name."""
    package: str = ""
    """Package with the file."""

    @classmethod
    def of(cls, package: str) -> "Bounds":
        """Reads the `bounds.toml` of a package.

        Args:
            package: Name of the package, usually `__package__`.

        Raises:
            ValueError: An entry has unknown or missing keys.
        """
        table = tomllib.loads(files(package).joinpath(FILE).read_text(encoding="utf-8"))
        committed = table.pop("committed")
        return cls(committed, {name: _bound(name, entry) for name, entry in table.items()}, package)

    def __getitem__(self, name: str) -> NamedBound:
        """Returns the bound of this name."""
        return self.by_name[name]

    def __iter__(self) -> Iterator[str]:
        """Iterates over the names."""
        return iter(self.by_name)

    def __len__(self) -> int:
        """Returns the number of bounds."""
        return len(self.by_name)


NO_BOUNDS = Bounds(None, {})
"""For a paper whose claims need no number that the paper does not state."""


def _bound(name: str, entry: Mapping[str, object]) -> NamedBound:
    try:
        rest = dict(entry)
        value = rest.pop("value")
        values = value if isinstance(value, list) else [value]
        rest.setdefault("reason", "")
        return NamedBound(name, tuple(map(float, values)), **rest)  # type: ignore[arg-type]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{FILE}: {name}: {error}; an entry has value, words, known and, if the paper does "
            "not state the number, reason and word; a fraction may have percent"
        ) from None
