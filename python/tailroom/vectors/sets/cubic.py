"""The window of CUBIC after a loss, after two, and where Reno would be faster."""

from collections.abc import Iterator

from tailroom.vectors.scripts import Occurrence, SenderScript
from tailroom.vectors.vector import Band, Expectation, Vector

URL = "https://www.rfc-editor.org/rfc/rfc9438"
C = 0.4
BETA = 0.7
PARAMETERS = {"c": C, "beta": BETA, "fast_convergence": True}


def vectors() -> Iterator[Vector]:
    """CUBIC."""
    yield _after_one_loss()
    yield _fast_convergence()
    yield _friendly()


def _script(rtt_s: float, window: int, **changes: object) -> SenderScript:
    given = {
        "control": "cubic",
        "parameters": PARAMETERS,
        "rtt_s": rtt_s,
        "initial_cwnd_packets": window,
        "initial_ssthresh_packets": window,
        **changes,
    }
    return SenderScript(**given)  # type: ignore[arg-type]


def _epoch_s(maximum: float, start: float) -> float:
    """K: when the cubic reaches the maximum (Eq. 2)."""
    return float(((maximum - start) / C) ** (1 / 3))


def _cubic(time_s: float, maximum: float, start: float) -> float:
    """Eq. 1, from the beginning of congestion avoidance on."""
    return C * (max(time_s, 0.0) - _epoch_s(maximum, start)) ** 3 + maximum


def _band(
    at_s: float, rtt_s: float, maximum: float, start: float, late: float
) -> tuple[float, float]:
    """The window that long after the reduction.

    Congestion avoidance begins when the recovery ends, a round trip after the reduction, or at the
    reduction; the window is between the cubic now and its target one RTT ahead; a sender with
    whole packets is up to a packet behind.
    """
    early = _cubic(at_s - 1.5 * rtt_s, maximum, start) - 1
    return early - late, _cubic(at_s + rtt_s, maximum, start) + late


def threshold(window: float) -> Band:
    """The band of ssthresh after a loss; the window may grow by a packet until it shows."""
    return BETA * window - 1, BETA * (window + 1)


def since_reduction(at_s: float, rtt_s: float, window: float, maximum: float) -> Band:
    """The band of the window that long after a loss at `window`, with the given W_max."""
    return _band(at_s, rtt_s, maximum, BETA * window, late=1.0)


def _after_one_loss() -> Vector:
    window, rtt_s = 200, 0.1
    k = _epoch_s(window, BETA * window)
    reduced = Occurrence("reduction")
    return Vector(
        id="cubic.after-a-loss",
        title="The window falls to 0.7, and follows the cubic function through its old maximum",
        source="RFC 9438 sec. 4.2 and 4.6",
        url=URL,
        script=_script(rtt_s, window, lost_packets=(100,), duration_s=2.2 * k),
        expect=(
            Expectation(
                quantity="ssthresh_packets",
                at=(0.01, rtt_s),
                after=reduced,
                value=threshold(window),
                why="ssthresh = 0.7 * 200; the first round trip adds at most one packet",
            ),
            *(
                Expectation(
                    quantity="cwnd_packets",
                    at=(share * k, share * k),
                    after=reduced,
                    value=since_reduction(share * k, rtt_s, window, window),
                    why=f"W(t) = 0.4 (t - K)^3 + W_max, t = {share} K, K = {k:.4f} s, W_max = 200",
                )
                for share in (0.5, 1.0, 1.5, 2.0)
            ),
        ),
    )


def _fast_convergence() -> Vector:
    """The second loss comes 0.6 to 0.9 K after the first, when W is just below 200."""
    window, rtt_s, second = 200, 0.1, 7200
    reduced = Occurrence("reduction", 2)
    # W(t) / RTT sends 5,600 packets within 0.6 K of the first reduction, and 8,700 within 0.9 K.
    k = _epoch_s(window, BETA * window)
    low, high = (_cubic(share * k, window, BETA * window) for share in (0.6, 0.9))
    epochs = [(w * (1 + BETA) / 2, BETA * w) for w in (low, high)]
    at_s = _epoch_s(*epochs[0])
    reasons = {
        0.5: "K = cbrt((W_max - 0.7 W) / C), of the lowered maximum (Eq. 2)",
        1.0: "the new epoch is flat at W_max = W (1 + 0.7) / 2",
    }
    return Vector(
        id="cubic.fast-convergence",
        title="A second loss below the old maximum lowers the maximum to 0.85 of the window",
        source="RFC 9438 sec. 4.2 and 4.7",
        url=URL,
        script=_script(rtt_s, window, lost_packets=(100, second), duration_s=10.0),
        expect=(
            Expectation(
                quantity="ssthresh_packets",
                at=(0.01, rtt_s),
                after=reduced,
                value=(BETA * low - 1, BETA * high + 1),
                why="ssthresh = 0.7 W, with W(t) of the first epoch from 0.6 to 0.9 K",
            ),
            *(
                Expectation(
                    quantity="cwnd_packets",
                    at=(share * at_s, share * at_s),
                    after=reduced,
                    value=(
                        _band(share * at_s, rtt_s, *epochs[0], late=0.0)[0],
                        _band(share * at_s, rtt_s, *epochs[1], late=0.0)[1],
                    ),
                    why=why,
                )
                for share, why in reasons.items()
            ),
        ),
    )


def reno_friendly(rounds: float, start: float) -> Band:
    """The band of W_est (Eq. 4) that many round trips after a reduction to `start`, below W_max."""
    slope = 3 * (1 - BETA) / (1 + BETA)
    return start - 1 + slope * (rounds - 3), start + 1 + slope * (rounds + 1)


def _friendly() -> Vector:
    """At 10 ms the cubic is flat for 3.5 s, in which Reno gains a packet per RTT."""
    window, rtt_s = 60, 0.01
    start = BETA * window
    slope = 3 * (1 - BETA) / (1 + BETA)
    return Vector(
        id="cubic.reno-friendly",
        title="At a short RTT the window grows as that of a Reno flow with the same mean",
        source="RFC 9438 sec. 4.3, Eq. 4",
        url=URL,
        script=_script(rtt_s, window, lost_packets=(30,), duration_s=0.4),
        expect=tuple(
            Expectation(
                quantity="cwnd_packets",
                at=((rounds + 0.4) * rtt_s, (rounds + 0.6) * rtt_s),
                after=Occurrence("reduction"),
                value=reno_friendly(rounds, start),
                why=f"W_est grows by 3 (1 - 0.7) / (1 + 0.7) = {slope:.4f} packets per RTT from "
                "0.7 * 60, until it reaches 60",
            )
            for rounds in (10, 20, 30)
        ),
    )
