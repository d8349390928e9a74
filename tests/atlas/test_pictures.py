"""Pictures of the atlas: thresholds with numbers, legends that cover no line, intervals."""

import itertools

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.container import ErrorbarContainer

from tailroom.buffer_atlas.data import atlas
from tailroom_atlas import page


@pytest.fixture(scope="module")
def panels() -> list[Axes]:
    figure = page.draw(atlas())["home"]
    figure.draw_without_rendering()
    return list(figure.axes)


def test_each_threshold_has_its_number(panels: list[Axes]) -> None:
    for panel in panels:
        assert [text.get_text() for text in panel.texts] == ["95 %", "98 %", "99.5 %"]
        boxes = [text.get_window_extent() for text in panel.texts]
        assert not any(low.overlaps(high) for low, high in itertools.pairwise(boxes))
        assert all(box.x0 > panel.get_window_extent().x1 for box in boxes)


def test_no_legend_covers_a_panel(panels: list[Axes]) -> None:
    legends = [legend.get_window_extent() for panel in panels if (legend := panel.get_legend())]
    assert len(legends) == len(panels)
    assert not any(
        legend.overlaps(panel.get_window_extent()) for legend in legends for panel in panels
    )


def test_means_have_their_intervals(panels: list[Axes]) -> None:
    """The half-widths are those of the data; none reaches above a utilization of 1."""
    known = {
        (round(row["utilization"], 9), round(row["utilization_half_width"], 9))
        for row in atlas().curves.to_pylist()
        if row["utilization_half_width"]
    }
    lengths = []
    for line in panels[0].containers:
        assert isinstance(line, ErrorbarContainer)
        _, _, (bars,) = line
        for (_, low), (_, high) in np.asarray(bars.get_segments()):
            assert high <= 1 + 1e-12
            if 0 < high - low < 2 * (1 - high):  # not cut at 1
                lengths.append((round((low + high) / 2, 9), round((high - low) / 2, 9)))
    assert len(lengths) > 10
    assert set(lengths) <= known
