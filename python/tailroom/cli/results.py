"""`tailroom results`: sweeps of a store, SQL queries, and tables as files."""

import csv
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import pyarrow as pa
import typer
from rich.console import Console

from tailroom.cli import completion, failures, report
from tailroom.cli.options import chosen_sweep, warn_of_damage
from tailroom.cli.sentences import say
from tailroom.cli.sweep_table import show
from tailroom.cli.table_excerpt import print_excerpt
from tailroom.cli.terminal_text import escape
from tailroom.parquet_files import write_table
from tailroom.scenario.json_text import json_text
from tailroom.storage.output import output_file
from tailroom.storage.store import Store
from tailroom.studies.sweep_study.query import query
from tailroom.studies.sweep_study.study import SweepResult
from tailroom.studies.sweep_study.tables import all_runs, means, runs_of

LONGEST_TEXT = 200
"""Maximum length of a text in printed CSV, in characters; a scenario has thousands."""


def results(  # noqa: PLR0913 - one argument an option
    place: Annotated[Path, typer.Argument(metavar="STORE", help="Directory of the store.")],
    *,
    sweep: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="Show only this sweep; the beginning of its id suffices.",
            autocompletion=completion.sweep_ids,
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Show mean and 95 % interval of this metric at each point.",
            autocompletion=completion.metric_names,
        ),
    ] = None,
    sql: Annotated[
        str | None,
        typer.Option(
            metavar="QUERY",
            help='Query in SQL. Table "runs" has every run; a table named after a sweep\'s id '
            "has its runs. A terminal shows part of a long answer, --out writes all of it.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the table into a new .csv or .parquet file."),
    ] = None,
    json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print the sweeps, or the points of --sweep, as JSON.",
        ),
    ] = False,
    texts: Annotated[
        bool,
        typer.Option(
            "--texts",
            help="With --out: add the scenario (TOML) and the summary (JSON) as columns.",
        ),
    ] = False,
) -> None:
    """Show the sweeps of a store, the points of a sweep, or the answer to an SQL query.

    --out writes all runs, or those of --sweep, with settings and every metric, the means of
    --metric, or the answer to --sql.
    """
    with failures.reported(), ExitStack() as opened:
        _check_options(sql, metric, out, json=json, texts=texts)
        store = Store(place)
        output = opened.enter_context(output_file(out)) if out else None
        if sql:
            table: pa.Table | None = query(store, sql)
        elif metric:
            table = means(store.columns(), chosen_sweep(store, sweep), metric)
        elif out:
            table = (
                runs_of(store, chosen_sweep(store, sweep), texts=texts)
                if sweep
                else all_runs(store, texts=texts)
            )
        else:
            table = None
        if json:
            whole = SweepResult(store, chosen_sweep(store, sweep)).as_dict() if sweep else None
            print(json_text(_sweeps(store) if whole is None else whole), end="")
        elif table is None:
            _show(store, sweep, Console(highlight=False))
        elif out and output:
            written = table
            output.write(lambda path: _write(written, path), rescue=False)
            print(f"{table.num_rows:,} rows are in {out}")
        elif sys.stdout.isatty():
            print_excerpt(table, Console(highlight=False))
        else:
            _print_csv(table)
        warn_of_damage(store)


def _show(store: Store, sweep: str | None, console: Console) -> None:
    if sweep:
        show(SweepResult(store, chosen_sweep(store, sweep)), console)
        return
    table = report.table_of("Sweeps", "title", "id", "points", "runs kept", "runs planned")
    unfinished = []
    for one in _sweeps(store):
        counts = (report.count(one[name]) for name in ("points", "runs", "planned_runs"))
        table.add_row(escape(one["title"]), escape(one["id"]), *counts)
        if one["runs"] < one["planned_runs"]:
            unfinished.append(one["id"])
    if table.row_count:
        console.print(table)
        if unfinished:
            names = escape(", ".join(unfinished))
            say(console, f"Not complete: {names}. The command of a sweep continues it.")
        return
    runs = len(store.columns().keys)
    console.print(f"No sweep, {report.count(runs)} runs of other commands; --out writes them.")


def _sweeps(store: Store) -> list[dict[str, Any]]:
    """What there is of each sweep: id, title, points, and the numbers of kept and planned runs."""
    index, sweeps = store.columns(), []
    for record in store.sweeps():
        planned = [key for point in record.points for key in point["runs"]]
        sweeps.append(
            {
                "id": record.id,
                "title": record.title,
                "points": len(record.points),
                "runs": len(index.present(planned)),
                "planned_runs": len(planned),
            }
        )
    return sweeps


def _check_options(
    sql: str | None, metric: str | None, out: Path | None, *, json: bool, texts: bool
) -> None:
    """Refuses options that exclude one another."""
    if sql and metric:
        raise failures.InputError("--sql and --metric are given; keep one of them")
    if json and (sql or metric or out):
        raise failures.InputError(
            "--json: applies to the sweeps or one of them; leave out --sql, --metric and --out"
        )
    if texts and (sql or metric or not out):
        raise failures.InputError(
            "--texts: applies to the runs that --out writes; add --out, and leave out --sql "
            "and --metric"
        )
    if out:
        _check_out(out)


def _check_out(path: Path) -> None:
    if path.suffix not in (".csv", ".parquet"):
        raise failures.InputError(f"--out {path}: give a file that ends in .csv or .parquet")
    if path.exists():
        raise failures.InputError(f"--out {path}: the file exists; choose another name")


def _write(table: pa.Table, path: Path) -> None:
    if path.suffix == ".parquet":
        write_table(table, path)
        return
    with path.open("x", encoding="utf-8", newline="") as file:
        _write_csv(table, file)


def _print_csv(table: pa.Table) -> None:
    """Prints all rows; long texts such as scenarios are cut."""
    cut = 0

    def shortened(value: object) -> object:
        nonlocal cut
        if not isinstance(value, str) or len(value) <= LONGEST_TEXT:
            return value
        cut += 1
        return f"{value[:LONGEST_TEXT]}..."

    _write_csv(table, sys.stdout, shortened)
    if cut:
        print(
            f"note: {cut:,} texts of more than {LONGEST_TEXT} characters were cut; "
            "--out FILE writes them whole",
            file=sys.stderr,
        )


def _write_csv(
    table: pa.Table, file: object, shown: Callable[[object], object] = lambda value: value
) -> None:
    writer = csv.writer(file, lineterminator="\n")  # type: ignore[arg-type]
    writer.writerow(table.column_names)
    columns = (map(shown, column.to_pylist()) for column in table.columns)
    writer.writerows(zip(*columns, strict=True))
