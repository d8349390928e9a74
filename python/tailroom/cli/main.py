"""The command `tailroom` and its subcommands."""

import typer

from tailroom.cli.compare import compare
from tailroom.cli.evaluate import evaluate_command
from tailroom.cli.import_capture import import_capture
from tailroom.cli.list import list_components
from tailroom.cli.model import model
from tailroom.cli.papers import app as papers
from tailroom.cli.plot import plot
from tailroom.cli.results import results
from tailroom.cli.run import run
from tailroom.cli.schema import schema
from tailroom.cli.size import size_command
from tailroom.cli.sweep import sweep_command

app = typer.Typer(
    name="tailroom",
    help="How much buffer a link needs, and what each choice costs.",
    epilog="Exit status: 0 done, 1 the run failed, 2 the input is wrong, 3 a congestion control of "
    "your own raised an exception, 4 no buffer that size tried meets every target, 130 "
    "interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command()(run)
app.command("size")(size_command)
app.command("sweep")(sweep_command)
app.command()(results)
app.command()(model)
app.command()(compare)
app.command("evaluate")(evaluate_command)
app.add_typer(papers, name="papers")
app.command()(plot)
app.command("import")(import_capture)
app.command("list")(list_components)
app.command()(schema)


def main() -> None:
    """Runs the command line of this process."""
    app()
