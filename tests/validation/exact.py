"""Every callback of congestion controls in the Linux kernel, replayed through tailroom's.

`validation/kernel/recorded/traces` holds what `python -m validation.kernel.exact` has recorded:
what the kernel told a control at each callback, and the window after it. The program in
`validation/kernel/replay` gives the same input to tailroom's control and compares the windows.

    python -m tests.validation.exact [--only TEXT]

A second table is that of tests/validation/chain.py: tailroom's sender, fed with the kernel's ACKs.
"""

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tailroom.reproduction import is_true
from tests.validation import chain
from tests.validation.frame import Claim, Item, Validation
from tests.validation.replay_program import ROOT, program

TRACES = ROOT / "validation/kernel/recorded/traces"


@dataclass(frozen=True)
class Replay:
    """A replayed recording: its description and what was found.

    Attributes:
        name: Name of the recording.
        least_equal: Instead of the bounds, the least share of callbacks with equal windows.
        bound_packets: Most whole packets by which the windows may differ.
        continuous_bound_packets: The same for the window as the engine has it.
        counted: The comparison in whole packets.
        continuous: The comparison with the engine's window.
    """

    name: str
    least_equal: float | None
    bound_packets: int
    continuous_bound_packets: float
    counted: dict[str, Any]
    continuous: dict[str, Any]

    @property
    def is_met(self) -> bool:
        """Whether no callback differs by more than the bounds, and there are enough of them."""
        if self.least_equal is not None:
            return bool(self.counted["equal"] >= self.least_equal * self.counted["compared"])
        return (
            self.counted["compared"] > 0
            and self._largest(self.counted) <= self.bound_packets
            and self._largest(self.continuous) <= self.continuous_bound_packets
        )

    def _largest(self, found: dict[str, Any]) -> float:
        return float(max(found["largest_by_epoch_packets"], default=0.0))

    def line(self) -> str:
        """Describe the replay in a line."""
        counted = self.counted
        whole, fraction = self._largest(counted), self._largest(self.continuous)
        allowed = f"{self.bound_packets} allowed"
        fractions = f"as a fraction by {fraction:.2f} ({self.continuous_bound_packets:g} allowed)"
        if self.least_equal is not None:
            allowed = f"{self.least_equal:.0%} have to be equal"
            fractions = f"pacing rates by {fraction:.1f} %"
        return (
            f"{self.name:14} {counted['compared']:6} callbacks, "
            f"{counted['congestions']:2} congestions: {counted['equal']:6} equal, "
            f"{counted['different']:5} differ, by {whole:.0f} packets at most ({allowed}); "
            f"{fractions}  {'meets' if self.is_met else 'MISSES'}"
        )


def replay(path: Path) -> Replay:
    """Replay a compressed recording.

    Args:
        path: The file.

    Raises:
        subprocess.CalledProcessError: The recording cannot be read.
    """
    text = gzip.decompress(path.read_bytes())
    description = json.loads(text.split(b"\n", 1)[0])
    replayed = subprocess.run([program()], input=text, stdout=subprocess.PIPE, check=True)
    found = json.loads(replayed.stdout)
    return Replay(
        path.name.removesuffix(".csv.gz"),
        description["least_equal"],
        description["bound_packets"],
        description["continuous_bound_packets"],
        found["counted"],
        found["continuous"],
    )


def items(only: str) -> Iterator[Item]:
    """Replays every recording whose name holds a text."""
    paths = [path for path in sorted(TRACES.glob("*.csv.gz")) if only in path.name]
    replays = [replay(path) for path in paths]
    yield from (one.line() for one in replays)
    chains = chain.replays(only)
    yield from chain.table(chains)
    yield Claim(
        "all bounds are met, apart from those of the sender that are known as missed",
        [
            is_true("recordings", "some", bool(replays or chains)),
            *(is_true(one.name, "within its bounds", one.is_met) for one in replays),
            *(is_true(f"sender, {one.name}", "as known", one.is_as_expected) for one in chains),
        ],
    )


main = Validation(
    items, options={"--only": {"default": "", "help": "recordings whose name holds this text"}}
)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
