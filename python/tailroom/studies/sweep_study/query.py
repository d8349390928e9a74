"""SQL queries on a store, answered by DuckDB."""

import re
from typing import TYPE_CHECKING

import pyarrow as pa

from tailroom.errors import QueryError
from tailroom.scenario.named_values import near
from tailroom.storage.run import TEXTS
from tailroom.storage.store import Store
from tailroom.studies.sweep_study.tables import all_runs, runs_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MOST_NAMED = 4
"""Maximum number of columns in an error message."""


def query(store: Store, sql: str) -> pa.Table:
    """Answers an SQL query on the runs of a store.

    The table `runs` has one row per run of the store. Each sweep has a table of its own, named by
    the sweep's id. The first columns of both are the settings, one column per varied key. Names
    with dots or dashes need double quotes:
    `SELECT avg("links.bottleneck.utilization") FROM "figure-3-1a2b3c4d" GROUP BY ...`.

    The files of the runs are read only if the query uses the column `scenario` or `summary`.

    Raises:
        QueryError: The SQL is wrong, or DuckDB is not installed.
    """
    try:
        import duckdb  # noqa: PLC0415 - loads slowly, and few commands need it
    except ModuleNotFoundError:
        raise QueryError("SQL needs DuckDB; `pip install 'tailroom[sql]'` installs it") from None
    tables = {record.id: runs_of(store, record, texts=False) for record in store.sweeps()}
    tables["runs"] = all_runs(store, texts=False)  # also if a sweep has this id
    with duckdb.connect() as connection:
        # A query may read the store, but no other files of this machine.
        connection.execute("SET enable_external_access = false")
        # A sweep without a finished run has no columns, and DuckDB takes no such table.
        tables = {name: table for name, table in tables.items() if table.num_columns}
        for name, table in tables.items():
            connection.register(name, _with_texts(table, {}))
        try:
            if _reads_texts(connection, sql):
                texts = _texts_by_run(store)
                for name, table in tables.items():
                    connection.register(name, _with_texts(table, texts))
            answer = connection.sql(sql)
            return pa.table({}) if answer is None else answer.to_arrow_table()
        except duckdb.Error as error:
            raise QueryError(f"SQL: {_missing_column(str(error), sql, tables) or error}") from None


def _missing_column(problem: str, sql: str, tables: dict[str, pa.Table]) -> str:
    """Says which columns a query may mean by one that is missing; empty for another problem.

    The names of metrics are long, and DuckDB compares whole names. A column whose name ends with
    the query's word is what is meant: SQL has no short names.
    """
    found = re.search(r'(column|table) "?([^"\s]+)"? not found', problem)
    # Without quotes, what precedes the first dot is read as a table.
    read = found and found[1] == "table" and re.search(rf"\b{re.escape(found[2])}\.[\w.]+", sql)
    if not found or (found[1] == "table" and not read):
        return ""
    word = read[0] if read else found[2]
    columns = list(dict.fromkeys(name for table in tables.values() for name in table.column_names))
    meant = [name for name in columns if f".{name}".endswith(f".{word}")]
    if not meant:
        by_end: dict[str, list[str]] = {}
        for name in columns:
            by_end.setdefault(name.rpartition(".")[2], []).append(name)
        last = word.rpartition(".")[2]
        meant = [name for end in near(last, by_end) for name in by_end[end]]
    shortest = sorted(meant, key=lambda name: name.count("."))[:MOST_NAMED]
    quoted = " or ".join(f'"{name}"' for name in shortest)
    if not quoted:
        return f"there is no column {word}; `--out FILE.csv` without a query writes all columns"
    return f"there is no column {word}; write {quoted}: the whole name, in double quotes"


def _texts_by_run(store: Store) -> dict[str, tuple[str, ...]]:
    """The texts of each run, in the order of `TEXTS`."""
    whole = store.runs().select(["key", *TEXTS])
    return {key: tuple(texts) for key, *texts in zip(*whole.to_pydict().values(), strict=True)}


def _with_texts(table: pa.Table, texts: dict[str, tuple[str, ...]]) -> pa.Table:
    """Adds the texts of the runs as columns; null where there are none."""
    if not table.num_rows:
        return table
    rows = [texts.get(key, (None,) * len(TEXTS)) for key in table["key"].to_pylist()]
    for name, column in zip(TEXTS, zip(*rows, strict=True), strict=True):
        table = table.append_column(name, pa.array(column, pa.string()))
    return table


def _reads_texts(connection: "DuckDBPyConnection", sql: str) -> bool:
    """Whether a query may read the texts, according to DuckDB's query plan."""
    import duckdb  # noqa: PLC0415 - as above

    statements = connection.extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        return True
    try:
        plan = str(connection.execute(f"EXPLAIN (FORMAT JSON) {sql}").fetchall())
    except duckdb.Error:
        return False  # The query itself raises the same error.
    return any(name in plan for name in TEXTS)
