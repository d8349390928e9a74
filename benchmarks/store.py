"""How long questions to a large store take: `python benchmarks/store.py [RUNS [DIRECTORY]]`.

Writes a store of synthetic runs (10,000 if left out, of 100 points) with rows as wide as those of a
simulated scenario, then asks it what `SweepResult` and `tailroom results` ask. Each question is
asked in a process of its own, as a command does; the first question finds the store without an
index. The table gives the median CPU and wall time of three askings, without imports. A DIRECTORY
keeps the store, and is asked again without writing it anew.

Values are drawn at random; the scenario, the summary and the names of the metrics are those of one
simulated run.
"""

import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import tailroom as tr
from tailroom import _engine
from tailroom.scenario import types
from tailroom.storage.run import Run, as_run, run_key
from tailroom.storage.store import Store
from tailroom.storage.sweep_record import SweepRecord

POINTS = 100
LIMIT = "links.bottleneck.queue.limit"
SCENARIO: types.Scenario = {
    "title": "Two groups",
    "duration": "2 s",
    "measure_from": "1 s",
    "defaults": {"host": "plain"},
    "links": {
        "bottleneck": {
            "rate": "10 Mbit/s",
            "delay": "5 ms",
            "queue": {"kind": "drop_tail", "limit": "20 packets"},
        }
    },
    "flows": {
        name: {
            "count": 5,
            "path": ["bottleneck"],
            "congestion": name,
            "rtt": "20 ms",
            "start": {"uniform": ["0 s", "500 ms"]},
        }
        for name in ("reno", "cubic")
    },
}

PREPARE = """\
import contextlib, io, sys, time
import typer.testing
with contextlib.suppress(ImportError):
    import pandas  # pyarrow loads it, if installed, when it makes its first array
import tailroom.cli.results, tailroom.studies.sweep_study.query
from tailroom.cli import main
from tailroom.storage.store import Store
from tailroom.studies.sweep_study.study import SweepResult
place = sys.argv[1]
store = Store(place)
def command(*arguments):
    sys.argv = ["tailroom", "results", place, *arguments]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main()
begun = time.process_time(), time.perf_counter()
"""
REPORT = """
print(time.process_time() - begun[0], time.perf_counter() - begun[1])
"""
RESULT = "result = SweepResult(store, store.sweeps()[0]); "
QUESTIONS = {
    "means, no index": RESULT + 'result.means("utilization")',
    "means": RESULT + 'result.means("utilization")',
    "means, 4 metrics": RESULT + "[result.means(name) for name in ('utilization', 'loss_fraction', "
    "'queue_delay_s_mean', 'jain_index')]",
    "results STORE": "command()",
    "results --sweep": 'command("--sweep", "bench")',
    "results --metric": 'command("--metric", "utilization")',
    "results --out (.parquet)": 'command("--out", place + "-runs.parquet")',
    "results --sql": 'command("--sql", \'SELECT avg("links.bottleneck.utilization") FROM runs\')',
    "result.runs": RESULT + "result.runs",
    "means, a sweep of 20 metrics": RESULT + "[result.means(name) for name in result.metrics[:20]]",
}


def write_store(place: Path, runs: int) -> None:
    """Writes a store with one sweep of synthetic runs."""
    store = Store.create(place)
    draw = random.Random(1)
    simulated = tr.run(SCENARIO)
    build = _engine.build()
    template = as_run("", build, simulated, keep=()).row
    record = SweepRecord("bench", "Synthetic runs", "scenario", {LIMIT: []})
    for point in range(POINTS):
        limit = f"{point + 1} packets"
        keys = [run_key(f"{point}", build, seed) for seed in range(1, runs // POINTS + 1)]
        runs_of_point = []
        for seed, key in enumerate(keys, 1):
            row = {
                name: value * draw.uniform(0.5, 1.0) if isinstance(value, float) else value
                for name, value in template.items()
            }
            summary = json.loads(template["summary"])
            summary["noise"] = [draw.random() for _ in range(100)]
            row |= {"key": key, "scenario_hash": f"{point}", "seed": seed}
            runs_of_point.append(Run(key, row | {"summary": json.dumps(summary)}))
        store.add(runs_of_point)
        record.points.append({"settings": {LIMIT: limit}, "runs": keys})
        record.axes[LIMIT].append(limit)
    store.record(record)
    sizes = sum(file.stat().st_size for file in (place / "runs").iterdir())
    print(
        f"{runs:,} runs of {len(template)} columns, {len(template['summary']):,} "
        f"characters of summary, {sizes / 1e6:.0f} MB"
    )


def ask(place: Path, question: str) -> tuple[float, float]:
    """CPU and wall time of a question in a process of its own, in seconds."""
    code = PREPARE + QUESTIONS[question] + REPORT
    Path(f"{place}-runs.parquet").unlink(missing_ok=True)
    ended = subprocess.run(
        [sys.executable, "-c", code, str(place)], capture_output=True, text=True, check=True
    )
    cpu, wall = ended.stdout.split()
    return float(cpu), float(wall)


def main() -> None:
    """Writes the store, asks each question three times, and prints the medians."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    directory = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(tempfile.mkdtemp())
    place = directory / "store"
    if not place.exists():
        write_store(place, runs)
    begun = time.monotonic()
    print(f"{'question':28} {'CPU':>9} {'wall':>9}")
    for question in QUESTIONS:
        first = question.endswith("no index")  # takes a minute
        times = []
        for _ in range(1 if first else 3):
            if first:
                for index in place.glob("index*"):
                    index.unlink()
            times.append(ask(place, question))
        cpu, wall = (statistics.median(one) for one in zip(*times, strict=True))
        print(f"{question:28} {cpu:7.2f} s {wall:7.2f} s", flush=True)
    print(f"({time.monotonic() - begun:.0f} s in all)")
    if len(sys.argv) <= 2:
        shutil.rmtree(directory)


if __name__ == "__main__":
    main()
