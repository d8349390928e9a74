"""Windows and queue as a fluid: trajectory, fixed point and stability."""

from dataclasses import dataclass

import numpy as np

from tailroom.errors import ArgumentError
from tailroom.field_docs import with_field_docs
from tailroom.models.assumptions import (
    fast_access,
    long_flows_alone,
    one_bottleneck,
    one_packet_size,
    steady_link,
)
from tailroom.models.bottleneck import Bottleneck
from tailroom.models.fluid.equations import MOST_CLASSES, Equations, Rest
from tailroom.models.fluid.integration import Path, integrate
from tailroom.models.fluid.stability import dominant_root, linearised, margins
from tailroom.models.model import Assumption, Model, Prediction, Requirement, assume
from tailroom.models.window_laws import law_of
from tailroom.models.window_laws.window_law import Floats
from tailroom.written_numbers import significant

STEPS = 8000
"""Number of steps of a prediction."""
MOST_STEPS = 200_000
"""Maximum number of steps of a trajectory."""
STEPS_PER_ROUND_TRIP = 8
"""Number of steps in the shortest round trip."""
SHORTEST_PART = 40
"""Round trips shorter than the mean divided by this are integrated in fewer steps."""
DEFLECTION = 0.9
"""A prediction starts at the fixed point with the windows multiplied by this factor."""
MANY = 20
"""Number of flows from which their sum hides the steps of single windows; not a sharp bound."""
LEAST_WINDOW = 2.0
"""Smallest window in packets of the model; flows with smaller windows suffer timeouts."""


