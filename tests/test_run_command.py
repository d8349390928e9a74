"""`tailroom run`: what it prints, what it writes, and that both are the same each time."""

import errno
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import tailroom as tr
from tailroom.simulation.result_types import LinkSummary
from tests.conftest import SMALL, Printed, Tailroom

NUMBER = (int, float)
LINK_FIELDS = [
    "capacity_bps",
    "utilization",
    "utilization_without_duplicates",
    "loss_fraction",
    "arrivals_packets",
    *(key for key in LinkSummary.__annotations__ if key.startswith("drops_")),
    "marks_packets",
    "random_losses_packets",
    "departures_packets",
    "queue_packets_mean",
    "queue_packets_p01",
    "queue_packets_p50",
    "queue_packets_p95",
    "queue_packets_p99",
    "queue_packets_p999",
    "queue_packets_max",
    "queue_seen_packets_mean",
    "queue_seen_packets_p01",
    "queue_seen_packets_p99",
    "queue_delay_s_mean",
    "queue_delay_s_p01",
    "queue_delay_s_p50",
    "queue_delay_s_p95",
    "queue_delay_s_p99",
    "queue_delay_s_p999",
    "queue_delay_s_max",
    "limit_packets",
    "limit_bytes",
    "limit_bdp",
    "burst_packets_mean",
    "burst_packets_p99",
    "burst_packets_max",
    "congestion_episodes",
    "loss_synchronization",
]
FLOW_FIELDS = [
    "goodput_bps",
    "throughput_bps",
    "share",
    "loss_fraction",
    "marked_fraction",
    "retransmissions",
    "duplicate_packets",
    "discarded_packets",
    "rtt_s_mean",
    "cwnd_packets_mean",
    "congestion_events",
    "timeouts",
    "undone_reductions",
    "loss_probes",
    "completed_flows",
]
ONE_FLOW_FIELDS = ["packets_between_reductions_mean", "seconds_between_reductions_mean"]


def summary_of(tailroom: Tailroom, *arguments: object) -> dict[str, Any]:
    ended = tailroom("run", *arguments, "--json")
    assert ended.errors == ""
    assert ended.status == 0
    summary: dict[str, Any] = json.loads(ended.output)
    return summary


def printed_json(tailroom: Tailroom, *arguments: object) -> str:
    ended = tailroom("run", *arguments, "--json")
    assert ended.status == 0, ended.errors
    return str(ended.output)


def test_json_has_every_field_with_its_type(tailroom: Tailroom, small: Path) -> None:
    summary = summary_of(tailroom, small)
    assert isinstance(summary["engine_version"], str)
    assert summary["title"] == "Two Reno flows"
    assert len(summary["scenario_hash"]) == 64
    assert summary["seed"] == 1
    assert summary["measured_from_s"] == 1.0
    assert summary["measured_to_s"] == 4.0
    assert all(isinstance(warning["text"], str) for warning in summary["warnings"])
    assert "convergence_time_s" in summary
    assert list(summary["links"]) == ["bottleneck"]
    assert list(summary["groups"]) == ["reno"]
    assert len(summary["flows"]) == 2
    for field in LINK_FIELDS:
        assert isinstance(summary["links"]["bottleneck"][field], NUMBER), field
    for field in [*FLOW_FIELDS, "jain_index"]:
        assert isinstance(summary["groups"]["reno"][field], NUMBER), field
    for flow in summary["flows"]:
        assert flow["group"] == "reno"
        assert flow["congestion"] == "reno"
        for field in [*FLOW_FIELDS, *ONE_FLOW_FIELDS]:
            assert isinstance(flow[field], NUMBER), field


def test_undefined_numbers_are_null(tailroom: Tailroom, small: Path) -> None:
    text = SMALL.replace('congestion = { kind = "reno" }\n', "").replace(
        'rtt = "20 ms"', 'source = { kind = "cbr", rate = "1 Mbit/s" }'
    )
    small.write_text(text, encoding="utf-8")
    summary = summary_of(tailroom, small)
    assert summary["flows"][0]["congestion"] is None
    assert summary["flows"][0]["rtt_s_mean"] is None
    assert summary["convergence_time_s"] is None
    assert tailroom("run", small).status == 0


