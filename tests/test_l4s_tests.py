"""The published shares of two flows, and short runs of rows of that table."""

import pytest

from tests.validation import l4s_tests


def test_the_table_has_every_row_of_three_queues_once() -> None:
    rows = l4s_tests.rows()
    assert len({(row.queue, row.controls, row.rtts_ms) for row in rows}) == len(rows) == 72
    for queue in l4s_tests.QUEUES:
        assert sum(row.queue == queue for row in rows) == 24


def test_the_published_rates_fill_the_link_without_its_headers() -> None:
    payload_mbps = 50 * (1514 - 66) / 1514
    for row in l4s_tests.rows():
        assert sum(row.published) == pytest.approx(payload_mbps, rel=0.035), row.name


def test_rows_that_were_measured_twice_are_found() -> None:
    pairs = list(l4s_tests.repeated(l4s_tests.rows()))
    assert len(pairs) == 9, "CUBIC next to Prague, three RTTs, three queues"
    shares = {row.name: pair for row, pair in pairs}
    assert shares["dualpi2 cubic(10ms) prague(10ms)"] == pytest.approx(
        (12.65 / (12.65 + 34.57), 13.04 / (13.04 + 34.09))
    )


@pytest.mark.parametrize(
    "name",
    [
        "dualpi2 cubic(10ms) prague(10ms)",
        "dualpi2 prague(80ms) prague(20ms)",
        "fq_codel cubic(160ms) cubic(10ms)",
    ],
)
def test_a_short_run_has_the_published_share(name: str) -> None:
    (row,) = (row for row in l4s_tests.rows() if row.name == name)
    ours = l4s_tests.share(row.run(seed=1, end_s=30))
    assert ours == pytest.approx(l4s_tests.share(row.published), abs=l4s_tests.BOUND)


def test_prague_of_the_draft_leaves_more_to_cubic_at_a_short_rtt() -> None:
    (row,) = (row for row in l4s_tests.rows() if row.name == "dualpi2 cubic(10ms) prague(10ms)")
    before, after = (l4s_tests.share(row.run(seed=1, end_s=30, draft=one)) for one in (False, True))
    assert after > before + 0.1
