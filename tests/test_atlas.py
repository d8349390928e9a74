"""The atlas: the rule of its cells, the search of a cell, its data, and what looks them up."""

import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import inf, log
from pathlib import Path
from typing import Any

import pytest

import atlas_checks
import atlas_page
import tailroom as tr
from tailroom import _engine, models
from tailroom.buffer_atlas import data, lookup
from tailroom.buffer_atlas.cells import CONTROLS, PACKET_BYTES, Cell, chosen_cells
from tailroom.buffer_atlas.cost import PlannedCell, planned_cell
from tailroom.buffer_atlas.fitted_rule import fitted_rule
from tailroom.buffer_atlas.kinds import KINDS, MEGABIT, Site
from tailroom.buffer_atlas.plan import BUDGET_CORE_S, PLANNED_FRACTION, named_cells, plan
from tailroom.buffer_atlas.scaling import is_checked, power_law, rungs
from tailroom.buffer_atlas.scenarios import LINK, scenario, sought
from tailroom.scenario.dumbbell import dumbbell
from tailroom.scenario.source import ScenarioSource
from tailroom.studies.atlas_study import study
from tailroom.studies.atlas_study.rows import cell_columns, check_scaling, scaled_rows
from tailroom.studies.atlas_study.study import AtlasProgress, AtlasRuns, compute_atlas
from tailroom.studies.size_study.question import read_question
from tailroom.studies.size_study.study import atlas_bracket
from tests.conftest import Tailroom
from tests.ctrl_c import interrupt, wait_until

TINY = PlannedCell(
    Cell("home", Site(5 * MEGABIT, 20, 20, 1), "long", "cubic", "drop_tail"),
    "full",
    warm_up_s=1.0,
    measured_s=4.0,
    core_s=1.0,
)
"""A cell of a fraction of a second."""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[AtlasRuns, Path]:
    """The tiny cell, computed, and its store."""
    store = tmp_path_factory.mktemp("atlas") / "store"
    return compute_atlas([TINY], store), store


@pytest.fixture
def shipped(
    tiny: tuple[AtlasRuns, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """A package whose atlas has the tiny cell."""
    tiny[0].write(tmp_path)
    monkeypatch.setattr(data, "SHIPPED", tmp_path)
    monkeypatch.setattr(lookup, "SHIPPED", tmp_path)
    lookup.shipped_rows.cache_clear()
    yield tmp_path
    lookup.shipped_rows.cache_clear()


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
        source = ScenarioSource.of(scenario(entry.cell, entry.warm_up_s, entry.measured_s), {})
        assert asked.smallest <= asked.first[0] < asked.first[1] <= asked.largest
        for value in (asked.smallest, asked.largest):
            source.replacing({asked.key: asked.value(value)}).resolve(seed=None)


def test_a_cell_has_the_link_that_its_site_says() -> None:
    for entry in plan()[::20]:
        site = entry.cell.site
        written = scenario(entry.cell, 1.0, 2.0)
        link = models.read_bottleneck(ScenarioSource.of(written, {}), LINK)
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


def test_the_answers_meet_their_targets_and_grow_with_them(tiny: tuple[AtlasRuns, Path]) -> None:
    rows = tiny[0].answers
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


def test_the_cell_agrees_with_size(tiny: tuple[AtlasRuns, Path]) -> None:
    """The same scenario and the usual search: within both tolerances, or a packet."""
    written = scenario(TINY.cell, TINY.warm_up_s, TINY.measured_s)
    sized = tr.size(written, ["utilization >= 0.98"], atlas=False)
    row = tiny[0].answers[1]
    assert sized.limit_packets == pytest.approx(row["value"], rel=0.1, abs=1.5)


def test_curves_hold_every_simulated_value(tiny: tuple[AtlasRuns, Path]) -> None:
    curves = tiny[0].curves
    values = [row["value"] for row in curves]
    assert values == sorted(set(values))
    assert {row["value"] for row in tiny[0].answers} <= set(values)
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
    tiny: tuple[AtlasRuns, Path], tmp_path: Path
) -> None:
    with pytest.raises(tr.Interrupted) as ended:
        compute_atlas([TINY], tmp_path / "store", progress=Stop())
    known = ended.value.known
    assert isinstance(known, AtlasRuns)
    assert known.searched == ()
    kept = len(list((tmp_path / "store" / "runs").glob("*.parquet")))
    assert kept >= 10
    states: list[AtlasProgress] = []
    again = compute_atlas([TINY], tmp_path / "store", progress=states.append)
    assert again.answers == tiny[0].answers
    assert again.curves == tiny[0].curves
    all_runs = len(list((tiny[1] / "runs").glob("*.parquet")))
    assert states[-1].new_runs == all_runs - kept
    assert (states[-1].cells, states[-1].core_s) == (1, states[-1].all_core_s)


def test_a_finished_study_repeats_no_run(tiny: tuple[AtlasRuns, Path]) -> None:
    states: list[AtlasProgress] = []
    again = compute_atlas([TINY], tiny[1], progress=states.append)
    assert states[-1].new_runs == 0
    assert again.answers == tiny[0].answers


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
        [_rung(cell, flows, packets)] * 3 for flows, packets in ((1000, 40), (100, 20), (10, 10))
    ]
    scaled = scaled_rows(cell, rows)[1]
    assert scaled["value"] == pytest.approx(80)
    assert scaled["scaling_exponent"] == pytest.approx(log(2) / log(10))
    assert scaled["scaling_check"] == pytest.approx(1.0)
    assert scaled["buffer_s"] == pytest.approx(80 * 12_000 / 1e11)
    # The upper rung's 40 packets are 48 us at 10 Gbit/s, of which the queue waits 24 us.
    assert scaled["queue_delay_s_mean"] == pytest.approx(24e-6 * 80 / 40 / 10)
    assert scaled["how"] == "scaled"
    rows[2] = [_rung(cell, 10, 5)] * 3
    assert scaled_rows(cell, rows)[1]["scaling_check"] == pytest.approx(2.0)


