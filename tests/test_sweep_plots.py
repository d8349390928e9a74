"""Figures of sweeps: lines, labels, units and bands are those of the numbers in the store."""

import itertools
import json
from math import asin, isfinite, pi, sin, sqrt
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure

import tailroom as tr
from tailroom import models
from tailroom.models import Model, Prediction
from tailroom.plots import style
from tests.conftest import SMALL, Printed, Tailroom

pytestmark = pytest.mark.usefixtures("quick_models")

LIMIT = "links.bottleneck.queue.limit"
CONTROL = "flows.reno.congestion"
LIMITS = [2, 8, 32, 128]
CONTROLS = ["reno", "cubic"]
QUANTILE = 4.303
"""Student's t, 97.5 %, 2 degrees of freedom, from a printed table."""


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tr.SweepResult:
    directory = tmp_path_factory.mktemp("sweep")
    file = directory / "small.toml"
    file.write_text(
        SMALL.replace('rtt = "20 ms"', 'rtt = { uniform = ["20 ms", "30 ms"] }'), encoding="utf-8"
    )
    grid = {CONTROL: CONTROLS, LIMIT: [f"{one} packets" for one in LIMITS]}
    return tr.sweep(file, store=directory / "store", grid=grid, seeds=3, workers=1)


def by_hand(swept: tr.SweepResult, control: str, limit: int, metric: str) -> tuple[float, float]:
    """Mean and half-width over the three runs of a point."""
    runs = swept.runs.filter(
        (pc.field(CONTROL) == control) & (pc.field(LIMIT) == f"{limit} packets")
    )
    values = runs[metric].to_pylist()
    assert len(values) == 3
    return mean(values), QUANTILE * stdev(values) / sqrt(3)


def panel(figure: Figure, label: str) -> Axes:
    return next(one for one in figure.axes if one.get_ylabel() == label)


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def xy(line: Any) -> list[list[float]]:
    return [list(map(float, one)) for one in line.get_xydata().T]


def test_curves_have_a_panel_a_metric_and_a_line_a_control(swept: tr.SweepResult) -> None:
    figure = swept.plot()
    assert figure.get_suptitle() == (
        "Two Reno flows; varied: congestion of reno, buffer of bottleneck"
    )
    assert [one.get_ylabel() for one in figure.axes] == [
        "utilization (%)",
        "loss (%)",
        "mean queueing delay (ms)",
        "p99 queueing delay (ms)",
        "fairness (Jain's index)",
    ]
    assert figure.get_supxlabel() == "buffer of bottleneck (packets)"
    assert legend(figure) == [*CONTROLS, "95 % confidence, n = 3 runs"]
    for one in figure.axes:
        assert len(one.lines) == 2
        assert len({line.get_linestyle() for line in one.lines}) == 2
        assert len({line.get_marker() for line in one.lines}) == 2
        assert one.get_xscale() == "log"
        assert [tick.get_text() for tick in one.get_xticklabels()] == ["2", "8", "32", "128"]


def ends_by_hand(middle: float, half: float, *, is_fraction: bool) -> tuple[float, float]:
    """The ends of an interval: of a fraction on the arcsine scale, else not below 0."""
    if not is_fraction or not half or middle >= 1:
        return max(middle - half, 0), middle + half
    angle, width = asin(sqrt(middle)), half / (2 * sqrt(middle * (1 - middle)))
    return sin(max(angle - width, 0)) ** 2, sin(min(angle + width, pi / 2)) ** 2


@pytest.mark.parametrize(
    ("label", "metric", "scale"),
    [
        ("utilization (%)", "links.bottleneck.utilization", 100),
        ("mean queueing delay (ms)", "links.bottleneck.queue_delay_s_mean", 1000),
        ("fairness (Jain's index)", "flows.jain_index", 1),
    ],
)
def test_lines_are_means_and_bands_their_intervals(
    swept: tr.SweepResult, label: str, metric: str, scale: float
) -> None:
    drawn = panel(swept.plot(), label)
    for line, band, control in zip(drawn.lines, drawn.collections, CONTROLS, strict=True):
        expected = [by_hand(swept, control, limit, metric) for limit in LIMITS]
        assert xy(line)[0] == LIMITS
        assert xy(line)[1] == pytest.approx([scale * one for one, _ in expected])
        corners = np.asarray(band.get_paths()[0].vertices)
        for limit, (middle, half) in zip(LIMITS, expected, strict=True):
            edges = corners[corners[:, 0] == limit, 1]
            # The quantile has four digits.
            low, high = ends_by_hand(middle, half, is_fraction="delay" not in metric)
            assert edges.min() == pytest.approx(scale * low, rel=1e-3, abs=1e-9)
            assert edges.max() == pytest.approx(scale * high, rel=1e-3, abs=1e-9)


