"""SONiC's public tables: the rows that contradict others, and the tables that differ."""

import csv
from collections import Counter
from pathlib import Path

import pytest

import tailroom as tr
from tailroom.pfc_headroom.faults import CONTRADICTIONS

FACTS = Path(__file__).with_name("public_tables.csv")
Fact = dict[str, str]


def facts() -> dict[str, list[Fact]]:
    """The rows of each table; a table is named in its first row."""
    tables: dict[str, list[Fact]] = {}
    rows: list[Fact] = []
    lines = (line for line in FACTS.read_text(encoding="utf-8").splitlines() if line[0] != "#")
    for row in csv.DictReader(lines):
        if row["table"]:
            rows = tables.setdefault(row["table"], [])
        rows.append(row)
    return tables


COLUMNS = ("speed_mbps", "cable", "size_bytes", "xon_bytes", "xoff_bytes", "threshold")


def as_file(directory: Path, table: str, rows: list[Fact]) -> Path:
    """Writes a table where SONiC has it; line n is row n."""
    path = directory / "device" / table / "pg_profile_lookup.ini"
    path.parent.mkdir(parents=True)
    columns = (*COLUMNS, "xon_offset_bytes")
    lines = (" ".join(row[column] for column in columns) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def check(tmp_path_factory: pytest.TempPathFactory) -> tr.HeadroomCheck:
    directory = tmp_path_factory.mktemp("tables")
    return tr.check_headroom([as_file(directory, *table) for table in facts().items()])


def test_each_row_has_the_contradictions_of_the_audit(check: tr.HeadroomCheck) -> None:
    """The kinds in the file follow from the definitions alone, by a script without tailroom."""
    for table, rows in zip(check.tables, facts().values(), strict=True):
        found: dict[int, set[str]] = {}
        for fault in table.faults:
            if fault.kind in CONTRADICTIONS:
                found.setdefault(fault.row.line, set()).add(fault.kind)
        expected = {
            line: set(row["kinds"].split()) for line, row in enumerate(rows, 1) if row["kinds"]
        }
        assert found == expected, table.file


def test_the_audit_has_57_rows_in_23_tables(check: tr.HeadroomCheck) -> None:
    """11 in 4 tables, 8 in 2, and 42 in 18, of which four are odd in two ways."""
    assert len(check.contradicting) == 57
    assert len({row.file for row in check.contradicting}) == len(check.tables) == 23
    kinds = Counter(fault.kind for fault in check.faults)
    tables = {
        kind: len({fault.row.file for fault in check.faults if fault.kind == kind})
        for kind in CONTRADICTIONS
    }
    assert [kinds[kind] for kind in CONTRADICTIONS] == [11, 8, 42]
    assert [tables[kind] for kind in CONTRADICTIONS] == [4, 2, 18]
    assert "differs_from_formula" not in kinds


def test_rows_that_differ_from_the_formula_count_only_if_asked(check: tr.HeadroomCheck) -> None:
    files = [table.file for table in check.tables]
    strict = tr.check_headroom(files, strict=True)
    differing = [fault for fault in strict.faults if fault.kind == "differs_from_formula"]
    assert differing == [fault for table in check.tables for fault in table.differences]
    assert len(differing) > 57
    assert strict.contradicting == check.contradicting
    for table in strict.tables:
        for fault in table.differences:
            total = int(sum(term.exact_bytes for term in table.expected(fault.row)))
            assert abs(total - fault.row.xoff_bytes) > table.profile.granularity_bytes


def test_the_answer_tells_the_public_tables_of_tomahawk_5_apart() -> None:
    """800G, 40 m: 614,172 (Nokia), 835,406 (Dell); 1,621,536 is Dell's at 300 m.

    By hand: Dell (1,621,536 - 835,406) / 260,000 B = 3.0236, a cell of 254 B for 84 B on the wire;
    Nokia (929,132 - 614,172) / 260,000 B = 1.2114.
    """
    near = {
        name: row
        for row in tr.headroom("800G", "40m", asic="tomahawk-5").published
        for name in row.tables
    }
    dell, nokia = near["Dell-Z9864f-O64"], near["Nokia-IXR7220-H5-64O"]
    assert (dell.xoff_bytes, nokia.xoff_bytes) == (835_406, 614_172)
    assert dell.stored_per_byte == pytest.approx(3.0236, abs=1e-4)
    assert nokia.stored_per_byte == pytest.approx(1.2114, abs=1e-4)
    assert dell.rest_bytes == pytest.approx(835_406 - 3.0236 * 40_000, abs=1)
    assert sorted({row.xoff_bytes for row in near.values()}) == [
        612_140,
        614_172,
        830_580,
        833_536,
        835_406,
    ]
    far = tr.headroom("800G", "300m", asic="tomahawk-5").published
    assert max(row.xoff_bytes for row in far) == 1_621_536
    [only] = [
        row
        for row in tr.headroom("800G", "5m", asic="tomahawk-5").published
        if row.cable_bytes is None
    ]
    assert only.tables == ("Arista-7060X6-64PE-B-P64",)
    assert only.rest_bytes is None


@pytest.mark.parametrize("speed_mbps", [100_000, 200_000, 400_000, 800_000])
@pytest.mark.parametrize("cable", ["5m", "40m", "300m"])
def test_the_table_of_z9864f_is_given_to_the_byte(speed_mbps: int, cable: str) -> None:
    """One fitted delay per speed gives three cables."""
    answer = tr.headroom(1e6 * speed_mbps, cable, table="z9864f")
    [row] = [row for row in answer.published if "Dell-Z9864f-O64" in row.tables]
    assert answer.xoff_bytes == row.xoff_bytes
    assert answer.size_bytes == 18_796


def test_units_of_the_rows_are_those_of_the_chips() -> None:
    """The rows of Teralynx 10 are multiples of 128 B, those of Jericho 2 of 4,096 B."""
    for asic, unit, table in (
        ("teralynx-10", 128, "d64p512t_128x400G-2x10G"),
        ("jericho-2", 4096, "Arista-7800R3-48CQ2-C48"),
    ):
        answer = tr.headroom("400G", "300m", asic=asic)
        [row] = answer.published
        assert row.tables == (table,)
        assert answer.xoff_bytes % unit == row.xoff_bytes % unit == 0
        assert answer.xoff_bytes > row.xoff_bytes
