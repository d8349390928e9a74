"""The command `tailroom` and its subcommands."""

import os
import warnings

from tailroom.cli.completion import join_words
from tailroom.cli.lazy_commands import LazyGroup, Subcommand, ending
from tailroom.cli.root_options import root_options
from tailroom.errors import TailroomWarning
from tailroom.staging import removed_at_termination

app = LazyGroup(
    {
        "run": Subcommand(
            "tailroom.cli.run:run",
            "Simulate a scenario and print the results.",
            "run first --vary links.bottleneck.queue=codel,fq_codel",
        ),
        "new": Subcommand(
            "tailroom.cli.new:new",
            "Write a commented scenario file to start from.",
            "new my.toml --preset first",
        ),
        "size": Subcommand(
            "tailroom.cli.size:size_command",
            "Find the smallest buffer that meets every target with 95 % confidence.",
            "size --rate 100Mbit/s --rtt 40ms --target 'utilization >= 98%'",
        ),
        "atlas": Subcommand(
            "tailroom.cli.atlas:app",
            "Show the buffers that links of today need; `run` computes them.",
            "atlas near --rate 100Mbit/s --rtt 40ms",
        ),
        "sweep": Subcommand(
            "tailroom.cli.sweep:sweep_command",
            "Run a scenario at every point of a grid, several times each, and keep every run.",
            "sweep first --grid bottleneck.queue.limit='10 packets, 100 packets'",
        ),
        "results": Subcommand(
            "tailroom.cli.results:results",
            "Show the sweeps of a store, the points of a sweep, or the answer to an SQL query.",
            "results tailroom-store --metric utilization",
        ),
        "model": Subcommand(
            "tailroom.cli.model:model",
            "Predict the effect of a buffer with the analytic models of the literature.",
            "model first --model sawtooth",
        ),
        "headroom": Subcommand(
            "tailroom.cli.headroom:headroom_command",
            "Compute the PFC headroom of a port with every term, or check tables of headrooms.",
            "headroom --speed 400G --cable 300m --asic spectrum-4",
        ),
        "vectors": Subcommand(
            "tailroom.cli.vectors:app",
            "Numbers of RFCs and papers that other implementations can check themselves against.",
            "vectors write vectors",
        ),
        "compare": Subcommand(
            "tailroom.cli.compare:compare",
            "Compare a simulation with the models of the literature, or with a measurement.",
            "compare first --seeds 5",
        ),
        "evaluate": Subcommand(
            "tailroom.cli.evaluate:evaluate_command",
            "Compare a congestion control with Reno and CUBIC, or a queue discipline with CoDel "
            "and PIE.",
            "evaluate bbr3 --quick",
        ),
        "explore": Subcommand(
            "tailroom.cli.explore:explore",
            "Serve a page on this machine that shows what a buffer costs while you move a slider.",
            "explore first --open",
        ),
        "plot": Subcommand(
            "tailroom.cli.plot:plot",
            "Draw the recorded time series of a run, or curves of a sweep.",
            "plot tailroom-store --metric utilization",
        ),
        "import": Subcommand(
            "tailroom.cli.import_capture:import_capture",
            "Turn a packet capture into a list of TCP flows.",
            "import capture.pcap --to 192.0.2.0/24 --out flows.csv",
        ),
        "list": Subcommand(
            "tailroom.cli.list:list_components",
            "List the components of scenarios and the shipped scenarios.",
            "list congestion",
        ),
        "schema": Subcommand(
            "tailroom.cli.schema:schema",
            "Print the JSON Schema of the scenario file.",
            "schema > scenario.schema.json",
        ),
        "papers": Subcommand(
            "tailroom_papers.command:app",
            "List the papers; `show` prints the claims of one, `run` reproduces it.",
            "papers run barman-2004 --figure 3",
        ),
    },
    name="tailroom",
    params=root_options(),
    help="How much buffer a link needs, and what each choice costs.",
    epilog="Exit status: 0 done, 1 the run failed, or headroom --check or vectors check found a "
    "fault, 2 the input is wrong, 3 code of your own (a control, a discipline, a source) raised "
    "an exception, 4 no buffer that size tried meets every target, 130 interrupted.\n\n"
    + ending("size --rate 100Mbit/s --rtt 40ms --target 'utilization >= 98%'"),
    no_args_is_help=True,
)


def run_command_line() -> None:
    """Runs the command line of this process."""
    # Commands print the warnings of runs themselves.
    warnings.simplefilter("ignore", TailroomWarning)
    # 0 means that the size of the terminal is not known; rich would print lines of no characters.
    for name in ("COLUMNS", "LINES"):
        if os.environ.get(name, "").strip("0") == "":
            os.environ.pop(name, None)
    # The matrices of the models are small, so threads of NumPy's BLAS would only wait busily.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    join_words()
    removed_at_termination()
    app()
