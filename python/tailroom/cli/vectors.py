"""`tailroom vectors`: numbers that any implementation can check itself against."""

from collections.abc import Collection
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

import tailroom
from tailroom.cli import failures
from tailroom.cli.lazy_commands import ending
from tailroom.quoting import quoted, shown
from tailroom.scenario.named_values import nearest
from tailroom.storage.output import output_directory
from tailroom.vectors.judge import Results, misses
from tailroom.vectors.reading import read_results, read_vectors
from tailroom.vectors.runs import results_of
from tailroom.vectors.sets import SETS, all_vectors
from tailroom.vectors.writing import results_text, write_vectors

if TYPE_CHECKING:
    from tailroom.vectors.vector import Vector

app = typer.Typer(
    help="Numbers of RFCs and papers that other implementations can check themselves against.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="NAME", help="Sets, such as cubic, or vectors (default: all)."),
]


@app.command("list", epilog=ending("vectors list cubic"))
def list_vectors(names: Names = None) -> None:
    """List the sets of vectors, or the vectors of sets."""
    with failures.reported():
        chosen = _chosen(names)
        if names:
            table = Table("vector", "title", "source", box=box.SIMPLE_HEAD)
            for vector in chosen:
                table.add_row(vector.id, vector.title, vector.source)
        else:
            table = Table("set", "content", "vectors", "expectations", box=box.SIMPLE_HEAD)
            for name, content in SETS.items():
                own = [vector for vector in chosen if vector.set_name == name]
                count = sum(len(vector.expect) for vector in own)
                table.add_row(name, content, str(len(own)), str(count))
        Console(highlight=False).print(table)


@app.command("write", epilog=ending("vectors write vectors"))
def write(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="New directory.")],
    names: Names = None,
    *,
    qlog: Annotated[
        bool,
        typer.Option(
            "--qlog",
            help="Also write a trace of tailroom's run of each sender (qlog), VECTOR.sqlog.gz.",
        ),
    ] = False,
) -> None:
    """Write vectors as JSON, a file each, with an index of their hashes and the schema."""
    with failures.reported(), output_directory(directory) as output:
        vectors = _chosen(names)
        traces = 0

        def write_all(place: Path) -> None:
            nonlocal traces
            traces = write_vectors(vectors, place, version=tailroom.__version__, has_traces=qlog)

        output.write(write_all)
        files = f"{traces} traces, index.json" if qlog else "index.json"
        print(f"{len(vectors)} vectors, {files} and schema.json are in {shown(str(directory))}")


@app.command("run", epilog=ending("vectors run cubic > results.json"))
def run(
    names: Names = None,
    *,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the runs.")] = 1,
    qlog: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Also write a trace of each run of a sender (qlog), VECTOR.sqlog."
        ),
    ] = None,
) -> None:
    """Run tailroom on vectors, and print its results in the form that `check` reads."""
    with failures.reported():
        vectors = _chosen(names)
        results: dict[str, Results] = {}

        def run_all(place: Path | None) -> None:
            for vector in vectors:
                trace = place / f"{vector.id}.sqlog" if place else None
                results[vector.id] = results_of(vector, seed=seed, qlog=trace)

        with output_directory(qlog) if qlog else nullcontext() as output:
            output.write(run_all, rescue=False) if output else run_all(None)
        print(results_text(f"tailroom {tailroom.__version__}", results))


@app.command("check", epilog=ending("vectors check vectors --against results.json"))
def check(
    vectors: Annotated[
        Path, typer.Argument(metavar="PATH", help="File of a vector, or directory of them.")
    ],
    *,
    against: Annotated[
        Path, typer.Option(metavar="FILE", help="Results of the implementation to judge.")
    ],
) -> None:
    """Judge the results of an implementation, and explain each miss.

    Exit status 1 if an expectation is missed. Vectors without results are not judged.
    """
    with failures.reported():
        results = read_results(against)
        known = {vector.id: vector.expect for vector in read_vectors(vectors)}
        if not (judged := results.keys() & known.keys()):
            raise failures.InputError(
                f"{shown(str(against))}, results: has none of the vectors in "
                f"{shown(str(vectors))}; its keys must be their ids, such as {quoted(min(known))}"
            )
        own = {expected.why for vector in all_vectors() for expected in vector.expect}
        count = missed = 0
        for name in sorted(judged):
            count += len(known[name])
            for miss in misses(known[name], results[name]):
                missed += 1
                low, high = miss.expectation.value
                band = f"{low:.6g}" if low == high else f"{low:.6g} to {high:.6g}"
                why = _why(miss.expectation.why, own)
                print(f"{quoted(name)}: {miss.found}; expected {band}: {why}")
        print(
            f"{count - missed} of {count} expectations of {len(judged)} vectors are met; "
            f"{len(known) - len(judged)} vectors have no results"
        )
        if others := sorted(results.keys() - known.keys()):
            names = ", ".join([*map(quoted, others[:3]), *(["..."] if others[3:] else [])])
            print(f"not judged, since no vector there has this name: {names}")
        if missed:
            raise typer.Exit(failures.VECTOR_MISSED)


def _why(text: str, own: Collection[str]) -> str:
    """The reason for an expectation: whole if it is one of tailroom's own, else quoted."""
    return text if text in own else quoted(text)


def _chosen(names: list[str] | None) -> "list[Vector]":
    vectors = all_vectors()
    known = [*SETS, *(vector.id for vector in vectors)]
    for name in names or ():
        if name not in known:
            raise failures.InputError(f"{shown(name)}: is unknown; {nearest(name, known)}")
    return [vector for vector in vectors if not names or {vector.id, vector.set_name} & {*names}]