def _rung(cell: Cell, flows: int, packets: float) -> dict[str, Any]:
    smaller = cell.smaller(cell.site.flows // flows)
    buffer_s = packets * 12_000 / smaller.site.rate_bps
    return {
        **dict.fromkeys(data.COLUMNS, 0.5),
        "cell": smaller.name,
        "flows": flows,
        "value": packets,
        "status": "found",
        "buffer_s": buffer_s,
        "queue_delay_s_mean": buffer_s / 2,
    }


def test_a_computed_cell_says_what_scaling_would_have_said() -> None:
    """By hand: 10 and 20 packets at 10 and 100 flows give 40 at 1000, where 50 were computed."""
    cell = Cell("metro", Site(10**10, 1, 5, 1000), "long", "cubic", "drop_tail")
    assert is_checked(cell)
    assert not is_checked(replace(cell, queue="pie"))
    assert not is_checked(cell.smaller(5))
    rows = [{**_rung(cell, 1000, 50), "how": "full"} for _ in data.UTILIZATIONS]
    rows[2]["status"] = "none"
    check_scaling(rows, [[_rung(cell, 100, 20)] * 3, [_rung(cell, 10, 10)] * 3])
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


def test_written_data_are_read_again(tiny: tuple[AtlasRuns, Path], tmp_path: Path) -> None:
    tiny[0].write(tmp_path)
    read = data.read(tmp_path)
    assert read.answers.to_pylist() == tiny[0].answers
    assert read.curves.num_rows == len(tiny[0].curves)
    assert read.engine == _engine.build()
    for name in read.answers.column_names:
        assert read.answers.schema.field(name).metadata[b"meaning"].decode() == data.COLUMNS[name]


def test_a_missing_or_foreign_atlas_is_named(tmp_path: Path) -> None:
    with pytest.raises(tr.StoreError, match=r"answers.parquet: there is no atlas"):
        data.read(tmp_path)
    (tmp_path / data.ANSWERS).write_bytes(b"PAR1 is not enough")
    with pytest.raises(tr.StoreError, match=r"answers.parquet: cannot read the atlas"):
        data.read(tmp_path)


def test_what_ships_belongs_to_the_plan_and_is_small() -> None:
    if not (data.SHIPPED / data.ANSWERS).exists():
        assert lookup.shipped_rows() == ()
        return
    cells = {entry.cell.name for entry in plan()}
    assert set(tr.atlas().answers["cell"].to_pylist()) <= cells
    assert sum(path.stat().st_size for path in data.SHIPPED.glob("*.parquet")) <= 5e6


# The lookup


def made_up(rates: Sequence[float], law: Callable[[float], float]) -> list[dict[str, Any]]:
    """Rows of cells of 40 ms and 100 flows that differ in their rate."""
    return [
        {
            **dict.fromkeys(data.COLUMNS),
            "cell": f"{rate:g}",
            "rate_bps": rate,
            "shortest_rtt_s": 0.04,
            "longest_rtt_s": 0.04,
            "flows": 100,
            "traffic": "long",
            "control": "cubic",
            "queue": "drop_tail",
            "unit": "packets",
            "status": "found",
            "target_utilization": target,
            "value": law(rate),
        }
        for rate in rates
        for target in data.UTILIZATIONS
    ]


def test_a_cell_that_is_the_link_gives_its_own_value() -> None:
    rows = made_up([1e8, 2e8, 1e9], lambda rate: rate / 1e6)
    found = lookup.estimate(rows, lookup.Link(2e8, 0.04, 100), 0.98)
    assert found
    assert found.value == pytest.approx(200)
    assert [one.cell for one in found.used] == ["2e+08"]


def test_a_value_between_cells_follows_bdp_over_the_root_of_the_flows() -> None:
    """Buffers that are half of C T / sqrt(n) everywhere are so between the cells too."""

    def half(rate: float) -> float:
        return 0.5 * rate * 0.04 / 12_000 / 10

    rows = made_up([1e8, 1e9], half)
    found = lookup.estimate(rows, lookup.Link(3e8, 0.04, 100), 0.98)
    assert found
    assert found.value == pytest.approx(half(3e8))
    assert [one.cell for one in found.used] == ["1e+08", "1e+09"]
    assert found.used[0].factor == pytest.approx(3)
    other = lookup.estimate(rows, lookup.Link(3e8, 0.04, 200), 0.98)
    assert other
    assert other.value == pytest.approx(half(3e8) / 2**0.5)


def test_nothing_is_said_far_from_every_cell() -> None:
    rows = made_up([1e8], lambda rate: rate / 1e6)
    assert lookup.estimate(rows, lookup.Link(5e8, 0.04, 100), 0.98) is None
    assert lookup.estimate(rows, lookup.Link(1e8, 0.04, 100, control="bbr3"), 0.98) is None
    assert len(lookup.nearest(rows, lookup.Link(5e8, 0.04, 100))) == 1


def test_links_unlike_any_cell_have_no_bracket(shipped: Path) -> None:
    alike = scenario(TINY.cell, 1.0, 4.0)
    link = models.read_bottleneck(ScenarioSource.of(alike, {}), LINK)
    known = lookup.bracket(link, 0.98)
    assert known
    assert known[0] < known[1]
    assert lookup.bracket(link, 0.9) is None  # below all targets of the atlas
    assert lookup.bracket(link, 0.999) is None
    assert lookup.bracket(replace(link, discipline="red"), 0.98) is None
    assert lookup.bracket(replace(link, changes=True), 0.98) is None
    assert lookup.bracket(replace(link, rate_bps=1e9), 0.98) is None
    reno = replace(link.classes[0], congestion="reno")
    assert lookup.bracket(replace(link, classes=(reno,)), 0.98) is None


def test_the_bracket_holds_the_cells_own_answer(
    shipped: Path, tiny: tuple[AtlasRuns, Path]
) -> None:
    link = models.read_bottleneck(ScenarioSource.of(scenario(TINY.cell, 1.0, 4.0), {}), LINK)
    for row in tiny[0].answers:
        bracket = lookup.bracket(link, row["target_utilization"])
        assert bracket
        assert bracket[0] < row["value"] < bracket[1]


# The fitted rule


def by_law(exponent: float, *, noise: bool = False) -> list[dict[str, Any]]:
    """Cells of four kinds whose buffers are 2 n^exponent W^0.25 bdp, every other one twice that."""
    rows = []
    for at, (kind, flows, window) in enumerate(
        (kind, flows, window)
        for kind in "abcd"
        for flows in (1, 10, 100)
        for window in (10.0, 100.0)
    ):
        buffer_bdp = 2 * flows**exponent * window**0.25 * (2 if noise and at % 2 else 1)
        rows.append(
            {
                **made_up([1e8], lambda _: 1.0)[1],
                "kind": kind,
                "how": "full",
                "flows": flows,
                "bdp_packets": flows * window,
                "buffer_bdp": buffer_bdp,
            }
        )
    return rows


def test_a_power_law_is_recovered_from_cells_that_follow_it() -> None:
    rule = fitted_rule(by_law(-0.5), 0.98, "cubic")
    assert rule
    assert rule.factor == pytest.approx(2)
    assert rule.flows_exponent == pytest.approx(-0.5)
    assert rule.window_exponent == pytest.approx(0.25)
    assert rule.error_90 == pytest.approx(1)
    assert rule.buffer_bdp(400, 4) == pytest.approx(2 * 0.5 * 100**0.25)


def test_the_error_of_the_rule_is_that_of_kinds_left_out() -> None:
    """Cells with large windows have twice the buffer, which the power of the window takes up."""
    assert fitted_rule(by_law(-0.5, noise=True), 0.98, "cubic").error_90 == pytest.approx(1)  # type: ignore[union-attr]
    rows = by_law(-0.5)
    for row in rows:
        row["buffer_bdp"] *= 3 if row["kind"] == "d" else 1
    rule = fitted_rule(rows, 0.98, "cubic")
    assert rule
    assert rule.error_90 == pytest.approx(3)
    assert fitted_rule(rows[:6], 0.98, "cubic") is None
    assert fitted_rule(rows, 0.95, "cubic") is None


# The page


def test_the_page_has_every_kind_with_data_and_its_picture(
    shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docs = tmp_path / "docs"
    monkeypatch.setattr("sys.argv", ["atlas_page.py", "--data", str(shipped), "--docs", str(docs)])
    atlas_page.main()
    text = (docs / "atlas" / "index.md").read_text(encoding="utf-8")
    assert "## Home access over fibre or cable" in text
    assert "## Backbone link" not in text
    assert "(../images/atlas_home.png)" in text
    assert (docs / "images" / "atlas_home.png").stat().st_size > 10_000
    middle = data.read(shipped).answers.to_pylist()[1]
    assert f"| {middle['value']:,.0f} ({middle['buffer_bdp']:.2g} bdp) |" in text


def test_the_page_shows_what_scaled_cells_follow_from(
    tiny: tuple[AtlasRuns, Path], tmp_path: Path
) -> None:
    cell = Cell("backbone", Site(10**11, 10, 100, 10_000), "long", "cubic", "drop_tail")
    ladder = ((1000, 40), (100, 20), (10, 5))
    rows = scaled_rows(cell, [[_rung(cell, flows, packets)] * 3 for flows, packets in ladder])
    data.write(tmp_path, [*tiny[0].answers, *rows], tiny[0].curves, "an engine")
    text = atlas_page.page(data.read(tmp_path), [])
    assert f"| `{cell.name}` | scaled | `{cell.smaller(10).name}`, " in text
    assert "| 0.30 | x 2.00 |" in text  # 20 / 5 per decade would give 80, not 40
    assert "1 are scaled from smaller links" in text


def test_the_lookup_is_tried_on_cells_that_are_left_out() -> None:
    half = made_up([1e8, 2e8, 4e8], lambda rate: rate / 1e6)
    assert atlas_checks.lookup_errors(half, 0.98) == pytest.approx([1, 1, 1])
    half[4]["value"] *= 4  # of the middle cell, at 98 %
    errors = atlas_checks.lookup_errors(half, 0.98)
    assert max(errors) == errors[1] == pytest.approx(4)


def test_rules_are_compared_with_the_cells_of_the_plan() -> None:
    """The rule of thumb asks for one bdp: twice the half bdp of a made-up answer."""
    entry = next(
        entry for entry in plan() if entry.cell.queue == "drop_tail" and entry.how == "full"
    )
    row = {
        **dict.fromkeys(data.COLUMNS),
        **cell_columns(entry.cell, "full"),
        "target_utilization": 0.98,
        "status": "found",
        "value": entry.cell.bdp_packets / 2,
    }
    found = {one.model: one for one in atlas_checks.rule_agreements([row], plan(), 0.98)}
    assert found["rule_of_thumb"].ratios == pytest.approx((2.0,), rel=0.01)
    assert found["rule_of_thumb"].near == 0
    assert found["rule_of_thumb"].worst[0] == entry.cell.name


# The first bracket of size


QUESTION = dumbbell("5 Mbit/s", "20 ms", 1, duration="6 s")
"""The tiny link as a question in numbers."""


def sized(*, atlas: bool) -> tr.Size:
    return tr.size(QUESTION, ["utilization >= 0.98"], max_seeds=8, atlas=atlas)


@pytest.fixture(scope="module")
def without_atlas() -> tr.Size:
    return sized(atlas=False)


def runs_of(answer: tr.Size) -> int:
    return sum(len(tried.point.rows) for tried in answer.tried)


def test_size_gives_the_same_answer_with_fewer_runs(shipped: Path, without_atlas: tr.Size) -> None:
    with_atlas = sized(atlas=True)
    assert with_atlas.limit_packets
    assert without_atlas.limit_packets == pytest.approx(with_atlas.limit_packets, rel=0.02, abs=1)
    assert runs_of(with_atlas) < runs_of(without_atlas)


def test_size_without_an_atlas_is_as_before(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, without_atlas: tr.Size
) -> None:
    monkeypatch.setattr(lookup, "SHIPPED", tmp_path)
    lookup.shipped_rows.cache_clear()
    try:
        with_none = sized(atlas=True)
    finally:
        lookup.shipped_rows.cache_clear()
    limits = [tried.limit for tried in without_atlas.tried]
    assert [tried.limit for tried in with_none.tried] == limits
    assert runs_of(with_none) == runs_of(without_atlas)


@pytest.mark.parametrize(
    ("targets", "has_bracket"),
    [
        (["utilization >= 0.98"], True),
        (["link.utilization >= 0.98"], True),
        (["utilization >= 0.98", "queue_delay_s_p99 <= 1 s"], False),
        (["utilization <= 0.98"], False),
        (["queue_delay_s_p99 >= 1 ms"], False),
    ],
)
def test_only_a_single_target_on_utilization_uses_the_atlas(
    shipped: Path, targets: list[str], *, has_bracket: bool
) -> None:
    written = scenario(TINY.cell, 1.0, 4.0)
    question = read_question(written, targets, None, {}, None)
    assert (atlas_bracket(question) is not None) == has_bracket


# The command


def test_the_plan_is_printed_with_its_cost(tailroom: Tailroom) -> None:
    done = tailroom("atlas", "plan")
    assert done.status == 0
    assert f"{sum(entry.core_s for entry in plan()):,.0f} core-seconds" in done.output
    listed = tailroom("atlas", "plan", "--all")
    assert all(f"{entry.cell.name}  {entry.how}" in listed.output for entry in plan())


def test_the_scenario_of_a_cell_can_be_run(tailroom: Tailroom, tmp_path: Path) -> None:
    name = next(entry.cell.name for entry in plan() if entry.how == "full")
    done = tailroom("atlas", "scenario", name)
    assert done.status == 0
    assert tomllib.loads(done.output)["title"] == f"Atlas: {name}"
    file = tmp_path / "cell.toml"
    file.write_text(done.output, encoding="utf-8")
    short = ("--set", "duration=20 s", "--set", "measure_from=10 s")
    assert tailroom("run", file, "--json", *short).status == 0


def test_nearest_cells_are_shown_with_what_they_say(shipped: Path, tailroom: Tailroom) -> None:
    done = tailroom("atlas", "near", "--rate", "6Mbit/s", "--rtt", "20ms")
    assert done.status == 0
    assert "x 1.2" in done.output
    assert "98.0%: about" in done.output
    far = tailroom("atlas", "near", "--rate", "1Gbit/s", "--rtt", "20ms")
    assert "98.0%: no cell nearby has an answer" in far.output
    assert "tailroom size" in far.output
    wrong = tailroom("atlas", "near", "--rate", "6", "--rtt", "20ms")
    assert (wrong.status, "--rate" in wrong.errors) == (2, True)
    none = tailroom("atlas", "near", "--rate", "6Mbit/s", "--rtt", "20ms", "--congestion", "bbr3")
    assert (none.status, "--congestion bbr3" in none.errors) == (2, True)


def test_a_cell_is_shown_with_its_command(shipped: Path, tailroom: Tailroom) -> None:
    done = tailroom("atlas", "show", TINY.cell.name)
    assert done.status == 0
    assert f"tailroom atlas run {TINY.cell.name}" in done.output
    assert tailroom("atlas").status == 0
    wrong = tailroom("atlas", "show", "nosuch")
    assert (wrong.status, "tailroom atlas plan --all" in wrong.errors) == (2, True)


def test_run_writes_the_data_of_the_named_cells(
    tailroom: Tailroom, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tailroom.cli.atlas.named_cells", lambda _: [TINY])
    out, store = tmp_path / "out", tmp_path / "store"
    done = tailroom("atlas", "run", TINY.cell.name, "--out", out, "--store", store)
    assert done.status == 0, done.errors
    assert data.read(out).answers["cell"].to_pylist() == [TINY.cell.name] * 3
    again = tailroom("atlas", "run", TINY.cell.name, "--out", out, "--store", store)
    assert (again.status, str(out) in again.errors) == (2, True)


@pytest.mark.slow
def test_ctrl_c_keeps_the_runs_and_says_how_to_continue(tmp_path: Path) -> None:
    name = "dsl-10Mbit-20-60ms-4-cubic-drop_tail"
    store = tmp_path / "store"
    command = [sys.executable, "-m", "tailroom", "atlas", "run", name, "--store", str(store)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_until(lambda: len(list(store.glob("runs/*.parquet"))) > 10, process)
        output, errors = interrupt(process)
    assert (process.returncode, output) == (130, "")
    assert "\ninterrupted: 0 cells are finished, and every finished run is kept" in errors
    assert f"atlas run {name} --store {store}" in errors
    kept = {path: path.stat().st_mtime_ns for path in store.glob("runs/*.parquet")}
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"{name}, 99.5%" in " ".join(done.stdout.split())
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())


@pytest.mark.slow
def test_a_ladder_of_three_rungs_predicts_its_upper_one(tmp_path: Path) -> None:
    """The scaling holds where it can be computed: 4, 16 and 64 flows of 1 Mbit/s and 20 to 60 ms.

    CUBIC's windows differ in nothing but their number; the bound is a factor of 1.6.
    """
    cells = [
        Cell("campus", Site(flows * MEGABIT, 20, 60, flows), "long", "cubic", "drop_tail")
        for flows in (64, 16, 4)
    ]
    planned = [replace(planned_cell(cell), warm_up_s=5.0, measured_s=20.0) for cell in cells]
    runs = compute_atlas(planned, tmp_path / "store")
    values = [row["value"] for row in runs.answers if row["target_utilization"] == 0.98]
    predicted = power_law((4, values[2]), (16, values[1])).at(64)
    assert predicted / values[0] == pytest.approx(1, abs=0.6)
    assert inf > values[0] > values[1] > values[2]


def test_scaled_cells_without_finished_rungs_are_left_out(tiny: tuple[AtlasRuns, Path]) -> None:
    scaled = next(entry.cell for entry in plan() if entry.how == "scaled")
    runs = study.AtlasRuns(tiny[0].searched, (scaled,))
    assert {row["cell"] for row in runs.answers} == {TINY.cell.name}
