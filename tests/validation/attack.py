"""Generated, mutated and damaged inputs of every kind, as many as a stranger would try.

python -m tests.validation.attack [--share S] [--seed N] [--only PART ...]

Nothing may abort, hang, show a traceback or change a result without a word. What breaks something
is shrunk and written to `fuzz/found/attack`; whoever mends it moves it to `fuzz/corpus/scenario`.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

from tests.damaged_stores import damage_files
from tests.hostile.search import Found, search
from tests.killed_sweeps import kill_sweeps
from tests.measurements.damage import damage_measurements

REPOSITORY = Path(__file__).parents[2]
FOUND = REPOSITORY / "fuzz" / "found" / "attack"
CASES_OF_RUST = 1_000
"""Cases of a random test of `crates/hostile-inputs` without `TAILROOM_CASES`."""
BATCH = 1_000
"""Scenarios that are generated with one seed."""
LONGEST_TEST_S = 4 * 3600
"""A random test in Rust that takes longer hangs."""

Part = Callable[[int, int, Callable[[str], object]], bool]


def scenarios(kind: str, count: int, seed: int, show: Callable[[str], object]) -> bool:
    """Tries generated scenarios, in a process per core.

    Args:
        kind: `usual`, `hostile` or `sweeps`.
        count: How many.
        seed: The seed of the first batch.
        show: Gets lines of text about the progress.

    Returns:
        Whether nothing was found.
    """
    batches = [min(BATCH, count - start) for start in range(0, count, BATCH)]
    seeds = range(1_000 * seed, 1_000 * seed + len(batches))
    endings, found = Counter[str](), list[Found]()
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        kinds = [kind] * len(batches)
        for more, one in pool.map(search, kinds, batches, seeds):
            endings += more
            found += [one] if one else []
            show(f"{endings.total()} of {count} {kind} scenarios: {dict(endings)}")
    for finding in found:
        show(f"FOUND {finding.outcome.ending}: {finding.outcome.detail}\n{_kept(finding)}")
    return not found


def _kept(finding: Found) -> str:
    """Writes a finding down, and says where."""
    FOUND.mkdir(parents=True, exist_ok=True)
    path = FOUND / f"{finding.name()}.toml"
    path.write_text(finding.text(), encoding="utf-8", errors="surrogatepass")
    return f"{path}:\n{finding.text()}"


def rust(test: str, count: int, seed: int, show: Callable[[str], object]) -> bool:
    """Tries a random test of `crates/hostile-inputs`, whose failure names the input.

    Args:
        test: Name of the test.
        count: How many inputs.
        seed: The seed of the first input.
        show: Gets lines of text about the result.

    Returns:
        Whether nothing was found.
    """
    cases = -(-count // CASES_OF_RUST)
    command = ["cargo", "test", "--quiet", "--locked", "--package=hostile-inputs", "--test=mutated"]
    ended = subprocess.run(
        [*command, "--", "--exact", test],
        cwd=REPOSITORY,
        env={**os.environ, "TAILROOM_CASES": str(cases), "PROPTEST_RNG_SEED": str(seed)},
        capture_output=True,
        text=True,
        timeout=LONGEST_TEST_S,
        check=False,
    )
    if ended.returncode or "1 passed" not in ended.stdout:
        show(f"{ended.stdout}\n{ended.stderr}")
        return False
    show(f"{cases * CASES_OF_RUST} inputs of {test}")
    return True


def kills(count: int, seed: int, show: Callable[[str], object]) -> bool:
    """Kills sweeps at random moments; an assertion says what does not hold."""
    with tempfile.TemporaryDirectory(prefix="tailroom-") as directory:
        kill_sweeps(Path(directory), count, seed, show)
    return True


def damaged(count: int, seed: int, show: Callable[[str], object]) -> bool:
    """Damages files of a store; an assertion says what does not hold."""
    with tempfile.TemporaryDirectory(prefix="tailroom-") as directory:
        show(f"{count} damaged files: {dict(damage_files(Path(directory), count, seed, show))}")
    return True


def measurements(count: int, seed: int, show: Callable[[str], object]) -> bool:
    """Damages files of flent, iperf3 and ss; an assertion says what does not hold."""
    with tempfile.TemporaryDirectory(prefix="tailroom-") as directory:
        endings = damage_measurements(Path(directory), count, seed, show)
    show(f"{count} damaged measurements: {dict(endings)}")
    return True


PARTS: dict[str, tuple[int, Part]] = {
    "damaged": (1_000, damaged),
    "kills": (30, kills),
    "captures": (40_000, partial(rust, "captures_with_changes")),
    "measurements": (10_000, measurements),
    "traces": (13_000, partial(rust, "traces_with_changes")),
    "lists": (12_000, partial(rust, "flow_lists_with_changes")),
    "distributions": (12_000, partial(rust, "distributions_with_changes")),
    "mutated": (20_000, partial(rust, "scenarios_with_changes")),
    "hostile": (20_000, partial(scenarios, "hostile")),
    "sweeps": (10_000, partial(scenarios, "sweeps")),
    "usual": (50_000, partial(scenarios, "usual")),
}
"""Each part of the attack, with the number of its inputs."""


def main(arguments: Sequence[str] = (), show: Callable[[str], object] = print) -> int:
    """Tries everything; 0 if nothing was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.validation.attack")
    parser.add_argument("--share", type=float, default=1.0, help="this share of all inputs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    wanted = parser.parse_args(arguments)
    failed = []
    for name in wanted.only:
        count, part = PARTS[name]
        try:
            holds = part(max(1, round(count * wanted.share)), wanted.seed, show)
        except AssertionError as error:
            show(repr(error))
            holds = False
        failed += [] if holds else [name]
        show(f"{name}: {'holds' if holds else 'FAILS'}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], partial(print, flush=True)))
