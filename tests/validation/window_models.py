"""Window laws and sawtooth models compared with simulations; the tables of docs/models.

`python -m tests.validation.window_models PART` prints one part: laws, single, several, barman or
shared.
"""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from tailroom.models import Model, Requirement
from tailroom.models.sawtooth import residual_sawtooth, sawtooth
from tailroom.models.window_laws import law_of
from tests.models.links import bottleneck, long_flows, scenario, uncontrolled
from tests.validation import frame

CONTROLS = ("reno", "scalable", "highspeed", "cubic", "bic", "htcp", "fhstcp")
STARTS = 'start = { uniform = ["0 s", "10 s"] }\n'


def simulated(text: str) -> Mapping[str, Any]:
    """The link of one run."""
    return frame.simulate(text)[0].links["link"]


def model_and_run(text: str, model: Model) -> str:
    """Utilization, queue and loss of the model / of the simulation."""
    predicted, link = model.predict(bottleneck(text), Requirement()), simulated(text)
    return (
        f"{predicted.utilization:.3f} / {link['utilization']:.3f} | "
        f"{predicted.queue_packets_mean:.1f} / {link['queue_packets_mean']:.1f} | "
        f"{predicted.loss_fraction:.2g} / {link['loss_fraction']:.2g} | "
        f"{link['loss_synchronization']:.2f}"
    )


def laws() -> Iterator[str]:
    """Mean window over the law's, with losses on the wire."""
    for control in CONTROLS:
        for every in (1_000, 10_000, 100_000):
            for loss in (
                f'{{ kind = "periodic", every = {every} }}',
                f'{{ kind = "bernoulli", probability = {1 / every} }}',
            ):
                text = scenario(1e5, long_flows(control), rate="10 Gbit/s", duration="260 s")
                text = text.replace("queue =", f"loss = {loss}\nqueue =")
                link = bottleneck(text)
                law = law_of(link.classes[0])
                window = simulated(text)["utilization"] * link.bdp_packets
                ratio = window / float(law.window(1 / every, 0.1))
                yield f"{control} | {loss} | {ratio:.2f}"


def single() -> Iterator[str]:
    """One flow."""
    for control in CONTROLS:
        for limit in (20, 62, 156, 400):
            text = scenario(limit, long_flows(control), duration="300 s")
            yield f"{control} | {limit} | {model_and_run(text, sawtooth.MODEL)}"


def several() -> Iterator[str]:
    """Flows that need not reduce together."""
    for control in ("reno", "highspeed", "cubic"):
        for count in (2, 4, 10):
            group = long_flows(control, count, rtt='{ from = "95 ms", to = "105 ms" }') + STARTS
            yield f"{control} | {count} | {model_and_run(scenario(62, group), sawtooth.MODEL)}"


def barman() -> Iterator[str]:
    """Ten HighSpeed flows over 1 Gbit/s (Barman, Smaragdakis, Matta 2004, first setting)."""
    group = long_flows("highspeed", 10, rtt='{ from = "115.5 ms", to = "124.5 ms" }') + STARTS
    for limit in (1250, 2500):
        text = scenario(limit, group, rate="1 Gbit/s", duration="120 s")
        yield f"{limit} | {model_and_run(text, sawtooth.MODEL)}"


def other_traffic() -> Iterator[str]:
    """A flow alongside half a link of other traffic."""
    for kind in ("cbr", "poisson"):
        for limit in (20, 100, 312, 625):
            text = scenario(limit, long_flows("reno"), uncontrolled("25 Mbit/s", kind))
            yield f"{kind} | {limit} | {model_and_run(text, residual_sawtooth.MODEL)}"


PARTS = {
    "laws": laws,
    "single": single,
    "several": several,
    "barman": barman,
    "shared": other_traffic,
}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        for line in PARTS[part]():
            print(line, flush=True)
