"""Records what the kernel's sender is fed with, with every callback of its congestion control.

python -m validation.kernel.chain [--only TEXT] [--out DIRECTORY]

The recordings go into `recorded/chain`, unless `--out` names another directory, and
tests/validation/chain.py replays them through tailroom's sender on any machine. They need what the
recordings of `validation.kernel.exact` need.
"""

import argparse
import json
import lzma
import platform
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from validation.kernel import bpf, exact
from validation.kernel.experiment import Experiment
from validation.kernel.harness import RecordingError, record

RECORDINGS = Path(__file__).parent / "recorded" / "chain"
RATE_MBIT = 8
RTT_MS = 40

INIT, CONGESTION, UNDO, STATE, SAMPLE, RATE = 0, 2, 3, 4, 6, 7
KEPT = (CONGESTION, UNDO, STATE)
WINDOW, WINDOW_AFTER, ANSWER, SRTT, RTT = 4, 7, 10, 11, 12
LOST, IN_FLIGHT = exact.DELIVERED + 1, exact.DELIVERED + 2
"""Places in a record, as in validation/kernel/exact.py, and kinds of callbacks."""

# Of `more` in controls/trace.bpf.h: packets in flight before the ACK, packets newly lost and newly
# delivered, packets of the rate sample and its interval, packets delivered when the sampled packet
# left, the RTT of the sample, and the pacing rate.
PRIOR_IN_FLIGHT, NEWLY_LOST, NEWLY_DELIVERED, PACKETS, INTERVAL = 6, 4, 5, 1, 2
PRIOR_DELIVERED, RATE_RTT, PACING = 7, 3, 12


@dataclass(frozen=True)
class ChainCase:
    """A flow whose sender is recorded.

    Attributes:
        name: Name of the recording.
        control: The control's name in the kernel.
        source: The file of `controls` that it is in.
        buffer_packets: Buffer of the link.
        duration_s: Length of the recording, in seconds.
        loss: Random loss of the link, as a fraction.
    """

    name: str
    control: str
    source: str
    buffer_packets: int
    duration_s: int
    loss: float = 0.0

    @property
    def is_rate_based(self) -> bool:
        """Whether the control is told rate samples."""
        return self.source == "bbr"

    def experiment(self) -> Experiment:
        """Describe the run that is recorded."""
        loss = f'loss = {{ kind = "bernoulli", probability = {self.loss} }}\n' if self.loss else ""
        text = exact.SCENARIO.format(
            name=self.name,
            duration_s=self.duration_s,
            rate=f"{RATE_MBIT} Mbit/s",
            buffer_packets=self.buffer_packets,
            rtt_ms=RTT_MS,
            loss=loss,
        )
        return Experiment(self.name, text, {"flow": self.control}, repetitions=1)


CASES = (
    ChainCase("cubic-drops", "tr_kernel_cubic", "kernel", buffer_packets=10, duration_s=10),
    ChainCase("cubic-losses", "tr_kernel_cubic", "kernel", 40, duration_s=20, loss=0.03),
    ChainCase("cubic-timeouts", "tr_kernel_cubic", "kernel", 40, duration_s=20, loss=0.1),
    ChainCase("bbr-drops", "tr_kernel_bbr", "bbr", buffer_packets=10, duration_s=7),
    ChainCase("bbr-losses", "tr_kernel_bbr", "bbr", 40, duration_s=7, loss=0.02),
)


@dataclass(frozen=True)
class Segment:
    """A segment of host A, as validation/kernel/link/src/packet_log.rs writes it."""

    is_sent: bool
    time_ns: int
    port: int
    is_syn: bool
    sequence: int
    payload: int
    acknowledgment: int
    value_ms: int
    echo_ms: int
    blocks: tuple[int, ...]

    @classmethod
    def read(cls, line: str) -> "Segment":
        """Read a line of the log of packets.

        Args:
            line: The line.
        """
        way, *fields = line.split(",")
        time_ns, port, syn, sequence, payload, acknowledgment, value, echo, *blocks = map(
            int, fields
        )
        head = (way == "s", time_ns, port, syn == 1, sequence, payload, acknowledgment)
        return cls(*head, value, echo, tuple(blocks))