def test_json_is_the_same_each_time(tailroom: Tailroom, small: Path, tmp_path: Path) -> None:
    first = printed_json(tailroom, small)
    assert printed_json(tailroom, small) == first
    for name in ("out", "again"):
        assert printed_json(tailroom, small, "--out", tmp_path / name) == first
    files = {path.name for path in (tmp_path / "out").iterdir()}
    assert files == {path.name for path in (tmp_path / "again").iterdir()}
    assert (tmp_path / "out" / "summary.json").read_text(encoding="utf-8") == first
    # Pictures name the version of the library that drew them, and no time.
    for name in files - {"timing.json"}:
        one, other = (tmp_path / out / name for out in ("out", "again"))
        assert one.read_bytes() == other.read_bytes(), name
    timing = json.loads((tmp_path / "out" / "timing.json").read_text(encoding="utf-8"))
    assert list(timing) == ["wall_s", "events", "packet_hops", "ns_per_packet_hop"]
    assert all(isinstance(value, NUMBER) for value in timing.values())
    loaded = tr.load(tmp_path / "out")
    assert loaded.timing == timing
    assert printed_json(tailroom, small, "--set", "links.bottleneck.packet_log=1000") != first
    assert printed_json(tailroom, small, "--set", "series.interval=7 ms") != first


@pytest.mark.parametrize(
    "command",
    [
        ("run", "--vary", "links.bottleneck.queue=codel,pie", "--seeds", 2),
        ("size", "--target", "utilization >= 80%", "--max-seeds", 4),
        ("model",),
    ],
)
def test_json_of_several_runs_is_the_same_each_time(
    tailroom: Tailroom, small: Path, command: tuple[object, ...]
) -> None:
    first, again = (tailroom(command[0], small, *command[1:], "--json") for _ in range(2))
    assert first.output
    assert first.output == again.output


def test_recording_changes_no_measurement(tailroom: Tailroom, small: Path) -> None:
    plain = summary_of(tailroom, small)
    recorded = summary_of(
        tailroom,
        small,
        *("--set", "links.bottleneck.packet_log=1000"),
        *("--set", "series.interval=7 ms"),
    )
    for part in ("links", "flows", "groups", "convergence_time_s"):
        assert recorded[part] == plain[part]


def test_hash_names_the_scenario_and_not_the_seed(tailroom: Tailroom, small: Path) -> None:
    plain = summary_of(tailroom, small)
    seeded = summary_of(tailroom, small, "--seed", 7)
    assert seeded["seed"] == 7
    assert seeded["scenario_hash"] == plain["scenario_hash"]
    small.write_text("# The same.\n" + SMALL.replace('"20 ms"', '"0.02 s"'), encoding="utf-8")
    assert summary_of(tailroom, small)["scenario_hash"] == plain["scenario_hash"]
    changed = summary_of(tailroom, small, "--set", "links.bottleneck.queue.limit=21 packets")
    assert changed["scenario_hash"] != plain["scenario_hash"]
    assert changed["links"]["bottleneck"]["limit_packets"] == 21


def test_set_replaces_values_of_every_type(tailroom: Tailroom, small: Path) -> None:
    summary = summary_of(
        tailroom,
        small,
        *("--set", "flows.reno.count=3"),
        *("--set", "flows.reno.pacing=true"),
        *("--set", "flows.reno.congestion.kind=highspeed"),
        *("--set", "title=a = b"),
    )
    assert len(summary["flows"]) == 3
    assert summary["flows"][0]["congestion"] == "highspeed"
    assert summary["title"] == "a = b"


def test_people_see_tables(printed: Printed) -> None:
    printed("run")


