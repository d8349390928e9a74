"""Records every callback of congestion controls in the kernel.

python -m validation.kernel.exact --list
python -m validation.kernel.exact [--only TEXT] [--out DIRECTORY]

The recordings go into `recorded/traces`, unless `--out` names another directory, and
tests/validation/exact.py replays them through tailroom's controls on any machine. A recording needs
what all recordings of the kernel need, and clang and libbpf (`apt install clang libbpf-dev`).
"""

import argparse
import gzip
import json
import platform
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from validation.kernel import bpf
from validation.kernel.experiment import Experiment
from validation.kernel.harness import RecordingError, record
from validation.kernel.harness import missing as missing_for_recordings

TRACES = Path(__file__).parent / "recorded" / "traces"

SCENARIO = """\
title = "{name}"
duration = "{duration_s} s"
measure_from = "1 s"

[links.bottleneck]
rate = "{rate}"
delay = "5 ms"
queue = {{ kind = "drop_tail", limit = "{buffer_packets} packets" }}
{loss}
[flows.flow]
path = ["bottleneck"]
congestion = "reno"
rtt = "{rtt_ms} ms"
packet_size = "1500 B"
header_size = "52 B"
"""

KIND, PORT, ACKED, UNA, NEXT, MSS, DELIVERED, MORE = 1, 2, 3, 14, 15, 16, 19, 22
CLOCK, RATE = 10, 7
"""Places in a record: after its time, the words of `struct record` in controls/trace.bpf.h; the
place of the clock in `more`; the kind of callback that has `more`."""


@dataclass(frozen=True)
class Case:
    """A control whose callbacks are recorded.

    Attributes:
        name: Name of the recording.
        control: The control's name in the kernel.
        source: The file of `controls` that it is in.
        tailroom: tailroom's control and its parameters.
        rate: Rate of the link.
        buffer_packets: Its buffer.
        rtt_ms: Round trip time without queue.
        duration_s: Length of the recording.
        loss: Random loss of the link, as in a scenario.
        goal_at_most: Acknowledged packets after which the kernel adds one at the latest.
        count_unit: What one of the kernel's count is, in acknowledged packets of Reno; 0 if
            tailroom's control counts by itself.
        least_equal: Instead of the bounds, the least share of callbacks with equal windows.
        bound_packets: Most whole packets by which tailroom's window may differ.
        continuous_bound_packets: The same for the window as the engine has it, a fraction.
    """

    name: str
    control: str
    source: str
    tailroom: dict[str, Any]
    rate: str = "20 Mbit/s"
    buffer_packets: int = 40
    rtt_ms: int = 40
    duration_s: int = 8
    loss: str = ""
    goal_at_most: int | None = None
    count_unit: float = 1.0
    least_equal: float | None = None
    bound_packets: int = 0
    continuous_bound_packets: float = 2.0

    def experiment(self) -> Experiment:
        """Describe the run in which the callbacks are recorded."""
        text = SCENARIO.format(
            name=self.name,
            duration_s=self.duration_s,
            rate=self.rate,
            buffer_packets=self.buffer_packets,
            rtt_ms=self.rtt_ms,
            loss=f"loss = {self.loss}\n" if self.loss else "",
        )
        return Experiment(self.name, text, {"flow": self.control}, repetitions=1)

    def description(self) -> dict[str, Any]:
        """Describe the recording, for its first line."""
        return {
            "control": self.control,
            "kernel": platform.release(),
            "tailroom": self.tailroom,
            "goal_at_most": self.goal_at_most,
            "count_unit": self.count_unit,
            "least_equal": self.least_equal,
            "bound_packets": self.bound_packets,
            "continuous_bound_packets": self.continuous_bound_packets,
            "packet_bytes": 1448,
            "scenario": self.experiment().scenario,
        }


