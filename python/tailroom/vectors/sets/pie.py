"""PIE: its tolerance of bursts, and the delay that it keeps."""

from collections.abc import Iterator

from tailroom.vectors.scripts import Arrivals, QueueScript
from tailroom.vectors.vector import Expectation, Vector

URL = "https://www.rfc-editor.org/rfc/rfc8033"
RATE_BPS = 100e6
TARGET_S = UPDATE_S = 0.015
ALPHA, BETA = 0.125, 1.25
BURST_S = 0.15
BURST = 4.0
"""Rate of the burst over that of the link: drops would begin after 60 ms without the tolerance."""
PACKET_BYTES = 1500
SCALES = (
    (1e-6, 1 / 2048),
    (1e-5, 1 / 512),
    (1e-4, 1 / 128),
    (1e-3, 1 / 32),
    (1e-2, 1 / 8),
    (1e-1, 1 / 2),
)
"""Below which probability the step is scaled, and by what."""
PARAMETERS = {
    "target": TARGET_S,
    "update_interval": UPDATE_S,
    "alpha": ALPHA,
    "beta": BETA,
    "max_burst": BURST_S,
}

COVERED = "Drops are drawn; the bands cover each drop that sec. 5.4 allows."


def vectors() -> Iterator[Vector]:
    """Arrivals that do not react, at a multiple of the rate of the link."""
    yield Vector(
        id="pie.burst",
        title="The first 150 ms of a burst pass without drops",
        source="RFC 8033 sec. 4.4",
        url=URL,
        script=_script(BURST, duration_s=0.4),
        expect=(
            Expectation(
                event="drop",
                at=(0.0, _first_drop_s(BURST - 1, 0.85) - UPDATE_S),
                value=(0, 0),
                why="burst_allowance = MAX_BURST = 150 ms, less T_UPDATE at each update; then the "
                "sum of the probabilities must reach 0.85",
            ),
            Expectation(
                event="drop",
                at=(_first_drop_s(BURST - 1, 0.85), _first_drop_s(1 - 1 / BURST, 8.5) + UPDATE_S),
                value=(1, 10_000),
                why="the first drop comes when the sum of the probabilities is between 0.85 and "
                "8.5 (sec. 5.4); they follow from a delay of 3 t, the queue over the rate, or "
                "0.75 t, the wait of the packet that leaves",
            ),
        ),
        chance=COVERED,
    )
    yield _small_probabilities()
    for overload in (1.1, 1.25):
        yield _steady(overload)


def _first_drop_s(
    slope: float, needed: float, offered: float = BURST, allowed_s: float = BURST_S
) -> float:
    """When the sum of the probabilities reaches a value, if the delay grows by `slope` per second.

    RFC 8033 sec. 4.2 with its table of scales; sec. 5.4. Packets arrive at `offered` times the rate
    of the link, and their probabilities count after `allowed_s`.
    """
    probability = total = time_s = 0.0
    per_update = offered * RATE_BPS / (8 * PACKET_BYTES) * UPDATE_S
    while total < needed:
        time_s += UPDATE_S
        delay = slope * time_s
        step = ALPHA * (delay - TARGET_S) + BETA * slope * UPDATE_S
        scale = next((scale for bound, scale in SCALES if probability < bound), 1.0)
        probability += min(scale * step, 0.02 if probability >= 0.1 else 1.0)
        probability = max(probability, 0.0)
        if time_s >= allowed_s:
            total += probability * per_update
    return time_s


def _small_probabilities() -> Vector:
    """The delay grows slowly, so that the probability passes each row of the table of scales.

    The allowance of bursts lasts from its last reset, when the delay is half of the target.
    """
    offered = 1.05
    slopes = (offered - 1, 1 - 1 / offered)
    calm_s = TARGET_S / 2 / slopes[0]
    first = _first_drop_s(slopes[0], 0.85, offered, calm_s)
    last = _first_drop_s(slopes[1], 8.5, offered, calm_s * offered + BURST_S + UPDATE_S)
    return Vector(
        id="pie.small-probabilities",
        title="The steps of a small probability are scaled down",
        source="RFC 8033 sec. 4.2",
        url=URL,
        script=_script(offered, duration_s=1.5),
        expect=(
            Expectation(
                event="drop",
                at=(0.0, first - UPDATE_S),
                value=(0, 0),
                why="below 0.000001 a step of the probability is divided by 2048, then by 512, "
                "128, 32, 8 and 2, so that the sum reaches 0.85 no sooner",
            ),
            Expectation(
                event="drop",
                at=(first - UPDATE_S, last + UPDATE_S),
                value=(1, 10_000),
                why="the sum of the probabilities reaches 8.5 (sec. 5.4), with a delay of the "
                "queue over the rate or of the packet that leaves, and 150 ms after the delay was "
                "below half of the target (sec. 4.4)",
            ),
        ),
        chance=COVERED,
    )


def _script(overload: float, duration_s: float, measured_from_s: float = 0.0) -> QueueScript:
    return QueueScript(
        discipline="pie",
        parameters=PARAMETERS,
        limit_packets=100_000,
        rate_bps=RATE_BPS,
        arrivals=Arrivals(overload * RATE_BPS, PACKET_BYTES),
        duration_s=duration_s,
        measured_from_s=measured_from_s,
    )


def _steady(overload: float) -> Vector:
    loss = 1 - 1 / overload
    return Vector(
        id=f"pie.steady-{overload:g}",
        title=f"At {overload:g} times the rate the mean delay is the target",
        source="RFC 8033 sec. 4.2",
        url=URL,
        script=_script(overload, duration_s=50.0, measured_from_s=20.0),
        expect=(
            Expectation(
                quantity="queue_delay_s_mean",
                value=(TARGET_S - 0.001, TARGET_S + 0.001),
                why="the integral gain lets the probability rest only where the mean of the delay "
                "at the updates is QDELAY_REF = 15 ms",
            ),
            Expectation(
                quantity="loss_fraction",
                value=(loss - 0.005, loss + 0.005),
                why=f"what the link cannot carry: 1 - 1 / {overload:g} = {loss:.4f}",
            ),
        ),
        chance="Drops are drawn. Of 280,000 packets, the fraction lost has a standard deviation "
        "below 0.0008, a sixth of the half width. The mean of the delay errs by the change of the "
        "probability over 30 s / alpha, less than 0.0003 s per 0.001.",
    )
