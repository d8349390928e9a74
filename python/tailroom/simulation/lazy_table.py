"""Tables of a result that are made when they are first read."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, Any, cast

from tailroom.libraries import named_if_missing

if TYPE_CHECKING:
    import pyarrow as pa


class LazyTable:
    """A field of a dataclass that takes a table, `None`, or a function that makes the table.

    The function is called when the field is first read, so a run whose tables are not read loads
    neither Arrow nor NumPy. It is called once, even if several threads read the field.
    """

    _making = Lock()

    def __set_name__(self, owner: type, name: str) -> None:
        self._place = f"_{name}"

    def __get__(self, owner: object | None, kind: type | None = None) -> pa.Table | None:
        """Returns the table; for the class itself, `None`, which is the default of the field."""
        if owner is None:
            return None
        with self._making:
            table = vars(owner)[self._place]
            if callable(table):
                with named_if_missing():
                    table = vars(owner)[self._place] = table()
        return cast("pa.Table | None", table)

    def __set__(self, owner: object, table: pa.Table | Callable[[], pa.Table] | None) -> None:
        vars(owner)[self._place] = table


def lazy_table() -> Any:
    """Returns a `LazyTable` as the default of a field that is annotated as a table or `None`."""
    return LazyTable()
