"""The atlas: the rule of its cells, the search of a cell, its data."""

from dataclasses import replace
from math import log
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tailroom as tr
from tailroom import _engine, models
from tailroom.buffer_atlas import data, lookup
from tailroom.buffer_atlas.data import MOST_LOSS
from tailroom.buffer_atlas.kinds import KINDS, Site
from tailroom.buffer_atlas.terms import CONTROLS, PACKET_BYTES
from tailroom.scenario.scenario import Scenario
from tailroom_atlas import page
from tailroom_atlas.cells import Cell, chosen_cells
from tailroom_atlas.cost import planned_cell
from tailroom_atlas.plan import BUDGET_CORE_S, PLANNED_FRACTION, named_cells, plan
from tailroom_atlas.rows import answer_rows, check_scaling, scaled_rows
from tailroom_atlas.scaling import is_believed, is_checked, power_law, rungs
from tailroom_atlas.scenarios import LINK, scenario, sought
from tailroom_atlas.study import AtlasProgress, AtlasRuns, compute_atlas
from tests.atlas.tiny import TINY, rung_row

# The rule


def test_names_of_cells_are_unique() -> None:
    names = [entry.cell.name for entry in plan()]
    assert len(set(names)) == len(names) > 200


def test_the_plan_fits_the_budget() -> None:
    assert sum(entry.core_s for entry in plan()) <= PLANNED_FRACTION * BUDGET_CORE_S


def test_the_cells_span_what_the_atlas_promises() -> None:
    sites = [cell.site for cell in chosen_cells()]
    assert {10**7, 10**8, 10**9, 10**10, 10**11, 4 * 10**11} <= {site.rate_bps for site in sites}
    assert min(site.flows for site in sites) == 1
    assert max(site.flows for site in sites) == 10_000
    assert min(site.shortest_rtt_ms for site in sites) <= 1
    assert max(site.longest_rtt_ms for site in sites) >= 200
    cells = chosen_cells()
    assert {cell.queue for cell in cells} == {"drop_tail", "fq_codel", "pie", "dual_pi2"}
    assert {cell.control for cell in cells} == set(CONTROLS)
    assert {cell.kind for cell in cells} == {kind.name for kind in KINDS}


def test_every_cell_is_a_valid_scenario_over_the_whole_range_of_its_search() -> None:
    for entry in plan():
        if entry.how == "scaled":
            continue
        asked = sought(entry.cell)
        source = Scenario.of(scenario(entry.cell, entry.warm_up_s, entry.measured_s), {})
        assert asked.smallest <= asked.first[0] < asked.first[1] <= asked.largest
        for value in (asked.smallest, asked.largest):
            source.replacing({asked.key: asked.value(value)}).to_toml()


def test_a_cell_has_the_link_that_its_site_says() -> None:
    for entry in plan()[::20]:
        site = entry.cell.site
        written = scenario(entry.cell, 1.0, 2.0)
        link = models.read_bottleneck(Scenario.of(written, {}), LINK)
        assert link.rate_bps == site.rate_bps
        assert link.flow_count == site.flows
        assert link.packet_bytes == PACKET_BYTES
        spread = (site.longest_rtt_ms - site.shortest_rtt_ms) / site.longest_rtt_ms
        assert link.mean_rtt_s == pytest.approx(site.mean_rtt_s, rel=0.01 + spread)
        assert link.dynamic_load == pytest.approx(
            0.3 if entry.cell.traffic == "long_and_short" else 0.0, abs=1e-6
        )


def test_scaled_cells_have_rungs_of_the_same_share_per_flow_in_the_plan() -> None:
    planned = plan()
    computed = {entry.cell for entry in planned if entry.how != "scaled"}
    scaled = [entry.cell for entry in planned if entry.how == "scaled"]
    assert scaled
    for cell in scaled:
        found = rungs(cell)
        assert len(found) >= 2
        for rung in found:
            assert rung in computed
            assert rung.fair_share_bps == pytest.approx(cell.fair_share_bps)
            assert rung.site.mean_rtt_s == cell.site.mean_rtt_s
            is_faster = cell.interface_bps > cell.site.rate_bps
            assert (rung.interface_bps > rung.site.rate_bps) == is_faster


