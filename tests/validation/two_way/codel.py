"""Two-way traffic through CoDel compared with the simulator of `simulator.py`.

python -m tests.validation.two_way.codel
"""

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

from tailroom_papers.framework import below
from tests.validation import frame
from tests.validation.frame import Claim, Item, Table, Validation
from tests.validation.two_way import simulator

FROM_S, UNTIL_S = 10, 70
SEEDS = range(1, 6)
LARGEST_RATIO = 1.2
"""Between the delays of the two: one run of a chaotic system against five of another's."""
SMALLEST_MS = 2.0
"""A difference below this counts as none."""


@dataclass(frozen=True)
class Case:
    """CUBIC flows each way, each with the same RTT, over a pair of links."""

    flows: int = 1
    interval_ms: int = 100
    sender_side: float = 0.5
    rates_mbps: tuple[int, int] = (100, 20)
    rtt_ms: int = 30
    queue: str = "codel"
    pacing: bool = False
    is_two_way: bool = True

    def toml(self) -> str:
        """The scenario."""
        queue = f'{{ kind = "{self.queue}" }}'
        if self.queue == "codel":
            queue = f'{{ kind = "codel", interval = "{self.interval_ms} ms" }}'
        text = f'duration = "{UNTIL_S} s"\nmeasure_from = "{FROM_S} s"\n'
        text += '[defaults]\nhost = "plain"\n'
        for name, rate in zip(("down", "up"), self.rates_mbps, strict=True):
            text += f'[links.{name}]\nrate = "{rate} Mbit/s"\ndelay = "0 s"\nqueue = {queue}\n'
        groups = (("download", "down", "up"), ("upload", "up", "down"))
        for name, path, reverse_path in groups[: 1 + self.is_two_way]:
            text += f"""
                [flows.{name}]
                count = {self.flows}
                path = ["{path}"]
                reverse_path = ["{reverse_path}"]
                rtt = "{self.rtt_ms} ms"
                sender_side = {self.sender_side}
                congestion = {{ kind = "cubic" }}
                send_jitter = "none"
                pacing = {str(self.pacing).lower()}
                start = {{ uniform = ["0 s", "5 s"] }}
                """
        return text

    def run(self) -> list[tuple[float, float, float]]:
        """Mean and p99 of the delay in ms and the utilization of each link, means of the seeds."""
        runs = frame.simulate(self.toml(), SEEDS)
        links: list[list[Any]] = [list(run.links.values()) for run in runs]
        keys = (("queue_delay_s_mean", 1e3), ("queue_delay_s_p99", 1e3), ("utilization", 1.0))
        found = []
        for place in range(2):
            mean, p99, utilization = (
                scale * sum(run[place][key] or 0.0 for run in links) / len(links)
                for key, scale in keys
            )
            found.append((mean, p99, utilization))
        return found

    def simulate(self) -> list[tuple[float, float]]:
        """Mean and p99 of the delay in ms at each link, by the other simulator."""
        case = simulator.Case(
            (self.rates_mbps[0], self.rates_mbps[1]),
            self.rtt_ms * 1e-3,
            self.flows,
            self.interval_ms * 1e-3,
            sender_side=self.sender_side,
        )
        found = []
        for link in simulator.run(case, UNTIL_S):
            delays = sorted(delay for when, delay in link.sojourns if when >= FROM_S)
            mean, p99 = sum(delays) / len(delays), delays[int(0.99 * len(delays))]
            found.append((1e3 * mean, 1e3 * p99))
        return found


ONE = Case()


def compared() -> Iterator[tuple[str, Case]]:
    """What both simulators run."""
    for interval_ms in (50, 100, 200):
        yield f"interval {interval_ms} ms", replace(ONE, interval_ms=interval_ms)
    for side in (0.0, 1.0):
        yield f"sender_side {side:g}", replace(ONE, sender_side=side)
    yield "ten flows each way", replace(ONE, flows=10)


def remedies() -> Iterator[tuple[str, Case]]:
    """What changes the delay, by tailroom alone."""
    yield "codel", ONE
    yield "codel, one way", replace(ONE, is_two_way=False)
    yield "fq_codel", replace(ONE, queue="fq_codel")
    yield "codel, paced", replace(ONE, pacing=True)
    for flows in (2, 5, 10, 20):
        yield f"codel, {flows} each way", replace(ONE, flows=flows)
    yield "fq_codel, 10 each way", replace(ONE, queue="fq_codel", flows=10)
    yield "pie", replace(ONE, queue="pie")


def _simulate(case: Case) -> list[tuple[float, float]]:
    return case.simulate()


def items() -> Iterator[Item]:
    """Both tables, and how many delays are too far apart."""
    named = list(compared())
    with ProcessPoolExecutor() as pool:
        theirs = list(pool.map(_simulate, [case for _, case in named]))
    far, rows = 0, []
    for (name, case), second in zip(named, theirs, strict=True):
        cells = []
        for (mean, p99), (our_mean, our_p99, _) in zip(second, case.run(), strict=True):
            for one, other in ((mean, our_mean), (p99, our_p99)):
                is_far = max(one, other) / min(one, other) > LARGEST_RATIO
                far += is_far and abs(one - other) > SMALLEST_MS
            cells += [f"{mean:.1f} / {p99:.0f}", f"{our_mean:.1f} / {our_p99:.0f}"]
        rows.append((name, *cells))
    heads = [f"{link}: {what}" for link in ("down", "up") for what in ("second", "tailroom")]
    yield Table("codel", ("mean / p99 of the delay in ms", *heads), rows)
    yield Claim(
        f"{far} of {4 * len(named)} differ by more than a factor of {LARGEST_RATIO}",
        (below("delays that differ by more", far, 0),),
    )
    rows = [
        (name, *(f"{mean:.1f} / {p99:.0f}, {used:.1%}" for mean, p99, used in case.run()))
        for name, case in remedies()
    ]
    yield Table("", ("mean / p99 of the delay in ms, utilization", "down", "up"), rows)


main = Validation(items, "validation/two-way.md")

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
