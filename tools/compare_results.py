"""Shows that a change of the code changes no result.

python tools/compare_results.py record DIR [--only TEXT]
python tools/compare_results.py compare OLD [NEW] [--renamed MAP] [--only TEXT] [--differences N]

`record` runs some six hundred short scenarios and writes the results of each to DIR as JSON.
`compare` runs them again, or reads what was recorded in NEW, and prints what differs from OLD.
Everything is compared byte for byte, apart from `engine_version`, and from names that
MAP says have changed. The exit status is 1 if a result differs or a scenario is missing, and 2 if
the input is wrong.
"""

import argparse
import json
import multiprocessing
import os
import shutil
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from recorded_run import file_stem, record_run, scenario_name
from recorded_scenarios import recorded_scenarios
from result_differences import Renamed, first_differences
from shortened_scenarios import EXAMPLES
from small_scenario import INPUT_FILES

RENAMED = Path(__file__).with_name("renamed_results.toml")
"""The map that holds if no other is given."""

MARGIN = 11 * " "
"""What stands before the name of a scenario is as wide."""


def record(directory: Path, only: str = "") -> None:
    """Runs the scenarios whose names contain `only`, one process per core, and keeps the results.

    Raises:
        ValueError: The directory holds something already, or no scenario has such a name.
    """
    if directory.exists() and any(directory.iterdir()):
        raise ValueError(f"{directory} is not empty; give a new directory")
    chosen = {name: one for name, one in recorded_scenarios().items() if only in name}
    if not chosen:
        raise ValueError(f"no scenario's name contains {only!r}")
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in INPUT_FILES.items():
        (directory / name).write_text(text, encoding="utf-8")
    for control in EXAMPLES.glob("*/*.py"):
        shutil.copyfile(control, directory / control.name)
    # A process that is forked while Arrow has threads may hang.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        mp_context=context, initializer=os.chdir, initargs=(directory.resolve(),)
    ) as processes:
        running = {name: processes.submit(record_run, name, one) for name, one in chosen.items()}
        for name, run in running.items():
            path = directory / f"{file_stem(name)}.json"
            path.write_text(run.result(), encoding="utf-8")


def recorded(directory: Path, only: str = "") -> dict[str, str]:
    """What was recorded in a directory, by the name of the scenario.

    Raises:
        ValueError: The directory holds no such results.
    """
    results = {
        scenario_name(path.stem): path.read_text(encoding="utf-8")
        for path in sorted(directory.glob("*.json"))
    }
    results = {name: text for name, text in results.items() if only in name}
    if not results:
        raise ValueError(f"{directory}: no recorded results; `record` writes them")
    return results


def compare(
    old: dict[str, str], new: dict[str, str], renamed: Renamed, most: int
) -> tuple[list[str], bool]:
    """Compares results by the name of their scenario.

    A scenario that only `new` has is named, and is no difference: there is nothing to compare.

    Args:
        old: Results before the change.
        new: Results after the change.
        renamed: Names that have changed on purpose.
        most: How many differences of a scenario to print.

    Returns:
        The lines to print, what differs last, and whether all that `old` has is equal in `new`.
    """
    groups: dict[str, list[str]] = {"equal": [], "new": [], "missing": [], "different": []}
    before = {renamed.scenario(name): text for name, text in old.items()}
    for name in sorted(before.keys() | new.keys()):
        if name not in before:
            groups["new"].append(name)
        elif name not in new:
            groups["missing"].append(name)
        elif found := first_differences(before[name], new[name], renamed, most):
            places = (f"{MARGIN}{difference}" for difference in found)
            groups["different"].append("\n".join([name, *places]))
        else:
            groups["equal"].append(name)
    lines = [f"{status:{len(MARGIN)}}{name}" for status, names in groups.items() for name in names]
    counts = ", ".join(f"{len(names)} {status}" for status, names in groups.items())
    return [*lines, f"scenarios: {counts}"], not (groups["missing"] or groups["different"])


def _arguments(words: list[str] | None) -> argparse.Namespace:
    description, _, details = (__doc__ or "").partition("\n\n")
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=description, epilog=details, formatter_class=form)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="run the scenarios and keep the results")
    recording.add_argument("directory", metavar="DIR", type=Path, help="a new directory")
    comparison = commands.add_parser("compare", help="compare results with those of before")
    comparison.add_argument(
        "old", metavar="OLD", type=Path, help="directory of `record` before the change"
    )
    comparison.add_argument(
        "new",
        metavar="NEW",
        type=Path,
        nargs="?",
        help="directory of `record` after it (left out: run now)",
    )
    comparison.add_argument(
        "--renamed",
        metavar="MAP",
        type=Path,
        default=RENAMED,
        help=f"map of new names (default: {RENAMED.name})",
    )
    comparison.add_argument(
        "--differences",
        metavar="N",
        type=int,
        default=5,
        help="differences to print per scenario (default: 5)",
    )
    for command in (recording, comparison):
        command.add_argument(
            "--only", default="", metavar="TEXT", help="only scenarios whose names contain TEXT"
        )
    return parser.parse_args(words)


def main(words: list[str] | None = None) -> int:
    """Runs one of the two commands; the exit status is 0, 1 (different) or 2 (wrong input)."""
    arguments = _arguments(words)
    try:
        if arguments.command == "record":
            record(arguments.directory, arguments.only)
            results = recorded(arguments.directory)
            failed = sum("error" in json.loads(text) for text in results.values())
            print(f"{len(results)} scenarios in {arguments.directory}, {failed} of them failed")
            return 0
        renamed = Renamed.read(arguments.renamed)
        old = recorded(arguments.old, arguments.only)
        with tempfile.TemporaryDirectory() as scratch:
            if arguments.new is None:
                record(Path(scratch), arguments.only)
            new = recorded(arguments.new or Path(scratch), arguments.only)
        lines, is_equal = compare(old, new, renamed, arguments.differences)
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 0 if is_equal else 1


if __name__ == "__main__":
    sys.exit(main())
