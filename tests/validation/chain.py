"""tailroom's sender, fed with the ACKs that the Linux kernel's sender received.

`validation/kernel/recorded/chain` holds what `python -m validation.kernel.chain` has recorded: each
packet that left, each ACK that arrived, and each callback of the kernel's congestion control. The
program in `validation/kernel/replay` hands the ACKs to tailroom's sender, and compares what its
control is told.
"""

import json
import lzma
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.validation.replay_program import ROOT, program

RECORDINGS = ROOT / "validation/kernel/recorded/chain"

LEAST_SHARE = {
    "kinds": 0.99,
    "rtts": 1.0,
    "srtts": 1.0,
    "acked": 0.99,
    "in_flight": 0.99,
    "rate_packets": 0.99,
    "rate_intervals": 0.99,
    "lost_in_time": 1.0,
    "retransmitted_at": 0.95,
}
"""The least share of ACKs, or of retransmissions, at which both sides agree.

Kinds of samples, packets acknowledged, packets in flight and packets of a rate sample have to be
equal. RTTs, smoothed RTTs and intervals of rate samples may differ by a tick of the kernel's
timestamps and the time of a packet on the link (1 ms + 1.5 ms), and so may the times of
retransmissions. The sum of lost packets has to lie between the kernel's an ACK before and the
kernel's an ACK later.
"""

SAME = ("lost", "congestions", "timeouts", "retransmissions")
"""What both sides have to have all of: the number of lost packets, calls for ssthresh after losses
at the same ACK, at timeouts between the same two ACKs, and retransmissions by packet."""

SACK_ONLY = "Linux takes an RTT from an ACK that only sacks; tailroom takes none"
LAST_PACKET = (
    "Linux tells a window law the RTT of the last packet that an ACK acknowledges, tailroom that "
    "of the first, whose ACK was delayed"
)
TICKS = "the recorded kernel's timers fire up to two ticks of 4 ms late"
PACER = "of BBR's retransmissions behind a full buffer, a fifth leave at other times; not explained"

KNOWN_MISSES = {
    ("cubic-drops", "kinds"): SACK_ONLY,
    ("cubic-drops", "rtts"): LAST_PACKET,
    ("cubic-drops", "srtts"): SACK_ONLY,
    ("cubic-losses", "kinds"): SACK_ONLY,
    ("cubic-losses", "rtts"): LAST_PACKET,
    ("cubic-losses", "srtts"): SACK_ONLY,
    ("cubic-losses", "retransmitted_at"): TICKS,
    ("cubic-losses", "congestions"): TICKS,
    ("cubic-timeouts", "kinds"): SACK_ONLY,
    ("cubic-timeouts", "srtts"): SACK_ONLY,
    ("cubic-timeouts", "retransmitted_at"): TICKS,
    ("bbr-drops", "srtts"): SACK_ONLY,
    ("bbr-drops", "retransmitted_at"): PACER,
    ("bbr-losses", "srtts"): SACK_ONLY,
}
"""Bounds that are missed: recording and quantity, with the reason."""


@dataclass(frozen=True)
class Chain:
    """A recording that was replayed.

    Attributes:
        name: Name of the recording.
        found: What the replay has compared (`validation/kernel/replay/src/chain/comparison.rs`).
    """

    name: str
    found: dict[str, Any]

    def misses(self) -> set[str]:
        """Return the quantities whose bounds are missed."""
        shares = {key for key, share in LEAST_SHARE.items() if self._share(key) < share}
        return shares | {key for key in SAME if len(set(self._events(key))) > 1}

    def _share(self, key: str) -> float:
        found = self.found[key]
        return found["agree"] / found["compared"] if found["compared"] else 1.0

    def _events(self, key: str) -> tuple[int, int, int]:
        found = self.found[key]
        return found["kernel"], found["tailroom"], found["same"]

    def known(self) -> set[str]:
        """Return the quantities whose bounds are known as missed."""
        return {key for name, key in KNOWN_MISSES if name == self.name}

    def cell(self, key: str) -> str:
        """Describe the comparison of a quantity: `*` is a known miss, `!` an unexpected verdict.

        Args:
            key: The quantity.
        """
        is_missed, is_known = key in self.misses(), key in self.known()
        mark = "!" if is_missed != is_known else "*" if is_missed else ""
        if key in SAME:
            kernel, tailroom, same = self._events(key)
            return f"{kernel} / {tailroom}, {same}{mark}"
        compared = self.found[key]["compared"]
        return f"{self._share(key) * 100:.2f} %{mark}" if compared else "-"

    @property
    def is_as_expected(self) -> bool:
        """Whether the bounds are met, apart from those that are known as missed."""
        return self.misses() == self.known()


def replay(path: Path) -> Chain:
    """Replay a compressed recording.

    Args:
        path: The file.

    Raises:
        subprocess.CalledProcessError: The recording cannot be replayed.
    """
    text = lzma.decompress(path.read_bytes())
    command = [str(program()), "chain"]
    replayed = subprocess.run(command, input=text, stdout=subprocess.PIPE, check=True)
    return Chain(path.name.removesuffix(".csv.xz"), json.loads(replayed.stdout))


def replays(only: str = "") -> list[Chain]:
    """Replay the recordings.

    Args:
        only: Text that their names hold.
    """
    return [replay(path) for path in sorted(RECORDINGS.glob("*.csv.xz")) if only in path.name]


def table(chains: Sequence[Chain]) -> Iterator[str]:
    """Describe replays in a row per quantity and a column per recording.

    A cell is the share of ACKs or retransmissions at which both sides agree, or how many events the
    kernel has, how many tailroom has, and how many of them are the same.

    Args:
        chains: The replays.
    """
    if not chains:
        return
    heads = ("at least", *(chain.name for chain in chains))
    yield f"{'sender':16}" + "".join(f"{head:>17}" for head in heads)
    for key in (*LEAST_SHARE, *SAME):
        bound = f"{LEAST_SHARE[key]:.0%}" if key in LEAST_SHARE else "all"
        cells = (bound, *(chain.cell(key) for chain in chains))
        yield f"{key:16}" + "".join(f"{cell:>17}" for cell in cells)
    yield "* known as missed; ! not as expected"
