"""Parameters that the paper does not state, other than the bottleneck, and plausible values."""

from dataclasses import dataclass

from tailroom_papers.framework import *

GROUPS = ("fair", "background", "short", "web")
LONG = GROUPS[:2]
SMALL = GROUPS[2:]


@dataclass(frozen=True)
class Unstated:
    """Another value of a parameter that the paper does not state."""

    settings: dict[str, object]
    """The value, by dotted key."""
    reason: str
    """Why the value is plausible."""

    def variation(self, name: str, study: Study, claims: tuple[str, ...], seeds: int) -> Variation:
        """Returns a study with this value, with which claims are judged again."""
        return Variation(
            name, [study.varied(self.settings, seeds=seeds)], claims, reason=self.reason
        )


def each(groups: tuple[str, ...], key: str, value: object) -> dict[str, object]:
    """Returns a setting of the same key for several groups of flows."""
    return {f"flows.{group}.{key}": value for group in groups}


JITTER = "sender jitter of 20 us"
LIMITED = "limited slow start"

UNSTATED = {
    "3 background flows": Unstated(
        {"flows.background.count": 3}, "the paper has 3 to 5 long-lived background flows"
    ),
    "5 background flows": Unstated(
        {"flows.background.count": 5}, "the paper has 3 to 5 long-lived background flows"
    ),
    "background RTTs of 80 to 200 ms": Unstated(
        {"flows.background.rtt": {"from": "80 ms", "to": "200 ms"}},
        "the range of the three flows; the paper gives none for the background",
    ),
    "short and web 0.25 % each": Unstated(
        each(SMALL, "source.load", 0.0025),
        "the paper has some short and web flows and does not say how many",
    ),
    "short and web 4 % each": Unstated(
        each(SMALL, "source.load", 0.04),
        "the paper has some short and web flows and does not say how many",
    ),
    "access links of 1 Gbps": Unstated(
        each(GROUPS, "access_rate", "1 Gbit/s"), "the access rate of hosts in 2005"
    ),
    "RTTs longer by half a packet time": Unstated(
        {"flows.fair.rtt": {"from": "80.0133 ms", "to": "200.0133 ms"}},
        "another phase between packets of the three flows and of the background",
    ),
    JITTER: Unstated(
        each(GROUPS, "send_jitter", "20 us"),
        "a random processing time of the senders, less than the 27 us that a packet takes at the "
        "bottleneck; ns-2 offers it as `overhead_`",
    ),
    "sender jitter by default": Unstated(
        each(GROUPS, "send_jitter", "auto"),
        "the random processing time that tailroom gives hosts unless a scenario switches it off",
    ),
    "delayed ACKs": Unstated(
        each(GROUPS, "delayed_ack", True), "receivers acknowledge every second packet"
    ),
    "starts within 20 s": Unstated(
        each(LONG, "start", {"uniform": ["0 s", "20 s"]}), "the paper gives no start times"
    ),
    LIMITED: Unstated(
        each(GROUPS, "slow_start", {"kind": "limited"}),
        "RFC 3742, which RFC 3649 recommends for large windows",
    ),
}
"""By name."""