Row = tuple[int, list[str | int]]


class Flow:
    """The rows of a recording, in packets and in microseconds since the control began."""

    def __init__(self, case: ChainCase, log: str, records: Sequence[bpf.Record]) -> None:
        """Find the connection in the log of packets and in the records of callbacks.

        Args:
            case: What was recorded.
            log: The log of packets.
            records: The records of callbacks, in order.

        Raises:
            RecordingError: The connection did not begin.
        """
        segments = [Segment.read(line) for line in log.splitlines()]
        syn = next((one for one in segments if one.is_syn and one.is_sent), None)
        if syn is None:
            raise RecordingError(f"{case.name}: no connection was opened")
        self._case, self._syn = case, syn
        self._segments = [one for one in segments if one.port == syn.port and not one.is_syn]
        # An attempt before may have had the same port.
        later = (one for one in records if one[0] > syn.time_ns)
        of_flow = [one for one in later if one[exact.PORT] == syn.port]
        begin = next((at for at, one in enumerate(of_flow) if one[exact.KIND] == INIT), None)
        if begin is None:
            raise RecordingError(f"{case.name}: no callback was recorded")
        self._init, self._records = of_flow[begin], of_flow[begin + 1 :]
        self._mss = self._init[exact.MSS]

    def text(self) -> str:
        """Return the recording as tailroom-kernel-replay reads it.

        Raises:
            RecordingError: The log of packets does not fit the callbacks.
        """
        rows = self._answered()
        last_ns = rows[-1][0]
        for segment in self._segments:
            if segment.is_sent and segment.payload and segment.time_ns < last_ns:
                rows.append((segment.time_ns, self._sent(segment)))
        for one in self._records:
            if one[exact.KIND] in KEPT and one[0] < last_ns:
                rows.append((one[0], self._callback(one, one[ANSWER])))
        rows.sort(key=lambda row: row[0])
        return "\n".join([self._description(), *self._timed(rows)]) + "\n"

    def _answered(self) -> list[Row]:
        """Return the rows of ACKs, and those of their callbacks in order.

        Raises:
            RecordingError: There is not one callback per ACK.
        """
        # The flow begins with the run, but a SYN may be lost.
        end_ns = self._syn.time_ns + self._case.duration_s * 10**9
        acks = [one for one in self._segments if not one.is_sent and one.time_ns < end_ns]
        kind = RATE if self._case.is_rate_based else SAMPLE
        answers = [one for one in self._records if one[exact.KIND] == kind]
        # The last one of all has no successor, which tells the window after it.
        acks = acks[: len(answers) - 1]
        una = [self._packet(one[exact.UNA]) for one in answers[: len(acks)]]
        if not acks or una != [self._packet(one.acknowledgment) for one in acks]:
            raise RecordingError(f"{self._case.name}: ACKs and callbacks are not the same ones")
        rows: list[Row] = [(one.time_ns, self._ack(one)) for one in acks]
        pairs = pairwise(answers[: len(acks) + 1])
        return [*rows, *((one[0], self._answer(one, following)) for one, following in pairs)]

    def _description(self) -> str:
        description = {
            "control": self._case.control,
            "kernel": platform.release(),
            "is_rate_based": self._case.is_rate_based,
            "srtt_8us": self._init[SRTT],
            "packet_bytes": self._mss,
            "link_mbit": RATE_MBIT,
            "scenario": self._case.experiment().scenario,
        }
        return json.dumps(description, separators=(",", ":"))

    def _timed(self, rows: Sequence[Row]) -> Iterator[str]:
        """The time of a row is that since the row before, which takes fewer bytes."""
        last_us = 0
        for time_ns, (letter, *fields) in rows:
            now_us = max((time_ns - self._init[0]) // 1000, last_us)
            yield ",".join(map(str, (letter, now_us - last_us, *fields)))
            last_us = now_us

    def _packet(self, sequence: int) -> int:
        packets, rest = divmod((sequence - self._syn.sequence - 1) % 2**32, self._mss)
        if rest:
            raise RecordingError(f"{self._case.name}: a packet is not full")
        return packets

    def _ms(self, timestamp: int) -> int:
        return (timestamp - self._syn.value_ms) % 2**32

    def _sent(self, segment: Segment) -> list[str | int]:
        if segment.payload != self._mss:
            raise RecordingError(f"{self._case.name}: a packet has {segment.payload} bytes")
        return ["s", self._packet(segment.sequence), self._ms(segment.value_ms)]

    def _ack(self, segment: Segment) -> list[str | int]:
        packet = self._packet(segment.acknowledgment)
        return ["r", packet, self._ms(segment.echo_ms), *map(self._packet, segment.blocks)]

    def _answer(self, record_: bpf.Record, following: bpf.Record) -> list[str | int]:
        """The callback of an ACK, with the window until that of the next one."""
        if not self._case.is_rate_based:
            return self._callback(record_, following[WINDOW])
        more = record_[exact.MORE :]
        rate = (PRIOR_IN_FLIGHT, NEWLY_LOST, NEWLY_DELIVERED, PACKETS, INTERVAL, PRIOR_DELIVERED)
        fields = self._callback(record_, record_[WINDOW_AFTER], max(_signed(more[RATE_RTT]), 0))
        return [*fields, *(_signed(more[at]) for at in rate), more[PACING]]

    def _callback(
        self, record_: bpf.Record, answer: int, rtt_us: int | None = None
    ) -> list[str | int]:
        packets = [self._packet(record_[at]) for at in (exact.UNA, exact.NEXT)]
        since = [(record_[at] - self._init[at]) % 2**32 for at in (exact.DELIVERED, LOST)]
        rtt_us = record_[RTT] if rtt_us is None else rtt_us
        head: list[str | int] = ["c", record_[exact.KIND], record_[exact.ACKED], answer]
        return [*head, record_[SRTT], rtt_us, *packets, *since, record_[IN_FLIGHT]]


def _signed(word: int) -> int:
    return word - 2**32 if word >= 2**31 else word


def record_case(case: ChainCase, directory: Path) -> Path:
    """Record a case and return the compressed file.

    Args:
        case: What is recorded.
        directory: Where the file is written.

    Raises:
        RecordingError: The flow failed, or the machine stalled in all attempts.
        ControlsError: The kernel or the compiler refuses a control.
    """
    with (
        bpf.registered([case.source]) as take_records,
        tempfile.TemporaryDirectory(prefix="tailroom-chain-") as results,
    ):
        log = Path(results) / "packets.csv"
        path = record(case.experiment(), Path(results), packets=log)
        run = json.loads(path.read_text(encoding="utf-8"))["runs"][0]
        if run["invalid"]:
            raise RecordingError(f"{case.name}: {'; '.join(run['invalid'])}")
        text = Flow(case, log.read_text(encoding="utf-8"), take_records()).text()
    directory.mkdir(parents=True, exist_ok=True)
    out = directory / f"{case.name}.csv.xz"
    out.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    return out


def main() -> int:
    """Record what the command line asks for; the exit status is 1 if a recording failed."""
    parser = argparse.ArgumentParser(prog="validation.kernel.chain")
    parser.add_argument("--only", default="", help="recordings whose name holds this text")
    parser.add_argument("--out", type=Path, default=RECORDINGS, help="directory of the recordings")
    arguments = parser.parse_args()
    lack = exact.missing()
    if lack is not None:
        print(lack, file=sys.stderr)
        return 1
    failed = 0
    for case in (case for case in CASES if arguments.only in case.name):
        try:
            path = record_case(case, arguments.out)
        except (RecordingError, bpf.ControlsError) as error:
            failed += 1
            print(error, file=sys.stderr)
            continue
        print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB", flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
