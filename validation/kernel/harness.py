"""Runs experiments: builds the link, starts it, repeats invalid runs, writes the results.

The hosts are network namespaces without a name. They and everything in them belong to the process
of the link, which the kernel ends with this one; so nothing can be left behind, whatever happens.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from validation.kernel.experiment import Experiment

CRATE = Path(__file__).parent / "link"
TUN = Path("/dev/net/tun")
CONTROLS = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
ATTEMPTS = 3
COARSE = ("--sample-ms", "1000", "--queue-sample-ms", "100", "--most-drops", "0")
END_S = 10.0
"""Time for the link to write its results after a signal."""


class RecordingError(Exception):
    """An experiment that cannot be recorded."""


# Run in a process of its own, which it leaves with other rights and in another namespace.
PROBE = f"""
import ctypes, os
def attempt(name, call):
    try:
        call()
    except OSError:
        print(name)
def unshare():
    if ctypes.CDLL(None).unshare(0x40000000):
        raise OSError
attempt("network namespaces", unshare)
attempt("real-time priority (SCHED_FIFO)",
        lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10)))
attempt("the device {TUN}", lambda: os.close(os.open("{TUN}", os.O_RDWR)))
"""


def missing() -> str | None:
    """Return what this machine lacks for recordings, in one line; `None` if it lacks nothing."""
    lacks = [] if shutil.which("cargo") else ["cargo, which builds the link"]
    if not sys.platform.startswith("linux"):
        lacks.append("Linux")
    else:
        if os.geteuid() != 0:
            lacks.append("the rights of root")
        probe = [sys.executable, "-c", PROBE]
        lacks += subprocess.run(
            probe, capture_output=True, text=True, check=True
        ).stdout.splitlines()
    return f"recordings of the kernel need {', '.join(lacks)}" if lacks else None


@cache
def build() -> Path:
    """Build the link, unless it is up to date, and return its program.

    Raises:
        RecordingError: The link cannot be built.
    """
    command = ["cargo", "build", "--release", "--locked", "--message-format", "json"]
    built = subprocess.run(
        [*command, "--manifest-path", str(CRATE / "Cargo.toml")],
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode != 0:
        raise RecordingError(f"the link cannot be built:\n{built.stderr}")
    programs = (json.loads(line).get("executable") for line in built.stdout.splitlines())
    return Path(next(program for program in programs if program))


def record(
    experiment: Experiment,
    directory: Path,
    *,
    processor: int | None = None,
    packets: Path | None = None,
) -> Path:
    """Record all runs of an experiment into `NAME.json`, and return this file.

    The file holds `name`, `scenario`, `controls`, and `runs`: per repetition, what the link wrote
    (`validation/kernel/link/src/recording.rs` describes it), its `seed`, and in `rejected` why the
    attempts before it were invalid. A run is repeated until it is valid, up to three attempts; if
    all are invalid, `invalid` of the last one says why. Up to five experiments may run at the same
    time. Of an experiment that was recorded before, and of which nothing has changed, only invalid
    runs are recorded again.

    Args:
        experiment: What to record.
        directory: Where the file is written; it is created if necessary.
        processor: Run on this processor only; by default on all.
        packets: Where the packets of host A in the last run are written; by default they are not.
            `validation/kernel/link/src/packet_log.rs` describes the lines.

    Raises:
        RecordingError: The machine lacks something, the scenario cannot be run, or a run failed.
    """
    path = directory / f"{experiment.name}.json"
    valid = _valid_runs(experiment, path)
    seeds = range(1, experiment.repetitions + 1)
    if all(seed in valid for seed in seeds):
        return path
    lack = missing() or _missing_controls(experiment)
    if lack is not None:
        raise RecordingError(lack)
    options = list(COARSE) if experiment.is_coarse else []
    options += [] if processor is None else ["--processor", str(processor)]
    options += [] if packets is None else ["--packets", str(packets)]
    runs = [valid.get(seed) or _valid_run(experiment, seed, options) for seed in seeds]
    directory.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    text = json.dumps({**_description(experiment), "runs": runs}, separators=(",", ":"))
    part.write_text(text + "\n", encoding="utf-8")
    part.replace(path)
    return path


def _description(experiment: Experiment) -> dict[str, Any]:
    return {
        "name": experiment.name,
        "scenario": experiment.scenario,
        "controls": dict(experiment.controls),
        "repetitions": experiment.repetitions,
        "is_coarse": experiment.is_coarse,
    }


def _valid_runs(experiment: Experiment, path: Path) -> dict[int, dict[str, Any]]:
    """Return the valid runs that are recorded of an experiment, by seed."""
    if not path.exists():
        return {}
    stored = json.loads(path.read_text(encoding="utf-8"))
    description = _description(experiment)
    if {key: stored.get(key) for key in description} != description:
        return {}
    return {run["seed"]: run for run in stored["runs"] if not run["invalid"]}


def _missing_controls(experiment: Experiment) -> str | None:
    with _scenario_file(experiment) as scenario:
        command = [str(build()), "plan", str(scenario), *_controls(experiment)]
        planned = subprocess.run(command, capture_output=True, text=True, check=False)
    if planned.returncode != 0:
        raise RecordingError(f"{experiment.name}: {planned.stderr.strip()}")
    wanted = {flow["control"] for flow in json.loads(planned.stdout)}
    lacks = sorted(wanted - set(CONTROLS.read_text(encoding="utf-8").split()))
    return f"the kernel lacks the congestion controls {', '.join(lacks)}" if lacks else None


def _valid_run(experiment: Experiment, seed: int, options: Sequence[str]) -> dict[str, Any]:
    """Run until a run is valid, or three times; only the last one goes on whatever happens."""
    rejected: list[list[str]] = []
    while True:
        is_last = len(rejected) + 1 == ATTEMPTS
        run = _run(experiment, seed, [*options, "--give-up", str(int(not is_last))])
        if not run["invalid"] or is_last:
            return {"seed": seed, "rejected": rejected, **run}
        rejected.append(run["invalid"])


def _run(experiment: Experiment, seed: int, options: Sequence[str]) -> dict[str, Any]:
    with _scenario_file(experiment) as scenario:
        out = scenario.with_name("result.json")
        command = [str(build()), "run", str(scenario), "--out", str(out), "--seed", str(seed)]
        with subprocess.Popen(
            [*command, *_controls(experiment), *options],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as link:
            try:
                _, errors = link.communicate()
            finally:
                _end(link)
        if link.returncode != 0:
            raise RecordingError(f"{experiment.name}: {errors.strip()}")
        run: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
        return run


def _end(link: subprocess.Popen[str]) -> None:
    """End the link, if it has not ended."""
    if link.poll() is not None:
        return
    link.send_signal(signal.SIGTERM)
    try:
        link.wait(END_S)
    except subprocess.TimeoutExpired:
        link.kill()


def _controls(experiment: Experiment) -> list[str]:
    pairs = experiment.controls.items()
    return [word for group, name in pairs for word in ("--control", f"{group}={name}")]


@contextmanager
def _scenario_file(experiment: Experiment) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tailroom-kernel-") as directory:
        path = Path(directory) / "scenario.toml"
        path.write_text(experiment.scenario, encoding="utf-8")
        yield path
