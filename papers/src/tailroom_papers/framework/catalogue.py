"""The papers of all installed distributions."""

from collections.abc import Iterable, Sequence
from importlib.metadata import EntryPoint, entry_points

from tailroom.quoting import quoted
from tailroom.scenario.named_values import nearest
from tailroom_papers.framework.paper import Paper, PaperError, Part

GROUP = "tailroom.papers"
"""The group of entry points. The name of an entry point is the name of the paper; its object is a
`Paper`."""


def names() -> list[str]:
    """Returns the sorted names of the papers without loading them."""
    return sorted(_entries())


def load(name: str) -> Paper:
    """Loads a paper.

    Args:
        name: Name of the paper, as `names` returns it.

    Raises:
        PaperError: No installed distribution offers a paper of this name.
    """
    entries = _entries()
    if name not in entries:
        raise PaperError(f"{name}: there is no such paper; {nearest(name, entries)}")
    paper: Paper = entries[name].load()
    return paper


def parts_of(paper: Paper, figures: Sequence[str]) -> tuple[Part, ...]:
    """Returns parts of a paper, in the order of the paper.

    Args:
        paper: The paper.
        figures: Names of the parts; all parts if empty.

    Raises:
        PaperError: The paper has no part of such a name.
    """
    known = [part.name for part in paper.parts]
    for name in figures:
        if name not in known:
            raise PaperError(
                f"{paper.name}: there is no figure {quoted(name)}; {nearest(name, known)}"
            )
    return tuple(part for part in paper.parts if not figures or part.name in figures)


def _entries() -> dict[str, EntryPoint]:
    entries: Iterable[EntryPoint] = entry_points(group=GROUP)
    return {entry.name: entry for entry in entries}
