"""The fixed points of window laws and buffers against simulation.

docs/models/fixed-points.md has the figures.

    python -m tests.validation.fixed_points
"""

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import tailroom as tr
from tailroom.models import MODELS, Prediction, Requirement, read_bottleneck
from tailroom.scenario.scenario import Scenario
from tests.validation.traffic import SCENARIOS, mean

BARMAN = SCENARIOS.parent / "barman-2004"
LIMIT = "links.bottleneck.queue.limit"
PLACES = (125, 625, 1250, 2500, 6250, 12_500)
"""Figure 3 of Barman et al. 2004: 1 to 100 % of 12,500 packets."""
DROP_TAIL = ("drop_tail_fixed_point", "drop_tail_fixed_point_md1k", "drop_tail_fixed_point_fluid")

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

Show = Callable[[str], None]


def simulated(scenario: Path, settings: Mapping[str, Any], seeds: int) -> dict[str, float]:
    """Means over seeds of what the models predict."""
    keys = ("utilization", "loss_fraction", "queue_delay_s_mean")
    links: list[Any] = [
        tr.run(scenario, seed=seed, set=settings).links["bottleneck"]
        for seed in range(1, seeds + 1)
    ]
    return {key: mean(link[key] for link in links) for key in keys}


def predicted(scenario: Path, settings: Mapping[str, Any], model: str) -> Prediction:
    """What a model says."""
    link = read_bottleneck(Scenario.of(scenario, settings))
    return MODELS[model].predict(link, Requirement())


def row(found: dict[str, float] | Prediction) -> str:
    """Utilization, loss and delay in milliseconds."""
    if isinstance(found, Prediction):
        found = {
            "utilization": found.utilization or 0.0,
            "loss_fraction": found.loss_fraction or 0.0,
            "queue_delay_s_mean": found.queue_delay_s_mean or 0.0,
        }
    utilization, loss, delay_s = found.values()
    return f"{utilization:.4f} {loss:.2e} {1e3 * delay_s:7.3f} ms"


def compare(
    show: Show, label: str, scenario: Path, settings: Mapping[str, Any], models: tuple[str, ...]
) -> tuple[dict[str, float], list[Prediction]]:
    """One setting: a line for the simulation and one for each model."""
    found = simulated(scenario, settings, seeds=2)
    show(f"{label:24} simulated {row(found)}")
    predictions = [predicted(scenario, settings, model) for model in models]
    for model, prediction in zip(models, predictions, strict=True):
        show(f"{model:>34} {row(prediction)}")
    return found, predictions


def barman(show: Show) -> bool:
    """Figure 3: which of its simplifications the paper's model owes its error to."""
    show("\nBarman et al., Figure 3: 10 HighSpeed flows, DropTail")
    gaps = []
    for places in PLACES:
        settings = {LIMIT: f"{places - 1} packets"}
        models = (*DROP_TAIL, "sawtooth")
        found, predictions = compare(
            show, f"{places} packets", BARMAN / "figure-3.toml", settings, models
        )
        if places >= 625:
            gaps.append([(one.utilization or 0.0) - found["utilization"] for one in predictions])
    worst = [max(abs(gap) for gap in model) for model in zip(*gaps, strict=True)]
    show(f"largest error from 625 packets on: {', '.join(f'{gap:.3f}' for gap in worst)}")
    return bool(min(worst[:3]) > 0.07 and worst[3] < 0.03)


def crowd(show: Show, scenario: Path) -> bool:
    """Many flows: where arrivals are random, and where they are not."""
    show("\na thousand Reno flows, DropTail")
    held = False
    for places in (10, 30, 100, 300):
        for paced in (True, False):
            settings = {LIMIT: f"{places - 1} packets", "flows.reno.pacing": paced}
            label = f"{places} packets, {'paced' if paced else 'bursts'}"
            found, (_, fixed_size) = compare(show, label, scenario, settings, DROP_TAIL[:2])
            if places == 10 and paced:
                utilization, loss = fixed_size.utilization or 0.0, fixed_size.loss_fraction or 0.0
                held = abs(utilization - found["utilization"]) < 0.01
                held = held and abs(loss / found["loss_fraction"] - 1) < 0.2
    return held


def red(show: Show) -> bool:
    """Figure 7: RED keeps flows apart, and the loss is that of the fixed point."""
    show("\nBarman et al., Figure 7: 10 HighSpeed flows, Adaptive RED")
    held = True
    for packets in (625, 1250, 12_500):
        settings = {LIMIT: f"{packets} packets"}
        found, (prediction,) = compare(
            show, f"{packets} packets", BARMAN / "figure-7.toml", settings, ("red_fixed_point",)
        )
        if packets >= 1250:
            loss = prediction.loss_fraction or 0.0
            held = held and abs(loss / found["loss_fraction"] - 1) < 0.1
            held = held and abs((prediction.utilization or 0.0) - found["utilization"]) < 0.01
    return held


def main(show: Show = print) -> int:
    """Runs every comparison; 0 if all claims hold."""
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder) / "crowd.toml"
        scenario.write_text(CROWD)
        held = {
            "no fixed point explains Figure 3 of Barman et al.; the sawtooth does": barman(show),
            "M/D/1/K is right within 0.01 where arrivals are random": crowd(show, scenario),
            "under Adaptive RED the fixed point is right within 0.01": red(show),
        }
    for claim, holds in held.items():
        show(f"{'holds' if holds else 'FAILS'}: {claim}")
    return int(not all(held.values()))


if __name__ == "__main__":
    import sys

    sys.exit(main())
