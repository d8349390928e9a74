"""The windows of the laws against simulation, with losses on the wire.

python -m tests.validation.window_laws [--write]
"""

import sys
from collections.abc import Iterator

from tailroom.models.window_laws import law_of
from tailroom_papers.framework import between
from tests.models.links import bottleneck, long_flows, scenario
from tests.validation import frame
from tests.validation.frame import Claim, Item, Table, Validation

PAGE = "models/window-laws.md"
CONTROLS = ("reno", "highspeed", "fhstcp", "scalable", "cubic", "bic", "htcp")
PACKETS = (1_000, 10_000, 100_000)
"""From one loss to the next, on average."""


def ratio(control: str, every: int, loss: str) -> float:
    """Mean window in the last 200 of 260 s over the law's."""
    text = scenario(1e5, long_flows(control), rate="10 Gbit/s", duration="260 s")
    text = text.replace("queue =", f"loss = {loss}\nqueue =")
    link = bottleneck(text)
    utilization = frame.simulate(text)[0].links["link"]["utilization"]
    window = float(utilization) * link.bdp_packets
    return window / float(law_of(link.classes[0]).window(1 / every, 0.1))


def items() -> Iterator[Item]:
    """Losses every so many packets, and at random."""
    rows, checks = [], []
    for control in CONTROLS:
        periodic = [
            ratio(control, every, f'{{ kind = "periodic", every = {every} }}') for every in PACKETS
        ]
        random = [
            ratio(control, every, f'{{ kind = "bernoulli", probability = {1 / every} }}')
            for every in PACKETS
        ]
        rows.append((f"`{control}`", *(f"{one:.2f}" for one in (*periodic, *random))))
        for every, found in zip(PACKETS, periodic, strict=True):
            checks.append(between(f"{control}, a loss every {every}", found, 0.85, 1.05))
    heads = [f"every {every:,}" for every in PACKETS]
    yield Table("laws", ("control", *heads, "random, 1e-3", "1e-4", "1e-5"), rows)
    yield Claim("with periodic losses, windows are 0.85 to 1.05 of the law's", checks)


main = Validation(items, PAGE)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
