"""The average queue that RED settles at."""

from collections.abc import Iterator

from tailroom.vectors.scripts import Arrivals, QueueScript
from tailroom.vectors.vector import Expectation, Vector

RATE_BPS = 10e6
MIN_TH, MAX_TH, MAX_P = 50, 150, 0.1
OVERLOADS = (1.03, 1.06, 1.1)


def vectors() -> Iterator[Vector]:
    """Arrivals that do not react, at a multiple of the rate of the link."""
    for overload in OVERLOADS:
        yield _settled(overload)


def _settled(overload: float) -> Vector:
    loss = 1 - 1 / overload
    # Sec. 7: the n-th packet after a drop counts n - 1, so drops are 1 to 1/p apart. In Figure 2 it
    # counts n: 1 to 1/p - 1.
    least, most = (MIN_TH + (MAX_TH - MIN_TH) * p / MAX_P for p in (loss / 2, loss / (2 - loss)))
    return Vector(
        id=f"red.settled-{overload:g}",
        title=f"At {overload:g} times the rate the average queue is about {most:.0f} packets",
        source="Floyd and Jacobson 1993, sec. 4 and 7 (method 2)",
        url="https://doi.org/10.1109/90.251892",
        script=QueueScript(
            discipline="red",
            parameters={
                "min_threshold": f"{MIN_TH} packets",
                "max_threshold": f"{MAX_TH} packets",
                "max_p": MAX_P,
                "weight": 0.002,
                "gentle": False,
            },
            limit_packets=1000,
            rate_bps=RATE_BPS,
            arrivals=Arrivals(overload * RATE_BPS, 1000),
            duration_s=200.0,
            measured_from_s=50.0,
        ),
        expect=(
            Expectation(
                quantity="queue_packets_mean",
                value=(least - 2, most + 2),
                why="drops are 1 to 1/p apart, each as likely: the fraction lost, 1 - 1 / "
                f"{overload:g}, is 2p / (1 + p), or 2p where the count rises before p is computed, "
                f"as in Figure 2; min_th + (max_th - min_th) p / max_p = {most:.2f} or {least:.2f}",
            ),
            Expectation(
                quantity="loss_fraction",
                value=(loss - 0.002, loss + 0.002),
                why=f"what the link cannot carry: 1 - 1 / {overload:g} = {loss:.4f}",
            ),
        ),
        chance="Drops are drawn; over 150 s the average has a standard error of a few tenths of a "
        "packet. The rest of the band is whether the packet in transmission counts.",
    )
