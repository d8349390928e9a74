"""Su et al. 2005: what the smoke form shows whatever the seeds, and the metrics by hand."""

import tomllib

import numpy as np
import pyarrow as pa
import pytest

from tailroom.scenario.shipped_scenarios import SCENARIOS
from tailroom.simulation.metrics import jain_index
from tailroom.statistics.intervals import Interval
from tailroom_papers import framework
from tailroom_papers.framework import (
    Form,
    Judgement,
    PartResults,
    PointResults,
    Reproduction,
    StoredRun,
    StudyResults,
)
from tailroom_papers.su_2005 import (
    PAPER,
    capacity,
    keeping_advantages,
    over_time,
    paper_table,
    table_1_claims,
)
from tailroom_papers.su_2005.other_values import UNSTATED
from tailroom_papers.su_2005.readings import EXCLUDED, PLAUSIBLE, READINGS
from tailroom_papers.su_2005.setting import CHOSEN, PACKET_BITS, SCENARIO, C, Path


@pytest.fixture(scope="module")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    directory = tmp_path_factory.mktemp("su") / "out"
    return framework.reproduce(framework.load("su-2005-fhstcp"), directory, form=Form.SMOKE)


def judged(smoke: Reproduction, part: str, claim: str) -> Judgement:
    (found,) = [
        judgement
        for one in smoke.parts
        for asked, judgement in (*one.judged, *one.conditions)
        if (one.part.name, asked.name) == (part, claim)
    ]
    return found


def mean(judgement: Judgement, what: str) -> float:
    (found,) = [one.measured for one in judgement.checks if what in one.what]
    assert isinstance(found, Interval)
    return found.mean


@pytest.mark.slow
def test_every_part_has_its_picture_and_data(smoke: Reproduction) -> None:
    assert len(list(smoke.directory.glob("*.png"))) == len(smoke.parts)
    runs = [path.stem for path in (smoke.directory / "data").glob("*.parquet")]
    assert {part.part.name for part in smoke.parts} < set(runs)


@pytest.mark.slow
def test_the_verdicts_follow_from_the_data_next_to_the_report(smoke: Reproduction) -> None:
    assert framework.recheck(PAPER, smoke.directory).differences == ()


@pytest.mark.slow
def test_the_abstract_has_at_most_150_words(smoke: Reproduction) -> None:
    assert PAPER.abstract is not None
    text = PAPER.abstract({part.part.name: part.results for part in smoke.parts})
    assert len(text.split()) <= 150
    assert "nan" not in text


@pytest.mark.slow
def test_the_background_gets_less_next_to_fhstcp_than_next_to_standard_tcp(
    smoke: Reproduction,
) -> None:
    friendly = judged(smoke, "table-1", "friendly")
    assert all(mean(friendly, f"c = {c},") < -0.1 for c in (5, 10, 20))


@pytest.mark.slow
def test_its_loss_rate_is_below_1e_3_at_c_5(smoke: Reproduction) -> None:
    assert mean(judged(smoke, "table-1", "loss"), "c = 5") < 5e-4


@pytest.mark.slow
def test_the_excluded_readings_starve_a_flow_and_the_others_do_not(smoke: Reproduction) -> None:
    excluded = judged(smoke, "block-readings", "excluded")
    assert len(excluded.checks) == len(EXCLUDED) == 7
    for check in excluded.checks:
        assert isinstance(check.measured, Interval)
        assert check.measured.mean < 0.05, check.what
    for check in judged(smoke, "block-readings", "possible").checks:
        assert isinstance(check.measured, Interval)
        assert check.measured.mean > 0.05, check.what


@pytest.mark.slow
def test_fhstcp_is_fairer_than_highspeed_and_scalable(smoke: Reproduction) -> None:
    fairer = judged(smoke, "3", "fairer")
    for other in ("HighSpeed", "Scalable"):
        assert mean(fairer, f"index over the measured time: FHSTCP less {other}") > 0.1


@pytest.mark.slow
def test_fhstcp_is_nearer_to_the_inverse_ratio_of_rtts_than_highspeed(smoke: Reproduction) -> None:
    assert mean(judged(smoke, "3", "against-rtt"), "HighSpeed TCP less FHSTCP") > 0.3


@pytest.mark.slow
def test_blocks_shorten_the_queue_and_lengthen_bursts(smoke: Reproduction) -> None:
    bursts = judged(smoke, "block-pacing", "burstiness")
    assert mean(bursts, "queue (packets), p99") < -10
    assert mean(bursts, "burst of one flow, largest") > 100


@pytest.mark.slow
def test_alone_fhstcp_grows_faster_on_long_paths_but_uses_less(smoke: Reproduction) -> None:
    (part,) = [part for part in smoke.parts if part.part.name == "keeping-advantages"]
    ramp = part.results.study("ramp").points[0]
    took = ramp.mean(keeping_advantages.half_filled_s)
    # Losses delay the flow; without the fair factor the law alone takes twice as long.
    fair, highspeed = (
        keeping_advantages.ramp_seconds(keeping_advantages.FAST, 0.2, c) for c in (10.0, None)
    )
    assert fair < took < 0.7 * highspeed
    used = judged(smoke, "keeping-advantages", "utilization")
    assert mean(used, "1 Gbit/s, RTT 200 ms") < -0.02


