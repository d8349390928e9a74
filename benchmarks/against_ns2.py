"""Time per bottleneck packet: tailroom and ns-2 on the same scenario, in turn, on one core.

python benchmarks/against_ns2.py [--seconds 40] [--runs 3]

Without ns-2 (Debian: ns2) only tailroom is timed. Quoted are CPU seconds of whole runs, set-up and
slow start included, over the packets that left the bottleneck. The package of `make setup` is built
without link-time optimisation and takes half as much time again: figures to quote need an installed
wheel (`uv build --wheel`).
"""

import argparse
import resource
import shutil
import statistics
import subprocess
from pathlib import Path

import tailroom as tr

HERE = Path(__file__).parent
SCENARIO = HERE.parent / "scenarios" / "barman-2004" / "figure-3.toml"


def cpu_seconds(who: int) -> float:
    """CPU time so far of this process or of its finished children."""
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def time_tailroom(seconds: int) -> float:
    """Nanoseconds per packet that left the bottleneck."""
    before = cpu_seconds(resource.RUSAGE_SELF)
    result = tr.run(SCENARIO, set={"duration": f"{seconds} s", "measure_from": "0 s"})
    spent = cpu_seconds(resource.RUSAGE_SELF) - before
    return spent * 1e9 / int(result.links["bottleneck"]["departures_packets"])


def time_ns2(seconds: int) -> float:
    """The same for ns-2."""
    before = cpu_seconds(resource.RUSAGE_CHILDREN)
    command = ["ns", str(HERE / "dumbbell.tcl"), str(seconds)]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return (cpu_seconds(resource.RUSAGE_CHILDREN) - before) * 1e9 / int(output)


def main() -> None:
    """Prints the medians and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=40, help="simulated seconds")
    parser.add_argument("--runs", type=int, default=3, help="runs of each, in turn")
    options = parser.parse_args()
    if HERE.parent in Path(tr.__file__).parents:
        print("this is the package of `make setup`, which is slower than an installed wheel")
    has_ns2 = shutil.which("ns") is not None
    ours, theirs = [], []
    for _ in range(options.runs):
        ours.append(time_tailroom(options.seconds))
        if has_ns2:
            theirs.append(time_ns2(options.seconds))
    print(f"tailroom {statistics.median(ours):8.1f} ns per bottleneck packet")
    if has_ns2:
        print(f"ns-2     {statistics.median(theirs):8.1f} ns per bottleneck packet")
        print(f"ratio    {statistics.median(theirs) / statistics.median(ours):8.1f}")
    else:
        print("ns-2 is not installed, so there is nothing to compare with")


if __name__ == "__main__":
    main()
