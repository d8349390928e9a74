"""Defect 19 of the first-contact review: pictures that can be read off."""

import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter

import tailroom as tr
from tailroom.plots import model_curves, style
from tailroom.plots.log_axis import label_logarithmic
from tailroom.plots.plain_text_figure import PlainTextFigure
from tailroom.plots.readable_names import readable
from tailroom.scenario.axis import parse_axis
from tests.conftest import SMALL

pytestmark = pytest.mark.usefixtures("quick_models")


def tick_labels(low: float, high: float) -> list[str]:
    """The labels of a logarithmic axis, within its limits."""
    figure = Figure()
    axes = figure.subplots()
    axes.set_yscale("log")
    axes.set_ylim(low, high)
    label_logarithmic(axes.yaxis)
    figure.draw_without_rendering()
    ticks = [*axes.yaxis.get_major_ticks(), *axes.yaxis.get_minor_ticks()]
    shown = [one for one in ticks if low <= one.get_loc() <= high]
    return [text for text in (one.label1.get_text() for one in shown) if text]


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (1, 50, ["1", "2", "5", "10", "20", "50"]),
        (0.3, 9, ["0.5", "1", "2", "5"]),
        (800, 30000, ["1,000", "2,000", "5,000", "10,000", "20,000"]),
        (2.5, 7, ["3", "4", "5", "6"]),
        (11, 35, ["15", "20", "30"]),
        (1, 10000, ["1", "10", "100", "1,000", "10,000"]),
    ],
)
def test_a_logarithmic_axis_is_labelled_often_enough(
    low: float, high: float, labels: list[str]
) -> None:
    assert tick_labels(low, high) == labels


@pytest.mark.parametrize(
    ("names", "shown"),
    [
        (["reno", "backoff:Backoff"], ["reno", "Backoff"]),
        (["my.controls:SlowStartOnly"], ["Slow Start Only"]),
        (["m:MyBBR", "m:BBRLite", "m:BBRv3Mine"], ["My BBR", "BBR Lite", "BBRv3 Mine"]),
        (["m:gentle_cubic least 0.7"], ["gentle cubic least 0.7"]),
        (["__main__:test.<locals>.Held"], ["Held"]),
        # Alike but for their modules or not classes at all: as they are.
        (["a:Backoff", "b:Backoff", "cubic"], ["a:Backoff", "b:Backoff", "cubic"]),
        (["a:Backoff", "a:Backoff-2"], ["Backoff", "Backoff 2"]),
        (["0.25 bdp", "tcp://host:8786", "5:1"], ["0.25 bdp", "tcp://host:8786", "5:1"]),
    ],
)
def test_a_class_of_a_users_own_is_shown_by_the_words_of_its_name(
    names: list[str], shown: list[str]
) -> None:
    assert readable(names) == shown


class SlowBackoff:
    """Reno that falls to nine tenths."""

    def on_ack(self, event: tr.AckEvent) -> float:
        """The window after an ACK."""
        return event.cwnd_packets + event.acked_packets / event.cwnd_packets

    def on_congestion(self, event: tr.CongestionEvent) -> float:
        """The window to fall to."""
        return 0.9 * event.cwnd_packets


def test_legends_of_choices_and_sweeps_name_a_control_in_words(small: Path, tmp_path: Path) -> None:
    vary = {"flows.reno.congestion": ["reno", f"{__name__}:SlowBackoff"]}
    limits = {"links.bottleneck.queue.limit": ["5 packets", "20 packets"]}
    compared = tr.choices(small, vary, workers=1)
    swept = tr.sweep(small, grid=vary | limits, store=tmp_path / "store", workers=1, seeds=2)
    for figure in (compared.plot(), swept.plot()):
        texts = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
        assert any("Slow Backoff" in text for text in texts), texts
        assert not any(":" in text for text in texts), texts
    # Tables keep the name by which the control is found again.
    assert compared.choices[1].words == (f"{__name__}:SlowBackoff",)


