"""The paper's set-up: its scenario, the keys that its parts vary, and paths of other rates."""

from dataclasses import dataclass

from tailroom_papers.framework import *

BOUNDS = Bounds.of(__package__)
FIRST_SEED = 2001
"""The first edition used seeds from 1 to 20."""

SCENARIO = "su-2005-fhstcp/table-1.toml"

C = "flows.fair.congestion.c"
CONTROL = "flows.fair.congestion"
BLOCKS = "flows.fair.congestion.block_pacing"
RATE = "links.bottleneck.rate"
DELAY = "links.bottleneck.delay"
LIMIT = "links.bottleneck.queue.limit"

TABLE_C = (5, 10, 20)
"""Of Table 1."""
RTTS_MS = (80, 140, 200)
"""Of F1, F2 and F3."""
PACKET_BITS = 8000


@dataclass(frozen=True)
class Path:
    """A bottleneck; the paper's missing Figure 2 would state it."""

    rate_mbps: int
    delay_ms: int

    @property
    def buffer_packets(self) -> int:
        """Rate times delay of the bottleneck, as the paper sizes it."""
        return self.rate_mbps * self.delay_ms * 1000 // PACKET_BITS

    @property
    def settings(self) -> dict[str, str]:
        """As a scenario has it: a limit does not count the packet being sent."""
        return {
            RATE: f"{self.rate_mbps} Mbit/s",
            DELAY: f"{self.delay_ms} ms",
            LIMIT: f"{self.buffer_packets - 1} packets",
        }


CHOSEN = Path(300, 20)
"""That of the scenario."""


def span(form: Form) -> dict[str, object]:
    """Duration and measured part; but in a smoke test the paper's 200 s."""
    return form.of({"duration": "60 s", "measure_from": "20 s"}, {}, {})
