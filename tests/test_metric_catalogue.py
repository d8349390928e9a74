"""The catalogue has every metric, in the unit that its name says, and no other."""

import json
import random
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
from tailroom.written_numbers import half_width, without_exponents

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


def test_no_two_metrics_of_one_owner_have_the_same_heading() -> None:
    """So that every table may head its columns with words, and none needs the name of the key."""
    by_owner: dict[str, dict[str, list[str]]] = {}
    for name, metric in CATALOGUE.items():
        owner, _, last = name.rpartition(".")
        by_owner.setdefault(owner, {}).setdefault(metric.heading, []).append(last)
    for owner, headings in by_owner.items():
        for heading, names in headings.items():
            # Values in bytes have their unit, others are numbers of packets.
            rest = [name for name in names if "_bytes" not in name]
            assert len(rest) <= 1, (owner, heading, names)
            assert "_" not in heading
            assert max(map(len, heading.split("\n"))) <= 15


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
    ("metric", "value", "text", "width", "arm"),
    [
        ("utilization", 0.98765, "98.77%", 0.025, "2.5%"),
        ("utilization", 0.99998, "100.0%", 9.3e-9, "<0.01%"),
        ("loss_fraction", 0.00012345, "0.0123%", 0.00002, "0.002%"),
        ("loss_fraction", 0.0, "0%", 0.0, "0%"),
        ("bottlenecked_time_fraction", 0.25, "25.00%", 0.025, "2.5%"),
        ("queue_delay_s_mean", 0.00523, "5.23 ms", 0.025, "25 ms"),
        ("queue_delay_s_mean", 0.00003, "30.0 us", 0.0000012, "1.2 us"),
        ("queue_delay_s_mean", 43.520012276, "43.52 s", 0.025, "0.025 s"),
        ("goodput_bps", 12.3456e6, "12.35 Mbit/s", 25_400.0, "0.025 Mbit/s"),
        ("queue_packets_mean", 1234.56, "1,235", 0.4, "0.4"),
        ("arrivals_packets", 265_396_681.0, "265.4 million", 1.5e6, "1.5 million"),
        ("arrivals_packets", 16_290.0, "16,290", 12.0, "12"),
        ("timeouts", 1234.0, "1,234", 0.25, "0.25"),
        ("jain_index", 0.98765, "0.988", 0.025, "0.025"),
        ("slowdown_p99", 2.71828, "2.72", 0.025, "0.025"),
        ("memory_bytes_mean", 14_213_456.0, "14.21 MB", 250_000.0, "0.25 MB"),
    ],
)
def test_values_are_written_in_the_unit_of_the_metric(
    metric: str, value: float, text: str, width: float, arm: str
) -> None:
    assert metric_of(metric).unit.text(value) == text
    assert half_width(width, text) == arm


UNITS = {
    "": 1.0,
    "%": 0.01,
    **{"us": 1e-6, "ms": 1e-3, "s": 1.0},
    **{"bit/s": 1.0, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9},
    **{"B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12},
    **{"million": 1e6, "billion": 1e9, "trillion": 1e12},
}


@pytest.mark.parametrize(
    "unit", [one for one in vars(metric_units).values() if isinstance(one, Unit)]
)
def test_no_number_has_more_than_four_digits_or_loses_its_magnitude(unit: Unit) -> None:
    draw = random.Random(unit.name + unit.axis)
    # A fraction is at most 1, and what is below 1e-9 of a unit is the rounding error of a mean.
    highest = 0.0 if unit.axis == "%" else 9.0
    for _ in range(2_000):
        value = float(f"{10 ** draw.uniform(-8.0, highest):.{draw.randrange(8)}e}")
        if unit is metric_units.BITS_PER_S or unit is metric_units.BYTES:
            value *= 1e3
        written = unit.text(value)
        found = re.fullmatch(r"([\d,]+(?:\.\d+)?) ?(\D*)", written)
        assert found, written
        digits = found[1].replace(",", "").replace(".", "").lstrip("0")
        assert len(digits.rstrip("0")) <= 4, written
        assert "." not in found[1] or len(digits) <= 4, written
        assert re.fullmatch(r"\d{1,3}(,\d{3})*(\.\d+)?", found[1]), written
        read = float(found[1].replace(",", "")) * UNITS[found[2]]
        assert read == pytest.approx(value, rel=0.05), written


@pytest.mark.parametrize(
    ("metric", "column", "texts"),
    [
        ("queue_delay_s_mean", [37.6e-3, 56.9e-6, 1.2e-3, 0.0], "37.6 ms, 0.057 ms, 1.20 ms, 0 ms"),
        ("queue_delay_s_mean", [56.9e-6, 3.14e-6, 1.2e-3], "56.9 us, 3.1 us, 1,200 us"),
        ("queue_delay_s_p99", [12.5, 31.0, 0.25], "12.50 s, 31.00 s, 0.25 s"),
        (
            "queue_delay_s_mean",
            [434e-6, 451e-6, 16.4e-9, 7e-9],
            "434.0 us, 451.0 us, 0.016 us, 0.0070 us",
        ),
        ("queue_delay_s_mean", [98.5e-3, 113.5e-3, 130e-9], "98.5 ms, 113.5 ms, 0.00013 ms"),
        ("goodput_bps", [9.5e9, 300e6, 64e3], "9,500 Mbit/s, 300.0 Mbit/s, 0.064 Mbit/s"),
        ("memory_bytes_mean", [1.5e6, 800e3, 9.25e6], "1.5 MB, 0.8 MB, 9.25 MB"),
        ("utilization", [0.5, 0.001], "50.00%, 0.10%"),
        ("arrivals_packets", [2_500_000, 13.0], "2.5 million, 13"),
    ],
)
def test_a_column_has_the_unit_of_its_median(metric: str, column: list[float], texts: str) -> None:
    write = metric_of(metric).unit.writer(column)
    assert ", ".join(map(write, column)) == texts


@pytest.mark.parametrize("metric", ["queue_delay_s_mean", "goodput_bps", "memory_bytes_mean"])
def test_every_column_has_one_unit_and_keeps_two_digits(metric: str) -> None:
    draw = random.Random(metric)
    for _ in range(500):
        column = [10 ** draw.uniform(-6.0, 2.0) for _ in range(draw.randrange(1, 8))]
        scale = 1.0 if metric.endswith("s_mean") and "delay" in metric else 1e6
        values = [scale * value for value in column]
        cells = list(map(metric_of(metric).unit.writer(values), values))
        [unit] = {cell.partition(" ")[2] for cell in cells}
        for value, cell in zip(values, cells, strict=True):
            read = float(cell.partition(" ")[0].replace(",", "")) * UNITS[unit]
            assert read == pytest.approx(value, rel=0.05), (cell, value)


@pytest.mark.parametrize(("packets", "text"), [(302.0, "302"), (73.04, "73"), (94.34, "94.3")])
def test_a_count_has_no_zero_that_only_fills_up(packets: float, text: str) -> None:
    assert metric_of("queue_packets_mean").unit.text(packets) == text


def test_the_reference_names_unit_range_and_direction() -> None:
    page = site_files()["docs/reference/results.md"]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \| (.*?) \|", page, re.MULTILINE)
    assert ("utilization", "fraction", "0 to 1", "higher") in rows
    assert ("queue_delay_s_p99", "s", "from 0", "lower") in rows


def test_numbers_of_sentences_have_no_exponents() -> None:
    text = without_exponents("4.999e+04 packets, 6.009e-05 round trips, 1e-3 and se-1")
    assert text == "49,990 packets, 0.00006009 round trips, 0.001 and se-1"
