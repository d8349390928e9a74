"""Pictures: the right labels, readable with many flows, written in every format."""

import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from matplotlib.figure import Figure

import tailroom as tr
from tests.conftest import SMALL, Tailroom


@pytest.fixture
def recorded(small: Path) -> tr.Result:
    return tr.run(small, series_samples=100)


def labels(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_windows_above_the_queue(recorded: tr.Result) -> None:
    figure = recorded.plot()
    windows, queue = figure.axes
    assert figure.get_suptitle() == "Two Reno flows\nn = 1 run, seed 1"
    assert windows.get_ylabel() == "congestion window (packets)"
    assert labels(windows)[:2] == [flow["name"] for flow in recorded.flows]
    assert queue.get_xlabel() == "time (s)"
    assert queue.get_ylabel() == "queue at bottleneck\n(packets)"
    assert labels(queue)[:2] == ["queue", "limit, 20 packets"]
    assert windows.get_xlim() == queue.get_xlim() == (0.0, 4.0)


def test_lines_differ_without_colour(recorded: tr.Result) -> None:
    windows = recorded.plot().axes[0]
    assert len({line.get_linestyle() for line in windows.lines}) == 2


def test_many_flows_are_a_mean_and_a_band(small: Path) -> None:
    result = tr.run(small, set={"flows.reno.count": 30}, series_samples=20)
    windows = result.plot().axes[0]
    assert len(windows.lines) == 1
    assert labels(windows)[0] == "reno\n(mean of 30, smallest to largest)"
    table = result.series("cwnd").to_pylist()
    at = np.asarray(windows.lines[0].get_xdata(), dtype=float).tolist()
    drawn = [[row["cwnd_packets"] for row in table if row["time_s"] == time_s] for time_s in at]
    assert {len(one) for one in drawn} == {30}
    means = [sum(one) / 30 for one in drawn]
    assert list(windows.lines[0].get_ydata()) == pytest.approx(means)  # type: ignore[arg-type]
    corners = np.asarray(windows.collections[0].get_paths()[0].vertices)
    for time_s, one in zip(at, drawn, strict=True):
        edges = corners[corners[:, 0] == time_s, 1]
        assert (edges.min(), edges.max()) == (min(one), max(one))


def test_a_queue_with_many_samples_is_an_envelope(small: Path) -> None:
    """A peak between two points that are drawn is not lost."""
    result = tr.run(small, series_samples=4000)
    queue = result.plot().axes[1]
    assert labels(queue)[:2] == ["queue, smallest to largest", "queue, mean"]
    samples = result.series("queue")["queue_packets"].to_numpy()
    assert len(queue.lines[0].get_xdata()) == 400  # type: ignore[arg-type]
    corners = np.asarray(queue.collections[0].get_paths()[0].vertices)
    assert corners[:, 1].max() == samples.max()
    assert np.mean(queue.lines[0].get_ydata()) == pytest.approx(samples.mean())  # type: ignore[arg-type]


def test_flows_without_a_window_have_no_panel(small: Path) -> None:
    uncontrolled = SMALL.replace('congestion = { kind = "reno" }', "").replace(
        'rtt = "20 ms"', 'source = { kind = "poisson", rate = "4 Mbit/s" }'
    )
    small.write_text(uncontrolled, encoding="utf-8")
    [queue] = tr.run(small, set={"measure_from": "0 s"}, series_samples=20).plot().axes
    assert labels(queue) == ["queue", "limit, 20 packets"]


def test_of_many_links_those_that_lose_and_wait_most_are_drawn() -> None:
    result = memory_of_a_pool(20)
    figure = result.plot()
    notable = f"\n4 of {len(result.links)} links, by loss and queueing delay\n"
    assert notable in figure.get_suptitle()
    named = [panel.get_ylabel().split()[2] for panel in figure.axes]
    rest = [link for link in result.links if link not in named]
    assert len(named) == 4

    def loss(link: str) -> float:
        return result.links[link]["loss_fraction"] or 0.0

    assert min(map(loss, named)) >= max(map(loss, rest))
    assert max(map(loss, named)) > 0


def memory_of_a_pool(samples: int) -> tr.Result:
    pool = {"size": "60 kB", "policy": {"kind": "dynamic_threshold", "alpha": 1}}
    changes: dict[str, object] = {"duration": "0.3 s", "switches.tor.pool": pool}
    return tr.run("incast", set=changes, series_samples=samples)


def test_the_memory_of_a_pool_is_stacked_by_link() -> None:
    """The areas together are the sum of the links' memory; the largest shares have their own."""
    result = memory_of_a_pool(100)
    panel = result.plot("memory").axes[0]
    assert result.pool_series is not None
    pool = result.pools["tor-switch"]
    largest = max(pool["links"], key=lambda link: pool["links"][link]["memory_share"] or 0.0)
    assert labels(panel)[0] == largest
    assert labels(panel)[6:8] == ["35 others", "size, 0.06 MB"]
    rows = result.pool_series.group_by("time_s").aggregate([("memory_bytes", "sum")])
    corners = np.asarray(panel.collections[6].get_paths()[0].vertices)
    assert corners[:, 1].max() == pytest.approx(max(rows["memory_bytes_sum"].to_pylist()) / 1e6)


def test_a_peak_of_memory_between_columns_is_drawn() -> None:
    result = memory_of_a_pool(2000)
    panel = result.plot("memory").axes[0]
    assert result.pool_series is not None
    rows = result.pool_series.group_by("time_s").aggregate([("memory_bytes", "sum")])
    peak = max(rows["memory_bytes_sum"].to_pylist()) / 1e6
    assert "all, largest" in labels(panel)
    assert max(np.asarray(panel.lines[0].get_ydata(), dtype=float)) == pytest.approx(peak)


def test_what_is_idle_is_drawn_next_to_the_utilization(recorded: tr.Result) -> None:
    panel = recorded.plot("utilization").axes[0]
    mean = recorded.links["bottleneck"]["utilization"]
    assert labels(panel)[0] == f"bottleneck, utilization {mean:.2%}"
    assert panel.get_ylabel() == "idle (% of the capacity)"
    used = recorded.series("utilization")["utilization"].to_numpy()
    idle = np.asarray(panel.lines[0].get_ydata(), dtype=float)[1:]
    assert idle == pytest.approx(100 * (1 - used))
    assert panel.get_ylim()[0] < 0  # a line at 0 is not the axis
    assert panel.get_xlabel() == "time (s)"


def test_of_many_links_the_idle_part_is_a_mean_and_half_of_them() -> None:
    result = tr.run("incast", set={"duration": "0.3 s"}, series_samples=20)
    panel = result.plot("utilization").axes[0]
    assert labels(panel)[:2] == ["half of them", f"mean of {len(result.links)} links"]
    table = result.series("utilization").to_pylist()
    idle: dict[float, list[float]] = {}
    for row in table:
        idle.setdefault(row["time_s"], []).append(100 * (1 - row["utilization"]))
    [line] = panel.lines
    drawn = dict(np.asarray(line.get_xydata(), dtype=float).tolist()[1:])
    assert drawn == pytest.approx({at: sum(one) / len(one) for at, one in idle.items()})
    corners = np.asarray(panel.collections[0].get_paths()[0].vertices)
    last = corners[corners[:, 0] == max(idle), 1]
    low, _, high = statistics.quantiles(idle[max(idle)], n=4, method="inclusive")
    assert (last.min(), last.max()) == pytest.approx((low, high))


def test_dispersion_of_poisson_arrivals_stays_about_one(small: Path) -> None:
    small.write_text(
        SMALL.replace("count = 2", 'source = { kind = "poisson", rate = "4 Mbit/s" }').replace(
            'congestion = { kind = "reno" }\nrtt = "20 ms"\n', ""
        ),
        encoding="utf-8",
    )
    result = tr.run(
        small, set={"links.bottleneck.arrival_dispersion": "1 ms", "measure_from": "0 s"}
    )
    table = result.arrival_dispersion
    assert table is not None
    assert table.column_names == ["link", "scale_s", "intervals", "mean_packets", "index"]
    assert set(table["link"].to_pylist()) == {"bottleneck"}
    assert table["scale_s"].to_pylist()[:3] == pytest.approx([1e-3, 2e-3, 4e-3])
    assert table["intervals"].to_pylist()[:3] == [4000, 2000, 1000]
    # 4000 counts: standard deviation sqrt(2 / 3999) and 1 / (4000 * 0.333) more, 0.035.
    assert table["index"].to_pylist()[0] == pytest.approx(1, abs=4 * 0.035)
    panel = result.plot("dispersion").axes[0]
    assert labels(panel) == ["bottleneck", "Poisson", "Poisson, 95 %"]
    assert panel.get_xscale() == panel.get_yscale() == "log"
    assert panel.get_xlabel() == "time scale (s)"


def test_no_dispersion_no_picture(recorded: tr.Result) -> None:
    with pytest.raises(ValueError, match=r'as in arrival_dispersion = "10 us"'):
        recorded.plot("dispersion")


@pytest.fixture
def logged(small: Path) -> tr.Result:
    """Two Reno flows and 10 Poisson streams, and what arrives in a second."""
    stream = """
[flows.stream]
count = 10
path = ["bottleneck"]
packet_size = "500 B"
source = { kind = "poisson", rate = "50 kbit/s" }
"""
    small.write_text(SMALL + stream, encoding="utf-8")
    return tr.run(small, set={"links.bottleneck.arrival_log": {"from": "1 s", "to": "2 s"}})


def test_arrivals_are_recorded_with_their_fate(logged: tr.Result, tmp_path: Path) -> None:
    table = logged.packets
    assert table is not None
    rows = table.to_pylist()
    assert {row["link"] for row in rows} == {"bottleneck"}
    assert {row["flow"] for row in rows} == {flow["name"] for flow in logged.flows}
    assert all(1 <= row["time_s"] < 2 for row in rows)
    assert all(row["bytes"] == (500 if "stream" in row["flow"] else 1500) for row in rows)
    # A buffer of 20 packets drops what finds it full, and nothing else.
    assert {row["fate"] for row in rows} == {"accepted", "overflow"}
    assert all((row["queue_packets"] == 20) == (row["fate"] == "overflow") for row in rows)
    logged.save(tmp_path / "saved")
    saved = tr.load(tmp_path / "saved").packets
    assert saved is not None
    assert saved.to_pylist() == rows
    assert (tmp_path / "saved" / "arrivals.png").stat().st_size > 10_000


def test_arrivals_of_a_flow_that_has_the_name_of_its_group_reach_pandas(
    small: Path, tmp_path: Path
) -> None:
    """Pandas refuses a column whose categories repeat."""
    log = {"links.bottleneck.arrival_log": {"from": "1 s", "to": "2 s"}}
    result = tr.run(small, set={**log, "flows.reno.count": 1})
    assert result.packets
    names = result.packets["flow"].combine_chunks().dictionary.to_pylist()
    assert names == ["reno"]
    assert set(result.packets.to_pandas()["flow"]) == {"reno"}
    result.save(tmp_path / "saved")
    saved = tr.load(tmp_path / "saved").packets
    assert saved is not None
    assert saved.to_pandas().equals(result.packets.to_pandas())


def test_arrivals_are_drawn_by_group_and_drops_as_squares(logged: tr.Result) -> None:
    packets, queue = logged.plot("arrivals").axes
    table = logged.packets
    assert table is not None
    names = [label.get_text() for label in packets.get_yticklabels()]
    assert names == ["reno\n(2 flows)", "stream\n(10 flows)"]
    dots, squares = packets.lines[:2]
    points, dropped = np.asarray(dots.get_xydata()), np.asarray(squares.get_xydata())
    assert (dots.get_marker(), squares.get_marker()) == (".", "s")
    drops = table["fate"].to_pylist().count("overflow")
    assert labels(packets) == ["packet", f"dropped, buffer full ({drops})"]
    assert (len(points), len(dropped)) == (len(table), drops)
    # Each flow has a row: the first of two the lower half of the lowest band, of ten a tenth.
    flows = np.array(table["flow"].to_pylist())
    for flow, low, high in (("reno.0", 0, 0.5), ("stream.9", 1.9, 2)):
        heights = points[flows == flow, 1]
        assert len(heights) > 0
        assert low < heights.min() <= heights.max() < high
    assert queue.get_ylabel() == "queue found\n(packets)"
    assert queue.get_xlabel() == "time (s)"


def test_a_drop_without_a_marker_of_its_own_is_drawn_with_its_reason(logged: tr.Result) -> None:
    assert logged.packets is not None
    fates = [fate.replace("overflow", "pool") for fate in logged.packets["fate"].to_pylist()]
    place = logged.packets.column_names.index("fate")
    changed = replace(logged, packets=logged.packets.set_column(place, "fate", pa.array(fates)))
    assert labels(changed.plot("arrivals").axes[0]) == [
        "packet",
        f"dropped (pool) ({fates.count('pool')})",
    ]


def test_no_arrivals_no_picture(recorded: tr.Result) -> None:
    with pytest.raises(ValueError, match=r'as in arrival_log = \{ from = "60 s"'):
        recorded.plot("arrivals")


def test_no_series_no_picture(small: Path) -> None:
    with pytest.raises(ValueError, match="no series was recorded"):
        tr.run(small, series_samples=None).plot()


def test_unknown_kind_is_named(recorded: tr.Result) -> None:
    with pytest.raises(
        ValueError, match="no plot 'pie'; choose one of windows, utilization, dispersion, arrivals"
    ):
        recorded.plot("pie")  # type: ignore[arg-type]


SIGNATURES = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.mark.parametrize("file_format", SIGNATURES)
def test_command_draws_a_saved_result(
    tailroom: Tailroom, recorded: tr.Result, tmp_path: Path, file_format: str
) -> None:
    recorded.save(tmp_path / "saved")
    ended = tailroom("plot", tmp_path / "saved", "--kind", "windows", "--format", file_format)
    assert ended.status == 0
    picture = tmp_path / "saved" / f"windows_and_queue.{file_format}"
    assert ended.output == f"{picture}\n"
    assert picture.read_bytes().startswith(SIGNATURES[file_format])


def test_command_draws_a_scenario(tailroom: Tailroom, small: Path) -> None:
    ended = tailroom("plot", small)
    assert ended.status == 0
    assert ended.output.splitlines() == [
        str(small.with_name("small-windows_and_queue.png")),
        str(small.with_name("small-utilization.png")),
    ]
    assert all(Path(line).stat().st_size > 10_000 for line in ended.output.splitlines())


def test_figures_need_no_display(recorded: tr.Result) -> None:
    assert isinstance(recorded.plot(), Figure)


def test_pdf_files_embed_true_type_fonts(recorded: tr.Result, tmp_path: Path) -> None:
    """Journals refuse fonts of Type 3, matplotlib's default."""
    path = tmp_path / "utilization.pdf"
    recorded.plot("utilization").savefig(path)
    written = path.read_bytes()
    assert b"/Type3" not in written
    assert b"/CIDFontType2" in written
