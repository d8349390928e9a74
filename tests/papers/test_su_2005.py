"""Su et al. 2005: the smoke form's verdicts that hold robustly, and the metrics by hand."""

import tomllib

import numpy as np
import pytest

from tailroom import reproduction
from tailroom.reproduction import Check, Form, Judgement, Reproduction, Verdict
from tailroom.scenario.shipped import SCENARIOS
from tailroom.simulation.metrics import jain_index
from tailroom.statistics.intervals import Interval
from tailroom_papers.su_2005 import capacity, keeping_advantages, over_time, paper_table
from tailroom_papers.su_2005.setting import CHOSEN, SCENARIO, Path


@pytest.fixture(scope="module")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Reproduction:
    directory = tmp_path_factory.mktemp("su") / "out"
    return reproduction.reproduce(reproduction.load("su-2005-fhstcp"), directory, form=Form.SMOKE)


def judged(smoke: Reproduction, part: str, claim: str) -> Judgement:
    (found,) = [
        judgement
        for one in smoke.parts
        for asked, judgement in one.judged
        if (one.part.name, asked.name) == (part, claim)
    ]
    return found


def check(judgement: Judgement, what: str) -> Check:
    (found,) = [one for one in judgement.checks if what in one.what]
    return found


@pytest.mark.slow
def test_every_part_has_its_picture_and_data(smoke: Reproduction) -> None:
    assert len(list(smoke.directory.glob("*.png"))) == len(smoke.parts)
    assert len(list((smoke.directory / "data").glob("*.parquet"))) == len(smoke.parts)


@pytest.mark.slow
def test_the_background_gets_less_beside_fhstcp_than_beside_standard_tcp(
    smoke: Reproduction,
) -> None:
    friendly = judged(smoke, "table-1", "friendly")
    assert [check(friendly, f"c = {c},").holds for c in (5, 10)] == [False, False]


@pytest.mark.slow
def test_its_loss_rate_is_below_1e_3_at_c_5(smoke: Reproduction) -> None:
    assert check(judged(smoke, "table-1", "loss"), "c = 5").holds is True


@pytest.mark.slow
def test_fhstcp_is_fairer_than_highspeed_and_scalable(smoke: Reproduction) -> None:
    fairer = judged(smoke, "3", "fairer")
    for other in ("HighSpeed", "Scalable"):
        found = check(fairer, f"index over the measured time: FHSTCP less {other}").measured
        assert isinstance(found, Interval)
        assert found.mean > 0.1
    assert not any(one.holds is False for one in fairer.checks)


@pytest.mark.slow
def test_fhstcp_is_nearer_to_the_inverse_ratio_of_rtts_than_highspeed(smoke: Reproduction) -> None:
    nearer = judged(smoke, "3", "against-rtt")
    assert check(nearer, "HighSpeed TCP less FHSTCP").holds is True


@pytest.mark.slow
def test_blocks_shorten_the_queue_and_lengthen_bursts(smoke: Reproduction) -> None:
    bursts = judged(smoke, "block-pacing", "burstiness")
    assert check(bursts, "queue (packets), p99").holds is True
    found = check(bursts, "burst of one flow, largest").measured
    assert isinstance(found, Interval)
    assert found.mean > 100
    assert bursts.verdict is Verdict.IN_PART


@pytest.mark.slow
def test_alone_fhstcp_grows_faster_on_long_paths_but_uses_less(smoke: Reproduction) -> None:
    assert judged(smoke, "keeping-advantages", "response").verdict is Verdict.HOLDS
    used = judged(smoke, "keeping-advantages", "utilization")
    assert check(used, "1 Gbit/s, RTT 200 ms").holds is False


@pytest.mark.slow
def test_the_chosen_path_is_nearest_to_table_1(smoke: Reproduction) -> None:
    choice = judged(smoke, "capacity", "choice")
    assert check(choice, "distance of the chosen path").holds is True


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