def test_no_interface_is_as_fast_as_the_link() -> None:
    """One host would keep the queue full forever, in step with the departures."""
    assert all(entry.cell.interface_bps != entry.cell.site.rate_bps for entry in plan())
    assert all(entry.cell.interface_bps >= 2 * entry.cell.fair_share_bps for entry in plan())


def test_a_cell_without_rungs_is_refused_with_its_name() -> None:
    dear = Cell("backbone", Site(4 * 10**11, 100, 200, 7), "long", "cubic", "drop_tail")
    assert planned_cell(dear).how == "scaled"
    with pytest.raises(ValueError, match=r"^backbone-400Gbit.*another number of flows"):
        rungs(dear)


def test_longer_runs_and_more_flows_cost_more() -> None:
    costs = {
        flows: planned_cell(
            Cell("peering", Site(10**9, 10, 100, flows), "long", "cubic", "drop_tail")
        ).run_core_s
        for flows in (40, 4)  # a flow at a larger share takes longer to repeat itself
    }
    assert costs[4] > costs[40]


def test_patterns_name_cells_and_the_rungs_that_they_need() -> None:
    scaled = next(entry.cell for entry in plan() if entry.how == "scaled")
    assert {entry.cell for entry in named_cells([scaled.name])} == {scaled, *rungs(scaled)}
    assert len(named_cells(["dsl-*"])) > 10
    with pytest.raises(ValueError, match="nosuch"):
        named_cells(["nosuch"])


# The search of a cell


def test_the_answers_meet_their_targets_and_grow_with_them(
    tiny_atlas: tuple[AtlasRuns, Path],
) -> None:
    rows = tiny_atlas[0].answers
    assert [row["target_utilization"] for row in rows] == list(data.UTILIZATIONS)
    for row in rows:
        assert row["status"] == "found"
        assert row["utilization"] - row["utilization_half_width"] >= row["target_utilization"]
        assert row["too_small"] < row["value"]
        assert row["half_utilization"] < row["target_utilization"]
        assert row["twice_utilization"] >= row["target_utilization"]
        assert row["half_queue_delay_s_mean"] < row["queue_delay_s_mean"]
        assert row["buffer_s"] == pytest.approx(row["value"] * 12_000 / 5e6)
        assert row["buffer_bdp"] == pytest.approx(row["value"] / row["bdp_packets"])
    assert [row["value"] for row in rows] == sorted(row["value"] for row in rows)


def test_the_cell_agrees_with_size(tiny_atlas: tuple[AtlasRuns, Path]) -> None:
    """The same scenario and the usual search: within both tolerances, or a packet.

    At 95 %: above, the utilization of one flow whose packets leave in pairs is not monotone (98.5 %
    at a limit of 5 packets, 96.1 % at 6), so that two searches may find different answers.
    """
    written = scenario(TINY.cell, TINY.warm_up_s, TINY.measured_s)
    sized = tr.size(written, ["utilization >= 0.95"], atlas=False, most_loss=None)
    row = tiny_atlas[0].answers[0]
    assert sized.limit_packets == pytest.approx(row["value"], rel=0.1, abs=1.5)


def test_a_cell_has_a_second_answer_that_loses_little(
    tiny_atlas: tuple[AtlasRuns, Path],
) -> None:
    for row in tiny_atlas[0].answers:
        assert row["low_loss_status"] == "found"
        assert row["low_loss_value"] >= row["value"]
        assert row["low_loss_loss_fraction"] <= MOST_LOSS
        # A row that loses little anyway has its own value.
        assert (row["low_loss_value"] == row["value"]) == (row["loss_fraction"] <= MOST_LOSS)


def test_curves_hold_every_simulated_value(tiny_atlas: tuple[AtlasRuns, Path]) -> None:
    curves = tiny_atlas[0].curves
    values = [row["value"] for row in curves]
    assert values == sorted(set(values))
    assert {row["value"] for row in tiny_atlas[0].answers} <= set(values)
    assert all(row["runs"] >= 4 for row in curves)


