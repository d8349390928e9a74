"""The sawtooth models against simulation.

python -m tests.validation.sawtooth [--write]
"""

import sys
from collections.abc import Iterator, Mapping
from typing import Any

from tailroom.models import Model, Prediction, Requirement
from tailroom.models.sawtooth import residual_sawtooth, sawtooth
from tailroom_papers.framework import above, below
from tests.models.links import bottleneck, long_flows, scenario, uncontrolled
from tests.validation import frame
from tests.validation.frame import Claim, Item, Table, Validation, scientific

PAGE = "models/sawtooth.md"
SINGLE = {
    "reno": (62, 400),
    "scalable": (20, 62),
    "highspeed": (20, 156),
    "cubic": (62, 156),
    "bic": (20, 62),
    "htcp": (20, 62),
    "fhstcp": (62, 156),
}
"""Limits in packets of the runs with one flow."""
IN_BURSTS = ("htcp", "fhstcp")
"""Controls whose windows grow in bursts as large as the buffer."""
CLOSE = 0.01
"""Largest error of the utilization where the assumptions hold."""
STARTS = 'start = { uniform = ["0 s", "10 s"] }\n'

Found = tuple[Prediction, Mapping[str, Any]]
"""What a model says of a link, and the link of one run."""


def compare(text: str, model: Model = sawtooth.MODEL) -> Found:
    """A model and a simulation."""
    return model.predict(bottleneck(text), Requirement()), frame.simulate(text)[0].links["link"]


def error(found: Found) -> float:
    """Of the utilization, without its sign."""
    return abs(float(found[0].utilization or 0) - float(found[1]["utilization"]))


def utilizations(found: Found) -> str:
    """Model / simulation; bold where they differ by more than 0.03."""
    text = f"{found[0].utilization:.3f} / {found[1]['utilization']:.3f}"
    return f"**{text}**" if error(found) > 0.03 else text


def single() -> Iterator[Item]:
    """One flow."""
    rows, largest = [], 0.0
    for control, limits in SINGLE.items():
        for limit in limits:
            found = compare(scenario(limit, long_flows(control), duration="300 s"))
            if control not in IN_BURSTS:
                largest = max(largest, error(found))
            model, link = found
            queue = f"{model.queue_packets_mean:.1f} / {link['queue_packets_mean']:.1f}"
            losses = (model.loss_fraction or 0.0, link["loss_fraction"])
            loss = " / ".join(map(scientific, losses))
            rows.append((f"`{control}`", limit, utilizations(found), queue, loss))
    yield Table("single", ("control", "limit", "utilization", "mean queue, packets", "loss"), rows)
    yield Claim(
        "one flow that does not grow in bursts uses the link as the sawtooth says",
        [below("largest error of the utilization", largest, CLOSE)],
    )


def several() -> Iterator[Item]:
    """Flows that do not reduce together."""
    rows, checks = [], []
    for control, count in (
        ("reno", 2),
        ("reno", 10),
        ("highspeed", 2),
        ("highspeed", 10),
        ("cubic", 10),
    ):
        group = long_flows(control, count, rtt='{ from = "95 ms", to = "105 ms" }') + STARTS
        found = compare(scenario(62, group))
        sync, more = found[1]["loss_synchronization"], found[1]["utilization"]
        rows.append((f"`{control}`", count, utilizations(found).strip("*"), f"{sync:.2f}"))
        checks.append(
            above(f"more than the model, {count} {control}", more - found[0].utilization, 0)
        )
    heads = ("control", "flows", "utilization, model / simulation", "synchronization")
    yield Table("several", heads, rows)
    yield Claim("flows that do not reduce together use more than the sawtooth says", checks)


def barman() -> Iterator[Item]:
    """Ten HighSpeed flows over 1 Gbit/s (Barman, Smaragdakis, Matta 2004, first setting)."""
    group = long_flows("highspeed", 10, rtt='{ from = "115.5 ms", to = "124.5 ms" }') + STARTS
    texts = {
        limit: scenario(limit, group, rate="1 Gbit/s", duration="120 s") for limit in (1250, 2500)
    }
    found = {limit: compare(text) for limit, text in texts.items()}
    rows = [
        (
            limit,
            f"{model.utilization:.3f}",
            f"{link['utilization']:.3f}",
            f"{link['loss_synchronization']:.2f}",
        )
        for limit, (model, link) in found.items()
    ]
    yield Table("barman", ("limit, packets", "sawtooth", "simulation", "synchronization"), rows)
    checks = [below(f"error at {limit} packets", error(one), 0.03) for limit, one in found.items()]
    yield Claim("the sawtooth explains Barman's first setting", checks)


def other_traffic() -> Iterator[Item]:
    """A Reno flow alongside half a link of other traffic."""
    rows, checks = [], []
    for limit in (20, 100, 312, 625):
        constant, poisson = (
            compare(
                scenario(limit, long_flows("reno"), uncontrolled("25 Mbit/s", kind)),
                residual_sawtooth.MODEL,
            )
            for kind in ("cbr", "poisson")
        )
        simulated = (f"{one[1]['utilization']:.3f}" for one in (constant, poisson))
        rows.append((limit, f"{constant[0].utilization:.3f}", *simulated))
        checks.append(below(f"error at {limit} packets", error(constant), CLOSE))
        if limit >= 100:
            checks.append(below(f"error at {limit} packets, Poisson", error(poisson), CLOSE))
    heads = ("limit", "model", "simulation, constant rate", "simulation, Poisson")
    yield Table("shared", heads, rows)
    yield Claim("a flow fills the rest of a smooth load as the residual sawtooth says", checks)


def items() -> Iterator[Item]:
    """Every comparison."""
    for part in (single, several, barman, other_traffic):
        yield from part()


main = Validation(items, PAGE)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
