"""What the atlas says about a link that is not among its cells: the nearest cells, and a value.

The distance of two links is the root of the sum of squares of the logarithms of their ratios: of
the rates, of the mean RTTs and of the numbers of flows; the widths of the ranges of RTTs (longest
over shortest) count half. Buffers are compared as multiples of
C T / sqrt(n), and targets as multiples of T: what is left then varies least between cells, and its
logarithm is averaged with the inverse squares of the distances as weights.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, hypot, log, sqrt
from typing import Any, Literal

from tailroom.buffer_atlas.data import SHIPPED, UTILIZATIONS, read_lookup
from tailroom.buffer_atlas.terms import CONTROLS, PACKET_BYTES, SHORT_LOAD
from tailroom.errors import StoreError
from tailroom.models.bottleneck import Bottleneck

NEAREST = 4
"""Number of cells whose answers are averaged."""
FAR = log(4)
"""Distance beyond which a cell says little: rate, RTT or number of flows differ by a factor of 4,
or several of them by less."""
SAME = 1e-3
"""Distance below which a cell is the link itself."""
NO_TRAFFIC, WITH_SHORT = 0.05, (SHORT_LOAD / 2, SHORT_LOAD * 1.7)
"""Load of short flows that counts as none, and loads that count as that of the atlas."""
HALF = (1 / 3, 2 / 3)
"""Part of the flows that counts as half."""

Row = Mapping[str, Any]
AnswerColumn = Literal["value", "low_loss_value"]


@dataclass(frozen=True)
class Link:
    """A link in the terms of the atlas."""

    rate_bps: float
    """Rate of the link."""
    rtt_s: float
    """Mean two-way propagation delay."""
    flows: int
    """Number of long flows."""
    control: str = "cubic"
    """Congestion control of the long flows, as the atlas names it."""
    queue: str = "drop_tail"
    """Queue discipline."""
    traffic: str = "long"
    """`long` or `long_and_short`."""
    rtt_ratio: float | None = None
    """Longest over shortest RTT, if known."""

    def reference(self, unit: str) -> float:
        """What a value is compared with: C T / sqrt(n) in packets, or T in microseconds.

        Args:
            unit: Unit of the value, `packets` or `us`.
        """
        if unit == "us":
            return 1e6 * self.rtt_s
        return self.rate_bps * self.rtt_s / (8 * PACKET_BYTES) / sqrt(self.flows)


@dataclass(frozen=True)
class Neighbour:
    """A cell near a link."""

    cell: str
    """Name of the cell."""
    distance: float
    """Distance from the link; 0 if the cell is the link itself."""
    answers: tuple[Row, ...]
    """Its rows, in the order of the targets."""

    def answer(self, target_utilization: float) -> Row:
        """The row for a utilization.

        Args:
            target_utilization: One of the utilizations of the atlas.
        """
        return self.answers[UTILIZATIONS.index(target_utilization)]

    @property
    def factor(self) -> float:
        """The distance as a ratio: 2 where only the rate differs, by a factor of 2."""
        return exp(self.distance)


@dataclass(frozen=True)
class Estimate:
    """A value for a link, from the nearest cells that have an answer."""

    target_utilization: float
    """The utilization that is asked for."""
    value: float
    """The value, in packets of 1500 bytes or microseconds."""
    unit: str
    """`packets` or `us`."""
    low: float
    """Smallest value that one of the cells alone gives."""
    high: float
    """Largest value that one of the cells alone gives."""
    used: tuple[Neighbour, ...]
    """The cells, from the nearest."""
    is_at_most: bool = False
    """Whether in one of the cells even the smallest value suffices, so that less may do here."""


def nearest(rows: Sequence[Row], link: Link, count: int = NEAREST) -> list[Neighbour]:
    """The cells of the same queue discipline, control and traffic, from the nearest.

    Args:
        rows: Answers of the atlas.
        link: The link.
        count: Largest number of cells.
    """
    cells: dict[str, list[Row]] = {}
    for row in rows:
        if (row["queue"], row["control"], row["traffic"]) == (
            link.queue,
            link.control,
            link.traffic,
        ):
            cells.setdefault(row["cell"], []).append(row)
    neighbours = [
        Neighbour(
            name,
            _distance(link, answers[0]),
            tuple(sorted(answers, key=lambda row: row["target_utilization"])),
        )
        for name, answers in cells.items()
    ]
    # A rung whose hosts have another interface is no nearer than the cell that it is a rung of.
    order = sorted(neighbours, key=lambda one: (one.distance, one.answers[0]["is_rung"]))
    return order[:count]


def estimate(
    rows: Sequence[Row],
    link: Link,
    target_utilization: float,
    count: int = NEAREST,
    *,
    answer_column: AnswerColumn = "value",
) -> Estimate | None:
    """The value that gives a link a utilization, from the nearest cells.

    Args:
        rows: Answers of the atlas.
        link: The link.
        target_utilization: One of the utilizations of the atlas.
        count: Largest number of cells.
        answer_column: `value`, or `low_loss_value` for the value that also keeps to the bound on
            the loss.

    Returns:
        The estimate; `None` if no cell within the distance `FAR` has an answer, or if the link is
        a cell whose runs show that no tried value gives the utilization.
    """
    used, values, is_at_most = [], [], False
    for neighbour in nearest(rows, link, count):
        answer = neighbour.answer(target_utilization)
        if neighbour.distance <= FAR and answer[answer_column] is not None:
            unit = answer["unit"]
            used.append(neighbour)
            values.append(
                answer[answer_column] * link.reference(unit) / link_of(answer).reference(unit)
            )
            is_at_most |= answer["status"] == "smallest"
        if neighbour.distance < SAME and answer["status"] != "open":
            break
    if not used:
        return None
    weights = [1 / max(neighbour.distance, SAME) ** 2 for neighbour in used]
    mean = sum(w * log(value) for w, value in zip(weights, values, strict=True)) / sum(weights)
    low, high = min(values), max(values)
    # The exponential of a logarithm is not exact.
    value = min(max(exp(mean), low), high)
    return Estimate(target_utilization, value, unit, low, high, tuple(used), is_at_most)


def link_of(row: Row) -> Link:
    """The link of a row of the answers.

    Args:
        row: The row.
    """
    shortest_s, longest_s = row["shortest_rtt_s"], row["longest_rtt_s"]
    return Link(
        row["rate_bps"],
        (shortest_s + longest_s) / 2,
        row["flows"],
        row["control"],
        row["queue"],
        row["traffic"],
        longest_s / shortest_s,
    )


def link_of_bottleneck(link: Bottleneck) -> Link | None:
    """A link of a scenario in the terms of the atlas; `None` if the atlas has nothing like it.

    Args:
        link: The link and its traffic.
    """
    control, traffic = _control(link), _traffic(link)
    if control is None or traffic is None or link.changes or link.random_loss_fraction > 1e-5:
        return None
    return Link(link.rate_bps, link.mean_rtt_s, link.flow_count, control, link.discipline, traffic)


def bracket(link: Bottleneck, utilization: float) -> tuple[int, int] | None:
    """The range in which the smallest limit of a DropTail link for a utilization may lie.

    Args:
        link: The link and its traffic.
        utilization: The utilization that is asked for.

    Returns:
        The range in packets of the link; `None` if the atlas is missing or has no cell nearby.
    """
    asked = link_of_bottleneck(link)
    rows = shipped_rows()
    below = max((known for known in UTILIZATIONS if known <= utilization), default=None)
    above = min((known for known in UTILIZATIONS if known >= utilization), default=None)
    if asked is None or asked.queue != "drop_tail" or below is None or above is None:
        return None
    estimates = [estimate(rows, asked, known) for known in (below, above)]
    if any(found is None for found in estimates):
        return None
    found = [one for one in estimates if one]
    packets = PACKET_BYTES / link.packet_bytes
    low, high = min(one.value for one in found), max(one.value for one in found)
    margin = _margin(found)
    smallest = max(1, int(packets * low / margin))
    return smallest, max(round(packets * high * margin), smallest + 4)


@lru_cache(maxsize=1)
def shipped_rows() -> tuple[Row, ...]:
    """The answers that come with the package; none if the package has no atlas."""
    try:
        return tuple(read_lookup(SHIPPED))
    except StoreError:
        return ()


def _margin(found: Iterable[Estimate]) -> float:
    """How far the answer may be from the estimate: what the cells differ by, and twice at least."""
    found = list(found)
    return max(2.0, *(max(one.high / one.value, one.value / one.low) for one in found))


def _distance(link: Link, row: Row) -> float:
    cell = link_of(row)
    width = log(link.rtt_ratio / (cell.rtt_ratio or 1)) if link.rtt_ratio else 0.0
    return hypot(
        log(link.rate_bps / cell.rate_bps),
        log(link.rtt_s / cell.rtt_s),
        log(link.flows / cell.flows),
        width / 2,
    )


def _control(link: Bottleneck) -> str | None:
    counts: dict[str, int] = {}
    for flow_class in link.classes:
        counts[flow_class.congestion] = counts.get(flow_class.congestion, 0) + flow_class.count
    names = tuple(sorted(counts))
    if len(names) == 2 and not HALF[0] <= counts[names[0]] / link.flow_count <= HALF[1]:
        return None
    cubic_paced = any(
        flow_class.pacing for flow_class in link.classes if flow_class.congestion == "cubic"
    )
    wanted = [
        name
        for name, control in CONTROLS.items()
        if tuple(sorted(control.groups)) == names and control.pacing == cubic_paced
    ]
    return wanted[0] if wanted else None


def _traffic(link: Bottleneck) -> str | None:
    if link.stream_load > NO_TRAFFIC:
        return None
    if link.dynamic_load <= NO_TRAFFIC:
        return "long"
    low, high = WITH_SHORT
    return "long_and_short" if low <= link.dynamic_load <= high else None
