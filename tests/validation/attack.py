"""Generated, mutated and damaged inputs of every kind, as many as a stranger would try.

python -m tests.validation.attack [--share S] [--seed N] [--only PART ...] [--record]

Nothing may abort, hang, show a traceback or change a result without a word. What breaks something
is shrunk and written to `fuzz/found/attack`; whoever mends it moves it to `fuzz/corpus/scenario`.
With `--record`, what was attacked is written to `attack.csv`, of which `tools/quality.py` makes the
table in docs/quality.md.
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
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

RECORDED = Path(__file__).with_name("attack.csv")
COLUMNS = ("part", "inputs", "endings", "commit")

Show = Callable[[str], object]
Part = Callable[[int, int, Show], tuple[int, str]]
"""Tries a number of inputs with a seed; returns how many, and how they ended.

An assertion says what does not hold.
"""


def scenarios(kind: str, count: int, seed: int, show: Show) -> tuple[int, str]:
    """Tries generated scenarios of a kind, in a process per core."""
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
    assert not found, f"{len(found)} of {kind}"
    return endings.total(), _words(endings)


def _words(endings: Mapping[str, int]) -> str:
    return ", ".join(f"{number:,} {ending}" for ending, number in sorted(endings.items()))


def _kept(finding: Found) -> str:
    """Writes a finding down, and says where."""
    FOUND.mkdir(parents=True, exist_ok=True)
    path = FOUND / f"{finding.name()}.toml"
    path.write_text(finding.text(), encoding="utf-8", errors="surrogatepass")
    return f"{path}:\n{finding.text()}"


def rust(test: str, count: int, seed: int, show: Show) -> tuple[int, str]:
    """Tries a random test of `crates/hostile-inputs`, whose failure names the input."""
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
    holds = ended.returncode == 0 and "1 passed" in ended.stdout
    if not holds:
        show(f"{ended.stdout}\n{ended.stderr}")
    assert holds, test
    return cases * CASES_OF_RUST, "refused, or ran and held"


def kills(count: int, seed: int, show: Show) -> tuple[int, str]:
    """Kills sweeps at random moments."""
    with tempfile.TemporaryDirectory(prefix="tailroom-") as directory:
        half_done = kill_sweeps(Path(directory), count, seed, show)
    return count, f"{half_done} half done"


def damaged(count: int, seed: int, show: Show) -> tuple[int, str]:
    """Damages files of a store."""
    with tempfile.TemporaryDirectory(prefix="tailroom-") as directory:
        return count, _words(damage_files(Path(directory), count, seed, show))


def measurements(count: int, seed: int, show: Show) -> tuple[int, str]:
    """Damages files of flent, iperf3 and ss."""
    with tempfile.TemporaryDirectory(prefix="tailroom-") as directory:
        return count, _words(damage_measurements(Path(directory), count, seed, show))


PARTS: dict[str, tuple[int, Part]] = {
    "damaged": (1_000, damaged),
    "kills": (30, kills),
    "captures": (40_000, partial(rust, "captures_with_changes")),
    "measurements": (10_000, measurements),
    "traces": (13_000, partial(rust, "traces_with_changes")),
    "lists": (12_000, partial(rust, "flow_lists_with_changes")),
    "distributions": (12_000, partial(rust, "distributions_with_changes")),
    "mutated": (20_000, partial(rust, "scenarios_with_changes")),
    "networks": (100_000, partial(rust, "networks_built_by_hand")),
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
    parser.add_argument("--record", action="store_true", help="write attack.csv")
    wanted = parser.parse_args(arguments)
    failed, held = [], dict[str, tuple[int, str]]()
    for name in wanted.only:
        count, part = PARTS[name]
        try:
            held[name] = part(max(1, round(count * wanted.share)), wanted.seed, show)
        except AssertionError as error:
            show(f"{error!r}\n{name}: FAILS")
            failed.append(name)
        else:
            show("{}: {:,} inputs: {}: holds".format(name, *held[name]))
    if wanted.record and not failed:
        record(held)
    return 1 if failed else 0


def record(held: Mapping[str, tuple[int, str]]) -> None:
    """Writes what was attacked; parts that were not tried keep their rows."""
    rows = {}
    if RECORDED.exists():
        with RECORDED.open(encoding="utf-8", newline="") as file:
            rows = {row["part"]: row for row in csv.DictReader(file)}
    describe = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(
        describe, cwd=REPOSITORY, capture_output=True, text=True, check=True
    ).stdout.strip()
    for name, (inputs, endings) in held.items():
        row = (name, str(inputs), endings, commit)
        rows[name] = dict(zip(COLUMNS, row, strict=True))
    with RECORDED.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[name] for name in PARTS if name in rows)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], partial(print, flush=True)))
