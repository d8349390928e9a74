"""tailroom's sender, fed with the ACKs that the Linux kernel's sender received.

`validation/kernel/recorded/chain` holds what `python -m validation.kernel.chain` has recorded: each
packet that left, each ACK that arrived, and each callback of the kernel's congestion control. The
program in `validation/kernel/replay` hands the ACKs to tailroom's sender and compares what its control
is told.
"""

import json
import lzma
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.validation.exact import ROOT, program

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
"""The least share of ACKs, or of retransmissions, at which both sides agree. Kinds of samples, packets
acknowledged, packets in flight and packets of a rate sample have to be equal. RTTs, smoothed RTTs and
intervals of rate samples may differ by a tick of the kernel's timestamps and the time of a packet on the
link (1 ms + 1.5 ms), and so may the times of retransmissions. The sum of lost packets has to lie between
the kernel's an ACK before and the kernel's an ACK later."""

SAME = ("lost", "congestions", "timeouts", "retransmissions")
"""What both sides have to have all of: the number of lost packets, calls for ssthresh after losses at the
same ACK, at timeouts between the same two ACKs, and retransmissions by packet."""

KNOWN_MISSES: dict[tuple[str, str], str] = {}
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

    def lines(self) -> Iterator[str]:
        """Describe each comparison in a line."""
        known = {key for name, key in KNOWN_MISSES if name == self.name}
        misses = self.misses()
        for key in (*LEAST_SHARE, *SAME):
            if key in LEAST_SHARE and not self.found[key]["compared"]:
                continue
            verdict = "meets" if key not in misses else "misses, known" if key in known else "MISSES"
            if key not in misses and key in known:
                verdict = "MEETS, though known as missed: take it off the list"
            yield f"{self.name:15} {key:16} {self._words(key)}  {verdict}"

    def _words(self, key: str) -> str:
        if key in SAME:
            kernel, tailroom, same = self._events(key)
            return f"{kernel:5} of the kernel, {tailroom:5} of tailroom, {same:5} the same"
        found = self.found[key]
        share = f"{self._share(key):7.2%} of {found['compared']:5} ({LEAST_SHARE[key]:.0%} have to)"
        return f"{share}, largest difference {found['largest']:.3g}"

    @property
    def is_as_expected(self) -> bool:
        """Whether the bounds are met, apart from those that are known as missed."""
        return self.misses() == {key for name, key in KNOWN_MISSES if name == self.name}


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
