"""The fixed points of window laws and buffers against simulation.

python -m tests.validation.fixed_points [--write]
"""

import statistics
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tailroom.reproduction import Check, above, below, between
from tests.validation import frame
from tests.validation.frame import SCENARIOS, Claim, Item, Settings, Table, Validation, scientific

PAGE = "models/fixed-points.md"
BARMAN = SCENARIOS / "barman-2004"
LIMIT = "links.bottleneck.queue.limit"
PLACES = (125, 625, 1250, 2500, 6250, 12_500)
"""Figure 3 of Barman et al. 2004: 1 to 100 % of 12,500 packets."""
MM1K, MD1K, FLUID = (f"drop_tail_fixed_point{form}" for form in ("", "_md1k", "_fluid"))

CROWD = """
title = "A thousand Reno flows"
duration = "40 s"
measure_from = "15 s"

[defaults]
host = "plain"

[links.bottleneck]
rate = "1 Gbit/s"
delay = "30 ms"
queue = { kind = "drop_tail", limit = "9 packets" }

[flows.reno]
count = 1000
path = ["bottleneck"]
congestion = { kind = "reno" }
send_jitter = "none"
packet_size = "1000 B"
rtt = { from = "80 ms", to = "160 ms" }
access_rate = "10 Gbit/s"
start = { from = "0 s", to = "5 s" }
"""


class State(NamedTuple):
    """What the models predict of a link."""

    utilization: float
    loss: float
    delay_s: float

    def __str__(self) -> str:
        """Utilization, and in brackets loss and delay."""
        return f"{self.utilization:.4f} ({scientific(self.loss)}, {1e3 * self.delay_s:.3f} ms)"


def simulated(scenario: str | Path, settings: Settings) -> State:
    """Means over two seeds."""
    links: list[Any] = [
        run.links["bottleneck"] for run in frame.simulate(scenario, (1, 2), settings)
    ]
    keys = ("utilization", "loss_fraction", "queue_delay_s_mean")
    return State(*(statistics.fmean(link[key] for link in links) for key in keys))


def predicted(model: str, scenario: str | Path, settings: Settings) -> State:
    """What a model says."""
    found = frame.predict(model, scenario, settings)
    numbers = (found.utilization, found.loss_fraction, found.queue_delay_s_mean)
    return State(*(number or 0.0 for number in numbers))


def barman() -> Iterator[Item]:
    """Figure 3: which of its simplifications the paper's model owes its error to."""
    models = (MM1K, MD1K, FLUID, "sawtooth")
    rows, errors = [], dict.fromkeys(models, 0.0)
    for places in PLACES:
        scenario, settings = BARMAN / "figure-3.toml", {LIMIT: f"{places - 1} packets"}
        found = simulated(scenario, settings)
        states = [predicted(model, scenario, settings) for model in models]
        rows.append((places, found, *states))
        for model, state in zip(models, states, strict=True):
            if places >= 625:
                error = abs(state.utilization - found.utilization)
                errors[model] = max(errors[model], error)
    rows.append(("largest error from 625 on", "", *(f"{error:.3f}" for error in errors.values())))
    heads = ("simulated", "M/M/1/K", "M/D/1/K", "M/M/1/K, fluid", "`sawtooth`")
    yield Table("barman", ("buffer, packets", *heads), rows)
    *fixed_points, sawtooth = (
        (f"largest error of the utilization, {model}", error) for model, error in errors.items()
    )
    yield Claim(
        "no fixed point explains Figure 3 of Barman et al.; the sawtooth does",
        (*(above(*error, 0.07) for error in fixed_points), below(*sawtooth, 0.03)),
    )


def crowd() -> Iterator[Item]:
    """A thousand Reno flows: where arrivals are random, and where they are not."""
    found: dict[int, list[State]] = {}
    for places in (10, 30, 100, 300):
        paced, bursts = (
            {LIMIT: f"{places - 1} packets", "flows.reno.pacing": pacing}
            for pacing in (True, False)
        )
        simulations = (simulated(CROWD, paced), simulated(CROWD, bursts))
        found[places] = [*simulations, *(predicted(one, CROWD, paced) for one in (MM1K, MD1K))]
    heads = ("K", "paced", "not paced", "M/M/1/K", "M/D/1/K")
    yield Table("crowd", heads, [(places, *states) for places, states in found.items()])
    checks = errors(found[10][-1], found[10][0], of_loss=0.2)
    yield Claim("M/D/1/K is right within 0.01 where arrivals are random", checks)


def errors(model: State, simulation: State, *, of_loss: float) -> list[Check]:
    """The errors of a model: of the utilization up to 0.01, of the loss up to a part of it."""
    off, loss = model.utilization - simulation.utilization, model.loss / simulation.loss
    return [
        between("error of the utilization", off, -0.01, 0.01),
        between("loss, relative", loss, 1 - of_loss, 1 + of_loss),
    ]


def red() -> Iterator[Item]:
    """Figure 7: RED keeps flows apart, and the loss is that of the fixed point."""
    rows: list[tuple[object, ...]] = []
    checks: list[Check] = []
    for packets in (625, 1250, 12_500):
        scenario, settings = BARMAN / "figure-7.toml", {LIMIT: f"{packets} packets"}
        found = simulated(scenario, settings)
        state = predicted("red_fixed_point", scenario, settings)
        rows.append((packets, found, state))
        if packets >= 1250:
            checks += errors(state, found, of_loss=0.1)
    yield Table("red", ("limit, packets", "simulated", "`red_fixed_point`"), rows)
    yield Claim("under Adaptive RED the fixed point is right within 0.01", checks)


def items() -> Iterator[Item]:
    """Every comparison."""
    for part in (barman, crowd, red):
        yield from part()


main = Validation(items, PAGE)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
