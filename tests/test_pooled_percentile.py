"""The percentile of all values of several runs, from the percentiles of each."""

from math import exp, log
from typing import Any

import numpy as np
import pytest

import tailroom as tr
from tailroom.statistics.pooled_percentile import pooled_percentile

SHARES = (0.99, 0.5, 0.05, 0.01, 0.001)


def exponential(mean: float) -> dict[float, float]:
    """The quantiles of an exponential distribution, by the share above them."""
    return {share: -mean * log(share) for share in SHARES}


def test_equal_runs_have_the_percentile_of_each() -> None:
    assert pooled_percentile([exponential(2.0)] * 3, 0.01) == pytest.approx(2 * log(100))


def test_different_exponential_runs_have_the_percentile_of_their_mixture() -> None:
    """Exact: between percentiles the logarithm of an exponential tail is straight."""
    together = pooled_percentile([exponential(1.0), exponential(3.0)], 0.01)
    assert together is not None
    assert (exp(-together) + exp(-together / 3)) / 2 == pytest.approx(0.01)


def test_sampled_runs_have_about_the_percentile_of_all_values() -> None:
    """Gamma distributed runs, whose tails are no exponential ones, against all values sorted."""
    random = np.random.default_rng(1)
    runs = [random.gamma(3.0, scale, 20_000) for scale in (1.0, 1.5, 2.5)]
    quantiles = [{share: float(np.quantile(run, 1 - share)) for share in SHARES} for run in runs]
    together = pooled_percentile(quantiles, 0.05)
    assert together == pytest.approx(float(np.quantile(np.concatenate(runs), 0.95)), rel=0.03)


def test_a_percentile_beyond_those_of_a_run_is_unknown() -> None:
    assert pooled_percentile([exponential(1.0), {0.5: 1.0, 0.05: 2.0}], 0.01) is None
    assert pooled_percentile([exponential(1.0)], 0.001) is None
    assert pooled_percentile([], 0.01) is None


def test_values_without_scatter_have_their_value() -> None:
    assert pooled_percentile([dict.fromkeys(SHARES, 4.0)] * 2, 0.01) == 4.0


SHORT_RUN = """
duration = "1.5 s"
measure_from = "0.5 s"
[links.queue]
rate = "40 Mbit/s"
delay = "1 ms"
queue = { kind = "drop_tail", limit = "2000 packets" }
[flows.arrivals]
path = ["queue"]
packet_size = "5000 B"
source = { kind = "poisson", rate = "32 Mbit/s", sizes = "exponential" }
"""
"""800 packets of 1 ms, at an M/M/1 queue whose waiting time forgets its past in 90 ms."""


def test_short_runs_of_a_queue_have_the_percentile_of_its_closed_form() -> None:
    """P(W > t) = rho exp(-(mu - lambda) t), within 5 %: two standard errors of 200 runs.

    A run holds 11 times the relaxation time 1 / (mu (1 - sqrt(rho))^2); 200 runs hold 2,200, and
    the height of the tail at 1 % has a standard error of about a tenth, so t one of 0.1 / ln(80).
    """
    scenario = tr.Scenario.from_toml(SHORT_RUN)
    runs = []
    for seed in range(200):
        link: dict[str, Any] = dict(tr.run(scenario, seed=seed).links["queue"])
        named = {0.5: "p50", 0.05: "p95", 0.01: "p99", 0.001: "p999"}
        runs.append({share: link[f"queue_delay_s_{name}"] for share, name in named.items()})
    exact = log(0.8 / 0.01) / (1000 - 800)
    assert pooled_percentile(runs, 0.01) == pytest.approx(exact, rel=0.05)
    assert np.mean([run[0.01] for run in runs]) < 0.9 * exact
