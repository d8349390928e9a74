"""What the paper leaves open, varied around the set-up of Section IV-B."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tailroom_papers.auge_2006.setup import BACKGROUND
from tailroom_papers.framework import *

SEEDS = (3, 3, 20)
"""Runs per point, by form."""


@dataclass(frozen=True)
class Open:
    """Another value of something that the paper does not state."""

    name: str
    reason: str
    flows: Mapping[str, object]
    """Keys of every group of flows under congestion control."""
    background: Mapping[str, object] | None = None
    """Keys of the background."""
    only: str = ""
    """Prefix of the groups that change; every group if empty."""
    plausible: bool = True


RTT_OF_NS2 = Open(
    "RTT of 100.00672 ms",
    "The RTT of a usual ns-2 script: 100 ms and the time that an ACK of 40 bytes takes on both "
    "links. The phase of RTT and packet times is then the same in every run; it decides whose "
    "packet finds the buffer full.",
    {"rtt": "100.00672 ms"},
)
RTT_HALF_A_PACKET_LONGER = Open(
    "RTT of 100.08 ms",
    "Half a packet time longer, which is the opposite phase.",
    {"rtt": "100.08 ms"},
)
JITTER = Open(
    "sender jitter of up to 160 us",
    "Senders that take a random time of up to one packet time, which ns-2 recommends (overhead_).",
    {"send_jitter": "160 us"},
)
JITTER_OF_A_PACKET = Open(
    "sender jitter of up to a packet time of the link",
    "Senders that take a random time of up to one packet time, which ns-2 recommends (overhead_) "
    "and which is tailroom's default.",
    {"send_jitter": "auto"},
)
SACK = Open(
    "NewReno with selective acknowledgements",
    "Senders have had selective acknowledgements since 1996; ns-2's HighSpeed TCP has them.",
    {"recovery": "sack"},
    only="reno",
)
LARGE_PACKETS = Open(
    "packets of 1500 B and an RTT of 150 ms",
    "The bandwidth-delay product remains 625 packets.",
    {"packet_size": "1500 B", "rtt": {"uniform": ["150 ms", "150.24 ms"]}},
    {"packet_size": "1500 B"},
)
SLOW_ACCESS = Open(
    "access links twice as fast as the link",
    "100 Mbit/s, instead of 1 Gbit/s.",
    {"access_rate": "100 Mbit/s"},
)
FAST_ACCESS = Open(
    "access links 200 times as fast as the link",
    "10 Gbit/s, instead of 1 Gbit/s.",
    {"access_rate": "10 Gbit/s"},
)
DELAYED_ACKS = Open(
    "delayed acknowledgements",
    "An ACK for every second packet (RFC 5681), as hosts send them; ns-2 does not by default.",
    {"delayed_ack": True},
)
EQUAL_STARTS = Open(
    "all flows start at once",
    "Start times are not stated; elsewhere they are drawn from 5 s.",
    {"start": "0 s"},
)
PACING = Open(
    "paced senders",
    "Senders that spread a window over the round trip. The paper's senders do not: it explains "
    "the losses by bursts.",
    {"pacing": True},
    plausible=False,
)
EVERYTHING = (
    RTT_OF_NS2,
    RTT_HALF_A_PACKET_LONGER,
    JITTER,
    SACK,
    LARGE_PACKETS,
    SLOW_ACCESS,
    FAST_ACCESS,
    DELAYED_ACKS,
    EQUAL_STARTS,
    PACING,
)
IN_QUICK_FORM = (RTT_OF_NS2, RTT_HALF_A_PACKET_LONGER, PACING)


def variations(
    studies: Sequence[Study],
    claims: tuple[str, ...],
    form: Form,
    chosen: Sequence[Open] = EVERYTHING,
    *,
    seeds: tuple[int, int, int] = SEEDS,
) -> list[Variation]:
    """Returns a variation of these studies for each value of what the paper leaves open.

    Args:
        studies: The studies that the claims use, with only the points that they use.
        claims: Names of the claims that are judged again.
        form: Extent of the reproduction; the shorter forms have fewer variations.
        chosen: The values.
        seeds: Runs per point, by form.
    """
    fewer: Sequence[Open] = form.of(IN_QUICK_FORM[1:2], IN_QUICK_FORM, chosen)
    return [
        Variation(
            name=value.name,
            studies=[_varied(study, value, form.of(*seeds)) for study in studies],
            claims=claims,
            plausible=value.plausible,
            reason=value.reason,
        )
        for value in chosen
        if value in fewer
    ]


def _varied(study: Study, value: Open, seeds: int) -> Study:
    assert not isinstance(study.scenario, str)
    groups = [name for name in study.scenario["flows"] if name != BACKGROUND]
    changes = {
        f"flows.{group}.{key}": setting
        for group in groups
        if group.startswith(value.only)
        for key, setting in value.flows.items()
    }
    if BACKGROUND in study.scenario["flows"]:
        for key, setting in (value.background or {}).items():
            changes[f"flows.{BACKGROUND}.{key}"] = setting
    return study.varied(changes, seeds=seeds, until=None)
