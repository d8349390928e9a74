"""The recorded runs of the Linux kernel's TCP are whole, and tailroom agrees with them."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

import tailroom as tr
from tests.validation import kernel, kernel_recovery
from tests.validation.kernel_comparison import Comparison
from tests.validation.kernel_names import order, words
from validation.kernel import Recovery, matrix, recovery
from validation.kernel.experiment import Experiment

LIMIT_BYTES = 11_500_000
"""Recordings and traces together, so that a checkout stays small."""


def test_every_experiment_is_recorded() -> None:
    names = {experiment.name for experiment in matrix.experiments()}
    assert {path.name.removesuffix(".json.xz") for path in kernel.RECORDED.glob("*.xz")} == names


def test_every_experiment_has_words_of_its_own() -> None:
    names = [experiment.name for experiment in matrix.experiments()]
    assert len({words(name) for name in names}) == len(names)
    assert words("many-10-bbr1-0.25-bdp") == "10 BBR flows, 0.25 BDP"
    assert words("two-rtts-cubic-8-flows") == "8 CUBIC flows with two RTTs"
    assert words("two-way-reno-drop_tail") == "2 Reno flows in both directions, tail drop"
    assert sorted(["10 BDP", "2 BDP", "0.25 BDP"], key=order) == ["0.25 BDP", "2 BDP", "10 BDP"]
    with pytest.raises(ValueError, match="add its form"):
        words("alone")


def test_recordings_are_small() -> None:
    files = [path for path in kernel.RECORDED.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= LIMIT_BYTES


@pytest.mark.parametrize("experiment", matrix.experiments(), ids=lambda one: one.name)
def test_a_recording_is_of_its_experiment_and_valid(experiment: Experiment) -> None:
    recorded = kernel.load(kernel.RECORDED / f"{experiment.name}.json.xz")
    assert recorded["scenario"] == experiment.scenario
    assert [run["invalid"] for run in recorded["runs"]] == [[]] * matrix.REPETITIONS


def test_another_control_is_noticed() -> None:
    lines: list[str] = []
    only = ["--only", "alone-reno-50-mbit-100-packets"]
    assert kernel.main([*only, "--set", "flows.flow.congestion=cubic"], lines.append) == 1
    assert any("MISSES" in line for line in lines)


@pytest.mark.parametrize(
    ("setting", "word"),
    [("quick_acks=1460", "meets"), ("slow_start=standard", "MISSES")],
)
def test_where_slow_start_ends_is_compared(setting: str, word: str) -> None:
    """The recorded receiver acknowledges each packet at first."""
    lines: list[str] = []
    kernel.main(["--only", "slow-acks-cubic-250", "--set", f"defaults.{setting}"], lines.append)
    [line] = [line for line in lines if " end of slow start (packets) " in line and "|" not in line]
    assert line.endswith(word)


def test_a_directory_of_new_recordings_is_compared(tmp_path: Path) -> None:
    name = "alone-cubic-50-mbit-100-packets"
    recorded = kernel.RECORDED / f"{name}.json.xz"
    (tmp_path / recorded.name).write_bytes(recorded.read_bytes())
    lines: list[str] = []
    assert kernel.main(["--recorded", str(tmp_path)], lines.append) == 0
    data = [line for line in lines if line.startswith(f"{name},")]
    assert len(data) == 8
    assert f"{name},utilization,1.000,1.000,met" in data
    counted = [line for line in lines if line.startswith("| ")]
    assert len(counted) == 10, "a statistic that no experiment has is left out"
    assert counted[2].startswith("| utilization | 1 | 1 | ")
    assert "0 of 8 goals are missed" in lines[-1]


@pytest.mark.parametrize("name", ["requests-10-packets-2-percent", "download-cubic-1-bdp"])
def test_requests_of_a_recording_arrive_when_those_of_the_simulator_do(name: str) -> None:
    recorded = kernel.load(kernel.RECORDED / f"{name}.json.xz")
    run = recorded["runs"][1]
    scenario = tr.Scenario.from_toml(recorded["scenario"])
    simulated = tr.run(scenario, seed=run["seed"]).table("flow_log").to_pydict()["start_s"]
    starts = run["flows"][0]["requests"]["start_s"]
    measured = [start for start in starts if start >= run["measured_from_s"]]
    assert len(measured) == len(simulated)
    assert measured == pytest.approx(simulated, abs=1e-6)


def test_responses_of_a_recording_are_those_of_the_scenario() -> None:
    recorded = kernel.load(kernel.RECORDED / "responses-691-packets-beside-cubic-1-bdp.json.xz")
    source = tomllib.loads(recorded["scenario"])["flows"]["responses"]["source"]
    starts = [float(time.split()[0]) for time in source["arrivals"]]
    for run in recorded["runs"]:
        writes = run["flows"][1]["writes"]
        assert (writes["start_s"], {*writes["size_bytes"]}) == (starts, {691 * 1_448})
        assert all(time is not None for time in writes["completion_us"])


def test_a_response_begins_when_it_is_written_and_ends_with_its_last_ack() -> None:
    """Ten packets of 0.6 ms and a round trip of 40 ms; the second one waits for the window."""
    recorded = kernel.load(kernel.RECORDED / "responses-69-packets-beside-cubic-1-bdp.json.xz")
    writes = {"start_s": [9.0, 20.0, 20.001], "size_bytes": [14_480] * 3}
    flow = {"group": "responses", "mss_bytes": 1_448, "writes": writes}
    settings = {
        **kernel_recovery.log_of_responses({"measured_to_s": 90.0, "flows": [flow]}),
        "flows.long.stop": "1 s",
        "flows.responses.send_jitter": "none",
        "flows.responses.source.size": "14480 B",
        "flows.responses.source.arrivals": ["9 s", "20 s", "20.001 s"],
    }
    result = tr.run(tr.Scenario.from_toml(recorded["scenario"]), set=settings)
    # The first one begins before the measured window.
    assert kernel_recovery.simulated_responses(result, flow) == pytest.approx([46, 85], abs=1)


@pytest.mark.parametrize("percent", [1, 10])
def test_the_recorded_loss_is_that_of_the_scenario(percent: int) -> None:
    recorded = kernel.load(kernel.RECORDED / f"lossy-bbr1-{percent}-percent.json.xz")
    for run in recorded["runs"]:
        counts = run["directions"][0]["measured"][0]
        share = counts["random_losses_packets"] / counts["departures_packets"]
        # Four standard deviations of a binomial distribution.
        expected = percent / 100
        assert abs(share - expected) < 4 * (expected / counts["departures_packets"]) ** 0.5


def test_repairs_are_the_kernels_counters_and_a_syn_sent_again_was_lost() -> None:
    counts = {"data_arrivals_packets": 100, "data_losses_packets": 5}
    names = ("RetransSegs", "TCPTimeouts", "TCPSynRetrans", "TCPLossProbes")
    of_host = [dict(zip(names, values, strict=True)) for values in ((8, 3, 2, 4), (9, 9, 9, 9))]
    run = {
        "directions": [{"measured": [counts]}, {"measured": [{}]}],
        "flows": [{"direction": 0}],
        "counters": {"measured": of_host},
    }
    expected = Recovery(
        sent_packets=100, lost_packets=7, sent_again_packets=8, timeouts=3, loss_probes=4
    )
    assert recovery(run) == expected


def test_without_counters_samples_tell_retransmissions_and_timeouts_of_the_measured_window() -> (
    None
):
    samples = {
        "time_s": [0.5, 1.0, 1.5, 2.0, 2.5, 3.0],
        "retransmissions": [3, 4, 4, 6, 9, 20],
        "state": [4, 4, 0, 4, 4, 4],
    }
    counts = {"arrivals_packets": 100, "drops_packets": 4, "random_losses_packets": 1}
    run = {
        "measured_from_s": 1.0,
        "measured_to_s": 3.0,
        "directions": [{"measured": [counts]}],
        "flows": [{"direction": 0, "samples": samples}],
    }
    expected = Recovery(
        sent_packets=100, lost_packets=5, sent_again_packets=6, timeouts=1, loss_probes=None
    )
    assert recovery(run) == expected


@pytest.mark.parametrize(
    ("kernel_events", "allowed"), [(0, (0, 3)), (4, (1, 8)), (10, (5, 20)), (2, (0, 5))]
)
def test_timeouts_may_differ_by_a_factor_of_two_or_by_three(
    kernel_events: int, allowed: tuple[int, int]
) -> None:
    def is_met(events: int) -> bool:
        recorded: dict[str, Any] = {
            "directions": [
                {"measured": [{"data_arrivals_packets": 900, "data_losses_packets": 9}]}
            ],
            "flows": [{"direction": 0, "packet_bytes": 1_500}],
            "counters": {
                "measured": [
                    {
                        "RetransSegs": 9,
                        "TCPTimeouts": kernel_events,
                        "TCPSynRetrans": 0,
                        "TCPLossProbes": 0,
                    }
                ]
            },
        }
        group = {
            "throughput_bps": 10.8e6,
            "loss_fraction": 0.01,
            "retransmissions": 9,
            "timeouts": events,
        }
        summary = {"measured_from_s": 1.0, "measured_to_s": 2.0, "groups": {"flow": group}}
        compared = kernel_recovery.recoveries([recorded], [summary])
        found = {comparison.what: comparison for comparison in compared}
        assert "loss probes" not in found, "only one side counts them"
        assert found["loss (%)"].is_met
        assert found["sent again per loss"].is_met
        return found["timeouts"].is_met

    least, most = allowed
    met = [events for events in range(30) if is_met(events)]
    assert met == list(range(least, most + 1))


def test_a_difference_is_told_in_units_of_what_is_allowed_on_its_side() -> None:
    assert Comparison("events", (10.0,), (20.0,), 10.0, 5.0).ratio == 1.0
    assert Comparison("events", (10.0,), (5.0,), 10.0, 5.0).ratio == -1.0
    assert Comparison("events", (10.0,), (5.0,), 10.0).ratio == -0.5


def test_a_percentile_at_the_step_of_a_round_trip_is_replaced() -> None:
    replaced = {
        experiment.name
        for experiment in matrix.experiments()
        if "requests" in experiment.name
        and kernel_recovery.quantiles_of(experiment.scenario, "requests")
        != list(kernel_recovery.QUANTILES)
    }
    assert replaced == {"requests-10-packets-0.5-percent"}


@pytest.mark.slow
def test_no_goal_is_missed_but_those_that_are_known() -> None:
    lines: list[str] = []
    assert kernel.main([], lines.append) == 0, "\n".join(lines)


@pytest.mark.slow
def test_the_kernel_took_no_reduction_back_and_neither_does_tailroom() -> None:
    """Losses and queues of all kinds, but no packet that waits for longer than a timer."""
    undone = ("DSACKUndo", "FullUndo", "LossUndo", "PartialUndo", "SpuriousRTOs")
    counted = 0
    for experiment in matrix.experiments():
        recorded = kernel.load(kernel.RECORDED / f"{experiment.name}.json.xz")
        for run in recorded["runs"]:
            for host in run["counters"]["whole"] if "counters" in run else []:
                counted += 1
                assert [host[f"TCP{name}"] for name in undone] == [0] * len(undone)
        groups = tr.run(tr.Scenario.from_toml(experiment.scenario)).summary["groups"]
        assert [group["undone_reductions"] for group in groups.values()] == [0] * len(groups)
    assert counted > 200
