"""Writes, fsyncs and renames of a sweep fail, or it is killed in front of them.

Nothing finished is lost, nothing wrong is read, and the same command goes on. `make soak` lets
every one of them fail.
"""

from pathlib import Path

import pytest

from tests.failing_sweeps import CAN_FAIL, build, calls_of_a_sweep, check_every
from tests.killed_sweeps import GRID, SEEDS, write_scenario


@pytest.mark.skipif(not CAN_FAIL, reason="needs Linux and a C compiler")
@pytest.mark.parametrize("few", [2, pytest.param(8, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kills", [False, True], ids=["fails", "killed"])
def test_calls_that_fail_lose_nothing(tmp_path: Path, few: int, *, kills: bool) -> None:
    """A few calls, spread over the sweep."""
    scenario, library = write_scenario(tmp_path), build(tmp_path)
    calls = calls_of_a_sweep(scenario, tmp_path, library)
    assert calls > 3 * len(GRID) * SEEDS
    check_every(scenario, tmp_path, library, range(1, calls + 1, calls // few), kills=kills)