@with_field_docs
@dataclass(frozen=True)
class Trajectory:
    """Windows and queue over time: n times and m classes of identical flows."""

    times_s: Floats
    """Times since the start, ascending; shape (n,)."""
    windows: Floats
    """Window of a flow of each class, in packets; shape (n, m)."""
    groups: tuple[str, ...]
    """Name of the group of each class; m names."""
    rtts_s: Floats
    """Propagation RTT of each class; shape (m,)."""
    queue_packets: Floats
    """Number of waiting packets; shape (n,)."""
    arriving_pps: Floats
    """Packets per second that arrive at the queue; shape (n,)."""
    lost_pps: Floats
    """Packets per second that the queue drops, without marked packets; shape (n,)."""
    served_pps: Floats
    """Packets per second that leave the link; shape (n,)."""
    capacity_pps: float
    """Capacity of the link in packets per second."""

    def second_half(self) -> "Trajectory":
        """Returns the second half of the times, without the start."""
        late = slice(len(self.times_s) // 2, None)
        return Trajectory(
            self.times_s[late],
            self.windows[late],
            self.groups,
            self.rtts_s,
            self.queue_packets[late],
            self.arriving_pps[late],
            self.lost_pps[late],
            self.served_pps[late],
            self.capacity_pps,
        )


def trajectory(
    link: Bottleneck,
    duration_s: float,
    windows: Floats | float = 1.0,
    step_s: float | None = None,
) -> Trajectory:
    """Integrates windows and queue from time 0, with an empty queue.

    There is no slow start: windows grow as in congestion avoidance from the start. The equations
    are those of Misra, Gong, Towsley (2000) with the window laws of `tailroom.models.window_laws`;
    docs/models/fluid.md has them.

    Args:
        link: The link and its traffic.
        duration_s: Duration in seconds, positive.
        windows: Initial windows in packets: a number, or an array with one number per class.
        step_s: Step of integration in seconds; if left out, an eighth of the shortest round trip,
            or longer if the duration has more than 200,000 such steps.

    Returns:
        One entry per step.

    Raises:
        NotApplicableError: The model does not apply to the link, as for `predict`.
        ArgumentError: The duration or the step is not positive.
    """
    if duration_s <= 0 or (step_s is not None and step_s <= 0):
        raise ArgumentError(
            f"duration_s {duration_s:g}, step_s {step_s}: give positive numbers of seconds"
        )
    equations = Equations(link)
    size = len(equations.counts)
    start = np.concatenate([np.broadcast_to(windows, size), equations.queue.resting(0.0, 0.0)])
    step = step_s or max(_step_s(equations, equations.rtts_s), duration_s / MOST_STEPS)
    steps = max(1, round(duration_s / step))
    return _trajectory(equations, _path(equations, start, np.zeros(size), step, steps))


def _step_s(equations: Equations, round_trips_s: Floats) -> float:
    mean = float(equations.counts @ round_trips_s / equations.counts.sum())
    shortest = max(float(round_trips_s.min()), mean / SHORTEST_PART, 1e-9)
    return shortest / STEPS_PER_ROUND_TRIP


def _path(equations: Equations, start: Floats, before: Floats, step_s: float, steps: int) -> Path:
    equations.step_s = step_s
    path = integrate(equations, start, before, step_s, steps)
    equations.step_s = 0.0
    return path


def _trajectory(equations: Equations, path: Path) -> Trajectory:
    size = len(equations.counts)
    arriving, lost, served, waiting = path.signals[:, size:].T
    return Trajectory(
        times_s=path.times_s,
        windows=path.states[:, :size],
        groups=tuple(flow_class.group for flow_class in equations.classes),
        rtts_s=equations.rtts_s,
        queue_packets=waiting,
        arriving_pps=arriving,
        lost_pps=lost,
        served_pps=served,
        capacity_pps=equations.capacity_pps,
    )


def predict(link: Bottleneck, _target: Requirement) -> Prediction:
    """Predicts means over the second half of a trajectory, and the stability of the fixed point.

    The trajectory starts near the fixed point and has 8000 steps of an eighth of the shortest round
    trip. The model predicts no required buffer, so the requirement has no effect.

    Args:
        link: The link and its traffic.

    Raises:
        NotApplicableError: No permanent flow under congestion control crosses the link, a flow has
            no window law, other traffic fills the link, or the discipline has no equations.
    """
    equations = Equations(link)
    rest = equations.rest()
    size = len(equations.counts)
    start = rest.state.copy()
    start[:size] *= DEFLECTION
    before = equations.signals(rest.state)[:size]
    step = _step_s(equations, equations.delays(rest.state))
    path = _path(equations, start, before, step, STEPS)
    late = _trajectory(equations, path).second_half()
    served = late.served_pps.sum()
    waited = float(late.queue_packets @ late.served_pps) / link.capacity_pps
    lost = late.lost_pps.sum() / max(late.arriving_pps.sum(), 1e-300)
    utilization = served / len(late.served_pps) / link.capacity_pps
    return Prediction(
        utilization=float(np.clip(utilization, 0.0, 1.0)),
        loss_fraction=float(np.clip(lost, 0.0, 1.0)),
        queue_packets_mean=float(np.mean(late.queue_packets)),
        queue_delay_s_mean=waited / float(served) if served > 0 else 0.0,
        details={
            "queue_amplitude_packets": float(np.ptp(late.queue_packets)) / 2,
            "fixed_point_queue_packets": float(equations.signals(rest.state)[-1]),
            "fixed_point_signal_fraction": rest.probability,
            **stability(equations, rest),
        },
    )


def stability(equations: Equations, rest: Rest) -> dict[str, float]:
    """Returns root and margins of the linearised equations; empty if they cannot be linearised."""
    if not rest.smooth:
        return {}
    linear = linearised(equations, rest)
    root = dominant_root(linear)
    margin = margins(linear, root.real < 0)
    return {
        "dominant_root_per_s": root.real,
        "dominant_frequency_hz": root.imag / (2 * np.pi),
        "gain_margin_ratio": margin.gain,
        "phase_margin_degrees": margin.phase_degrees,
    }


def assumptions(link: Bottleneck) -> list[Assumption]:
    """Many flows with independent losses and windows too large for timeouts."""
    equations = Equations(link)
    rest = equations.rest()
    size = len(equations.counts)
    smallest = float(rest.state[:size].min())
    averaged = sorted(
        {
            flow_class.congestion
            for flow_class in equations.classes
            if law_of(flow_class).increase is None
        }
    )
    kinds = len({(flow_class.congestion, flow_class.rtt_s) for flow_class in link.classes})
    return [
        assume("there are many flows", link.flow_count >= MANY, f"{link.flow_count} flows"),
        assume(
            "growth depends on the window alone",
            not averaged,
            f"{', '.join(averaged)}: its mean over a cycle is taken",
        ),
        assume(
            f"windows stay above {LEAST_WINDOW:g} packets",
            smallest >= LEAST_WINDOW,
            f"{significant(smallest, 3)} at the fixed point",
        ),
        assume(
            "each packet is acknowledged",
            all(flow_class.packets_per_ack == 1 for flow_class in link.classes),
            f"one ACK for {max(flow_class.packets_per_ack for flow_class in link.classes)} packets",
        ),
        assume(
            f"there are no more than {MOST_CLASSES} RTTs",
            len(equations.classes) >= kinds,
            f"{kinds}, merged into {len(equations.classes)}",
        ),
        long_flows_alone(link),
        one_packet_size(link),
        one_bottleneck(link),
        steady_link(link),
        fast_access(link),
    ]


MODEL = Model(
    name="fluid",
    title="Fluid: windows and queue as delay differential equations",
    source="Misra, Gong, Towsley 2000; Hollot, Misra, Towsley, Gong 2001",
    assumptions=assumptions,
    predict=predict,
    is_slow=True,
)