def test_measured_values_over_less_than_two_decades_have_labels_between() -> None:
    figure = Figure()
    axes = figure.subplots()
    axes.plot([1, 2, 3], [3.0, 20.0, 95.0])
    style.scale_up(axes, [3.0, 20.0, 95.0])
    figure.draw_without_rendering()
    shown = {one.label1.get_text() for one in axes.yaxis.get_major_ticks()}
    assert {"2", "5", "10", "20", "50"} <= shown


def test_a_figure_of_size_has_one_unit_for_each_quantity(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(SMALL, encoding="utf-8")
    targets = ["utilization >= 0.9", "queue_delay_s_mean <= 20 ms"]
    found = tr.size(file, targets, max_seeds=4, workers=1)
    panels = found.plot().axes
    assert [one.get_ylabel() for one in panels] == [
        "utilization (%)",
        "mean queueing delay (ms)",
        "loss (%)",
        "",
        "utilization (%)",
    ]
    titles = [one.get_title(loc="left") for one in panels[:2]]
    assert titles == ["target: at least 90 %", "target: at most 20 ms"]
    # No utilization is above 100 %.
    assert max(panels[0].get_yticks()) <= 100
    assert max(panels[-1].get_yticks()) <= 100
    # Both pictures of utilization show the same numbers.
    over_limit = next(line for line in panels[0].lines if len(line.get_xdata()) > 2)  # type: ignore[arg-type]
    assert list(over_limit.get_ydata()) == pytest.approx(list(panels[-1].lines[0].get_ydata()))  # type: ignore[arg-type]


def test_the_trade_off_of_size_is_logarithmic_where_delays_span_decades(tmp_path: Path) -> None:
    """On a linear axis, the buffers near the answer stood on one vertical line."""
    file = tmp_path / "small.toml"
    file.write_text(SMALL, encoding="utf-8")
    found = tr.size(
        file, ["utilization >= 0.5"], max_seeds=4, precision=0.5, workers=1, atlas=False
    )
    delays = [one.interval("queue_delay_s_mean").mean for one in found.tried]
    assert max(delays) > 30 * min(delays)
    panel = found.plot().axes[-1]
    assert panel.get_xscale() == "log"
    # The answer is labelled, whatever other labels are left out.
    assert f"{found.limit_packets:,}" in [text.get_text() for text in panel.texts]


def test_labels_of_minor_ticks_are_formulas_only_where_matplotlib_writes_them() -> None:
    """Formulas stood unformatted below the pictures of choices."""
    figure = PlainTextFigure()
    axes = figure.subplots()
    axes.set_xscale("log")
    axes.set_xlim(2, 9)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"${value:g}$"))
    figure.draw_without_rendering()
    minor = [one for one in axes.get_xticklabels(minor=True) if one.get_text()]
    assert minor
    assert all(one.get_parse_math() for one in minor)
    assert not any(one.get_parse_math() for one in axes.get_xticklabels())


def test_more_windows_than_line_styles_are_coloured_by_group(tmp_path: Path) -> None:
    file = tmp_path / "groups.toml"
    cubic = SMALL[SMALL.index("[flows.reno]") :].replace("reno", "cubic")
    text = (SMALL + cubic).replace("count = 2", "count = 8")
    file.write_text(text, encoding="utf-8")
    panel = tr.run(file, series_samples=20).plot().axes[0]
    first, second = panel.lines
    assert first.get_color() != second.get_color()
    words = "(mean of 8, smallest to largest)"
    assert panel.get_legend_handles_labels()[1][:2] == [f"reno\n{words}", f"cubic\n{words}"]


