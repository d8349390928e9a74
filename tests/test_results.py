"""`Result`: series without copies, saving and loading."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import tailroom as tr
from tailroom.simulation.arrow_tables import arrow_table


@pytest.fixture
def recorded(small: Path) -> tr.Result:
    return tr.run(small, set={"series.interval": "50 ms", "links.bottleneck.packet_log": 50})


def test_tables_share_the_memory_of_the_arrays() -> None:
    columns = {
        "time_s": np.array([1.0, 2.0]),
        "link": np.array([0, 0], dtype=np.uint32),
        "queue_packets": np.array([3.0, 4.0]),
    }
    table = arrow_table(columns, {"link": ["bottleneck"]})
    for name in ("time_s", "queue_packets"):
        shared = table[name].chunk(0).to_numpy(zero_copy_only=True)
        assert np.shares_memory(shared, columns[name])
    positions = table["link"].chunk(0).indices.to_numpy(zero_copy_only=True)
    assert np.shares_memory(positions, columns["link"])
    assert table["link"].to_pylist() == ["bottleneck", "bottleneck"]


def test_equal_runs_are_equal_however_long_they_took(recorded: tr.Result, small: Path) -> None:
    how = {"series.interval": "50 ms", "links.bottleneck.packet_log": 50}
    again = tr.run(small, set=how)
    assert again.timing is not None
    again.timing["wall_s"] = 99.0
    assert again == recorded
    assert hash(again) == hash(recorded)
    assert tr.run(small, set=how, seed=2) != recorded
    # The same run with other tables, and the same tables with another value.
    assert tr.run(small) != tr.run(small, series_samples=20)
    series = again.table("flow_series")
    assert series is not None
    changed = series.set_column(2, series.column_names[2], pa.array([7.0] * len(series)))
    assert replace(again, flow_series=changed) != recorded
    assert recorded != "a result"


def test_a_loaded_result_copies_no_device(small: Path, tmp_path: Path) -> None:
    (tmp_path / "up.trace").write_text("1\n", encoding="utf-8")
    traced = small.read_text(encoding="utf-8").replace('rate = "10 Mbit/s"', 'trace = "up.trace"')
    small.write_text(traced, encoding="utf-8")
    tr.run(small).save(tmp_path / "saved")
    scenario = tmp_path / "saved" / "scenario.toml"
    endless = scenario.read_text(encoding="utf-8").replace('"up.trace"', '"/dev/zero"')
    scenario.write_text(endless, encoding="utf-8")
    loaded = tr.load(tmp_path / "saved")
    with pytest.raises(tr.ArgumentError, match="/dev/zero: is a pipe, a device or a directory"):
        loaded.save(tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_loaded_result_finds_its_files_from_any_directory(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "up.trace").write_text("1\n", encoding="utf-8")
    traced = small.read_text(encoding="utf-8").replace('rate = "10 Mbit/s"', 'trace = "up.trace"')
    small.write_text(traced, encoding="utf-8")
    result = tr.run(small)
    result.save(tmp_path / "saved")
    monkeypatch.chdir(tmp_path)
    loaded = tr.load("saved")
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    loaded.save("copy")
    for name in ("up.trace", "scenario.toml"):
        copied = (tmp_path / "other" / "copy" / name).read_text(encoding="utf-8")
        assert copied == (tmp_path / "saved" / name).read_text(encoding="utf-8")
    assert tr.run(tr.Scenario.from_toml(loaded.scenario)).summary == result.summary


def test_a_number_that_is_undefined_in_both_runs_is_the_same(recorded: tr.Result) -> None:
    undefined = pa.table({"time_s": [1.0, 2.0], "srtt_s": [float("nan"), 0.1]})
    one, other = (replace(recorded, flow_series=undefined) for _ in range(2))
    assert one == other
    assert one != replace(recorded, flow_series=undefined.slice(1))


def test_a_whole_series_is_not_copied(recorded: tr.Result) -> None:
    table = recorded.link_series
    assert table is not None
    whole = table["queue_packets"].chunk(0).to_numpy(zero_copy_only=True)
    series = recorded.series("queue")["queue_packets"].chunk(0).to_numpy(zero_copy_only=True)
    assert np.shares_memory(whole, series)


def test_series_of_one_link_and_one_flow(recorded: tr.Result) -> None:
    queue = recorded.series("queue", link="bottleneck")
    assert queue.column_names == ["time_s", "queue_packets"]
    assert max(queue["queue_packets"].to_pylist()) <= 20
    names = [flow["name"] for flow in recorded.flows]
    window = recorded.series("cwnd", flow=names[1])
    assert window.column_names == ["time_s", "cwnd_packets"]
    assert window.num_rows == queue.num_rows
    assert min(window["cwnd_packets"].to_pylist()) >= 1
    assert recorded.series("cwnd").num_rows == 2 * window.num_rows


def test_series_average_to_the_summary(recorded: tr.Result) -> None:
    series = recorded.series("utilization", link="bottleneck")
    time_s, utilization = np.array(series["time_s"]), np.array(series["utilization"])
    mean = utilization[time_s > 1.0 + 1e-9].mean()
    assert mean == pytest.approx(recorded.links["bottleneck"]["utilization"], abs=1e-3)


def test_what_is_not_there_is_named(recorded: tr.Result, small: Path) -> None:
    with pytest.raises(ValueError, match=r"no series 'speed'; choose one of queue, .*goodput"):
        recorded.series("speed")
    with pytest.raises(ValueError, match=r"no link 'middle'; choose one of bottleneck"):
        recorded.series("queue", link="middle")
    with pytest.raises(ValueError, match=r"no series was recorded; .*series\.interval"):
        tr.run(small, series_samples=None).series("queue")


def test_series_samples_records_only_what_is_missing(small: Path) -> None:
    assert tr.run(small, series_samples=20).series("queue").num_rows == pytest.approx(20, abs=1)
    result = tr.run(small, set={"series.interval": "1 s"}, series_samples=20)
    assert result.series("queue").num_rows == pytest.approx(4, abs=1)


def test_a_run_records_500_samples_for_its_plot(small: Path) -> None:
    result = tr.run(small)
    assert result.series("queue").num_rows == pytest.approx(500, abs=1)
    assert result.plot().axes


def test_series_that_nobody_asked_for_stay_small(small: Path) -> None:
    """A twentieth of 10 MB holds 10,000 samples of a link and two flows, at 50 B each."""
    samples = tr.run(small, set={"memory_limit": "10 MB"}, series_samples=10**7).series("queue")
    assert samples.num_rows == pytest.approx(10**4 / 3, rel=0.01)


def test_saved_results_load_again(recorded: tr.Result, tmp_path: Path) -> None:
    recorded.save(tmp_path / "saved")
    loaded = tr.load(tmp_path / "saved")
    assert loaded.summary == json.loads(json.dumps(recorded.summary))
    assert loaded.scenario == recorded.scenario
    for name in ("link_series", "flow_series", "packet_log"):
        assert getattr(loaded, name).to_pylist() == getattr(recorded, name).to_pylist()
    assert loaded.series("cwnd", flow=loaded.flows[0]["name"]).num_rows > 0
    with pytest.raises(tr.OutputDirectoryError, match="holds files already"):
        recorded.save(tmp_path / "saved")


def test_tables_reach_pandas_and_numpy(recorded: tr.Result) -> None:
    assert recorded.link_series is not None
    assert isinstance(np.asarray(recorded.link_series["queue_packets"]), np.ndarray)
    assert recorded.packet_log is not None
    assert recorded.packet_log.num_rows == 50
    assert np.all(np.diff(np.asarray(recorded.packet_log["time_s"])) >= 0)
