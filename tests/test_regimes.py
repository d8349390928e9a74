"""The regime of a link is recovered where the traffic is made so that it is known."""

from dataclasses import dataclass
from itertools import product
from pathlib import Path

import tailroom as tr

EXPONENTIAL = '{ kind = "exponential", mean = "250 kB" }'
HEAVY_TAILED = '{ kind = "bounded_pareto", shape = 1.3, min = "20 kB", max = "20 MB" }'


@dataclass(frozen=True)
class Traffic:
    """Dynamic flows, and a link for them; rates in Mbit/s."""

    rate: float
    load: float
    size: str = EXPONENTIAL
    queue: str = "drop_tail"
    peak: float | None = None

    def scenario(self) -> str:
        """A run of one minute."""
        access = f'access_rate = "{self.peak} Mbit/s"' if self.peak else ""
        return f"""
            duration = "60 s"
            measure_from = "20 s"
            [links.link]
            rate = "{self.rate} Mbit/s"
            delay = "1 ms"
            queue = {{ kind = "{self.queue}", limit = "200 packets" }}
            [flows.passing]
            path = ["link"]
            congestion = {{ kind = "reno" }}
            rtt = {{ uniform = ["10 ms", "60 ms"] }}
            {access}
            source = {{ kind = "finite_flows", size = {self.size}, load = {self.load} }}
        """


def known() -> list[tuple[str, Traffic]]:
    """Thirty cases, ten of each regime."""
    # Flows of a hundredth of the link or less: even four standard deviations more of them than the
    # mean fit, load + 4 sqrt(load / 100) < 1.
    limited = [
        Traffic(rate, load, size, peak=rate / 100)
        for rate, load, size in product((50, 200), (0.3, 0.6), (EXPONENTIAL, HEAVY_TAILED))
    ]
    limited += [Traffic(100, 0.5, queue="fair", peak=0.5), Traffic(100, 0.2, peak=1)]
    # Flows that take what they get, at loads that the link carries.
    greedy = [
        Traffic(rate, load, size, queue)
        for rate, load, size, queue in product(
            (20, 100), (0.3, 0.7), (EXPONENTIAL,), ("drop_tail", "fair")
        )
    ]
    greedy += [Traffic(20, 0.5, HEAVY_TAILED), Traffic(100, 0.5, HEAVY_TAILED, "codel")]
    # More than the link carries, whatever limits the flows.
    too_many = [
        Traffic(rate, load, queue=queue, peak=peak)
        for (rate, peak), load, queue in product(
            ((20, None), (50, 1)), (1.3, 2.0), ("drop_tail", "fair")
        )
    ]
    too_many += [Traffic(20, 1.5, queue="codel"), Traffic(50, 1.5, peak=0.2)]
    regimes = {"transparent": limited, "elastic": greedy, "overload": too_many}
    return [(regime, traffic) for regime, cases in regimes.items() for traffic in cases]


def test_the_regime_is_recovered_where_it_is_known(tmp_path: Path) -> None:
    """At least 95 % of thirty cases: all but one."""
    cases = known()
    assert len(cases) == 30
    wrong = []
    for index, (regime, traffic) in enumerate(cases):
        file = tmp_path / f"{index}.toml"
        file.write_text(traffic.scenario(), encoding="utf-8")
        found = tr.run(file).links["link"]
        if found["regime"] != regime:
            wrong.append((regime, traffic, found["regime"], found["offered_load"]))
    assert len(wrong) <= 1, wrong
