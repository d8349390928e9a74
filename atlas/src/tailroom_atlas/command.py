"""`tailroom atlas plan`, `scenario` and `run`: the cells, and their computation."""

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import tomli_w
import typer
from rich.console import Console

from tailroom.buffer_atlas import data
from tailroom.buffer_atlas.kinds import KINDS
from tailroom.cli import completion, failures
from tailroom.cli.answer import write_and_print
from tailroom.cli.atlas import answer_table
from tailroom.cli.options import ClusterAddress, Workers
from tailroom.cli.table import NumberTable
from tailroom.quoting import shown
from tailroom.storage.output import output_directory
from tailroom_atlas.cost import PlannedCell, short_form
from tailroom_atlas.plan import BUDGET_CORE_S, named_cells, plan
from tailroom_atlas.progress import atlas_bar
from tailroom_atlas.scenarios import scenario, sought
from tailroom_atlas.study import AtlasRuns, compute_atlas

STORE = Path("atlas-store")


def print_scenario(
    name: Annotated[
        str,
        typer.Argument(
            metavar="CELL",
            help="Name of a cell, as `tailroom atlas plan --all` lists it.",
            autocompletion=completion.cell_names,
        ),
    ],
) -> None:
    """Print the scenario of a cell as TOML, for `run`, `size` and `explore`."""
    with failures.reported():
        entry = _planned(name)
        key = sought(entry.cell).key
        if entry.how == "scaled":
            entry = short_form(entry.cell)
            print(f"# {key} is scaled from smaller links, since a run of this one takes long.")
        else:
            print(f"# The search varies {key}, seeds 1 to {entry.form.max_seeds}.")
        print(tomli_w.dumps(scenario(entry.cell, entry.warm_up_s, entry.measured_s)), end="")


def print_plan(
    *,
    all_cells: Annotated[
        bool, typer.Option("--all", help="List every cell with its cost.")
    ] = False,
) -> None:
    """List the cells by kind of link, how they are obtained, and what they cost."""
    with failures.reported():
        planned = plan()
        table = NumberTable(
            "Cells of the atlas", "kind of link", "cells", "full", "short", "scaled", "core-s"
        )
        for kind in KINDS:
            of_kind = [entry for entry in planned if entry.cell.kind == kind.name]
            table.add_row(kind.words, *_counts(of_kind))
        table.add_row("all", *_counts(planned))
        console = Console(highlight=False)
        console.print(table)
        if all_cells:
            for entry in planned:
                print(f"{entry.cell.name}  {entry.how}  {entry.core_s:.1f}")
        rungs = sum(entry.is_rung for entry in planned)
        cost = sum(entry.core_s for entry in planned)
        print(
            f"{rungs} of them are only there to scale others from. Estimate: {cost:,.0f} "
            f"core-seconds of the {BUDGET_CORE_S:,.0f} that the atlas may cost, "
            f"{cost / 120:.0f} minutes on two cores."
        )


def run_cells(  # noqa: PLR0913 - one argument an option
    cells: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CELL...]",
            help="Names of cells, with * for any text (default: every cell).",
            autocompletion=completion.cell_names,
        ),
    ] = None,
    *,
    store: Annotated[
        Path,
        typer.Option(
            metavar="DIR",
            help="Store for the runs; stored runs are not repeated, so the same command continues "
            "after an interruption.",
        ),
    ] = STORE,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="New directory for the data: two Parquet files, and lookup.csv."
        ),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Atlas from which --out gets the cells that are not computed here.",
        ),
    ] = None,
    workers: Workers = None,
    cluster: ClusterAddress = None,
) -> None:
    """Compute cells: all of them in four hours on two cores, and nothing that the store holds."""
    with failures.reported(_show_known):
        planned = named_cells(cells) if cells else plan()
        kept = data.read(keep) if keep else None
        print(
            f"{_cells(len(planned))}, about {sum(entry.core_s for entry in planned):,.0f} "
            "core-seconds, less what the store holds",
            file=sys.stderr,
        )
        with output_directory(out) if out else nullcontext() as output:
            with atlas_bar() as progress:
                runs = compute_atlas(
                    planned, store, workers=workers, executor=cluster, progress=progress
                )
            write_and_print(
                output,
                lambda directory: runs.write(directory, kept),
                lambda: _show_runs(runs, is_brief=not cells),
            )
        if out:
            print(f"The data are in {shown(str(out))}")


def _planned(name: str) -> PlannedCell:
    """The cell of a name.

    Raises:
        InputError: The name is a pattern.
        ArgumentError: No cell has this name.
    """
    known = [entry for entry in named_cells([name]) if entry.cell.name == name]
    if not known:
        raise failures.InputError(f"{name}: is a pattern; give the name of one cell")
    return known[0]


def _show_runs(runs: AtlasRuns, *, is_brief: bool) -> None:
    """Prints the answers, or how many there are, and the cost against its estimate."""
    answers = runs.answers
    if not is_brief:
        console = Console(highlight=False)
        for row in answers:
            console.print(answer_table(row))
    engine_s = sum(one.engine_s for one in runs.searched)
    planned_s = sum(one.planned.core_s for one in runs.searched)
    count = sum(tested.runs for one in runs.searched for tested in one.tested)
    cells = len({row["cell"] for row in answers})
    print(
        f"{_cells(cells)}, {count:,} runs; the engine took "
        f"{engine_s:,.0f} s for them, one after the other; estimated were {planned_s:,.0f}."
    )


def _show_known(runs: AtlasRuns) -> str:
    return (
        f"{len(runs.searched)} cells are finished, and every finished run is kept; to continue, "
        f"give the same command again: {failures.this_command()}"
    )


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"


def _counts(planned: Sequence[PlannedCell]) -> list[str]:
    hows = [entry.how for entry in planned]
    return [
        str(len(planned)),
        *(str(hows.count(how)) for how in ("full", "short", "scaled")),
        f"{sum(entry.core_s for entry in planned):,.0f}",
    ]