FAST: dict[str, Any] = {"rate": "100 Mbit/s", "buffer_packets": 120, "duration_s": 5}
COUNTS_PARTS: dict[str, Any] = {"source": "delay", "count_unit": 2**-16, "duration_s": 6}
# Whole packets must be equal where the kernel computes with whole numbers only. The window that
# the engine has is a fraction w, the kernel's a whole W. Both add a(w) / w per packet, but the
# kernel divides by W until it has counted a packet, so that w stays behind by (W - W0) / 2W < 1/2
# of a packet after a growth from W0, and is ahead by the fraction that the kernel still counts,
# less than 1: |w - W| < 1. Congestion keeps 1 - b of this, and the kernel rounds its answer down:
# less than 2.
#
# CUBIC of the kernel, and tailroom's variant in whole numbers, which counts by itself: the
# kernel's clock ticks every 4 ms, and its cube root is wrong by 0.2 % (9 ms of K = 4.3 s). 13 ms at
# the steepest slope, 3 C K^2 = 22 packets/s, are 0.3 packets, so that a window is early or late by
# a packet.
#
# BBR has no bound that follows from arithmetic: a rounding can end a phase of its cycle later, and
# its filter of the delivery rate is not tailroom's. The share of equal windows is judged instead.
#
# The controls in delay.bpf.c compute with 2^-16 packets. At windows of 200 packets that is less
# than 0.01 packets from one congestion to the next, so a window is early or late by a callback
# now and then, and an answer to congestion can fall on the other side of a whole number: by 1
# packet. The difference that was there before is multiplied by 1 - b; hence at most 1 / b: 3
# packets for FHSTCP (b of 600 packets), 5 for H-TCP (b = 0.2), 8 for Illinois (b = 0.125); 1 for
# Westwood+, whose answer does not depend on the window. Vegas compares whole numbers, and has to
# be equal.
CASES = (
    Case(
        "kernel-reno",
        "tr_kernel_reno",
        "kernel",
        {"kind": "reno"},
    ),
    Case(
        "kernel-reno-losses",
        "tr_kernel_reno",
        "kernel",
        {"kind": "reno"},
        duration_s=20,
        loss='{ kind = "bernoulli", probability = 0.03 }',
    ),
    Case(
        "kernel-cubic",
        "tr_kernel_cubic",
        "kernel",
        {"kind": "cubic", "variant": "linux"},
        duration_s=12,
        count_unit=0.0,
        bound_packets=1,
        continuous_bound_packets=1.0,
    ),
    Case(
        "kernel-cubic-losses",
        "tr_kernel_cubic",
        "kernel",
        {"kind": "cubic", "variant": "linux"},
        duration_s=30,
        loss='{ kind = "bernoulli", probability = 0.01 }',
        count_unit=0.0,
        bound_packets=1,
        continuous_bound_packets=1.0,
    ),
    Case(
        "kernel-bbr",
        "tr_kernel_bbr",
        "bbr",
        {"kind": "bbr1"},
        duration_s=12,
        least_equal=0.95,
        continuous_bound_packets=1.0,
    ),
    Case("reno", "tr_reno", "counting", {"kind": "reno"}, duration_s=6),
    Case(
        "highspeed",
        "tr_highspeed",
        "counting",
        {"kind": "highspeed", "increase": "linux_table"},
        **FAST,
    ),
    Case(
        "scalable",
        "tr_scalable",
        "counting",
        {"kind": "scalable", "variant": "linux"},
        goal_at_most=100,
        **FAST,
    ),
    Case(
        "fhstcp",
        "tr_fhstcp",
        tailroom={"kind": "fhstcp", "block_pacing": False},
        bound_packets=3,
        **COUNTS_PARTS,
    ),
    Case(
        "westwood",
        "tr_westwood",
        tailroom={"kind": "westwood"},
        bound_packets=1,
        **COUNTS_PARTS,
    ),
    Case("htcp", "tr_htcp", tailroom={"kind": "htcp"}, bound_packets=5, **COUNTS_PARTS),
    Case("vegas", "tr_vegas", tailroom={"kind": "vegas"}, **COUNTS_PARTS),
    Case(
        "illinois",
        "tr_illinois",
        tailroom={"kind": "illinois"},
        bound_packets=8,
        **COUNTS_PARTS,
    ),
)


