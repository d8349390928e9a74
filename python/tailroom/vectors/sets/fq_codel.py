"""FQ-CoDel: shares in bytes, sparse flows, a full buffer, and CoDel within a queue."""

from collections.abc import Iterator

from tailroom.vectors.scripts import Arrivals, QueueScript
from tailroom.vectors.sets.codel import drop_times
from tailroom.vectors.vector import Expectation, Vector

URL = "https://www.rfc-editor.org/rfc/rfc8290"
RATE_BPS = 10e6
QUANTUM_BYTES = 1514
LARGE_BYTES = 1500
PARAMETERS = {"flows": 65_536, "quantum": QUANTUM_BYTES, "target": 0.005, "interval": 0.1}
CHANCE = (
    "The hash of flows: two of five share one of 65,536 queues with a probability of 0.00015, and "
    "then the bands do not hold."
)


def vectors() -> Iterator[Vector]:
    """Flows that do not react: two backlogged, a sparse one, a full buffer, and one alone."""
    yield _shares()
    yield _sparse()
    yield _full()
    yield drop_times("fq_codel", source="RFC 8290 sec. 4.2; RFC 8289 sec. 5.6", url=URL)


def _vector(
    name: str, title: str, section: str, script: QueueScript, *expect: Expectation
) -> Vector:
    return Vector(
        id=f"fq_codel.{name}",
        title=title,
        source=f"RFC 8290 sec. {section}",
        url=URL,
        script=script,
        expect=expect,
        chance=CHANCE,
    )


def _script(
    *flows: Arrivals, duration_s: float, measured_from_s: float, limit_packets: int = 10_240
) -> QueueScript:
    first, *others = flows
    return QueueScript(
        discipline="fq_codel",
        parameters=PARAMETERS,
        limit_packets=limit_packets,
        rate_bps=RATE_BPS,
        arrivals=first,
        others=tuple(others),
        duration_s=duration_s,
        measured_from_s=measured_from_s,
    )


def _shares() -> Vector:
    """Both stay backlogged: for 5 s CoDel drops less than either offers beyond its share."""
    offered, first_s, last_s = 0.8 * RATE_BPS, 0.5, 4.0
    # What a turn may send beyond an equal share, at either end of the interval.
    slack_bps = 2 * 8 * (QUANTUM_BYTES + LARGE_BYTES) / (last_s - first_s)
    return _vector(
        "equal-bytes",
        "Packets of 1500 and of 300 bytes get the same rate in bytes",
        "4.2 and 5.2.4",
        _script(
            Arrivals(offered, LARGE_BYTES),
            Arrivals(offered, 300),
            duration_s=last_s,
            measured_from_s=first_s,
        ),
        *(
            Expectation(
                quantity=f"delivered_bps_{number}",
                value=(RATE_BPS / 2 - slack_bps, RATE_BPS / 2 + slack_bps),
                why="each turn of either queue adds a quantum of bytes, and what is sent beyond it "
                "is owed: half the rate, within a quantum and a packet at both ends",
            )
            for number in (1, 2)
        ),
    )


def _sparse() -> Vector:
    """A packet every 50 ms. In between, all four backlogged queues have had their turns."""
    size, backlogged = 100, 4
    own_s, longest_s = (8 * packet / RATE_BPS for packet in (size, LARGE_BYTES))
    sparse = Arrivals(8 * size / 0.05, size)
    return _vector(
        "sparse-flow",
        "A packet of a sparse flow waits for no queue, only for the packet in transmission",
        "1.1 and 4.2",
        _script(
            *(backlogged * [Arrivals(0.4 * RATE_BPS, LARGE_BYTES)]),
            sparse,
            duration_s=10.0,
            measured_from_s=2.0,
        ),
        Expectation(
            quantity="delay_s_mean_5",
            value=(own_s, own_s + longest_s),
            why="its queue is new at each packet, and new queues are served first: at most the "
            "1500 B in transmission, 1.2 ms, and its own 0.08 ms",
        ),
        Expectation(
            quantity="loss_fraction_5", value=(0, 0), why="it never waits for the target of 5 ms"
        ),
    )


def _full() -> Vector:
    """The second flow offers less than half the rate, in more packets than the first."""
    offered, small, limit, duration_s = 2.0, 0.3, 100, 12.0
    loss = 1 - (1 - small) / offered
    arrived = (duration_s - 2.0) * offered * RATE_BPS / (8 * LARGE_BYTES)
    return _vector(
        "full-buffer",
        "A full buffer drops from the queue with the most bytes, whoever arrives",
        "4.1",
        _script(
            Arrivals(offered * RATE_BPS, LARGE_BYTES),
            Arrivals(small * RATE_BPS, 100),
            duration_s=duration_s,
            measured_from_s=2.0,
            limit_packets=limit,
        ),
        Expectation(
            quantity="loss_fraction_2",
            value=(0, 0),
            why="it sends less than its share, so that its queue is never the largest and never "
            "waits for 5 ms",
        ),
        Expectation(
            quantity="loss_fraction_1",
            value=(loss - limit / arrived, loss + limit / arrived),
            why=f"the other flow gets what is left: 1 - (1 - 0.3) / 2 = {loss:.2f}, within a "
            "buffer of packets",
        ),
    )