def test_named_metrics_replace_the_usual_ones(swept: tr.SweepResult) -> None:
    figure = swept.plot(metrics=["reno.goodput_bps", "queue_packets_mean"])
    labels = [one.get_ylabel() for one in figure.axes]
    assert labels == ["goodput of reno (Mbit/s)", "mean queue (packets)"]
    expected = by_hand(swept, "cubic", 32, "groups.reno.goodput_bps")[0] / 1e6
    assert xy(figure.axes[0].lines[1])[1][2] == pytest.approx(expected)


def test_words_are_drawn_side_by_side(swept: tr.SweepResult) -> None:
    figure = swept.plot(x="congestion")
    assert figure.get_supxlabel() == "congestion of reno"
    ticks = [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
    assert ticks == CONTROLS
    assert legend(figure)[:4] == [f"buffer {limit} packets" for limit in LIMITS]
    points = [line for line in figure.axes[0].lines if line.get_marker() in style.MARKERS]
    # Nothing lies between two words: no lines, and the settings stand next to one another.
    assert all(line.get_linestyle() == "None" for line in points)
    assert xy(points[0])[0] == pytest.approx([-0.225, 0.775])
    assert xy(points[3])[0] == pytest.approx([0.225, 1.225])


def test_models_stand_next_to_the_curves(
    swept: tr.SweepResult, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Model(
        name="told",
        title="",
        source="",
        assumptions=lambda _: [],
        predict=lambda link, _: Prediction(utilization=link.limit_packets / 1000),
    )
    monkeypatch.setitem(models.MODELS, "told", told)
    figure = swept.plot(models=["told", "rule_of_thumb"])
    lines = panel(figure, "utilization (%)").lines
    # A simulated line, then what the model says at its settings: 100 % times limit / 1000.
    assert len(lines) == 4
    for line in (lines[1], lines[3]):
        assert xy(line) == [LIMITS, pytest.approx([0.1 * limit for limit in LIMITS])]
        assert line.get_linestyle() != "-"
    assert lines[0].get_linestyle() == lines[2].get_linestyle() == "-"
    assert len(panel(figure, "loss (%)").lines) == 2
    assert legend(figure)[2:4] == ["model: told", "model: rule_of_thumb (no prediction)"]


@pytest.mark.parametrize(
    "options",
    [
        {"metrics": ["utilization"], "models": ["square_root_rule", "drop_tail_fixed_point"]},
        {"models": ["drop_tail_fixed_point_md1k"]},
        {},
        {"kind": "tradeoff"},
    ],
)
def test_no_title_reaches_into_the_legend(
    swept: tr.SweepResult, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(swept.record, "title", " ".join(["Eight flows of BBR"] * 6))
    figure = swept.plot(**options)
    figure.draw_without_rendering()
    title = figure.texts[0].get_window_extent()
    assert not title.overlaps(figure.legends[0].get_window_extent())
    assert title.x0 >= 0
    assert not any(title.overlaps(panel.get_window_extent()) for panel in figure.axes)


def test_every_prediction_that_is_drawn_lies_inside_its_panel(swept: tr.SweepResult) -> None:
    """On logarithmic axes, the least of a model's values fell below the panel."""
    figure = swept.plot(models=["drop_tail_fixed_point", "sawtooth"])
    delays = next(one for one in figure.axes if one.get_ylabel().startswith("mean queueing"))
    assert delays.get_yscale() != "linear"
    low, _ = delays.get_ylim()
    simulated = min(min(xy(line)[1]) for line in delays.lines if line.get_linestyle() == "-")
    values = [value for line in delays.lines for value in xy(line)[1] if isfinite(value)]
    assert min(values) < simulated
    assert all(value >= low for value in values if value >= simulated / 10)


def test_a_long_legend_leaves_the_width_of_the_panel(swept: tr.SweepResult) -> None:
    def width_inches(**more: Any) -> float:
        figure = swept.plot(metrics=["utilization"], **more)
        figure.draw_without_rendering()
        return figure.axes[0].get_position().width * figure.get_figwidth()

    models = ["square_root_rule", "drop_tail_fixed_point_md1k"]
    assert width_inches(models=models) >= width_inches() - 0.3


def test_a_heat_map_has_a_cell_a_point(swept: tr.SweepResult) -> None:
    figure = swept.plot("heatmap", metrics=["queue_delay_s_p99"])
    cells, colours = figure.axes
    assert cells.get_xlabel() == "buffer of bottleneck (packets)"
    assert cells.get_ylabel() == "congestion of reno"
    assert colours.get_ylabel() == "p99 queueing delay (ms)\nn = 3 runs"
    assert [tick.get_text() for tick in cells.get_xticklabels()] == ["2", "8", "32", "128"]
    assert [tick.get_text() for tick in cells.get_yticklabels()] == CONTROLS
    drawn = np.asarray(cells.images[0].get_array())
    assert drawn.shape == (2, 4)
    expected = [
        [
            1e3 * by_hand(swept, one, limit, "links.bottleneck.queue_delay_s_p99")[0]
            for limit in LIMITS
        ]
        for one in CONTROLS
    ]
    assert drawn == pytest.approx(np.array(expected))
    assert not any(isinstance(one, QuadMesh) for one in cells.collections)


def test_the_trade_off_is_utilization_against_delay(swept: tr.SweepResult) -> None:
    figure = swept.plot("tradeoff")
    only = figure.axes[0]
    assert only.get_xlabel() == (
        "mean queueing delay (ms); the labels: buffer of bottleneck (packets)"
    )
    assert legend(figure) == [*CONTROLS, "95 % confidence, n = 3 runs"]
    lines = [line for line in only.lines if line.get_marker() in {"o", "s"}]
    delays = [
        by_hand(swept, "reno", one, "links.bottleneck.queue_delay_s_mean")[0] for one in LIMITS
    ]
    shares = [by_hand(swept, "reno", one, "links.bottleneck.utilization")[0] for one in LIMITS]
    assert xy(lines[0])[0] == pytest.approx([1e3 * one for one in delays])
    assert xy(lines[0])[1] == pytest.approx([100 * one for one in shares])
    assert {text.get_text() for text in only.texts} <= {"2", "8", "32", "128"}


def boxes(figure: Figure, texts: Any) -> list[Any]:
    figure.draw_without_rendering()
    return [text.get_window_extent() for text in texts if text.get_text()]


def test_labels_of_points_never_overlap() -> None:
    figure = Figure(figsize=(5, 3), layout="constrained")
    only = figure.subplots()
    points = [(1 + place**2 / 900, 50 + place / 3) for place in range(30)]
    only.plot(*np.transpose(points), "o")
    figure.draw_without_rendering()
    style.label_points(only, points, [f"{1000 + place:,}" for place in range(30)])
    found = boxes(figure, only.texts)
    assert 5 <= len(found) < 30
    assert not any(one.overlaps(other) for one, other in itertools.combinations(found, 2))


@pytest.mark.parametrize("seed", range(5))
def test_labels_of_points_lie_on_no_line(seed: int) -> None:
    """Sampled densely, no line has a point inside the box of a label."""
    drawn = np.random.default_rng(seed)
    figure = Figure(figsize=(6, 4), layout="constrained")
    only = figure.subplots()
    only.set_xscale("log")
    delays, shares = (
        np.sort(drawn.uniform(1, 100, (2, 12))),
        np.sort(drawn.uniform(50, 100, (2, 12))),
    )
    for delay, share in zip(delays, shares, strict=True):
        only.plot(delay, share, "o-")
        only.errorbar(delay, share, xerr=0.1 * delay, yerr=2, fmt="none")
    only.axhline(80)
    figure.draw_without_rendering()
    points = list(zip(delays.ravel(), shares.ravel(), strict=True))
    style.label_points(only, points, [f"{place * 37}" for place in range(24)])
    found = boxes(figure, only.texts)
    assert len(found) >= 8
    drawn_paths = [(line.get_transform(), line.get_path()) for line in only.lines]
    drawn_paths += [(only.transData, bar) for bars in only.collections for bar in bars.get_paths()]
    for transform, path in drawn_paths:
        corners = transform.transform(np.asarray(path.vertices))
        parts = np.linspace(corners[:-1], corners[1:], 400).reshape(-1, 2)
        for box in found:
            inside = (parts > [box.x0, box.y0]) & (parts < [box.x1, box.y1])
            assert not inside.all(axis=1).any()


@pytest.mark.parametrize(
    "values", [[41, 52, 55, 56, 58, 65, 82, 104, 131, 166], [1, 3, 10, 99, 9999, 10000]]
)
def test_ticks_never_overlap(values: list[float]) -> None:
    figure = Figure(figsize=(5, 3), layout="constrained")
    only = figure.subplots()
    only.plot(values, values)
    style.scale_over(only, values)
    found = boxes(figure, only.get_xticklabels())
    assert len(found) >= 4
    assert not any(one.overlaps(other) for one, other in itertools.combinations(found, 2))


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ([5, 10, 20, 41, 83], "log"),
        ([10, 20, 30, 40, 50, 60, 70, 80, 90, 100], "linear"),
        ([41, 52, 65, 82, 104, 131, 166], "linear"),
        ([1, 50, 100], "log"),
        ([0, 1, 100], "linear"),
    ],
)
def test_the_scale_is_the_one_that_keeps_values_apart(values: list[float], scale: str) -> None:
    only = Figure().subplots()
    style.scale_over(only, values)
    assert only.get_xscale() == scale


def test_a_key_that_another_settles_makes_no_line(tmp_path: Path, small: Path) -> None:
    together = {
        "links.bottleneck.rate": ["5 Mbit/s", "10 Mbit/s"],
        LIMIT: ["10 packets", "20 packets"],
    }
    swept = tr.sweep(small, store=tmp_path / "store", together=together, seeds=1, workers=1)
    figure = swept.plot()
    assert legend(figure) == ["simulation", "95 % confidence, n = 1 run"]
    line = panel(figure, "utilization (%)").lines[0]
    assert xy(line)[0] == [10, 20]
    with pytest.raises(ValueError, match="needs two keys in grid"):
        swept.plot("heatmap")


def test_a_single_run_has_no_band(tmp_path: Path, small: Path) -> None:
    grid = {LIMIT: ["10 packets", "20 packets"]}
    swept = tr.sweep(small, store=tmp_path / "store", grid=grid, seeds=1, workers=1)
    drawn = panel(swept.plot(), "utilization (%)")
    assert np.isfinite(xy(drawn.lines[0])[1]).all()
    assert all(len(one.get_paths()) == 0 for one in drawn.collections)


def test_zero_stands_at_the_foot_of_a_logarithmic_scale() -> None:
    only = Figure().subplots()
    style.scale_up(only, [0.0, 1e-4, 0.1])
    assert only.get_yscale() == "symlog"
    assert only.get_ylim()[0] == 0
    style.scale_up(other := Figure().subplots(), [1e-4, 0.1])
    assert other.get_yscale() == "log"
    style.scale_up(third := Figure().subplots(), [0.9, 1.0])
    assert third.get_yscale() == "linear"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "pie"}, "no plot 'pie' of a sweep; choose one of curves, heatmap, tradeoff"),
        ({"x": "rate"}, f"no varying key has this name; choose one of {CONTROL}, {LIMIT}"),
        ({"kind": "tradeoff", "y": "limit"}, "tradeoff: does not take y; leave it out"),
        (
            {"kind": "heatmap", "models": ["rule_of_thumb"]},
            "heatmap: does not take models; leave it out",
        ),
        ({"kind": "heatmap", "metrics": ["utilization", "loss_fraction"]}, "name only one"),
        ({"kind": "heatmap", "x": "limit", "y": "limit"}, "limit and limit are not combined"),
        ({"metrics": ["utilisation"]}, "did you mean utilization"),
        ({"models": ["crystal_ball"]}, "there is no model 'crystal_ball'"),
        ({"link": "core"}, "core: there is no such link; choose one of bottleneck"),
    ],
)
def test_what_cannot_be_drawn_is_named(
    swept: tr.SweepResult, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        swept.plot(**arguments)


def test_one_point_is_no_curve(tmp_path: Path, small: Path) -> None:
    swept = tr.sweep(small, store=tmp_path / "store", seeds=2, workers=1)
    with pytest.raises(ValueError, match="nothing varies in this sweep"):
        swept.plot()


def test_the_command_draws_into_the_store(tailroom: Tailroom, swept: tr.SweepResult) -> None:
    ended = tailroom("plot", swept.store.directory)
    assert ended.status == 0
    prefix = swept.store.directory / "plots" / swept.record.id
    assert ended.output.splitlines() == [f"{prefix}-curves.png", f"{prefix}-tradeoff.png"]
    assert all(Path(line).read_bytes().startswith(b"\x89PNG") for line in ended.output.splitlines())


@pytest.mark.parametrize(("ending", "begins"), [("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_the_command_draws_one_figure_into_a_file(
    tailroom: Tailroom, swept: tr.SweepResult, tmp_path: Path, ending: str, begins: bytes
) -> None:
    out = tmp_path / "new" / f"map.{ending}"
    ended = tailroom("plot", swept.store.directory, "--kind", "heatmap", "--out", out)
    assert (ended.status, ended.output) == (0, f"{out}\n")
    assert out.read_bytes().startswith(begins)


def test_wrong_input_is_refused(printed: Printed, swept: tr.SweepResult, tmp_path: Path) -> None:
    (tmp_path / "store").symlink_to(swept.store.directory)
    printed("refusals_of_plot")


def test_compare_gives_the_interval_of_the_simulation(tailroom: Tailroom, small: Path) -> None:
    small.write_text(
        SMALL.replace('rtt = "20 ms"', 'rtt = { uniform = ["20 ms", "30 ms"] }'), encoding="utf-8"
    )
    ended = tailroom("compare", small, "--seeds", 3, "--seed", 5, "--json")
    assert ended.status == 0
    said = json.loads(ended.output)
    assert said["seeds"] == 3
    for metric in ("utilization", "queue_delay_s_mean"):
        links: list[Any] = [tr.run(small, seed=seed).links["bottleneck"] for seed in (5, 6, 7)]
        values = [link[metric] for link in links]
        assert said["simulation"][metric]["mean"] == pytest.approx(mean(values))
        half = QUANTILE * stdev(values) / sqrt(3)
        assert said["simulation"][metric]["half_width"] == pytest.approx(half, rel=1e-3)
    assert tailroom("compare", small, "--store", "there").status == 2


def test_a_metric_named_in_full_needs_no_link(tailroom: Tailroom, tmp_path: Path) -> None:
    """Defect 7 of the first-contact review: `--metric groups.X.links.Y.M` asked for a link."""
    scenario = """
        duration = "2 s"
        [links.first]
        rate = "10 Mbit/s"
        delay = "2 ms"
        queue = { kind = "drop_tail", limit = "20 packets" }
        [links.second]
        rate = "8 Mbit/s"
        delay = "2 ms"
        queue = { kind = "drop_tail", limit = "20 packets" }
        [flows.reno]
        path = ["first", "second"]
        congestion = { kind = "reno" }
        rtt = "20 ms"
        """
    file = tmp_path / "two.toml"
    file.write_text(scenario, encoding="utf-8")
    rtts = ["20 ms", "40 ms", "60 ms"]
    swept = tr.sweep(
        file, store=tmp_path / "store", grid={"flows.reno.rtt": rtts}, seeds=2, workers=1
    )
    for metric in (
        "groups.reno.links.second.queue_delay_s_mean",
        "links.second.utilization",
        "second.utilization",
        "reno.goodput_bps",
    ):
        picture = tmp_path / f"{metric}.png"
        arguments = ("--metric", metric, "--kind", "curves", "--out", picture)
        ended = tailroom("plot", tmp_path / "store", *arguments)
        assert (ended.status, ended.errors) == (0, ""), metric
        assert picture.exists()
    figure = swept.plot(metrics=["links.second.utilization"], models=["rule_of_thumb", "sawtooth"])
    assert "model: sawtooth" in " ".join(legend(figure))
    ended = tailroom("plot", tmp_path / "store", "--metric", "utilization")
    assert ended.status == 2
    assert "first.utilization, second.utilization" in ended.errors
    ended = tailroom("plot", tmp_path / "store")
    assert ended.status == 2
    assert "choose one of first, second with --link" in ended.errors
