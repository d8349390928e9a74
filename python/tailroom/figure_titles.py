"""Whether figures have their titles: a paper or a slide has its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_are_wanted: ContextVar[bool] = ContextVar("_are_wanted", default=True)


def are_wanted() -> bool:
    """Returns whether figures that are drawn now have titles."""
    return _are_wanted.get()


@contextmanager
def titles(*, wanted: bool | None) -> Iterator[None]:
    """Decides whether figures that are drawn within the block have titles.

    Args:
        wanted: `False` or `None` leaves titles out; a block within cannot bring them back.
    """
    token = _are_wanted.set(bool(wanted) and are_wanted())
    try:
        yield
    finally:
        _are_wanted.reset(token)
