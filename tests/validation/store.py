"""The store under a thousand kills at random moments.

python -m tests.validation.store [KILLS [SEED]]
"""

import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.killed_sweeps import kill_sweeps


def main(arguments: Sequence[str] = (), show: Callable[[str], object] = print) -> int:
    """Kills sweeps, and checks after each that nothing finished is lost or wrong; 0 if so."""
    kills, seed = (*map(int, arguments), *(1000, 1)[len(arguments) :])
    show(f"Sweeps killed at {kills} random moments, seed {seed}")
    with tempfile.TemporaryDirectory(prefix="tailroom-") as directory:
        try:
            kill_sweeps(Path(directory), kills, seed, show)
        except AssertionError as error:
            show(f"FAILS: {error!r}; again: python -m tests.validation.store {kills} {seed}")
            return 1
    show("holds: nothing finished is lost, nothing wrong is read")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
