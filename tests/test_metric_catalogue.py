"""The catalogue has every metric, in the unit that its name says, and no other."""

import json
import re
from typing import Any

import pytest

from generate import site_files
from recorded_scenarios import recorded_scenarios
from tailroom import _engine
from tailroom.scenario.scenario import Scenario
from tailroom.scenario.shipped_scenarios import shipped_scenarios
from tailroom.simulation import metric_catalogue as catalogue
from tailroom.simulation import metric_units
from tailroom.simulation.metric_catalogue import (
    AT_MOST,
    CATALOGUE,
    STATISTICS,
    axis_label,
    axis_scale,
    metric_of,
    pattern_of,
)
from tailroom.simulation.metric_units import Unit
from tailroom.simulation.metrics import expected_names

STRUCTS = {
    "LinkSummary": catalogue.LINK,
    "FlowSummary": catalogue.FLOW,
    "GroupSummary": catalogue.GROUP,
    "GroupLinkSummary": catalogue.GROUP_AT_LINK,
    "SizeClassSummary": catalogue.SIZES,
    "CoflowSummary": catalogue.COFLOWS,
    "PoolSummary": catalogue.POOL,
}
"""What the engine declares, with its part of the catalogue."""
NOT_NUMBERS = {"name", "group", "congestion", "regime", "discipline", "discipline_state"}
NOT_NUMBERS |= {"all_sizes", "size_classes", "links", "coflows", "policy"}
"""Texts and tables of a summary."""
NO_UNIT_AT_THE_END = {"packets_between_reductions_mean", "seconds_between_reductions_mean"}
"""Names of the engine that begin with their unit: N_d and T_d of Barman et al. 2004."""
TOO_LONG = "auge-roberts-2006/figure-4"
"""Shipped, but its names are not known without a run: the scenario admits no short one."""


@pytest.fixture(scope="module")
def produced() -> set[str]:
    """Patterns of the metrics of shipped scenarios, of every discipline, and of networks."""
    found: set[str] = set()
    scenario: Any
    for name, scenario in recorded_scenarios().items():
        # A trace is a file next to the scenario; it brings no metric of its own.
        if name.startswith(("shipped/", "queue/", "network/", "pool/")) and "/trace_" not in name:
            names = expected_names(Scenario.of(scenario, {}))
            assert names is not None or name == f"shipped/{TOO_LONG}", name
            found |= {pattern_of(one) for one in names or ()}
    return found


def test_every_metric_of_shipped_scenarios_and_disciplines_is_in_the_catalogue(
    produced: set[str],
) -> None:
    assert {f"shipped/{name}" for name in shipped_scenarios()} <= recorded_scenarios().keys()
    assert produced - CATALOGUE.keys() == set()


def test_the_catalogue_has_no_metric_that_no_scenario_produces(produced: set[str]) -> None:
    assert CATALOGUE.keys() - produced == set()


@pytest.mark.parametrize("struct", STRUCTS)
def test_the_catalogue_has_every_number_that_the_engine_declares(struct: str) -> None:
    declared = json.loads(_engine.summary_schema())["$defs"][struct]["properties"].keys()
    assert declared - NOT_NUMBERS == STRUCTS[struct].keys()


def test_units_agree_with_the_last_word_of_the_name() -> None:
    units = [value for value in vars(metric_units).values() if isinstance(value, Unit)]
    words = {unit.word for unit in units} - {""}
    for name, metric in {**CATALOGUE, **catalogue.FLOW}.items():
        last = name.rpartition(".")[2].removesuffix(AT_MOST).split("_")
        if last[-1] in STATISTICS:
            last.pop()
        if name not in NO_UNIT_AT_THE_END:
            assert metric.unit.word == (last[-1] if last[-1] in words else ""), name


def test_metrics_with_the_same_last_part_have_one_unit_range_and_direction() -> None:
    """So a short name says how a value is written, whatever it is of."""
    for name, metric in {**CATALOGUE, **catalogue.FLOW}.items():
        short = metric_of(name.rpartition(".")[2])
        if name not in NO_UNIT_AT_THE_END:
            assert (short.unit, short.highest, short.better) == (
                metric.unit,
                metric.highest,
                metric.better,
            )


def test_fractions_and_indexes_end_at_1_and_nothing_else_does() -> None:
    for name, metric in CATALOGUE.items():
        # A share is of the slowest link of a path, and a flow may send more than that.
        is_bounded = metric.unit.counts == "fraction" and not name.endswith(".share")
        of_discipline = "probability" in name or name.endswith((".max_p", ".dropping_state"))
        assert (metric.highest == 1) == (is_bounded or of_discipline), name


@pytest.mark.parametrize(
    ("metric", "label", "scale"),
    [
        ("links.core.utilization", "utilization (%)", 100),
        ("queue_delay_s_p99", "p99 queueing delay (ms)", 1000),
        ("groups.web.all_sizes.completion_time_s_p50", "median completion time of web (ms)", 1000),
        ("groups.call.links.up.loss_fraction", "loss of call at up (%)", 100),
        ("groups.web.goodput_bps", "goodput of web (Mbit/s)", 1e-6),
        ("flows.jain_index", "fairness (Jain's index)", 1),
        ("links.core.burst_packets_max", "largest burst (packets)", 1),
        # Of runs that another version stored.
        ("links.core.pause_s_p99", "p99 pause (ms)", 1000),
        ("links.core.pauses", "pauses", 1),
    ],
)
def test_axes_name_the_metric_its_owner_and_its_unit(metric: str, label: str, scale: float) -> None:
    assert (axis_label(metric), axis_scale(metric)) == (label, scale)


@pytest.mark.parametrize(
    ("metric", "value", "brief", "text", "half_width"),
    [
        ("utilization", 0.98765, "98.77%", "98.77%", "2.5%"),
        ("loss_fraction", 0.00012345, "0.0123%", "0.0123%", "2.5%"),
        ("loss_fraction", 0.0, "0%", "0%", "2.5%"),
        ("bottlenecked_time_fraction", 0.25, "25.00%", "25.00%", "2.5%"),
        ("queue_delay_s_mean", 0.00523, "5.2 ms", "5.23 ms", "25 ms"),
        ("queue_delay_s_mean", 0.00003, "30.0 us", "0.030 ms", "25 ms"),
        ("goodput_bps", 12.3456e6, "12.35 Mbit/s", "12.35 Mbit/s", "0.000000025 Mbit/s"),
        ("queue_packets_mean", 1234.56, "1,234.6", "1,234.6", "0.025"),
        ("timeouts", 1234.0, "1,234", "1,234", "0.025"),
        ("jain_index", 0.98765, "0.988", "0.988", "0.025"),
        ("slowdown_p99", 2.71828, "2.72", "2.71828", "0.025"),
    ],
)
def test_values_are_written_in_the_unit_of_the_metric(
    metric: str, value: float, brief: str, text: str, half_width: str
) -> None:
    unit = metric_of(metric).unit
    assert (unit.brief(value), unit.text(value)) == (brief, text)
    assert unit.half_width(0.025, text) == half_width


def test_the_reference_names_unit_range_and_direction() -> None:
    page = site_files()["docs/reference/results.md"]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \| (.*?) \|", page, re.MULTILINE)
    assert ("utilization", "fraction", "0 to 1", "higher") in rows
    assert ("queue_delay_s_p99", "s", "from 0", "lower") in rows
