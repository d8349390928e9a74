"""Results and sweeps as data frames."""

import sys
from pathlib import Path

import pytest

import tailroom as tr

LIMIT = "links.bottleneck.queue.limit"


@pytest.fixture(scope="module")
def result() -> tr.Result:
    return tr.run("first", set={"duration": "4 s", "measure_from": "1 s"})


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_statistics_are_frames_with_a_row_for_each_owner(result: tr.Result, kind: str) -> None:
    for name in ("links", "flows", "groups"):
        frame = getattr(result, f"to_{kind}")(name)
        assert type(frame).__module__.startswith(kind)
        assert len(frame) == 1
        assert list(frame["name"]) == ["bottleneck" if name == "links" else "reno"]
    utilization = getattr(result, f"to_{kind}")("links")["utilization"][0]
    assert utilization == result.links["bottleneck"]["utilization"]


def test_flows_are_the_frame_if_no_table_is_named(result: tr.Result) -> None:
    assert result.to_pandas().equals(result.to_pandas("flows"))


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_recorded_table_is_a_frame_with_its_columns(result: tr.Result, kind: str) -> None:
    assert result.link_series is not None
    frame = getattr(result, f"to_{kind}")("link_series")
    assert list(frame.columns) == result.link_series.column_names
    assert len(frame) == len(result.link_series)


def test_a_wrong_table_names_those_that_there_are(result: tr.Result) -> None:
    with pytest.raises(
        ValueError, match="no table 'nodes'; choose one of flows, links, pools, groups, "
    ):
        result.to_pandas("nodes")
    with pytest.raises(ValueError, match="'packet_log' was not recorded"):
        result.to_pandas("packet_log")


def test_a_scenario_without_permanent_flows_has_an_empty_frame(result: tr.Result) -> None:
    empty = tr.Result(summary={**result.summary, "flows": []}, scenario=result.scenario)
    assert len(empty.to_pandas("flows")) == 0


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_sweep_is_a_frame_of_runs_or_of_means(tmp_path: Path, kind: str) -> None:
    short = {"duration": "2 s", "measure_from": "1 s"}
    grid = {LIMIT: ["10 packets", "40 packets"]}
    swept = tr.sweep("first", store=tmp_path / "store", grid=grid, seeds=2, set=short)
    runs, means = (getattr(swept, f"to_{kind}")(one) for one in (None, "utilization"))
    assert len(runs) == 4
    assert list(runs["seed"]) == [1, 2, 1, 2]
    assert list(means.columns) == [
        LIMIT,
        "mean",
        "half_width",
        "low",
        "high",
        "runs",
        "planned_runs",
    ]
    assert list(means["mean"]) == swept.means("utilization")["mean"].to_pylist()
    with pytest.raises(tr.MetricError):
        getattr(swept, f"to_{kind}")("nonsense")


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_missing_library_is_named_with_the_extra_that_installs_it(
    result: tr.Result, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setitem(sys.modules, kind, None)
    with pytest.raises(tr.MissingLibraryError, match=rf"{kind} .* 'tailroom\[frames\]'"):
        getattr(result, f"to_{kind}")()
