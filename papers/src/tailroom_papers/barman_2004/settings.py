"""Settings of Figures 3, 4, 7 and 8; buffers are fractions of the paper's full buffer."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tailroom_papers.framework import *
from tailroom_papers.reference import ns2

LIMIT = "links.bottleneck.queue.limit"
RANDOM_STARTS = {"flows.hstcp.start": {"uniform": ["0 s", "10 s"]}}
"""The paper's flows start "at different times"; drawn by the seed, they make runs differ."""
RTT = "flows.hstcp.rtt"
PACKET_BITS = 8000
FULL_SEEDS = 20
"""Runs of each point in the full form."""


class Reference(NamedTuple):
    """A row of ns-2."""

    fraction: float
    utilization: float
    loss: float


@dataclass(frozen=True)
class Setting:
    """Ten HighSpeed flows over one link whose buffer varies."""

    figure: str
    link: str
    """In words, for titles."""
    full_packets: int
    """The buffer at fraction 1, as the paper counts."""
    capacity_bps: float
    rtts_ms: tuple[float, float]
    """Smallest and largest RTT. Each run draws the RTTs of its flows from this range."""
    in_transmission: int
    """Of the paper's buffer: ns-2's DropTail counts the packet being sent, its RED does not."""
    times: Mapping[Form, tuple[str, str]]
    """`duration` and `measure_from`."""
    ns2_rows: str
    """Pattern of ns-2's cases, whose group is the buffer in packets."""
    ns2_variants: str = "none"
    """The same of cases with jitter, another slow start or another window of measurement."""

    @property
    def mean_rtt_s(self) -> float:
        """The middle of the range of RTTs, which is the mean that the paper gives."""
        return sum(self.rtts_ms) / 2000

    @property
    def bdp_packets(self) -> float:
        """The bandwidth-delay product of the mean RTT."""
        return self.capacity_bps * self.mean_rtt_s / PACKET_BITS

    def of_bdp(self, share: float) -> float:
        """The fraction of the paper's full buffer that is this share of the mean RTT's BDP."""
        return share * self.bdp_packets / self.full_packets

    def in_bdp(self, fraction: float) -> float:
        """A fraction of the paper's full buffer as a share of the mean RTT's BDP."""
        return fraction * self.full_packets / self.bdp_packets

    @property
    def drawn_rtts(self) -> dict[str, object]:
        """The RTTs of the flows, drawn anew for every seed from the paper's range."""
        return {RTT: {"uniform": [f"{rtt:g} ms" for rtt in self.rtts_ms]}}

    @property
    def scenario(self) -> str:
        """The shipped scenario."""
        return f"barman-2004/figure-{self.figure}.toml"

    def limit(self, fraction: float) -> str:
        """Our queue limit at a fraction of the full buffer."""
        return f"{round(fraction * self.full_packets) - self.in_transmission} packets"

    def fraction(self, point: PointResults) -> float:
        """Of the full buffer."""
        return (point.number(LIMIT) + self.in_transmission) / self.full_packets

    def at(self, study: StudyResults, fraction: float) -> PointResults:
        """The point of a study at a fraction of the full buffer."""
        return study.at({LIMIT: self.limit(fraction)})

    def study(
        self,
        name: str,
        fractions: Sequence[float],
        form: Form,
        set: Mapping[str, object] | None = None,  # noqa: A002 - as everywhere in tailroom
        seeds: int = FULL_SEEDS,
    ) -> Study:
        """A sweep over the buffer."""
        duration, measure_from = self.times[form]
        times = {"duration": duration, "measure_from": measure_from}
        return Study(
            name,
            self.scenario,
            grid={LIMIT: [self.limit(part) for part in fractions]},
            set={**RANDOM_STARTS, **self.drawn_rtts, **times, **(set or {})},
            seeds=form.of(3, 5, seeds),
        )

    def ns2(self) -> list[Reference]:
        """ns-2's rows."""
        return self._rows(self.ns2_rows)

    def ns2_with_variants(self) -> list[Reference]:
        """ns-2's rows with a detail that the paper leaves open changed."""
        return self._rows(self.ns2_variants)

    def _rows(self, pattern: str) -> list[Reference]:
        matches = ((re.fullmatch(pattern, row["case"]), row) for row in ns2().to_pylist())
        return [
            Reference(int(match[1]) / self.full_packets, row["util"], row["loss"])
            for match, row in matches
            if match
        ]


_ONE_GIGABIT = {
    Form.SMOKE: ("24 s", "12 s"),
    Form.QUICK: ("70 s", "30 s"),
    Form.FULL: ("160 s", "60 s"),
}
_TWO_AND_A_HALF = {
    Form.SMOKE: ("16 s", "10 s"),
    Form.QUICK: ("60 s", "35 s"),
    Form.FULL: ("100 s", "40 s"),
}
_RED_ONE_GIGABIT = {**_ONE_GIGABIT, Form.SMOKE: ("36 s", "18 s"), Form.QUICK: ("100 s", "70 s")}
_RED_TWO_AND_A_HALF = {**_TWO_AND_A_HALF, Form.QUICK: ("70 s", "45 s")}
"""Slow start into a large buffer under RED loses much, and takes longer to recover from."""
_NARROW = "1 Gbit/s, RTT 115.5 to 124.5 ms"
_WIDE = "2.5 Gbit/s, RTT 38 to 142 ms"
_VARIANTS = "(?:jitter|limited|sinks|starts|window).*"

_NARROW_RTTS, _WIDE_RTTS = (115.5, 124.5), (38.0, 142.0)

FIGURE_3 = Setting(
    "3", _NARROW, 12_500, 1e9, _NARROW_RTTS, 1, _ONE_GIGABIT, r"S1 (\d+)",
    rf"S1 (\d+) {_VARIANTS}",
)  # fmt: skip
FIGURE_4 = Setting(
    "4", _WIDE, 6_250, 2.5e9, _WIDE_RTTS, 1, _TWO_AND_A_HALF, r"S2 (\d+)",
    rf"S2 (\d+) {_VARIANTS}",
)  # fmt: skip
FIGURE_7 = Setting(
    "7", _NARROW, 12_500, 1e9, _NARROW_RTTS, 0, _RED_ONE_GIGABIT, r"S4 (\d+) adaptive_red"
)
FIGURE_8 = Setting(
    "8", _WIDE, 6_250, 2.5e9, _WIDE_RTTS, 0, _RED_TWO_AND_A_HALF, r"S4 2\.5G (\d+) adaptive_red"
)
