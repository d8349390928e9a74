"""Questions in SQL to a store, answered by DuckDB."""

import pyarrow as pa

from tailroom.store import Store
from tailroom.sweep_tables import all_runs, runs_of
from tailroom.wrong_input import WrongInputError


class QueryError(WrongInputError, ValueError):
    """The SQL is wrong; the message is DuckDB's."""


def query(store: Store, sql: str) -> pa.Table:
    """Answers a question in SQL.

    The table `runs` has every run of the store, a table named by a sweep's id the runs of that
    sweep; both have the settings in front, a column a key that was varied. Names with dots or
    dashes stand in double quotes:
    `SELECT avg("links.bottleneck.utilization") FROM "figure-3-1a2b3c4d" GROUP BY ...`.

    Raises:
        QueryError: The SQL is wrong.
    """
    import duckdb  # noqa: PLC0415 - it takes a while to load, and few commands ask

    with duckdb.connect() as connection:
        # The store is ours to read; nothing else of the machine is the query's.
        connection.execute("SET enable_external_access = false")
        connection.register("runs", all_runs(store))
        for record in store.sweeps():
            connection.register(record.id, runs_of(store, record))
        try:
            answer = connection.sql(sql)
            return pa.table({}) if answer is None else answer.to_arrow_table()
        except duckdb.Error as error:
            raise QueryError(f"SQL: {error}") from None
