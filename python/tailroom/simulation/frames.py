"""Conversion of tables to data frames of pandas and polars, which are optional libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tailroom.libraries import need

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


def to_pandas(table: pa.Table) -> pd.DataFrame:
    """Converts a table to a pandas data frame.

    Raises:
        MissingLibraryError: pandas is not installed.
    """
    need("pandas")
    return table.to_pandas()


def to_polars(table: pa.Table) -> pl.DataFrame:
    """Converts a table to a polars data frame.

    Raises:
        MissingLibraryError: polars is not installed.
    """
    need("polars")
    import polars as pl  # noqa: PLC0415 - an optional library

    frame: pl.DataFrame = pl.from_arrow(table)  # type: ignore[assignment]
    return frame
