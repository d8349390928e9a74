"""How results look in a console and in a notebook."""

import base64
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

import tailroom as tr
from tailroom.reports import notebook
from tailroom.scenario.axis import Axis

pytestmark = pytest.mark.usefixtures("quick_models")

MEASURED = "tests/measurements/simulated.flent.gz"
LIMIT = "links.bottleneck.queue.limit"
PNG = b"\x89PNG\r\n\x1a\n"


class _Reader(HTMLParser):
    """Counts rows and pictures, and refuses tags that are not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.rows = 0
        self.pictures: list[bytes] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in {"div", "table", "tr", "th", "td", "p", "figure", "figcaption", "img"}
        if tag == "img":
            kind, _, data = (dict(attrs)["src"] or "").partition(",")
            assert kind == "data:image/png;base64"
            self.pictures.append(base64.b64decode(data))
            return
        self.open.append(tag)
        self.rows += tag == "tr"

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def _read(value: object) -> _Reader:
    reader = _Reader()
    reader.feed(value._repr_html_())  # type: ignore[attr-defined]
    reader.close()
    assert not reader.open
    return reader


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """A small result of each kind that is shown with a table and a picture."""
    place: Path = tmp_path_factory.mktemp("shown")
    short = {"duration": "6 s", "measure_from": "1 s"}
    grid = {LIMIT: ["10 packets", "40 packets"]}
    return {
        "Result": tr.run("first", set=short, series_samples=50),
        "SweepResult": tr.sweep("first", store=place / "store", grid=grid, seeds=2, set=short),
        "Size": tr.size("first", ["utilization >= 50%"], set=short, max_seeds=4),
        "Predictions": tr.predict("first"),
        "Choices": tr.choices("first", {LIMIT: ["10 packets", "40 packets"]}, set=short),
        "Curves": tr.predict_over("first", Axis(LIMIT, ("10 packets", "100 packets"))),
        "MeasuredComparison": tr.compare_measured(MEASURED, "first", set=short),
    }


def test_a_representation_has_a_few_lines_and_names_the_class(shown: dict[str, object]) -> None:
    for name, value in shown.items():
        text = repr(value)
        assert text.startswith(f"<{name}"), text
        assert text.endswith(">"), text
        assert len(text.splitlines()) <= 10, text
        assert len(text) < 800, text


def test_a_representation_has_the_numbers_of_the_result(shown: dict[str, object]) -> None:
    result = shown["Result"]
    assert isinstance(result, tr.Result)
    assert f"utilization {100 * result.links['bottleneck']['utilization']:.4g} %" in repr(result)
    size = shown["Size"]
    assert isinstance(size, tr.Size)
    assert size.answer is not None
    assert f"needs {size.varied.text(size.answer)} (" in repr(size)
    assert "2 points over links.bottleneck.queue.limit, 4 runs finished" in repr(
        shown["SweepResult"]
    )


def test_a_representation_does_not_grow_with_the_number_of_groups() -> None:
    many = tr.run("first", set={"duration": "2 s", "measure_from": "1 s"})
    group = many.groups["reno"]
    groups = {f"group{place}": group for place in range(50)}
    wide = tr.Result(summary={**many.summary, "groups": groups}, scenario=many.scenario)
    assert len(repr(wide).splitlines()) < 9
    assert "... and 46 more" in repr(wide)


def test_a_notebook_shows_a_table_and_one_picture(shown: dict[str, object]) -> None:
    rows = {"Result": 4, "SweepResult": 3, "Choices": 3}
    for name, value in shown.items():
        reader = _read(value)
        assert len(reader.pictures) == 1, name
        assert reader.pictures[0].startswith(PNG)
        assert rows.get(name, reader.rows) == reader.rows, name


def test_a_notebook_shows_the_picture_of_a_plot(shown: dict[str, object]) -> None:
    for name in ("Result", "SweepResult", "Size", "Choices", "Curves"):
        figure = shown[name].plot()  # type: ignore[attr-defined]
        assert figure._repr_png_().startswith(PNG), name


def test_a_result_without_series_is_shown_as_a_table_alone(small: Path) -> None:
    result = tr.run(small, series_samples=None)
    assert _read(result).pictures == []


def test_names_in_a_notebook_are_escaped() -> None:
    short = {"duration": "2 s", "measure_from": "1 s", "title": "<script>alert(1)</script>"}
    page = tr.run("first", set=short)._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


def test_a_capture_is_represented_by_its_numbers() -> None:
    capture = tr.import_capture("tests/captures/web.pcap")
    numbers = re.findall(r"[\d,]+", repr(capture))
    assert f"{capture.packets:,}" in numbers
    assert f"{capture.flows.num_rows:,}" in numbers
    assert "\n" not in repr(capture)


@pytest.mark.parametrize(
    ("mean", "width", "shown"),
    [
        ("0.03238", 0.01444, "0.014"),
        ("0.008062", 1.34e-6, "0.000001"),
        ("19.75", 1.67e-5, "0"),
        ("100", 0.0, "0"),
        ("151.3", 1.24, "1.2"),
        ("20,000", 1_234.0, "1,200"),
        ("1.2e-07", 3.44e-9, "3.4e-09"),
    ],
)
def test_an_arm_has_two_digits_and_no_more_decimals_than_the_mean(
    mean: str, width: float, shown: str
) -> None:
    assert notebook._length(width, mean) == shown
