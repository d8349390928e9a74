"""Presets whose links vary: what docs/guide/varying-links.md says of their buffers."""

from pathlib import Path

import pytest

from varying_link_pictures import Measured, drop_tail, measured, read, table_cell
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


def test_the_table_of_the_guide_is_what_its_program_writes() -> None:
    rows = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines()]
    columns = {row[0]: row for row in rows if len(row) == 5}
    for column, name, link in ((2, "wifi", "air"), (3, "cellular", "cell")):
        assert name in columns["| buffer"][column]
        for head, bdp in (("| 0.25 bdp", 0.25), ("| 1 bdp", 1)):
            cell = table_cell(with_buffer(name, link, bdp))
            assert columns[head][column] == cell, "run tools/varying_link_pictures.py"
