"""Conversion of tables to data frames of pandas and polars, which are optional libraries."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from tailroom.errors import MissingLibraryError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


def to_pandas(table: pa.Table) -> pd.DataFrame:
    """Converts a table to a pandas data frame.

    Raises:
        MissingLibraryError: pandas is not installed.
    """
    _library("pandas")
    return table.to_pandas()


def to_polars(table: pa.Table) -> pl.DataFrame:
    """Converts a table to a polars data frame.

    Raises:
        MissingLibraryError: polars is not installed.
    """
    frame: pl.DataFrame = _library("polars").from_arrow(table)
    return frame


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ModuleNotFoundError:
        raise MissingLibraryError(
            f"{name} is not installed; install it with: pip install 'tailroom[frames]'"
        ) from None
