"""Kinds of links, and the sites of each kind: rate, RTTs, number of long flows."""

from dataclasses import dataclass, field

MEGABIT = 10**6
GIGABIT = 10**9


@dataclass(frozen=True)
class Site:
    """A link and the number of long flows that cross it."""

    rate_bps: int
    """Rate of the link."""
    shortest_rtt_ms: float
    """Shortest two-way propagation delay of a flow."""
    longest_rtt_ms: float
    """Longest two-way propagation delay of a flow; the RTTs are spread evenly between the two."""
    flows: int
    """Number of long flows."""
    is_typical: bool = field(default=False, compare=False)
    """Whether this site stands for its kind in the cells that not every site has."""

    @property
    def mean_rtt_s(self) -> float:
        """Mean two-way propagation delay."""
        return (self.shortest_rtt_ms + self.longest_rtt_ms) / 2000


@dataclass(frozen=True)
class Kind:
    """A kind of link."""

    name: str
    """Name in the data."""
    words: str
    """Heading for readers."""
    sites: tuple[Site, ...]
    """Its links."""
    has_bbr3: bool = True
    """Whether its flows may be under BBRv3, which measures its RTT for 200 ms every 5 s and is not
    made for round trips of a millisecond."""


def _sites(
    rate_bps: int, rtts_ms: tuple[float, float], flows: tuple[int, ...], typical: int = 0
) -> tuple[Site, ...]:
    """Sites that differ in the number of flows; `typical` is the number of the typical site."""
    return tuple(Site(rate_bps, *rtts_ms, count, count == typical) for count in flows)


KINDS = (
    Kind(
        "dsl",
        "DSL line, download",
        (
            *_sites(10 * MEGABIT, (20, 60), (1, 4), 4),
            *_sites(25 * MEGABIT, (20, 60), (1, 4)),
        ),
    ),
    Kind("mobile", "One user of a mobile cell", _sites(40 * MEGABIT, (40, 80), (1, 4), 4)),
    Kind(
        "home",
        "Home access over fibre or cable",
        (
            *_sites(100 * MEGABIT, (10, 50), (1, 4, 20), 4),
            *_sites(GIGABIT, (10, 50), (1, 4, 20), 4),
        ),
    ),
    Kind(
        "satellite_low",
        "Satellite in a low orbit",
        _sites(100 * MEGABIT, (30, 70), (1, 10), 10),
    ),
    Kind(
        "satellite_high",
        "Geostationary satellite",
        _sites(25 * MEGABIT, (580, 640), (1, 10), 10),
    ),
    Kind(
        "campus",
        "Uplink of a campus or an office",
        (
            *_sites(100 * MEGABIT, (10, 100), (10, 100)),
            *_sites(GIGABIT, (10, 100), (10, 100, 1000), 100),
        ),
    ),
    Kind(
        "long_path",
        "Long path of a research network",
        (
            *_sites(GIGABIT, (100, 200), (1, 10, 100), 10),
            *_sites(10 * GIGABIT, (100, 200), (1000,)),
        ),
    ),
    Kind(
        "metro",
        "Link between data centres of a region",
        (
            *_sites(GIGABIT, (1, 5), (10, 100), 100),
            *_sites(10 * GIGABIT, (1, 5), (160, 1000)),
            *_sites(100 * GIGABIT, (1, 5), (1600, 10_000)),
        ),
    ),
    Kind(
        "data_centre",
        "Port inside a data centre",
        (
            *_sites(10 * GIGABIT, (0.8, 1.2), (4, 40), 40),
            *_sites(100 * GIGABIT, (0.8, 1.2), (100, 1000)),
            *_sites(400 * GIGABIT, (0.8, 1.2), (1000,)),
        ),
        has_bbr3=False,
    ),
    Kind(
        "peering",
        "Peering or transit port",
        (
            *_sites(GIGABIT, (10, 100), (40, 400), 40),
            *_sites(10 * GIGABIT, (10, 100), (1000, 10_000), 1000),
            *_sites(100 * GIGABIT, (10, 100), (10_000,)),
        ),
    ),
    Kind(
        "backbone",
        "Backbone link",
        (
            *_sites(10 * GIGABIT, (20, 200), (1000, 10_000)),
            *_sites(100 * GIGABIT, (20, 200), (10_000,)),
            *_sites(400 * GIGABIT, (10, 100), (10_000,)),
        ),
    ),
)
"""Every kind of link of the atlas, from the slowest to the fastest."""