def test_models_whose_assumptions_fail_are_grey(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    # One flow: the sawtooth's assumptions hold; those of the square root rule, of many, fail.
    file.write_text(SMALL.replace("count = 2\n", ""), encoding="utf-8")
    axis = parse_axis('links.bottleneck.queue.limit=["10 packets", "20 packets", "40 packets"]')
    curves = tr.predict_over(file, axis, models=["square_root_rule", "sawtooth"])
    assert [one.fails("square_root_rule") for one in curves.points] == [True] * 3
    holding = [not one.fails("sawtooth") for one in curves.points]
    figure = model_curves.draw(curves)
    panel = figure.axes[0]
    grey = model_curves.FAILING["color"]
    failing = [line for line in panel.lines if line.get_color() == grey]
    assert "square_root_rule" in {line.get_label() for line in failing}
    sawtooth = next(
        line for line in panel.lines if line.get_label() == "sawtooth" and line.get_color() != grey
    )
    assert np.isfinite(np.asarray(sawtooth.get_ydata(), dtype=float)).tolist() == holding
    # The names stand right of the panel, each once, and do not overlap.
    assert sorted(text.get_text() for text in panel.texts) == ["sawtooth", "square_root_rule"]
    figure.draw_without_rendering()
    first, second = (text.get_window_extent() for text in panel.texts)
    assert not first.overlaps(second)
    assert min(first.x0, second.x0) > panel.get_window_extent().x1
    # A piece of its line stands before each name: the same marker and dashes, at its height.
    pieces = [one for one in figure.findobj(Line2D) if one.get_label() == "_piece"]
    looks = {line.get_label(): (line.get_marker(), line.get_color()) for line in panel.lines}
    for text in panel.texts:
        box = text.get_window_extent()
        [piece] = [
            one
            for one in pieces
            if box.y0 < one.get_window_extent().y0 + one.get_window_extent().height / 2 < box.y1
        ]
        assert (piece.get_marker(), piece.get_color()) == looks[text.get_text()]
        assert panel.get_window_extent().x1 < piece.get_window_extent().x0
        assert piece.get_window_extent().x1 <= box.x0


def test_no_name_of_a_model_lies_on_a_line_or_on_another(tmp_path: Path) -> None:
    """Names stand right of the panels, where the leaders and the pieces of the lines end."""
    file = tmp_path / "small.toml"
    file.write_text(SMALL, encoding="utf-8")
    axis = parse_axis('links.bottleneck.queue.limit=["5 packets", "40 packets", "400 packets"]')
    figure = model_curves.draw(tr.predict_over(file, axis, seeds=2))
    figure.draw_without_rendering()
    texts = [text for panel in figure.axes for text in panel.texts]
    boxes = [text.get_window_extent() for text in texts]
    assert len(boxes) >= 8
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    looks = {
        (line.get_marker(), line.get_label())
        for panel in figure.axes
        for line in panel.lines
        if not str(line.get_label()).startswith("_")
    }
    # Each model has a marker of its own, so that grey lines differ.
    assert len({marker for marker, _ in looks}) == len({name for _, name in looks})
    for line in figure.findobj(Line2D):
        corners = line.get_transform().transform(np.asarray(line.get_xydata(), dtype=float))
        known = corners[np.isfinite(corners).all(axis=1)]
        for start, end in itertools.pairwise(known):
            along = start + np.linspace(0, 1, 200)[:, np.newaxis] * (end - start)
            is_of_figure = line.axes is None
            for box in boxes if is_of_figure else []:
                inside = (along > (box.x0, box.y0)) & (along < (box.x1, box.y1))
                assert not inside.all(axis=1).any()
    panels = [panel.get_window_extent() for panel in figure.axes]
    assert not any(box.overlaps(panel) for box in boxes for panel in panels)


def test_models_and_the_answer_of_size_differ_in_colour(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(SMALL, encoding="utf-8")
    found = tr.size(file, ["utilization >= 0.9"], max_seeds=4, workers=1)
    figure = found.plot()
    handles = {one.get_label(): one for one in figure.legends[0].legend_handles if one}
    models = [one for name, one in handles.items() if str(name).startswith("model")]
    [answer] = [one for name, one in handles.items() if str(name).startswith("answer")]
    assert models
    assert all(one.get_color() != answer.get_color() for one in models)  # type: ignore[attr-defined]


def test_an_arrow_stands_for_a_model_outside_the_axis(tmp_path: Path) -> None:
    """A circle at the edge would claim that the model requires the largest buffer tried."""
    file = tmp_path / "small.toml"
    file.write_text(SMALL, encoding="utf-8")
    found = tr.size(file, ["utilization >= 0.95"], max_seeds=4, workers=1)
    # As if fewer had been tried, so that models require more.
    found = replace(found, tried=tuple(one for one in found.tried if one.limit < 40))
    figure = found.plot()
    panel = next(one for one in figure.axes if one.get_title(loc="left").startswith("buffers that"))
    low, high = panel.get_xlim()
    required = {
        answer.model.name: answer.prediction.required_packets
        for answer in found.predictions.answers
        if answer.prediction and answer.prediction.required_packets
    }
    rows = [text.get_text() for text in panel.get_yticklabels()]
    drawn = {
        rows[round(row)]: (line.get_marker(), place)
        for line in panel.lines
        if line.get_linestyle() == "None"
        for place, row in np.asarray(line.get_xydata(), dtype=float)
    }
    assert drawn.keys() == set(rows)
    for name, (marker, place) in drawn.items():
        packets = required[name]
        assert marker == ("<" if packets < low else ">" if packets > high else "o")
        assert place == pytest.approx(min(max(packets, low), high))
    assert {marker for marker, _ in drawn.values()} > {"o"}
    figure.draw_without_rendering()
    assert min(one.get_window_extent().height for one in figure.axes) > 30


def test_a_frontier_names_its_targets_and_joins_no_words(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(SMALL, encoding="utf-8")
    over = {"flows.reno.congestion": ["reno", "cubic"]}
    found = tr.frontier(file, ["utilization >= 90%"], over=over, max_seeds=4, workers=1)
    figure = found.plot()
    words = "Smallest buffer of link bottleneck for utilization >= 90% and loss_fraction <= 1%"
    assert figure.get_suptitle().split() == words.split()
    above, below = figure.axes
    assert {line.get_linestyle() for line in (*above.lines, *below.lines)} == {"None"}
    assert below.get_ylabel() == "queueing delay\nat the answer (ms)"


def test_the_picture_of_a_measurement_tells_its_buffer_and_the_idle_rtt() -> None:
    measured = Path(__file__).parent / "measurements" / "simulated.flent.gz"
    compared = tr.compare_measured(measured)
    figure = compared.plot()
    words = " ".join(figure.get_suptitle().split())
    assert words.casefold() == compared.buffer.sentence.casefold()
    idle_ms = 1e3 * (compared.measurement.idle_rtt_s or 0)
    [line] = [one for one in figure.axes[0].lines if one.get_label() == "idle RTT"]
    assert list(line.get_ydata()) == pytest.approx([idle_ms] * 2)  # type: ignore[arg-type]
    figure.draw_without_rendering()
    legend, title = figure.legends[0].get_window_extent(), figure.texts[0].get_window_extent()
    assert not legend.overlaps(title)


def test_the_simulation_stands_next_to_the_models(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(SMALL, encoding="utf-8")
    axis = parse_axis('links.bottleneck.queue.limit=["10 packets", "20 packets"]')
    curves = tr.predict_over(file, axis, models=["sawtooth"], seeds=2)
    panel = model_curves.draw(curves).axes[0]
    drawn = next(line for line in panel.lines if line.get_linewidth() == 2)
    keys = ("10 packets", "20 packets")
    limits = [{"links.bottleneck.queue.limit": key} for key in keys]
    runs = [[tr.run(file, set=one, seed=seed) for seed in (1, 2)] for one in limits]
    means = [sum(run.links["bottleneck"]["utilization"] for run in some) / 2 for some in runs]
    assert list(drawn.get_ydata()) == pytest.approx([100 * mean for mean in means])  # type: ignore[arg-type]
    points = curves.as_dict()["points"]
    told = [point["simulation"]["utilization"]["mean"] for point in points]
    assert told == pytest.approx(means)
    assert "simulation" not in tr.predict_over(file, axis, models=["sawtooth"]).as_dict()["points"]
    with pytest.raises(tr.ArgumentError, match="seeds: -1 is out of range"):
        tr.predict_over(file, axis, seeds=-1)
