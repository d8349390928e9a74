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
    yield _gentle()


def _probabilities(loss: float) -> tuple[float, float]:
    """What p may be at a loss.

    Sec. 7: the n-th packet after a drop counts n - 1, so drops are 1 to 1/p apart. In Figure 2 it
    counts n: 1 to 1/p - 1.
    """
    return loss / 2, loss / (2 - loss)


def _script(overload: float, *, gentle: bool) -> QueueScript:
    return QueueScript(
        discipline="red",
        parameters={
            "min_threshold": f"{MIN_TH} packets",
            "max_threshold": f"{MAX_TH} packets",
            "max_p": MAX_P,
            "weight": 0.002,
            "gentle": gentle,
        },
        limit_packets=1000,
        rate_bps=RATE_BPS,
        arrivals=Arrivals(overload * RATE_BPS, 1000),
        duration_s=200.0,
        measured_from_s=50.0,
    )


def _gentle() -> Vector:
    """A third is lost: p = 1/5 of sec. 7, or 1/6 of Figure 2, are more than max_p."""
    overload = 1.5
    loss = 1 - 1 / overload
    least, most = (MAX_TH + MAX_TH * (p - MAX_P) / (1 - MAX_P) for p in _probabilities(loss))
    return Vector(
        id="red.gentle",
        title="Gentle RED lets the average pass max_th where more than max_p must be lost",
        source='Floyd 2000, "Recommendation on using the gentle_ variant of RED"; Floyd and '
        "Jacobson 1993, sec. 7",
        url="https://www.icir.org/floyd/red/gentle.html",
        script=_script(overload, gentle=True),
        expect=(
            Expectation(
                quantity="queue_packets_mean",
                value=(least - 2, most + 2),
                why="from max_th to 2 max_th the probability grows from max_p to 1: max_th (1 + (p "
                f"- max_p) / (1 - max_p)) = {most:.1f} or {least:.1f} for p = 1/5 or 1/6. Without "
                "gentle all packets are dropped at max_th = 150",
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


def _settled(overload: float) -> Vector:
    loss = 1 - 1 / overload
    least, most = (MIN_TH + (MAX_TH - MIN_TH) * p / MAX_P for p in _probabilities(loss))
    return Vector(
        id=f"red.settled-{overload:g}",
        title=f"At {overload:g} times the rate the average queue is about {most:.0f} packets",
        source="Floyd and Jacobson 1993, sec. 4 and 7 (method 2)",
        url="https://doi.org/10.1109/90.251892",
        script=_script(overload, gentle=False),
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
