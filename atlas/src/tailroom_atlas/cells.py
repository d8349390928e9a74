"""The rule that chooses the cells of the atlas.

A cell is a link with its long flows (a site of `kinds.py`), other traffic, the congestion
control, and the queue discipline. In a sentence: *every site has cells behind DropTail with long
flows under CUBIC, BBRv3 and half of each, and with short flows at 30 % of the link with CUBIC
and with half of each; the typical sites of a kind also have CUBIC that the hosts pace, FQ-CoDel
and PIE under CUBIC, BBRv3 and half of each, and DualPI2 under Prague and under half CUBIC, half
Prague.* (BBRv3 is left out inside data centres.) What no affordable run shows is scaled from
smaller links of the same share per flow (`scaling.py`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from tailroom.buffer_atlas.kinds import KINDS, Kind, Site
from tailroom.buffer_atlas.terms import CONTROLS, PACKET_BYTES, SHORT_LOAD, rate_words

Queue = Literal["drop_tail", "fq_codel", "pie", "dual_pi2"]
Traffic = Literal["long", "long_and_short"]

INTERFACES_BPS = (10**10, 25 * 10**9, 10**11, 4 * 10**11)
"""Rates of the hosts' interfaces."""
INTERFACE_OVER_SHARE = 4
"""A host has the slowest interface of at least this multiple of its fair share."""

LOSS_BASED_AND_BBR3 = ("cubic", "bbr3", "cubic_and_bbr3")
WITH_SHORT_FLOWS = ("cubic", "cubic_and_bbr3")
L4S = ("prague", "cubic_and_prague")


@dataclass(frozen=True)
class Cell:
    """A link of the atlas with its traffic and its queue discipline."""

    kind: str
    """Name of the kind of link."""
    site: Site
    """The link and its long flows."""
    traffic: Traffic
    """Traffic in addition to the long flows."""
    control: str
    """Name in `CONTROLS`."""
    queue: Queue
    """Kind of the queue discipline."""
    interface_bps: int = 0
    """Rate of the hosts' interfaces; 0 for the rate of a site of this size."""

    def __post_init__(self) -> None:
        """Chooses the interfaces."""
        if not self.interface_bps:
            object.__setattr__(self, "interface_bps", usual_interface_bps(self.site))

    @property
    def name(self) -> str:
        """Name of the cell, unique in the atlas."""
        site = self.site
        rtts = f"{site.shortest_rtt_ms:g}-{site.longest_rtt_ms:g}ms"
        what = "" if self.traffic == "long" else "-short"
        hosts = ""
        if self.interface_bps != usual_interface_bps(site):
            hosts = f"-hosts{rate_words(self.interface_bps).replace(' ', '')}"
        return (
            f"{self.kind}-{rate_words(site.rate_bps).replace(' ', '')}-{rtts}-{site.flows}"
            f"{what}-{self.control}-{self.queue}{hosts}"
        )

    @property
    def bdp_packets(self) -> float:
        """Rate times mean RTT, in packets."""
        return self.site.rate_bps * self.site.mean_rtt_s / (8 * PACKET_BYTES)

    @property
    def fair_share_bps(self) -> float:
        """What a long flow has if the short flows get their load."""
        short = SHORT_LOAD if self.traffic == "long_and_short" else 0.0
        return (1 - short) * self.site.rate_bps / self.site.flows

    @property
    def fair_window_packets(self) -> float:
        """Packets in flight of a long flow at its fair share, without a queue."""
        return self.fair_share_bps * self.site.mean_rtt_s / (8 * PACKET_BYTES)

    def smaller(self, factor: int) -> "Cell":
        """The cell with rates and a number of flows that are smaller by a factor.

        The hosts' interfaces are slower too, as whether a burst queues depends on their rate over
        that of the link, but not slower than the usual multiple of the fair share.

        Args:
            factor: Divisor of the rates and of the number of flows.
        """
        site = self.site
        return replace(
            self,
            site=replace(site, rate_bps=site.rate_bps // factor, flows=site.flows // factor),
            interface_bps=max(
                self.interface_bps // factor,
                INTERFACE_OVER_SHARE * site.rate_bps // site.flows,
            ),
        )


def usual_interface_bps(site: Site) -> int:
    """The slowest interface of at least four fair shares that differs from the link.

    A host whose interface is as fast as the link can keep a full queue full forever, so that no
    other flow gets a packet through; real interfaces are never exactly as fast.

    Args:
        site: The link.
    """
    wanted = INTERFACE_OVER_SHARE * site.rate_bps / site.flows
    fast_enough = [rate for rate in INTERFACES_BPS if rate >= wanted and rate != site.rate_bps]
    return fast_enough[0] if fast_enough else INTERFACES_BPS[-1]


def chosen_cells() -> list[Cell]:
    """The cells that the rule of this module names, by kind; rungs of scaled cells not included."""
    return [cell for kind in KINDS for site in kind.sites for cell in _of_site(kind, site)]


def _of_site(kind: Kind, site: Site) -> Iterator[Cell]:
    asked: list[tuple[Traffic, str, Queue]] = [
        *(("long", control, "drop_tail") for control in LOSS_BASED_AND_BBR3),
        *(("long_and_short", control, "drop_tail") for control in WITH_SHORT_FLOWS),
    ]
    if site.is_typical:
        asked.append(("long", "cubic_paced", "drop_tail"))
        asked += [("long", control, "fq_codel") for control in LOSS_BASED_AND_BBR3]
        asked += [("long", control, "pie") for control in LOSS_BASED_AND_BBR3]
        asked += [("long", control, "dual_pi2") for control in L4S]
    for traffic, control, queue in asked:
        groups = CONTROLS[control].groups
        if len(groups) <= site.flows and (kind.has_bbr3 or "bbr3" not in groups):
            yield Cell(kind.name, site, traffic, control, queue)
