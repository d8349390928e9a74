"""SQL queries on a store, answered by DuckDB."""

import pyarrow as pa

from tailroom.errors import QueryError
from tailroom.storage.store import Store
from tailroom.studies.sweep_study.tables import all_runs, runs_of


def query(store: Store, sql: str) -> pa.Table:
    """Answers an SQL query.

    The table `runs` has one row per run of the store. Each sweep has a table of its own, named by
    the sweep's id. The first columns of both are the settings, one column per varied key. Names
    with dots or dashes need double quotes:
    `SELECT avg("links.bottleneck.utilization") FROM "figure-3-1a2b3c4d" GROUP BY ...`.

    Raises:
        QueryError: The SQL is wrong, or DuckDB is not installed.
    """
    try:
        import duckdb  # noqa: PLC0415 - it takes a while to load, and few commands need it
    except ModuleNotFoundError:
        raise QueryError("SQL needs DuckDB; `pip install 'tailroom[sql]'` installs it") from None
    with duckdb.connect() as connection:
        # A query may read the store and nothing else on this machine.
        connection.execute("SET enable_external_access = false")
        connection.register("runs", all_runs(store))
        for record in store.sweeps():
            connection.register(record.id, runs_of(store, record))
        try:
            answer = connection.sql(sql)
            return pa.table({}) if answer is None else answer.to_arrow_table()
        except duckdb.Error as error:
            raise QueryError(f"SQL: {error}") from None