class Stop:
    """Presses Ctrl-C when the study reports its tenth new run."""

    def __init__(self) -> None:
        self.most = 0

    def __call__(self, state: AtlasProgress) -> None:
        self.most = state.new_runs
        if state.new_runs >= 10:
            raise KeyboardInterrupt


def test_an_interrupted_study_continues_with_the_missing_runs(
    tiny_atlas: tuple[AtlasRuns, Path], tmp_path: Path
) -> None:
    with pytest.raises(tr.Interrupted) as ended:
        compute_atlas([TINY], tmp_path / "store", progress=Stop())
    known = ended.value.known
    assert isinstance(known, AtlasRuns)
    assert known.searched == ()
    kept = len(tr.Store(tmp_path / "store").columns().keys)
    assert kept >= 10
    states: list[AtlasProgress] = []
    again = compute_atlas([TINY], tmp_path / "store", progress=states.append)
    assert again.answers == tiny_atlas[0].answers
    assert again.curves == tiny_atlas[0].curves
    all_runs = len(tr.Store(tiny_atlas[1]).columns().keys)
    assert states[-1].new_runs == all_runs - kept
    assert (states[-1].cells, states[-1].core_s) == (1, states[-1].all_core_s)


def test_a_finished_study_repeats_no_run(tiny_atlas: tuple[AtlasRuns, Path]) -> None:
    states: list[AtlasProgress] = []
    again = compute_atlas([TINY], tiny_atlas[1], progress=states.append)
    assert states[-1].new_runs == 0
    assert again.answers == tiny_atlas[0].answers


@pytest.mark.parametrize("queue", ["fq_codel", "dual_pi2"])
def test_managed_queues_are_searched_by_their_target(queue: Any, tmp_path: Path) -> None:
    control = "prague" if queue == "dual_pi2" else "cubic"
    cell = replace(TINY.cell, control=control, queue=queue, site=replace(TINY.cell.site, flows=2))
    runs = compute_atlas([replace(TINY, cell=cell, how="short")], tmp_path / "store")
    row = runs.answers[0]
    assert row["unit"] == "us"
    assert row["buffer_s"] == pytest.approx(1e-6 * row["value"])
    assert row["utilization"] >= 0.95


def test_rungs_give_the_value_of_a_scaled_cell() -> None:
    """By hand: 10, 20 and 40 packets at 10, 100 and 1000 flows double per decade."""
    cell = Cell("backbone", Site(10**11, 10, 100, 10_000), "long", "cubic", "drop_tail")
    rows = [
        [rung_row(cell, flows, packets)] * 3 for flows, packets in ((1000, 40), (100, 20), (10, 10))
    ]
    scaled = scaled_rows(cell, rows)[1]
    assert scaled["value"] == pytest.approx(80)
    assert scaled["scaling_exponent"] == pytest.approx(log(2) / log(10))
    assert scaled["scaling_check"] == pytest.approx(1.0)
    assert scaled["buffer_s"] == pytest.approx(80 * 12_000 / 1e11)
    # The upper rung's 40 packets are 48 us at 10 Gbit/s, of which the queue waits 24 us.
    assert scaled["queue_delay_s_mean"] == pytest.approx(24e-6 * 80 / 40 / 10)
    assert scaled["how"] == "scaled"
    rows[2] = [rung_row(cell, 10, 5)] * 3
    unlike = scaled_rows(cell, rows)[1]
    assert unlike["scaling_check"] == pytest.approx(2.0)
    assert (unlike["status"], unlike["value"]) == ("open", None)
    rows[2], rows[1] = [rung_row(cell, 10, 60)] * 3, [rung_row(cell, 100, 50)] * 3
    falls = scaled_rows(cell, rows)[1]
    assert falls["scaling_check"] == pytest.approx(50 * 50 / 60 / 40)
    assert (falls["scaling_exponent"] < 0, falls["status"]) == (True, "open")