def run_with(seed: int, index: float) -> StoredRun:
    """A run whose fairness index is known."""
    row = pa.table({"seed": [seed]})
    return StoredRun(None, "", row, read={"measures.fairness": index})


def test_the_best_c_is_judged_on_seeds_that_did_not_choose_it() -> None:
    # c = 25 leads on even seeds by chance, and is behind on odd seeds.
    index = {10: (0.9, 0.9, 0.9, 0.9), 25: (0.95, 0.5, 0.97, 0.7)}
    points = [
        PointResults({C: c}, tuple(run_with(*one) for one in enumerate(values, 2002)))
        for c, values in index.items()
    ]
    studies = {"c": StudyResults(tuple(points[:1])), "other c": StudyResults(tuple(points[1:]))}
    results = PartResults(Form.FULL, studies)
    assert table_1_claims.best_c(results) == 25
    (check,) = table_1_claims.best_of_half(results)
    assert isinstance(check.measured, Interval)
    # The means of 0.5 and 0.7 less those of 0.9 and 0.9.
    assert check.measured.mean == pytest.approx(-0.3)
    assert check.measured.count == 2


def test_the_readings_are_all_combinations_and_three_more() -> None:
    keys = ("block_count", "block_hold", "block_slow_start")
    of_paper = {
        tuple(reading.control.get(key) for key in keys)
        for reading in READINGS
        if not reading.control.keys() & {"block_pacing", "block_length"}
    }
    assert len(of_paper) == 2**3
    assert len(READINGS) == 2**3 + 3
    assert len(PLAUSIBLE) + len(EXCLUDED) == len(READINGS)


def test_the_rtts_are_varied_by_half_a_packet_time() -> None:
    rtt = UNSTATED["RTTs longer by half a packet time"].settings["flows.fair.rtt"]
    assert isinstance(rtt, dict)
    half_ms = PACKET_BITS / (CHOSEN.rate_mbps * 1e3) / 2
    longer = [float(rtt[end].removesuffix(" ms")) for end in ("from", "to")]
    assert longer == pytest.approx([80 + half_ms, 200 + half_ms], abs=1e-4)


def test_the_scenario_has_the_chosen_path() -> None:
    link = tomllib.loads((SCENARIOS / SCENARIO).read_text(encoding="utf-8"))["links"]["bottleneck"]
    settings = CHOSEN.settings
    assert link["rate"] == settings["links.bottleneck.rate"]
    assert link["delay"] == settings["links.bottleneck.delay"]
    assert link["queue"]["limit"] == settings["links.bottleneck.queue.limit"]


def test_a_buffer_is_rate_times_delay() -> None:
    # 300 Mbit/s for 20 ms are 6 Mbit, 750 packets of 8000 bits; one of them is being sent.
    assert Path(300, 20).buffer_packets == 750
    assert Path(300, 20).settings["links.bottleneck.queue.limit"] == "749 packets"


@pytest.mark.parametrize("c", [5, 10, 20])
def test_the_papers_fairness_index_is_jains_of_its_utilizations(c: int) -> None:
    row = paper_table.TABLE[c]
    assert jain_index(row.flows) == pytest.approx(row.fairness, abs=0.006)


def test_deviations_are_in_steps() -> None:
    row = paper_table.Row((0.30, 0.20, 0.10), 0.15, 0.90, (1e-4, 4e-4))
    used = (0.35, 0.20, 0.05, 0.15)
    assert paper_table.deviations(row, (used, 0.80, 8e-4)) == pytest.approx([1, 0, -1, 0, -2, 1])
    assert paper_table.deviations(row, (used, 0.80, 2e-4))[-1] == 0
    assert paper_table.deviations(row, (used, 0.80, 2.5e-5))[-1] == pytest.approx(-2)


def test_the_index_over_time_by_hand() -> None:
    amounts = np.array([[1.0, 1.0, 4.0], [1.0, 3.0, 0.0]])
    # Sums up to each time: 1, 1; 2, 4; 6, 4. (2 + 4)^2 / (2 (4 + 16)) = 0.9; 100 / 104.
    assert over_time.up_to(amounts) == pytest.approx([1, 0.9, 100 / 104])
    # Over two intervals: 2, 4; 5, 3. 64 / (2 * 34).
    assert over_time.in_windows(amounts, 2) == pytest.approx([0.9, 64 / 68])


def test_nothing_delivered_counts_as_fair() -> None:
    assert over_time.jain(np.zeros((3, 1))) == pytest.approx([1])


def test_the_square_root_law_gives_a_rate_from_table_1() -> None:
    # c = 20: sqrt(1.5 / 1e-3) = 38.73 packets a round trip of 0.12 s, four flows: 1291 packets/s,
    # 10.33 Mbit/s, which are 5.55 % of 186 Mbit/s; at 5e-4 1.414 times as much.
    low, high = capacity.by_square_root(20)
    assert low == pytest.approx(186, abs=1)
    assert high == pytest.approx(263, abs=1)


def test_the_way_up_is_the_same_at_an_rtt_of_1_over_c() -> None:
    fair = keeping_advantages.ramp_seconds(CHOSEN, 0.1, 10.0)
    assert fair == pytest.approx(keeping_advantages.ramp_seconds(CHOSEN, 0.1, None))
