"""What all results of tailroom can do: tables, data frames, a picture, files, warnings.

How each class is drawn and written stands in a layer above, because it loads matplotlib. This
module is the only one that looks up there, as xarray's plot accessor does.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any

from tailroom.errors import ArgumentError
from tailroom.libraries import named_if_missing, need

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.figure import Figure

    from tailroom.simulation.result_types import RunWarning

PRESENTATION = "tailroom.reports.presentation"
"""The module that draws, shows and writes results."""

Tables = Mapping[str, "Callable[[], pa.Table]"]
"""Functions that make the tables of a result, by name; the main table comes first."""


class AnyResult(ABC):
    """What the results of `run`, `sweep`, `size`, `choices`, `evaluate` and `predict` share."""

    @property
    @abstractmethod
    def warnings(self) -> tuple[RunWarning, ...]:
        """What a reader should know before trusting the result, each kind and place once."""

    @property
    @abstractmethod
    def _tables(self) -> Tables:
        """The tables of the result."""

    @abstractmethod
    def as_dict(self) -> dict[str, Any]:
        """The result as the command prints it with `--json`."""

    @property
    def table_names(self) -> tuple[str, ...]:
        """Names of the tables; the main table comes first."""
        return tuple(self._tables)

    def table(self, name: str | None = None) -> pa.Table:
        """Returns a table.

        Args:
            name: Name of the table, which the class describes; the main table if left out.

        Raises:
            ArgumentError: There is no such table, or it was not recorded.
            MetricError: There is no such metric, which the name of a sweep's table may be.
        """
        tables = self._tables
        if name is None:
            name = next(iter(tables))
        if name not in tables:
            known = ", ".join(tables)
            raise ArgumentError(f"there is no table {name!r}; choose one of {known}")
        with named_if_missing():
            return tables[name]()

    def to_pandas(self, table: str | None = None) -> pd.DataFrame:
        """Returns a table as a pandas data frame.

        Args:
            table: Name of the table, as for `table`.

        Raises:
            ArgumentError: There is no such table, or it was not recorded.
            MetricError: There is no such metric.
            MissingLibraryError: pandas is not installed (`pip install 'tailroom[frames]'`).
        """
        need("pandas")
        return self.table(table).to_pandas()

    def to_polars(self, table: str | None = None) -> pl.DataFrame:
        """Returns a table as a polars data frame.

        Args:
            table: Name of the table, as for `table`.

        Raises:
            ArgumentError: There is no such table, or it was not recorded.
            MetricError: There is no such metric.
            MissingLibraryError: polars is not installed (`pip install 'tailroom[frames]'`).
        """
        need("polars")
        import polars as pl  # noqa: PLC0415 - an optional library

        frame: pl.DataFrame = pl.from_arrow(self.table(table))  # type: ignore[assignment]
        return frame

    def plot(self, *, title: bool | None = True) -> Figure:
        """Draws the main picture.

        Args:
            title: Whether the picture has its title; `None` is no title either.

        Raises:
            ArgumentError: The result has nothing to draw.
        """
        return self._drawn(title=title)

    def save(self, directory: str | PathLike[str]) -> None:
        """Writes the result into a new directory; if a file cannot be written, none is left.

        For a run, the files that `tailroom.load` reads. For the other results a CSV file per
        table, everything as JSON, and the picture; for choices also their scenarios, for a report
        card the report.

        Args:
            directory: The new directory; missing, or an empty directory.

        Raises:
            OutputDirectoryError: The directory has content already, or cannot be written.
        """
        need("pyarrow", "matplotlib")
        import_module(PRESENTATION).save(self, directory)

    def _drawn(self, *options: object, **named: object) -> Figure:
        figure: Figure = import_module(PRESENTATION).draw(self, *options, **named)
        return figure

    def _repr_html_(self) -> str:
        """A table and a picture, for notebooks."""
        page: str = import_module(PRESENTATION).html(self)
        return page
