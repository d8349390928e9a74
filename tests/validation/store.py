"""The store under a thousand kills at random moments, and under the failure of every call that
writes.

python -m tests.validation.store [KILLS [SEED]]
"""

import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.failing_sweeps import CAN_FAIL, build, calls_of_a_sweep, check_every
from tests.killed_sweeps import kill_sweeps, write_scenario


def main(arguments: Sequence[str] = (), show: Callable[[str], object] = print) -> int:
    """Kills sweeps, and checks after each that nothing finished is lost or wrong; 0 if so."""
    kills, seed = (*map(int, arguments), *(1000, 1)[len(arguments) :])
    show(f"Sweeps killed at {kills} random moments, seed {seed}")
    with tempfile.TemporaryDirectory(prefix="tailroom-") as directory:
        try:
            kill_sweeps(Path(directory), kills, seed, show)
            fail_every_call(Path(directory), show)
        except AssertionError as error:
            show(f"FAILS: {error!r}; again: python -m tests.validation.store {kills} {seed}")
            return 1
    show("holds: nothing finished is lost, nothing wrong is read")
    return 0


def fail_every_call(directory: Path, show: Callable[[str], object]) -> None:
    """Lets every write, fsync, rename and mkdir of a sweep fail once, where that is possible."""
    if not CAN_FAIL:
        show("No call was made to fail: that needs Linux and a C compiler")
        return
    place = directory / "failing"
    place.mkdir()
    scenario, library = write_scenario(place), build(place)
    calls = calls_of_a_sweep(scenario, place, library)
    for kills in (False, True):
        check_every(scenario, place, library, range(1, calls + 1), kills=kills)
        shutil.rmtree(place / "undisturbed")
    show(f"{calls} calls, each of which failed once, and in front of each a kill")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