def missing() -> str | None:
    """Return what this machine lacks for these recordings; `None` if it lacks nothing."""
    return missing_for_recordings() or bpf.missing()


def text_of(case: Case, records: Sequence[bpf.Record]) -> str:
    """Write the records of a flow as the text that tailroom-kernel-replay reads.

    Args:
        case: What was recorded.
        records: The records of one flow, in order.
    """
    begin_ns, begin_bytes = records[0][0], records[0][UNA]
    rows = [json.dumps(case.description(), separators=(",", ":"))]
    clock = _Clock()
    for record_ in records:
        mss = max(record_[MSS], 1)
        # Sequence numbers wrap; packets of a bulk flow are all full.
        una, next_ = (round(((record_[at] - begin_bytes) % 2**32) / mss) for at in (UNA, NEXT))
        now_ns = record_[0] - begin_ns
        fields = [record_[KIND], now_ns, *record_[ACKED:UNA], una, next_]
        fields += record_[MSS + 1 : DELIVERED]
        if record_[KIND] == RATE:
            more = list(record_[MORE:])
            more[CLOCK] = clock.since_begin_us(more[CLOCK], now_ns)
            fields += more
        rows.append(",".join(map(str, fields)))
    return "\n".join(rows) + "\n"


class _Clock:
    """The sender's clock of 32 bits, set to the time since the first record."""

    def __init__(self) -> None:
        self._offset: int | None = None

    def since_begin_us(self, clock_us: int, now_ns: int) -> int:
        if self._offset is None:
            self._offset = clock_us - now_ns // 1000
        return (clock_us - self._offset) % 2**32


def record_case(case: Case, directory: Path) -> Path:
    """Record a case and return the compressed file.

    Args:
        case: What is recorded.
        directory: Where the file is written.

    Raises:
        RecordingError: The flow failed.
        ControlsError: The kernel or the compiler refuses a control.
    """
    with (
        bpf.registered([case.source]) as take_records,
        tempfile.TemporaryDirectory(prefix="tailroom-exact-") as results,
    ):
        path = record(case.experiment(), Path(results))
        run = json.loads(path.read_text(encoding="utf-8"))["runs"][0]
        records = take_records()
    # A machine that stalls gives late ACKs and bursts, but a control's answer to them is no less
    # exact: such a run, which the harness repeats, counts here if all attempts were like this.
    failure = run["flows"][0]["failure"]
    if failure is not None or not records:
        raise RecordingError(f"{case.name}: {failure or 'no callback was recorded'}")
    flow = [one for one in records if one[PORT] == records[0][PORT]]
    directory.mkdir(parents=True, exist_ok=True)
    out = directory / f"{case.name}.csv.gz"
    # Without a time: the same recording gives the same bytes.
    out.write_bytes(gzip.compress(text_of(case, flow).encode(), compresslevel=9, mtime=0))
    return out


def main() -> int:
    """Record what the command line asks for; the exit status is 1 if a recording failed."""
    parser = argparse.ArgumentParser(prog="validation.kernel.exact")
    parser.add_argument("--list", action="store_true", help="print the names and end")
    parser.add_argument("--only", default="", help="recordings whose name holds this text")
    parser.add_argument("--out", type=Path, default=TRACES, help="directory of the recordings")
    arguments = parser.parse_args()
    chosen = [case for case in CASES if arguments.only in case.name]
    if arguments.list:
        print("\n".join(f"{case.name}: {case.duration_s} s" for case in chosen))
        return 0
    lack = missing()
    if lack is not None:
        print(lack, file=sys.stderr)
        return 1
    failed = 0
    for case in chosen:
        try:
            path = record_case(case, arguments.out)
        except (RecordingError, bpf.ControlsError) as error:
            failed += 1
            print(error, file=sys.stderr)
            continue
        print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB", flush=True)
    return int(failed > 0)


def _interrupt(_signal: int, _frame: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGINT, _interrupt)
    sys.exit(main())