def test_the_certainty_of_a_rung_does_not_change_the_power() -> None:
    """A rung with fewer seeds has an answer that is further above its crossing."""
    cell = Cell("backbone", Site(10**11, 10, 100, 10_000), "long", "cubic", "drop_tail")
    rungs_of = [[rung_row(cell, 1000, 40)] * 3, [rung_row(cell, 100, 20)] * 3]
    rungs_of[0] = [{**row, "value": 60} for row in rungs_of[0]]
    scaled = scaled_rows(cell, rungs_of)[1]
    assert scaled["scaling_exponent"] == pytest.approx(log(2) / log(10))
    assert (scaled["value"], scaled["crossing"]) == pytest.approx((120, 64))
    rungs_of[1] = [{**row, "crossing": None, "status": "smallest"} for row in rungs_of[1]]
    assert scaled_rows(cell, rungs_of)[1]["status"] == "open"
    assert scaled_rows(cell, rungs_of)[1]["value"] is None


def test_a_value_that_gives_more_utilization_is_enough_for_less(
    tiny_atlas: tuple[AtlasRuns, Path],
) -> None:
    (searched,) = tiny_atlas[0].searched
    least = searched.found[2]
    swapped = tuple(
        replace(one, value=value)
        for one, value in zip(searched.found, (None, 99, least.value), strict=True)
    )
    rows = answer_rows(replace(searched, found=swapped))
    assert [row["value"] for row in rows] == [least.value] * 3
    assert all(row["status"] == "found" for row in rows)
    assert rows[0]["utilization"] == rows[2]["utilization"]


def test_more_utilization_does_not_need_a_smaller_buffer_by_scaling() -> None:
    cell = next(entry.cell for entry in plan() if entry.how == "scaled")
    flows = [rung.site.flows for rung in rungs(cell)][:2]
    steep = [rung_row(cell, flows[0], 120), rung_row(cell, flows[1], 60)]
    flat = [rung_row(cell, flows[0], 121), rung_row(cell, flows[1], 120)]
    rows = [[first, second, second] for first, second in zip(steep, flat, strict=True)]
    small, middle, large = (row["value"] for row in scaled_rows(cell, rows))
    alone = scaled_rows(cell, [[one] * 3 for one in flat])[0]["value"]
    assert alone < small == middle == large


def test_far_scaling_needs_a_check() -> None:
    assert is_believed(0.5, 10, None)
    assert not is_believed(0.5, 25, None)
    assert is_believed(0.5, 25, 0.8)
    assert not is_believed(0.5, 5, 0.6)
    assert not is_believed(1.2, 5, None)


def test_a_computed_cell_says_what_scaling_would_have_said() -> None:
    """By hand: 10 and 20 packets at 10 and 100 flows give 40 at 1000, where 50 were computed."""
    cell = Cell("metro", Site(10**10, 1, 5, 1000), "long", "cubic", "drop_tail")
    assert is_checked(cell)
    assert not is_checked(replace(cell, queue="pie"))
    assert not is_checked(cell.smaller(5))
    rows = [{**rung_row(cell, 1000, 50), "how": "full"} for _ in data.UTILIZATIONS]
    rows[2]["crossing"] = None
    check_scaling(rows, [[rung_row(cell, 100, 20)] * 3, [rung_row(cell, 10, 10)] * 3])
    assert rows[0]["scaling_check"] == pytest.approx(0.8)
    assert rows[0]["scaled_from"] == f"{cell.smaller(10).name}, {cell.smaller(100).name}"
    assert rows[2]["scaling_check"] == 0.5  # untouched


def test_the_plan_checks_the_scaling_at_1_and_10_gbit_per_s() -> None:
    planned = plan()
    computed = {entry.cell for entry in planned if entry.how != "scaled"}
    checked = [cell for cell in computed if is_checked(cell)]
    assert {cell.site.rate_bps for cell in checked} == {10**9, 10**10}
    assert all(set(rungs(cell)) <= computed for cell in checked)


def test_a_power_law_goes_through_its_rungs() -> None:
    law = power_law((100, 30.0), (1000, 300.0))
    assert (law.at(100), law.at(1000), law.at(10_000)) == pytest.approx((30, 300, 3000))


# The data


def test_written_data_are_read_again(tiny_atlas: tuple[AtlasRuns, Path], tmp_path: Path) -> None:
    tiny_atlas[0].write(tmp_path)
    read = data.read(tmp_path)
    assert read.answers.to_pylist() == tiny_atlas[0].answers
    assert read.curves.num_rows == len(tiny_atlas[0].curves)
    assert set(read.answers["engine"].to_pylist()) == {_engine.build()}
    for name in read.answers.column_names:
        assert read.answers.schema.field(name).metadata[b"meaning"].decode() == data.COLUMNS[name]


