"""Records a scenario: `python -m validation.kernel SCENARIO --out DIRECTORY`."""

import argparse
import json
import signal
import sys
from pathlib import Path

from validation.kernel import Experiment, record, summarize
from validation.kernel.harness import RecordingError


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="validation.kernel", description=__doc__)
    parser.add_argument("scenario", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="directory of the results")
    parser.add_argument("--repetitions", type=int, default=3, help="number of runs (default: 3)")
    parser.add_argument("--control", action="append", default=[], metavar="GROUP=NAME")
    parser.add_argument("--processor", type=int, help="run on this processor only")
    return parser


def main() -> int:
    """Record the scenario that the command line names; the exit status says how that ended."""
    arguments = _parser().parse_args()
    controls = dict(pair.split("=", 1) for pair in arguments.control)
    experiment = Experiment.read(arguments.scenario, controls, arguments.repetitions)
    try:
        path = record(experiment, arguments.out, processor=arguments.processor)
    except RecordingError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    for run in json.loads(path.read_text(encoding="utf-8"))["runs"]:
        summary = summarize(run)
        shares = ", ".join(f"{flow.name} {flow.share:.1%}" for flow in summary.flows)
        print(
            f"seed {run['seed']}: utilization {summary.utilization:.2%}, "
            f"queueing delay {summary.queue_delay_s_mean * 1e3:.1f} ms, "
            f"unrepaired {summary.unrepaired_packets}, {shares}; "
            f"{'; '.join(run['invalid']) or 'valid'}"
        )
    return 0


def _interrupt(_signal: int, _frame: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGINT, _interrupt)  # a shell lets background commands ignore it
    sys.exit(main())
