"""Presets whose links vary: what docs/guide/varying-links.md says of their buffers."""

from pathlib import Path

import pytest

from varying_link_pictures import CODEL, PRESETS, Measured, drop_tail, measured, read, table_cell
from varying_link_pictures import without_variation as constant

PAGE = Path(__file__).parents[1] / "docs/guide/varying-links.md"


def with_buffer(name: str, link: str, bdp: float, *, varies: bool = True) -> Measured:
    preset = read(name)
    return measured(preset if varies else constant(preset), link, drop_tail(bdp))


@pytest.mark.parametrize(("name", "link"), [("wifi", "air"), ("cellular", "cell")])
def test_one_bdp_fills_a_constant_link_but_none_whose_rate_varies(name: str, link: str) -> None:
    assert with_buffer(name, link, 1, varies=False).utilization > 0.97
    assert with_buffer(name, link, 1).utilization < 0.9
    assert with_buffer(name, link, 4).utilization > 0.98


def test_a_limit_in_milliseconds_limits_no_delay_where_the_rate_varies() -> None:
    for bdp in (1, 8):
        cellular = with_buffer("cellular", "cell", bdp)
        assert cellular.delay_s_p99 > 2.5 * cellular.full_s
    smallest = with_buffer("wifi", "air", 0.25)
    assert smallest.delay_s_p99 > 0.04 > 4 * smallest.full_s


def test_grants_of_a_few_milliseconds_cost_little_from_half_a_bdp_on() -> None:
    assert with_buffer("docsis", "up", 0.5).utilization > 0.97
    granted, constantly = (with_buffer("docsis", "up", 1, varies=it) for it in (True, False))
    assert granted.delay_s_p99 <= constantly.delay_s_p99


@pytest.mark.parametrize(
    ("name", "head", "queue"),
    [
        ("low-orbit", "0.25 bdp", drop_tail(0.25)),
        ("wifi", "0.25 bdp", drop_tail(0.25)),
        ("wifi", "1 bdp", drop_tail(1)),
        ("wifi", "`codel`", CODEL),
        ("cellular", "0.25 bdp", drop_tail(0.25)),
        ("cellular", "1 bdp", drop_tail(1)),
        ("docsis", "0.5 bdp", drop_tail(0.5)),
        ("docsis", "`codel`", CODEL),
    ],
)
def test_a_cell_of_the_guide_is_what_its_program_writes(
    name: str, head: str, queue: dict[str, object]
) -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    rows = [line.strip("| ").split(" | ") for line in lines if line.count(" | ") == len(PRESETS)]
    column = rows[0].index(f"`{name}`")
    (cell,) = (row[column] for row in rows if row[0] == head)
    assert cell == table_cell(measured(read(name), PRESETS[name], queue)), (
        "run tools/varying_link_pictures.py"
    )