def test_an_atlas_keeps_the_cells_that_are_not_computed_anew(
    tiny_atlas: tuple[AtlasRuns, Path], tmp_path: Path
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.mkdir()
    new.mkdir()
    answers, curves = tiny_atlas[0].answers, tiny_atlas[0].curves
    cells = (answers[0]["cell"], "another")
    of_old_engine = {"engine": next(iter(data.AGES[0].engines))}
    data.write(
        old,
        [{**row, **of_old_engine, "cell": cell} for cell in cells for row in answers],
        [{**row, "cell": cell} for cell in cells for row in curves],
    )
    tiny_atlas[0].write(new, data.read(old))
    written = data.read(new)
    rows = written.answers.to_pylist()
    assert [row["cell"] for row in rows] == [cells[0]] * 3 + [cells[1]] * 3
    assert set(written.curves["cell"].to_pylist()) == set(cells)
    assert not data.ages(rows[:3])
    (age,) = data.ages(rows[3:])
    text = page.pages(written, [])[rows[0]["kind"]]
    assert f"{age} Such rows have {page.OLD} in the last column." in text
    assert text.count(f"{rows[3]['how']} {page.OLD} |") == 1
    assert text.count(f"{rows[0]['how']} |") == 1


def test_a_missing_or_foreign_atlas_is_named(tmp_path: Path) -> None:
    with pytest.raises(tr.StoreError, match=r"answers.parquet: the atlas is missing"):
        data.read(tmp_path)
    (tmp_path / data.ANSWERS).write_bytes(b"PAR1 is not enough")
    with pytest.raises(tr.StoreError, match=r"answers.parquet: the atlas is damaged"):
        data.read(tmp_path)


@pytest.mark.parametrize(
    ("column", "value", "problem"),
    [
        ("rate_bps", 0.0, "rate_bps is 0.0"),
        ("shortest_rtt_s", -0.01, "shortest_rtt_s is -0.01"),
        ("value", float("nan"), "value is nan"),
        ("target_utilization", 0.5, "has no row for each target"),
        ("flows", "many", "its column flows has another type"),
    ],
)
def test_a_damaged_atlas_is_refused(
    shipped_atlas: Path, column: str, value: object, problem: str
) -> None:
    path = shipped_atlas / data.ANSWERS
    table = pq.read_table(path)
    at = table.schema.get_field_index(column)
    wrong = pa.array([value, *table[column].to_pylist()[1:]] if column != "flows" else ["many"] * 3)
    pq.write_table(table.set_column(at, column, wrong), path)
    with pytest.raises(tr.StoreError, match=problem):
        data.read(shipped_atlas)


def test_size_goes_on_without_a_damaged_atlas(shipped_atlas: Path) -> None:
    assert len(lookup.shipped_rows()) == len(data.UTILIZATIONS)
    lines = (shipped_atlas / data.LOOKUP).read_text(encoding="utf-8").splitlines()
    for damaged in ("", "\n".join(lines[:2]), lines[0].replace("flows", "flow") + "\n"):
        (shipped_atlas / data.LOOKUP).write_text(damaged, encoding="utf-8")
        lookup.shipped_rows.cache_clear()
        assert lookup.shipped_rows() == ()


def test_what_ships_is_the_plan_and_is_small() -> None:
    rows = tr.atlas().answers.to_pylist()
    before_rack = data.AGES[0].engines
    new = {row["cell"]: row["how"] for row in rows if row["engine"] not in before_rack}
    old = {row["cell"] for row in rows if row["engine"] in before_rack}
    assert new == {entry.cell.name: entry.how for entry in plan() if entry.cell.name not in old}
    for row, looked_up in zip(rows, lookup.shipped_rows(), strict=True):
        assert looked_up == {name: row[name] for name in looked_up}
    assert sum(path.stat().st_size for path in data.SHIPPED.glob("*.parquet")) <= 5e6
