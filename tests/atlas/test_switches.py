"""The atlas of switches: the page is that of the data, and the data are what scenarios give."""

from pathlib import Path
from typing import Any

import tailroom as tr
from tailroom_atlas import switch_page
from tailroom_atlas.switches import Leaf, leaves

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_that_of_the_data() -> None:
    text = (DOCS / "atlas" / "switch.md").read_text(encoding="utf-8")
    assert text == "\n".join(switch_page.page(switch_page.read(DOCS))) + "\n"


def test_every_memory_and_alpha_of_every_switch_has_a_row() -> None:
    rows = switch_page.read(DOCS)
    settings = len(switch_page.MEMORIES_MB) * len(switch_page.ALPHAS)
    for leaf in leaves():
        place = (leaf.rate_gbps, leaf.fan_in, leaf.control)
        assert len(switch_page.rows_of(rows, place)) == settings


def test_a_row_is_what_its_scenario_gives() -> None:
    leaf = Leaf(100, 8, "dctcp")
    # 16 MB and alpha 1/2.
    row = switch_page.rows_of(switch_page.read(DOCS), (100, 8, "dctcp"))[3]
    size, alpha = leaf.keys()
    setting = {size: f"{row['memory_mb']} MB", alpha: float(row["alpha"])}
    runs = [
        tr.run(leaf.scenario(), set=setting, seed=seed) for seed in range(1, switch_page.SEEDS + 1)
    ]
    queries: list[Any] = [run.groups["queries"] for run in runs]
    times_s = [group["coflows"]["completion_time_s_p99"] for group in queries]
    losses = [group["loss_fraction"] for group in queries]
    assert row["slowdown_p99"] == f"{sum(times_s) / switch_page.SEEDS / leaf.alone_s:.4g}"
    assert row["loss_fraction"] == f"{sum(losses) / switch_page.SEEDS:.3g}"


def test_without_a_bound_on_memory_queries_take_no_less_than_their_port() -> None:
    slowdowns = [float(row["slowdown_p99"]) for row in switch_page.read(DOCS)]
    assert min(slowdowns) >= 1