def test_out_holds_everything(tailroom: Tailroom, small: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "out"
    ended = tailroom("run", small, "--set", "links.bottleneck.packet_log=100", "--out", out)
    assert ended.status == 0
    assert f"{out} (one sample per 0.0008 s, as the scenario has no [series])" in ended.output
    assert sorted(path.name for path in out.iterdir()) == [
        "flow_counts.parquet",
        "flow_series.parquet",
        "link_series.parquet",
        "packet_log.parquet",
        "scenario.toml",
        "summary.json",
        "timing.json",
        "utilization.png",
        "windows_and_queue.png",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["new", "small.toml"]
    links = pq.read_table(out / "link_series.parquet")
    assert links.num_rows == pytest.approx(5000, abs=1)
    assert set(links["link"].to_pylist()) == {"bottleneck"}
    log = pq.read_table(out / "packet_log.parquet")
    assert log.num_rows == 100
    assert set(log["event"].to_pylist()) <= {"arrival", "departure", "drop"}
    assert json.loads((out / "summary.json").read_text(encoding="utf-8"))["seed"] == 1


def test_an_empty_output_directory_is_used(tailroom: Tailroom, small: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    assert tailroom("run", small, "--out", out).status == 0
    assert (out / "summary.json").exists()


def test_the_saved_scenario_gives_the_same_result(
    tailroom: Tailroom, small: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    first = printed_json(
        tailroom, small, "--seed", 5, "--set", "flows.reno.rtt={ uniform = ['15 ms', '30 ms'] }"
    )
    ended = tailroom(
        "run",
        small,
        *("--seed", 5, "--set", "flows.reno.rtt={ uniform = ['15 ms', '30 ms'] }", "--out", out),
    )
    assert ended.status == 0, ended.errors
    assert printed_json(tailroom, out / "scenario.toml") == first


def test_the_saved_scenario_brings_its_trace(
    tailroom: Tailroom, small: Path, tmp_path: Path
) -> None:
    trace = tmp_path / "cellular.trace"
    trace.write_text("".join(f"{time_ms}\n" for time_ms in range(1, 101)), encoding="utf-8")
    text = SMALL.replace('rate = "10 Mbit/s"', 'trace = "cellular.trace"')
    small.write_text(text, encoding="utf-8")
    out = tmp_path / "out"
    assert tailroom("run", small, "--out", out).status == 0
    first = printed_json(tailroom, small)
    trace.unlink()
    assert printed_json(tailroom, out / "scenario.toml") == first
    (out / "cellular.trace").write_text("1\n2\n3\n5\n", encoding="utf-8")
    changed = summary_of(tailroom, out / "scenario.toml")
    assert changed["scenario_hash"] != json.loads(first)["scenario_hash"]


def test_the_saved_scenario_brings_the_files_of_its_distributions(
    tailroom: Tailroom, small: Path, tmp_path: Path
) -> None:
    sizes = tmp_path / "sizes.csv"
    sizes.write_text("40, 0.5\n1500 B, 1\n", encoding="utf-8")
    background = """
[flows.background]
path = ["bottleneck"]
[flows.background.source]
kind = "poisson"
rate = "1 Mbit/s"
sizes = { kind = "empirical", file = "sizes.csv" }
"""
    small.write_text(SMALL + background, encoding="utf-8")
    out = tmp_path / "out"
    ended = tailroom("run", small, "--out", out)
    assert ended.status == 0, ended.errors
    first = printed_json(tailroom, small)
    sizes.unlink()
    assert printed_json(tailroom, out / "scenario.toml") == first
    (out / "sizes.csv").write_text("40, 0.6\n1500 B, 1\n", encoding="utf-8")
    changed = summary_of(tailroom, out / "scenario.toml")
    assert changed["scenario_hash"] != json.loads(first)["scenario_hash"]


def test_a_full_disk_leaves_nothing(
    tailroom: Tailroom, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pyarrow.parquet.write_table", full)
    ended = tailroom("run", small, "--out", tmp_path / "new" / "out")
    assert ended.status == 1
    assert "No space left on device" in ended.errors
    assert ended.errors.count("\n") == 1
    assert list(tmp_path.iterdir()) == [small]
